import { engineSteps } from "../cron/compiled-cron.ts";
import { QUESTION_STEPS_MAX } from "./limits.ts";

// Triggers nest, and each level may search: without a common budget the work of one question would be the product of
// all levels. So a question opens one budget, and all triggers that it reaches take their steps from it. The budget is
// a variable of this module, because a question is answered without waiting, so no two are open at a time, and because
// triggers of users' own in between need not pass it on.

/** The engine counts the months and stretches that it looks at: about so many take as long as one step. */
const ENGINE_STEPS_A_STEP = 4;
/** A search that has taken fewer steps than this is not to blame when the budget is used up, and goes on. Then the
 *  search that asks it finds out, which is the one that asks too often. */
const BLAMED_STEPS_MIN = QUESTION_STEPS_MAX / 8;

let isOpen = false;
let taken = 0;
let engineStart = 0;

/** What one search may take from the budget of a question. */
export class StepShare {
  readonly #begin: number = stepsTaken();

  /** Takes steps. False when the search must end with an error: the budget is used up, and this search has taken
   *  much. */
  take(steps: number): boolean {
    taken += steps;
    const now = stepsTaken();
    return now <= QUESTION_STEPS_MAX || now - this.#begin < BLAMED_STEPS_MIN;
  }
}

/** Answers a question within one budget: its own, or that of the question which this one is part of. */
export function withinBudget<Answer>(search: (share: StepShare) => Answer): Answer {
  if (isOpen) return search(new StepShare());
  isOpen = true;
  taken = 0;
  engineStart = engineSteps();
  try {
    return search(new StepShare());
  } finally {
    taken = stepsTaken();
    isOpen = false;
  }
}

/** Steps that the open question, or the last one, has taken. */
export function stepsTaken(): number {
  // The engine's counter is an integer of 32 bits, which may run over.
  return isOpen ? taken + ((engineSteps() - engineStart) | 0) / ENGINE_STEPS_A_STEP : taken;
}
