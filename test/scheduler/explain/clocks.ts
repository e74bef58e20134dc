import { CalendarIntervalTrigger, IntervalTrigger, OrTrigger } from "../../../src/mod.ts";
import { BERLIN, cron, NINE, type Row, running } from "../explain-world.ts";

const SPRING = "2027-03-26T12:00:00Z";
const AUTUMN = "2027-10-29T12:00:00Z";

export const clocks: readonly Row[] = [
  {
    name: "a daily time that clocks go over",
    at: "2027-03-28 02:30",
    start: SPRING,
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
    start: SPRING,
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
    start: SPRING,
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
    start: SPRING,
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
    start: SPRING,
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
    start: SPRING,
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
    start: SPRING,
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
    name: "a time of a calendar interval that clocks go over",
    at: "2027-03-28 02:30",
    start: SPRING,
    happens: async (world) => {
      const rule = { days: 1, hour: 2, minute: 30, timeZone: BERLIN, startDate: "2027-03-26" };
      await running(world, new CalendarIntervalTrigger(rule));
      await world.to("2027-03-29T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    fireTime: "2027-03-28T01:00:00Z",
    says: ["02:30 does not exist that day", "The rule fires at 03:00 instead."],
  },
  {
    name: "a date of a calendar interval that skips such times",
    at: "2027-03-28 02:30",
    start: SPRING,
    happens: async (world) => {
      const rule = { days: 1, hour: 2, minute: 30, timeZone: BERLIN, startDate: "2027-03-26" };
      await running(world, new CalendarIntervalTrigger({ ...rule, dst: { gap: "skip" } }));
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
    start: SPRING,
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
    start: AUTUMN,
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
    start: AUTUMN,
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
    start: AUTUMN,
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
    start: AUTUMN,
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
    start: SPRING,
    happens: (world) => running(world, new OrTrigger([cron("0 8 * * *", "America/New_York"), cron(NINE, BERLIN)])),
    verdict: "upcoming",
    cause: null,
    says: ["That day, clocks go from 02:00 to 03:00, in Europe/Berlin."],
  },
];
