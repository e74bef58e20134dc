import type { ScheduleWithPlan } from "../firing/fire-planner.ts";
import type { EndedAttempt } from "../running/release-queue.ts";
import type { WaitingAddition } from "./addition-line.ts";

/** What a commit carries to the store. */
export interface CommitBatch {
  readonly releases: readonly EndedAttempt[];
  readonly additions: readonly WaitingAddition[];
  readonly planned: readonly ScheduleWithPlan[];
}

export const EMPTY_BATCH: CommitBatch = Object.freeze({ releases: [], additions: [], planned: [] });

export function isSingle({ releases, additions, planned }: CommitBatch): boolean {
  return releases.length + additions.length + planned.length === 1;
}

/** Splits a batch into its kinds, or, if it has only one kind, into halves. */
export function splitBatch(batch: CommitBatch): CommitBatch[] {
  const { releases, additions, planned } = batch;
  const kinds = [
    { ...EMPTY_BATCH, releases },
    { ...EMPTY_BATCH, additions },
    { ...EMPTY_BATCH, planned },
  ].filter((kind) => kind.releases.length + kind.additions.length + kind.planned.length > 0);
  if (kinds.length !== 1 || isSingle(batch)) return kinds;
  const half = Math.ceil((releases.length + additions.length + planned.length) / 2);
  return [
    { releases: releases.slice(0, half), additions: additions.slice(0, half), planned: planned.slice(0, half) },
    { releases: releases.slice(half), additions: additions.slice(half), planned: planned.slice(half) },
  ];
}
