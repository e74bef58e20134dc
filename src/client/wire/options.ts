import { durationText, msName } from "../../core/duration.ts";
import { instantText } from "../../core/temporal.ts";
import type { Field, Fields } from "../../records/fields/field.ts";
import { JOB_FIELDS, JOB_OPTIONS } from "../../records/fields/job.ts";
import { SCHEDULE_FIELDS } from "../../records/fields/schedule.ts";
import type { Labels } from "../../records/policies.ts";

// Options on their way to a router. Only what the caller gave travels, so that the defaults are those of the scheduler
// behind the router.

/** What bounds a list or a backfill. */
const BOUNDS: Fields = {
  ...{ from: { kind: "instant" }, until: { kind: "instant" }, pace: { kind: "duration" } },
  ...{ minRunTime: { kind: "duration" }, maxRunTime: { kind: "duration" }, bucket: { kind: "duration" } },
};

/** Options of a schedule or a job as JSON.
 *  @param given the same before defaults were added to it, which do not travel */
export function wireOptions(checked: object, given: object | null = null): Record<string, unknown> {
  return wireFields({ ...JOB_FIELDS, ...JOB_OPTIONS, ...SCHEDULE_FIELDS, ...BOUNDS }, checked, given);
}

function wireFields(fields: Fields, checked: object, given: object | null): Record<string, unknown> {
  const names = Object.keys(fields);
  const wire: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(checked)) {
    const name = names.find((one) => msName(one) === key) ?? key;
    if (value !== undefined && (given === null || name in given)) wire[name] = wireField(fields[name], value);
  }
  return wire;
}

function wireField(field: Field | undefined, value: unknown): unknown {
  if (value === null) return null;
  if (field?.kind === "instant") return instantText(value as number);
  if (field?.kind === "duration") return durationText(value as number);
  return field?.kind === "object" ? wireFields(field.fields, value as object, null) : value;
}

/** A filter as JSON, or as a query. */
export function wireFilter({ labels, ...checked }: { readonly labels?: Labels }): WireFilter {
  const wire: Record<string, WireFilter[string]> = {};
  for (const [name, value] of Object.entries(wireOptions(checked))) {
    if (value !== null) wire[name] = Array.isArray(value) ? value.join(",") : (value as string | number | boolean);
  }
  if (labels !== undefined) wire.label = Object.entries(labels).map((label) => label.join(":"));
  return wire;
}

/** A list comes as several parameters of one name. */
type WireFilter = Readonly<Record<string, string | number | boolean | readonly string[]>>;
