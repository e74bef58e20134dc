import { builtinModule } from "../../core/host.ts";

/** What lease threads use of `node:worker_threads`, which Node, Deno and Bun have. */
export interface WorkerThreads {
  readonly Worker: new (url: URL, options: { readonly name?: string; readonly workerData?: unknown }) => HostWorker;
  readonly parentPort: ParentPort | null;
  readonly workerData: unknown;
}

export interface HostWorker {
  on(event: "message", listener: (message: unknown) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  postMessage(message: unknown): void;
  terminate(): Promise<unknown>;
  unref(): void;
}

interface ParentPort {
  on(event: "message", listener: (message: unknown) => void): unknown;
  postMessage(message: unknown): void;
}

/** `node:worker_threads`; undefined where the runtime lacks it. The module is looked up and not imported, because a
 *  failed import would not say what to do. */
export function workerThreads(): WorkerThreads | undefined {
  return builtinModule("node:worker_threads") as WorkerThreads | undefined;
}
