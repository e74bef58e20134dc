import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { type Answer, type RouterSetup, setUpRouter } from "./support.ts";

/** A schedule that fires each hour in Berlin, whose second run fails, and which is paused over its fourth. */
async function setUpPast(): Promise<RouterSetup> {
  const setup = setUpRouter();
  const { scheduler, clock } = setup;
  let runs = 0;
  scheduler.task("report", () => {
    if (++runs === 2) throw new Error("no paper");
  });
  await setup.ask("POST /schedules", {
    ...{ id: "s", taskId: "report", by: "ada" },
    trigger: { cron: "0 * * * *", timeZone: "Europe/Berlin" },
  });
  for (let hour = 1; hour <= 5; hour++) {
    await clock.advance(hour === 1 ? "PT1H1S" : "PT1H");
    if (hour === 3) await setup.ask("POST /schedules/s/pause", { by: "bob" });
    if (hour === 4) await setup.ask("POST /schedules/s/unpause", { resumeFrom: "now", by: "cy" });
    await drain(scheduler);
  }
  return setup;
}

const told = ({ status, body }: Answer): unknown => {
  const { items, cursor } = body as { items: { fireTime: string; verdict: string }[]; cursor: string | null };
  return [status, items.map(({ fireTime, verdict }) => `${fireTime.slice(11, 13)} ${verdict}`), cursor === null];
};

const refused = ({ status, body }: Answer): unknown => {
  const { code, issues } = body as { code: string; issues?: { path: string }[] };
  return [status, code, issues?.map(({ path }) => path)];
};

describe("GET /schedules/:id/occurrences", () => {
  test("answers each fire time with what became of it, the newest first", async () => {
    const { ask } = await setUpPast();
    const all = ["05 success", "04 paused", "03 paused", "02 error", "01 success", "00 coalesced"];
    expect(told(await ask("GET /schedules/s/occurrences"))).toEqual([200, all, true]);
    const { body } = await ask("GET /schedules/s/occurrences?verdict=success&limit=1&order=oldest");
    expect(body).toEqual({
      items: [
        {
          ...{ scheduleId: "s", timeZone: "Europe/Berlin", fireTime: "2030-01-01T01:00:00Z" },
          ...{ verdict: "success", into: null },
          run: {
            ...{ jobId: expect.any(String), attempts: 1, lateness: "PT1S", runTime: "PT0S" },
            ...{ scheduledFireTime: "2030-01-01T01:00:00Z", createdAt: "2030-01-01T01:00:01Z" },
            ...{ startedAt: "2030-01-01T01:00:01Z", finishedAt: "2030-01-01T01:00:01Z" },
          },
        },
      ],
      cursor: expect.any(String),
    });
  });

  test("takes verdicts with commas or one by one, bounds and an order", async () => {
    const { ask } = await setUpPast();
    const path = "GET /schedules/s/occurrences";
    const both = [200, ["03 paused", "02 error"], true];
    const bounds = "from=2030-01-01T02:00:00Z&until=2030-01-01T03:00:00.001Z";
    expect(told(await ask(`${path}?verdict=paused,error&${bounds}`))).toEqual(both);
    expect(told(await ask(`${path}?verdict=paused&verdict=error&${bounds}`))).toEqual(both);
    expect(told(await ask(`${path}?order=oldest&${bounds}`))).toEqual([200, ["02 error", "03 paused"], true]);
  });

  test("goes on after a cursor", async () => {
    const { ask } = await setUpPast();
    const shown: string[] = [];
    let query = "?limit=2";
    for (;;) {
      const { body } = await ask(`GET /schedules/s/occurrences${query}`);
      const { items, cursor } = body as { items: { verdict: string }[]; cursor: string | null };
      shown.push(items.map(({ verdict }) => verdict).join(" "));
      if (cursor === null) break;
      query = `?limit=2&cursor=${encodeURIComponent(cursor)}`;
    }
    expect(shown.join(" ").trim()).toBe("success paused paused error success coalesced");
  });

  test.each([
    ["verdict=ran", "options", ["verdict.0"]],
    ["verdict=", "options", ["verdict.0"]],
    ["verdict=success,,error", "options", ["verdict.1"]],
    [`verdict=${"success,".repeat(99)}success`, "options", ["verdict"]],
    ["from=soon", "options", ["from"]],
    ["until=2030-13-01T00:00:00Z", "options", ["until"]],
    ["limit=1001", "options", ["limit"]],
    ["limit=0", "options", ["limit"]],
    ["order=up", "options", ["order"]],
    ["order=newest&order=newest", "options", ["order"]],
    ["cursor=at:!", "options", ["cursor"]],
    ["cursor=9007199254740993", "options", ["cursor"]],
    ["state=paused", "options", ["state"]],
  ])("refuses ?%s as a problem", async (query, code, paths) => {
    const { ask } = await setUpPast();
    expect(refused(await ask(`GET /schedules/s/occurrences?${query}`))).toEqual([400, code, paths]);
  });
});

describe("GET /schedules/:id/explain", () => {
  test.each([
    ["2030-01-01T02:00:00Z", "error", { kind: "error", name: "Error", message: "no paper", code: null }],
    ["2030-01-01T03:00:00%2B01:00", "error", { kind: "error", name: "Error", message: "no paper", code: null }],
    ["2030-01-01%2003:00", "error", { kind: "error", name: "Error", message: "no paper", code: null }],
    ["2030-01-01", "coalesced", { kind: "nobodyUp", lacks: "scheduler" }],
    ["2029-12-31", "outside", { kind: "added", by: "ada", at: "2030-01-01T00:00:00Z" }],
    ["2030-01-01T05:00", "paused", { kind: "schedulePaused", by: "bob", at: "2030-01-01T03:00:01Z" }],
    ["2030-01-02%2005:00:00", "upcoming", null],
  ])("tells of %s that it is %s, and why", async (at, verdict, cause) => {
    const { ask } = await setUpPast();
    const { status, body } = await ask(`GET /schedules/s/explain?at=${at}`);
    const { text, ...facts } = body as { text: string };
    expect([status, facts]).toMatchObject([200, { scheduleId: "s", verdict, cause }]);
    expect(text).toMatch(/\w/);
  });

  test.each([
    ["", ["at"]],
    ["?at=", ["at"]],
    ["?at=soon", ["at"]],
    ["?at=2030-02-30", ["at"]],
    ["?at=2030-01-01&at=2030-01-02", ["at"]],
    [`?at=${"2".repeat(2049)}`, ["at"]],
    ["?at=2030-01-01&timeZone=UTC", ["timeZone"]],
  ])("refuses %j as a problem", async (query, paths) => {
    const { ask } = await setUpPast();
    expect(refused(await ask(`GET /schedules/s/explain${query}`))).toEqual([400, "options", paths]);
  });
});

describe("GET /schedules/:id/changes", () => {
  test("answers who changed the schedule, when and how", async () => {
    const { ask } = await setUpPast();
    await ask("PATCH /schedules/s", { priority: 3, trigger: { every: "1h" }, by: "dee" });
    await ask("DELETE /schedules/s?by=eve");
    const { status, body } = await ask("GET /schedules/s/changes?order=oldest");
    const { items } = body as { items: { kind: string; by: string; at: string; changed: string[] }[] };
    expect([status, items.map(({ kind, by, at, changed }) => [kind, by, at.slice(11), changed])]).toEqual([
      200,
      [
        ["added", "ada", "00:00:00Z", []],
        ["paused", "bob", "03:00:01Z", []],
        ["unpaused", "cy", "04:00:01Z", []],
        ["changed", "dee", "05:00:01Z", ["trigger", "priority"]],
        ["removed", "eve", "05:00:01Z", []],
      ],
    ]);
    const { body: page } = await ask("GET /schedules/s/changes?limit=1");
    const { items: newest, cursor } = page as { items: unknown[]; cursor: string };
    expect(newest).toEqual([items.at(-1)]);
    const { body: next } = await ask(`GET /schedules/s/changes?limit=1&cursor=${cursor}`);
    expect((next as { items: unknown[] }).items).toEqual([items.at(-2)]);
  });

  test.each(["limit=1001", "cursor=x", "cursor=-1", "order=by"])("refuses ?%s as a problem", async (query) => {
    const { ask } = await setUpPast();
    expect(refused(await ask(`GET /schedules/s/changes?${query}`))).toEqual([
      400,
      "options",
      [query.replace(/=.*/, "")],
    ]);
  });

  test("tells who paused, unpaused and removed many", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    for (const id of ["a", "b"]) await scheduler.addSchedule("t", "0 9 * * *", { id, by: "cron" });
    for (const action of ["pause", "unpause", "remove"]) {
      expect((await ask("POST /schedules/bulk", { action, ids: ["a", "b", "none"], by: action })).body).toMatchObject({
        action,
        count: 2,
        refusals: [{ id: "none", code: "scheduleLookup" }],
      });
    }
    const { body } = await ask("GET /schedules/b/changes");
    expect((body as { items: { by: string }[] }).items.map(({ by }) => by)).toEqual([
      ...["remove", "unpause", "pause", "cron"],
    ]);
  });
});

test.each(["occurrences", "explain?at=2030-01-01", "changes"])(
  "GET /schedules/:id/%s of none is not found",
  async (verb) => {
    const { ask } = setUpRouter();
    expect(await ask(`GET /schedules/none/${verb}`)).toMatchObject({
      status: 404,
      body: { code: "scheduleLookup", id: "none" },
    });
  },
);
