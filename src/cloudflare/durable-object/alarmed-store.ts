import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { AuditRecord } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { SchedulerRecord } from "../../records/scheduler.ts";
import type {
  BackfillCommit,
  CancelReport,
  CommitReport,
  CommitRequest,
  JobAddition,
  LeaseExtension,
  LeaseExtensionReport,
  ScheduleAddition,
  ScheduleAdditionReport,
  ScheduleCommit,
  ScheduleCommitReport,
  ScheduleRemovalRequest,
  ScheduleUpdateRequest,
  TaskChange,
  TaskPauseRequest,
  TaskPut,
} from "../../stores/data-store.ts";
import {
  DurableObjectDataStore,
  type DurableObjectSqlStorage,
  type DurableObjectStoreOptions,
} from "../../stores/durable-object/mod.ts";

/** The store of an object, which tells of each change that may alter when something is due. A method resolves once
 *  the alarm is set: whoever has the answer can rely on it. */
export class AlarmedStore extends DurableObjectDataStore {
  readonly #changed: () => Promise<void>;
  readonly #self: (now: number) => SchedulerRecord;

  /** @param self what the scheduler of the object says of itself */
  constructor(
    storage: DurableObjectSqlStorage,
    options: DurableObjectStoreOptions,
    changed: () => Promise<void>,
    self: (now: number) => SchedulerRecord,
  ) {
    super(storage, options);
    this.#changed = changed;
    this.#self = self;
  }

  /** The scheduler of the object, which its alarm wakes, so that it counts as alive without a heartbeat. */
  override async getSchedulers(now: number): Promise<SchedulerRecord[]> {
    return [this.#self(now)];
  }

  override putTasks(tasks: readonly TaskPut[]): Promise<TaskChange[]> {
    return this.#alarmed(super.putTasks(tasks));
  }

  override removeTask(id: string): Promise<"removed" | "inUse" | "missing"> {
    return this.#alarmed(super.removeTask(id));
  }

  override pauseTask(request: TaskPauseRequest): Promise<boolean> {
    return this.#alarmed(super.pauseTask(request));
  }

  override addSchedules(additions: readonly ScheduleAddition[], note?: AuditRecord): Promise<ScheduleAdditionReport> {
    return this.#alarmed(super.addSchedules(additions, note));
  }

  override updateSchedules(
    updates: readonly ScheduleUpdateRequest[],
    note?: AuditRecord,
  ): Promise<(ScheduleRecord | null)[]> {
    return this.#alarmed(super.updateSchedules(updates, note));
  }

  override removeSchedules(removals: readonly ScheduleRemovalRequest[], note?: AuditRecord): Promise<boolean[]> {
    return this.#alarmed(super.removeSchedules(removals, note));
  }

  override commitSchedules(commit: ScheduleCommit, note?: AuditRecord): Promise<ScheduleCommitReport> {
    return this.#alarmed(super.commitSchedules(commit, note));
  }

  override addJobs(jobs: readonly NewJobRecord[]): Promise<JobAddition[]> {
    return this.#alarmed(super.addJobs(jobs));
  }

  override commitBackfill(commit: BackfillCommit): Promise<readonly JobRecord[] | null> {
    return this.#alarmed(super.commitBackfill(commit));
  }

  override cancelJobs(ids: readonly string[], now: number): Promise<CancelReport> {
    return this.#alarmed(super.cancelJobs(ids, now));
  }

  /** Without the heartbeat, which would be a fifth of the rows that a fire writes. Nobody else can reach the
   *  storage, so whatever is leased when the object begins was left by an earlier run. */
  override commit({ heartbeat: _, ...request }: CommitRequest): Promise<CommitReport> {
    return super.commit(request);
  }

  override extendLeases(extension: LeaseExtension): Promise<LeaseExtensionReport> {
    return super.extendLeases({ ...extension, aliveUntil: null });
  }

  async #alarmed<T>(change: Promise<T>): Promise<T> {
    const answer = await change;
    await this.#changed();
    return answer;
  }
}
