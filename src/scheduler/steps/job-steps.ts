import { callStorage } from "../../core/call-storage.ts";
import { type Clock, sleepFor } from "../../core/clock.ts";
import { type Duration, toDurationMs } from "../../core/duration.ts";
import { JobSleepError, StepError } from "../../core/errors.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { Logger } from "../../core/logger.ts";
import { mustBe, optionError } from "../../core/option-errors.ts";
import { type InstantLike, instantText, toEpochMs } from "../../core/temporal.ts";
import { isStorable, STORABLE } from "../../core/text.ts";
import { JOB_STEP_NAME_LENGTH_MAX, JOB_STEPS_LENGTH_MAX, JOB_STEPS_MAX } from "../../executors/remote/limits.ts";
import type { StepPort } from "../../executors/step-port.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import { backoffMs } from "../../records/policies.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { StepBody } from "./step-body.ts";
import { type CheckedStepOptions, checkedStepOptions } from "./step-options.ts";
import type { StepContext, StepOptions, Steps } from "./step-types.ts";

/** What the steps of an attempt work with, in the scheduler's thread or elsewhere. */
export interface StepsHost {
  readonly port: StepPort;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly serializer: Serializer;
  readonly job: { readonly id: string; readonly taskId: string; readonly runAt: number };
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly hasEnded: () => boolean;
}

type Body<T, C> = (step: StepContext<C>) => T | Promise<T>;

/** Which steps are under way in a call, to tell a step within a step from one beside another. */
const within = callStorage<JobSteps>();

/** `context.step` of one attempt. */
export class JobSteps implements Steps {
  readonly #host: StepsHost;
  /** The steps that the store has; read once. */
  #stored: Promise<ReadonlyMap<string, JobStepRecord>> | null = null;
  #first: JobStepRecord | undefined;
  /** The names of stored steps that this attempt did not ask for so far. */
  readonly #left = new Set<string>();
  /** The `version` of the task here; null for none. */
  #version: number | null = null;
  /** Those that this attempt asked for. */
  readonly #asked = new Set<string>();
  /** What a sleep waits for. */
  readonly #busy = new Set<Promise<unknown>>();
  #sleep: JobSleepError | null = null;
  /** Characters of each recorded step. */
  readonly #lengths = new Map<string, number>();
  #length = 0;
  #hasWarned = false;

  constructor(host: StepsHost) {
    this.#host = host;
  }

  /** A bound function, so that it may be taken out of `step`. */
  readonly run = async <T, C>(name: string, ...given: [Body<T, C>] | [StepOptions, Body<T, C>]): Promise<T> => {
    const [options, body] = given.length > 1 ? (given as [StepOptions, Body<T, C>]) : [{}, given[0] as Body<T, C>];
    if (typeof body !== "function") throw optionError("step.run()", "body", mustBe("a function", body));
    const checked = checkedStepOptions(options, "step.run()");
    return this.#asBusy(this.#run(this.#enter(name), checked, body));
  };

  /** A bound function. */
  readonly sleep = async (name: string, duration: Duration): Promise<void> => {
    const ms = toDurationMs(duration, "duration");
    return this.#sleepUntil(this.#enter(name), (now) => now + ms);
  };

  /** A bound function. */
  readonly sleepUntil = async (name: string, instant: InstantLike): Promise<void> => {
    const until = toEpochMs(instant, "instant");
    return this.#sleepUntil(this.#enter(name), () => until);
  };

  /** The handler has returned: recorded steps that it did not ask for may be those of another version. */
  returned(): void {
    const { logger, job } = this.#host;
    const version = this.#version;
    const { version: former = version } = this.#first ?? {};
    const left = [...this.#left].filter((name) => !this.#asked.has(name));
    if (left.length === 0 || former === version || this.#hasWarned) return;
    const names = left.slice(0, 5).map((name) => `"${name}"`);
    logger.warn(
      `escapement: version ${version} of task "${job.taskId}" never asked for recorded steps of job ${job.id} ` +
        `(${names.join(", ")}), which version ${former} began: a step with a new name runs anew`,
    );
  }

  /** Checks that a step may begin, at once, so that the order of calls decides. Returns its name. */
  #enter(name: string): string {
    const { hasEnded, signal } = this.#host;
    if (typeof name !== "string" || name === "" || name.length > JOB_STEP_NAME_LENGTH_MAX || !isStorable(name)) {
      const rule = `text of 1 to ${JOB_STEP_NAME_LENGTH_MAX} characters, ${STORABLE}`;
      throw optionError("step", "name", mustBe(rule, name));
    }
    if (signal.aborted) throw signal.reason;
    if (hasEnded()) throw this.#error(name, "began after the handler had ended: await every step");
    if (within.get() === this) {
      throw this.#error(name, "began within another step: call it beside that one, or make it a part of its body");
    }
    if (this.#sleep !== null) throw this.#sleep;
    if (this.#asked.has(name)) {
      throw this.#error(name, 'came before in this attempt: give each its own name; in a loop, write "name:" + id');
    }
    this.#asked.add(name);
    return name;
  }

  #error(name: string, problem: string): StepError {
    return new StepError(`step "${name}" of job ${this.#host.job.id} ${problem}`);
  }

  async #asBusy<T>(work: Promise<T>): Promise<T> {
    this.#busy.add(work);
    try {
      return await work;
    } finally {
      this.#busy.delete(work);
    }
  }

  async #run<T, C>(name: string, options: CheckedStepOptions, body: Body<T, C>): Promise<T> {
    const { serializer, clock, random, signal } = this.#host;
    const stored = await this.#storedStep(name);
    if (stored !== undefined && stored.wakeAt !== null) throw this.#error(name, "was a sleep: give it another name");
    if (stored !== undefined && stored.endedAt !== null) {
      return (stored.value === null ? undefined : serializer.deserialize(stored.value)) as T;
    }
    const { retry, timeoutMs } = options;
    const step = new StepBody<C>(this.#newStep(name, stored), { ...this.#host, save: (one) => this.#save(one) });
    for (let tries = 1; ; tries++) {
      if (signal.aborted) throw signal.reason;
      const attempt = step.begin(timeoutMs);
      const ending = await within
        .run(this, () => attempt.call(body))
        .then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        );
      attempt.close();
      if ("value" in ending) {
        // Also after an abort: what was done within the grace need not be done again.
        await step.end(ending.value);
        if (signal.aborted) throw signal.reason;
        return ending.value;
      }
      if (signal.aborted) throw signal.reason;
      if (tries >= retry.maxAttempts || isFinal(ending.error)) throw ending.error;
      await sleepFor(clock, backoffMs(retry.backoff, tries, random), signal);
    }
  }

  async #sleepUntil(name: string, untilOf: (now: number) => number): Promise<void> {
    const { clock, job, signal } = this.#host;
    const work = this.#storedStep(name).then(async (stored) => {
      if (stored !== undefined && stored.wakeAt === null)
        throw this.#error(name, "was none: give the sleep a new name");
      if (stored !== undefined && stored.endedAt !== null) return null;
      const now = clock.now();
      const step = { ...this.#newStep(name, stored), wakeAt: stored?.wakeAt ?? untilOf(now) };
      // A clock that is behind does not let a job sleep on that another scheduler found to be due.
      const isOver = step.wakeAt <= Math.max(now, stored === undefined ? now : job.runAt);
      // The end is recorded, because a later attempt may run where the clock is behind.
      await this.#save(isOver ? { ...step, endedAt: now } : step);
      return isOver ? null : step.wakeAt;
    });
    const wakeAt = await this.#asBusy(work);
    if (wakeAt === null) return;
    this.#sleep ??= new JobSleepError(`job ${job.id} sleeps in step "${name}" until ${instantText(wakeAt)}`);
    const sleep = this.#sleep;
    while (this.#busy.size > 0) await Promise.allSettled(this.#busy);
    if (signal.aborted) throw signal.reason;
    throw sleep;
  }

  #newStep(name: string, stored: JobStepRecord | undefined): JobStepRecord {
    if (stored !== undefined) return stored;
    const nothing = { endedAt: null, wakeAt: null, value: null, cursor: null };
    return { name, startedAt: this.#host.clock.now(), attempts: 0, version: this.#version, ...nothing };
  }

  async #storedStep(name: string): Promise<JobStepRecord | undefined> {
    this.#stored ??= this.#load();
    const stored = await this.#stored;
    const { signal, hasEnded } = this.#host;
    if (signal.aborted) throw signal.reason;
    if (hasEnded()) throw this.#error(name, "began after the handler had ended: await every step");
    const step = stored.get(name);
    if (step === undefined && stored.size + this.#newNames(stored) > JOB_STEPS_MAX) {
      throw this.#error(
        name,
        `is one too many: a job has ${JOB_STEPS_MAX} steps at most; use a cursor for a long loop`,
      );
    }
    return step;
  }

  #newNames(stored: ReadonlyMap<string, JobStepRecord>): number {
    let count = 0;
    for (const name of this.#asked) if (!stored.has(name)) count++;
    return count;
  }

  async #load(): Promise<ReadonlyMap<string, JobStepRecord>> {
    const { port, logger, job } = this.#host;
    const { steps, version } = await port.load();
    this.#version = version;
    [this.#first] = steps;
    for (const step of steps) {
      this.#measure(step);
      this.#left.add(step.name);
    }
    const former = this.#first?.version ?? null;
    if ((former ?? -1) > (version ?? -1)) {
      this.#hasWarned = true;
      logger.warn(
        `escapement: job ${job.id} has steps of version ${former} of task "${job.taskId}", and goes on with version ` +
          `${version}, which is older`,
      );
    }
    return new Map(steps.map((step) => [step.name, step]));
  }

  #save(step: JobStepRecord): Promise<void> {
    this.#measure(step);
    if (this.#length > JOB_STEPS_LENGTH_MAX) {
      const size = `${this.#length} characters, at most ${JOB_STEPS_LENGTH_MAX}`;
      const problem = `makes the steps of the job too large: ${size}`;
      throw this.#error(step.name, `${problem}; store the values elsewhere, and return references`);
    }
    return this.#host.port.save(step);
  }

  #measure({ name, value, cursor }: JobStepRecord): void {
    const length = (value?.length ?? 0) + (cursor?.length ?? 0);
    this.#length += length - (this.#lengths.get(name) ?? 0);
    this.#lengths.set(name, length);
  }
}

/** Whether another run of the body cannot help, or is not wanted now. */
function isFinal(error: unknown): boolean {
  try {
    const code = (error as { code?: unknown } | null)?.code;
    return ["nonRetryable", "skipRun", "retryAfter", "jobSleep", "step", "serialization", "leaseLost"].includes(
      String(code),
    );
  } catch {
    return false;
  }
}
