import { compareTexts } from "../../core/text.ts";
import type { BlackoutRecord } from "../../records/blackout.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobLogRecord } from "../../records/job-log.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import type { AuditRecord } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { SchedulerRecord } from "../../records/scheduler.ts";
import type { TaskRecord } from "../../records/task.ts";
import { JSONSerializer } from "../../serializers/json.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { Ledger } from "../contract/ledger-types.ts";
import type { ZoneRulesStore } from "../contract/zone-rules-types.ts";
import type * as contract from "../data-store.ts";
import { isStaleTask, putTask, withoutPause } from "../shared/declarations.ts";
import type { LedgerOptions } from "../shared/ledger-option.ts";
import { PAGE_BYTES_MAX, PAUSES_ENDED_PER_COMMIT_MAX } from "../shared/limits.ts";
import { type PauseFacts, pauseFacts } from "../shared/pauses.ts";
import { sizeOf } from "../shared/size-of.ts";
import { addJobs, addPlannedJob, checkParents, withHolds } from "./additions.ts";
import { Backfills } from "./backfills.ts";
import { Blackouts } from "./blackouts.ts";
import { Chains } from "./dependencies.ts";
import {
  cancelJobs,
  coalesce,
  emptyNotes,
  endMissed,
  makeRoom,
  type Notes,
  standFor,
  type Tables,
} from "./ends-of-jobs.ts";
import { isBlocked, type TaskEntry } from "./entries-of-jobs-and-tasks.ts";
import { Flow, pausedKeys } from "./flow-control.ts";
import { frozenCopy } from "./frozen-copies.ts";
import type { Coalesced } from "./history-of-schedule.ts";
import { inspectJobs, jobPage } from "./job-lists.ts";
import { extendLeases, giveUpLeases, recoverLost, releaseJob, saveJobStep } from "./leases-and-recovery.ts";
import { MemoryLedger } from "./ledger.ts";
import { TASK_PAUSES_MAX } from "./limits.ts";
import { JobLogs } from "./logs-of-jobs.ts";
import { MemoryZoneRules } from "./memory-zone-rules.ts";
import { Notices } from "./notices.ts";
import { checkMemoryOptions } from "./options.ts";
import { OverdueOccurrences } from "./overdue-occurrences.ts";
import { Queues } from "./queues-and-acquisition.ts";
import { Results } from "./results.ts";
import { Schedulers } from "./schedulers-and-uptime.ts";
import { Schedules } from "./schedules.ts";
import { StepsOfJobs } from "./steps-of-jobs.ts";
import { Bursts, Windows } from "./throttle-and-debounce.ts";
import { Jobs } from "./unfinished-jobs.ts";

/**
 * Keeps everything in memory: for tests, and for schedules that a program adds anew at every start. Nothing survives
 * the process. Schedulers of one process share the data when they share this object.
 *
 * @example
 * const scheduler = new Scheduler({ dataStore: new MemoryDataStore() });
 */
export class MemoryDataStore implements contract.DataStore {
  readonly serializer: Serializer;
  /** Nobody shares a store in memory. */
  readonly capabilities: contract.StoreCapabilities = Object.freeze({ sharedByProcesses: false });
  readonly ledger: Ledger | null;
  readonly zoneRules: ZoneRulesStore;
  readonly #tables: Tables;
  readonly #backfills: Backfills;
  readonly #ledger: MemoryLedger | null;
  readonly #overdue: OverdueOccurrences | null;
  readonly #schedulers: Schedulers;
  readonly #schedules: Schedules;
  readonly #blackouts = new Blackouts();
  /** The pauses of tasks and keys that end by themselves. */
  readonly #pauseEnds = new Map<
    string,
    { readonly task: TaskEntry; readonly key: string | null; readonly at: number }
  >();
  readonly #notices: Notices;

  /** @param options.serializer turns payloads and return values into text. Default: a {@link JSONSerializer}. The other
   *  stores have the same default, so that a program may move to them without a change
   *  @param options.ledger how much the store remembers of what became of fire times; false for nothing. With more than
   *  100 schedules it remembers less of each, so that it needs some 100 MB at most. Default: true, which is 5,000
   *  entries of a schedule, for 90 days
   *  @throws {OptionsError} when an option is unknown, of a wrong type or out of range */
  constructor(options: { serializer?: Serializer | undefined; ledger?: boolean | LedgerOptions | undefined } = {}) {
    const { serializer, ledger: limits } = checkMemoryOptions(options, "new MemoryDataStore()");
    this.serializer = serializer ?? new JSONSerializer();
    const jobs = new Jobs();
    const [flow, bursts] = [new Flow(), new Bursts()];
    const queues = new Queues(jobs, flow, bursts);
    const notices = new Notices({ jobs, flow, queues });
    const [steps, logs] = [new StepsOfJobs(), new JobLogs()];
    const ledger = limits === null ? null : new MemoryLedger(limits, { jobs, notices, queues, steps });
    const tables = { jobs, queues, flow, chains: new Chains(), windows: new Windows(), bursts };
    const schedulers = new Schedulers(ledger?.uptime ?? null);
    const scheduleOf = (id: string): Readonly<ScheduleRecord> | undefined => schedules.peek(id);
    const overdue = ledger === null ? null : new OverdueOccurrences({ jobs, ledger, scheduleOf, notices });
    const isAlive = (schedulerId: string, now: number): boolean => schedulers.isAlive(schedulerId, now);
    const missedSince = (scheduleId: string, now: number): number | null => jobs.missedSince(scheduleId, now);
    const schedules = new Schedules({ isAlive, missedSince, ledger, overdue });
    this.#tables = { ...tables, results: new Results(steps, logs), steps, logs, ledger, schedules };
    this.#backfills = new Backfills(this.#tables);
    const rules = new MemoryZoneRules();
    this.ledger = ledger;
    this.#ledger = ledger;
    this.#overdue = overdue;
    this.#schedulers = schedulers;
    this.#schedules = schedules;
    this.#notices = notices;
    this.zoneRules = Object.freeze<ZoneRulesStore>({
      rank: async (request) => rules.rank(request),
      getSchedules: async (request) => schedules.zoned(request),
      confirm: async (confirmations) => {
        for (const one of confirmations) schedules.confirm(one);
      },
    });
  }

  async open(_now: number): Promise<void> {}
  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}

  // ---- tasks

  async putTasks(tasks: readonly contract.TaskPut[]): Promise<contract.TaskChange[]> {
    const { jobs, flow, queues } = this.#tables;
    // Made before the first change, because reading a task may throw.
    const copies = tasks.map((task) => frozenCopy(task));
    return copies.map((given) => {
      const entry = jobs.taskOf(given.id);
      const { task, change } = putTask(entry.record ?? undefined, given);
      entry.maxRunningJobs = task.maxRunningJobs;
      this.#notices.taskPut(given.id);
      if (flow.configure(entry, frozenCopy(task))) queues.rejoin(entry);
      return change;
    });
  }

  async getTasks(): Promise<TaskRecord[]> {
    const records = [...this.#tables.jobs.tasks.values()].map(({ record }) => record);
    return records.filter((record) => record !== null).sort((a, b) => compareTexts(a.id, b.id));
  }

  async getTask(id: string): Promise<TaskRecord | null> {
    return this.#tables.jobs.taskRecord(id) ?? null;
  }

  async removeTask(id: string): Promise<"removed" | "inUse" | "missing"> {
    const { jobs, flow } = this.#tables;
    const task = jobs.tasks.get(id);
    if (this.#schedules.isTaskInUse(id) || (task !== undefined && task.jobCount > 0)) return "inUse";
    if (task === undefined || task.record === null) return "missing";
    for (const [of, end] of this.#pauseEnds) if (end.task === task) this.#pauseEnds.delete(of);
    flow.removeTask(task);
    task.record = null;
    jobs.forgetTask(task);
    return "removed";
  }

  async pauseTask(request: contract.TaskPauseRequest): Promise<boolean> {
    const { taskId, key, paused: isPaused, until, reason, by } = request;
    const task = this.#tables.jobs.tasks.get(taskId);
    if (task === undefined || task.record === null) return false;
    const pause = isPaused ? pauseFacts({ pausedUntil: until, pauseReason: reason, pausedBy: by }) : null;
    const before = this.#pauseOf(task, key);
    const isSame = before?.pausedUntil === pause?.pausedUntil && before?.pauseReason === pause?.pauseReason;
    if ((before !== null) !== isPaused || !isSame) this.#ledger?.taskPaused(request);
    this.#setPause(task, key, pause);
    return true;
  }

  #pauseOf({ record, limiters }: TaskEntry, key: string | null): PauseFacts | null {
    if (key !== null) return limiters.get(key)?.pause ?? null;
    return record?.paused === true ? pauseFacts(record) : null;
  }

  #setPause(task: TaskEntry, key: string | null, pause: PauseFacts | null): void {
    if (key === null && task.record !== null) {
      const settings = withoutPause(task.record);
      task.record = frozenCopy(pause === null ? settings : { ...settings, paused: true, ...pause });
    }
    const of = JSON.stringify([task.id, key]);
    if (pause?.pausedUntil === undefined) this.#pauseEnds.delete(of);
    else this.#pauseEnds.set(of, { task, key, at: pause.pausedUntil });
    this.#tables.flow.pause(task, key, pause);
  }

  /** When the first pause of a schedule, a task or a key ends; infinite for none. */
  #pauseEndsAt(): number {
    let first = this.#schedules.pauseEndsAt;
    for (const { at } of this.#pauseEnds.values()) first = Math.min(first, at);
    return first;
  }

  #seePauses({ jobs, schedules }: contract.View): Pick<contract.Seen, "pauseEndsAt"> {
    const pauseEndsAt = jobs === null && schedules === null ? Number.POSITIVE_INFINITY : this.#pauseEndsAt();
    return pauseEndsAt === Number.POSITIVE_INFINITY ? NOTHING_MORE : { pauseEndsAt };
  }

  #seeBlackouts({ schedules }: contract.View): Pick<contract.Seen, "blackouts"> {
    const { version } = this.#blackouts;
    return version === 0 || schedules === null ? NOTHING_MORE : { blackouts: version };
  }

  /** Ends the pauses whose end has come, as many as a commit ends. */
  #pauseFailing(request: contract.CommitRequest, { counted }: Notes): contract.PausedSchedule[] | undefined {
    this.#schedules.countEnds(counted);
    if (counted.length === 0 && !request.recover) return undefined;
    const paused = this.#schedules.pauseFailing(request);
    return paused.length === 0 ? undefined : paused;
  }

  #endPauses(request: contract.CommitRequest): contract.EndedPauses | null {
    const { now } = request;
    const schedules = this.#schedules.endPauses(request);
    const due = [...this.#pauseEnds.values()].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    const tasks = due.slice(0, PAUSES_ENDED_PER_COMMIT_MAX).map(({ task, key }) => {
      this.#setPause(task, key, null);
      this.#ledger?.taskPauseEnded(task.id, key, now);
      return { taskId: task.id, key };
    });
    return schedules.length + tasks.length === 0 ? null : { schedules, tasks };
  }

  async getTaskPauses(): Promise<contract.TaskPause[]> {
    const pauses: contract.TaskPause[] = [];
    for (const task of this.#tables.jobs.tasks.values()) {
      if (task.record?.paused === true) pauses.push({ taskId: task.id, key: null, ...pauseFacts(task.record) });
      pauses.push(...pausedKeys(task));
    }
    const inOrder = pauses.sort((a, b) => compareTexts(a.taskId, b.taskId) || compareTexts(a.key ?? "", b.key ?? ""));
    return inOrder.slice(0, TASK_PAUSES_MAX);
  }

  // ---- blackouts

  async getBlackouts(): Promise<contract.BlackoutList> {
    return this.#blackouts.list();
  }

  async addBlackout(addition: contract.BlackoutAddition): Promise<contract.BlackoutAdditionReport> {
    return this.#blackouts.add(addition);
  }

  async removeBlackout(id: string): Promise<BlackoutRecord | null> {
    return this.#blackouts.remove(id);
  }

  // ---- the hot path

  async look(request: contract.LookRequest): Promise<contract.LookReport> {
    const { jobs, queues, results, windows } = this.#tables;
    const { due, nextFireAt } = this.#schedules.see(request);
    const { nextRunAt, nextMissAt, leaseEndsAt, hasReady } = queues.see(request);
    const stale = request.tasks?.filter((task) => isStaleTask(jobs.taskRecord(task.id), task)) ?? [];
    const oldAt = request.now - (request.expiredForMs ?? 0);
    const hasExpired = request.asksForExpired === true && (results.hasExpired(oldAt) || windows.hasOld(oldAt));
    const staleTaskIds = stale.map((task) => task.id);
    const seen = { due, nextFireAt, nextRunAt, nextMissAt, leaseEndsAt, hasReady };
    const unchanged = request.declared === undefined ? {} : { unchanged: this.#schedules.unchanged(request.declared) };
    const more = { ...this.#seeOverdue(request), ...this.#seePauses(request), ...this.#seeBlackouts(request) };
    const { uptimeAfter } = request;
    const hasUptimeAfter = uptimeAfter === undefined ? undefined : this.#ledger?.uptime.reaches(uptimeAfter);
    const uptime = hasUptimeAfter === undefined ? {} : { hasUptimeAfter };
    const report = { ...seen, staleTaskIds, hasExpired, ...uptime, ...more, ...unchanged };
    return request.zoneRules === undefined
      ? report
      : { ...report, zoneRules: this.#schedules.zoneRules(request.zoneRules) };
  }

  async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const { now, schedulerId, heartbeat } = request;
    const tables = this.#tables;
    // Made before the first change, because reading the metadata may throw.
    const metadata = request.additions.map(metadataOf);
    checkParents(tables, request.additions, request);
    if (heartbeat !== undefined) this.#schedulers.beat({ ...heartbeat, now, schedulerId });
    const notes = emptyNotes(now);
    tables.flow.beginCommit();
    const releases = request.releases.map((release) => releaseJob(tables, release, request, notes));
    if (request.overdue === true) this.#overdue?.raise(request);
    if (request.recover) recoverLost(tables, request, notes);
    if (request.endsMissed === true) endMissed(tables, notes);
    const pausedSchedules = this.#pauseFailing(request, notes);
    const endedPauses = request.endsPauses === true ? this.#endPauses(request) : null;
    const additions = addJobs(tables, request.additions, metadata, notes);
    const plans = this.#commitPlans(request, notes);
    const acquired = tables.queues.acquire(request);
    const changedOverdue = request.overdue === true ? this.#overdue?.resolve(request) : undefined;
    const cleanup = request.cleanup === undefined ? null : this.#cleanup(now, request.cleanup.limit);
    const { due, nextFireAt } = this.#schedules.see(request);
    const { nextRunAt, nextMissAt, leaseEndsAt, hasReady } = tables.queues.see(request, acquired);
    const admitted = this.#admitted(notes);
    // The fields are named one by one, because spreading would cost more than the rest of a small commit.
    const report: contract.CommitReport = {
      releases,
      recovered: notes.recovered,
      ended: notes.ended,
      additions: withHolds(tables, additions),
      plans,
      acquired,
      due,
      nextFireAt,
      nextRunAt,
      nextMissAt,
      leaseEndsAt,
      hasReady,
    };
    const seenOverdue = this.#seeOverdue(request);
    const seenPauses = this.#seePauses(request);
    const seenBlackouts = this.#seeBlackouts(request);
    const hasPaused = endedPauses !== null || pausedSchedules !== undefined;
    const isSmall = admitted.length === 0 && cleanup === null && changedOverdue === undefined && !hasPaused;
    const seen = [seenOverdue, seenPauses, seenBlackouts];
    if (isSmall && seen.every((one) => one === NOTHING_MORE)) return report;
    return {
      ...report,
      ...seenOverdue,
      ...seenPauses,
      ...seenBlackouts,
      ...(pausedSchedules === undefined ? {} : { pausedSchedules }),
      ...(endedPauses === null ? {} : { endedPauses }),
      ...(admitted.length === 0 ? {} : { admitted }),
      ...(changedOverdue === undefined ? {} : { changedOverdue }),
      ...(cleanup === null ? {} : { cleanup }),
    };
  }

  // ---- schedules

  async addSchedules(
    additions: readonly contract.ScheduleAddition[],
    note?: AuditRecord,
  ): Promise<contract.ScheduleAdditionReport> {
    return this.#schedules.add(additions, note);
  }

  async getSchedule(id: string): Promise<ScheduleRecord | null> {
    return this.#schedules.get(id);
  }

  async getSchedules(filter: contract.ScheduleFilter): Promise<contract.RecordPage<ScheduleRecord>> {
    return this.#schedules.page(filter);
  }

  async updateSchedules(
    updates: readonly contract.ScheduleUpdateRequest[],
    note?: AuditRecord,
  ): Promise<(ScheduleRecord | null)[]> {
    return this.#schedules.update(updates, note);
  }

  async removeSchedules(removals: readonly contract.ScheduleRemovalRequest[], note?: AuditRecord): Promise<boolean[]> {
    return removals.map((removal) => this.#schedules.remove(removal, note));
  }

  async commitSchedules(commit: contract.ScheduleCommit, note?: AuditRecord): Promise<contract.ScheduleCommitReport> {
    const report = this.#schedules.commitAll(commit, note);
    if (report.moved.length > 0) return report;
    for (const { from, to } of commit.renames) {
      this.#tables.jobs.renameSchedule(from, to);
      this.#tables.results.renameSchedule(from, to);
      this.#backfills.renameSchedule(from, to);
    }
    return report;
  }

  // ---- jobs, leases and results

  async addJobs(added: readonly NewJobRecord[]): Promise<contract.JobAddition[]> {
    const metadata = added.map(metadataOf);
    // The present of an addition is its `createdAt`.
    const notes = emptyNotes(added[0]?.createdAt ?? 0);
    checkParents(this.#tables, added, null);
    return withHolds(this.#tables, addJobs(this.#tables, added, metadata, notes));
  }

  async getJob(id: string): Promise<JobRecord | null> {
    return this.#tables.jobs.get(id);
  }

  async getJobs(filter: contract.JobFilter): Promise<contract.RecordPage<JobRecord>> {
    return jobPage(this.#tables, filter);
  }

  async cancelJobs(ids: readonly string[], now: number): Promise<contract.CancelReport> {
    return cancelJobs(this.#tables, ids, now);
  }

  async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    this.#schedulers.beat(extension);
    const report = extendLeases(this.#tables, extension);
    if (extension.aliveUntil === null) return report;
    return { ...report, ...this.#schedulers.heartbeats(extension.instanceId) };
  }

  async giveUpLeases(surrender: contract.LeaseSurrender): Promise<contract.LeaseSurrenderReport> {
    const { schedulerId, now } = surrender;
    if (surrender.isAlone === true) this.#schedulers.forgetOthers(surrender);
    this.#schedulers.beat(surrender);
    const isSpared = (commitId: string): boolean => this.#schedulers.hasMade(schedulerId, commitId, now);
    const { counted, recovered, ended } = giveUpLeases(this.#tables, surrender, isSpared);
    this.#schedules.countEnds(counted);
    return { recovered, ended, ...this.#schedulers.heartbeats(surrender.instanceId) };
  }

  async seeBackfill(request: contract.BackfillRequest): Promise<contract.BackfillState> {
    return this.#backfills.see(request);
  }

  async commitBackfill(commit: contract.BackfillCommit): Promise<readonly JobRecord[] | null> {
    return this.#backfills.commit(commit);
  }

  async cancelBackfill(id: string, now: number): Promise<boolean> {
    return this.#backfills.cancel(id, now);
  }

  async getSchedulers(now: number): Promise<SchedulerRecord[]> {
    return this.#schedulers.alive(now);
  }

  async saveJobStep(save: contract.JobStepSave): Promise<contract.JobStepReport> {
    return saveJobStep(this.#tables, save);
  }

  async getJobLogs(jobId: string, now: number): Promise<JobLogRecord[]> {
    const { jobs, results, logs } = this.#tables;
    return jobs.has(jobId) || results.get(jobId, now) !== null ? logs.get(jobId) : [];
  }

  async getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]> {
    const { jobs, results, steps } = this.#tables;
    return jobs.has(jobId) || results.get(jobId, now) !== null ? steps.get(jobId) : [];
  }

  async getJobResult(jobId: string, now: number): Promise<JobResultRecord | null> {
    return this.#tables.results.get(jobId, now);
  }

  async getResultsOfJobs(jobIds: readonly string[], now: number): Promise<contract.ResultsOfJobs> {
    const results: JobResultRecord[] = [];
    let size = 0;
    for (const [place, id] of jobIds.entries()) {
      const result = this.#tables.results.get(id, now);
      size += sizeOf(result);
      if (size > PAGE_BYTES_MAX && results.length > 0) return { results, read: place };
      if (result !== null) results.push(result);
    }
    return { results, read: jobIds.length };
  }

  async getUnknownJobIds(jobIds: readonly string[], now: number): Promise<string[]> {
    const { jobs, results } = this.#tables;
    return jobIds.filter((id) => !jobs.has(id) && results.get(id, now) === null);
  }

  async getJobResults(filter: contract.JobResultFilter, now: number): Promise<contract.RecordPage<JobResultRecord>> {
    return this.#tables.results.page(filter, now);
  }

  async getFailures(selection: contract.FailureSelection, now: number): Promise<contract.FailureList> {
    return this.#tables.results.failures(selection, now);
  }

  async restore({ results, histories }: contract.RestoredRecords): Promise<void> {
    for (const result of results) {
      const isKnown = this.#tables.jobs.has(result.jobId) || this.#tables.results.has(result.jobId);
      if (!isKnown) this.#tables.results.keep(result);
    }
    for (const history of histories) this.#ledger?.restore(history);
  }

  async removeJobResults(selection: contract.ResultRemoval, limit: number): Promise<number> {
    return this.#tables.results.remove(selection, limit);
  }

  async cleanup({ now, limit }: { now: number; limit: number }): Promise<contract.CleanupReport> {
    return this.#cleanup(now, limit);
  }

  async inspect(now: number, options: contract.InspectionOptions = {}): Promise<contract.StoreInspection> {
    const seen = {
      ...inspectJobs(this.#tables, now),
      oldestDueSchedule: this.#schedules.oldestDue(now),
      storeNow: null,
      ...this.#overdue?.inspect(),
    };
    return options.countsSchedules === true ? { ...seen, schedules: this.#schedules.counts(now) } : seen;
  }

  #cleanup(now: number, limit: number): contract.CleanupReport {
    const { jobs, windows, results } = this.#tables;
    this.#schedulers.cleanup(now);
    this.#backfills.cleanup(now, limit);
    this.#blackouts.cleanup(now);
    const removedWindows = windows.cleanup(now, limit);
    const removedScheduleIds = this.#schedules.cleanup(now, limit, (id) => jobs.hasJobsOf(id));
    const isNeeded = (id: string): boolean => this.#schedules.has(id) || jobs.hasJobsOf(id);
    const removedOccurrences = this.#ledger?.cleanup(now, isNeeded) ?? 0;
    return {
      removedResults: results.cleanup(now, limit),
      removedScheduleIds,
      ...(removedWindows === 0 ? {} : { removedWindows }),
      ...(removedOccurrences === 0 ? {} : { removedOccurrences }),
    };
  }

  /** If there are several plans of one schedule, only the first can count. */
  #commitPlans(request: contract.CommitRequest, notes: Notes): contract.PlanReport[] {
    const seen = new Set<string>();
    return request.plans.map((plan) => {
      if (seen.has(plan.scheduleId)) return NO_COMMIT;
      seen.add(plan.scheduleId);
      return this.#commitPlan(plan, request, notes);
    });
  }

  #commitPlan(plan: contract.SchedulePlan, request: contract.CommitRequest, notes: Notes): contract.PlanReport {
    const { commitId, isRepetition } = request;
    const passed = this.#schedules.peek(plan.scheduleId)?.lastFireTime ?? Number.NEGATIVE_INFINITY;
    const isHeeding = (request.blackouts ?? 0) === this.#blackouts.version;
    const schedule = isHeeding ? this.#schedules.commit(plan, request) : null;
    if (schedule === null && !isRepetition) return NO_COMMIT;
    // A skip leaves out the fire times of unfinished jobs, also of those that leave now.
    if (schedule !== null && plan.skips !== undefined) this.#ledger?.skip(plan.scheduleId, plan.skips);
    const made = schedule === null || plan.overlap === undefined ? null : this.#makeRoom(plan, plan.overlap, notes);
    const { isSkipped = false, coalesced = null } = made ?? {};
    const addedJobIds: string[] = [];
    for (const fire of plan.fires) {
      const hasRun = fire.fireTime <= passed && this.#ledger?.rowOf(plan.scheduleId, fire.fireTime)?.kind === "run";
      const isNew = schedule !== null && !isSkipped && !hasRun && addPlannedJob(this.#tables, schedule, plan, fire);
      if (isNew || this.#tables.jobs.has(fire.jobId)) addedJobIds.push(fire.jobId);
    }
    if (coalesced !== null) {
      this.#ledger?.coalesced(plan.scheduleId, coalesced);
      standFor(this.#tables.jobs, plan.scheduleId, coalesced);
    }
    const committed = schedule !== null || this.#schedules.wasCommitted(plan, commitId);
    if (!committed || plan.overlap === undefined) return { committed, addedJobIds };
    const overlap = this.#schedules.overlapOf(plan.scheduleId);
    return overlap === null ? { committed, addedJobIds } : { committed, addedJobIds, overlap };
  }

  /** Makes room for the fire of a plan that was committed. */
  #makeRoom(
    { scheduleId, fires }: contract.SchedulePlan,
    { policy, passed }: contract.PlannedOverlap,
    notes: Notes,
  ): { readonly isSkipped: boolean; readonly coalesced: Coalesced | null } {
    const [fire] = fires;
    if (policy === "latest" || policy === "earliest") {
      const coalesced = fire === undefined ? null : coalesce(this.#tables, scheduleId, policy, fire, notes);
      const report = coalesced?.report ?? NOTHING_IN_THE_WAY;
      this.#schedules.keepOverlap(scheduleId, report, passed);
      return { isSkipped: report.isSkipped, coalesced };
    }
    const report = makeRoom(this.#tables, scheduleId, policy, notes);
    const skippedCount = passed + report.replaced.length + (report.isSkipped ? 1 : 0);
    this.#schedules.keepOverlap(scheduleId, report, skippedCount);
    this.#ledger?.madeRoom(scheduleId, fire?.fireTime ?? null, report);
    return { isSkipped: report.isSkipped, coalesced: null };
  }

  /** The jobs that the commit let go on. Their limiters may block those that waited for their parents before it. */
  #admitted({ admitted }: Notes): readonly contract.AdmittedJob[] {
    const { jobs, flow } = this.#tables;
    if (admitted.length === 0) return flow.admitted;
    const isFree = ({ jobId }: contract.AdmittedJob): boolean => {
      const entry = jobs.find(jobId);
      return entry === undefined || !isBlocked(entry);
    };
    return [...admitted.filter(isFree), ...flow.admitted];
  }

  #seeOverdue({ jobs, schedules }: contract.View): Pick<contract.Seen, "overdue"> {
    const overdue = jobs === null && schedules === null ? undefined : this.#overdue?.see();
    return overdue === undefined ? NOTHING_MORE : { overdue };
  }
}

const NOTHING_MORE: Pick<contract.Seen, "overdue" | "pauseEndsAt" | "blackouts"> = Object.freeze({});
const NOTHING_IN_THE_WAY: contract.OverlapReport = Object.freeze({
  isSkipped: false,
  replaced: Object.freeze([]),
  cancelRequested: Object.freeze([]),
});
const NO_COMMIT: contract.PlanReport = Object.freeze({ committed: false, addedJobIds: Object.freeze([]) });

function metadataOf({ metadata }: NewJobRecord): NewJobRecord["metadata"] {
  return frozenCopy(metadata);
}
