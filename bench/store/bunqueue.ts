import { type Contestant, countdown, load } from "./contestant.ts";

interface Bunqueue {
  readonly Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: unknown): Promise<unknown>;
    addBulk(jobs: readonly { name: string; data: unknown }[]): Promise<unknown>;
    close(): unknown;
  };
  readonly Worker: new (
    name: string,
    run: (job: { data: { payload: number } }) => Promise<void>,
    options: object,
  ) => { on(event: "completed", listener: () => void): void; close(): Promise<unknown> };
}

const CONCURRENCY = 100;
const BATCH_SIZE = 1000;

export const BUNQUEUE: Contestant = {
  name: "bunqueue, Bun",
  runtime: "bun",
  server: null,
  keeps: "either",
  configuration: `embedded, on a file; as by default additions reach it with a delay of milliseconds; worker concurrency ${CONCURRENCY}, batchSize ${BATCH_SIZE}, addBulk`,
  packages: ["bunqueue"],
  open: async ({ address, name, isKept }) => {
    const { Queue, Worker } = await load<Bunqueue>(import.meta.resolve("bunqueue/client"));
    // One file for the whole process: it has one manager, which refuses a second.
    const where = { embedded: true, dataPath: `${address}/bunqueue.db` };
    const queue = new Queue(name, { ...where, defaultJobOptions: { removeOnComplete: !isKept } });
    let close = async (): Promise<unknown> => undefined;
    return {
      add: (payload) => queue.add("noop", { payload }),
      addMany: (payloads) => queue.addBulk(payloads.map((payload) => ({ name: "noop", data: { payload } }))),
      process: async (count, onRun) => {
        const { done, tick } = countdown(count);
        const worker = new Worker(name, async ({ data }) => onRun(data.payload), {
          ...where,
          concurrency: CONCURRENCY,
          batchSize: BATCH_SIZE,
          removeOnComplete: !isKept,
        });
        close = () => worker.close();
        worker.on("completed", tick);
        await done;
      },
      close: async () => {
        await close();
        await queue.close();
      },
    };
  },
};
