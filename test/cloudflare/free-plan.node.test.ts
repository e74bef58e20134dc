import { Miniflare } from "miniflare";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IntervalTrigger } from "../../src/mod.ts";
import { Scheduler } from "../../src/scheduler.ts";
import { type D1Binding, D1DataStore, type D1Statement, schemaSql } from "../../src/stores/d1/mod.ts";

/** What the free plan of Workers has for an invocation, if each statement of a batch counts. */
const QUERIES_MAX = 50;

let miniflare: Miniflare;
let database: D1Binding & { exec(sql: string): Promise<unknown> };
let queries = 0;
beforeEach(async () => {
  miniflare = new Miniflare({
    modules: true,
    script: "export default { fetch() { return new Response(); } };",
    d1Databases: ["DB"],
  });
  database = (await miniflare.getD1Database("DB")) as unknown as typeof database;
});
afterEach(() => miniflare.dispose());

async function definitions(): Promise<unknown> {
  const sql = "SELECT sql FROM sqlite_master WHERE name LIKE 'escapement_%' ORDER BY name";
  return (await database.prepare(sql).bind().all()).results;
}

/** Runs a file as `wrangler d1 execute` does, which takes the comments out. */
async function execute(script: string): Promise<void> {
  const statements = script.replaceAll(/\/\*.*?\*\/|--[^\n]*/gs, "").split(/;\n/);
  for (const sql of statements.filter((text) => text !== "")) await database.prepare(sql).bind().all();
}

/** An invocation: a scheduler of its own, on a binding that counts. */
function invocation(): Scheduler {
  queries = 0;
  const originals = new WeakMap<D1Statement, D1Statement>();
  const counted = (original: D1Statement): D1Statement => {
    const statement: D1Statement = {
      bind: (...args) => counted(original.bind(...args)),
      all: () => {
        queries++;
        return original.all();
      },
    };
    originals.set(statement, original);
    return statement;
  };
  const binding: D1Binding = {
    prepare: (sql) => counted(database.prepare(sql)),
    batch: (statements) => {
      queries += statements.length;
      return database.batch(statements.flatMap((statement) => originals.get(statement) ?? []));
    },
  };
  const scheduler = new Scheduler({ dataStore: new D1DataStore(binding), logLevel: "silent" });
  scheduler.task("hello", () => "hello");
  return scheduler;
}

describe("the script of schemaSql()", () => {
  test("makes the tables as the store does, which then finds them", async () => {
    await execute(schemaSql());
    const made = await definitions();
    await invocation().tick();
    expect(await definitions()).toEqual(made);
    await execute(schemaSql({ tablePrefix: "other_" }));
    await invocation().tick();
  });

  test("names the function where a prefix is refused", () => {
    expect(() => schemaSql({ tablePrefix: "_cf_" })).toThrow("schemaSql(): tablePrefix");
  });
});

test("after it, the statements of an invocation fit the free plan", async () => {
  await execute(schemaSql());
  const counts: Record<string, number> = {};
  const trigger = new IntervalTrigger({ hours: 1 });
  const schedules = Array.from({ length: 25 }, (_, index) => ({ task: "hello", id: `s${index}`, trigger }));
  await invocation().addSchedules(schedules);
  counts.declaring = queries;
  const report = await invocation().tick({ maxRoundTrips: 3 });
  counts.firing = queries;
  expect([report.schedulesProcessed, report.jobsRun, report.exhausted]).toEqual([25, 1, true]);
  await invocation().addJob("hello");
  counts.adding = queries;
  for (const count of Object.values(counts)) expect([count > 1, count <= QUERIES_MAX]).toEqual([true, true]);
});
