import * as v from "valibot";
import { ISSUES_MAX } from "../core/check-limits.ts";
import { once } from "../core/once.ts";
import { mustBe } from "../core/option-errors.ts";
import { compareTexts } from "../core/text.ts";
import type { BlackoutRecord } from "../records/blackout.ts";
import type { JobRecord } from "../records/job.ts";
import type { JobResultRecord } from "../records/job-result.ts";
import type { ScheduleRecord } from "../records/schedule.ts";
import type { TaskRecord } from "../records/task.ts";
import type { Serializer } from "../serializers/serializer.ts";
import type { Line } from "./line-reader.ts";
import {
  blackoutSchema,
  type HistoryLine,
  historySchema,
  jobSchema,
  type RunLine,
  type RunningJobLine,
  resultSchema,
  runningJobSchema,
  runSchema,
  type SkipLine,
  scheduleSchema,
  skipSchema,
  type TaskPauseLine,
  taskPauseSchema,
  taskSchema,
  withRule,
} from "./record-schemas.ts";
import { TransferError, type TransferIssue } from "./transfer-error.ts";

// The text of an export: one JSON object a line. The first line has the version, each other line one record under the
// name of its kind, and the last line says that nothing is missing.

/** The newest version of the format that this program reads, which is the one that it writes. */
const TRANSFER_VERSION = 1;

/** The records of a text, by their kind. */
export interface TransferRecords {
  task: TaskRecord;
  taskPause: TaskPauseLine;
  blackout: BlackoutRecord;
  schedule: ScheduleRecord;
  runningJob: RunningJobLine;
  job: JobRecord;
  result: JobResultRecord;
  history: HistoryLine;
  run: RunLine;
  skip: SkipLine;
}

export type TransferKind = keyof TransferRecords;

/** A record of a text. */
export type TransferRecord = {
  [K in TransferKind]: {
    readonly kind: K;
    readonly record: TransferRecords[K];
    readonly line: number;
    readonly length: number;
  };
}[TransferKind];

interface RecordKind<T> {
  /** Records of a lower rank come first. */
  readonly rank: number;
  readonly schema: () => v.GenericSchema<unknown, T>;
}

const KINDS: { readonly [K in TransferKind]: RecordKind<TransferRecords[K]> } = {
  task: { rank: 0, schema: taskSchema },
  taskPause: { rank: 1, schema: taskPauseSchema },
  // Before the schedules, so that none of them fires within one.
  blackout: { rank: 1, schema: blackoutSchema },
  schedule: { rank: 2, schema: scheduleSchema },
  runningJob: { rank: 3, schema: runningJobSchema },
  job: { rank: 3, schema: jobSchema },
  result: { rank: 4, schema: resultSchema },
  history: { rank: 5, schema: historySchema },
  run: { rank: 5, schema: runSchema },
  skip: { rank: 5, schema: skipSchema },
};

/** The first line. */
export interface TransferHeader {
  readonly exportedAt: string;
}

const header = once(() =>
  v.object({
    escapement: v.literal("store"),
    version: v.number(),
    exportedAt: v.pipe(v.string(), v.maxLength(64)),
  }),
);

export function headerLine(exportedAt: string): string {
  return lineOf({ escapement: "store", version: TRANSFER_VERSION, exportedAt });
}

export function recordLine<K extends TransferKind>(kind: K, record: TransferRecords[K]): string {
  return lineOf({ [kind]: record });
}

export function endLine(): string {
  return lineOf({ end: true });
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Reads the lines of a text, and gathers what is wrong with them. */
export class TransferReader {
  readonly #serializer: Serializer;
  readonly #issues: TransferIssue[] = [];
  #header: TransferHeader | null = null;
  #last: { readonly rank: number; readonly kind: TransferKind; readonly id: string } | null = null;
  #hasEnded = false;
  #line = 0;

  constructor(serializer: Serializer) {
    this.#serializer = serializer;
  }

  /** The first line. @throws {TransferError} when the text is no export */
  get header(): TransferHeader {
    if (this.#header === null) throw new TransferError([{ line: 1, message: "is missing: the text is empty" }]);
    return this.#header;
  }

  /** The record of a line; null for a line that has none, or is wrong.
   *  @throws {TransferError} for a text that is no export, or that has too many problems */
  read({ number, text }: Line): TransferRecord | null {
    this.#line = number;
    const value = parsed(text);
    if (this.#header === null) {
      this.#header = headerOf(value, number);
      return null;
    }
    if (this.#hasEnded) return this.refuse(number, "comes after the end: the text has ended before");
    if (typeof value !== "object" || value === null) return this.refuse(number, "is no JSON object");
    const [kind = "", ...others] = Object.keys(value);
    if (kind === "end" && others.length === 0) {
      this.#hasEnded = true;
      return null;
    }
    if (others.length > 0 || !isKind(kind)) {
      const kinds = Object.keys(KINDS).join(", ");
      return this.refuse(number, `has no record of a kind that this program knows: ${kinds}`);
    }
    return this.#recordOf(kind, (value as Record<string, unknown>)[kind], number, text.length);
  }

  /** Notes what is wrong with a line. */
  refuse(line: number, message: string): null {
    this.#issues.push({ line, message });
    if (this.#issues.length >= ISSUES_MAX) throw new TransferError(this.#issues);
    return null;
  }

  /** @throws {TransferError} when a line was wrong, or the end is missing */
  finish(): void {
    if (!this.#hasEnded && this.#header !== null) {
      this.#issues.push({ line: this.#line + 1, message: "is missing: the text was cut off, because it has no end" });
    }
    if (this.#issues.length > 0) throw new TransferError(this.#issues);
  }

  #recordOf(kind: TransferKind, given: unknown, line: number, length: number): TransferRecord | null {
    const { schema, rank } = KINDS[kind];
    const checked = v.safeParse(schema(), given, { abortEarly: true });
    if (!checked.success) {
      const [issue] = checked.issues;
      const path = issue.path?.map(({ key }) => String(key)).join(".") ?? "";
      return this.refuse(line, `${[kind, path].filter((part) => part !== "").join(".")}: ${issue.message}`);
    }
    const found = { kind, record: checked.output, line, length } as TransferRecord;
    const problem = this.#orderProblem(found, rank) ?? payloadProblem(found, this.#serializer);
    if (problem !== null) return this.refuse(line, problem);
    if (found.kind !== "schedule") return found;
    try {
      return { ...found, record: withRule(found.record) };
    } catch (error) {
      return this.refuse(line, `schedule.${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #orderProblem(found: TransferRecord, rank: number): string | null {
    const last = this.#last;
    const id = "id" in found.record ? found.record.id : "";
    this.#last = { rank, kind: found.kind, id };
    if (last === null) return null;
    if (rank < last.rank) return `a ${found.kind} must come before all records of the kind ${last.kind}`;
    const isOrdered = found.kind === "task" || found.kind === "blackout" || found.kind === "schedule";
    if (!isOrdered || found.kind !== last.kind || compareTexts(last.id, id) < 0) return null;
    return `${found.kind}.id: must come after ${JSON.stringify(last.id)} in the order of ids, each of which comes once`;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isKind(name: string): name is TransferKind {
  return Object.hasOwn(KINDS, name);
}

function headerOf(value: unknown, line: number): TransferHeader {
  const read = v.safeParse(header(), value);
  const refuse = (message: string): TransferError => new TransferError([{ line, message }]);
  if (!read.success) throw refuse("is not the first line of an export: exportStore() writes a version there");
  const { version, exportedAt } = read.output;
  if (version === TRANSFER_VERSION) return { exportedAt };
  throw refuse(mustBe(`version ${TRANSFER_VERSION}, which this program reads`, version, "", "update first"));
}

/** A payload that the store's serializer cannot read would fail when its job runs. */
function payloadProblem({ kind, record }: TransferRecord, serializer: Serializer): string | null {
  if ((kind !== "schedule" && kind !== "job") || record.payload === null) return null;
  try {
    serializer.deserialize(record.payload);
    return null;
  } catch {
    return `${kind}.payload: the serializer of the store cannot read it; give the store the one of the exported store`;
  }
}
