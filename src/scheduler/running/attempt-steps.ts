import { JobCancelledError, StepError, StoreRefusedError } from "../../core/errors.ts";
import type { LoadedSteps } from "../../executors/step-port.ts";
import type { JobStepRecord, StepStatement } from "../../records/job-step.ts";
import type { DataStore, JobStepSave } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { stepFinished } from "../events/event-records.ts";
import type { AttemptSleep } from "./attempt-outcome.ts";
import type { JobAttempt, RecordedSteps } from "./job-attempt.ts";

/** The steps of one attempt, as the scheduler writes them under the lease of the attempt. */
export class AttemptSteps implements RecordedSteps {
  readonly #attempt: JobAttempt;
  readonly #env: Environment;
  #number = 0;
  hasRecorded = false;
  sleep: AttemptSleep | undefined;
  onStep: RecordedSteps["onStep"] = null;
  onReturned: RecordedSteps["onReturned"] = null;

  constructor(attempt: JobAttempt, env: Environment) {
    this.#attempt = attempt;
    this.#env = env;
  }

  /** The first attempt of a job finds none, unless the job repeats another one. */
  async load(): Promise<LoadedSteps> {
    const { job, task } = this.#attempt;
    const { version = null } = task;
    if (job.fence <= 1 && job.retryOf === undefined) return { steps: [], version };
    const { store, clock } = this.#env;
    return { steps: await store.getJobSteps(job.id, clock.now()), version };
  }

  async save(step: JobStepRecord): Promise<void> {
    const attempt = this.#attempt;
    const save = this.#saveOf(step);
    const { isSaved, cancelRequested } = await this.#env.store.saveJobStep(save);
    if (!isSaved) throw attempt.loseLease();
    this.hasRecorded = true;
    attempt.extendTo(Math.max(attempt.leaseEndsAt, save.until));
    const { name, wakeAt, endedAt } = step;
    if (endedAt !== null) {
      this.onStep?.(step);
      this.#env.events.publish([stepFinished(this.#env, attempt.job, step)]);
    } else if (wakeAt !== null && wakeAt < (this.sleep?.until ?? Number.POSITIVE_INFINITY)) {
      // Of several sleeps the first to end wakes the job.
      this.sleep = { kind: "sleeps", step: name, until: wakeAt };
    }
    if (cancelRequested) attempt.abort(new JobCancelledError(`job ${attempt.job.id} was cancelled`));
  }

  async prepare(step: JobStepRecord): Promise<readonly StepStatement[]> {
    const { store } = this.#env;
    const statements = await store.prepareJobStep?.(this.#saveOf(step));
    if (statements !== undefined) return statements;
    throw givesNoStatements("prepare() of a step", store, "return the value from the body");
  }

  #saveOf(step: JobStepRecord): JobStepSave {
    const attempt = this.#attempt;
    const { id: jobId, fence } = attempt.job;
    if (attempt.hasEnded) {
      if (attempt.isAborted) throw attempt.signal.reason;
      throw new StepError(`step "${step.name}" of job ${jobId} came after the handler had ended`);
    }
    const { clock, identity, leaseMs } = this.#env;
    const now = clock.now();
    const lease = { now, schedulerId: identity, jobId, fence, until: now + leaseMs };
    return { ...lease, number: ++this.#number, isFirst: !this.hasRecorded, step };
  }
}

/** The error of a store that has no statements to give. @param instead what to do without them */
export function givesNoStatements(call: string, store: DataStore, instead: string): StoreRefusedError {
  return new StoreRefusedError(
    `${call} needs a store in a database that the application writes to as well; a ${store.constructor.name} has no ` +
      `such database. Use LibsqlDataStore or SqliteDataStore, or ${instead}`,
  );
}
