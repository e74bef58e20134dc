import { type Contestant, countdown, load } from "./contestant.ts";

interface BullMQ {
  readonly Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: unknown): Promise<unknown>;
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
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  };
}

/** Its guide names 100 to 300 as what makes sense for short asynchronous work. */
const CONCURRENCY = 100;

export const BULLMQ: Contestant = {
  name: "BullMQ",
  runtime: "node",
  server: "redis",
  keeps: "either",
  configuration: `Redis with appendonly everysec, worker concurrency ${CONCURRENCY}, addBulk, completed events subscribed`,
  packages: ["bullmq"],
  open: async ({ address, name, isKept }) => {
    const { Queue, Worker } = await load<BullMQ>(import.meta.resolve("bullmq"));
    const { hostname, port } = new URL(address);
    const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null };
    const queue = new Queue(name, { connection, defaultJobOptions: { removeOnComplete: !isKept, removeOnFail: true } });
    await queue.waitUntilReady();
    let close = async (): Promise<void> => {};
    return {
      add: (payload) => queue.add("noop", payload),
      addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: "noop", data }))),
      process: async (count, onRun) => {
        const worker = new Worker(name, async ({ data }) => onRun(data), {
          connection,
          concurrency: CONCURRENCY,
          autorun: false,
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
