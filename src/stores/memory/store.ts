import { TASK_PAUSES_MAX } from "../../core/limits.ts";
import { compareTexts } from "../../core/text.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { ChangeNote } from "../../records/ledger.ts";
import type { Metadata } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { SchedulerRecord } from "../../records/scheduler.ts";
import type { TaskRecord } from "../../records/task.ts";
import { JSONSerializer } from "../../serializers/json.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type * as contract from "../data-store.ts";
import type { Ledger } from "../ledger.ts";
import type { LedgerOptions } from "../ledger-options.ts";
import { isStaleTask, putTask } from "../task-declarations.ts";
import type { ZoneRulesStore } from "../zone-rules.ts";
import { MemoryAlarms } from "./alarms.ts";
import { MemoryJobs } from "./jobs.ts";
import { MemoryLedger } from "./ledger.ts";
import { Living } from "./living.ts";
import { checkMemoryOptions } from "./options.ts";
import { emptyNotes, type RecoveryNotes } from "./recovery-notes.ts";
import { MemoryResults } from "./results.ts";
import { MemorySchedules } from "./schedules.ts";
import { frozenCopy } from "./tables.ts";
import { MemoryZoneRules } from "./zone-rules.ts";

/**
 * Keeps everything in memory: for tests, and for schedules that a program adds anew at every start. Nothing survives
 * the process. Schedulers of one process share the data when they share this object.
 *
 * @example
 * const scheduler = new Scheduler({ dataStore: new MemoryDataStore() });
 */
export class MemoryDataStore implements contract.DataStore {
  readonly serializer: Serializer;
  readonly capabilities: contract.StoreCapabilities = Object.freeze({ sharedByProcesses: false });
  readonly ledger: Ledger | null;
  readonly #tasks = new Map<string, TaskRecord>();
  /** Limits of tasks that were removed. */
  readonly #removedLimits = new Map<string, number | null>();
  readonly #living: Living;
  readonly #schedules: MemorySchedules;
  readonly #rankedZoneRules = new MemoryZoneRules();
  readonly zoneRules: ZoneRulesStore = Object.freeze<ZoneRulesStore>({
    rank: async (request) => this.#rankedZoneRules.rank(request),
    getSchedules: async (request) => this.#schedules.zoned(request),
    confirm: async (confirmations) => {
      for (const one of confirmations) this.#schedules.confirm(one);
    },
  });
  readonly #results = new MemoryResults();
  readonly #jobs: MemoryJobs;
  readonly #ledger: MemoryLedger | null;
  readonly #alarms: MemoryAlarms | null;

  /** @param options.serializer turns payloads and return values into text. Default: a {@link JSONSerializer}. The other
   *  stores have the same default, so that a program may move to them without a change
   *  @param options.ledger how much the store remembers of what became of fire times; false for nothing. With more than
   *  100 schedules it remembers less of each, so that it needs some 100 MB at most. Default: true, which is 5,000
   *  entries of a schedule, for 90 days
   *  @throws {OptionsError} when an option is unknown, of a wrong type or out of range */
  constructor(options: { serializer?: Serializer; ledger?: boolean | LedgerOptions } = {}) {
    const { serializer, ledger: limits } = checkMemoryOptions(options, "new MemoryDataStore()");
    this.serializer = serializer ?? new JSONSerializer();
    const ledger =
      limits === null
        ? null
        : new MemoryLedger(limits, {
            ofFireTime: (id, fireTime) => this.#jobs.ofFireTime(id, fireTime),
            fireTimesOf: (id) => this.#jobs.table.ofSchedules.fireTimes(id),
          });
    this.ledger = ledger;
    this.#ledger = ledger;
    this.#living = new Living(ledger?.lives ?? null);
    this.#jobs = new MemoryJobs(this.#results, ledger, (taskId) => this.#limitOf(taskId));
    this.#alarms =
      ledger === null
        ? null
        : new MemoryAlarms({ table: this.#jobs.table, ledger, scheduleOf: (id) => this.#schedules.peek(id) });
    this.#schedules = new MemorySchedules({
      isAlive: (schedulerId, now) => this.#living.isAlive(schedulerId, now),
      ledger,
      alarms: this.#alarms,
    });
  }

  async open(_now: number): Promise<void> {}
  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}

  async putTasks(tasks: readonly TaskRecord[]): Promise<contract.TaskChange[]> {
    // Made before the first change, because reading a task may throw.
    const copies = tasks.map((task) => frozenCopy(task));
    return copies.map((given) => {
      const { task, change } = putTask(this.#tasks.get(given.id), given);
      this.#tasks.set(given.id, frozenCopy(task));
      this.#removedLimits.delete(given.id);
      this.#jobs.configureTask(task);
      return change;
    });
  }

  async getTasks(): Promise<TaskRecord[]> {
    return [...this.#tasks.values()].sort((a, b) => compareTexts(a.id, b.id));
  }

  async getTask(id: string): Promise<TaskRecord | null> {
    return this.#tasks.get(id) ?? null;
  }

  async removeTask(id: string): Promise<"removed" | "inUse" | "missing"> {
    if (this.#schedules.isTaskInUse(id) || this.#jobs.isTaskInUse(id)) return "inUse";
    const task = this.#tasks.get(id);
    if (task === undefined) return "missing";
    this.#tasks.delete(id);
    this.#jobs.removeTask(id);
    this.#removedLimits.set(id, task.maxRunningJobs);
    return "removed";
  }

  async pauseTask(request: contract.TaskPauseRequest): Promise<boolean> {
    const task = this.#tasks.get(request.taskId);
    if (task === undefined) return false;
    const { paused: _, ...settings } = task;
    if (request.by !== undefined && this.#isPaused(request) !== request.paused) this.#ledger?.taskPaused(request);
    if (request.key === null) {
      this.#tasks.set(task.id, frozenCopy(request.paused ? { ...settings, paused: true } : settings));
    }
    this.#jobs.pauseTask(request);
    return true;
  }

  async getTaskPauses(): Promise<contract.TaskPause[]> {
    const pauses = this.#jobs.taskPauses.sort(inOrderOfPauses);
    return pauses.slice(0, TASK_PAUSES_MAX);
  }

  async look(request: contract.LookRequest): Promise<contract.LookReport> {
    const { due, nextFireAt } = this.#schedules.see(request);
    const { nextRunAt, nextMissAt, leaseEndsAt, hasReady } = this.#jobs.see(request);
    const stale = request.tasks?.filter((task) => isStaleTask(this.#tasks.get(task.id), task)) ?? [];
    const oldAt = request.now - (request.expiredForMs ?? 0);
    const hasOld = (): boolean => this.#results.hasExpired(oldAt) || this.#jobs.hasWindowsToRemove(oldAt);
    const hasExpired = request.asksForExpired === true && hasOld();
    const staleTaskIds = stale.map((task) => task.id);
    const alarms = this.#seeAlarms(request);
    const jobs = { nextRunAt, nextMissAt, leaseEndsAt, hasReady };
    const report = { due, nextFireAt, ...jobs, staleTaskIds, hasExpired, ...alarms };
    return request.zoneRules === undefined
      ? report
      : { ...report, zoneRules: this.#schedules.zoneRules(request.zoneRules) };
  }

  async step(request: contract.StepRequest): Promise<contract.StepReport> {
    const { now, recover, schedulerId, sign, leaseEnds = [] } = request;
    // Made before the first change, because reading the metadata may throw.
    const metadata = frozenMetadata(request.additions);
    this.#jobs.additions.checkParents(request.additions, request);
    if (sign !== undefined) this.#living.report({ ...sign, now, schedulerId });
    const notes = emptyNotes();
    const releases = this.#jobs.releases.release(request, notes);
    if (request.alarms === true) this.#alarms?.raise(request);
    if (recover) this.#jobs.releases.recover(now, leaseEnds, notes);
    if (request.endsMissed === true) this.#jobs.endMissed(now, notes);
    const additions = this.#jobs.additions.addAll(request.additions, metadata, notes);
    const plans = this.#commitPlans(request, notes);
    const acquired = this.#jobs.acquire(request);
    const changedAlarms = request.alarms === true ? this.#alarms?.resolve(request) : undefined;
    const cleanup = request.cleanup === undefined ? null : this.#cleanup(now, request.cleanup.limit);
    const { due, nextFireAt } = this.#schedules.see(request);
    const { nextRunAt, nextMissAt, leaseEndsAt, hasReady } = this.#jobs.see(request, acquired);
    const promoted = this.#jobs.promoted(notes.promoted);
    // The fields are named one by one, because spreading would cost more than the rest of a small step.
    const report: contract.StepReport = {
      releases,
      recovered: notes.recovered,
      ended: notes.ended,
      additions: this.#jobs.additions.withHolds(additions),
      plans,
      acquired,
      due,
      nextFireAt,
      nextRunAt,
      nextMissAt,
      leaseEndsAt,
      hasReady,
    };
    const seenAlarms = this.#seeAlarms(request);
    const isSmall = promoted.length === 0 && cleanup === null && changedAlarms === undefined;
    if (isSmall && seenAlarms === NO_ALARMS) return report;
    return {
      ...report,
      ...seenAlarms,
      ...(promoted.length === 0 ? {} : { promoted }),
      ...(changedAlarms === undefined ? {} : { changedAlarms }),
      ...(cleanup === null ? {} : { cleanup }),
    };
  }

  async addSchedules(
    additions: readonly contract.ScheduleAddition[],
    note?: ChangeNote,
  ): Promise<contract.ScheduleAdditionReport> {
    return this.#schedules.add(additions, note);
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
    note?: ChangeNote,
  ): Promise<ScheduleRecord | null> {
    return this.#schedules.update(id, changes, expectedFence, note);
  }

  async removeSchedule(id: string, note?: ChangeNote): Promise<boolean> {
    return this.#schedules.remove(id, note);
  }

  async addJobs(jobs: readonly NewJobRecord[]): Promise<contract.JobAddition[]> {
    const metadata = frozenMetadata(jobs);
    this.#jobs.additions.checkParents(jobs, null);
    return this.#jobs.additions.withHolds(this.#jobs.additions.addAll(jobs, metadata, emptyNotes()));
  }

  async getJob(id: string): Promise<JobRecord | null> {
    return this.#jobs.get(id);
  }

  async getJobs(filter: contract.JobFilter): Promise<contract.RecordPage<JobRecord>> {
    return this.#jobs.page(filter);
  }

  async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    this.#living.report(extension);
    const report = this.#jobs.releases.extendLeases(extension);
    return extension.aliveUntil === null ? report : { ...report, ...this.#living.heartbeats(extension.incarnation) };
  }

  async giveUpLeases(surrender: contract.LeaseSurrender): Promise<contract.LeaseSurrenderReport> {
    if (surrender.isAlone === true) this.#living.forgetOthers(surrender);
    this.#living.report(surrender);
    const { schedulerId, now } = surrender;
    const report = this.#jobs.releases.giveUp(surrender, (stepId) => this.#living.hasMade(schedulerId, stepId, now));
    return { ...report, ...this.#living.heartbeats(surrender.incarnation) };
  }

  async cancelJob(id: string, now: number): Promise<contract.CancelReport> {
    return this.#jobs.cancel(id, now);
  }

  async getSchedulers(now: number): Promise<SchedulerRecord[]> {
    return this.#living.all(now);
  }

  async getJobResult(jobId: string, now: number): Promise<JobResultRecord | null> {
    return this.#results.get(jobId, now);
  }

  async getResultsOfJobs(jobIds: readonly string[], now: number): Promise<JobResultRecord[]> {
    return [...new Set(jobIds)].map((id) => this.#results.get(id, now)).filter((result) => result !== null);
  }

  async getJobResults(filter: contract.JobResultFilter, now: number): Promise<contract.RecordPage<JobResultRecord>> {
    return this.#results.page(filter, now);
  }

  async removeJobResults(selection: contract.JobResultSelection, limit: number): Promise<number> {
    return this.#results.remove(selection, limit);
  }

  async cleanup({ now, limit }: { now: number; limit: number }): Promise<contract.CleanupReport> {
    return this.#cleanup(now, limit);
  }

  #cleanup(now: number, limit: number): contract.CleanupReport {
    this.#living.cleanup(now);
    const removedWindows = this.#jobs.cleanupWindows(now, limit);
    const removedScheduleIds = this.#schedules.cleanup(now, limit, (id) => this.#jobs.hasJobsOf(id));
    const isNeeded = (id: string): boolean => this.#schedules.has(id) || this.#jobs.hasJobsOf(id);
    const removedOccurrences = this.#ledger?.cleanup(now, isNeeded) ?? 0;
    return {
      removedResults: this.#results.cleanup(now, limit),
      removedScheduleIds,
      ...(removedWindows === 0 ? {} : { removedWindows }),
      ...(removedOccurrences === 0 ? {} : { removedOccurrences }),
    };
  }

  async inspect(now: number, options: contract.InspectionOptions = {}): Promise<contract.StoreInspection> {
    const { tasks, oldestDueJob } = this.#jobs.inspect(now);
    const seen = {
      tasks,
      oldestDueJob,
      oldestDueSchedule: this.#schedules.oldestDue(now),
      storeNow: null,
      ...this.#alarms?.inspect(),
    };
    return options.countsSchedules === true ? { ...seen, schedules: this.#schedules.counts(now) } : seen;
  }

  /** If there are several plans of one schedule, only the first can count. */
  #commitPlans(request: contract.StepRequest, notes: RecoveryNotes): contract.PlanReport[] {
    if (request.plans.length === 0) return [];
    const seen = new Set<string>();
    return request.plans.map((plan) => {
      if (seen.has(plan.scheduleId)) return NO_COMMIT;
      seen.add(plan.scheduleId);
      return this.#commitPlan(plan, request, notes);
    });
  }

  #commitPlan(plan: contract.SchedulePlan, request: contract.StepRequest, notes: RecoveryNotes): contract.PlanReport {
    const { now, stepId, isRepetition } = request;
    const schedule = this.#schedules.commit(plan, request);
    if (schedule === null && !isRepetition) return NO_COMMIT;
    const isSkipped = schedule !== null && plan.overlap !== undefined && this.#makeWay(plan, plan.overlap, now, notes);
    if (schedule !== null && plan.skips !== undefined) this.#ledger?.skip(plan.scheduleId, plan.skips);
    const addedJobIds: string[] = [];
    for (const fire of plan.fires) {
      const isNew = schedule !== null && !isSkipped && this.#jobs.additions.addOfSchedule(schedule, plan, fire);
      if (isNew || this.#jobs.has(fire.jobId)) addedJobIds.push(fire.jobId);
    }
    const committed = schedule !== null || this.#schedules.wasCommitted(plan, stepId);
    if (!committed || plan.overlap === undefined) return { committed, addedJobIds };
    const overlap = this.#schedules.overlapOf(plan.scheduleId);
    return overlap === null ? { committed, addedJobIds } : { committed, addedJobIds, overlap };
  }

  /** Makes room for the fire of a plan that was committed. Returns whether the fire makes no job. */
  #makeWay(
    { scheduleId, fires }: contract.SchedulePlan,
    overlap: contract.PlannedOverlap,
    now: number,
    notes: RecoveryNotes,
  ): boolean {
    const report = this.#jobs.makeWay(scheduleId, overlap, now, notes);
    const skipped = overlap.passed + report.replaced.length + (report.isSkipped ? 1 : 0);
    this.#schedules.noteOverlap(scheduleId, report, skipped);
    this.#ledger?.gaveWay(scheduleId, fires[0]?.fireTime ?? null, report);
    return report.isSkipped;
  }

  #seeAlarms({ jobs, schedules }: contract.View): Pick<contract.Seen, "alarms"> {
    const alarms = jobs === null && schedules === null ? undefined : this.#alarms?.see();
    return alarms === undefined ? NO_ALARMS : { alarms };
  }

  #isPaused({ taskId, key }: contract.TaskPause): boolean {
    return this.#jobs.taskPauses.some((pause) => pause.taskId === taskId && pause.key === key);
  }

  /** Null for a task that was never put. */
  #limitOf(taskId: string): number | null {
    const task = this.#tasks.get(taskId);
    if (task === undefined) return this.#removedLimits.get(taskId) ?? null;
    return task.paused === true ? 0 : task.maxRunningJobs;
  }
}

const NO_ALARMS: Pick<contract.Seen, "alarms"> = Object.freeze({});
const NO_COMMIT: contract.PlanReport = Object.freeze({ committed: false, addedJobIds: Object.freeze([]) });

function frozenMetadata(jobs: readonly JobRecord[]): Metadata[] {
  return jobs.map((job) => frozenCopy(job.metadata));
}

/** Ordered by task, then key. */
function inOrderOfPauses(a: contract.TaskPause, b: contract.TaskPause): number {
  return compareTexts(a.taskId, b.taskId) || compareTexts(a.key ?? "", b.key ?? "");
}
