import { type Clock, sleepFor } from "../../core/clock.ts";
import {
  DeserializationError,
  HandlerLookupError,
  JobCancelledError,
  JobTimeoutError,
  LeaseLostError,
  PayloadError,
  SchedulerStateError,
  SerializationError,
  WorkerLostError,
} from "../../core/errors.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { Logger } from "../../core/logger.ts";
import { capacityOf } from "../../executors/capacity.ts";
import type { CallTexts, JobCall, JobExecutor } from "../../executors/job-executor.ts";
import type { LeaseExtender } from "../../executors/lease-extender.ts";
import { ABORT_GRACE_MS } from "../../executors/remote/limits.ts";
import type { StepPort } from "../../executors/step-port.ts";
import { cut, type JobProgress } from "../../records/attempt.ts";
import { hasMissedStart, type JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import { ERROR_CAUSES_MAX } from "../../records/limits.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { SNOOZES_MAX_DEFAULT } from "../options/limits.ts";
import type { JobContext, TaskHandler } from "../scheduler-client.ts";
import { runAsCurrentJob } from "../tasks/current-job.ts";
import { checkPayload, payloadText } from "../tasks/payload.ts";
import { resultText } from "../tasks/result-text.ts";
import type { RegisteredTask } from "../tasks/task-registry.ts";
import { type AbortListener, type AbortReason, AbortState } from "./abort-state.ts";
import { type AttemptEnding, type AttemptOutcome, type AttemptSleep, attemptOutcome } from "./attempt-outcome.ts";
import { KeptLog } from "./kept-log.ts";
import { PROGRESS_NOTE_LENGTH_MAX, WORKER_END_MS } from "./limits.ts";
import type { LastRunFacts, ZonedFireTime } from "./schedule-facts.ts";

/** The steps of an attempt, and what they mean for its end. */
export interface RecordedSteps extends StepPort {
  /** Whether this attempt recorded a step, or how far one is. */
  readonly hasRecorded: boolean;
  /** The sleep in which the attempt is to end. */
  readonly sleep: AttemptSleep | undefined;
  /** Called with each step that is recorded as ended. */
  onStep: ((step: JobStepRecord) => void) | null;
  /** Called when the handler has returned, and its job does not sleep. */
  onReturned: (() => void) | null;
}

/** What an attempt needs from the runner. */
export interface AttemptEnvironment {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly serializer: Serializer;
  /** Whether other processes may run the job too. */
  readonly isShared: boolean;
  readonly contextOf: (attempt: JobAttempt) => JobContext;
  /** Reads the results of the jobs that a job came after. */
  readonly parentsOf: (job: JobRecord) => Promise<readonly (JobResultRecord | null)[]>;
  readonly lastRunOf: (job: JobRecord) => Promise<LastRunFacts | null>;
  readonly previousFireTimeOf: (job: JobRecord) => Promise<ZonedFireTime | null>;
  readonly leaseExtender: LeaseExtender | undefined;
  readonly leaseMs: number;
  readonly stepsOf: (attempt: JobAttempt) => RecordedSteps;
  readonly onProgress: () => void;
  /** Called once for each attempt that runs, when its outcome is settled, and not before `run` has returned. */
  readonly onEnded: (attempt: JobAttempt, outcome: AttemptOutcome) => void;
}

/** One attempt of a leased job, from its deadline check to its outcome. */
export class JobAttempt {
  readonly job: JobRecord;
  readonly task: RegisteredTask;
  readonly #executor: JobExecutor;
  readonly #env: AttemptEnvironment;
  readonly #abort = new AbortState();
  #startedAt: number | null = null;
  #leaseEndsAt: number;
  /** Whether another attempt cannot help, because it would get or return the same. */
  #isFinal = false;
  #isHanded = false;
  /** Whether the work has begun, so that an abort gives it a time to end. */
  #hasBegun = false;
  #end: AbortController | null = null;
  #hasEnded = false;
  #abandonedAfterMs: number | null = null;
  #thrown: unknown;
  #call: AttemptCall | null = null;
  #workerLoss: WorkerLostError | null = null;
  #progress: JobProgress | null = null;
  /** What is kept of the handler's log; null for nothing. */
  readonly log: KeptLog | null;
  /** The progress that the store has. */
  #savedProgress: JobProgress | null = null;
  /** Null until somebody asks, because most handlers record no steps. */
  #steps: RecordedSteps | null = null;

  constructor(job: JobRecord, task: RegisteredTask, executor: JobExecutor, env: AttemptEnvironment) {
    this.job = job;
    this.task = task;
    this.#executor = executor;
    this.#env = env;
    this.#leaseEndsAt = job.acquiredUntil ?? 0;
    const { keepLogs } = task.record;
    this.log = keepLogs === undefined ? null : new KeptLog(this.number, keepLogs, env.clock);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  onAbort(listener: AbortListener): () => void {
    this.#abort.listen(listener);
    return () => this.#abort.listen(null);
  }

  /** The number of the attempt, 1 for the first. It counts failed attempts, attempts that were lost with their process,
   *  and this attempt. */
  get number(): number {
    return this.job.failedAttempts + this.job.recoveries + 1;
  }

  /** Whether the handler runs in this thread. */
  get runsHere(): boolean {
    return this.#executor.taskIds === undefined;
  }

  /** When the lease ends, in epoch milliseconds. */
  get leaseEndsAt(): number {
    return Math.max(this.#leaseEndsAt, this.#env.leaseExtender?.heldUntil(this.job.id, this.job.fence) ?? 0);
  }

  /** Whether the executor has the attempt, or it has ended before. Until then it needs room in the executor. */
  get isHanded(): boolean {
    return this.#isHanded || this.#hasEnded;
  }

  /** Whether the handler was called. */
  get hasStarted(): boolean {
    return this.#startedAt !== null;
  }

  /** Whether the attempt is to end early. */
  get isAborted(): boolean {
    return this.#abort.reason !== null;
  }

  /** Whether the outcome of the attempt is settled. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** What the handler threw, for the log: results keep less of it. Undefined when it threw nothing. */
  get thrown(): unknown {
    return this.#thrown;
  }

  /** How long after a timeout or a cancellation the attempt was given up while its handler still ran in this thread, in
   *  milliseconds; null where it was not. */
  get abandonedAfterMs(): number | null {
    return this.#abandonedAfterMs;
  }

  /** How long the work may take after a timeout or a cancellation, in milliseconds. What runs elsewhere is ended by
   *  force. */
  get patienceMs(): number {
    return this.runsHere ? (this.task.record.abandonAfterMs ?? this.#env.leaseMs) : ABORT_GRACE_MS;
  }

  /** Why the attempt was lost with the thread or the process that ran it; null when it was not. */
  get workerLoss(): WorkerLostError | null {
    return this.#workerLoss;
  }

  /** The handler reports its progress, which the store learns within a second, or at the end. */
  reportProgress(fraction: number, note: string | null): void {
    this.#progress = { fraction, note: note === null ? null : cut(note, PROGRESS_NOTE_LENGTH_MAX) };
    this.#env.onProgress();
  }

  /** When the handler was called, in epoch milliseconds; null before. */
  get startedAt(): number | null {
    return this.#startedAt;
  }

  /** Whether the handler has told how far it is. */
  get hasProgress(): boolean {
    return this.#progress !== null;
  }

  /** The progress that the store does not know yet; null for none. */
  get unsavedProgress(): JobProgress | null {
    return this.#progress === this.#savedProgress ? null : this.#progress;
  }

  /** The store has this progress now; undefined for none that is new. */
  progressSaved(progress: JobProgress | null = this.#savedProgress): void {
    this.#savedProgress = progress;
  }

  /** How the attempt records steps. */
  get steps(): RecordedSteps {
    this.#steps ??= this.#env.stepsOf(this);
    return this.#steps;
  }

  /** The lease was extended; `until` is in epoch milliseconds. */
  extendTo(until: number): void {
    this.#leaseEndsAt = until;
  }

  /** Ends the attempt early: the handler's signal is aborted with this reason. Only the first reason counts. The store
   *  decides by the fence whether the outcome counts.
   *  @param graceMs how long the handler may still take; the shortest of several counts */
  abort(reason: AbortReason, graceMs: number = ABORT_GRACE_MS): void {
    if (this.#hasEnded) return;
    if (this.#abort.abort(reason, graceMs)) this.#giveUpLater();
  }

  /** Aborts the attempt because its lease is no longer ours, and returns the reason. */
  loseLease(): LeaseLostError {
    const reason = new LeaseLostError(`the lease of job ${this.job.id} was lost`);
    this.abort(reason);
    return reason;
  }

  /** The executor begins the handler. Idempotent. */
  started(): void {
    if (this.#startedAt !== null || this.#hasEnded) return;
    this.#startedAt = this.#env.clock.now();
    this.#watchTimeout();
  }

  /** Runs the attempt, and reports its end to `onEnded`. The work settles it, or the end of the grace after an abort
   *  that the work ignores. Never throws, and awaits nothing, because each promise costs every job time. */
  run(): void {
    const begun = this.#begin();
    if (begun.kind !== "begun") {
      void Promise.resolve().then(() => this.#endWith(begun));
      return;
    }
    this.#hasBegun = true;
    try {
      const work = this.#execute(begun.payload);
      void work.then(
        (value) => this.#worked(value),
        (error: unknown) => this.#failed(error),
      );
    } catch (error) {
      void Promise.resolve().then(() => this.#failed(error));
    }
    if (this.#abort.reason !== null) this.#giveUpLater();
  }

  #worked(value: unknown): void {
    if (this.#hasEnded) return;
    this.started();
    const { reason } = this.#abort;
    // A value that the handler returned after an abort is too late, unless the scheduler's stop was the reason.
    const isLate = reason !== null && !(reason instanceof SchedulerStateError);
    if (isLate) this.#endWith({ kind: "aborted", reason });
    // A handler that caught the error of a sleep sleeps all the same.
    else this.#endWith(this.#steps?.sleep ?? this.#returned(value));
  }

  #failed(error: unknown): void {
    if (this.#hasEnded) return;
    const { reason } = this.#abort;
    const sleep = this.#steps?.sleep;
    if (reason !== null) this.#endWith({ kind: "aborted", reason });
    else if (this.#isWorkerLoss(error)) this.#endWith(this.#lost(error));
    else if (sleep !== undefined && isSleep(error)) this.#endWith(sleep);
    else this.#endWith({ kind: "threw", error, isFinal: this.#isFinal });
  }

  /** Whether the executor says that it lost the attempt. An error of a handler that runs here never says so. */
  #isWorkerLoss(error: unknown): error is WorkerLostError {
    if (this.#call?.isInvoked !== false) return false;
    try {
      // A Proxy may throw at the question.
      return error instanceof WorkerLostError;
    } catch {
      return false;
    }
  }

  #lost(error: WorkerLostError): AttemptEnding {
    this.#workerLoss = error;
    return { kind: "lost", error, hasStarted: error.hasStarted };
  }

  #endWith(ending: AttemptEnding): void {
    this.#hasEnded = true;
    if (ending.kind === "threw") this.#thrown = ending.error;
    this.#end?.abort();
    const { job, number } = this;
    const { clock, random, isShared } = this.#env;
    const { record } = this.task;
    const { retry = record.retry } = job;
    const { maxSnoozes = SNOOZES_MAX_DEFAULT } = record;
    const startedAt = this.#startedAt;
    const progress = this.#progress;
    const hasRecorded = this.#steps?.hasRecorded === true;
    const now = clock.now();
    const facts = { job, number, startedAt, now, progress, retry, maxSnoozes, hasRecorded, isShared, random };
    this.#env.onEnded(this, attemptOutcome(facts, ending));
  }

  /** What ends the attempt before it has started, or the payload for the handler. */
  #begin(): AttemptEnding | { readonly kind: "begun"; readonly payload: unknown } {
    const { job } = this;
    const now = this.#env.clock.now();
    if (now >= this.leaseEndsAt) this.abort(new LeaseLostError(`the lease of job ${job.id} ended before it started`));
    const { reason: early } = this.#abort;
    if (early !== null) return { kind: "aborted", reason: early };
    if (hasMissedStart(job, now)) return { kind: "late" };
    let payload: unknown;
    try {
      payload = job.payload === null ? undefined : this.#env.serializer.deserialize(job.payload);
      if (payload instanceof Promise) {
        // Nobody awaits it, and its rejection would end the process.
        payload.catch(() => undefined);
        throw new DeserializationError("deserialize() must return the payload itself; it returned a promise");
      }
    } catch (error) {
      return { kind: "unreadable", error: asDeserializationError(error) };
    }
    return { kind: "begun", payload };
  }

  /** A return value that cannot be kept fails the job for good: no retry, because the handler has done its work. */
  #returned(value: unknown): AttemptEnding {
    this.#steps?.onReturned?.();
    if (value === undefined || this.job.resultExpirationMs === 0) return { kind: "returned", returnValue: null };
    try {
      if (value instanceof ReturnedText) return { kind: "returned", returnValue: value.text };
      return { kind: "returned", returnValue: resultText(this.#env.serializer, value, () => this.job.id) };
    } catch (error) {
      return { kind: "threw", error, isFinal: true };
    }
  }

  /** What an executor gets of its call in the place of values. */
  textsOf(payload: unknown): CallTexts {
    const { job, task } = this;
    return {
      payload: () => {
        if (task.schema === null) return job.payload;
        try {
          return payloadText(this.#env.serializer, job.taskId, payload);
        } catch (cause) {
          this.#isFinal = true;
          const what = `what the schema of task "${job.taskId}" returned`;
          const said = cause instanceof SerializationError ? cause.message : "the serializer threw";
          throw new SerializationError(`${what} cannot be sent to its executor: ${said}`, { cause });
        }
      },
      returned: (text) => new ReturnedText(text),
      refused: () => {
        this.#isFinal = true;
      },
    };
  }

  #execute(payload: unknown): Promise<unknown> {
    const { schema, record } = this.task;
    if (schema === null) return this.#hand(payload);
    const checked = checkPayload(schema, payload, record.id).catch((error: unknown) => {
      this.#isFinal = error instanceof PayloadError;
      throw error;
    });
    return checked.then((value) => this.#hand(value));
  }

  #hand(payload: unknown): Promise<unknown> {
    this.#isHanded = true;
    // Others say themselves when they begin the handler.
    if (capacityOf(this.#executor) === undefined) this.started();
    this.#call = new AttemptCall(this, payload, this.#env);
    return this.#executor.execute(this.#call);
  }

  #giveUpLater(): void {
    if (!this.#hasBegun) return;
    const { signal } = this.#ended();
    // What runs elsewhere is ended there when its grace is over. Until then nobody else may start the job.
    const delayMs = this.#abort.graceMs + (this.runsHere ? 0 : WORKER_END_MS);
    void sleepFor(this.#env.clock, delayMs, signal).then(() => {
      if (this.#hasEnded) return;
      const { reason, graceMs } = this.#abort;
      const isAbandoned = reason instanceof JobTimeoutError || reason instanceof JobCancelledError;
      if (isAbandoned && this.runsHere) this.#abandonedAfterMs = graceMs;
      this.#failed(reason);
    });
  }

  #watchTimeout(): void {
    const { timeoutMs, id } = this.task.record;
    if (timeoutMs === null) return;
    const { signal } = this.#ended();
    void sleepFor(this.#env.clock, timeoutMs, signal).then(() => {
      if (signal.aborted) return;
      const reason = new JobTimeoutError(`job ${this.job.id} of task "${id}" ran longer than ${timeoutMs} ms`);
      this.abort(reason, this.patienceMs);
    });
  }

  /** Ends sleeps that last as long as the attempt. Made when it is first needed, because most attempts sleep never. */
  #ended(): AbortController {
    this.#end ??= new AbortController();
    return this.#end;
  }
}

type CallEnvironment = Pick<AttemptEnvironment, "contextOf" | "parentsOf" | "lastRunOf" | "previousFireTimeOf">;

/** What an executor gets. The signal is made when somebody reads it, because most handlers never do. */
class AttemptCall implements JobCall {
  readonly #attempt: JobAttempt;
  readonly #env: CallEnvironment;
  #made: JobContext | null = null;
  /** Whether the handler of this thread was called. */
  isInvoked = false;
  readonly payload: unknown;

  constructor(attempt: JobAttempt, payload: unknown, env: CallEnvironment) {
    this.#attempt = attempt;
    this.payload = payload;
    this.#env = env;
  }

  get job(): JobRecord {
    return this.#attempt.job;
  }

  get signal(): AbortSignal {
    return this.#attempt.signal;
  }

  onAbort(listener: AbortListener): () => void {
    return this.#attempt.onAbort(listener);
  }

  get attempt(): number {
    return this.#attempt.number;
  }

  get fence(): number {
    return this.#attempt.job.fence;
  }

  get idempotencyKey(): string {
    return this.#context.idempotencyKey;
  }

  get logger(): Logger {
    return this.#context.logger;
  }

  progress(fraction: number, note?: string): void {
    this.#context.progress(fraction, note);
  }

  started(): void {
    this.#attempt.started();
  }

  get steps(): StepPort {
    return this.#attempt.steps;
  }

  onStep(listener: (step: JobStepRecord) => void): void {
    this.#attempt.steps.onStep = listener;
  }

  getParentResults(): Promise<readonly (JobResultRecord | null)[]> {
    return this.#env.parentsOf(this.#attempt.job);
  }

  getLastRun(): Promise<LastRunFacts | null> {
    return this.#env.lastRunOf(this.#attempt.job);
  }

  getPreviousFireTime(): Promise<ZonedFireTime | null> {
    return this.#env.previousFireTimeOf(this.#attempt.job);
  }

  get texts(): CallTexts {
    return this.#attempt.textsOf(this.payload);
  }

  get #context(): JobContext {
    this.#made ??= this.#env.contextOf(this.#attempt);
    return this.#made;
  }

  /** A property and not a method, because executors may pass it on without its object. */
  readonly invoke = (): unknown => {
    const context = this.#context;
    const { handler, record } = this.#attempt.task;
    if (handler === null) throw new HandlerLookupError(`task "${record.id}" has no handler in this thread`, record.id);
    this.isInvoked = true;
    return runAsCurrentJob(context, () => (handler as TaskHandler<unknown>)(this.payload, context));
  };
}

/** What a handler elsewhere returned, as the text that is kept. */
class ReturnedText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Whether a handler ended because its job sleeps, also where it gave the error another form. */
function isSleep(error: unknown): boolean {
  try {
    // A thrown Proxy may throw again at any question.
    let one = error as { code?: unknown; cause?: unknown } | null | undefined;
    for (let depth = 0; depth <= ERROR_CAUSES_MAX; depth++) {
      if (one?.code === "jobSleep") return true;
      one = one?.cause as typeof one;
    }
    return false;
  } catch {
    return false;
  }
}

/** A serializer of the user's may throw anything, even a Proxy that throws again at `instanceof`. */
function asDeserializationError(error: unknown): unknown {
  try {
    if (error instanceof DeserializationError) return error;
  } catch {
    // It is no error of ours.
  }
  return new DeserializationError("the payload cannot be read", { cause: error });
}
