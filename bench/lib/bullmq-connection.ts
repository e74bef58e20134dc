import { countdown, load } from "../store/contestant.ts";

interface BullMQ {
  readonly Queue: new (name: string, options: object) => BullMQQueue;
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

interface BullMQQueue {
  add(name: string, data: unknown): Promise<unknown>;
  addBulk(jobs: readonly { name: string; data: unknown }[]): Promise<unknown>;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

/** Its guide names 100 to 300 as what makes sense for short asynchronous work. */
export const BULLMQ_CONCURRENCY = 100;

/** One queue of BullMQ, whose payloads are integers. */
export interface BullMQConnection {
  add(payload: number): Promise<unknown>;
  addMany(payloads: readonly number[]): Promise<unknown>;
  /** Resolves when `count` jobs are completed. */
  process(count: number, run: (payload: number) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** @param workerOptions of the worker, beside its concurrency */
export async function connectBullMQ(
  address: string,
  name: string,
  isKept: boolean,
  workerOptions: object = {},
): Promise<BullMQConnection> {
  const { Queue, Worker } = await load<BullMQ>(import.meta.resolve("bullmq"));
  const { hostname, port } = new URL(address);
  const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null };
  const queue = new Queue(name, { connection, defaultJobOptions: { removeOnComplete: !isKept, removeOnFail: true } });
  await queue.waitUntilReady();
  let close = async (): Promise<void> => {};
  return {
    add: (payload) => queue.add("noop", payload),
    addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: "noop", data }))),
    process: async (count, run) => {
      const options = { connection, concurrency: BULLMQ_CONCURRENCY, autorun: false, ...workerOptions };
      const worker = new Worker(name, ({ data }) => run(data), options);
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
}
