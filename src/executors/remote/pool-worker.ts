import { startBackgroundTimer } from "../../core/background-timer.ts";
import { SchedulerStateError, WorkerLostError } from "../../core/errors.ts";
import { optionError } from "../../core/option-errors.ts";
import { revivedError } from "../../records/revived-error.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type { JobCall } from "../job-executor.ts";
import { AbortFlags } from "./abort-flags.ts";
import { textsOf } from "./call-texts.ts";
import { WORKER_MESSAGES_MAX } from "./limits.ts";
import type { PendingCall } from "./pending-call.ts";
import type { PoolSettings, PoolWords } from "./pool-settings.ts";
import {
  type AnswerMessage,
  type AskedFact,
  type FromWorker,
  fromWorker,
  type StepMessage,
  type SteppedMessage,
  type ToWorker,
  type UnfitMessage,
} from "./remote-call.ts";
import { tellLog } from "./remote-log.ts";
import type { ChannelListener, LostReason, OpenChannel, WorkerChannel } from "./worker-channel.ts";

/** Has a microtask at the end of the turn. `queueMicrotask` costs more, on Node. */
const TURN_END = Promise.resolve();

/** What the owner of a worker hears of it. */
export interface WorkerOwner {
  /** A call has settled, and the worker runs on. */
  freed(worker: PoolWorker): void;
  /** The worker takes no more calls. Its calls are settled when it has ended. */
  ending(worker: PoolWorker): void;
  /** The worker has ended. @param failure set when it ended by itself before it had a call */
  ended(worker: PoolWorker, failure: Error | null): void;
}

/** One worker of a pool: a thread, a process or a Web Worker, with the calls that it runs. */
export class PoolWorker implements ChannelListener {
  /** The ids of the tasks that the worker has handlers for, once it has loaded its module. Rejects when it cannot. */
  readonly started: Promise<readonly string[]>;
  readonly #settings: PoolSettings;
  readonly #words: PoolWords;
  readonly #owner: WorkerOwner;
  readonly #channel: WorkerChannel;
  readonly #flags: AbortFlags | null;
  readonly #calls = new Map<number, PendingCall>();
  readonly #freeSlots: number[];
  #state: "starting" | "ready" | "ending" | "ended" = "starting";
  #settleStart: { resolve(taskIds: readonly string[]): void; reject(reason: unknown): void } | null = null;
  #startFailure: Error | null = null;
  #outbox: ToWorker[] = [];
  #served = 0;
  #end: Promise<void> | null = null;
  /** The error that ends the worker, where it says so itself. */
  #crash: Error | undefined;

  /** When its last call settled, in milliseconds of the pool's clock. */
  idleSince = 0;

  constructor(settings: PoolSettings, words: PoolWords, open: OpenChannel, owner: WorkerOwner, sample: string | null) {
    this.#settings = settings;
    this.#words = words;
    this.#owner = owner;
    this.#freeSlots = Array.from({ length: settings.jobsPerWorker }, (_, index) => settings.jobsPerWorker - 1 - index);
    this.started = new Promise((resolve, reject) => {
      this.#settleStart = { resolve, reject };
    });
    this.#channel = open(this);
    this.#flags = this.#channel.sharesMemory ? new AbortFlags(settings.jobsPerWorker) : null;
    const module = settings.module === null ? {} : { module: settings.module };
    const flags = this.#flags === null ? {} : { flags: this.#flags.memory };
    const text = sample === null ? {} : { sample };
    this.#channel.send([{ op: "open", worker: words.worker, ...module, ...flags, ...text }]);
    this.#watchStart();
  }

  get isStarting(): boolean {
    return this.#state === "starting";
  }

  get isBusy(): boolean {
    return this.#state === "ready" && this.#calls.size > 0;
  }

  get isIdle(): boolean {
    return this.#state === "ready" && this.#calls.size === 0;
  }

  get hasRoom(): boolean {
    return this.#state === "ready" && this.room > 0;
  }

  /** How many more calls the worker may run now, or could once it has started. */
  get room(): number {
    if (this.#state === "ending" || this.#state === "ended") return 0;
    return Math.min(this.#freeSlots.length, this.#callsLeft);
  }

  /** How many more calls the worker may get before it is replaced. */
  get #callsLeft(): number {
    const { maxJobsPerWorker } = this.#settings;
    return maxJobsPerWorker === null ? Number.POSITIVE_INFINITY : maxJobsPerWorker - this.#served;
  }

  /** Runs a call. The worker must have room. */
  run(pending: PendingCall): void {
    const { call, id } = pending;
    let text: string | null;
    try {
      text = textsOf(call).payload();
    } catch (error) {
      pending.reject(error);
      return;
    }
    if (this.#calls.size === 0) this.#channel.ref();
    this.#served++;
    pending.slot = this.#freeSlots.pop() ?? 0;
    pending.onAbort(() => this.#abort(pending));
    this.#calls.set(id, pending);
    this.#flags?.clear(pending.slot);
    call.started?.();
    const { job, attempt, fence, idempotencyKey } = call;
    const jobText = JSON.stringify(job.payload === null ? job : { ...job, payload: "" });
    this.#post({
      op: "run",
      id,
      taskId: job.taskId,
      ...(text === null ? {} : { payload: text }),
      keepsResult: job.resultExpirationMs !== 0,
      job: jobText,
      attempt,
      fence,
      idempotencyKey,
      slot: pending.slot,
    });
  }

  /** Nothing is to be done: the program may end. */
  rest(): void {
    this.#channel.unref();
  }

  /** Ends the worker at once. Calls that it still runs reject, with the reason of their abort if they were aborted.
   *  Resolves when it is gone. Idempotent. */
  end(reason: LostReason): Promise<void> {
    this.#end ??= this.#kill(reason);
    return this.#end;
  }

  onMessage(data: unknown): void {
    for (const message of fromWorker(data)) this.#receive(message);
  }

  onLost(reason: LostReason | Promise<LostReason>): void {
    if (this.#state === "ending" || this.#state === "ended") return;
    this.#state = "ending";
    this.#owner.ending(this);
    this.#end ??= this.#lose(reason);
  }

  async #lose(reason: LostReason | Promise<LostReason>): Promise<void> {
    const { message, cause } = await reason;
    const why = { message, cause: cause ?? this.#crash };
    this.#hasEnded(why, this.#served === 0 ? this.#failStart(this.#startError(why)) : null);
  }

  async #kill(reason: LostReason): Promise<void> {
    const hadStarted = this.#state !== "starting";
    this.#state = "ending";
    this.#owner.ending(this);
    await this.#channel.kill();
    this.#hasEnded(reason, hadStarted ? null : this.#failStart(this.#startError(reason)));
  }

  #hasEnded(reason: LostReason, failure: Error | null): void {
    this.#state = "ended";
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const pending of calls) {
      pending.reject(pending.isAborted ? pending.reason : this.#lostError(pending, reason));
    }
    this.#owner.ended(this, failure);
  }

  #lostError({ call }: PendingCall, { message, cause }: LostReason): WorkerLostError {
    const { id, taskId } = call.job;
    const text = `the ${this.#words.worker} that ran job ${id} of task "${taskId}" ended before the job: ${message}`;
    return new WorkerLostError(text, { cause });
  }

  #receive(message: FromWorker): void {
    switch (message.op) {
      case "ready":
        this.#hasStarted(message.taskIds);
        break;
      case "unfit":
        this.#isUnfit(message);
        break;
      case "crashed":
        this.#crash = revivedError(message.error);
        break;
      case "done":
        this.#settle(message.id, (pending) => pending.resolve(returnedValue(pending.call, message.text)));
        break;
      case "failed":
        this.#settle(message.id, (pending) => {
          if (message.isReturn) textsOf(pending.call).refused();
          pending.reject(revivedError(message.error));
        });
        break;
      case "progress":
        this.#calls.get(message.id)?.call.progress(message.fraction, message.note);
        break;
      case "log": {
        const pending = this.#calls.get(message.id);
        if (pending !== undefined) tellLog(pending.call.logger, message);
        break;
      }
      case "step":
        void this.#answerStep(message);
        break;
      case "ask":
        void this.#answer(message.id, message.about);
        break;
      default:
        message satisfies never;
    }
  }

  /** Answers a handler that asks about its job. */
  async #answer(id: number, about: AskedFact): Promise<void> {
    const pending = this.#calls.get(id);
    if (pending === undefined) return;
    let answer: AnswerMessage["answer"];
    try {
      answer = { json: JSON.stringify(await factOf(pending.call, about)) };
    } catch (error) {
      answer = { error: serializedError(error) };
    }
    if (this.#calls.get(id) === pending) this.#post({ op: "answer", id, about, answer });
  }

  /** Answers a handler that loads, saves or prepares a step. */
  async #answerStep(message: StepMessage): Promise<void> {
    const { id, number } = message;
    const pending = this.#calls.get(id);
    if (pending === undefined) return;
    let answer: SteppedMessage["answer"];
    try {
      answer = { json: JSON.stringify((await stepAnswer(pending.call, message)) ?? null) };
    } catch (error) {
      answer = { error: serializedError(error) };
    }
    if (this.#calls.get(id) === pending) this.#post({ op: "stepped", id, number, answer });
  }

  #settle(id: number, settle: (pending: PendingCall) => void): void {
    const pending = this.#calls.get(id);
    if (pending === undefined) return;
    this.#calls.delete(id);
    this.#freeSlots.push(pending.slot);
    settle(pending);
    if (this.#state !== "ready") return;
    if (this.#calls.size === 0 && this.#callsLeft <= 0) void this.end({ message: "it has run as many jobs as it may" });
    else this.#owner.freed(this);
  }

  #abort(pending: PendingCall): void {
    const { reason, graceMs } = pending;
    this.#flags?.raise(pending.slot, reason);
    this.#post({ op: "abort", id: pending.id, reason: serializedError(reason) });
    pending.killAfter(Math.min(this.#settings.abortGraceMs, graceMs), () => {
      void this.end({ message: `another job of the ${this.#words.worker} ignored its abort` });
    });
  }

  /** The messages of a turn are sent together, because each costs more than its content. But not too many, because the
   *  worker works while the next ones are made. */
  #post(message: ToWorker): void {
    this.#outbox.push(message);
    if (this.#outbox.length === 1) void TURN_END.then(() => this.#flush());
    else if (this.#outbox.length >= WORKER_MESSAGES_MAX) this.#flush();
  }

  #flush(): void {
    const messages = this.#outbox;
    if (messages.length === 0) return;
    this.#outbox = [];
    if (this.#state !== "ended") this.#channel.send(messages);
  }

  #watchStart(): void {
    const { startTimeoutMs } = this.#settings;
    const late = { message: `it was not ready within startTimeout, ${startTimeoutMs} ms` };
    const stop = startBackgroundTimer(() => void this.end(late), startTimeoutMs);
    this.started.then(stop, stop);
  }

  #hasStarted(taskIds: readonly string[]): void {
    if (this.#state !== "starting") return;
    this.#state = "ready";
    this.#settleStart?.resolve(taskIds);
    this.#settleStart = null;
  }

  #isUnfit({ message, error }: UnfitMessage): void {
    if (this.#state !== "starting") return;
    const cause = error === undefined ? undefined : { cause: revivedError(error) };
    this.#failStart(optionError(`${this.#words.executor}.open()`, "module", message, cause));
    void this.end({ message });
  }

  /** @returns why the start failed: the first reason counts */
  #failStart(error: Error): Error {
    this.#startFailure ??= error;
    this.#settleStart?.reject(this.#startFailure);
    this.#settleStart = null;
    return this.#startFailure;
  }

  #startError({ message, cause }: LostReason): WorkerLostError {
    const { executor, worker } = this.#words;
    const { module } = this.#settings;
    const which = module === null ? "that calls serveTasks()" : `with module ${module}`;
    const text = `${executor}: no ${worker} ${which} can be started: ${message}`;
    return new WorkerLostError(text, { cause });
  }
}

function returnedValue(call: JobCall, text: string | undefined): unknown {
  return text === undefined ? undefined : textsOf(call).returned(text);
}

const FACTS = {
  parents: ["getParentResults", "getParentResults()"],
  lastRun: ["getLastRun", "getLastRun()"],
  previousFireTime: ["getPreviousFireTime", "previousFireTime"],
} as const;

async function factOf(call: JobCall, about: AskedFact): Promise<unknown> {
  const [method, asked] = FACTS[about];
  const fact = call[method]?.();
  if (fact !== undefined) return fact;
  throw new SchedulerStateError(`${asked} of a handler's context: whoever runs the job cannot read it`);
}

async function stepAnswer({ steps }: JobCall, { method, step }: StepMessage): Promise<unknown> {
  if (steps === undefined) throw new SchedulerStateError("step of a handler's context: whoever runs the job has none");
  if (method === "load" || step === undefined) return steps.load();
  return method === "save" ? steps.save(step) : steps.prepare(step);
}
