import { IntervalTrigger, type Trigger } from "../../cron.ts";
import { CliError } from "../failure.ts";
import {
  amountOf,
  Findings,
  instantOf,
  isoOfMs,
  listOf,
  neededText,
  payloadOf,
  runAtOf,
  StaysBehind,
  wholeOf,
} from "./findings.ts";
import { cronParserTrigger } from "./foreign-cron.ts";
import type { Imported, ImportedJob, ImportedRetry, ImportSettings } from "./imported.ts";
import { isObject, textOf, type YamlObject } from "./yaml.ts";

const FORM = '{ "queue": "mail", "schedulers": await queue.getJobSchedulers(), "jobs": await queue.getJobs([...]) }';

/** The job schedulers of BullMQ's queues, and their jobs that wait. @param value what `FORM` shows, or a list of it */
export async function importBullmq(value: unknown, settings: ImportSettings): Promise<Imported> {
  const found = new Findings(settings);
  const queues: readonly unknown[] = Array.isArray(value) ? value : [value];
  const nameOf = (queue: unknown): string => (isObject(queue) ? (textOf(queue.queue) ?? "") : "");
  if (queues.length > 0 && queues.every((queue) => nameOf(queue) === "")) {
    throw new CliError("the file has no queue of BullMQ", { lines: [`  ${FORM}`] });
  }
  for (const [index, queue] of queues.entries()) {
    found.item(nameOf(queue) || `queue ${index + 1}`, queue, (item) =>
      readQueue(found, neededText(item, "queue"), item),
    );
  }
  return found.imported();
}

function readQueue(found: Findings, queue: string, value: YamlObject): void {
  for (const one of listOf(value.schedulers)) {
    const where = `queue ${queue}, job scheduler ${textOf((one as YamlObject | null)?.key) ?? "?"}`;
    found.item(where, one, (item) => readScheduler(found, queue, where, item));
  }
  for (const one of listOf(value.jobs)) {
    const where = `queue ${queue}, job ${textOf((one as YamlObject | null)?.id) ?? "?"}`;
    found.item(where, one, (item) => readJob(found, queue, where, item));
  }
  if (value.isPaused === true) found.pausedTask(queue);
  const active = amountOf(value, "active") ?? 0;
  if (active > 0) found.left(`queue ${queue}`, `jobs that run (${active}): let them end there`);
  const waiting = amountOf(value, "waitingChildren") ?? 0;
  if (waiting > 0) found.left(`queue ${queue}`, `jobs that wait for children (${waiting}): let them end there`);
}

function readScheduler(found: Findings, queue: string, where: string, item: YamlObject): void {
  const key = neededText(item, "key");
  refuseProblem(item);
  if (amountOf(item, "limit") !== null) {
    throw new StaysBehind("it has a limit of repetitions: give its trigger an endTime, or remove it in the handler");
  }
  // Keys are unique within their queue.
  const id = `${queue}/${key}`;
  const { trigger, written } = triggerOf(found, id, item);
  const template = isObject(item.template) ? item.template : {};
  const options = isObject(template.opts) ? template.opts : {};
  const name = textOf(item.name) ?? key;
  const notes: string[] = [];
  if (retryOf(found, options, 0) !== null) notes.push("attempts and backoff are the task's retry");
  const settings = {
    ...payloadOf(template.data),
    ...priorityOf(options),
    metadata: { name },
  };
  found.schedule({ where, id, taskId: queue, written, trigger, settings, notes, dueMs: instantOf(item, "next") });
}

function triggerOf(
  found: Findings,
  seed: string,
  item: YamlObject,
): { readonly trigger: Trigger; readonly written: string } {
  const from = instantOf(item, "startDate");
  const until = instantOf(item, "endDate");
  const bounds = {
    ...(from === null ? {} : { startTime: isoOfMs(from) }),
    ...(until === null ? {} : { endTime: isoOfMs(until) }),
  };
  const pattern = textOf(item.pattern);
  if (pattern !== null && pattern !== "") {
    const timeZone = found.zoneOf(textOf(item.tz));
    const rule = { text: pattern, system: "BullMQ", timeZone, seed, ...bounds, nowMs: found.settings.nowMs };
    return { trigger: cronParserTrigger(rule), written: pattern };
  }
  const every = amountOf(item, "every");
  if (every === null || every === 0) {
    throw new StaysBehind("it has neither pattern nor every: a strategy of the program repeats it");
  }
  // BullMQ repeats at whole periods since 1970 and this offset, whatever it is that it runs now.
  const startTime = isoOfMs(from ?? (amountOf(item, "offset") ?? 0) % every);
  return { trigger: new IntervalTrigger({ milliseconds: every, ...bounds, startTime }), written: `every ${every} ms` };
}

function readJob(found: Findings, queue: string, where: string, item: YamlObject): void {
  // The delayed job by which a scheduler repeats: the schedule makes its own.
  if (typeof item.repeatJobKey === "string" || typeof item.rjk === "string") return;
  const id = neededText(item, "id");
  refuseProblem(item);
  if (instantOf(item, "finishedOn") !== null) throw new StaysBehind("it has ended");
  const attemptsMade = amountOf(item, "attemptsMade") ?? 0;
  const attemptsStarted = amountOf(item, "attemptsStarted") ?? Number.POSITIVE_INFINITY;
  if (instantOf(item, "processedOn") !== null && attemptsStarted > attemptsMade) {
    throw new StaysBehind("it runs: let it end there");
  }
  const options = isObject(item.opts) ? item.opts : {};
  if (isObject(item.parent) || typeof item.parentKey === "string" || isObject(options.parent)) {
    throw new StaysBehind("it is a child of a flow: add the flow anew, as jobs with after");
  }
  const delay = amountOf(item, "delay") ?? 0;
  const addedAt = instantOf(item, "timestamp");
  const runAt = instantOf(item, "runAt") ?? (delay > 0 && addedAt !== null ? addedAt + delay : null);
  const retry = retryOf(found, options, attemptsMade);
  if (options.deduplication !== undefined || options.de !== undefined) {
    found.note("deduplication is an option of additions: idempotencyKey, throttle or debounce");
  }
  const job: ImportedJob = {
    where,
    taskId: queue,
    settings: {
      idempotencyKey: `bullmq/${queue}/${id}`,
      ...payloadOf(item.data),
      ...runAtOf(runAt, found.settings.nowMs),
      ...priorityOf(options, item),
      metadata: { name: neededText(item, "name") },
      ...(retry === null ? {} : { retry }),
    },
  };
  found.job(job);
}

/** What the keys of Redis say of an item that they have only in part. */
function refuseProblem(item: YamlObject): void {
  const problem = textOf(item.problem);
  if (problem !== null) throw new StaysBehind(problem);
}

/** BullMQ runs jobs without a priority first, and then those with the lowest number. */
function priorityOf(options: YamlObject, item: YamlObject = options): { readonly priority?: number } {
  const priority = wholeOf(item, "priority") || wholeOf(options, "priority");
  return priority === 0 ? {} : { priority: -priority };
}

/** How often a job is tried after so many attempts; null for once. */
function retryOf(found: Findings, options: YamlObject, attemptsMade: number): ImportedRetry | null {
  const maxAttempts = Math.max(1, Math.min(wholeOf(options, "attempts"), 1000) - attemptsMade);
  if (maxAttempts === 1) return null;
  const backoff = isObject(options.backoff) ? options.backoff : { type: "fixed", delay: options.backoff };
  const delay = amountOf(backoff, "delay") ?? 0;
  if (backoff.type !== "fixed" && backoff.type !== "exponential") {
    found.note(`backoff ${JSON.stringify(backoff.type)} is a strategy of the worker: here pauses are 1 s, doubled`);
    return { maxAttempts };
  }
  const initial = `${Math.max(1, delay)}ms`;
  const factor = backoff.type === "fixed" ? 1 : 2;
  return { maxAttempts, backoff: { initial, factor, jitter: amountOf(backoff, "jitter") ? "full" : "none" } };
}
