import { timerHost } from "../../core/timer-host.ts";
import type { JobCall } from "../job-executor.ts";

/** A call that waits for a worker, or that a worker runs. It settles once. */
export class PendingCall {
  readonly id: number;
  readonly call: JobCall;
  /** Its place among the calls of its worker. */
  slot = 0;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (reason: unknown) => void;
  #abort: (() => void) | null = null;
  #stopTimer: (() => void) | null = null;
  /** When the work is ended by force, in milliseconds of the timers. */
  #killAt = Number.POSITIVE_INFINITY;
  #hasSettled = false;
  #reason: { readonly why: unknown } | null = null;
  #graceMs = Number.POSITIVE_INFINITY;
  readonly #stopListening: () => void;

  constructor(id: number, call: JobCall, resolve: (value: unknown) => void, reject: (reason: unknown) => void) {
    this.id = id;
    this.call = call;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#stopListening = listen(call, (why, graceMs) => {
      this.#reason ??= { why };
      this.#graceMs = graceMs;
      this.#abort?.();
    });
  }

  /** Whether the attempt is to end early. */
  get isAborted(): boolean {
    return this.#reason !== null;
  }

  /** Why the attempt is to end early; undefined when it is not. */
  get reason(): unknown {
    return this.#reason?.why;
  }

  get hasSettled(): boolean {
    return this.#hasSettled;
  }

  /** How long the attempt may take since it was last aborted, in milliseconds. */
  get graceMs(): number {
    return this.#graceMs;
  }

  /** From now on, an abort of the attempt calls this function, and no other. It is called again when the attempt may
   *  take less time than before. */
  onAbort(abort: () => void): void {
    this.#abort = abort;
  }

  /** Calls a function after a time, unless the call settles before. Of several times, the earliest counts. */
  killAfter(delayMs: number, kill: () => void): void {
    const killAt = timerHost.elapsed() + delayMs;
    if (killAt >= this.#killAt) return;
    this.#killAt = killAt;
    this.#stopTimer?.();
    this.#stopTimer = timerHost.startTimer(kill, delayMs);
  }

  resolve(value: unknown): void {
    if (this.#settle()) this.#resolve(value);
  }

  reject(reason: unknown): void {
    if (this.#settle()) this.#reject(reason);
  }

  /** @returns false when it was settled before */
  #settle(): boolean {
    if (this.#hasSettled) return false;
    this.#hasSettled = true;
    this.#abort = null;
    this.#stopTimer?.();
    this.#stopListening();
    return true;
  }
}

function listen(call: JobCall, listener: (reason: unknown, graceMs: number) => void): () => void {
  if (call.onAbort !== undefined) return call.onAbort(listener);
  const { signal } = call;
  const onAbort = (): void => listener(signal.reason, Number.POSITIVE_INFINITY);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}
