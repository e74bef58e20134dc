import { DateTrigger, ExcludingTrigger, IntervalTrigger } from "../../../src/mod.ts";
import { updateSchedule } from "../../../src/testing/data-store-contract/makers.ts";
import { BERLIN, cron, NINE, type Row, running, type World } from "../explain-world.ts";

/** As a program of an earlier version does it: on the second day, the rule becomes another, and the ledger learns nothing of it, nor of what follows. */
async function replacedUnseen(world: World): Promise<void> {
  await running(world);
  await world.to("2030-01-02T00:00:00Z");
  const trigger = JSON.stringify(cron("0 10 * * *"));
  const nextFireTime = Date.parse("2030-01-04T10:00:00Z");
  await updateSchedule(world.store, "s", { trigger, triggerRule: trigger, nextFireTime });
  await world.to("2030-01-03T12:00:00Z");
}

/** A schedule that ran every half second, was removed, and came again with a rule that fires at other milliseconds. */
async function comeAgain(world: World, milliseconds: number): Promise<void> {
  const first = new IntervalTrigger({ milliseconds: 500, startTime: "2030-01-02T09:00:00Z" });
  await running(world, first, { coalesce: "all" });
  await world.to("2030-01-02T09:00:05Z");
  await world.scheduler.removeSchedule("s");
  const second = new IntervalTrigger({ milliseconds, startTime: "2030-01-02T09:00:00.250Z" });
  await world.scheduler.addSchedule("t", second, { id: "s", coalesce: "latest" });
  await world.to("2030-01-02T09:00:10Z");
}

export const changes: readonly Row[] = [
  {
    name: "an instant that ran before the schedule was removed, and today's rule fires a moment later",
    at: "2030-01-02T09:00:01Z",
    happens: (world) => comeAgain(world, 1000),
    verdict: "success",
    cause: null,
    says: ["2030-01-02 09:00:01 UTC", "is no fire time of: Every second", "It was one of another rule.", "on time"],
  },
  {
    name: "an instant that ran before the schedule was removed, and today's rule has passed over all of that second",
    at: "2030-01-02T09:00:01.500Z",
    happens: (world) => comeAgain(world, 700),
    verdict: "success",
    cause: null,
    says: ["It was one of another rule."],
  },
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
    name: "a holiday whose fire time was moved",
    at: "2030-01-03",
    happens: async (world) => {
      await running(world, new ExcludingTrigger(cron("0 9 3 * *", BERLIN), ["2030-01-03"], { shift: "after" }));
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2030-01-04T08:00:00Z",
    says: [
      "Thu 2030-01-03 09:00 +01:00 is on an excluded date. The rule fires at Fri 2030-01-04 09:00 +01:00 instead.",
      "moved from excluded dates (2030-01-03) to the next day that is not.",
    ],
  },
  {
    name: "a fire time that was moved from a holiday",
    at: "2030-01-02 09:00",
    happens: (world) =>
      running(world, new ExcludingTrigger(cron("0 9 3 * *", BERLIN), ["2030-01-03"], { shift: "before" })),
    verdict: "upcoming",
    cause: null,
    fireTime: "2030-01-02T08:00:00Z",
    says: ["It was moved from Thu 2030-01-03 09:00 +01:00, which is on an excluded date."],
  },
  {
    name: "a fire time on a holiday that was moved to another, where the rule fires anyway",
    at: "2030-01-04T09:00:00Z",
    happens: (world) => running(world, new ExcludingTrigger(cron(NINE), ["2030-01-03"], { shift: "after" })),
    verdict: "upcoming",
    cause: null,
    says: ["Fri 2030-01-04 09:00 UTC (2030-01-04T09:00:00Z) is a fire time of"],
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
