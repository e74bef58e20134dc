import { describe, expect, test } from "vitest";
import { setUpRouter } from "./support.ts";

interface Preview {
  readonly items: readonly { readonly local: string; readonly clockChange: string | null }[];
  readonly skipped: readonly string[];
}

const BERLIN = "Europe/Berlin";
const BEFORE_GAP = "2027-03-27T12:00:00Z";
const BEFORE_REPEAT = "2027-10-30T12:00:00Z";
const cron = (expression: string, dst?: object) => ({
  ...{ type: "cron", version: 1, expression, timeZone: BERLIN },
  ...(dst === undefined ? {} : { dst }),
});

async function preview(trigger: object, from: string, limit: number): Promise<Preview> {
  const { body } = await setUpRouter().ask("POST /triggers/preview", { trigger, from, limit });
  return body as Preview;
}

describe("a preview of a trigger", () => {
  test("has its words, and its fire times as instants and as its clock shows them", async () => {
    const { ask } = setUpRouter();
    const trigger = { cron: "0 9 * * mon-fri", timeZone: BERLIN };
    expect(await ask("POST /triggers/preview", { trigger, limit: 2 })).toMatchObject({
      status: 200,
      body: {
        description: "At 09:00, Monday to Friday, in Europe/Berlin",
        timeZone: BERLIN,
        items: [
          { at: "2030-01-01T08:00:00Z", local: "2030-01-01T09:00:00+01:00", clockChange: null },
          { at: "2030-01-02T08:00:00Z", local: "2030-01-02T09:00:00+01:00", clockChange: null },
        ],
        skipped: [],
      },
    });
  });

  test.each([
    ["moved to the end of the gap", cron("30 2 * * *"), ["2027-03-28T03:00:00+02:00"], []],
    ["moved by the length of the gap", cron("30 2 * * *", { gap: "shift" }), ["2027-03-28T03:30:00+02:00"], []],
    ["skipped", cron("30 2 * * *", { gap: "skip" }), [], ["2027-03-28T02:30:00"]],
    ["skipped for hours", cron("15 * * * *"), [], ["2027-03-28T02:15:00"]],
    [
      "moved by the calendar",
      { type: "calendarInterval", version: 1, days: 1, hour: 2, timeZone: BERLIN },
      ["2027-03-28T03:00:00+02:00"],
      [],
    ],
    [
      "skipped by the calendar",
      { type: "calendarInterval", version: 1, days: 1, hour: 2, timeZone: BERLIN, dst: { gap: "skip" } },
      [],
      ["2027-03-28T02:00:00"],
    ],
    ["none of it for elapsed time", { every: "7h" }, [], []],
  ])("tells of a gap: %s", async (_, trigger, moved, skipped) => {
    const { items, skipped: told } = await preview(trigger, BEFORE_GAP, 20);
    expect(items.filter(({ clockChange }) => clockChange === "moved").map(({ local }) => local)).toEqual(moved);
    expect(told.filter((local) => local < "2028")).toEqual(skipped);
  });

  test.each([
    ["first", cron("30 2 * * *"), [["2027-10-31T02:30:00+02:00", "first"]]],
    ["second", cron("30 2 * * *", { overlap: "second" }), [["2027-10-31T02:30:00+01:00", "second"]]],
    [
      "both",
      cron("30 * * * *"),
      [
        ["2027-10-31T02:30:00+02:00", "first"],
        ["2027-10-31T02:30:00+01:00", "second"],
      ],
    ],
  ])("tells of a time that comes twice: %s", async (_, trigger, marked) => {
    const { items } = await preview(trigger, BEFORE_REPEAT, 20);
    expect(items.filter((item) => item.clockChange !== null).map((item) => [item.local, item.clockChange])).toEqual(
      marked,
    );
  });

  test("says from which excluded date a fire time was moved", async () => {
    const trigger = {
      ...{ type: "excluding", version: 1, trigger: cron("0 9 25 12 *"), shift: "after" },
      excluded: [{ from: "2027-12-24", until: "2027-12-26" }],
    };
    expect((await preview(trigger, "2027-12-01T00:00:00Z", 2)).items).toEqual([
      {
        ...{ at: "2027-12-27T08:00:00Z", local: "2027-12-27T09:00:00+01:00", clockChange: null, blackout: null },
        shiftedFrom: "2027-12-25T08:00:00Z",
      },
      {
        ...{ at: "2028-12-25T08:00:00Z", local: "2028-12-25T09:00:00+01:00", clockChange: null, blackout: null },
        shiftedFrom: null,
      },
    ]);
  });

  test("tells nothing of a gap before it begins", async () => {
    expect((await preview(cron("30 2 * * *", { gap: "skip" }), "2027-03-28T12:00:00Z", 2)).skipped).toEqual([]);
  });

  test("tells of a gap that leaves the rule nothing", async () => {
    const never = cron("0 30 2 28 3 * 2027", { gap: "skip" });
    expect(await preview(never, BEFORE_GAP, 2)).toMatchObject({ items: [], skipped: ["2027-03-28T02:30:00"] });
  });

  test.each([
    [{ trigger: { every: "1m" }, limit: 101 }, "limit"],
    [{ trigger: { every: "1m" }, limit: 0 }, "limit"],
    [{ trigger: { every: "1m" }, from: "noon" }, "from"],
    [{ limit: 5 }, "trigger"],
  ])("refuses %j", async (body, path) => {
    expect(await setUpRouter().ask("POST /triggers/preview", body)).toMatchObject({
      status: 422,
      body: { code: "options", issues: [{ path }] },
    });
  });

  test("refuses a rule whose search takes too long", async () => {
    const { ask } = setUpRouter();
    const trigger = {
      ...{ type: "and", version: 1 },
      triggers: [cron("0 0 * * * *"), { type: "interval", version: 1, minutes: 1, startTime: "2030-01-01T00:00:30Z" }],
    };
    expect(await ask("POST /triggers/preview", { trigger })).toMatchObject({
      status: 422,
      body: { code: "maxIterationsReached" },
    });
  });
});

describe("a preview of a schedule", () => {
  test("has the fire times of the schedule, from its next one or later", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    await ask("POST /schedules", { id: "s", taskId: "t", trigger: { cron: "30 2 * * *", timeZone: BERLIN } });
    const first = await ask("GET /schedules/s/preview?limit=1");
    const later = await ask("GET /schedules/s/preview?limit=1&from=2030-03-30T12:00:00Z");
    expect([first.body, later.body]).toMatchObject([
      { items: [{ at: "2030-01-01T01:30:00Z", clockChange: null }] },
      { items: [{ at: "2030-03-31T01:00:00Z", local: "2030-03-31T03:00:00+02:00", clockChange: "moved" }] },
    ]);
  });

  test.each(["limit=0", "limit=1001", "from=noon", "until=2031-01-01T00:00:00Z"])(
    "refuses the query %s",
    async (query) => {
      const { ask, scheduler } = setUpRouter();
      scheduler.task("t", () => {});
      await ask("POST /schedules", { id: "s", taskId: "t", trigger: { every: "1h" } });
      expect(await ask(`GET /schedules/s/preview?${query}`)).toMatchObject({ status: 400, body: { code: "options" } });
    },
  );
});
