import type { Logger } from "../../core/logger.ts";
import { mustBe, optionError } from "../../core/option-errors.ts";

/**
 * The fraction that a handler reports, from 0 to 1. Sums of fractions end a little outside, and so does work that is
 * more than was expected: the nearest of both counts. Null, with a warning, for what a division by 0 gives.
 * @throws {OptionsError} for all else, because it is a mistake of the program
 */
export function checkedProgress(fraction: number, note: string | undefined, logger: () => Logger): number | null {
  // The note goes into the statement that extends the leases of all jobs.
  if (typeof (note ?? "") !== "string") throw optionError("progress()", "note", mustBe("text", note));
  if (fraction > -1 && fraction < 2) return Math.min(Math.max(fraction, 0), 1);
  if (typeof fraction === "number" && !Number.isFinite(fraction)) {
    logger().warn(`escapement: progress(): fraction is ${fraction}, and is left out: is something divided by 0?`);
    return null;
  }
  const advice = fraction > 1 && fraction <= 100 ? `write ${fraction / 100} for ${fraction} %` : null;
  throw optionError("progress()", "fraction", mustBe("a number from 0 to 1", fraction, "", advice));
}
