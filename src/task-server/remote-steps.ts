import type { FromWorker, StepMessage, SteppedMessage } from "../executors/remote/remote-call.ts";
import type { LoadedSteps, StepPort } from "../executors/step-port.ts";
import type { JobStepRecord, StepStatement } from "../records/job-step.ts";
import { revivedError } from "../records/revived-error.ts";

interface AwaitedAnswer {
  resolve(answer: unknown): void;
  reject(reason: unknown): void;
}

/** The steps of a job whose handler runs here, as the scheduler's thread writes them. */
export class RemoteSteps implements StepPort {
  readonly #id: number;
  readonly #send: (message: FromWorker) => void;
  readonly #questions = new Map<number, AwaitedAnswer>();
  #number = 0;

  /** @param id of the call */
  constructor(id: number, send: (message: FromWorker) => void) {
    this.#id = id;
    this.#send = send;
  }

  // The scheduler's thread is this very library, so that its answers need no check.

  load(): Promise<LoadedSteps> {
    return this.#ask("load") as Promise<LoadedSteps>;
  }

  save(step: JobStepRecord): Promise<void> {
    return this.#ask("save", step) as Promise<void>;
  }

  prepare(step: JobStepRecord): Promise<readonly StepStatement[]> {
    return this.#ask("prepare", step) as Promise<readonly StepStatement[]>;
  }

  hear({ number, answer }: SteppedMessage): void {
    const question = this.#questions.get(number);
    this.#questions.delete(number);
    if ("error" in answer) question?.reject(revivedError(answer.error));
    else question?.resolve(JSON.parse(answer.json));
  }

  #ask(method: StepMessage["method"], step?: JobStepRecord): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const number = ++this.#number;
      this.#questions.set(number, { resolve, reject });
      this.#send({ op: "step", id: this.#id, number, method, ...(step === undefined ? {} : { step }) });
    });
  }
}
