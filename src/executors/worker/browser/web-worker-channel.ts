import type { ToWorker } from "../../remote/remote-call.ts";
import type { ChannelListener, LostReason, WorkerChannel } from "../../remote/worker-channel.ts";
import type { WebWorkerEvent, WebWorkerLike } from "./web-worker.ts";

/** A Web Worker whose module calls `serveTasks`. */
export class WebWorkerChannel implements WorkerChannel {
  /** Browsers let pages share memory only with what they isolate from other sites. */
  readonly sharesMemory: boolean = Reflect.get(globalThis, "crossOriginIsolated") === true;
  readonly #worker: WebWorkerLike;
  readonly #listener: ChannelListener;
  /** What is sent before the worker listens would be lost, because its module may await something first. Null once the
   *  worker listens. */
  #unsent: ToWorker[] | null = [];
  #hasEnded = false;

  constructor(make: () => WebWorkerLike, listener: ChannelListener) {
    this.#listener = listener;
    this.#worker = make();
    this.#worker.addEventListener("message", (event) => this.#received(event));
    this.#worker.addEventListener("messageerror", () => this.#lost({ message: "a message of it cannot be read" }));
    this.#worker.addEventListener("error", (event) => this.#failed(event));
  }

  send(messages: readonly ToWorker[]): void {
    if (this.#hasEnded) return;
    if (this.#unsent === null) this.#worker.postMessage({ escapement: messages });
    else this.#unsent.push(...messages);
  }

  /** A page lives without its workers, and they do not without it. */
  ref(): void {}
  unref(): void {}

  async kill(): Promise<void> {
    this.#hasEnded = true;
    this.#worker.terminate();
  }

  #received({ data }: WebWorkerEvent): void {
    if (this.#hasEnded) return;
    const isOurs = typeof data === "object" && data !== null && "escapement" in data;
    const messages = this.#unsent;
    if (isOurs && messages !== null) {
      this.#unsent = null;
      this.send(messages);
    }
    this.#listener.onMessage(data);
  }

  #failed(event: WebWorkerEvent): void {
    // Who waits for the job is told, so that the page's own handler of errors need not be.
    event.preventDefault();
    const { message } = event;
    const said = typeof message === "string" && message !== "" ? message : "its script cannot be loaded";
    this.#lost({ message: `it failed: ${said}` });
  }

  #lost(reason: LostReason): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // It lives on after an error.
    this.#worker.terminate();
    this.#listener.onLost(reason);
  }
}
