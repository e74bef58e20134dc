import { HandlerLookupError } from "../core/errors.ts";
import { nearest } from "../core/suggest.ts";
import { AbortFlags } from "../executors/remote/abort-flags.ts";
import { WORKER_MESSAGES_MAX } from "../executors/remote/limits.ts";
import {
  type DoneMessage,
  type FailedMessage,
  type FromWorker,
  type OpenMessage,
  type RunMessage,
  type ToWorker,
  toWorker,
} from "../executors/remote/remote-call.ts";
import type { JobRecord } from "../records/job.ts";
import { serializedError } from "../records/serialized-error.ts";
import type { TaskHandler } from "../scheduler/scheduler-client.ts";
import { runAsCurrentJob, showCurrentJob } from "../scheduler/tasks/current-job.ts";
import { resultText } from "../scheduler/tasks/result-text.ts";
import { JSONSerializer } from "../serializers/json.ts";
import type { Serializer } from "../serializers/serializer.ts";
import { LogBudget } from "./log-budget.ts";
import { type ContextHost, RemoteContext } from "./remote-context.ts";
import { type TaskModule, UnfitModule, workerSerializer } from "./task-module.ts";

/** Has a microtask at the end of the turn. */
const TURN_END = Promise.resolve();

/** Gives the handlers of the tasks. @param module the URL of the module that has them, where the pool names one */
type LoadModule = (module: string) => Promise<TaskModule>;

/** The worker's side: loads the handlers, and runs what the pool sends. */
export class TaskServer implements ContextHost {
  readonly budget: LogBudget = new LogBudget();
  readonly #load: LoadModule;
  readonly #send: (messages: readonly FromWorker[]) => void;
  readonly #running = new Map<number, RemoteContext>();
  #handlers: ReadonlyMap<string, TaskHandler> = new Map();
  #serializer: Serializer = new JSONSerializer();
  #flags: AbortFlags | null = null;
  #worker = "worker";
  /** Whether messages are being taken. What ends meanwhile is sent after that. */
  #isReceiving = false;
  #outbox: FromWorker[] = [];

  /** @param send sends messages to the pool */
  constructor(load: LoadModule, send: (messages: readonly FromWorker[]) => void) {
    this.#load = load;
    this.#send = send;
  }

  get worker(): string {
    return this.#worker;
  }

  /** Reads and writes the texts of values. */
  get serializer(): Serializer {
    return this.#serializer;
  }

  /** Takes what came through the channel. */
  receive(data: unknown): void {
    this.#isReceiving = true;
    try {
      for (const message of toWorker(data)) this.#take(message);
    } finally {
      this.#isReceiving = false;
      this.#flush();
    }
  }

  #take(message: ToWorker): void {
    if (message.op === "run") this.#run(message);
    else if (message.op === "abort") this.#running.get(message.id)?.abort(message.reason);
    else if (message.op === "answer") this.#running.get(message.id)?.hear(message.about, message.answer);
    else if (message.op === "stepped") this.#running.get(message.id)?.hearStep(message);
    else void this.#open(message);
  }

  sendNow(message: FromWorker): void {
    this.#outbox.push(message);
    this.#flush();
  }

  /** Nobody catches an error, and the worker ends. */
  crashes(error: unknown): void {
    this.sendNow({ op: "crashed", error: serializedError(error) });
  }

  flagged(slot: number): Error | null {
    return this.#flags?.reasonAt(slot) ?? null;
  }

  async #open({ module = "", worker, flags, sample }: OpenMessage): Promise<void> {
    this.#worker = worker;
    this.#flags = flags === undefined ? null : new AbortFlags(flags);
    showCurrentJob();
    try {
      const { handlers, serializer } = await this.#load(module);
      this.#handlers = handlers;
      this.#serializer = workerSerializer(sample, serializer);
      this.#send([{ op: "ready", taskIds: [...this.#handlers.keys()] }]);
    } catch (error) {
      const message = error instanceof UnfitModule ? error.message : `cannot be imported: ${textOf(error)}`;
      const cause = error instanceof UnfitModule ? {} : { error: serializedError(error) };
      this.#send([{ op: "unfit", message: `${module} ${message}`, ...cause }]);
    }
  }

  /** A handler that returns no promise has ended at once. Promises are few here, because each of them costs more where
   *  the runtime has to know the current job. */
  #run(message: RunMessage): void {
    const { id, taskId } = message;
    const context = new RemoteContext(message, this);
    this.#running.set(id, context);
    let value: unknown;
    try {
      const handler = this.#handlers.get(taskId) ?? this.#missing(taskId);
      const payload = message.payload === undefined ? undefined : this.#serializer.deserialize(message.payload);
      value = runAsCurrentJob(context, () => handler(payload, context));
      if (mayBePromise(value)) value = Promise.resolve(value);
    } catch (error) {
      this.#fail(context, id, error, false);
      return;
    }
    if (value instanceof Promise) {
      value.then(
        (result) => this.#succeed(context, message, result),
        (error) => this.#fail(context, id, error, false),
      );
    } else this.#succeed(context, message, value);
  }

  #succeed(context: RemoteContext, { id, job, keepsResult }: RunMessage, value: unknown): void {
    context.returned();
    let text: string | null = null;
    try {
      if (value !== undefined && keepsResult) {
        text = resultText(this.#serializer, value, () => (JSON.parse(job) as JobRecord).id);
      }
    } catch (error) {
      this.#fail(context, id, error, true);
      return;
    }
    this.#finish(context, text === null ? { op: "done", id } : { op: "done", id, text });
  }

  #fail(context: RemoteContext, id: number, error: unknown, isReturn: boolean): void {
    this.#finish(context, { op: "failed", id, error: serializedError(error), isReturn });
  }

  #finish(context: RemoteContext, ending: DoneMessage | FailedMessage): void {
    context.end();
    this.#running.delete(ending.id);
    this.#post(ending);
  }

  #missing(taskId: string): never {
    const known = [...this.#handlers.keys()];
    const near = nearest(taskId, known);
    const advice = near === null ? `it has ${known.slice(0, 20).join(", ")}` : `did you mean "${near}"?`;
    throw new HandlerLookupError(`the ${this.#worker}'s module has no handler for task "${taskId}"; ${advice}`, taskId);
  }

  /** The endings of a turn are sent together, because each message costs more than its content. But not too many,
   *  because the pool works while the next ones come. */
  #post(ending: FromWorker): void {
    this.#outbox.push(ending);
    if (this.#outbox.length >= WORKER_MESSAGES_MAX) this.#flush();
    else if (this.#outbox.length === 1 && !this.#isReceiving) void TURN_END.then(() => this.#flush());
  }

  #flush(): void {
    const messages = this.#outbox;
    if (messages.length === 0) return;
    this.#outbox = [];
    this.#send(messages);
  }
}

function textOf(error: unknown): string {
  return serializedError(error).message;
}

function mayBePromise(value: unknown): boolean {
  return ((typeof value === "object" && value !== null) || typeof value === "function") && "then" in value;
}
