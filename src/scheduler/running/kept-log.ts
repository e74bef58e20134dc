import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import { isPlain } from "../../core/option-errors.ts";
import { storable } from "../../core/text.ts";
import { cut } from "../../records/attempt.ts";
import { JOB_LOG_LEVELS, type JobLogLevel, type JobLogLineRecord, type JobLogRecord } from "../../records/job-log.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type { TaskRecord } from "../../records/task.ts";
import { JOB_LOG_FIELDS_LENGTH_MAX, JOB_LOG_MESSAGE_LENGTH_MAX } from "./limits.ts";

interface KeptLine {
  readonly line: JobLogLineRecord;
  readonly bytes: number;
}

/** The last lines that the handler of an attempt logged, within the bounds of its task. */
export class KeptLog {
  readonly #attempt: number;
  readonly #bounds: NonNullable<TaskRecord["keepLogs"]>;
  readonly #clock: Clock;
  /** Those before `#first` were dropped. */
  #lines: KeptLine[] = [];
  #first = 0;
  #bytes = 0;
  #dropped = 0;
  /** How many lines there were, the dropped ones included. */
  #count = 0;
  #savedCount = 0;

  constructor(attempt: number, bounds: NonNullable<TaskRecord["keepLogs"]>, clock: Clock) {
    this.#attempt = attempt;
    this.#bounds = bounds;
    this.#clock = clock;
  }

  /** The logger that keeps what it passes on. @param isOpen whether the attempt is under way */
  keeping(logger: Logger, isOpen: () => boolean): Logger {
    const keep =
      (level: JobLogLevel) =>
      (message: string, ...details: unknown[]): void => {
        if (isOpen()) this.#add(level, message, details);
        logger[level](message, ...details);
      };
    return Object.fromEntries(JOB_LOG_LEVELS.map((level) => [level, keep(level)])) as unknown as Logger;
  }

  /** What the store does not have yet; null for nothing. */
  get unsaved(): JobLogRecord | null {
    if (this.#count === this.#savedCount) return null;
    const lines = this.#lines.slice(this.#first).map(({ line }) => line);
    return { attempt: this.#attempt, lines, dropped: this.#dropped };
  }

  /** The store has this log. */
  saved({ lines, dropped }: JobLogRecord): void {
    this.#savedCount = lines.length + dropped;
  }

  #add(level: JobLogLevel, message: unknown, details: readonly unknown[]): void {
    const fields = fieldsOf(details);
    const text = cut(storable(cutEarly(textOf(message))), JOB_LOG_MESSAGE_LENGTH_MAX);
    const line = { at: this.#clock.now(), level, message: text, ...(fields === undefined ? {} : { fields }) };
    const bytes = bytesOf(JSON.stringify(line)) + 1;
    this.#lines.push({ line, bytes });
    this.#bytes += bytes;
    this.#count++;
    const { lines, bytes: bytesMax } = this.#bounds;
    while (this.#lines.length - this.#first > lines || this.#bytes > bytesMax) this.#dropFirst();
    // What was dropped goes at once for many lines, because each time moves all others.
    if (this.#first <= lines) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }

  #dropFirst(): void {
    this.#bytes -= this.#lines[this.#first]?.bytes ?? 0;
    this.#first++;
    this.#dropped++;
  }
}

/** A text that is very long is cut before anything reads all of it. */
function cutEarly(text: string): string {
  return text.length > 2 * JOB_LOG_MESSAGE_LENGTH_MAX ? text.slice(0, 2 * JOB_LOG_MESSAGE_LENGTH_MAX) : text;
}

/** What was logged with a line, as JSON data: plain objects together, an error as `error`, and anything else in
 *  `values`. What is no JSON becomes text, and what is too long is left out but for its beginning. */
function fieldsOf(details: readonly unknown[]): Readonly<Record<string, unknown>> | undefined {
  if (details.length === 0) return undefined;
  const fields: Record<string, unknown> = {};
  const values: unknown[] = [];
  for (const detail of details.slice(0, DETAILS_MAX)) {
    try {
      if (isPlain(detail)) Object.assign(fields, detail);
      else if (detail instanceof Error) fields.error = serializedError(detail);
      else values.push(isJson(detail) ? detail : textOf(detail));
    } catch {
      values.push(UNREADABLE);
    }
  }
  if (values.length > 0) fields.values = values;
  const text = jsonOf(fields);
  if (text === null) return { values: [UNREADABLE] };
  if (text.length <= JOB_LOG_FIELDS_LENGTH_MAX) return JSON.parse(text) as Record<string, unknown>;
  return { values: [cut(text, JOB_LOG_FIELDS_LENGTH_MAX / 2)] };
}

/** Most details of a line that are kept. */
const DETAILS_MAX = 20;

const UNREADABLE = "a value that cannot be read";

/** As JSON that every store keeps; null for what has none. */
function jsonOf(fields: object): string | null {
  try {
    return JSON.stringify(fields, (_, value: unknown) => {
      if (typeof value === "bigint") return String(value);
      return typeof value === "string" ? storable(cutEarly(value)) : value;
    });
  } catch {
    return null;
  }
}

function isJson(value: unknown): boolean {
  return typeof value === "object" || typeof value === "boolean" || typeof value === "string" || Number.isFinite(value);
}

function textOf(value: unknown): string {
  try {
    return typeof value === "string" ? value : String(value);
  } catch {
    return UNREADABLE;
  }
}

/** How many bytes a text has in UTF-8. */
function bytesOf(text: string): number {
  let bytes = text.length;
  for (let place = 0; place < text.length; place++) {
    const unit = text.charCodeAt(place);
    // Each half of a surrogate pair stands for two of four bytes.
    if (unit > 0x7f) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}
