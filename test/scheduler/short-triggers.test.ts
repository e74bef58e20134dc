import { describe, expect, test } from "vitest";
import { RemoteVerbs } from "../../src/cloudflare/durable-object/remote-verbs.ts";
import { forecast } from "../../src/insight/forecast.ts";
import { insight } from "../../src/insight/insight.ts";
import { apply, plan } from "../../src/insight/plan.ts";
import { simulate } from "../../src/insight/simulate.ts";
import { IntervalTrigger, type SchedulerClient, type TriggerLike } from "../../src/mod.ts";
import { setUpBehindRouter } from "../client/support.ts";
import { rejectionOf, setUp } from "./support.ts";

const OPTIONS = { timeZone: "Asia/Tokyo" };
const DAY = { from: "2030-01-01T00:00:00Z", until: "2030-01-02T00:00:00Z" };

const TAKEN: readonly (readonly [given: TriggerLike, stored: object])[] = [
  ["0 9 * * *", { type: "cron", expression: "0 9 * * *", timeZone: "Asia/Tokyo" }],
  [{ cron: "0 9 * * *" }, { type: "cron", expression: "0 9 * * *", timeZone: "Asia/Tokyo" }],
  [
    { cron: "0 9 * * *", timeZone: undefined },
    { type: "cron", timeZone: "Asia/Tokyo" },
  ],
  [
    { cron: "0 9 * * *", timeZone: "Europe/Berlin" },
    { type: "cron", timeZone: "Europe/Berlin" },
  ],
  [{ every: "15m" }, { type: "interval", milliseconds: 900_000 }],
  [{ every: "PT90M" }, { type: "interval", milliseconds: 5_400_000 }],
  [{ at: "2030-01-01T09:00:00Z" }, { type: "date", runTime: "2030-01-01T09:00:00Z" }],
  [
    { at: "2030-01-01T09:00", timeZone: "Europe/Berlin" },
    { type: "date", runTime: "2030-01-01T08:00:00Z" },
  ],
  [new IntervalTrigger({ hours: 1 }).toJSON(), { type: "interval", milliseconds: 3_600_000 }],
];

const REFUSED: readonly (readonly [given: unknown, code: string, message: string])[] = [
  [{ cron: 5 }, "options", 'trigger.cron must be text; got 5: write such as { "cron": "0 9 * * *" }'],
  [{ every: { minutes: 5 } }, "options", 'write a period as text, such as { "every": "5m" } or { "every": "PT5M" }'],
  [{ every: "0s" }, "options", "IntervalTrigger needs an interval"],
  [{ at: new Date(0) }, "options", "write an instant as text"],
  [{ at: "2030-01-01T09:00" }, "options", "runTime"],
  [{ every: "5m", timeZone: "UTC" }, "options", "trigger.timeZone is no option"],
  [{ cron: "0 9 * * *", timeZone: "Europe/Berln" }, "options", "Europe/Berln"],
  [{ cron: "0 9 * * mon-fir" }, "cronSyntax", "mon-fir"],
  [{}, "options", "trigger must be crontab text, { cron }, { every }, { at } or the JSON of a trigger; got {}"],
  [{ type: "moon", version: 1 }, "deserialization", 'the type "moon" is unknown'],
];

/** Each way to give a trigger, and what is stored of it. */
const WAYS: readonly (readonly [
  name: string,
  add: (client: SchedulerClient, given: TriggerLike) => Promise<object>,
])[] = [
  ["addSchedule", async (client, given) => (await client.addSchedule("t", given, { id: "s" })).trigger.toJSON()],
  [
    "updateSchedule",
    async (client, trigger) => {
      await client.addSchedule("t", "0 0 1 1 *", { id: "s" });
      return (await client.updateSchedule("s", { trigger })).trigger.toJSON();
    },
  ],
  [
    "addBlackout",
    async (client, trigger) => (await client.addBlackout("b", { trigger, duration: "1h" })).trigger?.toJSON() ?? {},
  ],
  [
    "a plan",
    async (client, trigger) => {
      await apply(await plan(client, [{ id: "s", task: "t", trigger }], { owner: "me" }));
      return (await client.getSchedule("s")).trigger.toJSON();
    },
  ],
  [
    "a remote call",
    async (client, trigger) => {
      const verbs = new RemoteVerbs(client);
      await verbs.addSchedule("t", "0 0 1 1 *", { id: "s" });
      return (await verbs.updateSchedule("s", { trigger: trigger as string })).trigger;
    },
  ],
];

const SIDES: readonly (readonly [name: string, make: () => SchedulerClient])[] = [
  ["a scheduler", () => ready(setUp(OPTIONS).scheduler)],
  [
    "a client of a router",
    () => {
      const { client, scheduler } = setUpBehindRouter({}, { insight: insight() }, OPTIONS);
      ready(scheduler);
      return client;
    },
  ],
];

function ready(scheduler: ReturnType<typeof setUp>["scheduler"]): SchedulerClient {
  scheduler.task("t", () => {});
  return scheduler;
}

describe.each(SIDES)("with %s", (_side, make) => {
  describe.each(WAYS)("%s", (_name, add) => {
    test.each(TAKEN)("takes the trigger %j", async (given, stored) => {
      expect(await add(make(), given)).toMatchObject(stored);
    });

    test.each(REFUSED)("refuses the trigger %j", async (given, code, message) => {
      const error = await rejectionOf(add(make(), given as TriggerLike));
      expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    });
  });

  test("the id picks the values of H and the time of a spread as it does for the text alone", async () => {
    const client = make();
    for (const [trigger, short] of [
      ["H 9 * * *", { cron: "H 9 * * *", timeZone: "Asia/Tokyo" }],
      ["@daily", { cron: "@daily", timeZone: "Asia/Tokyo" }],
      [new IntervalTrigger({ hours: 1 }), { every: "1h" }],
    ] as const) {
      const spread = trigger !== "H 9 * * *";
      const long = await client.addSchedule("t", trigger, { id: "s", spread, conflictPolicy: "replace" });
      const same = await client.addSchedule("t", short, { id: "s", spread, conflictPolicy: "replace" });
      expect(same.trigger.toJSON()).toEqual(long.trigger.toJSON());
    }
  });
});

describe("in this process", () => {
  test.each(TAKEN)("schedule, addSchedules, simulate and forecast take the trigger %j", async (trigger, stored) => {
    const { scheduler } = setUp(OPTIONS);
    expect((await scheduler.schedule("s", trigger, () => {})).trigger.toJSON()).toMatchObject(stored);
    const [added] = await scheduler.addSchedules([{ id: "more", task: "s", trigger }]);
    expect(added?.trigger.toJSON()).toMatchObject(stored);
    const schedules = [{ id: "s", taskId: "t", trigger }];
    const { occurrences } = await simulate({ schedules, ...DAY });
    const { total } = await forecast(schedules, DAY);
    expect(total).toBe(occurrences.length);
    expect(total).toBeGreaterThan(0);
  });

  test.each(REFUSED)("they refuse the trigger %j", async (given, code, message) => {
    const trigger = given as TriggerLike;
    const refused = { code, message: expect.stringContaining(message) };
    const schedules = [{ id: "s", taskId: "t", trigger }];
    expect(await rejectionOf(setUp().scheduler.schedule("s", trigger, () => {}))).toMatchObject(refused);
    expect(await rejectionOf(simulate({ schedules, ...DAY }))).toMatchObject(refused);
    expect(await rejectionOf(forecast(schedules, DAY))).toMatchObject(refused);
  });

  test("a simulation takes taskId for task, and not both", async () => {
    const given = { id: "s", trigger: "0 9 * * *" };
    const [byTaskId, byTask] = await Promise.all(
      [{ taskId: "t" }, { task: "t" }].map((task) => simulate({ schedules: [{ ...given, ...task } as never], ...DAY })),
    );
    expect(JSON.stringify(byTaskId)).toBe(JSON.stringify(byTask));
    const both = rejectionOf(simulate({ schedules: [{ ...given, task: "t", taskId: "u" }], ...DAY }));
    expect(await both).toMatchObject({ code: "options", message: expect.stringContaining("taskId") });
  });
});
