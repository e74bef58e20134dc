import { readFile, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outputSchema } from "../../scripts/lib/output-schema.mjs";
import { COMMANDS } from "../../src/cli/specs.ts";
import { systemClock } from "../../src/core/clock.ts";
import { createRouter } from "../../src/hono/mod.ts";
import { openApiDocument } from "../../src/hono/openapi/document.ts";
import { insight } from "../../src/insight/mod.ts";
import { DateTrigger, Scheduler } from "../../src/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { type HttpServer, startServer } from "../support/http-server.ts";
import { SqliteDataStore, whyNoSqlite } from "../support/sqlite-store.ts";
import { type Called, call, folderWith, Running } from "./support.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const LOGGER = { debug() {}, info() {}, warn() {}, error() {} };
/** The line of a job that ran during the export, in place of that of a job. */
const RUNNING = '{"runningJob":{"id":"$1","taskId":"$2","scheduleId":null}}';
/** An id, a name and a message that would take a terminal over. */
const HOSTILE = "\u001b]0;owned\u0007\u009b2J\u202ex";

let folder: { readonly path: string } & AsyncDisposable;
let server: HttpServer;
let scheduler: Scheduler;
let failedJob = "";

function storeAt(name: string): DataStore {
  const path = join(folder.path, name);
  // What the command line opens on this runtime, because two SQLite libraries in one process must not share a file.
  return whyNoSqlite === null ? new SqliteDataStore({ path }) : new LibsqlDataStore({ url: `file:${path}` });
}

beforeAll(async () => {
  folder = await folderWith({ "owned.json": JSON.stringify([{ id: "bill", task: "report", trigger: "0 9 1 * *" }]) });
  const clock = new VirtualClock("2026-12-30T00:00:00Z");
  scheduler = new Scheduler({ dataStore: storeAt("jobs.db"), clock, logger: LOGGER, identity: "w-1" });
  scheduler.task("fail", { keepLogs: { lines: 10 } }, (_, { logger }) => {
    logger.warn(`the disk is ${HOSTILE}`);
    throw new Error(`disk full ${HOSTILE}`);
  });
  await scheduler.schedule("report", "30 2 * * *", { name: "Nightly report" }, () => "fine");
  await scheduler.addSchedule("fail", "0 12 * * *", { id: "fail/noon", payload: { text: HOSTILE } });
  await scheduler.addSchedule("report", "0 0 * * *", { id: `a ${HOSTILE}`, name: HOSTILE });
  await clock.advance({ days: 1 });
  await drain(scheduler);
  await clock.advance({ hours: 23 });
  await scheduler.pauseSchedule(`a ${HOSTILE}`, { by: HOSTILE, reason: HOSTILE });
  await clock.advance({ hours: 1 });
  const { items } = await scheduler.getRuns({ outcome: "error" });
  failedJob = items[0]?.id ?? "";
  const auth = { tokens: [{ token: TOKEN, scope: "write", name: "ada" }] } as const;
  const router = createRouter(scheduler, { auth, clock, logger: LOGGER, insight: insight() });
  server = await startServer((request) => router.fetch(request));
});

afterAll(async () => {
  await server?.stop();
  await scheduler?.stop();
  await folder?.[Symbol.asyncDispose]();
});

function onStore(...argv: string[]): Promise<Called> {
  return call([...argv, "--store", "file:jobs.db"], { cwd: folder.path });
}

function onRouter(...argv: string[]): Promise<Called> {
  return call([...argv, "--url", server.url], { cwd: folder.path, env: { ESCAPEMENT_TOKEN: TOKEN } });
}

describe("a command on a scheduler", () => {
  test.each([
    ["list"],
    ["list", "--paused"],
    ["list", "--search", "noon"],
    ["list", "runs", "--failed"],
    ["list", "jobs"],
    ["list", "tasks"],
    ["list", "--json"],
    ["show", "report"],
    ["show", "fail/noon", "--json"],
    ["history", "report"],
    ["history", "report", "--changes"],
    ["explain", "report", "--at", "2026-12-30 02:30"],
    ["explain", "report", "--json"],
    ["explain", "report", "--at", "2026-12-30 02:30", "--json"],
    ["forecast", "--for", "24h", "--from", "2027-01-01T00:00:00Z"],
    ["simulate", "--for", "24h", "--from", "2027-01-01T00:00:00Z"],
    ["backfill", "report", "--from", "2026-12-30T00:00:00Z", "--until", "2026-12-31T00:00:00Z", "--dry-run"],
    ["plan", "owned.json", "--owner", "billing"],
    ["show", "no-such-thing"],
    ["explain", "report"],
    ["list", "everything"],
  ])("prints the same over a store and behind a router: %s %s", async (...argv) => {
    const [here, there] = [await onStore(...argv), await onRouter(...argv)];
    expect(there).toEqual(here);
    expect([...here.out, ...here.err].length).toBeGreaterThan(0);
  });

  test("lists schedules by state, task, rule and next fire time", async () => {
    const { code, out } = await onStore("list", "--task", "report");
    expect([code, out]).toEqual([
      0,
      [
        "STATE   SCHEDULE                            TASK    RULE              NEXT",
        "paused  a %1B]0;owned%07%C2%9B2J%E2%80%AEx  report  At 00:00, in UTC  2027-01-01 00:00 +00:00",
        "active  report                              report  At 02:30, in UTC  2026-12-31 02:30 +00:00",
      ],
    ]);
  });

  test("pauses for a time from now on", async () => {
    expect(await onStore("pause", "fail/noon", "--until", "2h")).toEqual({
      ...{ code: 0, out: ["fail/noon: paused until 2027-01-01 02:00 +00:00"], err: [] },
    });
    expect((await onStore("unpause", "fail/noon")).code).toBe(0);
  });

  test("takes back what a wrong clock has moved ahead", async () => {
    const dataStore = storeAt("ahead.db");
    const clock = new VirtualClock("2036-05-01T00:00:00Z");
    const wrong = new Scheduler({ dataStore, clock, logger: LOGGER, timeZone: "UTC" });
    await wrong.schedule("monthly", "0 3 1 * *", {}, () => "fine");
    await clock.advance({ days: 40 });
    await wrong.tick();
    await wrong.schedule("added", "0 4 1 * *", {}, () => "fine");
    await wrong.stop();
    const ahead = ["--store", "file:ahead.db"];
    const warnings = async () => (await call(["doctor", ...ahead], { cwd: folder.path })).out.join("\n");
    expect(await warnings()).toContain("escapement heal");
    const healed = await call(["heal", ...ahead], { cwd: folder.path });
    expect([healed.code, healed.out]).toEqual([
      0,
      [
        expect.stringMatching(/^added: fires at 20\d\d-\d\d-01T04:00:00Z instead of 2036-07-01T04:00:00Z$/),
        expect.stringMatching(/^monthly: fires at 20\d\d-\d\d-01T03:00:00Z instead of 2036-07-01T03:00:00Z$/),
      ],
    ]);
    expect((await call(["heal", ...ahead], { cwd: folder.path })).out).toEqual([
      "no schedule has fired, or was added, in the future",
    ]);
    expect(await warnings()).not.toContain("escapement heal");
  });

  test("shows a failed job and its log", async () => {
    const shown = await onStore("show", failedJob);
    expect(shown.out).toEqual(
      expect.arrayContaining([
        "task      fail",
        "state     error",
        expect.stringMatching(/^error {5}Error: disk full /),
      ]),
    );
    const logs = await onStore("logs", failedJob);
    expect(logs.out).toEqual([expect.stringMatching(/^2026-12-31T00:00:00Z warn {2}the disk is /)]);
  });

  test.each([
    ["list"],
    ["list", "runs"],
    ["list", "--json"],
    ["show", `a ${HOSTILE}`],
    ["history", `a ${HOSTILE}`, "--changes"],
    ["explain", `a ${HOSTILE}`, "--at", "2027-01-01"],
    ["show", HOSTILE],
    ["logs", HOSTILE],
    ["list", "runs", "--failed", "--json"],
    ["export", "--include", "jobs,results"],
  ])("hands no control character of the store to the terminal: %s", async (...argv) => {
    for (const columns of [40, 80]) {
      const options = { cwd: folder.path, columns, env: { NO_COLOR: "1" } };
      const { out, err } = await call([...argv, "--store", "file:jobs.db"], options);
      const text = [...out, ...err].join("\n");
      expect(text).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}/u);
      expect(text).not.toBe("");
    }
  });

  test("fits a narrow terminal", async () => {
    const { out } = await call(["list", "--store", "file:jobs.db"], {
      cwd: folder.path,
      columns: 80,
      env: { NO_COLOR: "1" },
    });
    expect(out.filter((line) => [...line].length > 80)).toEqual([]);
  });

  test("never cuts ids and times: what else there is gives way", async () => {
    const options = { cwd: folder.path, columns: 60, env: { NO_COLOR: "1" } };
    const at = async (...argv: string[]) => (await call([...argv, "--store", "file:jobs.db"], options)).out;
    expect(await at("list", "runs", "--failed")).toEqual([
      "OUTCOME  JOB                                   TASK  STARTED",
      `error    ${failedJob}  fail  2026-12-31 00:00:00Z`,
    ]);
    const [head, , second] = await at("history", "fail/noon");
    expect(head).toBe("FIRE TIME, UTC           VERDICT  JOB");
    expect(second).toBe(`2026-12-30 12:00 +00:00  error    ${failedJob}`);
  });

  test("explains a schedule now: its next fire time, or why it has none", async () => {
    expect((await onStore("explain", "report")).out[0]).toBe(
      "Thu 2026-12-31 02:30 UTC (2026-12-31T02:30:00Z) is a fire time of: At 02:30, in UTC.",
    );
    const clock = new VirtualClock("2026-12-31T00:00:00Z");
    await using other = new Scheduler({ dataStore: storeAt("once.db"), clock, logger: LOGGER });
    await other.schedule("once", new DateTrigger("2026-12-31T00:00:00Z"), () => {});
    await drain(other);
    const once = await call(["explain", "once", "--store", "file:once.db"], { cwd: folder.path });
    expect(once.out.slice(0, 2)).toEqual([
      "once has no fire time to come. Its last one:",
      expect.stringMatching(/^Thu 2026-12-31 00:00 UTC .*is a fire time of/),
    ]);
    const paused = await onStore("explain", `a ${HOSTILE}`);
    expect(paused.out.at(-1)).toMatch(/^Advice: escapement unpause a .* lets it go on\.$/);
  });

  test("shows blackouts with their times", async () => {
    await scheduler.addBlackout("once", {
      from: "2027-02-01T00:00:00Z",
      until: "2027-02-01T02:00:00Z",
      reason: "move",
    });
    await scheduler.addBlackout("nightly", { trigger: "0 2 * * *", duration: "90m" });
    const { out } = await onStore("list", "blackouts");
    expect(out).toEqual([
      "BLACKOUT  WHEN                                             REASON",
      "nightly   At 02:00, in UTC, for 1h 30m                     -",
      "once      2027-02-01 00:00:00Z until 2027-02-01 02:00:00Z  move",
    ]);
    for (const id of ["once", "nightly"]) await scheduler.removeBlackout(id);
  });

  test("lists a schedule whose task is paused as such, with who paused the task and why", async () => {
    const at = (...argv: string[]) => call([...argv, "--store", "file:held.db"], { cwd: folder.path });
    await using other = new Scheduler({ dataStore: storeAt("held.db"), logger: LOGGER });
    for (const id of ["mail", "report"]) other.task(id, () => {});
    await other.addSchedule("mail", new DateTrigger("2027-03-01T00:00:00Z"), { id: "digest" });
    await other.addSchedule("mail", new DateTrigger("2027-03-01T00:00:00Z"), { id: "own", paused: true });
    await other.addSchedule("report", new DateTrigger("2027-03-01T00:00:00Z"), { id: "nightly" });
    await other.pauseTask("mail", { by: "grace", reason: "migration" });
    const states = async (...argv: string[]) =>
      (await at("list", ...argv)).out.slice(1).map((line) => line.split(/ {2,}/).slice(0, 2));
    const digest = ["task paused by grace: migration", "digest"];
    expect(await states("--paused")).toEqual([["paused", "own"], digest]);
    expect(await states("--paused", "--task", "report")).toEqual([]);
    expect(await states("--task", "mail")).toEqual(expect.arrayContaining([digest, ["paused", "own"]]));
    expect((await at("list", "--paused", "--limit", "1")).err.join()).toContain("and more");
    expect((await at("list", "tasks")).out.join()).toContain("paused by grace: migration");
    const json = async (...argv: string[]) => {
      const { items } = JSON.parse((await at("list", ...argv, "--json")).out.join("\n"));
      return Object.fromEntries(items.map(({ id, taskPause }: Record<string, unknown>) => [id, taskPause]));
    };
    const pause = { taskId: "mail", key: null, until: null, reason: "migration", by: "grace" };
    expect(await json()).toEqual({ digest: pause, own: pause, nightly: null });
    expect(await json("--paused")).toEqual({ digest: pause, own: pause });
    await other.addSchedule("report", new DateTrigger("2027-03-01T00:00:00Z"), { id: "acme", concurrencyKey: "acme" });
    await other.pauseTask("report", { key: "acme", by: "ada", until: "2099-01-01T00:00:00Z" });
    const keyed = { taskId: "report", key: "acme", until: "2099-01-01T00:00:00Z", reason: null, by: "ada" };
    expect(await json("--paused", "--task", "report")).toEqual({ acme: keyed });
    expect(await states("--paused", "--task", "report")).toEqual([["key acme paused by ada", "acme"]]);
    await other.unpauseTask("report", { key: "acme" });
    await other.unpauseTask("mail");
    expect(await states("--paused")).toEqual([["paused", "own"]]);
  });

  test("changes schedules, and says who did", async () => {
    const user = { cwd: folder.path, env: { USER: "grace" } };
    const at = (...argv: string[]) => call([...argv, "--store", "file:changed.db"], user);
    await using other = new Scheduler({ dataStore: storeAt("changed.db"), logger: LOGGER });
    other.task("report", () => {});
    await other.getTasks();
    await other.addJob("report", { runAt: "2030-01-01T00:00:00Z" });
    const steps = [
      await at(
        "add",
        "report",
        "0 0 9 ? * 2-6",
        "--dialect",
        "quartz",
        "--tz",
        "Europe/Berlin",
        "--label",
        "team=billing",
      ),
      await at("add", "report", "--every", "15m", "--id", "often", "--payload", '{"deep":true}'),
      await at("pause", "report", "often", "--until", "2027-02-01T00:00:00Z", "--reason", "migration"),
      await at("unpause", "often", "--from", "now"),
      await at("history", "report", "--changes"),
      await at("list", "--label", "team=billing"),
    ];
    expect(steps.map(({ err }) => err)).toEqual(steps.map(() => []));
    expect(steps.map(({ out }) => out)).toEqual([
      ["report: At 09:00, Monday to Friday, in Europe/Berlin; next 2027-01-01 09:00 +01:00"],
      ["often: Every 15 minutes; next 2027-01-01 00:00 +00:00"],
      ["report: paused until 2027-02-01 01:00 +01:00", "often: paused until 2027-02-01 00:00 +00:00"],
      ["often: goes on"],
      [
        "AT                    CHANGE  BY                    WHAT",
        "2027-01-01 00:00:00Z  paused  grace (command line)  At 09:00, Monday to Friday, in Europe/Berlin",
        "2027-01-01 00:00:00Z  added   grace (command line)  At 09:00, Monday to Friday, in Europe/Berlin",
      ],
      [expect.any(String), expect.stringMatching(/^paused {2}report/)],
    ]);
    const now = await at("now", "often");
    const job = /job (\S+)$/.exec(now.out[0] ?? "")?.[1] ?? "";
    expect((await at("cancel", job)).out).toEqual([`${job}: cancelled`]);
    expect(await at("cancel", job)).toMatchObject({ code: 1 });
    expect((await at("retry", job)).out).toEqual([`${job}: job ${job}~1`]);
    expect((await at("retry", "--failed")).out).toEqual(["0 retried, 0 skipped"]);
  });

  test("adds the schedules of a crontab once, however often it is imported", async () => {
    await using files = await folderWith({ crontab: "0 1 * * * /opt/backup.sh\n*/5 * * * * poll\n" });
    const imported = () => call(["import", "crontab", "--tz", "UTC", "--store", "file:new.db"], { cwd: files.path });
    expect(await imported()).toEqual({ code: 0, out: ["2 schedules are there now"], err: [] });
    expect(await imported()).toEqual({ code: 0, out: ["2 schedules are there now"], err: [] });
    const { out } = await call(["list", "--store", "file:new.db", "--json"], { cwd: files.path });
    const { items } = JSON.parse(out.join("\n")) as { items: { taskId: string; revision: number }[] };
    expect(items.map(({ taskId, revision }) => [taskId, revision])).toEqual([
      ["backup", items[0]?.revision],
      ["poll", items[0]?.revision],
    ]);
    await using broken = await folderWith({ crontab: "0 1 * * * fine\n99 * * * * broken\n" });
    const refused = await call(["import", "crontab", "--store", "file:new.db"], { cwd: broken.path });
    expect([refused.code, refused.err.length]).toEqual([2, 1]);
    const { out: rest } = await call(["list", "--store", "file:new.db", "--json"], { cwd: broken.path });
    expect(JSON.parse(rest.join("\n"))).toMatchObject({ items: [{ taskId: "fine" }] });
  });

  test("exports a store, and imports it into another one, twice", async () => {
    const exported = await onStore("export", "--include", "results");
    await using files = await folderWith({ "store.jsonl": `${exported.out.join("\n")}\n` });
    const imported = () => call(["import", "store.jsonl", "--store", "file:copy.db"], { cwd: files.path });
    expect((await imported()).out.slice(0, 2)).toEqual(["tasks      2 added, 0 kept", "schedules  3 added, 0 kept"]);
    expect((await imported()).out.slice(0, 2)).toEqual(["tasks      0 added, 2 kept", "schedules  0 added, 3 kept"]);
    expect((await onRouter("export")).err).toEqual(["error: an export is made of a store: give --store"]);
    expect(await readFile(join(files.path, "store.jsonl"), "utf8")).toContain("fail/noon");
  });

  test("says what an export and an import leave behind", async () => {
    const left = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/^stays behind: /, ""));
    const results = "results of jobs; --include results takes them along";
    const ledger = "what became of fire times; --include ledger takes it along";
    expect(left((await onStore("export")).err)).toEqual([results, ledger]);
    expect((await onStore("export", "--include", "jobs,results,ledger")).err).toEqual([]);
    await using files = await folderWith({ crontab: "0 1 * * * report\n" });
    const on = (...argv: string[]) => call([...argv, "--store", "file:left.db"], { cwd: files.path });
    await on("import", "crontab", "--tz", "UTC");
    const { items } = JSON.parse((await on("list", "--json")).out.join("\n")) as { items: { id: string }[] };
    for (let times = 0; times < 2; times++) await on("now", items[0]?.id ?? "");
    const jobs = "2 unfinished jobs; --include jobs takes them along";
    expect(left((await on("export")).err)).toEqual([jobs, ledger]);
    expect(left((await on("export", "--include", "ledger")).err)).toEqual([jobs]);
    const { out, err } = await on("export", "--include", "jobs,ledger");
    expect([out.length, err]).toEqual([7, []]);
    const named = out.map((line) => line.replace(/^\{"job":\{"id":"([^"]*)","taskId":"([^"]*)".*/, RUNNING));
    await writeFile(join(files.path, "left.jsonl"), `${named.join("\n")}\n`);
    const imported = await call(["import", "left.jsonl", "--store", "file:copy.db"], { cwd: files.path });
    const why = "it ran, slept or had recorded steps";
    expect(imported.err).toEqual(
      Array.from({ length: 2 }, () => expect.stringMatching(`^stays behind: job \\S+ of task report: ${why}$`)),
    );
  });

  test("plans, applies, and finds nothing to do after that", async () => {
    const argv = ["owned.json", "--owner", "billing"];
    const [first, applied, second] = [
      await onStore("plan", ...argv),
      await onRouter("apply", ...argv),
      await onStore("plan", ...argv),
    ];
    expect([first.code, applied.code, second.code]).toEqual([1, 0, 0]);
    expect(applied.out).toEqual(first.out);
    await scheduler.removeSchedule("bill");
  });

  test("has a doctor who names runs that may hang first, with a timeout as the remedy", async () => {
    const clock = new VirtualClock("2026-01-01T00:00:00Z");
    const hanging = new Scheduler({ dataStore: storeAt("hanging.db"), clock, logger: LOGGER, identity: "w-9" });
    hanging.task("hang", (_, { signal }) => clock.sleep(clock.now() + 3_600_000, signal));
    await hanging.start();
    const [first] = await hanging.addJobs([{ task: "hang" }, { task: "hang" }]);
    await clock.settle();
    const { code, out } = await call(["doctor", "--store", "file:hanging.db"], { cwd: folder.path });
    await hanging.stop({ drainTimeout: "0s" });
    const found = out.map((line) => line.replace(/ +/g, " ")).filter((line) => /^(warn|fail) hang /.test(line));
    expect(code).toBe(1);
    expect(found[0]).toMatch(
      /^warn hang job \S+ was due .* ago and still runs on w-9, jobs that wait for it: 1; if it hangs, give the task a timeout; more workers do not help$/,
    );
    expect(found[0]).toContain(first?.id);
    expect(found[1]).toMatch(/^fail hang the oldest due job waits/);
  });

  test("has a doctor who finds what nobody runs", async () => {
    const { code, out } = await onStore("doctor");
    // The store has a clock of its own, which a virtual one is far from.
    const lines = out
      .filter((line) => !/^warn +store +(the store|this host).s clock/.test(line))
      .map((line) => line.replace(/ +/g, " "));
    expect([code, lines]).toEqual([
      1,
      [
        expect.stringMatching(/^ok runtime (Node|Deno|Bun) \d/),
        expect.stringMatching(/^(ok|warn) time zones data /),
        expect.stringMatching(/^ok store answered within \d+ ms$/),
        "warn schedulers none is alive: nothing fires until one starts or ticks",
        "fail report the oldest due schedule waits for 21h 30m: report",
      ],
    ]);
    const runtime = await call(["doctor", "--runtime", "--json"], { cwd: folder.path });
    const { checks } = JSON.parse(runtime.out.join("\n")) as { checks: { verdict: string; message: string }[] };
    // It depends on the runtime whether its data knows of the changes of 2026.
    const isOld = checks.some(({ verdict, message }) => verdict === "warn" && message.includes(" is old, "));
    expect([checks.map(({ verdict }) => verdict), runtime.code]).toEqual([
      ["ok", isOld ? "warn" : "ok"],
      isOld ? 1 : 0,
    ]);
  });

  test("prints the JSON that its schema describes", async () => {
    const { $defs } = outputSchema(JSON.parse(openApiDocument) as Parameters<typeof outputSchema>[0]);
    const validators = new AjvJsonSchemaValidator();
    await using files = await folderWith({
      crontab: "30 2 * * * a\n99 * * * * b\n",
      fine: "30 2 * * * a\n",
      "store.jsonl": `${(await onStore("export")).out.join("\n")}\n`,
    });
    const range = ["--from", "2026-12-30T00:00:00Z", "--until", "2026-12-31T00:00:00Z"];
    const here = ["--store", "file:jobs.db"];
    const there = ["--store", "file:schema.db"];
    const [name, owned] = [join(files.path, "fine"), ["owned.json", "--owner", "billing"]];
    const calls: readonly (readonly string[])[] = [
      ["next", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2027-03-27T00:00:00Z"],
      ["lint", join(files.path, "crontab")],
      ["forecast", name],
      ["forecast", ...here],
      ["import", join(files.path, "crontab"), "--dry-run"],
      ["import", name, ...there],
      ["import", join(files.path, "store.jsonl"), ...there],
      ["init", "cloudflare", "--dry-run"],
      ...["schedules", "runs", "jobs", "tasks", "blackouts"].map((kind) => ["list", kind, ...here]),
      ["show", "fail/noon", ...here],
      ["show", failedJob, ...here],
      ["add", "report", "@daily", ...there],
      ["pause", "report", ...there],
      ["unpause", "report", ...there],
      ["pause", "report", "--task", ...there],
      ["unpause", "report", "--task", ...there],
      ["heal", ...there],
      ["now", "report", ...there],
      ["cancel", "nothing", ...there],
      ["retry", "--failed", ...there],
      ["backfill", "report", ...range, "--dry-run", ...here],
      ["explain", "report", ...here],
      ["explain", "fail/noon", "--at", "2026-12-30 12:00", ...here],
      ["history", "fail/noon", ...here],
      ["history", "report", "--changes", ...here],
      ["logs", failedJob, ...here],
      ["plan", ...owned, ...here],
      ["apply", ...owned, ...there],
      ["simulate", "--for", "6h", ...here],
      ["schema"],
      ["doctor", ...here],
      ["retry", failedJob, ...there],
    ];
    const failed: string[] = [];
    for (const argv of calls) {
      const { out } = await call([...argv, "--json"], { cwd: folder.path });
      const value = JSON.parse(out.join("\n")) as object;
      const isError = Object.keys(value).join() === "error";
      const command = isError ? "error" : (argv[0] ?? "");
      if (isError) failed.push(argv[0] ?? "");
      const { valid, errorMessage } = validators.getValidator({ $ref: `#/$defs/${command}`, $defs })(value);
      expect([argv, valid ? null : errorMessage]).toEqual([argv, null]);
    }
    expect(failed).toEqual(["retry"]);
    const isPage = validators.getValidator({ $ref: "#/$defs/list", $defs });
    expect(
      [
        { items: [], cursor: null },
        { items: [{}], cursor: null },
      ].map((page) => isPage(page).valid),
    ).toEqual([true, false]);
    const described = calls.map(([command]) => command);
    const others = ["tail", "export", "dashboard", "run", "crontab", "error", "mcp"];
    expect(COMMANDS.map((spec) => spec.name).filter((one) => ![...described, ...others].includes(one))).toEqual([]);
  });

  test("waits for a run, says for what, and ends with 1 where it failed", async () => {
    const argv = ["now", "fail/noon", "--wait", "--store", "file:jobs.db"];
    const running = new Running(argv, { cwd: folder.path, now: "2027-01-01T00:00:00Z" });
    const [, job] = await running.prints(/^fail\/noon: waits for the end of job (\S+); Ctrl-C ends /);
    await running.prints(/no scheduler that stays and runs jobs is alive/);
    await drain(scheduler);
    let hasEnded = false;
    void running.ended.then(() => {
      hasEnded = true;
    });
    while (!hasEnded) await running.clock.advance("1s");
    const { code, out } = await running.ended;
    expect([code, out]).toEqual([
      1,
      [`fail/noon: job ${job}: error, took 0s`, expect.stringMatching(/^Error: disk full /)],
    ]);
  });

  test("follows a store by a look each second", async () => {
    const running = new Running(["tail", "--store", "file:jobs.db"], { cwd: folder.path, now: "2027-01-01T00:00:00Z" });
    const asleep = async (): Promise<void> => {
      while (running.clock.nextWakeMs === null) await systemClock.yield();
    };
    await asleep();
    expect(running.clock.nextWakeMs).toBe(running.clock.now() + 1000);
    await scheduler.addJob("report");
    await drain(scheduler);
    await running.clock.advance("1s");
    await running.prints(/jobReleased +report .*success\n/);
    expect((await running.stop()).code).toBe(0);
  });

  test("works on the store that a config file makes, or whose URL it has", async () => {
    Object.assign(globalThis, { storeOfConfig: storeAt("jobs.db") });
    await using files = await folderWith({
      "store.mjs": "export default () => ({ store: globalThis.storeOfConfig });\n",
      "url.mjs": `export default { store: ${JSON.stringify(`file:${join(folder.path, "jobs.db")}`)} };\n`,
    });
    const listed = (config: string) => call(["list", "--config", config], { cwd: files.path });
    const { code, out } = await listed("store.mjs");
    expect([code, out.join("\n")]).toEqual([0, expect.stringMatching(/active +report/)]);
    expect((await listed("url.mjs")).out).toEqual(out);
  });

  test("prints the tables of a store", async () => {
    const { code, out } = await call(["schema", "--sql"]);
    expect([code, out.join("\n")]).toEqual([0, expect.stringMatching(/CREATE TABLE .*schedules/)]);
    expect((await call(["schema", "--postgres"])).out.join("\n")).toMatch(/CREATE TABLE "escapement"\.schedules/);
  });

  test.each([
    [["list", "--store", "file:missing.db"], 3, /^error: there is no file /],
    [["list", "--store", "jobs.db"], 2, /write file:jobs.db/],
    [
      ["list", "--store", "mysql://db"],
      2,
      /mysql:, which is no kind of store; known are file:, http:, https:, libsql:, postgres:, postgresql:/,
    ],
    [["now", "nope", "--store", "file:jobs.db"], 1, /there is no schedule "nope"; escapement list has those that/],
    [["add", "gret", "@daily", "--store", "file:jobs.db"], 1, /no task "gret" .*; escapement list tasks has those/],
    [["list", "--store", "http://127.0.0.1:9"], 3, /^error: /],
    [["list", "--store", "postgres://u:secret@127.0.0.1:9/db"], 3, /^error: .*postgres:\/\/127\.0\.0\.1:9\/db failed/],
    [["list", "--url", "http://127.0.0.1:9"], 3, /^error: /],
    [["list", "--url", "ftp://example.org"], 2, /^error: list: --url must/],
    [["list"], 2, /^error: no scheduler is named$/],
    [["list", "--store", "file:jobs.db", "--url", "http://127.0.0.1:9"], 2, /give one of them/],
    [["show", "nothing", "--store", "file:jobs.db"], 1, /^error: .*nothing/],
    [["pause", "report", "--until", "yesterday", "--store", "file:jobs.db"], 2, /^error: --until must be an instant/],
    [["add", "unknown", "@daily", "--store", "file:jobs.db"], 1, /^error: .*unknown/],
    [["add", "report", "@daily", "--payload", "{", "--store", "file:jobs.db"], 2, /--payload must be JSON/],
    [["plan", "owned.json", "--store", "file:jobs.db"], 2, /--owner/],
    [["unpause", "report", "--from", "monday", "--store", "file:jobs.db"], 2, /^error: --from must be/],
    [
      ["backfill", "report", "--from", "2026-01-01T00:00:00Z", "--store", "file:jobs.db"],
      2,
      /^error: backfill: --from takes in .* begin with --from "2026-12-30T00:00:00Z", or write --include-unrecorded/,
    ],
    [["simulate", "--down", "a/b", "--store", "file:jobs.db"], 2, /^error: --down must be an instant/],
    [
      ["simulate", "--slow", "2027-01-02/2027-01-01", "--store", "file:jobs.db"],
      2,
      /^error: --slow must be FROM\/UNTIL/,
    ],
    [["export", "--include", "secrets", "--store", "file:jobs.db"], 2, /^error: export: --include must be "jobs"/],
  ] as const)("ends %j with %i", async (argv, code, message) => {
    const called = await call(argv, { cwd: folder.path });
    expect([called.code, called.err[0]]).toEqual([code, expect.stringMatching(message)]);
  });

  test.each([
    [["list", "--failed"], "--failed does not go with list schedules; escapement list runs has it"],
    [["list", "runs", "--paused"], "--paused does not go with list runs; escapement list schedules has it"],
    [["list", "jobs", "--failed"], "--failed does not go with list jobs; escapement list runs has it"],
    [
      ["list", "tasks", "--search", "a"],
      "--search does not go with list tasks; escapement list schedules, escapement list runs, escapement list jobs have it",
    ],
    [["list", "blackouts", "--limit", "5"], expect.stringMatching(/^--limit does not go with list blackouts/)],
    [["retry", "a", "--since", "24h"], "--since does not go with ids of jobs; escapement retry --failed has it"],
    [["retry", "--failed", "--restart"], "--restart does not go with --failed; escapement retry JOB has it"],
    [["unpause", "report", "--task", "--from", "now"], expect.stringMatching(/^--from does not go with --task/)],
    [["add", "report", "--every", "15m", "--tz", "UTC"], "--tz does not go with --every; a rule has it"],
    [["forecast", "--system"], "--system does not go with a scheduler; escapement forecast FILE has it"],
    [["forecast", "--user"], "--user does not go with a scheduler; escapement forecast FILE has it"],
    [["forecast", "crontab"], "--store does not go with a file"],
    [["doctor", "--runtime"], "--store does not go with --runtime"],
    [["run", "tasks.ts", "--once", "--ui"], "--ui does not go with --once"],
    [["run", "tasks.ts", "--once", "--stop-timeout", "5s"], "--stop-timeout does not go with --once"],
    [["run", "a.ts", "--token", "x"], "--token does not go with a run without a page; --ui and --port serve one"],
    [["crontab", "a", "--host", "::"], "--host does not go with a crontab without a page; --port serves one"],
    [["crontab", "a", "--token", "x"], "--token does not go with a crontab without a page; --port serves one"],
  ])("refuses an option that does not apply, and names who has it: %j", async (argv, message) => {
    const { code, err } = await onStore(...argv);
    expect([code, err[0]?.replace(/^error: /, "")]).toEqual([2, message]);
  });

  // Each with the words of its example.
  test.each(
    COMMANDS.filter(({ name, on }) => on !== "nothing" && name !== "dashboard").map(({ name, example }) => [
      name,
      (example.split(/ --store| --url|\n/)[0] ?? "").replaceAll(/--dry-run| (?=crontab)/g, " "),
    ]),
  )("%s refuses a token that no router gets", async (_, example) => {
    const words = [...example.matchAll(/'([^']*)'|(\S+)/g)].slice(1).map(([word, quoted]) => quoted ?? word);
    const argv =
      words[0] === "forecast" ? ["forecast"] : words.map((word) => (/json$/.test(word) ? "owned.json" : word));
    await writeFile(join(folder.path, "crontab"), "0 3 * * * backup\n");
    const { code, err } = await onStore(...argv, "--token", "x");
    expect([code, err]).toEqual([2, ["error: --token does not go with --store; the router of --url takes it"]]);
  });

  test("refuses a token beside a module, which has its own", async () => {
    await using other = await folderWith({ "escapement.config.mjs": 'export default { store: "file:jobs.db" };' });
    const { code, err } = await call(["list", "--token", "x"], { cwd: other.path });
    expect([code, err]).toEqual([2, ["error: --token does not go with a module; the router of --url takes it"]]);
  });

  test("names the user of the operating system for a change, where the environment names none", async () => {
    await onStore("pause", "report");
    await onStore("unpause", "report");
    const { out } = await onStore("history", "report", "--changes", "--limit", "1");
    expect(out[1]).toContain(`unpaused  ${userInfo().username} (command line)`);
  });

  test("is refused behind a router without its token", async () => {
    const called = await call(["list", "--url", server.url], { cwd: folder.path });
    expect([called.code, called.out]).toEqual([2, []]);
    expect(called.err[0]).toContain("give --token, a token that the router knows");
  });
});
