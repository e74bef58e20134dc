import { NonRetryableError, SkipRun, WorkerLostError } from "../core/errors.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import type { JobCall, JobExecutor } from "../executors/job-executor.ts";
import { equal, isTrue } from "./data-store-contract/assert.ts";
import { makeJob } from "./data-store-contract/makers.ts";
import { type JobExecutorTask, jobExecutorHandlers } from "./job-executor-handlers.ts";

export { type JobExecutorTask, type JobExecutorTaskContext, jobExecutorHandlers } from "./job-executor-handlers.ts";

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
  readonly run: (context: JobExecutorContext) => Promise<void>;
}

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
    name: "rejects with the code and the causes of what the handler throws",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const error = await rejectionOf(executor.execute(callOf("declines", "no")));
        equal(factsOf(error), ["CardError", "no", "cardDeclined"], "failure");
        const { cause } = error as Error;
        equal(factsOf(cause), ["TypeError", "because of no", undefined], "its cause");
        equal(factsOf((cause as Error).cause), ["Error", "in the end", "E_END"], "the cause of its cause");
      }),
  },
  {
    name: "rejects with an error of the library of the class that the handler threw",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const error = await rejectionOf(executor.execute(callOf("endsForGood", "enough")));
        isTrue(error instanceof NonRetryableError, "it is a NonRetryableError");
        equal(factsOf(error), ["NonRetryableError", "enough", "nonRetryable"], "failure");
      }),
  },
  {
    name: "rejects with the SkipRun that the handler threw",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const error = await rejectionOf(executor.execute(callOf("skips", "nothing to do")));
        isTrue(error instanceof SkipRun, "it is a SkipRun");
        equal(factsOf(error), ["SkipRun", "nothing to do", "skipRun"], "failure");
      }),
  },
  {
    name: "does not take a WorkerLostError that a handler throws for one of its own",
    run: (context) =>
      withExecutor(context, async (executor) => {
        let isInvoked = false;
        const call = callOf("looksLost", "lost");
        const invoke = (): unknown => {
          isInvoked = true;
          return call.invoke();
        };
        const error = await rejectionOf(executor.execute({ ...call, invoke }));
        equal(factsOf(error), ["WorkerLostError", "lost", "workerLost"], "failure");
        isTrue(isInvoked || !(error instanceof WorkerLostError), "it is no WorkerLostError of the executor");
      }),
  },
  {
    name: "knows the tasks that it has handlers for once it is open, or calls those of the scheduler",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const ids = executor.taskIds;
        if (ids === undefined) return;
        const missing = Object.keys(jobExecutorHandlers).filter((id) => !ids.includes(id));
        equal(missing, [], "handlers of the contract that it has not");
        for (const taskId of ["constructor", "nobody's"]) {
          const job = makeJob({ taskId, payload: null });
          const error = await rejectionOf(executor.execute(callOf("nothing", null, { job })));
          equal((error as { code?: unknown }).code, "handlerLookup", `code of the failure of task "${taskId}"`);
        }
      }),
  },
  {
    name: "tells the handler the number, the fence and the idempotency key of its attempt",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const facts = { attempt: 3, fence: 7, idempotencyKey: "order 5" };
        equal(await executor.execute(callOf("tellsAttempt", null, facts)), facts, "what the handler was told");
      }),
  },
  {
    name: "passes on what a handler reports last as its progress before the job settles",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const reports: unknown[] = [];
        const progress = (...report: unknown[]): void => void reports.push(report);
        await executor.execute(callOf("progresses", null, { progress }));
        equal(reports.at(-1), [0.75, "nearly done"], "last report");
        await executor.execute(callOf("progresses", "no note", { progress }));
        equal((reports.at(-1) as unknown[])[0], 1, "last report without a note");
      }),
  },
  {
    name: "passes on what a handler logs, in order, with its level and its details, before the job settles",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const lines: unknown[] = [];
        const at =
          (level: keyof Logger) =>
          (...line: unknown[]): void =>
            void lines.push([level, ...line.map((part) => (part instanceof Error ? factsOf(part) : part))]);
        const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
        await executor.execute(callOf("logs", null, { logger }));
        const expected = [
          ["debug", "a detail"],
          ["info", "begun", { step: 1 }, [2]],
          ["warn", "slow"],
          ["error", "broken", ["RangeError", "too far", undefined]],
        ];
        equal(lines, expected, "lines");
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
        const long = executor.execute(callOf("untilAborted", null, { signal: abort.signal })).catch(() => "settled");
        equal(await executor.execute(callOf("echoLater", 2)), 2, "value of the short one");
        abort.abort();
        await long;
      }),
  },
  {
    name: "with a capacity, says that it can begin one less while a call runs, and tells when it can begin more",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const before = executor.capacity;
        if (before === undefined) return;
        isTrue(before > 0, "it can begin something once it is open");
        let told = 0;
        const end = executor.onCapacity?.(() => told++);
        isTrue(end !== undefined, "it has onCapacity");
        const abort = new AbortController();
        const running = executor.execute(callOf("untilAborted", null, { signal: abort.signal })).catch(() => {});
        equal(executor.capacity, before - 1, "capacity while the call runs");
        abort.abort();
        await running;
        equal([executor.capacity, told > 0], [before, true], "capacity after it, and whether that was told");
        end?.();
        told = 0;
        await executor.execute(callOf("echo", 1));
        equal(told, 0, "what is told after the end of the listening");
      }),
  },
  {
    name: "with a capacity, tells each attempt that its handler begins, and one beyond the capacity only later",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const { capacity } = executor;
        if (capacity === undefined || capacity > FILLED_MAX) return;
        const abort = new AbortController();
        const beginnings = Array.from({ length: capacity }, () => {
          const begun = new Promise<void>((started) => {
            const call = callOf("untilAborted", null, { signal: abort.signal, started });
            executor.execute(call).catch(() => {});
          });
          return begun;
        });
        await Promise.all(beginnings);
        equal(executor.capacity, 0, "capacity when so many run");
        let isStarted = false;
        const started = (): void => {
          isStarted = true;
        };
        const beyond = executor.execute(callOf("echo", "beyond", { started }));
        await executor.execute(callOf("echo", 0, { signal: AbortSignal.abort(new Error("too late")) })).catch(() => {});
        equal(isStarted, false, "whether the call beyond the capacity has begun");
        abort.abort();
        equal([await beyond, isStarted], ["beyond", true], "its value, and whether it was told to begin");
      }),
  },
  {
    name: "settles when its signal is aborted and the handler ends",
    run: (context) =>
      withExecutor(context, async (executor) => {
        const abort = new AbortController();
        const running = executor.execute(callOf("untilAborted", null, { signal: abort.signal })).then(
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
        const call = callOf("untilAborted", null, { signal: AbortSignal.abort(new Error("too late")) });
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
        equal(await executor.execute(callOf("echo", 3, { signal: abort.signal })), 3, "value");
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

/** Largest capacity that a case fills: it may start as many threads or processes. */
const FILLED_MAX = 16;

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

function callOf(taskId: JobExecutorTask, payload: unknown, facts: Partial<JobCall> = {}): JobCall {
  const job = makeJob({ taskId, payload: JSON.stringify(payload) });
  const call: JobCall = {
    job,
    payload,
    signal: new AbortController().signal,
    attempt: 1,
    fence: job.fence,
    idempotencyKey: job.id,
    logger: silentLogger,
    progress: () => {},
    invoke: () => jobExecutorHandlers[taskId](payload, call),
    ...facts,
  };
  return call;
}

/** Name and message of the error with which a call rejects. */
async function failureIn(executor: JobExecutor, call: JobCall): Promise<unknown[]> {
  return factsOf(await rejectionOf(executor.execute(call))).slice(0, 2);
}

/** What a promise rejects with. */
async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return "no failure";
}

/** Name, message and code of an error. */
function factsOf(error: unknown): unknown[] {
  return error instanceof Error ? [error.name, error.message, Reflect.get(error, "code")] : [error];
}
