/** What a browser's `Worker` has, as far as an executor needs it. */
export interface WebWorkerLike {
  postMessage(message: unknown): void;
  terminate(): void;
  addEventListener(type: "message" | "messageerror" | "error", listener: (event: WebWorkerEvent) => void): void;
}

/** What is read of the events of a {@link WebWorkerLike}. */
export interface WebWorkerEvent {
  /** What the worker sent. */
  readonly data?: unknown;
  /** What failed. Absent when the script of the worker cannot be loaded. */
  readonly message?: unknown;
  preventDefault(): void;
}
