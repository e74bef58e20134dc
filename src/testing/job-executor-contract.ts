import { silentLogger } from "../core/logger.ts";
import type { JobCall, JobExecutor } from "../executors/job-executor.ts";
import { equal, isTrue } from "./data-store-contract/assert.ts";
import { makeJob } from "./data-store-contract/makers.ts";

/** What a test runner gives to every case. */
export interface JobExecutorContext {
  /** A new executor that is not open. If it runs handlers in another place, such as a thread, that place must know the
   *  {@link jobExecutorHandlers}, each as the task with its name. */
  make(): JobExecutor | Promise<JobExecutor>;
}

/** One sentence about executors, and a function that tests the sentence. */
export interface JobExecutorCase {
  readonly name: string;
  /** Rejects with a `ContractViolation` when the executor does not keep the sentence. */
  run(context: JobExecutorContext): Promise<void>;
}

/** The handlers that the cases of the contract call, by task id. */
export const jobExecutorHandlers: Readonly<
  Record<JobExecutorTask, (payload: unknown, context: { readonly signal: AbortSignal }) => unknown>
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
  untilAborted: (_payload: unknown, { signal }: { readonly signal: AbortSignal }) => untilAborted(signal),
});

/** The ids of the tasks for which {@link jobExecutorHandlers} has handlers. */
export type JobExecutorTask = "echo" | "echoLater" | "nothing" | "throws" | "rejects" | "untilAborted";

/**
 * The contract that every `JobExecutor` keeps, as named cases for any test runner.
 *
 * ```ts
 * for (const { name, run } of jobExecutorContract) {
 *   test(name, () => run({ make: () => new InlineExecutor() }));
 * }
 * ```
 */
export const jobExecutorContract: readonly JobExecutorCase[] = Object.freeze([
  {
    name: "resolves with what the handler returns",
    run: (context: JobExecutorContext) =>
      withExecutor(context, async (executor) => {
        for (const payload of PAYLOADS) {
          equal(await executor.execute(callOf("echo", payload)), payload, "returned value");
        }
      }),
  },
  {
    name: "resolves with what the handler's promise does",
    run: (context) =>
      withExecutor(context, async (executor) => {
        for (const payload of PAYLOADS) {
          equal(await executor.execute(callOf("echoLater", payload)), payload, "resolved value");
        }
      }),
  },
  {
    name: "resolves with undefined when the handler returns nothing",
    run: (context) =>
      withExecutor(context, async (executor) => {
        isTrue((await executor.execute(callOf("nothing", null))) === undefined, "the value is undefined");
      }),
  },
  {
    name: "rejects with the name and message of what the handler throws",
    run: (context) =>
      withExecutor(context, async (executor) => {
        equal(await failureIn(executor, callOf("throws", "thrown")), ["RangeError", "thrown"], "failure");
      }),
  },
  {
    name: "rejects with the name and message of what the handler's promise does",
    run: (context) =>
      withExecutor(context, async (executor) => {
        equal(await failureIn(executor, callOf("rejects", "rejected")), ["RangeError", "rejected"], "failure");
      }),
  },
  {
    name: "runs on after a handler failed",
    run: (context) =>
      withExecutor(context, async (executor) => {
        await failureIn(executor, callOf("throws", "thrown"));
        await failureIn(executor, callOf("rejects", "rejected"));
        equal(await executor.execute(callOf("echo", 1)), 1, "returned value");
      }),
  },
  {
    name: "runs jobs side by side: each settles as its own handler does",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const numbers = Array.from({ length: 20 }, (_, index) => index);
        const results = await Promise.allSettled(
          numbers.map((number) => executor.execute(callOf(number % 2 === 0 ? "echoLater" : "rejects", number))),
        );
        const expected = numbers.map((number) => (number % 2 === 0 ? number : `failed ${number}`));
        const actual = results.map((result, index) =>
          result.status === "fulfilled" ? result.value : `failed ${index}`,
        );
        equal(actual, expected, "results");
      }),
  },
  {
    name: "a job that takes long holds up no other",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const abort = new AbortController();
        const long = executor.execute(callOf("untilAborted", null, abort.signal)).catch(() => "settled");
        equal(await executor.execute(callOf("echoLater", 2)), 2, "value of the short one");
        abort.abort();
        await long;
      }),
  },
  {
    name: "settles when its signal is aborted and the handler heeds it",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const abort = new AbortController();
        const running = executor.execute(callOf("untilAborted", null, abort.signal)).then(
          () => "resolved",
          () => "rejected",
        );
        abort.abort(new Error("enough"));
        equal(await running, "rejected", "how it settled");
      }),
  },
  {
    name: "settles when its signal was aborted before",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const call = callOf("untilAborted", null, AbortSignal.abort(new Error("too late")));
        const settled = await executor.execute(call).then(
          () => "resolved",
          () => "rejected",
        );
        equal(settled, "rejected", "how it settled");
      }),
  },
  {
    name: "an abort after the end of a job changes nothing",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const abort = new AbortController();
        equal(await executor.execute(callOf("echo", 3, abort.signal)), 3, "value");
        abort.abort();
        equal(await executor.execute(callOf("echo", 4)), 4, "value of the next");
      }),
  },
  {
    name: "opening and closing twice does no harm",
    run: (context) =>
      withExecutor(context, async (executor) => {
        await executor.open();
        equal(await executor.execute(callOf("echo", 5)), 5, "value");
        await executor.close();
        await executor.close();
        await executor[Symbol.asyncDispose]();
      }),
  },
]);

const PAYLOADS: readonly unknown[] = [0, "text", true, null, [1, [2, { three: 3 }]], { a: { b: [] }, ü: "\u{1F551}" }];

async function withExecutor(context: JobExecutorContext, use: (executor: JobExecutor) => Promise<void>): Promise<void> {
  const executor = await context.make();
  try {
    await executor.open();
    await use(executor);
  } finally {
    await executor.close();
  }
}

function callOf(
  taskId: JobExecutorTask,
  payload: unknown,
  signal: AbortSignal = new AbortController().signal,
): JobCall {
  const job = makeJob({ taskId, payload: JSON.stringify(payload) });
  return {
    job,
    payload,
    signal,
    attempt: 1,
    fence: job.fence,
    idempotencyKey: job.id,
    logger: silentLogger,
    progress: () => {},
    invoke: () => jobExecutorHandlers[taskId](payload, { signal }),
  };
}

/** Name and message of the error with which a call rejects. */
async function failureIn(executor: JobExecutor, call: JobCall): Promise<unknown[]> {
  try {
    await executor.execute(call);
  } catch (error) {
    return error instanceof Error ? [error.name, error.message] : [error];
  }
  return ["no failure"];
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
