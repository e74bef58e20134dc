import type { ErrorFacts } from "../../core/error-of-code.ts";
import { ERROR_CAUSES_MAX } from "../../core/limits.ts";
import type { SerializedError } from "../../records/serialized-error.ts";
import type { SentResult } from "./parent-results.ts";

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
}

/** To a worker: run a handler. */
export interface RunMessage {
  readonly op: "run";
  /** The number of the call. No two calls of an executor have the same. */
  readonly id: number;
  readonly taskId: string;
  readonly payload: unknown;
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

/** To a worker: the results that it asked for, or why there are none. */
export interface ParentsMessage {
  readonly op: "parents";
  readonly id: number;
  readonly answer: { readonly results: readonly (SentResult | null)[] } | { readonly error: SerializedError };
}

export type ToWorker = OpenMessage | RunMessage | AbortMessage | ParentsMessage;

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

/** From a worker: the handler returned. */
export interface DoneMessage {
  readonly op: "done";
  readonly id: number;
  readonly value: unknown;
}

/** From a worker: the handler threw. */
export interface FailedMessage {
  readonly op: "failed";
  readonly id: number;
  readonly error: SerializedError;
  /** What an error of ours has beside; absent for other errors. */
  readonly facts?: ErrorFacts;
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
  /** What the handler logged with the line: JSON, or an error. */
  readonly details: readonly LogDetail[];
}

export type LogMessageLevel = "debug" | "info" | "warn" | "error";

/** A value that was logged. */
export type LogDetail = { readonly value: unknown } | { readonly error: SerializedError };

/** From a worker: the handler asks for the results of the jobs that its job came after. */
interface AskParentsMessage {
  readonly op: "askParents";
  readonly id: number;
}

export type FromWorker =
  | ReadyMessage
  | UnfitMessage
  | DoneMessage
  | FailedMessage
  | ProgressMessage
  | LogMessage
  | AskParentsMessage;

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
  if (typeof id !== "number") return false;
  if (op === "done" || op === "askParents") return true;
  if (op === "failed") return isError(message.error);
  if (op === "progress") return isFraction(message.fraction) && isTextOrAbsent(message.note);
  return op === "log" && isLevel(message.level) && isText(message.message) && isDetails(message.details);
}

function isToWorker(message: unknown): message is ToWorker {
  if (!isRecord(message)) return false;
  const { op, id } = message;
  if (op === "open") return isTextOrAbsent(message.module) && isText(message.worker);
  if (typeof id !== "number") return false;
  if (op === "abort") return isError(message.reason);
  if (op === "parents") return isAnswer(message.answer);
  return op === "run" && isText(message.taskId) && isText(message.job) && typeof message.slot === "number";
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
  return value.cause === undefined || (depth < ERROR_CAUSES_MAX && isError(value.cause, depth + 1));
}

function isAnswer(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return Array.isArray(value.results) ? value.results.every(isResult) : isError(value.error);
}

function isResult(value: unknown): boolean {
  return value === null || (isRecord(value) && isText(value.record) && Array.isArray(value.values));
}

function isLevel(value: unknown): value is LogMessageLevel {
  return value === "debug" || value === "info" || value === "warn" || value === "error";
}

function isDetails(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((detail) => isRecord(detail) && ("value" in detail || isError(detail.error)))
  );
}
