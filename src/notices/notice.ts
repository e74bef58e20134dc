import { NonRetryableError } from "../core/errors.ts";
import { instantText } from "../core/temporal.ts";
import { NOTICE_TYPES, type NoticeRecord, type NoticeType } from "../records/notice.ts";
import type { NoticeContext } from "../scheduler/options/notice-channel.ts";

/** What a notice is about. Instants are ISO 8601 text, and null is none. */
export interface NoticeData {
  readonly taskId: string;
  /** Null for the pause of a task or a key. */
  readonly scheduleId: string | null;
  /** The fire time of the run; null for a pause. */
  readonly fireTime: string | null;
  /** The job of the run; null for a pause, and for an overdue run without a job. */
  readonly jobId: string | null;
  /** How the run ended; null for what is no end of a run. */
  readonly outcome: string | null;
  /** The error of a run that failed, if its result is kept: its name and its message, 500 characters of it. */
  readonly error: { readonly name: string; readonly message: string } | null;
  /** Of an overdue run: what has not happened in time, its `start` or its `finish`; else null. */
  readonly kind: "start" | "finish" | null;
  /** Of an overdue run: when that had to happen; else null. */
  readonly dueAt: string | null;
  /** Of a pause: the paused concurrency key; null for a whole task or a schedule. */
  readonly key: string | null;
  /** Of a pause: who paused it. */
  readonly by: string | null;
  /** Of a pause: why. */
  readonly reason: string | null;
  /** Of a pause: when it ends by itself. */
  readonly until: string | null;
}

/** A change of state, as it is sent. */
export interface Notice {
  readonly type: NoticeType;
  /** When the state changed, as ISO 8601 text. */
  readonly timestamp: string;
  /** The whole in one line of plain English. */
  readonly text: string;
  /** The same as facts. */
  readonly data: NoticeData;
}

/** Longest message of an error in a notice, in UTF-16 units. */
const MESSAGE_LENGTH_MAX = 500;

/** The notice that a job is.
 *  @throws {NonRetryableError} for a job that somebody added by hand */
export async function noticeOf({ job, scheduler }: NoticeContext): Promise<Notice> {
  const record = job.metadata as unknown as Flat;
  if (!NOTICE_TYPES.includes(record.type) || typeof record.at !== "number") {
    throw new NonRetryableError("the job is no notice: only changes of state add jobs of this task");
  }
  const { type, at, taskId, scheduleId, fireTime, jobId, outcome, kind, dueAt, key, by, reason, until } = record;
  const result =
    type === "failed" && jobId !== undefined && jobId !== null ? await scheduler.getJobResult(jobId) : null;
  const thrown = result?.error ?? null;
  const data: NoticeData = {
    taskId,
    scheduleId: scheduleId ?? null,
    fireTime: textOf(fireTime),
    jobId: jobId ?? null,
    outcome: outcome ?? null,
    error: thrown === null ? null : { name: thrown.name, message: cutTo(thrown.message, MESSAGE_LENGTH_MAX) },
    kind: kind ?? null,
    dueAt: textOf(dueAt),
    key: key ?? null,
    by: by ?? null,
    reason: reason ?? null,
    until: textOf(until),
  };
  return { type, timestamp: instantText(at), text: sentenceOf(type, data), data };
}

/** The fields of all notices. */
type Flat = { readonly type: NoticeType; readonly at: number; readonly taskId: string } & {
  readonly [K in Keys<NoticeRecord>]?: K extends "fireTime" | "dueAt" | "until" ? number | null : string | null;
} & { readonly kind?: "start" | "finish" | null };
type Keys<T> = T extends unknown ? Exclude<keyof T, "type" | "at" | "taskId" | "kind"> : never;

function textOf(instant: number | null | undefined): string | null {
  return instant === null || instant === undefined ? null : instantText(instant);
}

/** At most so many UTF-16 units, without half of a surrogate pair. */
export function cutTo(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 3).toWellFormed()}...` : text;
}

function sentenceOf(type: NoticeType, data: NoticeData): string {
  const { scheduleId, taskId, fireTime, outcome, error, kind, dueAt, key, by, reason, until } = data;
  const schedule = `Schedule "${scheduleId}"`;
  if (type === "recovered" || type === "succeeded") {
    return `${schedule} ${type === "recovered" ? "works again" : "succeeded"}: its run of ${fireTime} succeeded.`;
  }
  if (type === "failed") {
    const why = error === null ? (outcome ?? "") : `${error.name}: ${error.message}`;
    return `${schedule} failed: its run of ${fireTime} ended with ${why}`;
  }
  if (type === "overdue") {
    const what = kind === "start" ? "started" : "ended";
    return `${schedule} is overdue: its run of ${fireTime} has not ${what} by ${dueAt}.`;
  }
  const task = `Task "${taskId}"`;
  const what = scheduleId !== null ? schedule : key === null ? task : `The key "${key}" of task "${taskId}"`;
  const facts = [
    by === null ? null : `by ${by}`,
    until === null ? null : `until ${until}`,
    reason === null ? null : `because: ${reason}`,
  ];
  return [`${what} was paused`, ...facts.filter((fact) => fact !== null)].join(" ");
}
