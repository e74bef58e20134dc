import { type Clock, sleepFor } from "../../core/clock.ts";
import { JobTimeoutError, SerializationError, StepError } from "../../core/errors.ts";
import { isStorable, STORABLE } from "../../core/text.ts";
import { JOB_STEP_VALUE_LENGTH_MAX } from "../../executors/remote/limits.ts";
import type { StepPort } from "../../executors/step-port.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { PreparedStep, StepContext } from "./step-types.ts";

interface BodyHost {
  readonly port: StepPort;
  readonly clock: Clock;
  readonly serializer: Serializer;
  readonly job: { readonly id: string };
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly save: (step: JobStepRecord) => Promise<void>;
}

/** A step whose body runs: its record, and the writes of it, one after the other. */
export class StepBody<C> {
  readonly #host: BodyHost;
  #step: JobStepRecord;
  #writing: Promise<void> | null = null;
  /** The write that begins when the present one has ended. */
  #next: Promise<void> | null = null;

  constructor(step: JobStepRecord, host: BodyHost) {
    this.#step = step;
    this.#host = host;
  }

  begin(timeoutMs: number | null): BodyAttempt<C> {
    this.#step = { ...this.#step, attempts: this.#step.attempts + 1 };
    const { cursor } = this.#step;
    const given = cursor === null ? undefined : (this.#host.serializer.deserialize(cursor) as C);
    return new BodyAttempt<C>(this, this.#host, { name: this.#step.name, cursor: given, timeoutMs });
  }

  /** Records what the body returned. */
  async end(value: unknown): Promise<void> {
    const ended = this.#ended(value);
    // Its own failure does not matter any more: what follows has more.
    await this.#writing?.catch(() => undefined);
    await this.#next?.catch(() => undefined);
    this.#step = ended;
    await this.#host.save(ended);
  }

  /** The calls that come during a write share the next one. */
  async save(cursor: C): Promise<void> {
    this.#step = { ...this.#step, cursor: this.#text(cursor, "cursor") };
    if (this.#writing === null) return this.#write();
    this.#next ??= this.#writing
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#write();
      });
    return this.#next;
  }

  async prepare<T>(value: T): Promise<PreparedStep<T>> {
    return { value, statements: await this.#host.port.prepare(this.#ended(value)) };
  }

  #write(): Promise<void> {
    const writing = this.#host.save(this.#step).finally(() => {
      if (this.#writing === writing) this.#writing = null;
    });
    this.#writing = writing;
    return writing;
  }

  #ended(value: unknown): JobStepRecord {
    const text = value === undefined ? null : this.#text(value, "value");
    return { ...this.#step, endedAt: this.#host.clock.now(), value: text, cursor: null };
  }

  #text(value: unknown, what: string): string {
    const which = `the ${what} of step "${this.#step.name}"`;
    let text: unknown;
    try {
      text = this.#host.serializer.serialize(value);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "the serializer threw";
      throw new SerializationError(`${which} cannot be stored: ${why}`, { cause });
    }
    if (typeof text !== "string" || !isStorable(text)) {
      throw new SerializationError(`${which} as text must be ${STORABLE}: its serializer has to escape them`);
    }
    if (text.length <= JOB_STEP_VALUE_LENGTH_MAX) return text;
    const size = `${text.length} characters, at most ${JOB_STEP_VALUE_LENGTH_MAX}`;
    throw new StepError(`${which} is too large: ${size}; store it elsewhere, and return a reference`);
  }
}

/** One run of a step's body: what the body gets. */
class BodyAttempt<C> implements StepContext<C> {
  readonly #step: StepBody<C>;
  readonly #host: BodyHost;
  readonly #name: string;
  readonly #timeoutMs: number | null;
  readonly #end = new AbortController();
  #controller: AbortController | null = null;
  #isClosed = false;
  readonly cursor: C | undefined;

  constructor(
    step: StepBody<C>,
    host: BodyHost,
    facts: { name: string; cursor: C | undefined; timeoutMs: number | null },
  ) {
    this.#step = step;
    this.#host = host;
    this.#name = facts.name;
    this.#timeoutMs = facts.timeoutMs;
    this.cursor = facts.cursor;
  }

  get key(): string {
    return `${this.#host.idempotencyKey}:${this.#name}`;
  }

  get signal(): AbortSignal {
    return this.#timeoutMs === null ? this.#host.signal : this.#ownController().signal;
  }

  /** A bound function, so that it may be taken out of the context. */
  readonly save = (cursor: C): Promise<void> => {
    const saved = this.#isClosed ? Promise.reject(this.#late("save()")) : this.#step.save(cursor);
    // Nobody has to await it: the end of the step says what failed for good.
    saved.catch(() => undefined);
    return saved;
  };

  /** A bound function. */
  readonly prepare = async <T>(value: T): Promise<PreparedStep<T>> => {
    if (this.#isClosed) throw this.#late("prepare()");
    return this.#step.prepare(value);
  };

  /** Calls the body. A body that runs longer than it may counts as failed, whatever becomes of it. */
  async call<T>(body: (step: StepContext<C>) => T | Promise<T>): Promise<T> {
    if (this.#timeoutMs === null) return body(this);
    const controller = this.#ownController();
    const late = sleepFor(this.#host.clock, this.#timeoutMs, this.#end.signal).then((): never => {
      const which = `step "${this.#name}" of job ${this.#host.job.id}`;
      const error = new JobTimeoutError(`${which} ran longer than ${this.#timeoutMs} ms`);
      controller.abort(error);
      throw error;
    });
    late.catch(() => undefined);
    return Promise.race([body(this), late]);
  }

  close(): void {
    this.#isClosed = true;
    this.#end.abort();
  }

  #ownController(): AbortController {
    if (this.#controller !== null) return this.#controller;
    const controller = new AbortController();
    this.#controller = controller;
    const { signal } = this.#host;
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true, signal: this.#end.signal });
    return controller;
  }

  #late(what: string): StepError {
    return new StepError(`${what} of step "${this.#name}" of job ${this.#host.job.id} came after its end: await it`);
  }
}
