import type { Mutant } from "../mutant.ts";
import { PLANS } from "../plan-mutants.ts";

/** A fault, and the first seed that finds it. */
export interface OperatorMutant {
  readonly mutant: Mutant;
  readonly caughtBy: number;
}

function known(name: string): Mutant {
  const found = PLANS.find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`there is no fault "${name}"`);
  return found;
}

/** Faults of our own, each of which a promise about the operations has to find. */
export const OPERATOR_MUTANTS: readonly OperatorMutant[] = [
  { mutant: known("the store adds a plan's jobs and does not move the schedule on"), caughtBy: 0 },
];
