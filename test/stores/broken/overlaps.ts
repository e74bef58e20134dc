import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Commit = contract.CommitRequest;
type Report = contract.CommitReport;

/** Changes the overlaps of plans; null for none. */
abstract class ChangesOverlaps extends MemoryDataStore {
  protected abstract changed(overlap: contract.PlannedOverlap): contract.PlannedOverlap | null;

  override commit(request: Commit): Promise<Report> {
    const plans = request.plans.map((plan) => {
      const { overlap, ...queueing } = plan;
      const changed = overlap === undefined ? null : this.changed(overlap);
      return changed === null ? queueing : { ...queueing, overlap: changed };
    });
    return super.commit({ ...request, plans });
  }
}

/** Lets every fire queue up. */
class IgnoresOverlaps extends ChangesOverlaps {
  override changed(): null {
    return null;
  }
}

/** Skips where it is to replace. */
class SkipsInsteadOfReplacing extends ChangesOverlaps {
  override changed(overlap: contract.PlannedOverlap): contract.PlannedOverlap {
    return { ...overlap, policy: "skip" };
  }
}

/** Lets the run go on that is to be cancelled. */
class CancelsNothing extends ChangesOverlaps {
  override changed(overlap: contract.PlannedOverlap): contract.PlannedOverlap {
    return overlap.policy === "cancelRunning" ? { ...overlap, policy: "replaceQueued" } : overlap;
  }
}

/** Cancels the run that is to go on. */
class CancelsWhatRuns extends ChangesOverlaps {
  override changed(overlap: contract.PlannedOverlap): contract.PlannedOverlap {
    return overlap.policy === "replaceQueued" ? { ...overlap, policy: "cancelRunning" } : overlap;
  }
}

/** Counts no fire time that a plan passes over. */
class CountsNoneThatArePassed extends ChangesOverlaps {
  override changed(overlap: contract.PlannedOverlap): contract.PlannedOverlap {
    return { ...overlap, passed: 0 };
  }
}

/** Forgets in a repetition what an earlier try skipped. */
class ForgetsSkips extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    if (!request.isRepetition) return report;
    return { ...report, plans: report.plans.map(({ committed, addedJobIds }) => ({ committed, addedJobIds })) };
  }
}

/** Keeps a result of each job that was replaced. */
class KeepsResultsOfReplaced extends MemoryDataStore {
  readonly #replaced = new Set<string>();

  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    for (const { overlap } of report.plans) for (const { jobId } of overlap?.replaced ?? []) this.#replaced.add(jobId);
    return report;
  }

  override async getJobResult(
    ...[jobId, now]: Parameters<MemoryDataStore["getJobResult"]>
  ): ReturnType<MemoryDataStore["getJobResult"]> {
    if (!this.#replaced.has(jobId)) return super.getJobResult(jobId, now);
    const nothing = { scheduledFireTime: null, startedAt: null, returnValue: null, error: null, attempts: 0 };
    const facts = { taskId: "task", scheduleId: "schedule", outcome: "cancelled" as const };
    return { jobId, ...facts, ...nothing, finishedAt: now, expiresAt: now + 1 };
  }
}

/** Changes what is added. */
abstract class ChangesAdditions extends MemoryDataStore {
  protected abstract changed(addition: contract.ScheduleAddition): contract.ScheduleAddition;

  override addSchedules(additions: readonly contract.ScheduleAddition[]): Promise<contract.ScheduleAdditionReport> {
    return super.addSchedules(additions.map((addition) => this.changed(addition)));
  }
}

/** Takes every declaration for a new one. */
class IgnoresDeclarations extends ChangesAdditions {
  override changed(addition: contract.ScheduleAddition): contract.ScheduleAddition {
    return addition.conflictPolicy === "update" ? { ...addition, conflictPolicy: "replace" } : addition;
  }
}

/** Lets older programs overwrite what newer ones declared. */
class IgnoresVersions extends ChangesAdditions {
  override changed({ schedule, ...addition }: contract.ScheduleAddition): contract.ScheduleAddition {
    const { version: _, ...unversioned } = schedule;
    return { ...addition, schedule: unversioned };
  }
}

/** Ends pauses that nobody asked it to end. */
class EndsPauses extends ChangesAdditions {
  override changed(addition: contract.ScheduleAddition): contract.ScheduleAddition {
    return { ...addition, setsPaused: true };
  }
}

/** Lets every job wait that missed its turn. */
class EndsNoMissedTurns extends ChangesOverlaps {
  override changed(overlap: contract.PlannedOverlap): contract.PlannedOverlap | null {
    return overlap.policy === "latest" || overlap.policy === "earliest" ? null : overlap;
  }
}

/** Lets the newest job stand for all where the oldest is to. */
class KeepsTheNewest extends ChangesOverlaps {
  override changed(overlap: contract.PlannedOverlap): contract.PlannedOverlap {
    return overlap.policy === "earliest" ? { ...overlap, policy: "latest" } : overlap;
  }
}

/** Replaces what waits where a job is to stand for it, also while a run of the schedule goes on. */
class ReplacesMissedTurns extends ChangesOverlaps {
  override changed(overlap: contract.PlannedOverlap): contract.PlannedOverlap {
    return overlap.policy === "latest" ? { ...overlap, policy: "replaceQueued" } : overlap;
  }
}

/** Shows no job that misses its turn. */
class HidesMissedTurns extends MemoryDataStore {
  override async look(request: contract.LookRequest): Promise<contract.LookReport> {
    const report = await super.look(request);
    return { ...report, due: report.due.map(({ missedSince: _, ...schedule }) => schedule) };
  }
}

export const brokenOverlaps: readonly BrokenStore[] = [
  ...caughtBy("missed turns", EndsNoMissedTurns, KeepsTheNewest, ReplacesMissedTurns, HidesMissedTurns),
  ...caughtBy("overlaps", IgnoresOverlaps, SkipsInsteadOfReplacing, CancelsNothing, CancelsWhatRuns),
  ...caughtBy("overlaps", CountsNoneThatArePassed, ForgetsSkips, KeepsResultsOfReplaced),
  ...caughtBy("schedule declarations", IgnoresDeclarations, IgnoresVersions, EndsPauses),
];
