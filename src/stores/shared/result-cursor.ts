import { optionError } from "../../core/option-errors.ts";

/** Where a page of results ended: the end of its last job, and the place of the result among those of one instant. */
export interface ResultCursor {
  readonly finishedAt: number;
  readonly place: number;
}

export function resultCursor({ finishedAt, place }: ResultCursor): string {
  return `${finishedAt} ${place}`;
}

/** @throws {OptionsError} for a text that no page of results gave */
export function readResultCursor(text: string): ResultCursor {
  const [finishedAt = Number.NaN, place = Number.NaN, ...rest] = text.split(" ").map(Number);
  if (Number.isSafeInteger(finishedAt) && Number.isSafeInteger(place) && rest.length === 0) {
    return { finishedAt, place };
  }
  const message = "must be the cursor of a page of results; begin again without a cursor";
  throw optionError("getJobResults()", "cursor", message);
}
