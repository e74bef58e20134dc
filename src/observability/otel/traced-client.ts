import { context, type Span, SpanKind, type Tracer, trace } from "@opentelemetry/api";
import { isPlain } from "../../core/option-errors.ts";
import { JOB_ADDED } from "../../scheduler/options/job-added.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import { messagingAttributes } from "./messaging.ts";
import { recordError } from "./span-ends.ts";
import { traceMetadata } from "./trace-parent.ts";

type Verb = (...given: unknown[]) => unknown;

/** A client whose additions of jobs are spans, and whose jobs carry their place in the trace. Everything else is that
 *  of the given client, what it has besides the interface included. */
export function tracedClient<Client extends SchedulerClient>(client: Client, tracer: () => Tracer): Client {
  const kept = new Map<PropertyKey, { readonly of: unknown; readonly verb: Verb }>();
  // Not the client is the target, because a proxy must show frozen methods as they are.
  return new Proxy(Object.create(Object.getPrototypeOf(client)) as Client, {
    has: (_, name) => Reflect.has(client, name),
    get(_, name) {
      // Of the client itself, because its private fields are not those of the proxy.
      const value: unknown = Reflect.get(client, name, client);
      if (typeof value !== "function" || name === "constructor") return value;
      const known = kept.get(name);
      if (known?.of === value) return known.verb;
      const plain: Verb = (...given) => Reflect.apply(value, client, given);
      const wrap = typeof name === "string" && Object.hasOwn(ADDING, name) ? ADDING[name] : undefined;
      const verb = wrap === undefined ? plain : wrap(plain, tracer);
      kept.set(name, { of: value, verb });
      return verb;
    },
  });
}

/** The verbs that add jobs, by name. */
const ADDING: Readonly<Record<string, (verb: Verb, tracer: () => Tracer) => Verb>> = {
  addJob: (verb, tracer) => addOne(verb, tracer, (job) => idOf(job)),
  prepareJob: (verb, tracer) => addOne(verb, tracer, (prepared) => idOf(Reflect.get(prepared, "job"))),
  runJob: (verb, tracer) => (task, options) =>
    inSpan(tracer(), [taskIdOf(task)], (span, end) => verb(task, endedByAddition(withTrace(options, span), span, end))),
  addJobs: (verb, tracer) => (jobs) => inSpan(tracer(), tasksOf(jobs), async (span) => verb(withTraces(jobs, span))),
  addBatch: (verb, tracer) => (jobs, options) =>
    inSpan(tracer(), tasksOf(jobs), async (span) => {
      // biome-ignore lint/suspicious/noThenProperty: the option has this name
      const then = isPlain(options) && isPlain(options.then) ? { then: withTrace(options.then, span) } : {};
      return verb(withTraces(jobs, span), isPlain(options) ? { ...options, ...then } : options);
    }),
};

function addOne(verb: Verb, tracer: () => Tracer, jobIdOf: (answer: object) => string | null): Verb {
  return (task, options) =>
    inSpan(tracer(), [taskIdOf(task)], async (span) => {
      const answer = await verb(task, withTrace(options, span));
      const jobId = typeof answer === "object" && answer !== null ? jobIdOf(answer) : null;
      if (jobId !== null) span.setAttribute("messaging.message.id", jobId);
      return answer;
    });
}

/** The options of `runJob`, whose wait for the job is no part of the span. A client that is none of this package does
 *  not tell of the addition; then the span ends with the wait. */
function endedByAddition(options: unknown, span: Span, end: () => void): unknown {
  if (options !== undefined && !isPlain(options)) return options;
  const onAdded = (jobId: string): void => {
    span.setAttribute("messaging.message.id", jobId);
    end();
  };
  return { ...options, [JOB_ADDED]: onAdded };
}

/** Makes a span of an addition, which ends with it, or earlier when `add` says so. What is called within the span is
 *  part of it. */
async function inSpan(
  tracer: Tracer,
  taskIds: readonly string[],
  add: (span: Span, end: () => void) => unknown,
): Promise<unknown> {
  const names = [...new Set(taskIds)];
  const name = names.length === 1 ? (names[0] ?? "") : "jobs";
  const count = taskIds.length === 1 ? {} : { "messaging.batch.message_count": taskIds.length };
  const attributes = { ...messagingAttributes("add", name, null), ...count };
  const span = tracer.startSpan(`add ${name}`, { kind: SpanKind.PRODUCER, attributes });
  let hasEnded = false;
  const end = (): void => {
    if (!hasEnded) span.end();
    hasEnded = true;
  };
  try {
    return await context.with(trace.setSpan(context.active(), span), () => add(span, end));
  } catch (error) {
    // The error of a handler is none of the addition.
    if (!hasEnded) recordError(span, error);
    throw error;
  } finally {
    end();
  }
}

/** The options of a job, with its place in the trace. What is no object of options is left to the client's check. */
function withTrace(options: unknown, span: Span): unknown {
  if (options !== undefined && !isPlain(options)) return options;
  const trace = traceMetadata(span.spanContext());
  const { metadata } = options ?? {};
  const isMergeable = metadata === undefined || isPlain(metadata);
  return isMergeable && trace.traceparent !== undefined ? { ...options, metadata: { ...metadata, ...trace } } : options;
}

function withTraces(jobs: unknown, span: Span): unknown {
  return Array.isArray(jobs) ? jobs.map((job) => withTrace(job, span)) : jobs;
}

function tasksOf(jobs: unknown): string[] {
  return Array.isArray(jobs) ? jobs.map((job) => (isPlain(job) ? taskIdOf(job.task) : "")) : [];
}

/** The id of a task, as text, an object or a named function. */
function taskIdOf(task: unknown): string {
  if (typeof task === "string") return task;
  if (typeof task === "function") return task.name;
  return idOf(task) ?? "";
}

function idOf(value: unknown): string | null {
  const id: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "id") : null;
  return typeof id === "string" ? id : null;
}
