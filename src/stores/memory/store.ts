import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import { JSONSerializer } from "../../serializers/json.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type * as contract from "../data-store.ts";
import { MemoryJobs } from "./jobs.ts";
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
  readonly #schedules = new MemorySchedules();
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
    return tasks.map((task) => {
      const existing = this.#tasks.get(task.id);
      this.#tasks.set(task.id, frozenCopy(task));
      if (existing === undefined) return "added";
      return JSON.stringify(existing) === JSON.stringify(task) ? "unchanged" : "updated";
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

  async acquireSchedules(request: contract.ScheduleAcquisition): Promise<contract.ScheduleAcquisitionReport> {
    return this.#schedules.acquire(request);
  }

  async commitPlans({ plans, schedulerId }: contract.PlanCommit): Promise<contract.PlanCommitReport> {
    return {
      plans: plans.map((plan) => {
        if (!this.#schedules.commit(plan, schedulerId)) return { committed: false, addedJobIds: [] };
        const added = plan.jobs.filter((job) => this.#jobs.addOfSchedule(job));
        return { committed: true, addedJobIds: added.map((job) => job.id) };
      }),
    };
  }

  async addJobs(jobs: readonly JobRecord[]): Promise<contract.JobAddition[]> {
    return jobs.map((job) => this.#jobs.add(job));
  }

  async getJob(id: string): Promise<JobRecord | null> {
    return this.#jobs.get(id);
  }

  async getJobs(filter: contract.JobFilter): Promise<contract.RecordPage<JobRecord>> {
    return this.#jobs.page(filter);
  }

  async turn(request: contract.TurnRequest): Promise<contract.TurnReport> {
    return this.#jobs.turn(request);
  }

  async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    return this.#jobs.extendLeases(extension);
  }

  async giveUpLeases(request: { now: number; schedulerId: string }): Promise<contract.RecoveryReport> {
    this.#schedules.giveUp(request.schedulerId);
    return this.#jobs.giveUp(request.schedulerId, request.now);
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
    this.#schedules.endExpiredLeases(now);
    return {
      removedResults: this.#results.cleanup(now, limit),
      removedScheduleIds: this.#schedules.cleanup(limit, (id) => this.#jobs.hasJobsOf(id)),
    };
  }
}
