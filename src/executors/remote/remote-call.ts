import { isStorable } from "../../core/text.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import { ERROR_CAUSES_MAX } from "../../records/limits.ts";
import type { SerializedError } from "../../records/serialized-error.ts";
import { JOB_STEP_NAME_LENGTH_MAX, JOB_STEP_VALUE_LENGTH_MAX } from "./limits.ts";

// What a scheduler's thread and a worker (a thread or a process of the executor's) say to each other: plain data, in
// lists, because one message costs more than its content. Each side checks what it gets, because a program may post
// messages of its own through the same channel.

/** To a worker, as its first message. */
export interface OpenMessage {
  readonly op: "open";
  /** The URL of the module that has the tasks; absent when the worker has its tasks already. */
  readonly module?: string;
  /** What the worker is called in messages: `thread`, `process` or `worker`. */
  readonly worker: string;
  /** Memory that both sides share, see `AbortFlags`; absent where there is none. */
  readonly flags?: SharedArrayBuffer;
  /** A text of the data store's serializer, which that of the worker has to read; absent for JSON. */
  readonly sample?: string;
}

/** To a worker: run a handler. */
export interface RunMessage {
  readonly op: "run";
  /** The number of the call. No two calls of an executor have the same. */
  readonly id: number;
  readonly taskId: string;
  /** The payload, as the data store's serializer writes it; absent for undefined. */
  readonly payload?: string;
  /** Whether anybody wants to know what the handler returns. */
  readonly keepsResult: boolean;
  /** The job's record as JSON, which most handlers never read. It has no payload. */
  readonly job: string;
  readonly attempt: number;
  readonly fence: number;
  readonly idempotencyKey: string;
  /** The place of the call's flag in the shared memory. No two calls of a worker have the same at a time. */
  readonly slot: number;
}

/** To a worker: the attempt is to end early. */
interface AbortMessage {
  readonly op: "abort";
  readonly id: number;
  readonly reason: SerializedError;
}

/** What a handler may ask about its job: the results of the jobs that the job came after, the last run of its schedule,
 *  or the fire time before. */
export type AskedFact = "parents" | "lastRun" | "previousFireTime";

/** To a worker: what it asked for, as JSON, or why there is no answer. */
export interface AnswerMessage {
  readonly op: "answer";
  readonly id: number;
  readonly about: AskedFact;
  readonly answer: { readonly json: string } | { readonly error: SerializedError };
}

/** To a worker: what became of a call about steps, or why it failed. */
export interface SteppedMessage {
  readonly op: "stepped";
  readonly id: number;
  /** That of the question. */
  readonly number: number;
  /** JSON of what the `StepPort` answered. */
  readonly answer: { readonly json: string } | { readonly error: SerializedError };
}

export type ToWorker = OpenMessage | RunMessage | AbortMessage | AnswerMessage | SteppedMessage;

/** From a worker, as its first message: the tasks that its module has handlers for. */
interface ReadyMessage {
  readonly op: "ready";
  readonly taskIds: readonly string[];
}

/** From a worker, as its only message: its module cannot be used. */
export interface UnfitMessage {
  readonly op: "unfit";
  /** What is wrong with the module, as the end of a sentence. */
  readonly message: string;
  readonly error?: SerializedError;
}

/** From a worker, as its last message: nobody catches this error, and the worker ends. */
interface CrashedMessage {
  readonly op: "crashed";
  readonly error: SerializedError;
}

/** From a worker: the handler returned. */
export interface DoneMessage {
  readonly op: "done";
  readonly id: number;
  /** The value, as the data store's serializer writes it; absent for undefined. */
  readonly text?: string;
}

/** From a worker: the handler threw, or returned what cannot be kept. */
export interface FailedMessage {
  readonly op: "failed";
  readonly id: number;
  readonly error: SerializedError;
  /** Whether the handler returned. */
  readonly isReturn: boolean;
}

/** From a worker: the handler said how far it is. */
interface ProgressMessage {
  readonly op: "progress";
  readonly id: number;
  readonly fraction: number;
  readonly note?: string;
}

/** From a worker: the handler logged a line. */
export interface LogMessage {
  readonly op: "log";
  readonly id: number;
  readonly level: LogMessageLevel;
  readonly message: string;
  /** What the handler logged with the line. */
  readonly details: readonly LogDetail[];
}

export type LogMessageLevel = "debug" | "info" | "warn" | "error";

/** A value that was logged: JSON, or an error. */
export type LogDetail = { readonly value: unknown } | { readonly error: SerializedError };

/** From a worker: the handler asks about its job. */
interface AskMessage {
  readonly op: "ask";
  readonly id: number;
  readonly about: AskedFact;
}

/** From a worker: the handler loads, saves or prepares a step, see `StepPort`. */
export interface StepMessage {
  readonly op: "step";
  readonly id: number;
  /** Counts the questions of a call. */
  readonly number: number;
  readonly method: "load" | "save" | "prepare";
  /** Absent to load. */
  readonly step?: JobStepRecord;
}

export type FromWorker =
  | StepMessage
  | ReadyMessage
  | UnfitMessage
  | CrashedMessage
  | DoneMessage
  | FailedMessage
  | ProgressMessage
  | LogMessage
  | AskMessage;

/** The messages of a worker that fit the protocol. Others are left out. */
export function fromWorker(data: unknown): readonly FromWorker[] {
  const messages = messagesIn(data);
  return messages.every(isFromWorker) ? (messages as readonly FromWorker[]) : messages.filter(isFromWorker);
}

/** The messages to a worker that fit the protocol. Others are left out. */
export function toWorker(data: unknown): readonly ToWorker[] {
  const messages = messagesIn(data);
  return messages.every(isToWorker) ? (messages as readonly ToWorker[]) : messages.filter(isToWorker);
}

function messagesIn(data: unknown): readonly unknown[] {
  if (typeof data !== "object" || data === null || !("escapement" in data)) return [];
  return Array.isArray(data.escapement) ? data.escapement : [];
}

function isFromWorker(message: unknown): message is FromWorker {
  if (!isRecord(message)) return false;
  const { op, id } = message;
  if (op === "ready") return Array.isArray(message.taskIds) && message.taskIds.every(isText);
  if (op === "unfit") return isText(message.message);
  if (op === "crashed") return isError(message.error);
  if (typeof id !== "number") return false;
  if (op === "done") return isTextOrAbsent(message.text);
  if (op === "ask") return isAskedFact(message.about);
  if (op === "step") return typeof message.number === "number" && isStepQuestion(message.method, message.step);
  if (op === "failed") return isError(message.error);
  if (op === "progress") return isFraction(message.fraction) && isTextOrAbsent(message.note);
  return op === "log" && isLevel(message.level) && isText(message.message) && isDetails(message.details);
}

function isToWorker(message: unknown): message is ToWorker {
  if (!isRecord(message)) return false;
  const { op, id } = message;
  if (op === "open") return isTextOrAbsent(message.module) && isText(message.worker) && isTextOrAbsent(message.sample);
  if (typeof id !== "number") return false;
  if (op === "abort") return isError(message.reason);
  if (op === "answer") return isAskedFact(message.about) && isAnswer(message.answer);
  if (op === "stepped") return typeof message.number === "number" && isAnswer(message.answer);
  if (op !== "run" || !isText(message.taskId) || !isTextOrAbsent(message.payload)) return false;
  return isText(message.job) && typeof message.slot === "number";
}

function isStepQuestion(method: unknown, step: unknown): boolean {
  if (method === "load") return true;
  if ((method !== "save" && method !== "prepare") || !isRecord(step)) return false;
  const { name, value, cursor, startedAt, endedAt, wakeAt, attempts, version } = step;
  const isWhole = (one: unknown): boolean => Number.isSafeInteger(one);
  const texts = [value, cursor].every(
    (one) => one === null || (isText(one) && one.length <= JOB_STEP_VALUE_LENGTH_MAX && isStorable(one)),
  );
  const times = [endedAt, wakeAt, version].every((one) => one === null || isWhole(one));
  const isName = isText(name) && name !== "" && name.length <= JOB_STEP_NAME_LENGTH_MAX && isStorable(name);
  return isName && texts && times && isWhole(startedAt) && isWhole(attempts);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isFraction(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || isText(value);
}

function isError(value: unknown, depth = 0): value is SerializedError {
  if (!isRecord(value) || !isText(value.name) || !isText(value.message)) return false;
  if (!isTextOrAbsent(value.stack) || !isTextOrAbsent(value.code)) return false;
  const { cause, errors = [], properties = {} } = value;
  if (!isRecord(properties) || !Array.isArray(errors)) return false;
  const below = cause === undefined ? errors : [cause, ...errors];
  return below.length === 0 || (depth < ERROR_CAUSES_MAX && below.every((one) => isError(one, depth + 1)));
}

function isAnswer(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return isText(value.json) || isError(value.error);
}

function isAskedFact(value: unknown): value is AskedFact {
  return value === "parents" || value === "lastRun" || value === "previousFireTime";
}

function isLevel(value: unknown): value is LogMessageLevel {
  return value === "debug" || value === "info" || value === "warn" || value === "error";
}

function isDetails(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((detail) => isRecord(detail) && ("value" in detail || isError(detail.error)))
  );
}
