import { Worker } from "node:worker_threads";
import { startBackgroundTimer } from "../../core/background-timer.ts";
import { SchedulerStateError, StoreUnavailableError, WorkerLostError } from "../../core/errors.ts";
import { optionError, shown } from "../../core/option-errors.ts";
import { revivedError } from "../../records/revived-error.ts";
import type { LeaseExtender, LeaseHolder } from "../lease-extender.ts";
import {
  type CheckedLeaseThreadOptions,
  checkLeaseThreadOptions,
  type LeaseThreadOptions,
} from "./lease-thread-options.ts";
import { HeldLeases } from "./leases/held-leases.ts";
import {
  type FromLeaseThread,
  type LeaseThreadData,
  LOOKS_PER_LEASE,
  type ToLeaseThread,
} from "./leases/lease-messages.ts";

/** The pause before a thread that ended is replaced, in milliseconds, and how long it grows, by doubling. */
const RESTART_MS_MIN = 1000;
const RESTART_MS_MAX = 60_000;

/** How long a thread may take to close its store, in milliseconds. */
const CLOSE_MS = 5000;

/**
 * Keeps the leases of a scheduler while the scheduler's event loop is blocked, such as by a handler that computes for
 * seconds. Without it, the leases end, others run the jobs again, and the outcomes of the blocked runs do not count.
 *
 * The thread has a connection of its own to the data store. It notices that the loop has been silent for more than a
 * third of `leaseDuration`, and then extends the leases in its place, until the loop lives again, or has been blocked
 * for `maxBlocked`. It warns which tasks run, once a minute at most. While the loop lives, the thread leaves the store
 * alone. It extends the leases of a scheduler that was started, and ends with `stop()`. It needs a store that a second
 * connection reaches, and Node, Deno or Bun.
 *
 * What blocks the loop for long is better run by a `WorkerExecutor`, in a thread of its own: then timers, events and
 * other jobs go on.
 *
 * @example
 * const scheduler = new Scheduler({
 *   dataStore: createDataStore(), // of the same store.ts
 *   leaseThread: new LeaseThread({ module: new URL("./store.ts", import.meta.url), maxBlocked: { seconds: 30 } }),
 * });
 */
export class LeaseThread implements LeaseExtender {
  readonly #options: CheckedLeaseThreadOptions;
  #scheduler: LeaseHolder | null = null;
  #held: HeldLeases | null = null;
  #worker: Worker | null = null;
  #stopBeats = (): void => {};
  #stopRestart = (): void => {};
  #restartMs = RESTART_MS_MIN;
  #profile = "";

  /** @throws {OptionsError} when an option is unknown, of a wrong type or out of range */
  constructor(options: LeaseThreadOptions) {
    this.#options = checkLeaseThreadOptions(options, "new LeaseThread()");
  }

  /** A scheduler calls it when it starts.
   *  @throws {OptionsError} when the store of the scheduler or of the module does not fit, the module cannot be loaded,
   *    or `maxBlocked` is too short
   *  @throws {StoreUnavailableError} when the module's store cannot be opened
   *  @throws {WorkerLostError} when the thread ends, or is not ready within `startTimeout`
   *  @throws {SchedulerStateError} when it serves another scheduler */
  async start(scheduler: LeaseHolder): Promise<void> {
    this.#check(scheduler);
    this.#scheduler = scheduler;
    this.#restartMs = RESTART_MS_MIN;
    this.#held = new HeldLeases((table) => this.#tell({ kind: "table", buffer: table.buffer }));
    this.#beat(scheduler, this.#held);
    try {
      await this.#begin(scheduler, this.#held);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  hold(jobId: string, fence: number, taskId: string): void {
    this.#held?.hold(jobId, fence, taskId);
  }

  drop(jobId: string, fence: number): void {
    this.#held?.drop(jobId, fence);
  }

  heldUntil(jobId: string, fence: number): number {
    return this.#held?.heldUntil(jobId, fence) ?? 0;
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#scheduler = null;
    this.#held = null;
    this.#stopBeats();
    this.#stopRestart();
    if (worker !== null) await end(worker);
  }

  #check({ identity, leaseMs, sharedByProcesses }: LeaseHolder): void {
    if (this.#scheduler !== null) {
      throw new SchedulerStateError(
        `this LeaseThread serves the scheduler "${this.#scheduler.identity}", and cannot serve "${identity}" too; ` +
          "make one for each scheduler",
      );
    }
    if (!sharedByProcesses) {
      throw optionError(
        "new Scheduler()",
        "leaseThread",
        "needs a data store that a second connection reaches: a file or a server, and no store in memory, because " +
          "the thread extends leases over a connection of its own",
      );
    }
    const { maxBlockedMs } = this.#options;
    if (maxBlockedMs > leaseMs / 3) return;
    throw optionError(
      "new LeaseThread()",
      "maxBlocked",
      `must be longer than a third of leaseDuration, which is ${leaseMs} ms; got ${maxBlockedMs} ms: the thread ` +
        "would never extend a lease",
    );
  }

  /** Gives heartbeats for as long as the thread serves the scheduler. */
  #beat(scheduler: LeaseHolder, held: HeldLeases): void {
    held.table.beat(scheduler.clock.now());
    const profile = JSON.stringify(scheduler.profile());
    if (profile !== this.#profile) this.#tell({ kind: "profile", profile: scheduler.profile() });
    this.#profile = profile;
    this.#stopBeats = startBackgroundTimer(() => this.#beat(scheduler, held), scheduler.leaseMs / LOOKS_PER_LEASE);
  }

  /** Starts a thread. Resolves when it is ready. */
  #begin(scheduler: LeaseHolder, held: HeldLeases): Promise<void> {
    const { module, maxBlockedMs, startTimeoutMs, entry } = this.#options;
    const { identity, instanceId, leaseMs } = scheduler;
    const data: LeaseThreadData = {
      ...{ module, identity, instanceId, leaseMs, maxBlockedMs },
      ...{ now: scheduler.clock.now(), buffer: held.table.buffer, profile: scheduler.profile() },
    };
    const worker = new Worker(new URL(entry), { name: "escapement-leases", workerData: data });
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      let isReady = false;
      const stopTimer = startBackgroundTimer(
        () => ended(new WorkerLostError(`the lease thread was not ready within ${startTimeoutMs} ms (startTimeout)`)),
        startTimeoutMs,
      );
      const ended = (error: Error): void => {
        stopTimer();
        reject(error);
        if (this.#worker !== worker) return;
        this.#worker = null;
        void worker.terminate();
        if (isReady) this.#restart(scheduler, held, error);
      };
      worker.on("message", (message: FromLeaseThread | null | undefined) => {
        if (message?.kind === "failed") ended(this.#failure(message));
        if (message?.kind !== "ready") return;
        stopTimer();
        isReady = true;
        this.#restartMs = RESTART_MS_MIN;
        worker.unref();
        // The table may have been replaced meanwhile.
        this.#tell({ kind: "table", buffer: held.table.buffer });
        resolve();
      });
      worker.on("error", (cause) => ended(new WorkerLostError("the lease thread failed", { cause })));
      worker.on("exit", (code) => ended(new WorkerLostError(`the lease thread ended with the exit code ${code}`)));
    });
  }

  /** Replaces a thread that ended, after a pause that grows. */
  #restart(scheduler: LeaseHolder, held: HeldLeases, error: Error): void {
    const { logger } = scheduler;
    const pauseMs = this.#restartMs;
    this.#restartMs = Math.min(2 * pauseMs, RESTART_MS_MAX);
    logger.warn(`escapement: nobody keeps leases of a blocked loop for ${pauseMs / 1000} s, then a new thread`, error);
    this.#stopRestart = startBackgroundTimer(() => {
      this.#begin(scheduler, held).catch((failure: Error) => {
        if (this.#scheduler === scheduler) this.#restart(scheduler, held, failure);
      });
    }, pauseMs);
  }

  #failure({ isModule, error }: FromLeaseThread & { kind: "failed" }): Error {
    const cause = revivedError(error);
    if (!isModule)
      return new StoreUnavailableError(`the lease thread cannot use its store: ${error.message}`, { cause });
    const { module } = this.#options;
    return optionError("new LeaseThread()", "module", `${error.message} (it is ${shown(module)})`, { cause });
  }

  #tell(message: ToLeaseThread): void {
    this.#worker?.postMessage(message);
  }
}

/** Lets the thread close its store, and ends it. The store's module may send messages of its own. */
async function end(worker: Worker): Promise<void> {
  let stopTimer = (): void => {};
  // The thread would not keep the program alive until it has closed its store.
  worker.ref();
  await new Promise<void>((resolve) => {
    stopTimer = startBackgroundTimer(resolve, CLOSE_MS);
    worker.on("message", (message: FromLeaseThread | null | undefined) => {
      if (message?.kind === "stopped") resolve();
    });
    worker.on("exit", () => resolve());
    worker.postMessage({ kind: "stop" } satisfies ToLeaseThread);
  });
  stopTimer();
  await worker.terminate();
}
