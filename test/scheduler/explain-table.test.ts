import { describe, test } from "vitest";
import {
  CalendarIntervalTrigger,
  DateTrigger,
  ExcludingTrigger,
  IntervalTrigger,
  MemoryDataStore,
  OrTrigger,
  registerTrigger,
  Trigger,
  type TriggerJSON,
} from "../../src/mod.ts";
import { checkRow, cron, type Row, type World, worldAt } from "./explain-world.ts";
import { heldHandler, leaseAndDie } from "./support.ts";

const NINE = "0 9 * * *";
const BERLIN = "Europe/Berlin";

/** A started scheduler with the schedule `s` of the task `t`. */
async function running(world: World, rule: Trigger | string = NINE, options: object = {}): Promise<void> {
  world.scheduler.task("t", () => {});
  await world.scheduler.addSchedule("t", rule, { id: "s", ...options });
  await world.scheduler.start();
}

/** Fails from an instant on. */
class FailingTrigger extends Trigger {
  nextMs(afterMs: number): number {
    const nextMs = (Math.floor(afterMs / 86_400_000) + 1) * 86_400_000;
    if (afterMs >= Date.parse("2030-01-03T00:00:00Z")) throw new Error("no calendar for this year");
    return nextMs;
  }
  previousMs(beforeMs: number): number {
    return (Math.ceil(beforeMs / 86_400_000) - 1) * 86_400_000;
  }
  toJSON(): TriggerJSON {
    return { type: "test:failing", version: 1 };
  }
  describe(): string {
    return "Every day";
  }
}
registerTrigger("test:failing", { version: 1, fromJSON: () => new FailingTrigger() });

const instants: Row[] = [
  {
    name: "a run in time",
    at: "2030-01-02T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: [
      "Wed 2030-01-02 09:00 UTC (2030-01-02T09:00:00Z) is a fire time of: At 09:00, in UTC.",
      "Verdict: ran. Job ",
      ", on time, took 0 s, 1 attempt.",
    ],
  },
  {
    name: "an instant near a fire time",
    at: "2030-01-02T09:00:30Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "noFireTime",
    cause: null,
    fireTime: null,
    says: [
      "Wed 2030-01-02 09:00:30 UTC (2030-01-02T09:00:30Z) is no fire time of: At 09:00, in UTC.",
      "The fire time before is Wed 2030-01-02 09:00 UTC, the one after is Thu 2030-01-03 09:00 UTC.",
    ],
  },
  {
    name: "an instant within the second of a fire time",
    at: "2030-01-02T09:00:00.250Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2030-01-02T09:00:00Z",
    says: ["Verdict: ran."],
  },
  {
    name: "a date",
    at: "2030-01-02",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2030-01-02T09:00:00Z",
    says: ["Verdict: ran."],
  },
  {
    name: "text without an offset, in the zone of the rule",
    at: "2030-01-02 09:00",
    happens: async (world) => {
      await running(world, cron(NINE, "America/New_York"));
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2030-01-02T14:00:00Z",
    says: ["Wed 2030-01-02 09:00 -05:00 (2030-01-02T14:00:00Z) is a fire time"],
  },
  {
    name: "a fire time to come",
    at: "2030-01-09T09:00:00Z",
    happens: (world) => running(world),
    verdict: "upcoming",
    cause: null,
    says: ["Verdict: upcoming: it will fire in 8 d 9 h."],
  },
  {
    name: "between two fire times of an interval",
    at: "2030-01-01T00:05:00Z",
    happens: (world) => running(world, new IntervalTrigger({ minutes: 10 })),
    verdict: "noFireTime",
    cause: null,
    fireTime: null,
    says: ["The fire time before is Tue 2030-01-01 00:00 UTC, the one after is Tue 2030-01-01 00:10 UTC."],
  },
  {
    name: "a second of an every-second rule",
    at: "2030-01-01T00:00:07Z",
    happens: async (world) => {
      await running(world, new IntervalTrigger({ seconds: 1 }));
      await world.to("2030-01-01T00:00:20Z");
    },
    verdict: "success",
    cause: null,
    says: ["Every second"],
  },
  {
    name: "a fire time with jitter",
    at: "2030-01-02T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE, { maxJitter: "10m" });
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: [", on time, took 0 s"],
  },
  {
    name: "a run that runScheduleNow added",
    at: "2030-01-02T05:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-02T05:00:00Z");
      await world.scheduler.runScheduleNow("s");
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "noFireTime",
    cause: null,
    fireTime: null,
    says: ["no fire time: the rule does not fire then."],
  },
];

const spring = (): World => worldAt("2027-03-26T12:00:00Z");
const autumn = (): World => worldAt("2027-10-29T12:00:00Z");

const clocks: Row[] = [
  {
    name: "a daily time that clocks go over",
    at: "2027-03-28 02:30",
    world: spring,
    happens: async (world) => {
      await running(world, cron("30 2 * * *", BERLIN));
      await world.to("2027-03-29T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2027-03-28T01:00:00Z",
    says: [
      "02:30 does not exist that day: clocks go from 02:00 to 03:00.\nThe rule fires at 03:00 instead.\n",
      "Sun 2027-03-28 03:00 +02:00 (2027-03-28T01:00:00Z) is a fire time of: At 02:30, in Europe/Berlin.",
    ],
  },
  {
    name: "the fire time to which it was moved",
    at: "2027-03-28T01:00:00Z",
    world: spring,
    happens: async (world) => {
      await running(world, cron("30 2 * * *", BERLIN));
      await world.to("2027-03-29T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["It was moved from 02:30, which does not exist that day: clocks go from 02:00 to 03:00."],
  },
  {
    name: "the instant that the skipped time would have been",
    at: "2027-03-28T01:30:00Z",
    world: spring,
    happens: async (world) => {
      await running(world, cron("30 2 * * *", BERLIN));
      await world.to("2027-03-29T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2027-03-28T01:00:00Z",
    says: ["02:30 does not exist that day", "The rule fires at 03:00 instead."],
  },
  {
    name: "a time that clocks go over, of a rule that skips such times",
    at: "2027-03-28 02:30",
    world: spring,
    happens: async (world) => {
      await running(world, cron("30 2 * * *", { timeZone: BERLIN, dst: { gap: "skip" } }));
      await world.to("2027-03-29T12:00:00Z");
    },
    verdict: "skippedGap",
    cause: null,
    fireTime: null,
    says: [
      "02:30 does not exist that day: clocks go from 02:00 to 03:00.",
      "the one after is Mon 2027-03-29 02:30 +02:00.",
      'Advice: dst: { gap: "advance" }',
    ],
  },
  {
    name: "a time that clocks go over, of a rule that shifts it",
    at: "2027-03-28 02:30",
    world: spring,
    happens: async (world) => {
      await running(world, cron("30 2 * * *", { timeZone: BERLIN, dst: { gap: "shift" } }));
      await world.to("2027-03-29T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2027-03-28T01:30:00Z",
    says: ["The rule fires at 03:30 instead."],
  },
  {
    name: "a time that clocks go over, of an hourly rule",
    at: "2027-03-28 02:30",
    world: spring,
    happens: async (world) => {
      await running(world, cron("30 * * * *", BERLIN));
      await world.to("2027-03-29T12:00:00Z");
    },
    verdict: "skippedGap",
    cause: null,
    fireTime: null,
    says: ["02:30 does not exist that day", "The fire time before is Sun 2027-03-28 01:30 +01:00"],
  },
  {
    name: "a time that clocks go over, of a rule that names no times of day",
    at: "2027-03-28 02:30",
    world: spring,
    happens: async (world) => {
      await running(world, new IntervalTrigger({ hours: 12, startTime: "2027-03-26T12:00:00Z" }));
      await world.scheduler.addSchedule("t", cron("30 2 * * *", BERLIN), { id: "nightly" });
      await world.scheduler.removeSchedule("s");
    },
    schedule: "nightly",
    verdict: "upcoming",
    cause: null,
    fireTime: "2027-03-28T01:00:00Z",
    says: ["The rule fires at 03:00 instead.", "Verdict: upcoming: it will fire in 1 d 13 h."],
  },
  {
    name: "a skipped date of a calendar interval",
    at: "2027-03-28 02:30",
    world: spring,
    happens: async (world) => {
      const rule = { days: 1, hour: 2, minute: 30, timeZone: BERLIN, startDate: "2027-03-26" };
      await running(world, new CalendarIntervalTrigger(rule));
      await world.to("2027-03-29T12:00:00Z");
    },
    verdict: "skippedGap",
    cause: null,
    fireTime: null,
    says: ["02:30 does not exist that day"],
  },
  {
    name: "the day of a gap, at another time",
    at: "2027-03-28 09:00",
    world: spring,
    happens: async (world) => {
      await running(world, cron(NINE, BERLIN));
      await world.to("2027-03-29T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2027-03-28T07:00:00Z",
    says: ["That day, clocks go from 02:00 to 03:00, in Europe/Berlin."],
  },
  {
    name: "a time that comes twice",
    at: "2027-10-31 02:30",
    world: autumn,
    happens: async (world) => {
      await running(world, cron("30 2 * * *", BERLIN));
      await world.to("2027-11-01T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2027-10-31T00:30:00Z",
    says: [
      "02:30 comes twice that day: clocks go back from 03:00 to 02:00. This is about the first time.",
      "the second Sun 2027-10-31 02:30 +01:00 (2027-10-31T01:30:00Z).",
    ],
  },
  {
    name: "the second time of a rule that fires the first time",
    at: "2027-10-31T01:30:00Z",
    world: autumn,
    happens: async (world) => {
      await running(world, cron("30 2 * * *", BERLIN));
      await world.to("2027-11-01T12:00:00Z");
    },
    verdict: "noFireTime",
    cause: null,
    fireTime: null,
    says: ["clocks go back from 03:00 to 02:00", "The fire time before is Sun 2027-10-31 02:30 +02:00"],
  },
  {
    name: "a time that comes twice, of a rule that fires the second time",
    at: "2027-10-31 02:30",
    world: autumn,
    happens: async (world) => {
      await running(world, cron("30 2 * * *", { timeZone: BERLIN, dst: { overlap: "second" } }));
      await world.to("2027-11-01T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2027-10-31T01:30:00Z",
    says: ["This is about the second time."],
  },
  {
    name: "the second of two fire times that clocks show alike",
    at: "2027-10-31T01:30:00Z",
    world: autumn,
    happens: async (world) => {
      await running(world, cron("30 * * * *", BERLIN));
      await world.to("2027-11-01T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["Clocks show that time twice that day, and this is the second time"],
  },
  {
    name: "a rule of two zones, on the day on which one of them changes",
    at: "2027-03-28T12:00:00Z",
    world: spring,
    happens: (world) => running(world, new OrTrigger([cron("0 8 * * *", "America/New_York"), cron(NINE, BERLIN)])),
    verdict: "upcoming",
    cause: null,
    says: ["That day, clocks go from 02:00 to 03:00, in Europe/Berlin."],
  },
];

const waits: Row[] = [
  {
    name: "a cluster that was dead",
    at: "2030-01-03T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T08:00:00Z");
      await world.scheduler.stop();
      await world.to("2030-01-03T11:30:00Z");
      await world.scheduler.start();
      await world.to("2030-01-03T12:00:00Z");
    },
    verdict: "success",
    cause: {
      ...{ kind: "nobodyUp", lacks: "scheduler" },
      ...{ from: "2030-01-03T08:00:00Z", until: "2030-01-03T11:30:00Z" },
    },
    says: [
      "2 h 30 min late",
      "Cause: no scheduler that fires schedules was up from Thu 2030-01-03 08:00 UTC until Thu 2030-01-03 11:30 UTC.",
      "Advice: Keep two schedulers up",
    ],
  },
  {
    name: "a dead cluster, and a job that may not be so late",
    at: "2030-01-03T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE, { misfireGraceTime: "1h" });
      await world.to("2030-01-03T08:00:00Z");
      await world.scheduler.stop();
      await world.to("2030-01-03T11:30:00Z");
      await world.scheduler.start();
      await world.to("2030-01-03T12:00:00Z");
    },
    verdict: "misfired",
    cause: {
      ...{ kind: "nobodyUp", lacks: "scheduler" },
      ...{ from: "2030-01-03T08:00:00Z", until: "2030-01-03T11:30:00Z" },
    },
    says: ["Verdict: misfired", "never started", "A longer misfireGraceTime lets it start later."],
  },
  {
    name: "a cluster that is dead",
    at: "2030-01-03T09:00:00Z",
    world: () => worldAt("2030-01-03T06:00:00Z"),
    happens: async (world) => {
      const other = world.another({ identity: "w-2" });
      other.task("t", () => {});
      await other.addSchedule("t", NINE, { id: "s" });
      await other.start();
      await world.to("2030-01-03T08:00:00Z");
      await other.stop();
      await world.to("2030-01-03T12:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "nobodyUp", lacks: "scheduler", from: "2030-01-03T08:00:00Z", until: null },
    says: [
      "waiting: nobody has processed it yet.",
      "until now.",
      'Start a scheduler whose role is "both" or "scheduler".',
    ],
  },
  {
    name: "workers alone",
    at: "2030-01-01T09:00:00Z",
    world: () => worldAt(undefined, { role: "worker" }),
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "nobodyUp", lacks: "scheduler", from: null, until: null },
    says: ["no scheduler that fires schedules was up until now."],
  },
  {
    name: "schedulers that run no jobs",
    at: "2030-01-01T09:00:00Z",
    world: () => worldAt(undefined, { role: "scheduler" }),
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "nobodyUp", lacks: "worker", from: null, until: null },
    says: ["no scheduler that runs jobs was up until now."],
  },
  {
    name: "no handler anywhere",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const declaring = world.another({ identity: "declaring" });
      declaring.task("t", () => {});
      await declaring.addSchedule("t", NINE, { id: "s" });
      world.scheduler.task("other", () => {});
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "noHandler", taskId: "t" },
    says: ['none had a handler for task "t".', 'scheduler.task("t", handler)'],
  },
  {
    name: "a slot that is taken",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.addJob("t");
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "noSlot", taskId: "t" },
    says: ["the job waited for a place", "Give the task a higher maxRunningJobs"],
  },
  {
    name: "a slot that was taken",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler, held } = heldHandler();
      world.scheduler.task("t", handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.addJob("t");
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
      held[0]?.finish("done");
      await world.to("2030-01-01T10:05:00Z");
      held[1]?.finish("done");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "success",
    cause: { kind: "noSlot", taskId: "t" },
    says: ["1 h late, took 5 min, 1 attempt."],
  },
  {
    name: "a slot that was taken for too long",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler, held } = heldHandler();
      world.scheduler.task("t", { misfireGraceTime: "10m" }, handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.addJob("t");
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
      held[0]?.finish("done");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "misfired",
    cause: { kind: "noSlot", taskId: "t" },
    says: ["Verdict: misfired: it could not start within misfireGraceTime."],
  },
  {
    name: "a run that is under way",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: null,
    says: ["Verdict: running: job ", ", by w-1."],
  },
  {
    name: "a scheduler that is paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world);
      world.scheduler.pause();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: null,
    says: ["waiting: nobody has processed it yet."],
  },
  {
    name: "a key that is held",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", { maxRunningPerKey: 1 }, handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s", concurrencyKey: "tenant 7" });
      await world.scheduler.addJob("t", { concurrencyKey: "tenant 7" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "held", concurrencyKey: "tenant 7" },
    says: ['held the job, whose concurrency key is "tenant 7".'],
  },
  {
    name: "a key that was held",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler, held } = heldHandler();
      world.scheduler.task("t", { maxRunningPerKey: 1 }, handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s", concurrencyKey: "tenant 7" });
      await world.scheduler.addJob("t", { concurrencyKey: "tenant 7" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
      held[0]?.finish("done");
      await world.to("2030-01-01T10:05:00Z");
      held[1]?.finish("done");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "success",
    cause: { kind: "held", concurrencyKey: "tenant 7" },
    says: ["1 h late"],
  },
  {
    name: "a rate that was used up",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      world.scheduler.task("t", { rateLimit: { limit: 1, per: "1h" } }, () => {});
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T08:45:00Z");
      await world.scheduler.addJob("t");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "success",
    cause: { kind: "held", concurrencyKey: null },
    says: ["45 min late", "Cause: the limits of the task held the job."],
  },
  {
    name: "a task that is paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-01T08:00:00Z");
      await world.scheduler.pauseTask("t", { by: "ada" });
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "taskPaused", key: null, by: "ada", at: "2030-01-01T08:00:00Z" },
    says: ["the task was paused by ada at Tue 2030-01-01 08:00 UTC.", 'unpauseTask("t") lets it go on.'],
  },
  {
    name: "a task that was paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-01T08:00:00Z");
      await world.scheduler.pauseTask("t", { by: "ada" });
      await world.to("2030-01-01T10:00:00Z");
      await world.scheduler.unpauseTask("t");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "success",
    cause: { kind: "taskPaused", key: null, by: "ada", at: "2030-01-01T08:00:00Z" },
    says: ["1 h late"],
  },
  {
    name: "a key that is paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      world.scheduler.task("t", { maxRunningPerKey: 1 }, () => {});
      await world.scheduler.addSchedule("t", NINE, { id: "s", concurrencyKey: "tenant 7" });
      await world.scheduler.start();
      await world.to("2030-01-01T08:00:00Z");
      await world.scheduler.pauseTask("t", { key: "tenant 7", by: "ada" });
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "taskPaused", key: "tenant 7", by: "ada", at: "2030-01-01T08:00:00Z" },
    says: ['the key "tenant 7" of the task was paused', 'unpauseTask("t", { key: "tenant 7" })'],
  },
  {
    name: "a fire time to come of a task that is paused",
    at: "2030-01-02T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.scheduler.pauseTask("t");
    },
    verdict: "upcoming",
    cause: { kind: "taskPaused", key: null, by: "w-1", at: "2030-01-01T00:00:00Z" },
    says: ["upcoming, but nothing will run if all stays as it is.", "the task was paused by w-1"],
  },
  {
    name: "one of two schedulers that died",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const other = world.another({ identity: "w-2" });
      other.task("t", () => {});
      await other.start();
      await running(world);
      await world.to("2030-01-01T08:00:00Z");
      await other.stop();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["on time"],
  },
];

const pauses: Row[] = [
  {
    name: "a week in which the schedule was paused",
    at: "2030-01-05T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.pauseSchedule("s", { by: "ada" });
      await world.to("2030-01-10T12:00:00Z");
      await world.scheduler.unpauseSchedule("s", { resumeFrom: "now", by: "bob" });
      await world.to("2030-01-12T12:00:00Z");
    },
    verdict: "paused",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-03T12:00:00Z" },
    says: [
      "Verdict: paused: the schedule was paused, and went on after it.",
      "Cause: the schedule was paused by ada at Thu 2030-01-03 12:00 UTC.",
      "Advice: unpauseSchedule(id) without resumeFrom makes up",
    ],
  },
  {
    name: "the day after that week",
    at: "2030-01-11T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.pauseSchedule("s");
      await world.to("2030-01-10T12:00:00Z");
      await world.scheduler.unpauseSchedule("s", { resumeFrom: "now" });
      await world.to("2030-01-12T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["on time"],
  },
  {
    name: "a schedule that is paused",
    at: "2030-01-05T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.pauseSchedule("s", { by: "ada" });
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "paused",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-03T12:00:00Z" },
    says: ["no job is made of it while the schedule is paused.", 'unpauseSchedule("s") lets it go on.'],
  },
  {
    name: "a fire time to come of a schedule that is paused",
    at: "2030-01-05T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.scheduler.pauseSchedule("s", { by: "ada" });
    },
    verdict: "upcoming",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-01T00:00:00Z" },
    says: ["nothing will run if all stays as it is"],
  },
  {
    name: "a schedule that was added paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE, { paused: true, by: "deploy" });
      await world.to("2030-01-01T12:00:00Z");
    },
    verdict: "paused",
    cause: { kind: "schedulePaused", by: "deploy", at: "2030-01-01T00:00:00Z" },
    says: ["by deploy"],
  },
  {
    name: "a pause that was made up for",
    at: "2030-01-02T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE, { coalesce: "all" });
      await world.scheduler.pauseSchedule("s", { by: "ada" });
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.unpauseSchedule("s");
      await world.to("2030-01-03T13:00:00Z");
    },
    verdict: "success",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-01T00:00:00Z" },
    says: ["1 d 3 h late", "paused by ada"],
  },
  {
    name: "a trigger that fails",
    at: "2030-01-03T00:00:00Z",
    happens: async (world) => {
      await running(world, new FailingTrigger());
      await world.to("2030-01-04T12:00:00Z");
    },
    verdict: "paused",
    cause: { kind: "triggerFailed", at: "2030-01-03T00:00:00Z" },
    says: ["the trigger of the schedule failed", 'Mend the trigger, then unpauseSchedule("s").'],
  },
];

/** As a program of an earlier version does it: on the second day, the rule becomes another, and the ledger learns nothing of it, nor of what follows. */
async function replacedUnseen(world: World): Promise<void> {
  await running(world);
  await world.to("2030-01-02T00:00:00Z");
  const trigger = JSON.stringify(cron("0 10 * * *"));
  const nextFireTime = Date.parse("2030-01-04T10:00:00Z");
  await world.store.updateSchedule("s", { trigger, triggerRule: trigger, nextFireTime });
  await world.to("2030-01-03T12:00:00Z");
}

const changes: Row[] = [
  {
    name: "a fire time of a rule that was replaced since",
    at: "2030-01-02T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.updateSchedule("s", { trigger: cron("30 17 * * *") });
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["is a fire time of: At 09:00, in UTC.", "on time"],
  },
  {
    name: "a fire time of the old rule after the change",
    at: "2030-01-04T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.updateSchedule("s", { trigger: cron("30 17 * * *") });
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "noFireTime",
    cause: null,
    fireTime: null,
    says: ["is no fire time of: At 17:30, in UTC."],
  },
  {
    name: "a fire time that was due when the rule was replaced",
    at: "2030-01-03T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T08:00:00Z");
      await world.scheduler.stop();
      await world.to("2030-01-03T12:00:00Z");
      await world.another({ identity: "w-2" }).updateSchedule("s", { trigger: cron("30 17 * * *") }, { by: "ada" });
      await world.scheduler.start();
    },
    verdict: "replaced",
    cause: { kind: "changed", by: "ada", at: "2030-01-03T12:00:00Z" },
    says: ["it was due and unprocessed when the schedule was changed.", "changed by ada at Thu 2030-01-03 12:00 UTC."],
  },
  {
    name: "a rule in another zone before, and one of now",
    at: "2030-01-02 09:00",
    happens: async (world) => {
      await running(world, cron(NINE, "America/New_York"));
      await world.to("2030-01-03T00:00:00Z");
      await world.scheduler.updateSchedule("s", { trigger: cron(NINE, "Asia/Tokyo") });
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2030-01-02T14:00:00Z",
    says: ["At 09:00, in America/New_York."],
  },
  {
    name: "a text in the zone of the new rule",
    at: "2030-01-05 09:00",
    happens: async (world) => {
      await running(world, cron(NINE, "America/New_York"));
      await world.to("2030-01-03T00:00:00Z");
      await world.scheduler.updateSchedule("s", { trigger: cron(NINE, "Asia/Tokyo") });
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2030-01-05T00:00:00Z",
    says: ["Sat 2030-01-05 09:00 +09:00", "At 09:00, in Asia/Tokyo."],
  },
  {
    name: "a next fire time that somebody chose",
    at: "2030-01-02T11:11:00Z",
    happens: async (world) => {
      await running(world);
      await world.scheduler.updateSchedule("s", { nextFireTime: "2030-01-02T11:11:00Z" });
      await world.to("2030-01-04T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["Verdict: ran.", "on time"],
  },
  {
    name: "a fire time of the rule before the one that somebody chose",
    at: "2030-01-02T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.scheduler.updateSchedule("s", { nextFireTime: "2030-01-02T11:11:00Z" }, { by: "ada" });
      await world.to("2030-01-04T12:00:00Z");
    },
    verdict: "outside",
    cause: { kind: "changed", by: "ada", at: "2030-01-01T00:00:00Z" },
    fireTime: null,
    says: [
      "no fire time: the next fire time was set to a later one.",
      "The fire time after is Wed 2030-01-02 11:11 UTC.",
    ],
  },
  {
    name: "a fire time before the instant from which a schedule goes on",
    at: "2030-01-05T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.scheduler.pauseSchedule("s");
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.unpauseSchedule("s", { resumeFrom: "2030-01-08T00:00:00Z", by: "ada" });
    },
    verdict: "outside",
    cause: { kind: "changed", by: "ada", at: "2030-01-03T12:00:00Z" },
    fireTime: null,
    says: ["the one after is Tue 2030-01-08 09:00 UTC."],
  },
  {
    name: "a fire time of a schedule that was removed",
    at: "2030-01-02T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.removeSchedule("s");
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["on time"],
  },
  {
    name: "an instant after the schedule was removed",
    at: "2030-01-04T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.removeSchedule("s", { by: "ada" });
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "outside",
    cause: { kind: "removed", by: "ada", at: "2030-01-03T12:00:00Z" },
    fireTime: null,
    says: ["the schedule had been removed", "removed by ada"],
  },
  {
    name: "a fire time that was due when the schedule was removed",
    at: "2030-01-03T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T08:00:00Z");
      await world.scheduler.stop();
      await world.to("2030-01-03T12:00:00Z");
      await world.another({ identity: "w-2" }).removeSchedule("s");
      await world.scheduler.start();
    },
    verdict: "removed",
    cause: { kind: "removed", by: "w-2", at: "2030-01-03T12:00:00Z" },
    says: ["it was due and unprocessed when the schedule was removed."],
  },
  {
    name: "an instant before the schedule was added",
    at: "2029-12-24T09:00:00Z",
    happens: (world) => running(world, NINE, { by: "deploy" }),
    verdict: "outside",
    cause: { kind: "added", by: "deploy", at: "2030-01-01T00:00:00Z" },
    fireTime: null,
    says: ["the schedule was added later", "The fire time after is Tue 2030-01-01 09:00 UTC."],
  },
  {
    name: "an instant between a removal and an addition under the same id",
    at: "2030-01-04T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.removeSchedule("s", { by: "ada" });
      await world.to("2030-01-06T12:00:00Z");
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.to("2030-01-08T12:00:00Z");
    },
    verdict: "outside",
    cause: { kind: "removed", by: "ada", at: "2030-01-03T12:00:00Z" },
    fireTime: null,
    says: ["The fire time before is Thu 2030-01-03 09:00 UTC, the one after is Mon 2030-01-07 09:00 UTC."],
  },
  {
    name: "a rule that began before the schedule was added",
    at: "2029-12-31T09:00:00Z",
    happens: async (world) => {
      await running(world, cron(NINE, { startTime: "2029-12-31T00:00:00Z" }), { coalesce: "all" });
      await world.to("2030-01-02T00:00:00Z");
    },
    verdict: "success",
    cause: { kind: "added", by: "w-1", at: "2030-01-01T00:00:00Z" },
    says: ["15 h late", "the schedule was added by w-1"],
  },
  {
    name: "a rule that has ended",
    at: "2030-01-05T09:00:00Z",
    happens: async (world) => {
      await running(world, cron(NINE, { endTime: "2030-01-03T12:00:00Z" }));
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "outside",
    cause: { kind: "bounds", bound: "end", at: "2030-01-03T09:00:00Z" },
    fireTime: null,
    says: [
      "the rule had ended, Thu 2030-01-03 09:00 UTC being its last fire time.",
      'updateSchedule("s", { trigger })',
    ],
  },
  {
    name: "an instant before a rule begins",
    at: "2030-01-05T09:00:00Z",
    happens: (world) => running(world, cron(NINE, { startTime: "2030-01-10T00:00:00Z" })),
    verdict: "outside",
    cause: { kind: "bounds", bound: "start", at: "2030-01-10T09:00:00Z" },
    fireTime: null,
    says: ["the rule begins later, Thu 2030-01-10 09:00 UTC being its first fire time."],
  },
  {
    name: "an instant after the one of a date",
    at: "2030-01-05T09:00:00Z",
    happens: async (world) => {
      await running(world, new DateTrigger("2030-01-03T09:00:00Z"));
      await world.to("2030-01-03T12:00:00Z");
    },
    verdict: "outside",
    cause: { kind: "bounds", bound: "end", at: "2030-01-03T09:00:00Z" },
    fireTime: null,
    says: ["the rule had ended"],
  },
  {
    name: "a holiday that is excluded",
    at: "2030-01-03T09:00:00Z",
    happens: async (world) => {
      await running(world, new ExcludingTrigger(cron(NINE), ["2030-01-03"]));
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "excluded",
    cause: null,
    fireTime: null,
    says: ["excluded: the rule leaves it out.", "except (2030-01-03)"],
  },
  {
    name: "a holiday to come",
    at: "2030-01-03",
    happens: (world) => running(world, new ExcludingTrigger(cron(NINE, BERLIN), ["2030-01-03"])),
    verdict: "excluded",
    cause: null,
    fireTime: null,
    says: ["the one after is Fri 2030-01-04 09:00 +01:00."],
  },
  {
    name: "an instant that another rule excludes",
    at: "2030-01-05T09:00:00Z",
    happens: (world) => running(world, new ExcludingTrigger(cron(NINE), cron("0 9 * * sat"))),
    verdict: "excluded",
    cause: null,
    fireTime: null,
    says: ["except (At 09:00, Saturday, in UTC)"],
  },
  {
    name: "a rule replaced unseen: an instant",
    at: "2030-01-02T09:00:00Z",
    happens: replacedUnseen,
    verdict: "unrecorded",
    cause: { kind: "ledger", reason: "unknown" },
    fireTime: null,
    says: ["is no fire time of: At 10:00, in UTC (the rule of now).", "Verdict: unrecorded"],
  },
  {
    name: "a rule replaced unseen: a fire time",
    at: "2030-01-02T10:00:00Z",
    happens: replacedUnseen,
    verdict: "unrecorded",
    cause: { kind: "ledger", reason: "unknown" },
    says: ["is a fire time of: At 10:00, in UTC (the rule of now).", "Verdict: unrecorded"],
  },
  {
    name: "a rule replaced unseen: a run before",
    at: "2030-01-01T09:00:00Z",
    happens: replacedUnseen,
    verdict: "success",
    cause: null,
    says: ["Verdict: ran."],
  },
  {
    name: "a rule replaced unseen: a fire time to come",
    at: "2030-01-05T10:00:00Z",
    happens: replacedUnseen,
    verdict: "upcoming",
    cause: null,
    says: ["is a fire time of: At 10:00, in UTC."],
  },
  {
    name: "a rule replaced unseen: an instant to come",
    at: "2030-01-05T09:00:00Z",
    happens: replacedUnseen,
    verdict: "noFireTime",
    cause: null,
    fireTime: null,
    says: ["is no fire time of: At 10:00, in UTC."],
  },
];

const ends: Row[] = [
  {
    name: "an earlier run that was unfinished",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      const { handler, held } = heldHandler();
      world.scheduler.task("t", { overlap: "skip" }, handler);
      await world.scheduler.addSchedule("t", cron("0 9-10 * * *"), { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:30:00Z");
      held[0]?.finish("done");
      await world.to("2030-01-01T12:00:00Z");
    },
    verdict: "overlapSkipped",
    cause: { kind: "unfinishedRun", fireTime: "2030-01-01T09:00:00Z", jobId: "01b8dcb4-1680-7400-a000-800000800000" },
    says: [
      'skipped: an earlier run of the schedule was unfinished (overlap "skip").',
      "of Tue 2030-01-01 09:00 UTC, was unfinished.",
    ],
  },
  {
    name: "an earlier run that is unfinished",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", { overlap: "skip" }, handler);
      await world.scheduler.addSchedule("t", cron("0 9-10 * * *"), { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:30:00Z");
    },
    verdict: "overlapSkipped",
    cause: { kind: "unfinishedRun", fireTime: "2030-01-01T09:00:00Z", jobId: "01b8dcb4-1680-7400-a000-800000800000" },
    says: ['or overlap: "queue" lets them wait.'],
  },
  {
    name: "a waiting job that gave way",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", { overlap: "replaceQueued" }, handler);
      await world.scheduler.addSchedule("t", cron("0 9-11 * * *"), { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T11:30:00Z");
    },
    verdict: "replaced",
    cause: { kind: "policy", option: "overlap" },
    says: ["replaced: its waiting job gave way to that of Tue 2030-01-01 11:00 UTC."],
  },
  {
    name: "a run that the next one cancelled",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const wait = async (_: unknown, { signal }: { signal: AbortSignal }): Promise<void> => {
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      };
      world.scheduler.task("t", { overlap: "cancelRunning" }, wait);
      await world.scheduler.addSchedule("t", cron("0 9-10 * * *"), { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:30:00Z");
    },
    verdict: "cancelled",
    cause: { kind: "policy", option: "overlap" },
    says: ["Verdict: cancelled by the next fire time."],
  },
  {
    name: "a job that somebody cancelled",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE);
      await world.scheduler.pauseTask("t");
      await world.to("2030-01-01T09:30:00Z");
      await world.scheduler.cancelJobs({ scheduleId: "s" });
    },
    verdict: "cancelled",
    cause: null,
    says: ["Verdict: cancelled. Job ", "never started"],
  },
  {
    name: "a job that was retried",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const retry = { maxAttempts: 3, backoff: { initial: "5m", jitter: "none" } } as const;
      world.scheduler.task("t", { retry }, (_, { attempt }) => {
        if (attempt === 1) throw new Error("busy");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "success",
    cause: { kind: "retried", attempts: 2 },
    says: ["it took 2 attempts; the last one began at 09:05."],
  },
  {
    name: "a job that will be retried",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const retry = { maxAttempts: 3, backoff: { initial: "5m", jitter: "none" } } as const;
      world.scheduler.task("t", { retry }, () => {
        throw new Error("busy");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:01:00Z");
    },
    verdict: "waiting",
    cause: { kind: "retried", attempts: 1 },
    says: ["1 attempt failed, and the next one is to come at Tue 2030-01-01 09:05 UTC."],
  },
  {
    name: "a job that failed",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      world.scheduler.task("t", () => {
        throw new RangeError("no such report");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "error",
    cause: { kind: "error", name: "RangeError", message: "no such report" },
    says: ["Verdict: ran and failed.", "Cause: RangeError: no such report", 'retryJob("'],
  },
  {
    name: "a job that failed, and whose result is gone",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      world.scheduler.task("t", { resultExpirationTime: "0s" }, () => {
        throw new RangeError("no such report");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "error",
    cause: { kind: "error", name: null, message: null },
    says: ["the error is not kept any more."],
  },
  {
    name: "a job that failed and was repeated",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      let isBroken = true;
      world.scheduler.task("t", () => {
        if (isBroken) throw new RangeError("no such report");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:00:05Z");
      isBroken = false;
      await world.scheduler.retryJobs({ scheduleId: "s" });
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["Verdict: ran. Job ", "~1, "],
  },
  {
    name: "a job that took too long",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", { timeout: "5m" }, handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "error",
    cause: {
      ...{ kind: "error", name: "JobTimeoutError" },
      message: 'job 01b8dcb4-1680-7400-a000-800000800000 of task "t" ran longer than 300000 ms',
    },
    says: ["took 5 min", "JobTimeoutError"],
  },
  {
    name: "a payload that cannot be read",
    at: "2030-01-01T09:00:00Z",
    world: () => {
      const serializer = {
        name: "broken",
        serialize: (value: unknown) => JSON.stringify(value),
        deserialize: (): unknown => {
          throw new SyntaxError("not our text");
        },
      };
      return worldAt(undefined, {}, new MemoryDataStore({ serializer }));
    },
    happens: async (world) => {
      await running(world, NINE, { payload: 1 });
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "deserializationFailed",
    cause: { kind: "error", name: "DeserializationError", message: "the payload cannot be read" },
    says: ["failed: its payload could not be read."],
  },
  {
    name: "a job that ends its processes",
    at: "2030-01-01T09:00:00Z",
    world: () => worldAt(undefined, { role: "scheduler" }),
    happens: async (world) => {
      world.scheduler.task("t", { maxRecoveries: 1 }, () => {});
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:00:01Z");
      for (let lost = 0; lost < 3; lost++) {
        await leaseAndDie(world.store, world.clock.now(), { schedulerId: `dead-${lost}` });
        await world.clock.advance("2m");
      }
    },
    verdict: "abandoned",
    cause: { kind: "lost", attempts: 2 },
    says: ["it was lost with its process too often.", "Cause: its process was lost, in each of 2 attempts."],
  },
  {
    name: "a job that lost its process just now",
    at: "2030-01-01T09:00:00Z",
    world: () => worldAt(undefined, { role: "scheduler" }),
    happens: async (world) => {
      world.scheduler.task("t", () => {});
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:00:01Z");
      await leaseAndDie(world.store, world.clock.now());
      await world.scheduler.stop();
      await world.clock.advance("2m");
      await world.scheduler.tick();
    },
    verdict: "waiting",
    cause: { kind: "lost", attempts: 1 },
    says: ["lost its process.", "Cause: its process was lost."],
  },
];

const memories: Row[] = [
  {
    name: "a store without a ledger",
    at: "2030-01-02T09:00:00Z",
    world: () => worldAt(undefined, {}, new MemoryDataStore({ ledger: false })),
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "unrecorded",
    cause: { kind: "ledger", reason: "notKept" },
    says: [
      "At 09:00, in UTC (the rule of now).",
      "kept no ledger of that time.",
      "Turn the ledger option of the store on.",
    ],
  },
  {
    name: "a store without a ledger, and an instant that is no fire time now",
    at: "2030-01-02T10:00:00Z",
    world: () => worldAt(undefined, {}, new MemoryDataStore({ ledger: false })),
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "unrecorded",
    cause: { kind: "ledger", reason: "notKept" },
    fireTime: null,
    says: ["is no fire time of: At 09:00, in UTC (the rule of now)."],
  },
  {
    name: "a store without a ledger, and a job that waits",
    at: "2030-01-02T09:00:00Z",
    world: () => worldAt(undefined, {}, new MemoryDataStore({ ledger: false })),
    happens: async (world) => {
      await running(world);
      await world.scheduler.pauseTask("t");
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "taskPaused", key: null, by: null, at: null },
    says: ["the task was paused."],
  },
  {
    name: "a store without a ledger, and a fire time to come",
    at: "2030-01-09T09:00:00Z",
    world: () => worldAt(undefined, {}, new MemoryDataStore({ ledger: false })),
    happens: (world) => running(world),
    verdict: "upcoming",
    cause: null,
    says: ["it will fire in 8 d 9 h."],
  },
  {
    name: "an entry that the clean-up removed",
    at: "2030-01-02T09:00:00Z",
    world: () => worldAt(undefined, {}, new MemoryDataStore({ ledger: { maxCount: 2 } })),
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-08T12:00:00Z");
      await world.scheduler.cleanup();
    },
    verdict: "unrecorded",
    cause: { kind: "ledger", reason: "removed" },
    says: ["the clean-up has removed the entry.", "The ledger option of the store says how many entries are kept."],
  },
];

const HOURLY = "0 * * * *";

/** An hourly schedule from 08:00 on, whose scheduler is down from 08:30 to 12:30. */
async function outage(world: World, options: object): Promise<void> {
  await world.to("2030-01-01T07:30:00Z");
  await running(world, HOURLY, options);
  await world.to("2030-01-01T08:30:00Z");
  await world.scheduler.stop();
  await world.to("2030-01-01T12:30:00Z");
  await world.scheduler.start();
  await world.to("2030-01-01T12:31:00Z");
}

const DOWN = {
  ...{ kind: "nobodyUp", lacks: "scheduler" },
  ...{ from: "2030-01-01T08:30:00Z", until: "2030-01-01T12:30:00Z" },
};

const catchUps: Row[] = [
  {
    name: "fire times of an outage, of which the latest stands for all",
    at: "2030-01-01T10:00:00Z",
    happens: (world) => outage(world, { coalesce: "latest" }),
    verdict: "coalesced",
    cause: DOWN,
    says: [
      "coalesced: several fire times were due at once, and one job, of Tue 2030-01-01 12:00 UTC, stands for them.",
      'coalesce: "all" makes a job for each fire time.',
    ],
  },
  {
    name: "the one that stands for all",
    at: "2030-01-01T12:00:00Z",
    happens: (world) => outage(world, { coalesce: "latest" }),
    verdict: "success",
    cause: { ...DOWN },
    says: ["30 min late"],
  },
  {
    name: "fire times of an outage, of which the earliest stands for all",
    at: "2030-01-01T11:00:00Z",
    happens: (world) => outage(world, { coalesce: "earliest" }),
    verdict: "coalesced",
    cause: DOWN,
    says: ["one job, of Tue 2030-01-01 09:00 UTC, stands for them."],
  },
  {
    name: "fire times of a pause that one job stands for",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      await running(world, HOURLY);
      await world.to("2030-01-01T08:30:00Z");
      await world.scheduler.pauseSchedule("s", { by: "ada" });
      await world.to("2030-01-01T12:30:00Z");
      await world.scheduler.unpauseSchedule("s");
      await world.to("2030-01-01T12:31:00Z");
    },
    verdict: "coalesced",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-01T08:30:00Z" },
    says: ["Cause: the schedule was paused by ada"],
  },
  {
    name: "fire times of a time in which the scheduler was paused",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      await running(world, HOURLY);
      await world.to("2030-01-01T08:30:00Z");
      world.scheduler.pause();
      await world.to("2030-01-01T12:30:00Z");
      world.scheduler.resume();
      await world.to("2030-01-01T12:31:00Z");
    },
    verdict: "coalesced",
    cause: { kind: "policy", option: "coalesce" },
    says: ["Cause: the schedule's coalesce decided so."],
  },
  {
    name: "a fire time that was too old to be made up for",
    at: "2030-01-01T09:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { maxAge: "2h" } }),
    verdict: "tooOld",
    cause: DOWN,
    says: ["it was due for longer than catchUp.maxAge", "A longer catchUp.maxAge"],
  },
  {
    name: "a fire time that was too old, when others were too many",
    at: "2030-01-01T09:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { maxAge: "2h", maxCount: 1 } }),
    verdict: "tooOld",
    cause: DOWN,
    says: ["it was due for longer than catchUp.maxAge"],
  },
  {
    name: "a fire time that was young enough",
    at: "2030-01-01T11:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { maxAge: "2h" } }),
    verdict: "success",
    cause: DOWN,
    says: ["1 h 30 min late"],
  },
  {
    name: "a fire time beyond the number that is made up for",
    at: "2030-01-01T10:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { maxCount: 2 } }),
    verdict: "overCount",
    cause: DOWN,
    says: ["more fire times were due than catchUp.maxCount makes up for."],
  },
  {
    name: "a job that waits for its turn in catching up",
    at: "2030-01-01T12:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { pace: "10m" } }),
    verdict: "waiting",
    cause: { kind: "policy", option: "catchUp.pace" },
    says: ["the schedule's catchUp.pace decided so."],
  },
  {
    name: "fire times whose runs would have overlapped",
    at: "2030-01-01T10:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", overlap: "skip" }),
    verdict: "overlapSkipped",
    cause: { kind: "unfinishedRun", fireTime: "2030-01-01T09:00:00Z", jobId: "01b8dd74-5940-7400-a000-800000800000" },
    says: ["of Tue 2030-01-01 09:00 UTC, was unfinished."],
  },
  {
    name: "a backup that returned after a month",
    at: "2030-01-15T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE, { coalesce: "all", catchUp: { maxAge: "2d" } });
      await world.to("2030-01-01T12:00:00Z");
      await world.scheduler.stop();
      await world.to("2030-02-01T12:00:00Z");
      await world.scheduler.start();
      await world.to("2030-02-01T12:01:00Z");
    },
    verdict: "tooOld",
    cause: {
      ...{ kind: "nobodyUp", lacks: "scheduler" },
      ...{ from: null, until: "2030-02-01T12:00:00Z" },
    },
    says: ["no scheduler that fires schedules was up until Fri 2030-02-01 12:00 UTC."],
  },
];

describe.each([
  ["an instant", instants],
  ["what clocks do", clocks],
  ["a wait", waits],
  ["a pause", pauses],
  ["a change", changes],
  ["the end of a job", ends],
  ["catching up", catchUps],
  ["what a store remembers", memories],
])("explain tells of %s:", (_, rows) => {
  test.each(rows)("$name", async (row) => {
    await checkRow(row);
  });
});
