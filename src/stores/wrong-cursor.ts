import { optionError } from "../core/option-errors.ts";

/** The error for a cursor that no page of this list, filter and order gave. @param call such as `getJobs()` */
export function wrongCursor(call: string): Error {
  const message = "must be the cursor of a page of this list, with the same filter and order; begin again without it";
  return optionError(call, "cursor", message);
}
