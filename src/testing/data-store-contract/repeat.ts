import type { DataStore, StepReport } from "../../stores/data-store.ts";
import { type StepFields, step, T0 } from "./makers.ts";

export const STEP_ID: string = "scheduler-a 1#twice";

/** A step whose answer is lost, and its repetition. */
export async function twice(store: DataStore, fields: StepFields): Promise<[lost: StepReport, answer: StepReport]> {
  const lost = await step(store, { stepId: STEP_ID, ...fields });
  return [lost, await again(store, fields)];
}

/** The repetition of a step. Its clock has moved on. */
export function again(store: DataStore, fields: StepFields): Promise<StepReport> {
  const now = (fields.now ?? T0) + 7;
  return step(store, { stepId: STEP_ID, ...fields, now, isRepetition: true });
}
