import { DAY_MS, HOUR_MS, StatsSum } from "../../records/stats.ts";
import type { JobQueue } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import type { JobAttempt } from "./job-attempt.ts";
import { LONG_RUN_CHECK_MS, LONG_RUN_DAYS, LONG_RUN_FACTOR, LONG_RUN_MS, LONG_RUN_WAITING_MAX } from "./limits.ts";
import { Watch } from "./watch.ts";

/** By task, within which time its runs usually end; null where that is not known. */
type UsualTimes = Map<string, number | null>;

/** Names each run that may hang, once: one that takes much longer than its task usually does, or that has neither a
 *  timeout nor told any progress while others wait behind it. It looks into the store once a minute, and only while a
 *  run lasts for longer than a minute of which it has not told. */
export class LongRuns extends Watch {
  readonly #running: () => Iterable<JobAttempt>;
  readonly #isFull: () => boolean;
  readonly #canRun: (queue: JobQueue) => boolean;
  readonly #told = new WeakSet<JobAttempt>();
  /** Tasks of which the usual time is not known, and of which one run was told early. */
  readonly #toldEarly = new Set<string>();

  /** @param isFull whether there is no room for another job @param canRun whether this process runs such jobs */
  constructor(
    env: Environment,
    running: () => Iterable<JobAttempt>,
    isFull: () => boolean,
    canRun: (queue: JobQueue) => boolean,
  ) {
    super(env, "runs that last long", LONG_RUN_CHECK_MS);
    this.#running = running;
    this.#isFull = isFull;
    this.#canRun = canRun;
  }

  /** An attempt begins. */
  begins(): void {
    this.begin();
  }

  protected override goesOn(): boolean {
    for (const _ of this.#running()) return true;
    return false;
  }

  protected override async check(): Promise<void> {
    const usual: UsualTimes = new Map();
    const failures: unknown[] = [];
    for (const attempt of [...this.#running()]) {
      if (!this.#told.has(attempt)) await this.#lookAt(attempt, usual).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  async #lookAt(attempt: JobAttempt, known: UsualTimes): Promise<void> {
    const { clock, identity, logger } = this.env;
    const { job, startedAt, task, hasProgress } = attempt;
    const forMs = startedAt === null ? 0 : clock.now() - startedAt;
    if (forMs < LONG_RUN_CHECK_MS) return;
    const hasTimeout = task.record.timeoutMs !== null;
    const usualMs = known.has(job.taskId) ? (known.get(job.taskId) ?? null) : await this.#usualMs(job.taskId);
    known.set(job.taskId, usualMs);
    const isEarly = forMs < (usualMs === null ? LONG_RUN_MS : LONG_RUN_FACTOR * usualMs);
    // One of twenty takes longer than usual.
    const mayBeFirst = usualMs === null ? !this.#toldEarly.has(job.taskId) : forMs >= 2 * usualMs;
    if (isEarly && (hasTimeout || hasProgress || !mayBeFirst)) return;
    const behind = await this.#behind(attempt);
    if (isEarly && behind === null) return;
    if (isEarly && usualMs === null) this.#toldEarly.add(job.taskId);
    this.#told.add(attempt);
    const usual = usualMs === null ? "" : ` (95% of them end within ${secondsText(usualMs)})`;
    const advice = hasTimeout
      ? "its timeout ends it; a shorter one would do so earlier"
      : `give the task a timeout: task("${job.taskId}", { timeout }, handler); more workers or places do not help`;
    logger.warn(
      `escapement: job ${job.id} of task "${job.taskId}" has run for ${secondsText(forMs)} on "${identity}"${usual}, ` +
        `and may hang${behind === null ? "" : `; behind it ${behind}`}: ${advice}`,
    );
  }

  /** Within which time 95% of the task's attempts ended lately; null where that is not known. */
  async #usualMs(taskId: string): Promise<number | null> {
    const { store, clock } = this.env;
    const until = Math.ceil((clock.now() + 1) / HOUR_MS) * HOUR_MS;
    const bucketMs = LONG_RUN_DAYS * DAY_MS;
    const range = { from: until - bucketMs, until, bucketMs, limit: 1 };
    const found = await store.ledger?.getStats({ of: "tasks", ids: [taskId], ...range });
    const sum = new StatsSum();
    for (const { cell, count } of found?.counts ?? []) sum.add(cell, count);
    return sum.facts.runTime?.p95Ms ?? null;
  }

  /** What waits until a run has ended, as far as it is known; null for nothing. */
  async #behind({ job, task }: JobAttempt): Promise<string | null> {
    const { store, clock } = this.env;
    const { taskId, scheduleId, fireTime } = job;
    const now = clock.now();
    const limit = LONG_RUN_WAITING_MAX;
    // A place of this process keeps jobs of other tasks back, too.
    const ofTask = this.#isFull() ? {} : { taskId };
    const due = { ...ofTask, state: "queued", sort: "runAt", until: now + 1, limit, cursor: null } as const;
    const mayFit = !this.#isFull() && task.record.maxRunningJobs === null;
    const jobs = mayFit ? [] : (await store.getJobs(due)).items.filter(this.#canRun);
    const pauses = jobs.length === 0 ? [] : await store.getTaskPauses();
    const paused = new Set(pauses.filter((pause) => pause.key === null).map((pause) => pause.taskId));
    const waiting = jobs.filter((one) => !paused.has(one.taskId)).length;
    if (waiting > 0)
      return `${waiting}${waiting === limit ? " or more" : ""} due ${waiting === 1 ? "job waits" : "jobs wait"}`;
    const key = job.concurrencyKey;
    if (key !== undefined) {
      const { items } = await store.getJobs({ taskId, state: "blocked", key, limit, cursor: null });
      if (items.length > 0) return `jobs of the key ${JSON.stringify(key)} are blocked`;
    }
    const schedule = scheduleId === null ? null : await store.getSchedule(scheduleId);
    const hasFired = schedule !== null && (schedule.lastFireTime ?? 0) > (fireTime ?? now);
    const leavesOut = schedule?.overlap === "skip" || schedule?.overlap === "replaceQueued";
    return hasFired && leavesOut ? `schedule "${scheduleId}" leaves out its fire times` : null;
  }
}

function secondsText(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms / 60_000)} min`;
}
