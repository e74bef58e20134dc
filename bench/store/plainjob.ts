import { type Contestant, countdown, load } from "./contestant.ts";

interface Plainjob {
  better(database: object): object;
  defineQueue(options: object): {
    add(type: string, data: unknown): unknown;
    addMany(type: string, data: readonly unknown[]): unknown;
    close(): void;
  };
  defineWorker(
    type: string,
    run: (job: { data: string }) => Promise<void>,
    options: object,
  ): { start(): Promise<void>; stop(): Promise<void> };
}

const SILENT = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };

export const PLAINJOB: Contestant = {
  name: "plainjob",
  runtime: "node",
  server: null,
  keeps: "always",
  configuration:
    "better-sqlite3 on a file, as it sets it: WAL with synchronous NORMAL; one worker, which runs one job at a time; addMany",
  packages: ["plainjob", "better-sqlite3"],
  open: async ({ address, name }) => {
    const { better, defineQueue, defineWorker } = await load<Plainjob>(import.meta.resolve("plainjob"));
    const { default: Database } = await load<{ default: new (path: string) => object }>(
      import.meta.resolve("better-sqlite3"),
    );
    const queue = defineQueue({ connection: better(new Database(`${address}/${name}.db`)), logger: SILENT });
    let close = async (): Promise<void> => {};
    return {
      add: async (payload) => queue.add("noop", payload),
      addMany: async (payloads) => queue.addMany("noop", payloads),
      process: async (count, onRun) => {
        const { done, tick } = countdown(count);
        const run = async ({ data }: { data: string }): Promise<void> => onRun(Number(JSON.parse(data)));
        const worker = defineWorker("noop", run, { queue, logger: SILENT, onCompleted: tick });
        const running = worker.start();
        close = async () => {
          await worker.stop();
          await running;
        };
        await done;
      },
      close: async () => {
        await close();
        queue.close();
      },
    };
  },
};
