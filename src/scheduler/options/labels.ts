import { OptionsError } from "../../core/errors.ts";
import { isPlain, mustBe, optionError } from "../../core/option-errors.ts";
import { isStorable, STORABLE, STORABLE_ADVICE } from "../../core/text.ts";
import type { Labels } from "../../records/policies.ts";
import { LABEL_NAME_LENGTH_MAX, LABEL_VALUE_LENGTH_MAX, LABELS_MAX } from "./limits.ts";

/** What a name is made of. It has no colon, so that `name:value` has one meaning in a URL. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_./-]*$/;

/** A copy of labels. @throws {OptionsError} */
export function checkedLabels(value: unknown): Labels {
  if (!isPlain(value)) throw new OptionsError(mustBe("an object of names and values", value, "", adviceOn(value)));
  const entries = Object.entries(value);
  if (entries.length > LABELS_MAX) throw tooMany(entries.length);
  for (const [name, text] of entries) {
    if (!NAME.test(name) || name.length > LABEL_NAME_LENGTH_MAX) throw new OptionsError(wrongName(name));
    if (typeof text !== "string" || text.length > LABEL_VALUE_LENGTH_MAX || text === "") {
      const what = `text of 1 to ${LABEL_VALUE_LENGTH_MAX} characters as the value of "${name}"`;
      throw new OptionsError(mustBe(`an object with ${what}`, text, "", valueAdvice(text)));
    }
    if (isStorable(text)) continue;
    throw new OptionsError(`must hold ${STORABLE}; the value of "${name}" does not: ${STORABLE_ADVICE}`);
  }
  return Object.freeze(Object.fromEntries(entries)) as Labels;
}

/** Labels of a filter: at least one, because none would mean everything. @throws {OptionsError} */
export function checkedLabelFilter(value: unknown): Labels {
  const labels = checkedLabels(value);
  if (Object.keys(labels).length > 0) return labels;
  throw new OptionsError("must name a label at least; leave it out for all");
}

/** What is given over what is inherited, label by label; undefined for none.
 *  @param what who has them, such as `the job` @throws {OptionsError} when these are too many */
export function mergedLabels(
  inherited: Labels | undefined,
  given: Labels | undefined,
  what: string,
): Labels | undefined {
  if (given === undefined) return inherited;
  const entries = Object.entries({ ...inherited, ...given });
  if (entries.length === 0) return undefined;
  // The order in which they were given decides nothing, so that a declaration with another order is the same.
  if (entries.length <= LABELS_MAX)
    return Object.freeze(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))));
  throw optionError(what, "labels", `${tooMany(entries.length).message}, with those of the task`);
}

function tooMany(count: number): OptionsError {
  return new OptionsError(`must have at most ${LABELS_MAX} labels; got ${count}`);
}

function wrongName(name: string): string {
  const what =
    `names of 1 to ${LABEL_NAME_LENGTH_MAX} letters and digits of ASCII, "_", ".", "/" and "-", ` +
    "of which the first is a letter or digit";
  return mustBe(`an object with ${what}`, name);
}

function adviceOn(value: unknown): string | null {
  return Array.isArray(value) || typeof value === "string" ? 'write { team: "billing" }' : null;
}

function valueAdvice(value: unknown): string | null {
  return typeof value === "number" || typeof value === "boolean" ? `write "${value}"` : null;
}
