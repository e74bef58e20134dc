import { CronSyntaxError } from "../core/errors.ts";
import type { CronField } from "./fields.ts";

/** Where an element stands: what the message of a {@link CronSyntaxError} is made of. */
export interface ElementPlace {
  readonly text: string;
  readonly field: CronField | null;
  readonly start: number;
  readonly end: number;
}

/**
 * The error for one element. The message reads: which field and element, what is wrong, where it stands, what to do.
 *
 * @param advice replaces the question "did you mean ...?"
 */
export function syntaxError(
  place: ElementPlace,
  problem: string,
  suggestion: string | null = null,
  advice: string | null = null,
): CronSyntaxError {
  const { text, field, start, end } = place;
  const element = clip(text.slice(start, end).trimEnd());
  const subject = field === null ? quote(element) : `${field.name} ${quote(element)}`;
  const where = element === text ? "" : ` (position ${start} in ${quote(text)})`;
  const hint = advice ?? (suggestion === null ? null : `did you mean ${quote(suggestion)}?`);
  return new CronSyntaxError(`${subject} ${problem}${where}${hint === null ? "" : `; ${hint}`}`, {
    field: field?.name ?? null,
    element,
    position: start,
    suggestion,
  });
}

/** Text in the form that messages show: escaped and cut, because it may be hostile. */
export function quote(text: string): string {
  return JSON.stringify(clip(text));
}

function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
