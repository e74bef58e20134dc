import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { Metadata } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import { JSONSerializer } from "../../serializers/json.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type * as contract from "../data-store.ts";
import { MemoryJobs } from "./jobs.ts";
import { Living } from "./living.ts";
import { MemoryResults } from "./results.ts";
import { MemorySchedules } from "./schedules.ts";
import { frozenCopy } from "./tables.ts";

/**
 * Keeps everything in memory: for tests, and for schedules that a program makes anew at every start. Nothing survives
 * the process, and schedulers share it only by sharing the object.
 */
export class MemoryDataStore implements contract.DataStore {
  readonly serializer: Serializer;
  readonly capabilities: contract.StoreCapabilities = Object.freeze({ sharedByProcesses: false });
  readonly #tasks = new Map<string, TaskRecord>();
  readonly #living = new Living();
  readonly #schedules = new MemorySchedules((schedulerId, now) => this.#living.isAlive(schedulerId, now));
  readonly #results = new MemoryResults();
  readonly #jobs = new MemoryJobs(this.#results, (taskId) => this.#tasks.get(taskId)?.maxRunningJobs ?? null);

  /** @param options.serializer default: a {@link JSONSerializer}, as the other stores have, so that moving to them
   *  changes nothing */
  constructor(options: { serializer?: Serializer } = {}) {
    this.serializer = options.serializer ?? new JSONSerializer();
  }

  async open(_now: number): Promise<void> {}
  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}

  async putTasks(tasks: readonly TaskRecord[]): Promise<("added" | "updated" | "unchanged")[]> {
    // What may throw while it is read comes before the first change.
    const copies = tasks.map((task) => frozenCopy(task));
    return copies.map((task) => {
      const existing = this.#tasks.get(task.id);
      this.#tasks.set(task.id, task);
      if (existing === undefined) return "added";
      return isSame(existing, task) ? "unchanged" : "updated";
    });
  }

  async getTasks(): Promise<TaskRecord[]> {
    return [...this.#tasks.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async getTask(id: string): Promise<TaskRecord | null> {
    return this.#tasks.get(id) ?? null;
  }

  async removeTask(id: string): Promise<"removed" | "inUse" | "missing"> {
    if (this.#schedules.isTaskInUse(id) || this.#jobs.isTaskInUse(id)) return "inUse";
    return this.#tasks.delete(id) ? "removed" : "missing";
  }

  async look(request: contract.LookRequest): Promise<contract.LookReport> {
    const { due, nextFireAt } = this.#schedules.see(request);
    const { nextRunAt, leaseEndsAt, hasReady } = this.#jobs.see(request);
    const stale = request.tasks?.filter((task) => !isSame(this.#tasks.get(task.id), task)) ?? [];
    const hasExpired = request.asksForExpired === true && this.#results.hasExpired(request.now);
    const staleTaskIds = stale.map((task) => task.id);
    return { due, nextFireAt, nextRunAt, leaseEndsAt, hasReady, staleTaskIds, hasExpired };
  }

  async step(request: contract.StepRequest): Promise<contract.StepReport> {
    const { now, recover } = request;
    // What may throw while it is read comes before the first change.
    const metadata = frozenMetadata(request.additions);
    const ended: JobResultRecord[] = [];
    const releases = this.#jobs.release(request, ended);
    const recovered = recover ? this.#jobs.recover(now, ended) : [];
    const additions = this.#addJobs(request.additions, metadata);
    const plans = this.#commitPlans(request);
    const acquired = this.#jobs.acquire(request);
    const { due, nextFireAt } = this.#schedules.see(request);
    const { nextRunAt, leaseEndsAt, hasReady } = this.#jobs.see(request);
    // The fields are named one by one, because spreading would cost more than the rest of a small step.
    return {
      releases,
      recovered,
      ended,
      additions,
      plans,
      acquired,
      due,
      nextFireAt,
      nextRunAt,
      leaseEndsAt,
      hasReady,
    };
  }

  async addSchedules(additions: readonly contract.ScheduleAddition[]): Promise<contract.ScheduleAdditionReport> {
    return this.#schedules.add(additions);
  }

  async getSchedule(id: string): Promise<ScheduleRecord | null> {
    return this.#schedules.get(id);
  }

  async getSchedules(filter: contract.ScheduleFilter): Promise<contract.RecordPage<ScheduleRecord>> {
    return this.#schedules.page(filter);
  }

  async updateSchedule(
    id: string,
    changes: contract.ScheduleChanges,
    expectedFence?: number,
  ): Promise<ScheduleRecord | null> {
    return this.#schedules.update(id, changes, expectedFence);
  }

  async removeSchedule(id: string): Promise<boolean> {
    return this.#schedules.remove(id);
  }

  async addJobs(jobs: readonly JobRecord[]): Promise<contract.JobAddition[]> {
    return this.#addJobs(jobs, frozenMetadata(jobs));
  }

  async getJob(id: string): Promise<JobRecord | null> {
    return this.#jobs.get(id);
  }

  async getJobs(filter: contract.JobFilter): Promise<contract.RecordPage<JobRecord>> {
    return this.#jobs.page(filter);
  }

  async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    this.#living.report(extension.schedulerId, extension.aliveUntil, extension.now);
    return this.#jobs.extendLeases(extension);
  }

  async giveUpLeases(surrender: contract.LeaseSurrender): Promise<contract.RecoveryReport> {
    this.#living.report(surrender.schedulerId, surrender.aliveUntil, surrender.now);
    return this.#jobs.giveUp(surrender);
  }

  async cancelJob(id: string, now: number): Promise<contract.CancelReport> {
    return this.#jobs.cancel(id, now);
  }

  async getJobResult(jobId: string, now: number): Promise<JobResultRecord | null> {
    return this.#results.get(jobId, now);
  }

  async getJobResults(filter: contract.JobResultFilter, now: number): Promise<contract.RecordPage<JobResultRecord>> {
    return this.#results.page(filter, now);
  }

  async cleanup({ now, limit }: { now: number; limit: number }): Promise<contract.CleanupReport> {
    this.#living.cleanup(now);
    return {
      removedResults: this.#results.cleanup(now, limit),
      removedScheduleIds: this.#schedules.cleanup(limit, (id) => this.#jobs.hasJobsOf(id)),
    };
  }

  #addJobs(jobs: readonly JobRecord[], metadata: readonly Metadata[]): contract.JobAddition[] {
    return jobs.map((job, index) => this.#jobs.add(job, metadata[index] ?? job.metadata));
  }

  /** Of several plans of one schedule the first alone can count. */
  #commitPlans(request: contract.StepRequest): contract.PlanReport[] {
    if (request.plans.length === 0) return [];
    const seen = new Set<string>();
    return request.plans.map((plan) => {
      if (seen.has(plan.scheduleId)) return NO_COMMIT;
      seen.add(plan.scheduleId);
      return this.#commitPlan(plan, request);
    });
  }

  #commitPlan(plan: contract.SchedulePlan, request: contract.StepRequest): contract.PlanReport {
    const { now, stepId, isRepetition } = request;
    const schedule = this.#schedules.commit(plan, request);
    const ids = plan.fires.map((fire) => fire.jobId);
    if (schedule !== null) {
      for (const fire of plan.fires) this.#jobs.addOfSchedule(schedule, fire, now);
    } else if (!isRepetition) {
      return NO_COMMIT;
    }
    return {
      committed: schedule !== null || this.#schedules.wasCommitted(plan, stepId),
      addedJobIds: ids.filter((id) => this.#jobs.has(id)),
    };
  }
}

const NO_COMMIT: contract.PlanReport = Object.freeze({ committed: false, addedJobIds: Object.freeze([]) });

function frozenMetadata(jobs: readonly JobRecord[]): Metadata[] {
  return jobs.map((job) => frozenCopy(job.metadata));
}

function isSame(a: TaskRecord | undefined, b: TaskRecord): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
