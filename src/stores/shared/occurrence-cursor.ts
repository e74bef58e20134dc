import { optionError } from "../../core/option-errors.ts";

/** The cursor of a page of occurrences: the fire time at which the page ends. */
export function occurrenceCursor(fireTime: number): string {
  return `at:${fireTime.toString(36)}`;
}

/** The fire time of a cursor. @throws {OptionsError} for a text that no page of occurrences gave */
export function readOccurrenceCursor(text: string): number {
  const [, digits] = /^at:(-?[0-9a-z]{1,12})$/.exec(text) ?? [];
  const fireTime = digits === undefined ? Number.NaN : Number.parseInt(digits, 36);
  if (Number.isSafeInteger(fireTime)) return fireTime;
  const message = "must be the cursor of a page of occurrences; begin again without a cursor";
  throw optionError("getOccurrences()", "cursor", message);
}
