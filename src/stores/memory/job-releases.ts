import type {
  JobRelease,
  LeaseEnd,
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  RecoveryReport,
  ReleaseStatus,
  StepRequest,
} from "../data-store.ts";
import type { JobEntry } from "./gate.ts";
import type { MemoryGates } from "./gates.ts";
import type { JobEnds } from "./job-ends.ts";
import { isLastLoss, mayHaveStarted } from "./job-losses.ts";
import type { JobTable } from "./job-table.ts";
import type { MemoryLeases } from "./leases.ts";
import { emptyNotes, type RecoveryNotes } from "./recovery-notes.ts";
import type { MemoryResults } from "./results.ts";
import { frozenCopy } from "./tables.ts";

interface Parts {
  readonly table: JobTable;
  readonly gates: MemoryGates;
  readonly leases: MemoryLeases;
  readonly ends: JobEnds;
  readonly results: MemoryResults;
}

/** What becomes of the leased jobs of a `MemoryDataStore`: their leases are released, extended, given up, or lost. */
export class JobReleases {
  readonly #table: JobTable;
  readonly #gates: MemoryGates;
  readonly #leases: MemoryLeases;
  readonly #ends: JobEnds;
  readonly #results: MemoryResults;

  constructor({ table, gates, leases, ends, results }: Parts) {
    this.#table = table;
    this.#gates = gates;
    this.#leases = leases;
    this.#ends = ends;
    this.#results = results;
  }

  /** Applies the releases of a step. @param report gets the jobs that recovery ends or takes back */
  release(request: StepRequest, report: RecoveryNotes): ReleaseStatus[] {
    this.#gates.beginStep();
    return request.releases.map((release) => this.#release(release, request, report));
  }

  /** Takes back the leases that are no longer live. @param report gets the jobs */
  recover(now: number, leaseEnds: readonly LeaseEnd[], report: RecoveryNotes): void {
    for (const leaseEnd of leaseEnds) this.#leases.move(leaseEnd, now);
    for (let entry = this.#leases.first; entry !== undefined; entry = this.#leases.first) {
      if ((entry.record.acquiredUntil ?? 0) > now) break;
      this.#takeBack(entry, now, report, null);
    }
  }

  /** @param isSpared whether the leases of a step are left alone besides those of the caller */
  giveUp({ now, schedulerId, incarnation }: LeaseSurrender, isSpared: (stepId: string) => boolean): RecoveryReport {
    const report = emptyNotes();
    const isLeft = (stepId: string): boolean => !stepId.startsWith(incarnation) && !isSpared(stepId);
    for (const entry of this.#leases.leasedWhere(isLeft)) {
      if (entry.record.acquiredBy === schedulerId) this.#takeBack(entry, now, report, null);
    }
    return { recovered: report.recovered, ended: report.ended };
  }

  extendLeases(extension: LeaseExtension): LeaseExtensionReport {
    const lost: string[] = [];
    const cancelRequested: string[] = [];
    const extended = new Set<JobEntry>();
    for (const { jobId, fence, hasStarted, progress } of extension.jobs) {
      const entry = this.#table.find(jobId);
      if (entry === undefined || entry.record.fence !== fence || entry.record.acquiredBy !== extension.schedulerId) {
        lost.push(jobId);
        continue;
      }
      extended.add(entry);
      if (hasStarted === true) entry.record.startedFence = fence;
      if (progress !== undefined) entry.record.progress = frozenCopy(progress);
      this.#leases.endAt(entry, Math.max(entry.record.acquiredUntil ?? 0, extension.until));
      if (entry.record.cancelRequested) cancelRequested.push(jobId);
    }
    this.#giveUpOrphans(extension, extended);
    return { lost, cancelRequested };
  }

  #release(release: JobRelease, step: StepRequest, report: RecoveryNotes): ReleaseStatus {
    const { now, schedulerId, stepId, isRepetition } = step;
    const entry = this.#table.find(release.jobId);
    const isStart = release.kind === "start";
    if (entry === undefined) {
      return isRepetition && !isStart && this.#results.has(release.jobId) ? "released" : "missing";
    }
    const { record } = entry;
    if (record.fence !== release.fence || record.acquiredBy !== schedulerId) {
      const wasPutBack = isRepetition && !isStart && release.kind !== "finish" && entry.stamp === stepId;
      return wasPutBack ? "released" : "fenced";
    }
    if (release.kind === "finish") {
      this.#ends.end(entry, release.result, now, report);
    } else if (isStart) {
      record.startedFence = record.fence;
    } else if (record.cancelRequested) {
      this.#ends.endWithoutRun(entry, "cancelled", now, report);
    } else if (release.kind === "giveUp" && release.hasStarted === true) {
      record.startedFence = record.fence;
      if (release.attemptHistory !== undefined) record.attemptHistory = frozenCopy(release.attemptHistory);
      this.#takeBack(entry, now, report, stepId);
    } else {
      if (release.kind === "retry") {
        record.runAt = release.runAt;
        record.failedAttempts = release.failedAttempts;
        if (release.attemptHistory !== undefined) record.attemptHistory = frozenCopy(release.attemptHistory);
      }
      this.#leases.putBack(entry, stepId, release.kind === "giveUp" || record.runAt <= now);
    }
    return "released";
  }

  /** @param stamp the step that gave the job up, if any */
  #takeBack(entry: JobEntry, now: number, report: RecoveryNotes, stamp: string | null): void {
    const { record } = entry;
    if (isLastLoss(record)) {
      const outcome = record.cancelRequested ? "cancelled" : "abandoned";
      this.#ends.endWithoutRun(entry, outcome, now, report);
      return;
    }
    if (mayHaveStarted(record)) record.recoveries++;
    this.#leases.putBack(entry, stamp, true);
    const { id: jobId, taskId, scheduleId } = record;
    report.recovered.push({ jobId, taskId, scheduleId, attempt: record.failedAttempts + record.recoveries });
  }

  /** Gives up leases that steps of this incarnation made but the extension does not name. Nobody runs their jobs,
   *  because a try of such a step arrived late. */
  #giveUpOrphans(extension: LeaseExtension, extended: ReadonlySet<JobEntry>): void {
    const { now, schedulerId, incarnation, settledStepId } = extension;
    const isOurs = (stepId: string): boolean =>
      settledStepId !== null && stepId <= settledStepId && stepId.startsWith(incarnation);
    for (const entry of this.#leases.leasedWhere(isOurs)) {
      if (entry.record.acquiredBy !== schedulerId || extended.has(entry)) continue;
      if (entry.record.cancelRequested) this.#leases.orphan(entry, now);
      else this.#leases.putBack(entry, null, true);
    }
  }
}
