import type { Mutable } from "../../core/mutable.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { CommitRequest, JobAddition, PlannedJob, SchedulePlan } from "../data-store.ts";
import { addedJob, debouncedRunAt } from "../shared/added-and-ended-jobs.ts";
import { hasParents, refuseCircles, unknownParents } from "../shared/parents-of-jobs.ts";
import { isCancelledBy } from "./dependencies.ts";
import { cancelChildren, type Notes, type Tables } from "./ends-of-jobs.ts";
import { isBlocked, type JobEntry, moveTo, recordOf } from "./entries-of-jobs-and-tasks.ts";
import { frozenCopy } from "./frozen-copies.ts";
import { vanishesIn } from "./leases-and-recovery.ts";

// How jobs come into a memory store. An *existing job* may stand for an addition, which then adds none.

/**
 * Refuses jobs whose parents are unknown, or that would wait for each other, before anything is changed.
 * @param commit the commit that adds the jobs, if any: a parent that ends there and leaves no result is unknown
 * @throws {StoreRefusedError}
 */
export function checkParents(
  { jobs, results }: Tables,
  added: readonly NewJobRecord[],
  commit: CommitRequest | null,
): void {
  if (!added.some(hasParents)) return;
  refuseCircles(added);
  const ids = new Set(added.map(({ id }) => id));
  const isKnown = (id: string, now: number): boolean => {
    const entry = jobs.find(id);
    const stays = entry !== undefined && (commit === null || !vanishesIn(commit, entry));
    return ids.has(id) || stays || results.get(id, now) !== null;
  };
  const unknown = added
    .filter((job) => hasParents(job) && !jobs.knows(job.id) && !results.has(job.id))
    .filter((job) => job.retryOf === undefined && jobs.existingJob(job) === undefined)
    .flatMap(({ after = [], createdAt }) => after.filter((id) => !isKnown(id, createdAt)));
  if (unknown.length > 0) throw unknownParents([...new Set(unknown)]);
}

/** Adds jobs, whose parents have been checked. @param metadata frozen copies of the jobs' metadata. The caller makes
 *  these copies before the first change, because reading the metadata may throw */
export function addJobs(
  tables: Tables,
  jobs: readonly NewJobRecord[],
  metadata: readonly JobRecord["metadata"][],
  notes: Notes,
): JobAddition[] {
  const children: JobEntry[] = [];
  const additions: JobAddition[] = [];
  let hasBursts = false;
  let hasChildren = false;
  for (const [index, job] of jobs.entries()) {
    additions.push(addJob(tables, job, metadata[index] ?? job.metadata, children));
    hasBursts ||= job.debounce !== undefined;
    hasChildren ||= hasParents(job);
  }
  if (!hasBursts && !hasChildren) return additions;
  startChildren(tables, jobs, additions, children, notes);
  return additions.map((addition, index) => {
    const { job, isNew } = addition;
    const given = jobs[index];
    const isChild = isNew && given !== undefined && hasParents(given) && given.id === job.id;
    const entry = tables.jobs.find(job.id);
    // Later additions of the call may have changed the job of a burst.
    if (entry !== undefined) return isChild || hasBursts ? { ...addition, job: recordOf(entry) } : addition;
    return isChild ? { job, isNew, hasEnded: true } : addition;
  });
}

/** Tells in the answers which jobs are blocked, when all else is done. */
export function withHolds({ jobs, flow }: Tables, additions: JobAddition[]): JobAddition[] {
  if (!flow.hasBlocked && additions.every(({ job }) => job.blockedBy === undefined)) return additions;
  return additions.map((addition) => {
    const entry = jobs.find(addition.job.id);
    const blockedBy = entry === undefined ? undefined : recordOf(entry).blockedBy;
    if (addition.job.blockedBy === blockedBy) return addition;
    const { blockedBy: _, ...job } = addition.job;
    return { ...addition, job: blockedBy === undefined ? job : { ...job, blockedBy } };
  });
}

/** Adds the job of a schedule's fire, unless an unfinished job has the fire time or the id. Returns whether it did. */
export function addPlannedJob(
  { jobs, flow, queues }: Tables,
  schedule: ScheduleRecord,
  { isCatchUp = false }: SchedulePlan,
  fire: PlannedJob,
): boolean {
  if (jobs.has(fire.jobId) || jobs.atFireTime(schedule.id, fire.fireTime) !== undefined) return false;
  // Written out, because a spread of `NEVER_RUN` makes the record three times as large, for every fire.
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
    failedAttempts: 0,
    recoveries: 0,
    startedFence: 0,
    cancelRequested: false,
    acquiredBy: null,
    acquiredUntil: null,
    fence: 0,
  };
  if (schedule.labels !== undefined) record.labels = schedule.labels;
  if (schedule.concurrencyKey !== undefined) record.concurrencyKey = schedule.concurrencyKey;
  if (schedule.failureExpirationMs !== undefined) record.failureExpirationMs = schedule.failureExpirationMs;
  if (schedule.pauseAfterFailures !== undefined) record.pauseAfterFailures = schedule.pauseAfterFailures;
  const entry = jobs.insert(record);
  flow.join(entry);
  const expectedMs = schedule.expectStartMs ?? schedule.expectFinishMs;
  if (expectedMs !== undefined) jobs.watchAt(entry, fire.fireTime + expectedMs);
  queues.add(entry, fire.runAt <= fire.createdAt);
  return true;
}

/** @param children gets the job, if it has parents: the caller has it wait for them */
function addJob(tables: Tables, job: NewJobRecord, metadata: JobRecord["metadata"], children: JobEntry[]): JobAddition {
  const { jobs, bursts, windows } = tables;
  const isAlone = job.debounce === undefined && job.once === undefined;
  if (jobs.knows(job.id) || tables.results.has(job.id)) {
    const known = isAlone ? undefined : jobs.find(job.id);
    return { job: { ...(known?.record ?? addedJob(job)) }, isNew: true };
  }
  if (isAlone) return addUnlessExisting(tables, job, metadata, children);
  const burst = bursts.join(job);
  if (burst !== null) {
    const entry = jobs.find(burst.jobId);
    if (entry !== undefined && burst.isLast) debounce(tables, entry, job, metadata);
    return standIn(tables, burst.jobId, job);
  }
  const opener = windows.openerOf(job);
  if (opener !== null) {
    if (jobs.existingJob(job) === undefined) windows.followClock(job);
    return standIn(tables, opener, job);
  }
  const addition = addUnlessExisting(tables, addedJob(job), metadata, children);
  if (!addition.isNew) return addition;
  windows.added(job);
  bursts.added(job);
  return addition;
}

function addUnlessExisting(
  { jobs, results, flow, queues, steps }: Tables,
  job: NewJobRecord,
  metadata: JobRecord["metadata"],
  children: JobEntry[],
): JobAddition {
  const existing = jobs.existingJob(job);
  if (existing !== undefined) return { job: recordOf(existing), isNew: false };
  if (job.retryOf !== undefined && !results.has(job.retryOf)) return { job, isNew: false, isOutdated: true };
  // The store keeps a copy, so that the caller's record itself may be returned.
  const record: Mutable<NewJobRecord> = { ...job, metadata };
  if (record.labels !== undefined) record.labels = frozenCopy(record.labels);
  if (record.blockedBy !== undefined) delete record.blockedBy;
  if (record.copiesSteps !== undefined) {
    delete record.copiesSteps;
    if (job.copiesSteps === true && job.retryOf !== undefined) steps.copy(job.retryOf, job.id);
  }
  const entry = jobs.insert(record);
  flow.join(entry);
  if (hasParents(job)) children.push(entry);
  else queues.add(entry, job.runAt <= job.createdAt);
  return { job, isNew: true };
}

/** The answer to an addition for which another job stands. */
function standIn({ jobs }: Tables, id: string, job: NewJobRecord): JobAddition {
  const entry = jobs.find(id);
  if (entry !== undefined) return { job: recordOf(entry), isNew: false };
  return { job: { ...addedJob(job), id }, isNew: false, hasEnded: true };
}

/** The job of a burst gets the values of the burst's last addition. */
function debounce(
  { jobs, flow, queues }: Tables,
  entry: JobEntry,
  job: NewJobRecord,
  metadata: JobRecord["metadata"],
): void {
  const { executor, payload, priority, startDeadline, resultExpirationMs, maxRecoveries, concurrencyKey, retry } = job;
  const { record } = entry;
  // Its limiter and its places in lists depend on the values.
  jobs.setWaiting(entry, false);
  flow.leave(entry);
  moveTo(null, entry);
  Object.assign(record, { executor, payload, priority, startDeadline, resultExpirationMs, maxRecoveries, metadata });
  record.createdAt = Math.min(record.createdAt, job.createdAt);
  record.runAt = debouncedRunAt(job, record.createdAt);
  if (job.labels === undefined) delete record.labels;
  else record.labels = frozenCopy(job.labels);
  if (job.failureExpirationMs === undefined) delete record.failureExpirationMs;
  else record.failureExpirationMs = job.failureExpirationMs;
  if (concurrencyKey === undefined) delete record.concurrencyKey;
  else record.concurrencyKey = concurrencyKey;
  if (retry === undefined) delete record.retry;
  else record.retry = retry;
  jobs.setWaiting(entry, true);
  flow.join(entry);
  // The end of its parents lets a job wait in a list.
  if (entry.parents === null) queues.add(entry, record.runAt <= job.createdAt);
}

/** Has the new jobs with parents wait for these, and lets those wait no longer whose parents have ended. */
function startChildren(
  tables: Tables,
  jobs: readonly NewJobRecord[],
  additions: readonly JobAddition[],
  children: readonly JobEntry[],
  notes: Notes,
): void {
  // Existing jobs may stand for jobs of the same call.
  const standIns = new Map(additions.map(({ job }, index) => [jobs[index]?.id, job.id]));
  for (const { record } of children) {
    record.after = Object.freeze((record.after ?? []).map((id) => standIns.get(id) ?? id));
  }
  // All wait before the first one ends, which lets others go on, or cancels them.
  const ended = new Map(notes.ended.map(({ jobId, outcome }) => [jobId, outcome]));
  const cancelled = children.filter((entry) => waitForParents(tables, entry, ended));
  for (const entry of cancelled) cancelChildren(tables, [entry], { ...notes, now: entry.record.createdAt });
  for (const entry of children) {
    if (!tables.jobs.holds(entry) || entry.list !== null || isBlocked(entry)) continue;
    tables.queues.add(entry, entry.record.runAt <= entry.record.createdAt);
  }
}

/** Has a new job wait while it has unfinished parents. Returns whether a parent that has ended cancels the job.
 *  @param ended the outcomes of the jobs that ended in the same commit, whose results may not be kept */
function waitForParents(
  { jobs, chains, results }: Tables,
  entry: JobEntry,
  ended: ReadonlyMap<string, JobOutcome>,
): boolean {
  const { after = [], createdAt } = entry.record;
  const open = new Set(after.filter((id) => jobs.has(id)));
  if (open.size > 0) chains.wait(entry, open);
  return after.some((id) => {
    const outcome = open.has(id) ? undefined : (results.get(id, createdAt)?.outcome ?? ended.get(id));
    return outcome !== undefined && isCancelledBy(entry, outcome);
  });
}
