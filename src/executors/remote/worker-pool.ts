import { startBackgroundTimer } from "../../core/background-timer.ts";
import { SchedulerStateError, WorkerLostError } from "../../core/errors.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import { timerHost } from "../../core/timer-host.ts";
import type { ExecutorOpenOptions, JobCall } from "../job-executor.ts";
import { sampleOf } from "./call-texts.ts";
import { WORKER_PAUSE_MS_MAX, WORKER_PAUSE_MS_MIN } from "./limits.ts";
import { PendingCall } from "./pending-call.ts";
import type { PoolSettings, PoolWords } from "./pool-settings.ts";
import { PoolWorker, type WorkerOwner } from "./pool-worker.ts";
import type { OpenChannel } from "./worker-channel.ts";

/** Runs calls in workers: starts them when calls come, replaces those that end, and ends those that have nothing to
 *  do. */
export class WorkerPool implements WorkerOwner {
  readonly #settings: PoolSettings;
  readonly #words: PoolWords;
  readonly #openChannel: OpenChannel;
  /** All that are not gone. */
  readonly #workers = new Set<PoolWorker>();
  /** Those with room. The last one is taken first, so that the others become idle when there is little to do. */
  readonly #free: PoolWorker[] = [];
  #queue: PendingCall[] = [];
  /** How many calls of the queue have not settled. */
  #waiting = 0;
  #lastId = 0;
  #opened: Promise<readonly string[]> | null = null;
  #logger: Logger = silentLogger;
  /** A text of the data store's serializer; null for JSON. */
  #sample: string | null = null;
  /** Stops the pause before the next start of a worker; null for no pause. */
  #endPause: (() => void) | null = null;
  #pauseMs = 0;
  #stopIdleTimer: (() => void) | null = null;
  readonly #listeners = new Set<() => void>();

  constructor(settings: PoolSettings, words: PoolWords, openChannel: OpenChannel) {
    this.#settings = settings;
    this.#words = words;
    this.#openChannel = openChannel;
  }

  /** How many workers there are, those that start and end included. */
  get size(): number {
    return this.#workers.size;
  }

  /** How many more calls could begin now, those included that a new worker would begin. None of these after a worker
   *  could not be started, for a while. */
  get capacity(): number {
    const { maxWorkers, jobsPerWorker, maxJobsPerWorker } = this.#settings;
    const startable = this.#endPause === null ? maxWorkers - this.#workers.size : 0;
    let room = startable * Math.min(jobsPerWorker, maxJobsPerWorker ?? jobsPerWorker);
    for (const worker of this.#workers) room += worker.room;
    return Math.max(0, room - this.#waiting);
  }

  onCapacity(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Starts the first worker. @returns the ids of the tasks that the workers have handlers for */
  open({ logger = silentLogger, serializer }: ExecutorOpenOptions = {}): Promise<readonly string[]> {
    const sample = sampleOf(serializer);
    if (this.#opened !== null) return sample === this.#sample ? this.#opened : this.#refuseOther();
    this.#sample = sample;
    const opened = this.#open(logger).catch(async (error: unknown) => {
      // Whoever opened it may try again.
      if (this.#opened === opened) await this.close();
      throw error;
    });
    this.#opened = opened;
    return opened;
  }

  async #refuseOther(): Promise<never> {
    const { executor } = this.#words;
    throw new SchedulerStateError(
      `the ${executor} is open for a data store with another serializer: give each scheduler one of its own`,
    );
  }

  execute(call: JobCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#opened === null) return reject(this.#closedError(call));
      const pending = new PendingCall(++this.#lastId, call, resolve, reject);
      if (pending.isAborted) return pending.reject(pending.reason);
      pending.onAbort(() => {
        this.#waiting--;
        pending.reject(pending.reason);
        this.#tellCapacity();
      });
      this.#queue.push(pending);
      this.#waiting++;
      this.#pump();
    });
  }

  /** Ends all workers. Calls that wait or run reject. */
  async close(): Promise<void> {
    this.#opened = null;
    this.#stopIdleTimer?.();
    this.#stopIdleTimer = null;
    this.#forgetFailures();
    this.#rejectWaiting((call) => this.#closedError(call));
    const reason = { message: `the ${this.#words.executor} was closed` };
    await Promise.all([...this.#workers].map((worker) => worker.end(reason)));
  }

  freed(worker: PoolWorker): void {
    if (!this.#free.includes(worker) && worker.hasRoom) this.#free.push(worker);
    this.#pump();
    if (worker.isIdle) this.#rest(worker);
    this.#tellCapacity();
  }

  ending(worker: PoolWorker): void {
    const index = this.#free.indexOf(worker);
    if (index !== -1) this.#free.splice(index, 1);
  }

  ended(worker: PoolWorker, failure: Error | null): void {
    this.#workers.delete(worker);
    if (failure !== null) this.#startFailed(failure);
    this.#pump();
    this.#tellCapacity();
  }

  async #open(logger: Logger): Promise<readonly string[]> {
    this.#logger = logger;
    const first = this.#start();
    for (let count = 1; count < this.#settings.minWorkers; count++) this.#start();
    return first.started;
  }

  /** Gives calls that wait to workers with room, and starts workers as long as calls wait for one. */
  #pump(): void {
    while (this.#waiting > 0) {
      const worker = this.#free.at(-1);
      if (worker === undefined) break;
      const pending = this.#queue.shift();
      if (pending === undefined || pending.hasSettled) continue;
      this.#waiting--;
      worker.run(pending);
      if (!worker.hasRoom) this.#free.pop();
    }
    if (this.#waiting === 0) this.#queue = [];
    this.#startMissing();
  }

  #startMissing(): void {
    const { maxWorkers, minWorkers, jobsPerWorker } = this.#settings;
    while (this.#opened !== null && this.#endPause === null && this.#workers.size < maxWorkers) {
      const starting = [...this.#workers].filter(({ isStarting }) => isStarting).length;
      if (this.#waiting <= starting * jobsPerWorker && this.#workers.size >= minWorkers) return;
      try {
        this.#start();
      } catch (error) {
        this.#startFailed(error);
      }
    }
  }

  /** @throws what the runtime throws when the worker cannot even be made */
  #start(): PoolWorker {
    const worker = new PoolWorker(this.#settings, this.#words, this.#openChannel, this, this.#sample);
    this.#workers.add(worker);
    worker.started.then(
      () => this.#hasStarted(worker),
      // Its end follows, and tells why.
      () => undefined,
    );
    return worker;
  }

  #hasStarted(worker: PoolWorker): void {
    this.#forgetFailures();
    this.freed(worker);
  }

  /** After a failed start, the next one has to wait, longer each time. Calls that no other worker takes fail, because
   *  nobody knows whether a worker can ever be started again. */
  #startFailed(error: unknown): void {
    if (this.#opened === null) return;
    this.#logger.warn(`escapement: a ${this.#words.worker} of a ${this.#words.executor} cannot be started`, error);
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, WORKER_PAUSE_MS_MIN), WORKER_PAUSE_MS_MAX);
    this.#endPause?.();
    const stop = startBackgroundTimer(() => {
      this.#endPause = null;
      this.#pump();
      this.#tellCapacity();
    }, this.#pauseMs);
    this.#endPause = stop;
    const isLast = ![...this.#workers].some((worker) => worker.isStarting || worker.isIdle || worker.isBusy);
    if (isLast) this.#rejectWaiting((call) => this.#unstarted(call, error));
  }

  #tellCapacity(): void {
    for (const listener of this.#listeners) listener();
  }

  #forgetFailures(): void {
    this.#endPause?.();
    this.#endPause = null;
    this.#pauseMs = 0;
  }

  #rejectWaiting(errorOf: (call: JobCall) => Error): void {
    const queue = this.#queue;
    this.#queue = [];
    this.#waiting = 0;
    for (const pending of queue) pending.reject(errorOf(pending.call));
  }

  #unstarted({ job }: JobCall, cause: unknown): WorkerLostError {
    const said = cause instanceof Error ? cause.message : String(cause);
    const text = `no ${this.#words.worker} can be started for job ${job.id} of task "${job.taskId}": ${said}`;
    return new WorkerLostError(text, { cause, hasStarted: false });
  }

  #closedError({ job }: JobCall): SchedulerStateError {
    const text = `the ${this.#words.executor} of job ${job.id} of task "${job.taskId}" is not open`;
    return new SchedulerStateError(text);
  }

  #rest(worker: PoolWorker): void {
    worker.idleSince = timerHost.elapsed();
    worker.rest();
    this.#watchIdle();
  }

  /** One timer for all workers, because a timer for each call would cost more than the call. */
  #watchIdle(): void {
    const { idleTimeoutMs, minWorkers } = this.#settings;
    if (idleTimeoutMs === null || this.#stopIdleTimer !== null || this.#workers.size <= minWorkers) return;
    const first = Math.min(...[...this.#workers].filter(({ isIdle }) => isIdle).map(({ idleSince }) => idleSince));
    if (first === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.max(1, Math.ceil(first + idleTimeoutMs - timerHost.elapsed()));
    this.#stopIdleTimer = startBackgroundTimer(() => this.#endIdle(idleTimeoutMs), delayMs);
  }

  #endIdle(idleTimeoutMs: number): void {
    this.#stopIdleTimer = null;
    const since = timerHost.elapsed() - idleTimeoutMs;
    let spare = this.#workers.size - this.#settings.minWorkers;
    for (const worker of [...this.#workers]) {
      if (spare <= 0 || !worker.isIdle || worker.idleSince > since) continue;
      spare--;
      void worker.end({ message: "it had nothing to do" });
    }
    this.#watchIdle();
  }
}
