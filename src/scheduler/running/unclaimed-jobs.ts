import { OptionsError } from "../../core/errors.ts";
import { instantText } from "../../core/temporal.ts";
import type { EventRecord } from "../../records/events.ts";
import type { JobRecord } from "../../records/job.ts";
import type { SchedulerRecord } from "../../records/scheduler.ts";
import type { JobFilter, JobQueue } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { jobUnclaimed } from "../events/event-records.ts";
import { UNCLAIMED_MS, UNCLAIMED_WATCHED_MAX } from "./limits.ts";
import { Watch } from "./watch.ts";

type JobAdded = EventRecord<"jobAdded">;

/** Of how many jobs a start tells at once. Later, each that is watched is told of. */
const TOLD_MAX = 10;

/** How many of the jobs that are due a start looks at, the earliest first. */
const LOOKED_AT_MAX = 100;

interface Watched extends Pick<JobAdded, "jobId" | "taskId" | "scheduleId" | "executor" | "runAtMs"> {
  /** From when on nobody has taken the job, in epoch milliseconds. */
  readonly sinceMs: number;
  /** Whether it was blocked when it was added. */
  readonly isBlocked: boolean;
}

export interface UnclaimedOptions {
  readonly env: Environment;
  /** Why this scheduler cannot run jobs of a queue; null when it can. */
  readonly missing: (queue: JobQueue) => "task" | "executor" | "worker" | null;
  readonly executors: readonly string[];
}

/** Watches one job of each task and executor that this scheduler cannot run, until somebody takes it. When nobody has
 *  done so for a while, there may be nobody who can: then it says so, once. It also watches one job of each task that
 *  is blocked, and says what holds the job. */
export class UnclaimedJobs extends Watch {
  readonly #options: UnclaimedOptions;
  /** By task and executor, or by task. */
  readonly #watched = new Map<string, Watched>();
  /** Tasks with their executors that somebody runs, or that were reported. */
  readonly #settled = new Set<string>();

  constructor(options: UnclaimedOptions) {
    super(options.env, "jobs that nobody takes", UNCLAIMED_MS);
    this.#options = options;
  }

  /** A job was added, here or elsewhere. */
  added(job: JobAdded): void {
    if (job.isLeased || this.#options.missing(job) === null) return;
    this.#watch(keyOf(job), { ...job, sinceMs: job.timestampMs, isBlocked: false });
  }

  /** A job that is blocked was added, here or elsewhere. */
  blocked(job: EventRecord<"jobBlocked">): void {
    if (job.reason !== "limit") return;
    const runAtMs = Number.NEGATIVE_INFINITY;
    this.#watch(job.taskId, { ...job, executor: "", runAtMs, sinceMs: job.timestampMs, isBlocked: true });
  }

  #watch(key: string, job: Watched): void {
    const isKnown = this.#settled.has(key) || this.#watched.has(key);
    if (isKnown || this.#settled.size + this.#watched.size >= UNCLAIMED_WATCHED_MAX) return;
    this.#watched.set(key, job);
    this.begin();
  }

  /** Somebody took a job. */
  acquired(jobId: string): void {
    for (const [key, job] of this.#watched) if (job.jobId === jobId) this.#taken(key, job);
  }

  /** Looks after jobs by itself from now on, first of all for those that were stored before. */
  override start(signal: AbortSignal): void {
    super.start(signal);
    this.begin(() => this.#lookBack(signal));
  }

  protected override goesOn(): boolean {
    return this.#watched.size > 0;
  }

  /** Watches a job of each task and executor that no living scheduler runs, and tells of those that are due. */
  async #lookBack(signal: AbortSignal): Promise<void> {
    const { store, clock, logger } = this.env;
    try {
      const now = clock.now();
      const { tasks } = await store.inspect(now, { countMax: 1 });
      const ids = tasks.filter(({ waiting }) => waiting > 0).map(({ taskId }) => taskId);
      if (ids.length === 0 || signal.aborted) return;
      const alive = (await store.getSchedulers(now)).filter(({ role }) => role !== "scheduler");
      // Jobs may have an executor of their own, also those of a task that somebody runs.
      const jobs = await this.#earliest({ until: now + 1, limit: LOOKED_AT_MAX });
      for (const taskId of ids.filter((id) => !alive.some(({ tasks: own }) => own.includes(id)))) {
        if (signal.aborted || jobs.length >= UNCLAIMED_WATCHED_MAX) break;
        jobs.push(...(await this.#earliest({ taskId, limit: 1 })));
      }
      let told = 0;
      for (const job of jobs) {
        if (signal.aborted) return;
        const key = keyOf(job);
        if (this.#options.missing(job) === null || this.#watched.has(key) || alive.some((one) => runs(one, job)))
          continue;
        const { id: jobId, taskId, scheduleId, executor, runAt: runAtMs } = job;
        const watched = { jobId, taskId, scheduleId, executor, runAtMs, sinceMs: now, isBlocked: false };
        this.#watch(key, watched);
        if (runAtMs > now || told >= TOLD_MAX || (await this.#isPaused(taskId, job.concurrencyKey))) continue;
        told++;
        this.#tell(watched);
      }
    } catch (error) {
      logger.warn("escapement: jobs that nobody takes could not be looked for", error);
    }
  }

  /** Queued jobs, the earliest first, or where these are too many to be sorted, those that were added first. */
  async #earliest(selection: Pick<JobFilter, "until" | "taskId" | "limit">): Promise<JobRecord[]> {
    const { store } = this.env;
    const filter = { state: "queued", cursor: null, ...selection } as const;
    try {
      return [...(await store.getJobs({ ...filter, sort: "runAt" })).items];
    } catch (error) {
      if (!(error instanceof OptionsError)) throw error;
      return [...(await store.getJobs(filter)).items];
    }
  }

  /** Looks after the jobs that have been due for a while. @throws {StoreUnavailableError} */
  protected override async check(): Promise<void> {
    const { store, clock } = this.env;
    for (const [key, job] of [...this.#watched]) {
      const now = clock.now();
      // The scheduler that added the job may have a clock that is ahead.
      if (job.sinceMs > now) this.#watched.set(key, { ...job, sinceMs: now });
      if (now < Math.max(job.runAtMs, job.sinceMs) + UNCLAIMED_MS) continue;
      const record = (await store.getJob(job.jobId)) ?? (await this.#successor(job));
      if (record === null || (job.isBlocked && record.blockedBy === undefined)) this.#watched.delete(key);
      else if (record.fence > 0) this.#taken(key, job);
      else if (job.isBlocked) await this.#reportBlocked(key, { ...job, jobId: record.id }, record);
      else if (await this.#waitsForItsTurn(record)) this.#watched.set(key, { ...job, jobId: record.id, sinceMs: now });
      else this.#report(key, { ...job, jobId: record.id });
    }
  }

  /** The job of the schedule that stands for one that nobody took before the next fire time came; null for none. */
  async #successor({ scheduleId, isBlocked, runAtMs }: Watched): Promise<JobRecord | null> {
    if (scheduleId === null) return null;
    const { items } = await this.env.store.getJobs({ scheduleId, cursor: null, limit: LOOKED_AT_MAX });
    const standsFor = ({ firstMissedTime }: JobRecord): boolean =>
      firstMissedTime !== null && (isBlocked || firstMissedTime <= runAtMs);
    return items.find(standsFor) ?? null;
  }

  /** Warns of a job that is blocked, with what holds it. */
  async #reportBlocked(key: string, job: Watched, { taskId, executor, concurrencyKey }: JobRecord): Promise<void> {
    const { env } = this;
    const task = await env.store.getTask(taskId);
    const isPaused = await this.#isPaused(taskId, concurrencyKey);
    const limit = task?.rateLimit === undefined ? "the limit of its concurrency key" : "the rate of the task";
    const since = instantText(job.sinceMs);
    this.#settle(key);
    env.logger.warn(
      `escapement: job ${job.jobId} of task "${taskId}" waits since ${since}, blocked by ` +
        `${isPaused ? "a pause" : limit}; see getJobs({ taskId: "${taskId}", state: "blocked" })`,
    );
    env.events.publish([jobUnclaimed(env, { ...job, executor }, "room")]);
  }

  async #isPaused(taskId: string, concurrencyKey: string | undefined): Promise<boolean> {
    const pauses = await this.env.store.getTaskPauses();
    return pauses.some((pause) => pause.taskId === taskId && (pause.key === null || pause.key === concurrencyKey));
  }

  /** Whether a job that nobody took waits for something else: its parents, the end of a pause, or, where somebody is
   *  alive who can run the job, room or a limit. It is looked after again later. */
  async #waitsForItsTurn({ taskId, executor, concurrencyKey, blockedBy }: JobRecord): Promise<boolean> {
    const { store, clock } = this.env;
    if (blockedBy === "parents") return true;
    if (await this.#isPaused(taskId, concurrencyKey)) return true;
    const alive = await store.getSchedulers(clock.now());
    return alive.some((one) => one.role !== "scheduler" && runs(one, { taskId, executor }));
  }

  /** Somebody took a job. Others of its task may be blocked later. */
  #taken(key: string, { isBlocked }: Watched): void {
    if (isBlocked) this.#watched.delete(key);
    else this.#settle(key);
  }

  #settle(key: string): void {
    this.#watched.delete(key);
    this.#settled.add(key);
  }

  #report(key: string, job: Watched): void {
    this.#settle(key);
    const missing = this.#tell(job);
    const { env } = this;
    if (missing !== null) env.events.publish([jobUnclaimed(env, job, missing)]);
  }

  /** Warns of a job that this scheduler cannot run. Returns why; null when it can by now. */
  #tell(job: Watched): "task" | "executor" | "worker" | null {
    const { env } = this;
    const { missing: missingFor, executors } = this.#options;
    const missing = missingFor(job);
    if (missing === null) return null;
    const { jobId, taskId, executor, runAtMs } = job;
    const names = executors.map((name) => `"${name}"`).join(", ");
    const reason = {
      task: `this one has no handler for it; register one where it is to run: scheduler.task("${taskId}", handler)`,
      executor: `this one has ${names}; pass the executor where it is to run: new Scheduler({ executors })`,
      worker: 'this one runs no jobs; start a scheduler that does: new Scheduler({ role: "worker" })',
    }[missing];
    env.logger.warn(
      `escapement: job ${jobId} of task "${taskId}" waits for executor "${executor}" since ${instantText(runAtMs)}, ` +
        `and no scheduler has taken it; ${reason}`,
    );
    return missing;
  }
}

function runs({ tasks, executors }: SchedulerRecord, { taskId, executor }: JobQueue): boolean {
  return tasks.includes(taskId) && executors.includes(executor);
}

function keyOf({ taskId, executor }: JobQueue): string {
  return JSON.stringify([taskId, executor]);
}
