import { afterAll, beforeAll, expect, test } from "vitest";
import { Platform } from "./durable-object/platform.ts";
import { CLASSES, type Counts, runStorm, WORKER } from "./durable-object/storm.ts";
import type { Run } from "./durable-object/worker.ts";

let platform: Platform;
beforeAll(async () => {
  platform = await Platform.start(WORKER, CLASSES);
});
afterAll(() => platform[Symbol.asyncDispose]());

interface Seen {
  readonly birth: string;
  readonly alarm: number | null;
  readonly now: number;
  readonly ticksToFail: number;
}

const seen = (name: string): Promise<Seen> => platform.call(`JOBS/${name}`, "seen");

/** Calls a function until what it returns fits. */
async function until<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (fits(value)) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("tmp", async () => {
  const r: Record<string, unknown> = {};
  const t = Date.now();
  r.add = await platform.call("JOBS/a", "addSchedule", "hit", "0 9 * * mon-fri", { id: "x", payload: 3 });
  r.seen = await seen("a");
  r.err = await platform.call("JOBS/a", "getSchedule", "nope").catch((e) => ({ ...e, m: e.message }));
  r.err2 = await platform.call("JOBS/a", "addSchedule", "hit", "0 9 * * mox").catch((e) => ({ ...e, m: e.message }));
  const job = await platform.call<{ id: string }>("JOBS/a", "addJob", "fails");
  r.result = await platform.call("JOBS/a", "getJobResult", job.id, { wait: true });
  console.log(JSON.stringify(r, null, 1), Date.now() - t);
  await platform.call("ROWS/a", "every", 300);
  const rows = await until(
    () => platform.call<number[]>("ROWS/a", "rowsOfFires"),
    (x) => x.length > 8,
  );
  console.log("rows", rows, await platform.call("ROWS/a", "stop"));
  const cut = await platform.call<{ id: string }>("JOBS/c", "addJob", "cut");
  await until(
    () => platform.call<Run[]>(`RECORDER/${cut.id}`, "runs"),
    (x) => x.length > 0,
  );
  console.log("cut", Date.now(), await seen("c"));
  const runs = await until(
    () => platform.call<Run[]>(`RECORDER/${cut.id}`, "runs"),
    (x) => x.length > 1,
  );
  console.log("rerun", Date.now(), runs, await seen("c"));
  const c2 = await platform.call<Counts>("JOBS/c", "counts");
  console.log(c2);
  console.log(await runStorm({ schedules: 100, spanMs: 3000 }), Date.now() - t);
});
