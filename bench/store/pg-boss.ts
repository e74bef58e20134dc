import { type Contestant, countdown, load, until } from "./contestant.ts";

interface Boss {
  on(event: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object): Promise<unknown>;
  insert(jobs: readonly { name: string; data: object }[]): Promise<unknown>;
  work(
    name: string,
    options: object,
    handler: (jobs: { data: { payload: number } }[]) => Promise<void>,
  ): Promise<string>;
  notifyWorker(id: string): void;
  getQueueSize(name: string, options: object): Promise<number>;
}

const WORKERS = 4;
const BATCH_SIZE = 1000;

export const PG_BOSS: Contestant = {
  name: "pg-boss",
  runtime: "node",
  server: "postgres",
  keeps: "always",
  configuration: `PostgreSQL with its defaults, ${WORKERS} workers with batchSize ${BATCH_SIZE}, each notified after a batch so that none waits for its poll, insert`,
  packages: ["pg-boss"],
  open: async ({ address, name }) => {
    const { default: PgBoss } = await load<{ default: new (options: object) => Boss }>(import.meta.resolve("pg-boss"));
    const boss = new PgBoss({ connectionString: address, schema: name, supervise: false, schedule: false, max: 25 });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    await boss.createQueue("noop");
    return {
      add: (payload) => boss.send("noop", { payload }),
      addMany: (payloads) => boss.insert(payloads.map((payload) => ({ name: "noop", data: { payload } }))),
      process: async (count, onRun) => {
        const { done, tick } = countdown(count);
        const options = { batchSize: BATCH_SIZE, pollingIntervalSeconds: 0.5 };
        for (let index = 0; index < WORKERS; index++) {
          const id: string = await boss.work("noop", options, async (jobs) => {
            for (const { data } of jobs) {
              onRun(data.payload);
              tick();
            }
            boss.notifyWorker(id);
          });
        }
        await done;
        await until(async () => (await boss.getQueueSize("noop", { before: "completed" })) === 0);
      },
      close: () => boss.stop({ graceful: true, wait: true, timeout: 10_000 }),
    };
  },
};
