import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { forecast, insight } from "../../src/insight/mod.ts";
import { CronTrigger, DateTrigger, IntervalTrigger, OptionsError, type Trigger } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { setUpBehindRouter } from "../client/support.ts";
import { setUpRouter } from "../hono/support.ts";
import { rejectionOf, setUp } from "../scheduler/support.ts";

const FROM = "2030-01-01T00:00:00Z";
const DAY = { from: FROM, until: "2030-01-02T00:00:00Z" };

function cron(text: string): Trigger {
  return CronTrigger.fromCrontab(text, { timeZone: "UTC" });
}

function listOf(...triggers: readonly Trigger[]) {
  return triggers.map((trigger, index) => ({ id: `s${index}`, taskId: "t", trigger }));
}

describe("a forecast", () => {
  test("counts each fire time in the bucket from whose beginning it is, and none at the end", async () => {
    const rules = listOf(cron("0 * * * *"), new DateTrigger("2030-01-02T00:00:00Z"), new DateTrigger(FROM));
    const { total, buckets, busiest, emptier } = await forecast(rules, { ...DAY, bucket: "1h" });
    expect([total, buckets.length]).toEqual([25, 24]);
    expect(buckets.map(({ fires }) => fires)).toEqual([2, ...Array(23).fill(1)]);
    expect(buckets.slice(0, 2).map(({ from }) => String(from))).toEqual([FROM, "2030-01-01T01:00:00Z"]);
    expect([busiest, emptier]).toEqual([buckets[0], buckets[1]]);
  });

  test("names no emptier bucket where none has fewer fires, and none at all where nothing fires", async () => {
    const even = await forecast(listOf(cron("* * * * *")), DAY);
    expect([even.busiest?.fires, even.emptier]).toEqual([1, null]);
    const none = await forecast([], DAY);
    expect(none).toMatchObject({ total: 0, busiest: null, emptier: null, text: "Nothing fires." });
    expect(none.buckets.length).toBe(1440);
  });

  test("says the busiest bucket and an emptier one in words", async () => {
    const herd = Array.from({ length: 1200 }, () => cron("0 9 * * *"));
    const { text } = await forecast(listOf(...herd, cron("1 9 * * *")), DAY);
    expect(text).toBe(
      "Busiest: 2030-01-01 09:00 UTC, 1,200 fires in one minute, of 1,201 in all. 2030-01-01 08:59 UTC has 0 fires.",
    );
  });

  test("expects as many running jobs as run times say", async () => {
    const schedules = [
      { id: "a", taskId: "t", trigger: cron("* * * * *"), runTime: "90s" },
      { id: "b", taskId: "u", trigger: cron("0 0 * * *"), runTime: { minutes: 3 } },
      { id: "c", taskId: "u", trigger: cron("0 0 * * *") },
    ];
    const { buckets } = await forecast(schedules, { ...DAY, until: "2030-01-01T00:05:00Z" });
    expect(buckets.map(({ expectedRunning }) => expectedRunning)).toEqual([2, 2.5, 2.5, 1.5, 1.5]);
  });

  test("is what asking each rule gives, whatever the rules and buckets are", async () => {
    const rule = fc.oneof(
      fc.constantFrom("* * * * *", "*/7 * * * *", "0 9 * * *", "30 2 29 2 *", "*/10 * * * * *").map(cron),
      fc.integer({ min: 1, max: 5000 }).map((seconds) => new IntervalTrigger({ seconds, startTime: FROM })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(rule, { maxLength: 8 }), fc.integer({ min: 7, max: 7200 }), async (rules, seconds) => {
        const until = "2030-01-01T03:00:00Z";
        const { buckets } = await forecast(listOf(...rules), { from: FROM, until, bucket: { seconds } });
        const expected = Array(Math.ceil(10_800 / seconds)).fill(0);
        const start = Date.parse(FROM);
        for (const trigger of rules) {
          for (let at = trigger.nextMs(start - 1); at !== null && at < Date.parse(until); at = trigger.nextMs(at)) {
            expected[Math.floor((at - start) / (seconds * 1000))]++;
          }
        }
        expect(buckets.map(({ fires }) => fires)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test.each<[unknown, object, string]>([
    [[], { from: FROM, until: FROM }, "until"],
    [[], { ...DAY, bucket: "1s" }, "bucket"],
    [[], { ...DAY, bucket: 60 }, "bucket"],
    [[], { ...DAY, buckets: 3 }, "buckets"],
    [[{ id: "a", taskId: "t", trigger: 5 }], DAY, "trigger"],
    ["scheduler", DAY, ""],
    [
      Array.from({ length: 120 }, (_, day) => ({ id: "a", taskId: "t", trigger: cron(`* * * * * ${day % 7}`) })).map(
        (one, index) => ({ ...one, trigger: new IntervalTrigger({ milliseconds: 500 + index, startTime: FROM }) }),
      ),
      DAY,
      "until",
    ],
  ])("of %j with %j is refused", async (source, options, path) => {
    const error = await rejectionOf(forecast(source as [], options));
    expect(error).toBeInstanceOf(OptionsError);
    expect((error as OptionsError).issues[0]?.path).toBe(path);
  });
});

describe("a forecast of a scheduler", () => {
  test("has its active schedules from their next fire times on, and the run times of their last runs", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("slow", async () => {
      await clock.advance("PT30S");
    });
    await scheduler.addJob("slow");
    await drain(scheduler);
    for (const id of ["a", "b", "paused"]) await scheduler.addSchedule("slow", "0 * * * *", { id });
    await scheduler.pauseSchedule("paused");
    await scheduler.updateSchedule("b", { nextFireTime: "2030-01-01T02:00:00Z" });
    const { buckets, total } = await forecast(scheduler, { from: FROM, until: "2030-01-01T03:00:00Z" });
    const fired = buckets
      .filter(({ fires }) => fires > 0)
      .map(({ from, fires }) => [String(from).slice(11, 16), fires]);
    expect([total, fired]).toEqual([
      3,
      [
        ["01:00", 1],
        ["02:00", 2],
      ],
    ]);
    expect(buckets[60]?.expectedRunning).toBe(0.5);
  });

  test("is answered over HTTP with an insight alone, and made of a client", async () => {
    const { client, ask, scheduler } = setUpBehindRouter({}, { insight: insight() });
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", "0 * * * *", { id: "s" });
    const { status, body } = await ask(`GET /forecast?from=${FROM}&until=2030-01-01T03:00:00Z&bucket=1h`);
    const here = await forecast(client, { from: FROM, until: "2030-01-01T03:00:00Z", bucket: "1h" });
    expect([status, body]).toEqual([200, JSON.parse(JSON.stringify(here))]);
    const byDefault = (await ask("GET /forecast")).body as { buckets: unknown[]; from: string };
    expect([byDefault.buckets.length, byDefault.from]).toEqual([1440, FROM]);
    expect(await ask("GET /forecast?bucket=1ms")).toMatchObject({ status: 400, body: { code: "options" } });
    expect((await setUpRouter().ask("GET /forecast")).status).toBe(404);
  });
});
