import { mapInTurns } from "../core/in-turns.ts";
import { isPlain } from "../core/option-errors.ts";
import { type SerializedError, shownError } from "../records/serialized-error.ts";
import type { Job } from "../scheduler/views/job.ts";
import type { JobLog } from "../scheduler/views/job-log.ts";
import type { JobResult } from "../scheduler/views/job-result.ts";
import type { JobStep } from "../scheduler/views/job-step.ts";
import type { Page } from "../scheduler/views/page.ts";
import { type Plain, type PlainPage, plain } from "../scheduler/views/plain.ts";
import type { Run } from "../scheduler/views/run.ts";
import type { Schedule } from "../scheduler/views/schedule.ts";
import type { Scope } from "./auth/auth-options.ts";
import { REDACTED, type Redact, type ShownValue } from "./redaction.ts";
import { LARGE_VALUES } from "./wire.ts";

/** How records look to one caller. Everything that leaves the router with a payload or a stack passes here. */
export interface Show {
  schedule(schedule: Schedule): Plain<Schedule>;
  job(job: Job): Plain<Job>;
  result(result: JobResult): Plain<JobResult>;
  log(log: JobLog, taskId: string): Plain<JobLog>;
  run(run: Run): Plain<Run>;
  /** The value and the cursor are for those who may write. */
  step(step: JobStep, taskId: string): Plain<JobStep>;
  /** How they look in a list, which has those large values that were asked for. Default: none */
  listed(include?: readonly string[]): Show;
}

/** Stacks and properties of errors are for those who may write. @param redact hides what nobody is to see; null shows
 *  values as they are @param include the large values that are shown */
export function showFor(scope: Scope, redact: Redact | null, include: readonly string[] = LARGE_VALUES): Show {
  const hidden = <T>(value: T, taskId: string, field: ShownValue["field"]): T =>
    redact === null ? value : (redact(value, { taskId, field, scope }) as T);
  const withPayload = <T extends { readonly taskId: string; readonly payload: unknown }>(shown: T): T => {
    // JSON leaves out what is undefined.
    const isShown = include.includes("payload");
    return { ...shown, payload: isShown ? hidden(shown.payload, shown.taskId, "payload") : undefined };
  };
  const hasResults = include.includes("result");
  const hasStacks = scope === "write" && hasResults;
  /** The value that was returned, and the error, of what has ended. */
  type Ended = Pick<Plain<JobResult>, "taskId" | "returnValue" | "error" | "attemptHistory">;
  const withResult = <T extends Ended>(whole: T): T => {
    const returnValue = hasResults ? hidden(whole.returnValue, whole.taskId, "returnValue") : undefined;
    if (hasStacks) return { ...whole, returnValue };
    // In JSON, an error is its record.
    const error = whole.error === null ? null : (shownError(whole.error as SerializedError) as typeof whole.error);
    return { ...whole, returnValue, error, attemptHistory: withoutStacks(whole.attemptHistory) };
  };
  return {
    listed: (asked = []) => showFor(scope, redact, asked),
    schedule: (schedule) => withPayload(plain(schedule)),
    log(log, taskId) {
      const shown = plain(log);
      const withoutStack = scope === "write" ? shown.lines : shown.lines.map(lineWithoutStack);
      if (redact === null) return { ...shown, lines: withoutStack };
      return { ...shown, lines: withoutStack.map((line) => hiddenLine(line, redact, { taskId, field: "log", scope })) };
    },
    job(job) {
      const shown = withPayload(plain(job));
      return hasStacks ? shown : { ...shown, attemptHistory: withoutStacks(shown.attemptHistory) };
    },
    result: (result) => withResult(withPayload(plain(result))),
    run: (run) => withResult(withPayload(plain(run))),
    step(step, taskId) {
      const shown = plain(step);
      const seen = (value: typeof shown.value): typeof shown.value =>
        scope === "write" && value !== undefined ? hidden(value, taskId, "step") : undefined;
      return { ...shown, value: seen(shown.value), cursor: seen(shown.cursor) };
    },
  };
}

export async function shownPage<T, Shown>(page: Page<T>, show: (item: T) => Shown): Promise<Page<Shown>> {
  return { ...page, items: await mapInTurns(page.items, show) };
}

/** A list that has one page only. */
export function wholePage<T>(items: readonly Plain<T>[]): PlainPage<T> {
  return { items: [...items], cursor: null };
}

type PlainLine = Plain<JobLog>["lines"][number];

function lineWithoutStack(line: PlainLine): PlainLine {
  const error = line.fields?.error;
  if (!isPlain(error) || typeof error.message !== "string") return line;
  return { ...line, fields: { ...line.fields, error: shownError(error as unknown as SerializedError) } };
}

/** A line whose message and fields are what `redact` returned; a text alone is the message. */
function hiddenLine(line: PlainLine, redact: Redact, shown: ShownValue): PlainLine {
  const { message, fields } = line;
  const given = redact({ message, fields }, shown);
  if (!isPlain(given)) return { ...line, message: typeof given === "string" ? given : REDACTED, fields: null };
  return {
    ...line,
    message: typeof given.message === "string" ? given.message : REDACTED,
    fields: isPlain(given.fields) ? (given.fields as PlainLine["fields"]) : null,
  };
}

type PlainAttempts = Plain<Job>["attemptHistory"];

function withoutStacks(attempts: PlainAttempts): PlainAttempts {
  return attempts.map((attempt) => ({
    ...attempt,
    error: attempt.error === null ? null : (shownError(attempt.error as SerializedError) as typeof attempt.error),
  }));
}
