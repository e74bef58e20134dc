import { durationText } from "../../core/duration.ts";
import { instantText } from "../../core/temporal.ts";
import type { Field, Fields } from "../../records/fields/field.ts";
import { JOB_FIELDS, JOB_OPTIONS } from "../../records/fields/job.ts";
import { SCHEDULE_FIELDS } from "../../records/fields/schedule.ts";

// Options on their way to a router. Only what the caller gave travels, so that the defaults are those of the scheduler
// behind the router.

const FILTER_INSTANTS: readonly string[] = [
  "finishedAfter",
  "finishedBefore",
  "runAfter",
  "runBefore",
  "from",
  "until",
];
/** Filters that have another name in queries. */
const IN_QUERIES: Readonly<Record<string, string>> = { finishedAfter: "since", finishedBefore: "until", search: "q" };

/** Options of a schedule or a job as JSON. @param checked the same with its defaults; times are milliseconds */
export function wireOptions(given: object, checked: object): Record<string, unknown> {
  return wireFields({ ...JOB_FIELDS, ...JOB_OPTIONS, ...SCHEDULE_FIELDS }, given, checked);
}

function wireFields(fields: Fields, given: object, checked: object): Record<string, unknown> {
  const wire: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(checked)) {
    if (name in given && value !== undefined) wire[name] = wireField(fields[name], value);
  }
  return wire;
}

function wireField(field: Field | undefined, value: unknown): unknown {
  if (value === null) return null;
  if (field?.kind === "instant") return instantText(value as number);
  if (field?.kind === "duration") return durationText(value as number);
  return field?.kind === "object" ? wireFields(field.fields, value as object, value as object) : value;
}

/** A filter as JSON, or as a query. */
export function wireFilter(checked: object): Record<string, string | number | boolean> {
  const wire: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(checked)) {
    if (value === undefined || value === null) continue;
    const text = Array.isArray(value) ? value.join(",") : value;
    wire[IN_QUERIES[name] ?? name] = FILTER_INSTANTS.includes(name) ? instantText(Number(value)) : text;
  }
  return wire;
}
