import type { JobRecord } from "../../records/job.ts";
import { keptMsOf } from "../../records/policies.ts";
import type {
  CommitRequest,
  JobRelease,
  JobStepReport,
  JobStepSave,
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  ReleaseStatus,
} from "../data-store.ts";
import { emptyNotes, endJob, endWithoutRun, type Notes, type Tables } from "./ends-of-jobs.ts";
import type { JobEntry } from "./entries-of-jobs-and-tasks.ts";
import { frozenCopy } from "./frozen-copies.ts";

// What becomes of the leased jobs of a memory store. A lease is *released* by its holder, *extended*, *given up* by
// another instance of its holder, or *lost*: then *recovery* takes its job back.

/** Applies a release of a commit. */
export function releaseJob(tables: Tables, release: JobRelease, commit: CommitRequest, notes: Notes): ReleaseStatus {
  const { now, schedulerId, commitId, isRepetition } = commit;
  const entry = tables.jobs.find(release.jobId);
  const isStart = release.kind === "start";
  if (entry === undefined) {
    return isRepetition && !isStart && tables.results.has(release.jobId) ? "released" : "missing";
  }
  const { record } = entry;
  if (record.fence !== release.fence || record.acquiredBy !== schedulerId) {
    const wasPutBack = isRepetition && !isStart && release.kind !== "finish" && entry.commitId === commitId;
    return wasPutBack ? "released" : "fenced";
  }
  if (release.log !== undefined) tables.logs.put(record.id, record.fence, release.log);
  if (release.kind === "finish") {
    endJob(tables, entry, release.result, notes);
  } else if (isStart) {
    record.startedFence = record.fence;
  } else if (record.cancelRequested) {
    if (release.attemptHistory !== undefined) record.attemptHistory = frozenCopy(release.attemptHistory);
    endWithoutRun(tables, entry, "cancelled", notes);
  } else if (release.kind === "giveUp" && release.hasStarted === true) {
    record.startedFence = record.fence;
    if (release.attemptHistory !== undefined) record.attemptHistory = frozenCopy(release.attemptHistory);
    recover(tables, entry, notes, commitId);
  } else {
    if (release.kind === "retry") {
      record.runAt = release.runAt;
      record.failedAttempts = release.failedAttempts;
      if (release.attemptHistory !== undefined) record.attemptHistory = frozenCopy(release.attemptHistory);
      if (release.sleep !== undefined) {
        record.sleep = frozenCopy(release.sleep);
        record.startedFence = record.fence;
      }
    }
    tables.queues.putBack(entry, commitId, release.kind === "giveUp" || record.runAt <= now);
  }
  return "released";
}

/** Takes back the jobs whose leases are no longer live. */
export function recoverLost(tables: Tables, { now, leaseEnds = [] }: CommitRequest, notes: Notes): void {
  const { queues } = tables;
  for (const leaseEnd of leaseEnds) queues.moveLeaseEnds(leaseEnd, now);
  for (let entry = queues.firstToEnd; entry !== undefined; entry = queues.firstToEnd) {
    if ((entry.record.acquiredUntil ?? 0) > now) return;
    recover(tables, entry, notes, null);
  }
}

/** @param isSpared whether the leases of a commit are left alone besides those of the caller */
export function giveUpLeases(
  tables: Tables,
  { now, schedulerId, instanceId }: LeaseSurrender,
  isSpared: (commitId: string) => boolean,
): Notes {
  const notes = emptyNotes(now);
  const isLeft = ({ commitId, record }: JobEntry): boolean =>
    record.acquiredBy === schedulerId &&
    (commitId === null || (!commitId.startsWith(instanceId) && !isSpared(commitId)));
  for (const entry of tables.queues.leasedWhere(isLeft)) recover(tables, entry, notes, null);
  return notes;
}

export function extendLeases(tables: Tables, extension: LeaseExtension): LeaseExtensionReport {
  const { schedulerId, until } = extension;
  const lost: string[] = [];
  const cancelRequested: string[] = [];
  const extended = new Set<JobEntry>();
  for (const { jobId, fence, hasStarted, progress, log } of extension.jobs) {
    const entry = tables.jobs.find(jobId);
    if (entry === undefined || entry.record.fence !== fence || entry.record.acquiredBy !== schedulerId) {
      lost.push(jobId);
      continue;
    }
    const { record } = entry;
    extended.add(entry);
    if (hasStarted === true) record.startedFence = fence;
    if (progress !== undefined) record.progress = frozenCopy(progress);
    if (log !== undefined) tables.logs.put(jobId, fence, log);
    if ((record.acquiredUntil ?? 0) < until) tables.queues.endLeaseAt(entry, until);
    if (record.cancelRequested) cancelRequested.push(jobId);
  }
  giveUpOrphans(tables, extension, extended);
  return { lost, cancelRequested };
}

/** Writes a step of a leased job, and extends its lease. */
export function saveJobStep({ jobs, queues, steps }: Tables, save: JobStepSave): JobStepReport {
  const { now, jobId, fence, schedulerId, until } = save;
  const entry = jobs.find(jobId);
  if (entry === undefined) return NOT_SAVED;
  const { record } = entry;
  const acquiredUntil = record.acquiredUntil ?? now;
  if (record.fence !== fence || record.acquiredBy !== schedulerId || acquiredUntil <= now) return NOT_SAVED;
  steps.put(save);
  record.startedFence = fence;
  if (acquiredUntil < until) queues.endLeaseAt(entry, until);
  return { isSaved: true, cancelRequested: record.cancelRequested };
}

const NOT_SAVED: JobStepReport = Object.freeze({ isSaved: false, cancelRequested: false });

/** Gives up leases that commits of this instance made but the extension does not name. Nobody runs their jobs, because
 *  a try of such a commit arrived late. */
function giveUpOrphans({ queues }: Tables, extension: LeaseExtension, extended: ReadonlySet<JobEntry>): void {
  const { now, schedulerId, instanceId, settledCommitId } = extension;
  if (settledCommitId === null) return;
  const isOrphan = (entry: JobEntry): boolean => {
    const { commitId, record } = entry;
    const isOurs = commitId !== null && commitId <= settledCommitId && commitId.startsWith(instanceId);
    return isOurs && record.acquiredBy === schedulerId && !extended.has(entry);
  };
  for (const entry of queues.leasedWhere(isOrphan)) {
    if (!entry.record.cancelRequested) {
      queues.putBack(entry, null, true);
      continue;
    }
    // Recovery is to end the job, and no later extension is to take it for a new orphan.
    entry.commitId = null;
    queues.endLeaseAt(entry, now);
  }
}

/** Takes back a job whose lease was lost, or ends it. @param commitId the commit that gave the job up, if any */
function recover(tables: Tables, entry: JobEntry, notes: Notes, commitId: string | null): void {
  const { record } = entry;
  if (isLastLoss(record)) {
    endWithoutRun(tables, entry, record.cancelRequested ? "cancelled" : "abandoned", notes);
    return;
  }
  if (mayHaveStarted(record)) record.recoveries++;
  tables.queues.putBack(entry, commitId, true);
  const { id: jobId, taskId, scheduleId } = record;
  notes.recovered.push({ jobId, taskId, scheduleId, attempt: record.failedAttempts + record.recoveries });
}

/** A job that was lost before starts only after the store was told so. */
function mayHaveStarted({ recoveries, startedFence, fence }: JobRecord): boolean {
  return recoveries === 0 || startedFence === fence;
}

/** Whether a job ends when its lease is lost. */
function isLastLoss(record: JobRecord): boolean {
  return record.cancelRequested || (mayHaveStarted(record) && record.recoveries >= record.maxRecoveries);
}

/** Whether the releases or the recovery of a commit end a job, and leave no result. */
export function vanishesIn({ now, schedulerId, recover, releases }: CommitRequest, { record }: JobEntry): boolean {
  if (record.acquiredBy === null) return false;
  const isOurs = record.acquiredBy === schedulerId;
  const release = isOurs
    ? releases.find(({ jobId, fence }) => jobId === record.id && fence === record.fence)
    : undefined;
  if (release?.kind === "finish") return release.result.expiresAt <= now;
  const isLost = recover && (record.acquiredUntil ?? 0) <= now;
  const hasStarted = release?.kind === "start" || (release?.kind === "giveUp" && release.hasStarted === true);
  const goesBack = release !== undefined && release.kind !== "start";
  const isTakenBack = goesBack ? record.cancelRequested || hasStarted : isLost;
  const { startedFence, fence } = record;
  const before = { ...record, startedFence: hasStarted ? fence : startedFence };
  return isTakenBack && keptMsOf(record, "abandoned") <= 0 && isLastLoss(before);
}
