import { type Contestant, countdown, type JobQueue, load, type QueueSettings, until } from "./contestant.ts";

interface GraphileWorker {
  readonly Logger: new (factory: () => () => void) => object;
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJob(task: string, payload: unknown): Promise<unknown>;
    addJobs(jobs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>;
    withPgClient<T>(
      work: (client: { query(sql: string): Promise<{ rows: { count: string }[] }> }) => Promise<T>,
    ): Promise<T>;
    release(): Promise<void>;
  }>;
  run(options: object): Promise<{
    readonly events: { on(event: "job:complete", listener: () => void): void };
    stop(): Promise<void>;
  }>;
}

/** What its page on performance reaches its figures with. */
const WORKER = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

export const GRAPHILE_WORKER: Contestant = contestant(
  "graphile-worker",
  "PostgreSQL with its defaults, concurrentJobs 24, maxPoolSize 25, local queue 500, completions batched, addJobs",
  WORKER,
);

/** With what it does unless it is told otherwise: one job at a time. */
export const PLAIN_GRAPHILE_WORKER: Contestant = contestant(
  "graphile-worker, defaults",
  "concurrentJobs 1, no local queue, no batches, addJobs",
  {},
);

function contestant(name: string, configuration: string, worker: object): Contestant {
  return {
    name,
    runtime: "node",
    server: "postgres",
    keeps: "never",
    configuration,
    packages: ["graphile-worker"],
    open: (settings) => open(settings, worker),
  };
}

async function open({ address, name }: QueueSettings, worker: object): Promise<JobQueue> {
  const { Logger, makeWorkerUtils, run } = await load<GraphileWorker>(import.meta.resolve("graphile-worker"));
  const logger = new Logger(() => () => {});
  const connection = { connectionString: address, schema: name, logger };
  const utils = await makeWorkerUtils({ ...connection, maxPoolSize: 25 });
  await utils.migrate();
  let close = async (): Promise<void> => {};
  return {
    add: (payload) => utils.addJob("noop", { payload }),
    addMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: "noop", payload: { payload } }))),
    process: async (count, onRun) => {
      const { done, tick } = countdown(count);
      const runner = await run({
        preset: { worker: { ...worker, ...connection } },
        noHandleSignals: true,
        taskList: {
          noop: async (data: unknown) => {
            onRun((data as { payload: number }).payload);
            tick();
          },
        },
      });
      close = () => runner.stop();
      await done;
      // Finished jobs are removed a batch at a time: it is done when the table is empty.
      await until(() =>
        utils.withPgClient(async (client) => {
          const { rows } = await client.query(`SELECT count(*) FROM ${name}._private_jobs`);
          return rows[0]?.count === "0";
        }),
      );
    },
    close: async () => {
      await close();
      await utils.release();
    },
  };
}
