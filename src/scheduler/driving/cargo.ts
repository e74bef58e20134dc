import type { PlannedSchedule } from "../firing/fire-planner.ts";
import type { EndedAttempt } from "../running/release-queue.ts";
import type { WaitingAddition } from "./addition-line.ts";

/** What a step carries to the store. */
export interface Cargo {
  readonly releases: readonly EndedAttempt[];
  readonly additions: readonly WaitingAddition[];
  readonly planned: readonly PlannedSchedule[];
}

export const NO_CARGO: Cargo = Object.freeze({ releases: [], additions: [], planned: [] });

export function isSingle({ releases, additions, planned }: Cargo): boolean {
  return releases.length + additions.length + planned.length === 1;
}

/** Splits a cargo into its kinds, or, if it has only one kind, into halves. */
export function splitCargo(cargo: Cargo): Cargo[] {
  const { releases, additions, planned } = cargo;
  const kinds = [
    { ...NO_CARGO, releases },
    { ...NO_CARGO, additions },
    { ...NO_CARGO, planned },
  ].filter((kind) => kind.releases.length + kind.additions.length + kind.planned.length > 0);
  if (kinds.length !== 1 || isSingle(cargo)) return kinds;
  const half = Math.ceil((releases.length + additions.length + planned.length) / 2);
  return [
    { releases: releases.slice(0, half), additions: additions.slice(0, half), planned: planned.slice(0, half) },
    { releases: releases.slice(half), additions: additions.slice(half), planned: planned.slice(half) },
  ];
}
