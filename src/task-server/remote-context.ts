import { systemClock } from "../core/clock.ts";
import { SchedulerStateError } from "../core/errors.ts";
import { systemRandom } from "../core/ids.ts";
import type { Logger } from "../core/logger.ts";
import { instantOf, type Temporal, zonedOf } from "../core/temporal.ts";
import { timerHost } from "../core/timer-host.ts";
import type {
  AnswerMessage,
  AskedFact,
  FromWorker,
  LogDetail,
  LogMessageLevel,
  RunMessage,
  SteppedMessage,
} from "../executors/remote/remote-call.ts";
import { cut } from "../records/attempt.ts";
import type { JobRecord } from "../records/job.ts";
import type { JobResultRecord } from "../records/job-result.ts";
import { revivedError } from "../records/revived-error.ts";
import type { SerializedError } from "../records/serialized-error.ts";
import { serializedError } from "../records/serialized-error.ts";
import { checkedProgress } from "../scheduler/running/check-progress.ts";
import { PROGRESS_NOTE_LENGTH_MAX } from "../scheduler/running/limits.ts";
import type { LastRunFacts, ZonedFireTime } from "../scheduler/running/schedule-facts.ts";
import type { JobContext, LocalSchedulerClient } from "../scheduler/scheduler-client.ts";
import { JobSteps } from "../scheduler/steps/job-steps.ts";
import type { Steps } from "../scheduler/steps/step-types.ts";
import { Job, type JobClient } from "../scheduler/views/job.ts";
import { JobResult } from "../scheduler/views/job-result.ts";
import type { Serializer } from "../serializers/serializer.ts";
import { WORKER_LOG_LENGTH_MAX, WORKER_PROGRESS_MS_MIN } from "./limits.ts";
import type { LogBudget } from "./log-budget.ts";
import { RemoteSteps } from "./remote-steps.ts";

/** What a context needs of the worker that it is in. */
export interface ContextHost {
  /** `thread`, `process` or `worker`. */
  readonly worker: string;
  readonly budget: LogBudget;
  readonly serializer: Serializer;
  /** Sends a message at once, because a busy handler lets no turn end. */
  sendNow(message: FromWorker): void;
  /** Why the call is to end, as the shared memory says; null when it is not to end, and where no memory is shared. */
  flagged(slot: number): Error | null;
}

/** What a handler gets in a worker. Each part is made when the handler reads it, because most handlers read nothing. */
export class RemoteContext implements JobContext {
  readonly #run: RunMessage;
  readonly #host: ContextHost;
  #job: Job | null = null;
  #logger: Logger | null = null;
  #controller: AbortController | null = null;
  #reason: Error | null = null;
  #hasEnded = false;
  /** Who waits for an answer. One question answers all who ask the same. */
  #waiting: { readonly about: AskedFact; resolve(json: unknown): void; reject(reason: unknown): void }[] = [];
  #steps: JobSteps | null = null;
  #port: RemoteSteps | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;
  #unsent: FromWorker | null = null;
  #stopTimer: (() => void) | null = null;

  constructor(run: RunMessage, host: ContextHost) {
    this.#run = run;
    this.#host = host;
  }

  /** The attempt is to end early. Only the first reason counts. */
  abort(reason: SerializedError): void {
    if (this.#hasEnded) return;
    this.#reason ??= revivedError(reason);
    this.#controller?.abort(this.#reason);
  }

  /** The handler has returned. */
  returned(): void {
    this.#steps?.returned();
  }

  /** The handler has returned or thrown. What it reported last is sent. */
  end(): void {
    this.#sendProgress();
    this.#hasEnded = true;
    // Nobody waits for an answer any more, and a rejection that nobody awaits would end the worker.
    this.#waiting = [];
  }

  /** What the scheduler's thread answers. */
  hear(about: AskedFact, answer: AnswerMessage["answer"]): void {
    const all = this.#waiting;
    this.#waiting = all.filter((one) => one.about !== about);
    for (const { resolve, reject } of all.filter((one) => one.about === about)) {
      if ("error" in answer) reject(revivedError(answer.error));
      else resolve(JSON.parse(answer.json));
    }
  }

  /** What the scheduler's thread says about a step. */
  hearStep(message: SteppedMessage): void {
    this.#port?.hear(message);
  }

  get step(): Steps {
    this.#steps ??= this.#makeSteps();
    return this.#steps;
  }
  get job(): Job {
    this.#job ??= this.#makeJob();
    return this.#job;
  }
  get attempt(): number {
    return this.#run.attempt;
  }
  get fence(): number {
    return this.#run.fence;
  }
  get idempotencyKey(): string {
    return this.#run.idempotencyKey;
  }
  get signal(): AbortSignal {
    return (this.#controller ?? this.#makeController()).signal;
  }
  /** @throws {SchedulerStateError} there is no scheduler in a worker */
  get scheduler(): LocalSchedulerClient {
    throw this.#absent("scheduler");
  }
  get logger(): Logger {
    this.#logger ??= {
      debug: this.#logAt("debug"),
      info: this.#logAt("info"),
      warn: this.#logAt("warn"),
      error: this.#logAt("error"),
    };
    return this.#logger;
  }
  /** A bound function, so that it may be taken out of the context. */
  get progress(): JobContext["progress"] {
    return (fraction, note) => this.#report(fraction, note);
  }
  /** A bound function, so that it may be taken out of the context. */
  get getParentResults(): JobContext["getParentResults"] {
    return () => this.#askParents();
  }

  /** A bound function, so that it may be taken out of the context. */
  get getLastRun(): JobContext["getLastRun"] {
    return async () => {
      const facts =
        this.job.scheduleId === null ? null : await this.#ask<LastRunFacts | null>("lastRun", "getLastRun()");
      return facts === null ? null : { outcome: facts.outcome, finishedAt: instantOf(facts.finishedAt) };
    };
  }
  get previousFireTime(): JobContext["previousFireTime"] {
    const zoned = this.#askPrevious();
    // Nobody may wait for what was read in passing, and its rejection would end the worker.
    zoned.catch(() => undefined);
    return zoned;
  }

  async #askParents(): Promise<(JobResult | null)[]> {
    if (this.job.after.length === 0) return [];
    const records = await this.#ask<readonly (JobResultRecord | null)[]>("parents", "getParentResults()");
    return records.map((record) => (record === null ? null : new JobResult(record, this.#host.serializer)));
  }

  async #askPrevious(): Promise<Temporal.ZonedDateTime | null> {
    if (this.job.scheduleId === null) return null;
    const fire = await this.#ask<ZonedFireTime | null>("previousFireTime", "previousFireTime");
    return fire === null ? null : zonedOf(fire.at, fire.timeZone);
  }

  /** Asks the scheduler's thread, which is trusted to answer what was asked. */
  async #ask<Answer>(about: AskedFact, asked: string): Promise<Answer> {
    if (this.#hasEnded) {
      throw new SchedulerStateError(`${asked} of a handler's context: the handler has ended; ask before`);
    }
    return new Promise<unknown>((resolve, reject) => {
      const isAsked = this.#waiting.some((one) => one.about === about);
      this.#waiting.push({ about, resolve, reject });
      if (!isAsked) this.#host.sendNow({ op: "ask", id: this.#run.id, about });
    }) as Promise<Answer>;
  }

  #makeSteps(): JobSteps {
    const port = new RemoteSteps(this.#run.id, (message) => this.#host.sendNow(message));
    this.#port = port;
    return new JobSteps({
      ...{ port, clock: systemClock, random: systemRandom, serializer: this.#host.serializer },
      job: JSON.parse(this.#run.job) as JobRecord,
      idempotencyKey: this.idempotencyKey,
      signal: this.signal,
      logger: this.logger,
      hasEnded: () => this.#hasEnded,
    });
  }

  #makeController(): AbortController {
    const controller = new AbortController();
    this.#controller = controller;
    if (this.#reason !== null) controller.abort(this.#reason);
    else liveSignal(controller, () => (this.#hasEnded ? null : (this.#reason ?? this.#host.flagged(this.#run.slot))));
    return controller;
  }

  #makeJob(): Job {
    const record = JSON.parse(this.#run.job) as JobRecord;
    const { payload = null } = this.#run;
    const refuse = async (): Promise<never> => this.#never("the job's methods");
    const client: JobClient = { getJob: refuse, cancelJob: refuse, getJobSteps: refuse, getJobResult: refuse };
    return new Job({ ...record, payload }, this.#host.serializer, client);
  }

  #never(what: string): never {
    throw this.#absent(what);
  }

  #absent(what: string): SchedulerStateError {
    const { worker } = this.#host;
    return new SchedulerStateError(
      `${what} of a handler's context: there is no scheduler in a ${worker}; return what the next job needs, or make ` +
        "a scheduler or a client in the tasks' module",
    );
  }

  #logAt(level: LogMessageLevel): (message: string, ...details: unknown[]) => void {
    return (message, ...details) => {
      if (this.#hasEnded) return;
      const dropped = this.#host.budget.take();
      if (dropped === null) return;
      const { id } = this.#run;
      if (dropped > 0) {
        const text = `escapement: ${dropped} lines of a ${this.#host.worker} were dropped, because they were too many`;
        this.#host.sendNow({ op: "log", id, level: "warn", message: text, details: [] });
      }
      this.#host.sendNow({ op: "log", id, level, message: logText(message), details: logDetails(details) });
    };
  }

  #report(given: number, note: string | undefined): void {
    const fraction = checkedProgress(given, note, () => this.logger);
    if (fraction === null || this.#hasEnded) return;
    const { id } = this.#run;
    this.#unsent = { op: "progress", id, fraction, ...noteIn(note) };
    const waitMs = this.#sentAt + WORKER_PROGRESS_MS_MIN - timerHost.elapsed();
    if (waitMs <= 0) this.#sendProgress();
    else this.#stopTimer ??= timerHost.startTimer(() => this.#sendProgress(), waitMs);
  }

  #sendProgress(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    const message = this.#unsent;
    if (message === null) return;
    this.#unsent = null;
    this.#sentAt = timerHost.elapsed();
    this.#host.sendNow(message);
  }
}

/** As much of a note as is kept. Long notes would else fill the memory of the scheduler. */
function noteIn(note: string | undefined): { readonly note?: string } {
  return note === undefined ? {} : { note: cut(note, PROGRESS_NOTE_LENGTH_MAX) };
}

/** The signal of an attempt in a worker. Its `aborted` is true as soon as the reason is known, even in a loop that lets
 *  no message in: whoever reads it there, and whoever calls `throwIfAborted`, looks at the reason first. */
function liveSignal(controller: AbortController, reason: () => Error | null): AbortSignal {
  const { signal } = controller;
  const { get } = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted") ?? {};
  let isLooking = false;
  const look = (): boolean => {
    const isAborted = get?.call(signal) === true;
    // Runtimes ask for `aborted` while they abort.
    if (isAborted || isLooking) return isAborted;
    isLooking = true;
    const why = reason();
    if (why !== null) controller.abort(why);
    isLooking = false;
    return why !== null;
  };
  Object.defineProperty(signal, "aborted", { get: look, configurable: true });
  Object.defineProperty(signal, "throwIfAborted", {
    value(): void {
      if (look()) throw signal.reason;
    },
    configurable: true,
  });
  return signal;
}

/** Most details of a line that are sent. */
const DETAILS_MAX = 20;

/** The text of a logged line, not too long. */
function logText(message: unknown): string {
  return clip(typeof message === "string" ? message : textOf(message));
}

/** What was logged with a line, in a form that can be sent: JSON, and errors. What is no JSON becomes text. Never
 *  throws. */
function logDetails(details: readonly unknown[]): LogDetail[] {
  return details.slice(0, DETAILS_MAX).map((detail) => {
    if (typeof detail === "string") return { value: clip(detail) };
    if (typeof detail !== "object" || detail === null) return { value: isJson(detail) ? detail : textOf(detail) };
    try {
      // A Proxy may throw at the question.
      if (detail instanceof Error) return { error: serializedError(detail) };
      const text = JSON.stringify(detail);
      return { value: text.length > WORKER_LOG_LENGTH_MAX ? clip(text) : JSON.parse(text) };
    } catch {
      return { value: textOf(detail) };
    }
  });
}

function isJson(value: unknown): boolean {
  return value === null || typeof value === "boolean" || Number.isFinite(value);
}

function textOf(value: unknown): string {
  try {
    return clip(String(value));
  } catch {
    return "a value that cannot be read";
  }
}

function clip(text: string): string {
  return text.length > WORKER_LOG_LENGTH_MAX ? `${text.slice(0, WORKER_LOG_LENGTH_MAX)}…` : text;
}
