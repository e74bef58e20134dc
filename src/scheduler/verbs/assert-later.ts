import { optionError } from "../../core/option-errors.ts";
import { instantText } from "../../core/temporal.ts";

/** An end that has passed would end nothing, and is a mistake. @throws {OptionsError} */
export function assertLater(until: number | undefined, now: number, where: string): void {
  if (until === undefined || until > now) return;
  const message = `must be later than now, ${instantText(now)}; got ${instantText(until)}: leave it out for no end`;
  throw optionError(where, "until", message);
}
