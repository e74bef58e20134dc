import { IntervalTrigger } from "../../../src/mod.ts";
import { cron, NINE, type Row, running } from "../explain-world.ts";

export const instants: readonly Row[] = [
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
