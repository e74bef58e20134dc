import { mustBe, optionError } from "../core/option-errors.ts";
import type { Labels } from "../records/policies.ts";
import type { LabelQuery } from "./wire.ts";

/** A query, or the filter of a body, with its labels as the verbs take them.
 *  @param where the route @throws {OptionsError} */
export function withLabels<Query extends LabelQuery>(
  { label, ...query }: Query,
  where: string,
): Omit<Query, "label"> & { labels?: Labels } {
  if (label === undefined) return query;
  const labels = new Map<string, string>();
  for (const text of label) {
    const [, name = "", value = ""] = /^([^:]*):(.*)$/s.exec(text) ?? [];
    if (name === "") throw optionError(where, "label", mustBe('a name and a value, such as "team:billing"', text));
    if (labels.has(name)) throw optionError(where, "label", `names "${name}" twice, and no record has two values`);
    labels.set(name, value);
  }
  return { ...query, labels: Object.fromEntries(labels) };
}
