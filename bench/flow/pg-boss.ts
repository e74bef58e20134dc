import { countdown, load } from "../store/contestant.ts";
import type { FlowContestant, FlowJob, FlowLimit } from "./contestant.ts";

interface Boss {
  on(event: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  insert(name: string, jobs: readonly object[]): Promise<unknown>;
  work(
    name: string,
    options: object,
    handler: (jobs: { data: { payload: number } }[]) => Promise<void>,
  ): Promise<string>;
  notifyWorker(id: string): void;
}

/** Under limits one worker asks, because several at once exceeded the limits of 12.35.0. */
const WORKERS = 4;
const KEYED_WORKERS = 1;
const BATCH_SIZE = 1000;

export const PG_BOSS: readonly FlowContestant[] = [
  contestant("pg-boss, groups", "groupConcurrency 1", {
    jobOptions: ({ key }) => ({ group: { id: key } }),
    queue: {},
    work: { groupConcurrency: 1 },
  }),
  contestant("pg-boss, singleton queue", "policy singleton with a singletonKey", {
    jobOptions: ({ key }) => ({ singletonKey: key }),
    queue: { policy: "singleton" },
    work: {},
  }),
];

interface Keyed {
  readonly jobOptions: (job: FlowJob) => object;
  readonly queue: object;
  readonly work: object;
}

function contestant(name: string, how: string, keyed: Keyed): FlowContestant {
  return {
    name,
    runtime: "node 24",
    server: "postgres",
    configuration: `PostgreSQL with its defaults, ${WORKERS} workers (under limits ${KEYED_WORKERS}) with batchSize ${BATCH_SIZE}, each notified after a batch so that none waits for its poll; ${how}`,
    packages: ["pg-boss-12"],
    kinds: ["none", "keys"],
    open: (address, queue, limit) => open(address, queue, limit, keyed),
  };
}

async function open(address: string, name: string, limit: FlowLimit, keyed: Keyed): ReturnType<FlowContestant["open"]> {
  const { PgBoss } = await load<{ PgBoss: new (options: object) => Boss }>(import.meta.resolve("pg-boss-12"));
  const boss = new PgBoss({ connectionString: address, schema: name, supervise: false, schedule: false, max: 25 });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  const isKeyed = limit.kind === "keys";
  await boss.createQueue("noop", isKeyed ? keyed.queue : {});
  return {
    addMany: (jobs) =>
      boss.insert(
        "noop",
        jobs.map((job) => ({ data: { payload: job.payload }, ...(isKeyed ? keyed.jobOptions(job) : {}) })),
      ),
    process: async (count, run) => {
      const { done, tick } = countdown(count);
      const options = { batchSize: BATCH_SIZE, pollingIntervalSeconds: 0.5, ...(isKeyed ? keyed.work : {}) };
      const ids: string[] = [];
      for (let index = 0; index < (isKeyed ? KEYED_WORKERS : WORKERS); index++) {
        const id: string = await boss.work("noop", options, async (jobs) => {
          await Promise.all(jobs.map(({ data }) => run(data.payload)));
          // The outcome of the batch is recorded after the handler has returned.
          setImmediate(() => {
            for (const each of ids) boss.notifyWorker(each);
          });
          for (const _ of jobs) tick();
        });
        ids.push(id);
      }
      await done;
    },
    close: () => boss.stop({ graceful: true, wait: true, timeout: 10_000 }),
  };
}
