import type { Logger } from "../../core/logger.ts";
import { instantOf, instantText, zonedOf } from "../../core/temporal.ts";
import type { Environment } from "../environment.ts";
import { jobProgressed } from "../events/event-records.ts";
import type { JobContext, LocalSchedulerClient } from "../scheduler-client.ts";
import { JobSteps } from "../steps/job-steps.ts";
import type { Steps } from "../steps/step-types.ts";
import { Job } from "../views/job.ts";
import { JobResult } from "../views/job-result.ts";
import type { AbortReason } from "./abort-state.ts";
import { checkedProgress } from "./check-progress.ts";
import type { JobAttempt } from "./job-attempt.ts";
import { parentResults } from "./parent-results.ts";
import { lastRunOf, previousFireTimeOf } from "./schedule-facts.ts";

/** What a handler gets. Each part is made when the handler reads it, because most handlers read nothing. */
export class AttemptContext implements JobContext {
  readonly #attempt: JobAttempt;
  readonly #env: Environment;
  readonly #scheduler: LocalSchedulerClient;
  #job: Job | null = null;
  #logger: Logger | null = null;
  #step: JobSteps | null = null;

  constructor(attempt: JobAttempt, env: Environment, scheduler: LocalSchedulerClient) {
    this.#attempt = attempt;
    this.#env = env;
    this.#scheduler = scheduler;
  }

  /** Whether this is an attempt of that scheduler, and under way. What its handler left behind, a timer for example,
   *  still has this context. */
  isUnderWayIn(env: Environment): boolean {
    // Each run of a scheduler has an environment of its own; the events are those of all its runs.
    return env.events === this.#env.events && !this.#attempt.hasEnded;
  }

  /** Ends the attempt early. */
  abort(reason: AbortReason): void {
    this.#attempt.abort(reason);
  }

  get job(): Job {
    this.#job ??= new Job(this.#attempt.job, this.#env.store.serializer, this.#scheduler);
    return this.#job;
  }
  get attempt(): number {
    return this.#attempt.number;
  }
  get fence(): number {
    return this.#attempt.job.fence;
  }
  get idempotencyKey(): string {
    return this.#attempt.job.idempotencyKey ?? this.#attempt.job.id;
  }
  get signal(): AbortSignal {
    return this.#attempt.signal;
  }
  get scheduler(): LocalSchedulerClient {
    return this.#scheduler;
  }
  get logger(): Logger {
    this.#logger ??= this.#keptLogger();
    return this.#logger;
  }

  get step(): Steps {
    this.#step ??= this.#makeSteps();
    return this.#step;
  }

  /** A bound function, so that it may be taken out of the context. */
  get progress(): JobContext["progress"] {
    return (fraction, note) => this.#publishProgress(fraction, note);
  }

  /** A bound function, so that it may be taken out of the context. */
  get getParentResults(): JobContext["getParentResults"] {
    return () => this.#readParentResults();
  }

  /** A bound function, so that it may be taken out of the context. */
  get getLastRun(): JobContext["getLastRun"] {
    return async () => {
      const facts = await lastRunOf(this.#env, this.#attempt.job);
      return facts === null ? null : { outcome: facts.outcome, finishedAt: instantOf(facts.finishedAt) };
    };
  }

  get previousFireTime(): JobContext["previousFireTime"] {
    const found = previousFireTimeOf(this.#env, this.#attempt.job);
    const zoned = found.then((fire) => (fire === null ? null : zonedOf(fire.at, fire.timeZone)));
    // Nobody may wait for what was read in passing, and its rejection would end the process.
    zoned.catch(() => undefined);
    return zoned;
  }

  #makeSteps(): JobSteps {
    const attempt = this.#attempt;
    const { clock, random, store } = this.#env;
    const { job, signal, steps: port } = attempt;
    const steps = new JobSteps({
      ...{ port, clock, random, serializer: store.serializer, job, signal },
      idempotencyKey: this.idempotencyKey,
      logger: this.logger,
      hasEnded: () => attempt.hasEnded,
    });
    port.onReturned = () => steps.returned();
    return steps;
  }

  #keptLogger(): Logger {
    const logger = this.#childLogger();
    return this.#attempt.log?.keeping(logger, () => !this.#attempt.hasEnded) ?? logger;
  }

  #childLogger(): Logger {
    const { id: jobId, taskId, scheduleId, fence, scheduledFireTime } = this.#attempt.job;
    const bindings = {
      ...{ taskId, jobId, scheduleId, schedulerId: this.#env.identity, attempt: this.attempt, fence },
      ...(scheduledFireTime === null ? {} : { scheduledFireTime: instantText(scheduledFireTime) }),
    };
    return this.#env.logger.child(bindings, `[${taskId} ${jobId}]`);
  }

  async #readParentResults(): Promise<(JobResult | null)[]> {
    const records = await parentResults(this.#env, this.#attempt.job);
    const { serializer } = this.#env.store;
    return records.map((record) => (record === null ? null : new JobResult(record, serializer)));
  }

  #publishProgress(given: number, note: string | undefined): void {
    const fraction = checkedProgress(given, note, () => this.logger);
    // No event of an attempt may follow the event of its end.
    if (fraction === null || this.#attempt.hasEnded) return;
    this.#attempt.reportProgress(fraction, note ?? null);
    this.#env.events.publish([jobProgressed(this.#env, this.#attempt.job, fraction, note ?? null)]);
  }
}
