import { QUESTION_STEPS_MAX } from "../core/limits.ts";
import { engineSteps } from "../cron/compiled-cron.ts";

// Triggers nest, and each level may search: without a common budget the work of one question would be the product of
// all levels. So a question opens one budget, and all triggers that it reaches take their steps from it. The budget is
// a variable of this module, because a question is answered without waiting, so no two are open at a time, and because
// triggers of users' own in between need not pass it on.

/** The engine counts the months and stretches that it looks at: about so many take as long as one step. */
const ENGINE_STEPS_A_STEP = 4;

let isOpen = false;
let taken = 0;
let engineStart = 0;

/** Answers a question within one budget: its own, or that of the question which this one is part of. */
export function withinBudget<Answer>(search: () => Answer): Answer {
  if (isOpen) return search();
  isOpen = true;
  taken = 0;
  engineStart = engineSteps();
  try {
    return search();
  } finally {
    taken = stepsTaken();
    isOpen = false;
  }
}

/** Takes steps from the budget of the open question. False when it is used up: then whoever searches must throw. */
export function takeSteps(steps: number): boolean {
  taken += steps;
  return stepsTaken() <= QUESTION_STEPS_MAX;
}

/** Steps that the open question, or the last one, has taken. */
export function stepsTaken(): number {
  // The engine's counter is an integer of 32 bits, which may run over.
  return isOpen ? taken + ((engineSteps() - engineStart) | 0) / ENGINE_STEPS_A_STEP : taken;
}
