import type { JobExecutor } from "./job-executor.ts";

/**
 * The `capacity` of an executor as a whole number; undefined for an executor without one. Never throws: an executor
 * that does not say how much it can begin can begin nothing.
 * @param onWrong told what is wrong with a capacity that is no number
 */
export function capacityOf(
  executor: JobExecutor,
  onWrong?: (what: string, cause?: unknown) => void,
): number | undefined {
  try {
    const capacity: unknown = executor.capacity;
    if (capacity === undefined) return undefined;
    if (typeof capacity === "number" && capacity >= 0) return Math.floor(capacity);
    onWrong?.(`is ${typeof capacity === "number" ? capacity : `a value of type ${typeof capacity}`}`);
  } catch (error) {
    onWrong?.("threw when it was read", error);
  }
  return 0;
}
