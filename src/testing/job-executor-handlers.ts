import { NonRetryableError, SkipRun, WorkerLostError } from "../core/errors.ts";
import type { JobContext } from "../scheduler/scheduler-client.ts";

/** What the handlers of the contract of executors read of their context. */
export type JobExecutorTaskContext = Pick<
  JobContext,
  "signal" | "attempt" | "fence" | "idempotencyKey" | "progress" | "logger"
>;

/** The ids of the tasks for which {@link jobExecutorHandlers} has handlers. */
export type JobExecutorTask =
  | "echo"
  | "echoLater"
  | "nothing"
  | "throws"
  | "rejects"
  | "declines"
  | "endsForGood"
  | "skips"
  | "looksLost"
  | "tellsAttempt"
  | "progresses"
  | "logs"
  | "untilAborted";

/** The handlers that the cases of the contract call, by task id. */
export const jobExecutorHandlers: Readonly<
  Record<JobExecutorTask, (payload: unknown, context: JobExecutorTaskContext) => unknown>
> = Object.freeze({
  echo: (payload: unknown) => payload,
  echoLater: async (payload: unknown) => payload,
  nothing: () => {},
  throws: (payload: unknown) => {
    throw failureOf(payload);
  },
  rejects: async (payload: unknown) => {
    throw failureOf(payload);
  },
  declines: (payload: unknown) => {
    const last = Object.assign(new Error("in the end"), { code: "E_END" });
    throw new CardError(String(payload), { cause: new TypeError(`because of ${String(payload)}`, { cause: last }) });
  },
  endsForGood: async (payload: unknown) => {
    throw new NonRetryableError(String(payload));
  },
  skips: async (payload: unknown) => {
    throw new SkipRun(String(payload));
  },
  looksLost: (payload: unknown) => {
    throw new WorkerLostError(String(payload));
  },
  tellsAttempt: (_payload: unknown, { attempt, fence, idempotencyKey }: JobExecutorTaskContext) => ({
    attempt,
    fence,
    idempotencyKey,
  }),
  progresses: async (payload: unknown, { progress }: JobExecutorTaskContext) => {
    progress(0.25, "begun");
    if (payload === null) progress(0.75, "nearly done");
    else progress(1);
  },
  logs: async (_payload: unknown, { logger }: JobExecutorTaskContext) => {
    logger.debug("a detail");
    logger.info("begun", { step: 1 }, [2]);
    logger.warn("slow");
    logger.error("broken", new RangeError("too far"));
  },
  untilAborted: (_payload: unknown, { signal }: JobExecutorTaskContext) => untilAborted(signal),
});

/** An error of a program's own. */
class CardError extends Error {
  override readonly name = "CardError";
  readonly code = "cardDeclined";
}

function failureOf(payload: unknown): RangeError {
  return new RangeError(String(payload));
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
