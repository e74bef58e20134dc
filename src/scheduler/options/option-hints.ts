import { hasMethods } from "../../core/check.ts";
import { toDurationMs } from "../../core/duration.ts";
import { isPlain, shown } from "../../core/option-errors.ts";
import { Trigger } from "../../triggers/trigger.ts";

// What a caller probably meant by a value of the wrong kind. Each function returns what the caller should do, or null
// where that is unknown.

/** Methods by which the check recognizes a store, a broker and an executor. */
export const STORE_METHODS = ["open", "look", "commit"] as const;
export const BROKER_METHODS = ["open", "publish", "subscribe"] as const;
export const EXECUTOR_METHODS = ["open", "execute"] as const;

export function schedulerAdvice(value: unknown): string | null {
  if (hasMethods(value, STORE_METHODS)) return "pass it as { dataStore: store }";
  if (hasMethods(value, BROKER_METHODS)) return "pass it as { eventBroker: broker }";
  if (hasMethods(value, EXECUTOR_METHODS)) return "pass it as { executors: { name: executor } }";
  const store = storeAdvice(value);
  return store === null || isPlain(value) ? null : `${store} and pass it as { dataStore: store }`;
}

export function storeAdvice(value: unknown): string | null {
  if (typeof value === "string") return `write new LibsqlDataStore({ url: ${shown(value)} })`;
  if (isPlain(value) && "url" in value) return "write new LibsqlDataStore({ url: ... })";
  return null;
}

export function executorAdvice(value: unknown): string | null {
  return typeof value === "function" ? "handlers are registered: scheduler.task(id, handler)" : null;
}

export function executorsAdvice(value: unknown): string | null {
  return Array.isArray(value) ? "give each a name, by which tasks choose it: { executors: { name: executor } }" : null;
}

export function retryAdvice(value: unknown): string | null {
  return typeof value === "number" ? `write { maxAttempts: ${value} }` : null;
}

export function backoffAdvice(value: unknown): string | null {
  if (typeof value === "string") {
    return `write { initial: ${durationOrNull(value) === null ? '"1s"' : shown(value)} }; each pause is twice the last`;
  }
  return typeof value === "number" ? `write { initial: { milliseconds: ${value} } }` : null;
}

export function unlimitedAdvice(value: unknown): string | null {
  return value === Number.POSITIVE_INFINITY || value === false ? "write null for no limit" : null;
}

/** Advice for what is no object of bounds. */
export function catchUpAdvice(value: unknown): string | null {
  if (typeof value === "number") return `write { maxCount: ${value} }`;
  if (typeof value === "string") return `write { maxAge: ${durationText(value)} }`;
  return unlimitedAdvice(value);
}

/** Advice for a limit that allows too little or too much. */
export function limitAdvice(value: unknown): string | null {
  if (value === 0) return "to let nothing run, call pauseTask(id), or pauseTask(id, { key }) for one key";
  return unlimitedAdvice(value);
}

/** Advice for how many may start in a time. */
export function rateCountAdvice(value: unknown): string | null {
  const isPart = typeof value === "number" && value > 0 && value < 1;
  return isPart ? 'write a longer time: { limit: 1, per: "10s" }' : limitAdvice(value);
}

export function rateAdvice(value: unknown): string | null {
  if (typeof value === "number" && value > 0) return `write { limit: ${value}, per: "1s" }`;
  const [, limit, unit] = /^(\d+) ?(?:\/|per ) ?(s|m|h|d)/i.exec(typeof value === "string" ? value : "") ?? [];
  return limit === undefined ? unlimitedAdvice(value) : `write { limit: ${limit}, per: "1${unit?.toLowerCase()}" }`;
}

/** Advice for a value that is no function from payloads to keys. */
export function keyFunctionAdvice(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const path = /^[\w.]+$/.test(value) ? value : "name";
  return `write (payload) => payload.${path}, or () => ${shown(value)} for one key that all jobs have`;
}

/** Advice for a value that is no concurrency key. */
export function keyAdvice(value: unknown): string | null {
  if (value === "") return "write null for no key";
  if (typeof value === "number" || typeof value === "bigint") return `write "${value}"`;
  if (typeof value !== "function") return null;
  return "a function is a setting of the task: scheduler.task(id, { concurrencyKey }, handler)";
}

/** Advice for a value that is no key to pause. */
export function pausedKeyAdvice(value: unknown): string | null {
  if (value === "" || value === null || value === undefined) return "leave it out for the whole task";
  return textAdviceOf(value);
}

/** Advice for a number in the place of text. */
export function textAdviceOf(value: unknown): string | null {
  return typeof value === "number" || typeof value === "bigint" ? `write "${value}"` : null;
}

export function debounceAdvice(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number"
    ? `write { key: ..., wait: ${durationText(value)} }`
    : null;
}

export function throttleAdvice(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number"
    ? `write { key: ..., per: ${durationText(value)} }`
    : null;
}

/** A duration as it is written: the given one, or an example. */
function durationText(value: string | number): string {
  if (typeof value === "number") return `{ milliseconds: ${value} }`;
  return durationOrNull(value) === null ? '"5s"' : shown(value);
}

export function signalAdvice(value: unknown): string | null {
  return value instanceof AbortController ? "pass its signal" : null;
}

export function taskAdvice(value: unknown): string | null {
  if (typeof value === "string" && durationOrNull(value) !== null) return `write { timeout: ${shown(value)} }`;
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value
    ? "pass it as { schema }"
    : null;
}

export function triggerAdvice(value: unknown): string | null {
  if (value instanceof Date) return "write new DateTrigger(date)";
  if (typeof value === "number" && value > 0) return `write new IntervalTrigger({ milliseconds: ${value} })`;
  if (typeof value === "function" || Object.hasOwn(Object(value), "id"))
    return "the task comes first, then the trigger";
  if (!isPlain(value)) return null;
  const text = [value.crontab, value.expression].find((item) => typeof item === "string");
  return text === undefined
    ? 'write such as { every: "5m" } or { cron: "0 9 * * *" }'
    : `write { cron: ${shown(text)} }`;
}

/** What was meant by text that is no crontab; null for all other text. */
export function textAdvice(text: string): string | null {
  if (/^\d{4}-\d\d-\d\d/.test(text)) return `write new DateTrigger(${shown(text)})`;
  const every = /^every (\d+) ?(w|d|h|m(?!o)|s)\w*$/i.exec(text);
  const period = every === null ? text : `${every[1]}${every[2]?.toLowerCase()}`;
  return durationOrNull(period) ? `write { every: ${shown(period)} }` : null;
}

function durationOrNull(text: string): number | null {
  try {
    return toDurationMs(text, "");
  } catch {
    return null;
  }
}

/** Advice for the arguments of `addJob` in another order. */
export const TASK_FIRST = "the task comes first, then the options";

export function jobAdvice(value: unknown): string | null {
  // A task of `task()` is frozen; another object with an id may stand for options.
  const isTask = typeof value === "object" && value !== null && Object.isFrozen(value) && "id" in value;
  if (isTask || typeof value === "function") return TASK_FIRST;
  if (isPlain(value) || value === null || value === undefined) return null;
  if (value instanceof Trigger) return "jobs run once; a trigger makes a schedule: addSchedule(task, trigger)";
  if (value instanceof Date || (typeof value === "object" && "epochMilliseconds" in value)) {
    return "write { runAt: instant }";
  }
  return value instanceof Promise ? null : "what the handler gets is passed as { payload: ... }";
}

/** The id of a job that another one comes after; null for what is no job. */
export function idOfParent(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || !("taskId" in value)) return null;
  if ("jobId" in value && typeof value.jobId === "string") return value.jobId;
  // A schedule has an id and a task too.
  return "id" in value && typeof value.id === "string" && "runAt" in value ? value.id : null;
}

/** Advice for a value that is no list of jobs. */
export function parentsAdvice(value: unknown): string | null {
  if (value instanceof Promise) return "await the job first";
  return idOfParent(value) === null ? null : "write a list: { after: [job] }";
}

/** Advice for an item of such a list that is no job. */
export function parentAdvice(value: unknown): string | null {
  if (value instanceof Promise) return "await it first";
  if (Array.isArray(value)) return "write one list: { after: [...jobs] }";
  if (typeof value === "function") return "a job comes after a job, which addJob() returns, and not after a task";
  if (typeof value !== "object" || value === null || !("id" in value)) return null;
  return "taskId" in value
    ? "a job comes after jobs, and not after a schedule"
    : "a job comes after a job, which addJob() returns, and not after a task";
}

export function scheduleAdvice(value: unknown): string | null {
  if (value instanceof Trigger) return "the trigger comes second; new OrTrigger([first, second]) combines two";
  if (typeof value === "string") return "pass it as { id: ... }, or as { payload: ... } if the handler gets it";
  return isPlain(value) || !Array.isArray(value) ? null : "what the handler gets is passed as { payload: ... }";
}

export function stopAdvice(value: unknown): string | null {
  return typeof value === "number" ? `write { drainTimeout: { milliseconds: ${value} } }` : null;
}

export function signalOptionAdvice(value: unknown): string | null {
  return typeof value === "object" && value !== null && "aborted" in value ? "pass it as { signal }" : null;
}

export function idAdvice(value: unknown): string | null {
  if (typeof value === "function") return "a name comes first: task(id, handler)";
  if (value instanceof Trigger) return "the id comes first";
  if (isPlain(value) && "handler" in value) return "write schedule(id, trigger, options, handler)";
  return typeof value === "object" && value !== null && "id" in value && typeof value.id === "string"
    ? "pass its id"
    : null;
}
