import { HandlerLookupError, SerializationError } from "../../core/errors.ts";
import { WORKER_MESSAGES_MAX } from "../../core/limits.ts";
import { nearest } from "../../core/suggest.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type { TaskHandler } from "../../scheduler/scheduler-client.ts";
import { runAsCurrentJob, showCurrentJob } from "../../scheduler/tasks/current-job.ts";
import { AbortFlags } from "./abort-flags.ts";
import { factsOf } from "./error-facts.ts";
import { LogBudget } from "./log-budget.ts";
import {
  type DoneMessage,
  type FailedMessage,
  type FromWorker,
  type OpenMessage,
  type RunMessage,
  type ToWorker,
  toWorker,
} from "./remote-call.ts";
import { type ContextHost, RemoteContext } from "./remote-context.ts";
import { UnfitModule } from "./task-module.ts";

/** Has a microtask at the end of the turn. */
const TURN_END = Promise.resolve();

/** Gives the handlers of the tasks. @param module the URL of the module that has them, where the pool names one */
type LoadHandlers = (module: string) => Promise<ReadonlyMap<string, TaskHandler>>;

/** The worker's side: loads the handlers, and runs what the pool sends. */
export class TaskServer implements ContextHost {
  readonly budget: LogBudget = new LogBudget();
  readonly #load: LoadHandlers;
  readonly #send: (messages: readonly FromWorker[]) => void;
  readonly #running = new Map<number, RemoteContext>();
  #handlers: ReadonlyMap<string, TaskHandler> = new Map();
  #flags: AbortFlags | null = null;
  #worker = "worker";
  /** Whether messages are being taken. What ends meanwhile is sent after that. */
  #isReceiving = false;
  #outbox: FromWorker[] = [];

  /** @param send sends messages to the pool; throws what the runtime throws about a value that it cannot copy, and has
   *  sent nothing then */
  constructor(load: LoadHandlers, send: (messages: readonly FromWorker[]) => void) {
    this.#load = load;
    this.#send = send;
  }

  get worker(): string {
    return this.#worker;
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
    else if (message.op === "parents") this.#running.get(message.id)?.hearParents(message.answer);
    else void this.#open(message);
  }

  sendNow(message: FromWorker): void {
    this.#outbox.push(message);
    this.#flush();
  }

  flagged(slot: number): Error | null {
    return this.#flags?.reasonAt(slot) ?? null;
  }

  async #open({ module = "", worker, flags }: OpenMessage): Promise<void> {
    this.#worker = worker;
    this.#flags = flags === undefined ? null : new AbortFlags(flags);
    showCurrentJob();
    try {
      this.#handlers = await this.#load(module);
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
    const { id, taskId, payload } = message;
    const context = new RemoteContext(message, this);
    this.#running.set(id, context);
    let value: unknown;
    try {
      const handler = this.#handlers.get(taskId) ?? this.#missing(taskId);
      value = runAsCurrentJob(context, () => handler(payload, context));
      if (mayBePromise(value)) value = Promise.resolve(value);
    } catch (error) {
      this.#fail(context, id, error);
      return;
    }
    if (value instanceof Promise) {
      value.then(
        (result) => this.#succeed(context, id, result),
        (error) => this.#fail(context, id, error),
      );
    } else this.#succeed(context, id, value);
  }

  #succeed(context: RemoteContext, id: number, value: unknown): void {
    this.#finish(context, { op: "done", id, value });
  }

  #fail(context: RemoteContext, id: number, error: unknown): void {
    const facts = factsOf(error);
    const more = facts === undefined ? {} : { facts };
    this.#finish(context, { op: "failed", id, error: serializedError(error), ...more });
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
    try {
      this.#send(messages);
    } catch {
      // One of them cannot be copied. The others can.
      for (const message of messages) this.#sendAlone(message);
    }
  }

  #sendAlone(message: FromWorker): void {
    try {
      this.#send([message]);
    } catch (error) {
      if (message.op !== "done") return;
      this.#send([{ op: "failed", id: message.id, error: serializedError(this.#unsendable(error)) }]);
    }
  }

  #unsendable(cause: unknown): SerializationError {
    const text =
      `what the handler returned cannot be sent from a ${this.#worker}: ${textOf(cause).replace(/\.$/, "")}; ` +
      "return plain data, because it is copied: no functions, and no objects of classes";
    return new SerializationError(text, { cause });
  }
}

function textOf(error: unknown): string {
  return serializedError(error).message;
}

function mayBePromise(value: unknown): boolean {
  return ((typeof value === "object" && value !== null) || typeof value === "function") && "then" in value;
}
