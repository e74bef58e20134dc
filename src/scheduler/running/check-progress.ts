import { mustBe, optionError } from "../../core/option-errors.ts";

/** Checks what a handler reports of its progress. @throws {OptionsError} */
export function checkProgress(fraction: number, note: string | undefined): void {
  if (!(fraction >= 0 && fraction <= 1)) {
    const advice = fraction > 1 && fraction <= 100 ? `write ${fraction / 100} for ${fraction} %` : null;
    throw optionError("progress()", "fraction", mustBe("a number from 0 to 1", fraction, "", advice));
  }
  // The note goes into the statement that extends the leases of all jobs.
  if (typeof (note ?? "") !== "string") throw optionError("progress()", "note", mustBe("text", note));
}
