import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { jobExecutorContract } from "../../src/testing/job-executor-contract.ts";
import { ROOT, stagePackage } from "../package/stage.ts";
import { answerInChromium, bundleForBrowser } from "../support/chromium.ts";

interface Answer {
  /** What each case of the contract threw, or null. */
  readonly failures: Readonly<Record<string, string | null>>;
  /** What each case of the page saw. */
  readonly seen: Readonly<Record<string, unknown>>;
}

const UNSTARTED = "WorkerLostError: WorkerExecutor: no worker that calls serveTasks() can be started:";
const TIMED_OUT = { error: "JobTimeoutError: too long" };
/** Shared memory tells the class of the reason, and no more. */
const FLAGGED = { error: "JobTimeoutError: the job ran longer than its timeout" };

describe.each([
  ["alone with its site, which shares memory with its workers", true],
  ["like any other", false],
])("WorkerExecutor in Chromium, in a page %s:", (_, isIsolated) => {
  let answer: Answer;
  beforeAll(async () => {
    await using stage = await stagePackage();
    const [page = "", worker = ""] = await Promise.all(
      ["worker-page.js", "worker-tasks.js"].map(async (name) =>
        bundleForBrowser(await readFile(join(ROOT, "test/browser", name), "utf8"), stage.path),
      ),
    );
    answer = (await answerInChromium(page, { scripts: { "/worker.js": worker }, isIsolated })) as Answer;
  });

  test.each(jobExecutorContract.map(({ name }) => name))("keeps the contract: %s", (name) => {
    expect(answer.failures[name]).toBe(null);
  });

  test.each([
    [
      "a worker that closes itself or throws where nobody catches is lost with its job, and others go on",
      "lost",
      {
        lost: [
          {
            error:
              'WorkerLostError: the worker that ran job j1 of task "closes" ended before the job: it failed: ' +
              "Uncaught Error: it called close()",
          },
          {
            error:
              'WorkerLostError: the worker that ran job j1 of task "crashes" ended before the job: it failed: ' +
              "Uncaught TypeError: nobody catches this",
          },
        ],
        other: { error: "Error: enough" },
        next: "next",
      },
    ],
    [
      "a worker whose handler never returns is killed after its abort, and another one takes its place",
      "killed",
      { spinning: TIMED_OUT, next: "next", isReplaced: true },
    ],
    [
      "a loop that never ends a turn sees its abort where memory is shared, and is else killed",
      "spinUntilAborted",
      isIsolated ? { spinning: FLAGGED, isReplaced: false } : { spinning: TIMED_OUT, isReplaced: true },
    ],
    ["a handler that waits hears of its abort, with the reason as an error of ours", "aborted", TIMED_OUT],
    [
      "a handler reports its progress, the last report before its end",
      "progress",
      { first: [1 / 500, "step 1"], last: [1, "step 500"] },
    ],
    [
      "errors keep their causes, and say what cannot be copied and what is not there",
      "errors",
      {
        cause: "RangeError: deeper",
        value: { error: expect.stringMatching(/^SerializationError: what the handler returned cannot be stored: /) },
        payload: { error: expect.stringMatching(/^SerializationError: a value of type /) },
        scheduler: { error: expect.stringMatching(/^SchedulerStateError: scheduler of a handler's context: there is/) },
      },
    ],
    ["a worker is replaced after so many jobs", "renewed", 3],
    ["a worker runs as many jobs at a time as it may", "jobsPerWorker", { areInOrder: true, workers: 1 }],
    [
      "what runs and what waits rejects when it is closed, and no worker is left",
      "closed",
      {
        running: {
          error:
            'WorkerLostError: the worker that ran job j1 of task "spin" ended before the job: the WorkerExecutor was ' +
            "closed",
        },
        waiting: { error: 'SchedulerStateError: the WorkerExecutor of job j1 of task "echo" is not open' },
        workers: 0,
      },
    ],
    [
      "open() says why no worker can be started",
      "unfit",
      {
        missing: `${UNSTARTED} it failed: its script cannot be loaded`,
        noTasks: `${UNSTARTED} it failed: Uncaught Error: no database`,
        silent: `${UNSTARTED} it was not ready within startTimeout, 50 ms`,
      },
    ],
    [
      "wrong options and tasks are told what to do",
      "options",
      {
        module: "new WorkerExecutor(): module is for Node, Deno and Bun; in a browser, pass worker",
        missing: "new WorkerExecutor(): worker is missing; it must be a function that makes a Web Worker",
        none: "new WorkerExecutor() takes an object of options; got undefined",
        unknown: 'new WorkerExecutor(): maxWorker is no option; did you mean "maxWorkers"?',
        page: expect.stringMatching(/^serveTasks\(\) was called outside of a Web Worker: /),
        noTasks: "serveTasks(): tasks must be what defineTasks() returns; got 5",
        noHandlers: "serveTasks(): tasks has no task with a handler: pass defineTasks() some",
      },
    ],
    [
      "a scheduler's jobs run in workers, time out and are recovered",
      "scheduler",
      { value: { deep: [1] }, ends: ["JobTimeoutError", "JobAbandonedError"], workers: 0 },
    ],
  ])("%s", (_name, name, expected) => {
    expect(answer.seen[name]).toEqual(expected);
  });
});
