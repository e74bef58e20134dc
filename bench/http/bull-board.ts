import { load } from "../store/contestant.ts";
import type { Served } from "./contestants.ts";
import { LENGTH, payloadOf, TASK } from "./rows.ts";

interface Queue {
  obliterate(options: object): Promise<unknown>;
  addBulk(jobs: readonly object[]): Promise<unknown>;
  upsertJobScheduler(id: string, rule: object, template: object): Promise<unknown>;
  drain(delayed: boolean): Promise<unknown>;
}

interface Adapter {
  setBasePath(path: string): Adapter;
  registerPlugin(): { fetch(request: Request): Response | Promise<Response> };
}

/** bull-board's Hono adapter over a queue of BullMQ, with as many schedulers and jobs as Escapement has. Its job
 *  schedulers also keep a delayed job each. @param address of Redis */
export async function bullBoard(address: string): Promise<Served> {
  const { Queue } = await load<{ Queue: new (name: string, options: object) => Queue }>(import.meta.resolve("bullmq"));
  const { createBullBoard } = await load<{ createBullBoard: (options: object) => void }>(
    import.meta.resolve("@bull-board/api"),
  );
  const { BullMQAdapter } = await load<{ BullMQAdapter: new (queue: Queue) => object }>(
    import.meta.resolve("@bull-board/api/bullMQAdapter"),
  );
  const { HonoAdapter } = await load<{ HonoAdapter: new (serveStatic: () => unknown) => Adapter }>(
    import.meta.resolve("@bull-board/hono"),
  );
  const { hostname, port } = new URL(address);
  const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null };
  const queue = new Queue(TASK, { connection });
  await queue.obliterate({ force: true });
  for (let index = 0; index < LENGTH; index++) {
    const rule = { pattern: `${index % 60} ${index % 24} * * *`, tz: "Europe/Berlin" };
    await queue.upsertJobScheduler(`s${index}`, rule, { name: TASK, data: payloadOf(index) });
  }
  await queue.addBulk(Array.from({ length: LENGTH }, (_, index) => ({ name: TASK, data: payloadOf(index) })));
  // Its page is not asked for, so that no files are served.
  const serverAdapter = new HonoAdapter(() => () => new Response(null, { status: 404 }));
  createBullBoard({ queues: [new BullMQAdapter(queue)], serverAdapter });
  const board = serverAdapter.setBasePath("/").registerPlugin();
  return { fetch: (request) => board.fetch(request), publish: async () => {} };
}
