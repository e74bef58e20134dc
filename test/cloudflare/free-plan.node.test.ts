import { readFileSync } from "node:fs";
import { Miniflare } from "miniflare";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Scheduler } from "../../src/scheduler.ts";
import { type D1Binding, D1DataStore, type D1Statement, schemaSql } from "../../src/stores/d1/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";

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
function invocation(clock?: VirtualClock): Scheduler {
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
  const scheduler = new Scheduler({ dataStore: new D1DataStore(binding), logLevel: "silent", clock });
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

/** The rows of a table of docs/edge.md: what an invocation does, and how many statements that takes. */
function documentedCounts(): Record<string, number> {
  const page = readFileSync(new URL("../../docs/edge.md", import.meta.url), "utf8");
  const [, table = ""] = /\| An invocation that \| has statements \|\n(.*?)\n\n/s.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| (.*?) \| (\d+)/gm)].map(
    ([, what = "", count]) => [what, Number(count)] as const,
  );
  return Object.fromEntries(rows);
}

test("an invocation has as many statements as docs/edge.md says", async () => {
  const clock = new VirtualClock("2026-11-28T10:00:30Z");
  const counts: Record<string, number> = {};
  const count = async (
    what: string,
    call: (scheduler: Scheduler) => Promise<unknown>,
    fails = false,
  ): Promise<void> => {
    const scheduler = invocation(clock);
    scheduler.task("work", { maxRunningJobs: null, retry: { maxAttempts: 2 } }, () => {
      if (fails) throw new Error("no");
    });
    await call(scheduler);
    counts[what] = queries;
  };
  const tick = (scheduler: Scheduler): Promise<unknown> => scheduler.tick({ maxRoundTrips: 3 });
  const schedules = Array.from({ length: 25 }, (_, index) => ({ task: "work", id: `s${index}`, trigger: "* * * * *" }));

  await count("makes the tables, and does a tick that finds nothing", tick);
  await count("declares 25 schedules by `addSchedules`", (scheduler) => scheduler.addSchedules(schedules));
  await count("declares them again", (scheduler) => scheduler.addSchedules(schedules));
  await count("does a tick that finds nothing", tick);
  await clock.advance({ minutes: 1 });
  await count("does a tick with 25 due schedules", tick);
  await clock.advance({ hours: 5 });
  await count("does such a tick five hours late", tick);
  await clock.advance({ minutes: 1 });
  await count("does a tick with 25 due schedules whose jobs fail", tick, true);
  await count("adds a job", (scheduler) => scheduler.addJob("work"));
  expect(counts).toEqual(documentedCounts());
});

test("after the script of schemaSql(), a tick on time fits the free plan, and a late one does not", async () => {
  const { "does a tick with 25 due schedules": onTime = 0, "does such a tick five hours late": late = 0 } =
    documentedCounts();
  expect([onTime <= QUERIES_MAX, late <= QUERIES_MAX]).toEqual([true, false]);
});
