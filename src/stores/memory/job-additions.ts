import { type JobRecord, NEVER_RUN, type NewJobRecord } from "../../records/job.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { addedJob, debouncedRunAt } from "../added-job.ts";
import type { JobAddition, PlannedJob, SchedulePlan, StepRequest } from "../data-store.ts";
import { hasParents, refuseCircles, unknownParents } from "../parents.ts";
import { isCancelledBy, type MemoryChains } from "./chains.ts";
import type { JobEntry } from "./gate.ts";
import { type MemoryGates, recordOf } from "./gates.ts";
import type { JobEnds } from "./job-ends.ts";
import { vanishesIn } from "./job-losses.ts";
import type { JobTable } from "./job-table.ts";
import type { MemoryLedger } from "./ledger.ts";
import type { MemoryQueues } from "./queues.ts";
import type { RecoveryNotes } from "./recovery-notes.ts";
import type { MemoryResults } from "./results.ts";
import type { Mutable } from "./tables.ts";
import type { Bursts, Windows } from "./windows.ts";

interface Parts {
  readonly table: JobTable;
  readonly queues: MemoryQueues;
  readonly gates: MemoryGates;
  readonly chains: MemoryChains;
  readonly windows: Windows;
  readonly bursts: Bursts;
  readonly ends: JobEnds;
  readonly results: MemoryResults;
  readonly ledger: MemoryLedger | null;
}

/** How jobs come into a `MemoryDataStore`: what is added, and what is not because another job stands for it. */
export class JobAdditions {
  readonly #table: JobTable;
  readonly #queues: MemoryQueues;
  readonly #gates: MemoryGates;
  readonly #chains: MemoryChains;
  readonly #windows: Windows;
  readonly #bursts: Bursts;
  readonly #ends: JobEnds;
  readonly #results: MemoryResults;
  readonly #ledger: MemoryLedger | null;

  constructor({ table, queues, gates, chains, windows, bursts, ends, results, ledger }: Parts) {
    this.#table = table;
    this.#queues = queues;
    this.#gates = gates;
    this.#chains = chains;
    this.#windows = windows;
    this.#bursts = bursts;
    this.#ends = ends;
    this.#results = results;
    this.#ledger = ledger;
  }

  /**
   * Refuses jobs whose parents are unknown, or that would wait for each other, before anything is changed.
   * @param step the step that adds the jobs, if any: a parent that ends there and leaves no result is unknown
   * @throws {StoreRefusedError}
   */
  checkParents(jobs: readonly NewJobRecord[], step: StepRequest | null): void {
    if (!jobs.some(hasParents)) return;
    refuseCircles(jobs);
    const ids = new Set(jobs.map(({ id }) => id));
    const isKnown = (id: string, now: number): boolean => {
      const entry = this.#table.find(id);
      const stays = entry !== undefined && (step === null || !vanishesIn(step, entry));
      return ids.has(id) || stays || this.#results.get(id, now) !== null;
    };
    const unknown = jobs
      .filter((job) => hasParents(job) && !this.#table.has(job.id) && !this.#results.hasEnded(job.id))
      .filter((job) => job.retryOf === undefined && this.#table.rivalOf(job) === undefined)
      .flatMap(({ after = [], createdAt }) => after.filter((id) => !isKnown(id, createdAt)));
    if (unknown.length > 0) throw unknownParents([...new Set(unknown)]);
  }

  /** Adds jobs, whose parents have been checked. @param metadata frozen copies of the jobs' metadata. The caller makes
   *  these copies before the first change, because reading the metadata may throw */
  addAll(
    jobs: readonly NewJobRecord[],
    metadata: readonly JobRecord["metadata"][],
    notes: RecoveryNotes,
  ): JobAddition[] {
    const children: JobEntry[] = [];
    const additions: JobAddition[] = [];
    let hasBursts = false;
    let hasChildren = false;
    // One loop, and nothing after it, for nearly all jobs: they are not debounced, and have no parents.
    for (const [index, job] of jobs.entries()) {
      additions.push(this.#add(job, metadata[index] ?? job.metadata, children));
      hasBursts ||= job.debounce !== undefined;
      hasChildren ||= hasParents(job);
    }
    if (!hasBursts && !hasChildren) return additions;
    this.#startChildren(jobs, additions, children, notes);
    return additions.map((addition, index) => {
      const { job, isNew } = addition;
      const isChild = hasParents(job) && isNew && job.id === jobs[index]?.id;
      const record = this.#table.get(job.id);
      // Later additions of the call may have changed the job of a burst.
      if (record !== null) return isChild || hasBursts ? { ...addition, job: record } : addition;
      return isChild ? { job, isNew, hasEnded: true } : addition;
    });
  }

  /** Has the new jobs with parents wait for these, and lets those wait no longer whose parents have ended. */
  #startChildren(
    jobs: readonly NewJobRecord[],
    additions: readonly JobAddition[],
    children: readonly JobEntry[],
    notes: RecoveryNotes,
  ): void {
    if (children.length === 0) return;
    // Jobs of the same call that were not added have others in their place.
    const standIns = new Map(additions.map(({ job }, index) => [jobs[index]?.id, job.id]));
    for (const entry of children) {
      entry.record.after = Object.freeze((entry.record.after ?? []).map((id) => standIns.get(id) ?? id));
    }
    // All wait before the first one ends, which ends or frees others.
    const ended = new Map(notes.ended.map(({ jobId, outcome }) => [jobId, outcome]));
    const doomed = children.filter((entry) => this.#waitForParents(entry, ended));
    for (const entry of doomed) this.#ends.cancelChildren([entry], entry.record.createdAt, notes);
    for (const entry of children) {
      const isWaiting = this.#table.holds(entry) && entry.heap === null && !this.#chains.isBlocked(entry);
      if (isWaiting) this.#queues.add(entry, entry.record.runAt <= entry.record.createdAt);
    }
  }

  #add(job: NewJobRecord, metadata: JobRecord["metadata"], children: JobEntry[]): JobAddition {
    const isWindowed = job.debounce !== undefined || job.once !== undefined;
    if (this.#table.has(job.id) || this.#results.hasEnded(job.id)) {
      const { record } = (isWindowed ? this.#table.find(job.id) : undefined) ?? { record: addedJob(job) };
      return { job: { ...record }, isNew: true };
    }
    if (!isWindowed) return this.#addUnlessRivalled(job, metadata, children);
    const burst = this.#bursts.join(job);
    if (burst !== null) {
      const entry = this.#table.find(burst.jobId);
      if (entry !== undefined && burst.isLast) this.#debounce(entry, job, metadata);
      return this.#standIn(burst.jobId, job);
    }
    const opener = this.#windows.openerOf(job);
    if (opener !== null) {
      if (this.#table.rivalOf(job) === undefined) this.#windows.clamp(job);
      return this.#standIn(opener, job);
    }
    const addition = this.#addUnlessRivalled(addedJob(job), metadata, children);
    if (!addition.isNew) return addition;
    this.#windows.added(job);
    this.#bursts.added(job);
    return addition;
  }

  /** The answer to an addition for which another job stands. */
  #standIn(id: string, job: NewJobRecord): JobAddition {
    const entry = this.#table.find(id);
    if (entry !== undefined) return { job: recordOf(entry), isNew: false };
    return { job: { ...addedJob(job), id }, isNew: false, hasEnded: true };
  }

  /** The job of a burst gets the values of the burst's last addition. */
  #debounce(entry: JobEntry, job: NewJobRecord, metadata: JobRecord["metadata"]): void {
    const { executor, payload, priority, startDeadline, resultExpirationMs, maxRecoveries, concurrencyKey } = job;
    const { record } = entry;
    // A job that waits for its parents is in no heap, and its end puts it into one.
    const isQueued = entry.heap !== null;
    // Its gate and its place in a heap depend on the values.
    this.#table.setWaiting(entry, false);
    this.#gates.leave(entry);
    entry.heap?.remove(entry);
    Object.assign(record, { executor, payload, priority, startDeadline, resultExpirationMs, maxRecoveries, metadata });
    record.createdAt = Math.min(record.createdAt, job.createdAt);
    record.runAt = debouncedRunAt(job, record.createdAt);
    if (concurrencyKey === undefined) delete record.concurrencyKey;
    else record.concurrencyKey = concurrencyKey;
    this.#table.setWaiting(entry, true);
    this.#gates.join(entry);
    if (isQueued) this.#queues.add(entry, record.runAt <= job.createdAt);
  }

  #addUnlessRivalled(job: JobRecord, metadata: JobRecord["metadata"], children: JobEntry[]): JobAddition {
    const existing = this.#table.rivalOf(job);
    if (existing !== undefined) return { job: recordOf(existing), isNew: false };
    const { retryOf } = job;
    if (retryOf !== undefined) {
      if (!this.#results.has(retryOf)) return { job, isNew: false, isOutdated: true };
      this.#ledger?.repeats(job);
    }
    // The store keeps a copy, so that the caller's record itself may be returned.
    const record: Mutable<JobRecord> = { ...job, metadata };
    if (record.heldBy !== undefined) delete record.heldBy;
    const entry = this.#insert(record);
    if (hasParents(job)) children.push(entry);
    else this.#queues.add(entry, job.runAt <= job.createdAt);
    return { job, isNew: true };
  }

  /** Holds a new job while it has unfinished parents. Returns whether a parent that has ended cancels the job.
   *  @param ended the outcomes of the jobs that ended in the same step, whose results may not be kept */
  #waitForParents(entry: JobEntry, ended: ReadonlyMap<string, JobOutcome>): boolean {
    const { after = [], createdAt } = entry.record;
    const open = new Set(after.filter((id) => this.#table.has(id)));
    if (open.size > 0) this.#chains.block(entry, open);
    return after.some((id) => {
      const outcome = open.has(id) ? undefined : (this.#results.get(id, createdAt)?.outcome ?? ended.get(id));
      return outcome !== undefined && isCancelledBy(entry, outcome);
    });
  }

  /** Tells in the answers which jobs are held, when all else is done. */
  withHolds(additions: JobAddition[]): JobAddition[] {
    if (this.#gates.isEmpty && additions.every(isFree)) return additions;
    return additions.map((addition) => {
      const { job } = addition;
      const mayBeHeld = !this.#gates.isEmpty || job.heldBy !== undefined;
      const entry = mayBeHeld ? this.#table.find(job.id) : undefined;
      const heldBy = entry === undefined ? undefined : recordOf(entry).heldBy;
      if (job.heldBy === heldBy) return addition;
      const { heldBy: _, ...rest } = job;
      return { ...addition, job: heldBy === undefined ? rest : { ...rest, heldBy } };
    });
  }

  /** Adds the job of a schedule's fire, unless an unfinished job has the fire time or the id. Returns whether it
   *  did. */
  addOfSchedule(schedule: ScheduleRecord, { isCatchUp = false }: SchedulePlan, fire: PlannedJob): boolean {
    if (this.#table.has(fire.jobId) || this.#table.hasFireTime(fire.fireTime, schedule.id)) return false;
    const record: Mutable<JobRecord> = {
      id: fire.jobId,
      taskId: schedule.taskId,
      scheduleId: schedule.id,
      executor: schedule.executor,
      payload: schedule.payload,
      priority: schedule.priority - (isCatchUp ? 0.5 : 0),
      runAt: fire.runAt,
      createdAt: fire.createdAt,
      fireTime: fire.fireTime,
      scheduledFireTime: fire.scheduledFireTime,
      startDeadline: fire.startDeadline,
      missedCount: fire.missedCount,
      firstMissedTime: fire.firstMissedTime,
      lastMissedTime: fire.lastMissedTime,
      resultExpirationMs: schedule.resultExpirationMs,
      maxRecoveries: schedule.maxRecoveries,
      metadata: schedule.metadata,
      idempotencyKey: null,
      ...NEVER_RUN,
    };
    if (schedule.concurrencyKey !== undefined) record.concurrencyKey = schedule.concurrencyKey;
    const entry = this.#insert(record);
    const within = schedule.expectStartMs ?? schedule.expectFinishMs;
    if (within !== undefined) this.#table.setAlarm(entry, fire.fireTime + within);
    this.#queues.add(entry, fire.runAt <= fire.createdAt);
    return true;
  }

  /** The caller puts the job into a queue, or has it wait for its parents. */
  #insert(record: JobRecord): JobEntry {
    const entry = this.#table.insert(record);
    if (record.concurrencyKey !== undefined || !this.#gates.isEmpty) this.#gates.join(entry);
    return entry;
  }
}

/** Whether nothing holds the job of an answer, as the answer tells it. */
function isFree({ job }: JobAddition): boolean {
  return job.heldBy === undefined;
}
