import { type Attributes, context, ROOT_CONTEXT, type Span, SpanKind, type Tracer, trace } from "@opentelemetry/api";
import { type Clock, sleepFor } from "../../core/clock.ts";
import { JobCancelledError, LeaseLostError, SchedulerStateError } from "../../core/errors.ts";
import { instantText } from "../../core/temporal.ts";
import type { ExecutorOpenOptions, JobCall, JobExecutor } from "../../executors/job-executor.ts";
import { ABORT_GRACE_MS } from "../../executors/remote/limits.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import { thrownSkip } from "../../scheduler/running/attempt-outcome.ts";
import { messagingAttributes } from "./messaging.ts";
import type { RecentRuns } from "./recent-runs.ts";
import { recordError } from "./span-ends.ts";
import { addedWithin } from "./trace-parent.ts";

/** What the executors of one `Telemetry` share. */
export interface RunTracing {
  readonly tracer: () => Tracer;
  readonly runs: RecentRuns;
  readonly clock: Clock;
}

/** An executor that makes a span of each attempt. The span begins a trace of its own, linked to the place where the job
 *  was added, because the addition may be long ago and its trace over. */
export class TracedExecutor implements JobExecutor {
  readonly #executor: JobExecutor;
  readonly #tracing: RunTracing;

  constructor(executor: JobExecutor, tracing: RunTracing) {
    this.#executor = executor;
    this.#tracing = tracing;
  }

  get taskIds(): readonly string[] | undefined {
    return this.#executor.taskIds;
  }

  get capacity(): number | undefined {
    return this.#executor.capacity;
  }

  onCapacity(listener: () => void): () => void {
    return this.#executor.onCapacity?.(listener) ?? (() => {});
  }

  open(options?: ExecutorOpenOptions): Promise<void> {
    return this.#executor.open(options);
  }

  execute(call: JobCall): Promise<unknown> {
    const { job } = call;
    const { tracer, runs, clock } = this.#tracing;
    const added = addedWithin(job.metadata);
    const span = tracer().startSpan(
      `run ${job.taskId}`,
      {
        kind: SpanKind.CONSUMER,
        root: true,
        links: added === null ? [] : [{ context: added }],
        attributes: { ...messagingAttributes("run", job.taskId, job.id), ...attemptAttributes(job, clock.now()) },
      },
      ROOT_CONTEXT,
    );
    if (span.isRecording()) call.onStep?.(stepTracer(tracer(), span, clock.now()));
    // The scheduler's loops may have been started within a trace, which is none of the job's.
    const work = context.with(trace.setSpan(ROOT_CONTEXT, span), () => this.#executor.execute(call));
    if (span.isRecording()) {
      runs.add(job.id, job.fence, span.spanContext().traceId);
      void endWith(span, work, call.signal, clock);
    } else {
      span.end();
    }
    return work;
  }

  close(): Promise<void> {
    return this.#executor.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Makes a span of each step, below that of the attempt in which the step ended. Its name has no value of a loop
 *  (`post:17`), because back ends count names. @param begunAt of the attempt */
function stepTracer(tracer: Tracer, attempt: Span, begunAt: number): (step: JobStepRecord) => void {
  const parent = trace.setSpan(ROOT_CONTEXT, attempt);
  return ({ name, startedAt, endedAt, attempts }) => {
    const startTime = Math.max(startedAt, begunAt);
    const attributes = { "escapement.step": name, "escapement.step.attempts": attempts };
    const span = tracer.startSpan(`step ${name.split(":", 1)[0]}`, { startTime, attributes }, parent);
    span.end(Math.max(startTime, endedAt ?? startTime));
  };
}

function attemptAttributes(job: JobRecord, now: number): Attributes {
  const { scheduleId, scheduledFireTime, missedCount, failedAttempts, recoveries, fence } = job;
  return {
    "escapement.attempt": failedAttempts + recoveries + 1,
    "escapement.fence": fence,
    ...(scheduleId === null ? {} : { "escapement.schedule.id": scheduleId }),
    ...(missedCount === null ? {} : { "escapement.missed_count": missedCount }),
    ...(scheduledFireTime === null
      ? {}
      : {
          "escapement.scheduled_time": instantText(scheduledFireTime),
          "escapement.lateness_s": (now - scheduledFireTime) / 1000,
        }),
  };
}

/** Ends the span with the work, or when a handler that was to end early ignores that. */
async function endWith(span: Span, work: Promise<unknown>, signal: AbortSignal, clock: Clock): Promise<void> {
  const ended = new AbortController();
  const ignored = new Promise<void>((resolve) => {
    const waitForEnd = (): void => void sleepFor(clock, ABORT_GRACE_MS, ended.signal).then(resolve);
    if (signal.aborted) waitForEnd();
    else signal.addEventListener("abort", waitForEnd, { once: true });
  });
  const failure = await Promise.race([
    work.then(
      () => null,
      (thrown: unknown) => ({ thrown }),
    ),
    ignored.then(() => ({ thrown: signal.reason as unknown })),
  ]);
  ended.abort();
  const pause = failure === null || signal.aborted ? null : pauseOf(failure.thrown);
  const outcome = pause ?? outcomeOf(failure, signal);
  span.setAttribute("escapement.outcome", outcome);
  const reason: unknown = signal.reason;
  if (outcome === "error") recordError(span, signal.aborted ? reason : failure?.thrown);
  else if (signal.aborted && outcome !== "success" && outcome !== "skipped") {
    span.setAttribute("error.type", (reason as { code: string }).code);
  }
  span.end();
}

/** Whether an attempt ended without a failure, because its job goes on later. */
function pauseOf(thrown: unknown): "sleeps" | "snoozed" | null {
  try {
    const code = (thrown as { code?: unknown } | null)?.code;
    return code === "jobSleep" ? "sleeps" : code === "retryAfter" ? "snoozed" : null;
  } catch {
    return null;
  }
}

/** How the attempt ended, as the scheduler sees it. A value that a handler returned after an abort is too late, unless
 *  the scheduler's stop was the reason. */
function outcomeOf(
  failure: { readonly thrown: unknown } | null,
  { aborted, reason }: AbortSignal,
): "success" | "skipped" | "error" | AbortOutcome {
  const hasFailed = failure !== null;
  if (!aborted) return !hasFailed ? "success" : thrownSkip(failure.thrown) === null ? "error" : "skipped";
  if (reason instanceof LeaseLostError) return "leaseLost";
  if (reason instanceof JobCancelledError) return "cancelled";
  if (reason instanceof SchedulerStateError) return hasFailed ? "givenBack" : "success";
  return "error";
}

type AbortOutcome = "leaseLost" | "cancelled" | "givenBack";
