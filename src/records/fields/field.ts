import { type MsName, msName } from "../../core/duration.ts";
import type { AttemptRecord } from "../attempt.ts";
import { MISSED_POLICIES, type MissedPolicy } from "../blackout.ts";
import {
  COALESCE_POLICIES,
  type CoalescePolicy,
  JOB_OUTCOMES,
  type JobOutcome,
  type Labels,
  type Metadata,
  PARENT_FAILURE_POLICIES,
  type ParentFailurePolicy,
  type RetryPolicy,
  RUN_OVERLAP_POLICIES,
  type RunOverlapPolicy,
} from "../policies.ts";
import type { SerializedError } from "../serialized-error.ts";

/** The kinds of fields, with the types that their values have in records. */
export interface Kinds extends PlainKinds, WordKinds {}

/** Kinds of any values. */
export interface PlainKinds {
  text: string;
  texts: readonly string[];
  flag: boolean;
  number: number;
  whole: number;
  /** A whole number of 0 or more. */
  count: number;
  /** Epoch milliseconds; in JSON, ISO 8601 text. */
  instant: number;
  /** Milliseconds; in JSON, ISO 8601 text. */
  duration: number;
  metadata: Metadata;
  /** Empty for none, which records leave out. */
  labels: Labels;
  /** A serialized value or null for none; in JSON the value, which is missing for none. */
  value: string | null;
  /** The JSON of a trigger as text; in JSON, that JSON. */
  trigger: string;
  error: SerializedError;
  attempts: readonly AttemptRecord[];
}

/** Kinds of which each value is one of some words. */
export interface WordKinds {
  coalesce: CoalescePolicy;
  overlap: RunOverlapPolicy;
  outcome: JobOutcome;
  onParentFailure: ParentFailurePolicy;
  blockedBy: "limit" | "parents";
  missed: MissedPolicy;
  state: "queued" | "blocked" | "running" | "ended";
  jitter: RetryPolicy["backoff"]["jitter"];
  stepState: "open" | "sleeping" | "ended";
}

/** The words of each. */
export const WORDS: { readonly [K in keyof WordKinds]: readonly WordKinds[K][] } = {
  coalesce: COALESCE_POLICIES,
  overlap: RUN_OVERLAP_POLICIES,
  outcome: JOB_OUTCOMES,
  onParentFailure: PARENT_FAILURE_POLICIES,
  blockedBy: ["limit", "parents"],
  missed: MISSED_POLICIES,
  state: ["queued", "blocked", "running", "ended"],
  jitter: ["full", "none"],
  stepState: ["open", "sleeping", "ended"],
};

export function isWord(kind: keyof Kinds): kind is keyof WordKinds {
  return kind in WORDS;
}

/** A field of a schedule, job, result or task; an object has fields of its own. */
export type Field = FieldFacts &
  ({ readonly kind: keyof Kinds } | { readonly kind: "object"; readonly fields: Fields });

/** Fields by their public names. */
export type Fields = Readonly<Record<string, Field>>;

interface FieldFacts {
  /** Its name in the record, see {@link recordName}. */
  readonly record?: string;
  /** What null means; without it, the field is never null. */
  readonly null?: string;
  /** What null means, where the record has no such field then. */
  readonly absent?: string;
  /** Of a field that callers set: its value where they set none. */
  readonly default?: unknown;
  /** Of a field that callers set: where they set none, the task says it. */
  readonly inherits?: true;
}

/** Whether a field can be null in views and in JSON. */
export function isNullable(field: Field): boolean {
  return field.null !== undefined || field.absent !== undefined;
}

/** The name of a field in its record: the public one, unless the row gives another. A duration is a number there, which
 *  has its unit in its name: `maxJitterMs`, and `misfireGraceMs` for `misfireGraceTime`. */
export function recordName(name: string, { kind, record }: Field): string {
  return record ?? (kind === "duration" ? msName(name) : name);
}

type RecordName<Name, F> = F extends { record: infer R extends string }
  ? R
  : F extends { kind: "duration" }
    ? MsName<Name>
    : Name;

/** The record that fields describe. */
export type RecordOf<Rows> = {
  [N in keyof Rows as Rows[N] extends { absent: string } ? never : RecordName<N, Rows[N]>]: ValueOf<Rows[N]>;
} & {
  [N in keyof Rows as Rows[N] extends { absent: string } ? RecordName<N, Rows[N]> : never]?: ValueOf<Rows[N]>;
};

type ValueOf<F> =
  | (F extends { fields: infer Rows }
      ? RecordOf<Rows>
      : F extends { kind: infer K extends keyof Kinds }
        ? Kinds[K]
        : never)
  | (F extends { null: string } ? null : never);

/** What `toJSON()` makes of fields. */
export type JSONOf<Rows> = { [N in keyof Rows]: JSONValue<Rows[N]> };

export type JSONValue<F> =
  | (F extends { kind: infer K extends keyof Kinds } ? (K extends keyof JSONKinds ? JSONKinds[K] : Kinds[K]) : never)
  | (F extends { fields: infer Rows } ? JSONOf<Rows> : never)
  | (F extends { null: string } | { absent: string } ? null : never);

/** Kinds whose values JSON has in another form. */
interface JSONKinds {
  instant: string;
  duration: string;
  value: unknown;
  attempts: object[];
}

/** The rows of what callers set. */
export type SettingsOf<Rows> = {
  [N in keyof Rows as Rows[N] extends { default: unknown } | { inherits: true } ? N : never]: Rows[N];
};

/** What callers set, checked: by the names of the record, and a value is not yet serialized. */
export type CheckedOf<Rows> = { [N in keyof Rows as RecordName<N, Rows[N]>]?: CheckedValue<Rows[N]> | undefined };

type CheckedValue<F> =
  | (F extends { kind: "value" } ? unknown : F extends { kind: infer K extends keyof Kinds } ? Kinds[K] : never)
  | (F extends { fields: infer Rows } ? CheckedOf<Rows> : never)
  | (F extends { null: string } | { absent: string } ? null : never);
