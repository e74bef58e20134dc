import { Miniflare, type MiniflareOptions } from "miniflare";
import { bundleWorker } from "../../edge/bundle-worker.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** What a remote call answered with. */
type Answer = { readonly value: unknown } | { readonly error: RemoteFailure };

interface RemoteFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** What is requested, beside a path. */
export interface Requested {
  readonly method: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Workerd with Durable Objects in a folder: it can be killed and started again. */
export class Platform implements AsyncDisposable {
  #workerd: Miniflare;
  readonly #start: () => Promise<Miniflare>;
  readonly #remove: () => Promise<void>;
  /** Where it listened when it was started first. */
  readonly url: string;

  private constructor(workerd: Miniflare, url: string, start: () => Promise<Miniflare>, remove: () => Promise<void>) {
    this.#workerd = workerd;
    this.url = url;
    this.#start = start;
    this.#remove = remove;
  }

  /** @param entry the Worker's file
   *  @param classes the class of each binding of a Durable Object */
  static async start(entry: URL, classes: Readonly<Record<string, string>>): Promise<Platform> {
    const { path, remove } = await temporaryFolder();
    const worker = await bundleWorker(entry);
    const objects = Object.entries(classes).map(([name, className]) => [name, { className, useSQLite: true }]);
    const start = async (): Promise<Miniflare> => {
      const workerd = new Miniflare({
        ...worker,
        durableObjects: Object.fromEntries(objects),
        durableObjectsPersist: path,
        // Objects that are ended on purpose are told of here.
        handleRuntimeStdio: () => {},
      } as MiniflareOptions);
      await workerd.ready;
      return workerd;
    };
    const workerd = await start();
    const { origin } = await workerd.ready;
    return new Platform(workerd, origin, start, remove);
  }

  /** Ends workerd at once, without a word to its objects, and starts it again. */
  async restart(): Promise<void> {
    await this.#workerd.dispose();
    this.#workerd = await this.#start();
  }

  async fetch(path: string, init?: Requested): Promise<Response> {
    return (await this.#workerd.dispatchFetch(`http://worker${path}`, init)) as unknown as Response;
  }

  /** Calls a method of an object, as a remote call of a Worker. @throws what the call rejected with */
  async call<T>(object: string, method: string, ...args: readonly unknown[]): Promise<T> {
    const answer = await this.fetch(`/${object}/${method}`, { method: "POST", body: JSON.stringify(args) });
    const read = (await answer.json()) as Answer;
    if ("error" in read) throw Object.assign(new Error(read.error.message), read.error);
    return read.value as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workerd.dispose();
    await this.#remove();
  }
}
