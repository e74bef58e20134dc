import { countdown, load } from "../store/contestant.ts";
import type { FlowContestant } from "./contestant.ts";

interface BullMQ {
  readonly Queue: new (
    name: string,
    options: object,
  ) => {
    addBulk(jobs: readonly { name: string; data: unknown }[]): Promise<unknown>;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  };
  readonly Worker: new (
    name: string,
    run: (job: { data: number }) => Promise<void>,
    options: object,
  ) => {
    on(event: "completed", listener: () => void): void;
    on(event: "error", listener: (error: Error) => void): void;
    run(): Promise<void>;
    close(): Promise<void>;
  };
}

/** Its guide names 100 to 300 as what makes sense for short asynchronous work. */
const CONCURRENCY = 100;

/** Groups with limits of their own are part of BullMQ Pro, which costs money. */
export const BULLMQ: FlowContestant = {
  name: "BullMQ",
  runtime: "node",
  server: "redis",
  configuration: `Redis with appendonly everysec, worker concurrency ${CONCURRENCY}, limiter { max, duration: 1000 } for a rate`,
  packages: ["bullmq"],
  kinds: ["none", "rate"],
  open: async (address, name, limit) => {
    const { Queue, Worker } = await load<BullMQ>(import.meta.resolve("bullmq"));
    const { hostname, port } = new URL(address);
    const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null };
    const queue = new Queue(name, { connection, defaultJobOptions: { removeOnComplete: true, removeOnFail: true } });
    await queue.waitUntilReady();
    let close = async (): Promise<void> => {};
    return {
      addMany: (jobs) => queue.addBulk(jobs.map(({ payload }) => ({ name: "noop", data: payload }))),
      process: async (count, run) => {
        const worker = new Worker(name, ({ data }) => run(data), {
          connection,
          concurrency: CONCURRENCY,
          autorun: false,
          ...(limit.kind === "rate" ? { limiter: { max: limit.perSecond, duration: 1000 } } : {}),
        });
        close = () => worker.close();
        const { done, tick } = countdown(count);
        worker.on("completed", tick);
        worker.on("error", (error) => console.error(error));
        worker.run().catch((error: unknown) => console.error(error));
        await done;
      },
      close: async () => {
        await close();
        await queue.close();
      },
    };
  },
};
