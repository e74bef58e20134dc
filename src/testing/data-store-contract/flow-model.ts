import type { JobRecord } from "../../records/job.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { CommitReport, JobRelease, TaskPause } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import { finish, makeTask } from "./makers.ts";

/** What a case knows of a lease. */
interface Lease {
  readonly job: JobRecord;
  readonly by: string;
  readonly until: number;
}

/** Numbers that look random and are the same in every run. */
export class Numbers {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number from 0 to `count - 1`. */
  below(count: number): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return this.#state % count;
  }

  oneOf<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

/** What must be true of a store with limits, whatever happens to it. The model learns from the store's own reports, and
 *  says in which of them a limit is exceeded, or a job is forgotten. */
export class FlowModel {
  readonly tasks: Map<string, TaskRecord> = new Map();
  readonly waiting: Map<string, JobRecord> = new Map();
  readonly leases: Map<string, Lease> = new Map();
  /** The keys and tasks that are paused. */
  readonly #paused = new Set<string>();
  /** The theoretical arrival times of the generic cell rate algorithm. */
  readonly #arrivals = new Map<string, number>();

  setTask(fields: Partial<TaskRecord>): TaskRecord {
    const task = makeTask(fields);
    this.tasks.set(task.id, task);
    return task;
  }

  setPaused({ taskId, key }: TaskPause, isPaused: boolean): void {
    if (isPaused) this.#paused.add(pauseKey(taskId, key));
    else this.#paused.delete(pauseKey(taskId, key));
  }

  /** Takes over what a commit tells. */
  learn(report: CommitReport, releases: readonly JobRelease[], by: string, now: number, until: number): void {
    for (const [index, release] of releases.entries()) {
      if (report.releases[index] !== "released") continue;
      const { job } = present(this.leases.get(release.jobId), "the lease of a job that was released");
      this.leases.delete(release.jobId);
      if (release.kind === "retry") this.waiting.set(job.id, { ...job, runAt: release.runAt });
      else if (release.kind === "giveUp") this.waiting.set(job.id, job);
    }
    for (const { jobId } of report.recovered) this.#comeBack(jobId);
    for (const { jobId } of report.ended) {
      this.leases.delete(jobId);
      this.waiting.delete(jobId);
    }
    for (const job of report.acquired) this.#acquire(job, by, now, until);
  }

  /** Checks that each job that waits has a reason. */
  checkRest(report: CommitReport, now: number): void {
    if (report.hasReady) return;
    for (const job of this.waiting.values()) {
      if (job.runAt > now || this.#isPaused(job) || this.#isFull(job)) continue;
      const tokenAt = this.#tokenAt(job);
      isTrue(tokenAt > now, `the job ${job.id} (${nameOf(job)}) waits for something`);
      isTrue(report.nextRunAt !== null && report.nextRunAt <= tokenAt, `the token of ${nameOf(job)} is expected`);
    }
  }

  /** The releases of some jobs of a scheduler. */
  releases(numbers: Numbers, by: string, now: number): JobRelease[] {
    const releases: JobRelease[] = [];
    for (const { job, by: holder } of this.leases.values()) {
      if (holder !== by || numbers.below(2) === 0) continue;
      const { id: jobId, fence } = job;
      const kind = numbers.below(8);
      if (kind === 0) releases.push({ jobId, fence, kind: "giveUp" });
      else if (kind > 2) releases.push(finish(job, { expiresAt: now }));
      else releases.push({ jobId, fence, kind: "retry", runAt: now + (kind - 1) * 300, failedAttempts: 1 });
    }
    return releases;
  }

  #comeBack(jobId: string): void {
    const { job } = present(this.leases.get(jobId), "the lease of a job that was lost");
    this.leases.delete(jobId);
    this.waiting.set(jobId, job);
  }

  #acquire(job: JobRecord, by: string, now: number, until: number): void {
    const known = present(this.waiting.get(job.id), `a waiting job ${job.id}, which is acquired`);
    equal([known.runAt <= now, this.#isPaused(job)], [true, false], `whether ${nameOf(job)} is due, and paused`);
    equal(this.#isFull(job), false, `whether there are as many jobs of ${nameOf(job)} as may run`);
    isTrue(this.#tokenAt(job) <= now, `there is a token for ${nameOf(job)}`);
    const { rateLimit } = this.#taskOf(job);
    const arrival = Math.max(this.#arrivals.get(nameOf(job)) ?? 0, now);
    if (rateLimit !== undefined) this.#arrivals.set(nameOf(job), arrival + rateLimit.perMs / rateLimit.limit);
    this.waiting.delete(job.id);
    this.leases.set(job.id, { job, by, until });
  }

  #isPaused({ taskId, concurrencyKey }: JobRecord): boolean {
    return (
      this.#paused.has(pauseKey(taskId, null)) ||
      (concurrencyKey !== undefined && this.#paused.has(pauseKey(taskId, concurrencyKey)))
    );
  }

  #isFull(job: JobRecord): boolean {
    const { maxRunningJobs, maxRunningPerKey = Number.POSITIVE_INFINITY } = this.#taskOf(job);
    const ofTask = [...this.leases.values()].filter((lease) => lease.job.taskId === job.taskId);
    if (ofTask.length >= (maxRunningJobs ?? Number.POSITIVE_INFINITY)) return true;
    if (job.concurrencyKey === undefined) return false;
    return ofTask.filter((lease) => lease.job.concurrencyKey === job.concurrencyKey).length >= maxRunningPerKey;
  }

  /** When the key of a job has a token. */
  #tokenAt(job: JobRecord): number {
    const { rateLimit } = this.#taskOf(job);
    if (rateLimit === undefined) return 0;
    const { limit, perMs, burst } = rateLimit;
    return Math.ceil((this.#arrivals.get(nameOf(job)) ?? 0) - ((burst - 1) * perMs) / limit);
  }

  #taskOf({ taskId }: JobRecord): TaskRecord {
    return present(this.tasks.get(taskId), "the task of a job");
  }
}

function nameOf({ taskId, concurrencyKey = "" }: JobRecord): string {
  return `the key "${concurrencyKey}" of ${taskId}`;
}

function pauseKey(taskId: string, key: string | null): string {
  return JSON.stringify([taskId, key]);
}
