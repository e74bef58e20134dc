// The page of the tests. Each of its cases says what it saw; whoever reads the answer knows what that must be.
import { JobTimeoutError, Scheduler } from "escapement";
import { jobExecutorContract } from "escapement/testing/contracts";
import { serveTasks, WorkerExecutor } from "escapement/worker";

const makeWorker = (script) => {
  const worker = new Worker(script, { type: "module" });
  setTimeout(() => worker.postMessage("begin"));
  return worker;
};
const makeExecutor = (options = {}, script = "/worker.js") =>
  new WorkerExecutor({ worker: () => makeWorker(script), maxWorkers: 2, ...options });

const cases = {
  async lost() {
    return withExecutor({}, async (executor) => {
      const abort = new AbortController();
      const other = outcomeOf(executor.execute(callOf("waitsForAbort", null, { signal: abort.signal })));
      const lost = [];
      for (const taskId of ["closes", "crashes"]) lost.push(await outcomeOf(executor.execute(callOf(taskId))));
      abort.abort(new Error("enough"));
      return { lost, other: await other, next: await executor.execute(callOf("echo", "next")) };
    });
  },
  async killed() {
    return withExecutor({ maxWorkers: 1, abortGrace: { milliseconds: 20 } }, async (executor) => {
      const before = await executor.execute(callOf("worker"));
      const spinning = abortedWhileRunning(executor, "spin");
      const next = executor.execute(callOf("echo", "next"));
      const results = { spinning: await spinning, next: await next };
      return { ...results, isReplaced: (await executor.execute(callOf("worker"))) !== before };
    });
  },
  async spinUntilAborted() {
    const abortGrace = { milliseconds: crossOriginIsolated ? 4999 : 20 };
    return withExecutor({ maxWorkers: 1, abortGrace }, async (executor) => {
      const before = await executor.execute(callOf("worker"));
      const spinning = await abortedWhileRunning(executor, "spinUntilAborted");
      return { spinning, isReplaced: (await executor.execute(callOf("worker"))) !== before };
    });
  },
  async aborted() {
    return withExecutor({ abortGrace: { milliseconds: 4999 } }, (executor) =>
      abortedWhileRunning(executor, "waitsForAbort"),
    );
  },
  async progress() {
    return withExecutor({}, async (executor) => {
      const reports = [];
      await executor.execute(callOf("steps", 500, { progress: (...report) => reports.push(report) }));
      return { first: reports[0], last: reports.at(-1) };
    });
  },
  async errors() {
    return withExecutor({}, async (executor) => {
      const { cause } = await executor.execute(callOf("fails")).catch((error) => error);
      const value = await outcomeOf(executor.execute(callOf("returnsFunction")));
      const payload = await outcomeOf(executor.execute({ ...callOf("echo"), payload: () => {} }));
      const scheduler = await outcomeOf(executor.execute(callOf("scheduler")));
      return { cause: String(cause), value, payload, scheduler };
    });
  },
  async renewed() {
    return withExecutor({ maxWorkers: 1, maxJobsPerWorker: 2 }, async (executor) => {
      const workers = [];
      for (let count = 0; count < 6; count++) workers.push(await executor.execute(callOf("worker")));
      return new Set(workers).size;
    });
  },
  async jobsPerWorker() {
    return withExecutor({ maxWorkers: 1, jobsPerWorker: 10 }, async (executor) => {
      const numbers = Array.from({ length: 100 }, (_, index) => index);
      const values = await Promise.all(numbers.map((number) => executor.execute(callOf("echoLater", number))));
      return { areInOrder: values.join() === numbers.join(), workers: executor.workerCount };
    });
  },
  async closed() {
    const executor = makeExecutor({ maxWorkers: 1 });
    await executor.open();
    let close;
    const isClosed = new Promise((resolve) => {
      close = () => resolve(executor.close());
    });
    const running = outcomeOf(executor.execute(callOf("spin", null, { progress: close })));
    const waiting = outcomeOf(executor.execute(callOf("echo")));
    await isClosed;
    return { running: await running, waiting: await waiting, workers: executor.workerCount };
  },
  async unfit() {
    const opened = async (script, options) => (await outcomeOf(makeExecutor(options, script).open())).error;
    return {
      missing: await opened("/missing.js"),
      noTasks: await opened("data:text/javascript,throw new Error('no database')"),
      silent: await opened("data:text/javascript,", { startTimeout: { milliseconds: 50 } }),
    };
  },
  async options() {
    const attempts = {
      module: () => new WorkerExecutor({ module: "./tasks.js" }),
      missing: () => new WorkerExecutor({}),
      none: () => new WorkerExecutor(),
      unknown: () => makeExecutor({ maxWorker: 1 }),
      page: () => serveTasks({ echo: { handler: () => {} } }),
      noTasks: () => serveTasks(5),
      noHandlers: () => serveTasks({ echo: { handler: null } }),
    };
    const messages = Object.entries(attempts).map(([name, attempt]) => [name, messageOf(attempt)]);
    return Object.fromEntries(messages);
  },
  async scheduler() {
    const workers = makeExecutor({ abortGrace: { milliseconds: 20 } });
    const scheduler = new Scheduler({ executors: { workers } });
    scheduler.task("echo", { executor: "workers" });
    scheduler.task("spin", { executor: "workers", timeout: { milliseconds: 100 } });
    scheduler.task("closes", { executor: "workers", maxRecoveries: 1 });
    await scheduler.start();
    const value = await scheduler.runJob("echo", { payload: { deep: [1] } });
    const ends = [];
    for (const id of ["spin", "closes"]) ends.push(await scheduler.runJob(id).catch(({ name }) => name));
    await scheduler.stop();
    return { value, ends, workers: workers.workerCount };
  },
};

const failures = {};
for (const { name, run } of jobExecutorContract) {
  failures[name] = await run({ make: makeExecutor }).then(
    () => null,
    (error) => String(error?.stack ?? error),
  );
}
const seen = {};
for (const [name, run] of Object.entries(cases)) seen[name] = await run().catch((error) => String(error.stack));
globalThis.answer = { failures, seen };

async function withExecutor(options, work) {
  const executor = makeExecutor(options);
  try {
    await executor.open();
    return await work(executor);
  } finally {
    await executor.close();
  }
}

/** Aborts a call once its handler has reported, so that the handler surely runs. */
function abortedWhileRunning(executor, taskId) {
  const abort = new AbortController();
  const progress = () => abort.abort(new JobTimeoutError("too long"));
  return outcomeOf(executor.execute(callOf(taskId, null, { signal: abort.signal, progress })));
}

function callOf(taskId, payload = null, facts = {}) {
  const quiet = () => {};
  return {
    job: { id: "j1", taskId, payload: null },
    payload,
    signal: new AbortController().signal,
    attempt: 1,
    fence: 1,
    idempotencyKey: "j1",
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    progress: quiet,
    invoke: quiet,
    ...facts,
  };
}

async function outcomeOf(work) {
  try {
    return { value: await work };
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
}

function messageOf(attempt) {
  try {
    return attempt();
  } catch (error) {
    return error.message;
  }
}
