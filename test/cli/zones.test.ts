import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { SqliteDataStore, whyNoSqlite } from "../support/sqlite-store.ts";
import { type Called, call, folderWith } from "./support.ts";

let folder: { readonly path: string } & AsyncDisposable;
const NOW = "2026-11-27T12:00:00Z";

// A rule of Berlin at half past midnight that was paused for a week, and one that nobody ran for three days.
beforeAll(async () => {
  folder = await folderWith({});
  const clock = new VirtualClock("2026-11-20T12:00:00Z");
  const path = `${folder.path}/jobs.db`;
  const dataStore = whyNoSqlite === null ? new SqliteDataStore({ path }) : new LibsqlDataStore({ url: `file:${path}` });
  // It never starts, because heartbeats of a week take long: ticks are enough.
  await using scheduler = new Scheduler({ clock, dataStore, logLevel: "silent", timeZone: "Europe/Berlin" });
  await scheduler.schedule("early", "30 0 * * *", () => {});
  await scheduler.schedule("report", "0 9 * * *", () => {});
  await scheduler.pauseSchedule("early");
  for (const at of ["2026-11-21T09:00:00Z", "2026-11-22T09:00:00Z", "2026-11-25T09:00:00Z", NOW]) {
    await clock.advanceTo(at);
    await scheduler.tick();
  }
  await scheduler.unpauseSchedule("early", { resumeFrom: "now" });
});

afterAll(() => folder?.[Symbol.asyncDispose]());

function on(...argv: string[]): Promise<Called> {
  return call([...argv, "--store", "file:jobs.db"], { cwd: folder.path, now: NOW });
}

describe("a date without a zone is one of the rule's zone", () => {
  const made = "early: 1 job would be added, for fire times from 2026-11-24 00:30 +01:00 to 2026-11-24 00:30 +01:00";
  test.each([
    ["2026-11-24", "2026-11-25"],
    ["2026-11-24 00:00", "2026-11-25 00:00"],
    ["2026-11-24T00:30", "2026-11-24T00:30:01"],
    ["2026-11-24 00:30:00.000", "2026-11-24 00:30:00.001"],
    ["2026-11-23T23:00:00Z", "2026-11-24 23:00:00Z"],
    ["2026-11-24 00:00+01:00", "2026-11-25T01:00:00+0200"],
  ])("backfill --from %s --until %s", async (from, until) => {
    expect(await on("backfill", "early", "--from", from, "--until", until, "--dry-run")).toMatchObject({
      code: 0,
      out: [made],
    });
  });

  test.each(["2026-11-24", "2026-11-24 00:30"])("explain --at %s", async (at) => {
    const { out } = await on("explain", "early", "--at", at);
    expect(out[0]).toBe(
      "Tue 2026-11-24 00:30 +01:00 (2026-11-23T23:30:00Z) is a fire time of: At 00:30, in Europe/Berlin.",
    );
  });

  test.each([
    ["pause", "early", "--until", "2026-12-01"],
    ["pause", "early", "--until", "2026-12-01 00:00"],
    ["pause", "early", "--until", "2026-11-30T23:00:00Z"],
  ])("%s %s %s %s", async (...argv) => {
    expect((await on(...argv)).out).toEqual(["early: paused until 2026-12-01 00:00 +01:00"]);
    expect((await on("show", "early")).out.join("\n")).toContain("paused until 2026-12-01 00:00 +01:00 by ");
    expect((await on("unpause", "early", "--from", "2026-11-27 13:30")).code).toBe(0);
  });

  test("that of --tz, where a rule has none yet, and UTC where there is no rule", async () => {
    const next = await call([
      "next",
      "0 9 * * *",
      "--tz",
      "Europe/Berlin",
      "--from",
      "2026-11-24 09:00",
      "-n",
      "1",
      "--json",
    ]);
    expect(next.out.join("")).toContain("2026-11-24T09:00:00+01:00");
    const added = await on("add", "early", "--id", "once", "--at", "2027-07-01 09:00", "--tz", "Europe/Berlin");
    expect(added.out[0]).toContain("2027-07-01 07:00 +00:00");
    expect((await on("pause", "early", "--task", "--until", "2026-12-01 00:00")).out).toEqual([
      "early: paused until 2026-12-01 00:00 +00:00",
    ]);
    expect((await on("unpause", "early", "--task")).code).toBe(0);
  });

  test("no date is made of what is none", async () => {
    for (const at of ["2026-02-30", "2026-11-24 25:00", "24.11.2026", "2026-11-24Z"]) {
      const { code, err } = await on("backfill", "early", "--from", at);
      expect([code, err[0]]).toEqual([
        2,
        "error: --from must be an instant, such as 2030-01-31T09:00:00Z, or what clocks show in Europe/Berlin: " +
          `"2030-01-31 09:00"; got "${at}"`,
      ]);
    }
  });

  test("the history names the zone", async () => {
    expect((await on("history", "report")).out[0]).toMatch(/^FIRE TIME, Europe\/Berlin +VERDICT/);
  });
});

test("a backfill that finds nothing says why", async () => {
  const range = ["--from", "2026-11-23", "--until", "2026-11-26", "--dry-run"];
  expect((await on("backfill", "report", ...range)).out).toEqual([
    "report: 0 jobs would be added",
    "2 were coalesced into the run of 2026-11-25 09:00 +01:00; --include-coalesced adds jobs for them too",
    "1 ran, or has a job; --include-ran runs them once more",
  ]);
  expect((await on("backfill", "report", ...range, "--include-coalesced")).out[0]).toBe(
    "report: 2 jobs would be added, for fire times from 2026-11-23 09:00 +01:00 to 2026-11-24 09:00 +01:00",
  );
  expect((await on("backfill", "report", "--from", "2026-11-23 10:00", "--until", "2026-11-23 11:00")).out).toEqual([
    "report: 0 jobs added",
    "no fire time of the rule that has passed lies in this time",
  ]);
});
