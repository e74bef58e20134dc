import { describe, expect, test } from "vitest";
import {
  CronTrigger,
  MaxIterationsReachedError,
  MemoryDataStore,
  OptionsError,
  OrTrigger,
  Scheduler,
} from "../../src/mod.ts";
import { type RRuleOptions, RRuleTrigger, registerRRule } from "../../src/rrule/mod.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import { stepsTaken } from "../../src/triggers/step-budget.ts";
import { setUp } from "../scheduler/support.ts";

const BERLIN = "DTSTART;TZID=Europe/Berlin:20300101T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO,FR";

/** The first fire times, as clocks in the zone show them with the offset. */
function timesOf(text: string, count: number, options: RRuleOptions = {}, from = "1990-01-01T00:00:00Z"): string[] {
  const trigger = new RRuleTrigger(text, options);
  return [...trigger.fireTimes({ from, limit: count })].map((time) => time.toString({ timeZoneName: "never" }));
}

describe("an RRuleTrigger", () => {
  test("fires as its rule says, in its time zone", () => {
    expect(timesOf(BERLIN, 3)).toEqual([
      "2030-01-04T09:00:00+01:00",
      "2030-01-07T09:00:00+01:00",
      "2030-01-11T09:00:00+01:00",
    ]);
  });

  test.each([
    ["DTSTART:20300131T100000Z\nRRULE:FREQ=MONTHLY", "2030-01-31 2030-03-31 2030-05-31 2030-07-31"],
    ["DTSTART:20300101T100000Z\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-1", "2030-01-31 2030-02-28 2030-03-31 2030-04-30"],
    ["DTSTART:20280229T100000Z\nRRULE:FREQ=YEARLY", "2028-02-29 2032-02-29 2036-02-29 2040-02-29"],
    [
      "DTSTART:20300101T100000Z\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
      "2030-01-31 2030-02-28 2030-03-29 2030-04-30",
    ],
    ["DTSTART:20300101T100000Z\nRRULE:FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO", "2030-12-30 2031-12-29 2033-01-03 2034-01-02"],
    ["DTSTART:20210303T100000Z\nRRULE:FREQ=YEARLY;BYWEEKNO=52;BYDAY=SA", "2022-01-01 2022-12-31 2023-12-30 2024-12-28"],
    ["DTSTART:20300101T100000Z\nRRULE:FREQ=YEARLY;BYDAY=-1FR", "2030-12-27 2031-12-26 2032-12-31 2033-12-30"],
    [
      "DTSTART:20300101T100000Z\nRRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU",
      "2030-01-13 2030-01-27 2030-02-10 2030-02-24",
    ],
    ["DTSTART;VALUE=DATE:20300101\nRRULE:FREQ=DAILY;UNTIL=20300103", "2030-01-01 2030-01-02 2030-01-03"],
    ["DTSTART:20300101T100000Z\nRDATE:20300105T100000Z,20300103T100000Z", "2030-01-03 2030-01-05"],
    [
      "DTSTART:20300101T100000Z\nRRULE:FREQ=DAILY;COUNT=4\nEXDATE:20300102T100000Z\nRDATE:20300109T100000Z",
      "2030-01-01 2030-01-03 2030-01-04 2030-01-09",
    ],
  ])("%j fires on %s", (text, dates) => {
    expect(timesOf(text, 4).map((time) => time.slice(0, 10))).toEqual(dates.split(" "));
  });

  test("does what the policy says where clocks change", () => {
    const daily = "DTSTART;TZID=Europe/Berlin:20270327T023000\nRRULE:FREQ=DAILY;COUNT=2";
    expect(timesOf(daily, 9)).toEqual(["2027-03-27T02:30:00+01:00", "2027-03-28T03:00:00+02:00"]);
    // What does not exist does not count either.
    expect(timesOf(daily, 9, { dst: { gap: "skip" } })).toEqual([
      "2027-03-27T02:30:00+01:00",
      "2027-03-29T02:30:00+02:00",
    ]);
    expect(timesOf(daily, 9, { dst: { gap: "shift" } })[1]).toBe("2027-03-28T03:30:00+02:00");
    const back = "DTSTART;TZID=Europe/Berlin:20271031T023000\nRRULE:FREQ=DAILY;COUNT=1";
    expect(timesOf(back, 9)).toEqual(["2027-10-31T02:30:00+02:00"]);
    expect(timesOf(back, 9, { dst: { overlap: "both" } })).toEqual([
      "2027-10-31T02:30:00+02:00",
      "2027-10-31T02:30:00+01:00",
    ]);
    const often = "DTSTART;TZID=Europe/Berlin:20271031T013000\nRRULE:FREQ=MINUTELY;INTERVAL=30";
    expect(timesOf(often, 5).map((time) => time.slice(11))).toEqual([
      ...["01:30:00+02:00", "02:00:00+02:00", "02:30:00+02:00", "02:00:00+01:00", "02:30:00+01:00"],
    ]);
    const shifted = "DTSTART;TZID=Europe/Berlin:20270328T020000\nRRULE:FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30";
    const times = timesOf(shifted, 4, { dst: { gap: "shift" } }).map((time) => time.slice(8, 16));
    expect(times).toEqual(["28T03:00", "28T03:30", "29T02:00", "29T02:30"]);
    const trigger = new RRuleTrigger(often);
    const there = [...trigger.fireTimes({ from: "2027-10-30T23:00:00Z", limit: 8 })].map(
      (time) => time.epochMilliseconds,
    );
    for (const [place, at] of there.entries())
      expect(trigger.previousMs(at)).toBe(place === 0 ? null : there[place - 1]);
  });

  test("begins with the first fire time that is not past", () => {
    const trigger = new RRuleTrigger("DTSTART:20200101T090000Z\nRRULE:FREQ=DAILY");
    const now = Date.UTC(2030, 0, 1, 12);
    expect(trigger.firstMs(now)).toBe(Date.UTC(2030, 0, 2, 9));
    expect(trigger.previous("2030-01-01T12:00:00Z")?.toString()).toBe("2030-01-01T09:00:00+00:00[UTC]");
    expect(trigger.previous("2020-01-01T09:00:00Z")).toBeNull();
  });

  test("ends with COUNT, UNTIL and the year 9999", () => {
    const last = (text: string): string | undefined => timesOf(text, 100).at(-1);
    expect(last("DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;COUNT=3")).toBe("2030-01-03T09:00:00+00:00");
    expect(last("DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;UNTIL=20300104T090000Z")).toBe("2030-01-04T09:00:00+00:00");
    expect(last("DTSTART:99990101T090000Z\nRRULE:FREQ=MONTHLY")).toBe("9999-12-01T09:00:00+00:00");
    const trigger = new RRuleTrigger("DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;COUNT=3");
    expect(trigger.previous("2099-01-01T00:00:00Z")?.toString()).toBe("2030-01-03T09:00:00+00:00[UTC]");
  });

  test("takes a text with folded lines, and gives the text back", () => {
    const folded = "DTSTART;TZID=Europe/Berlin:20300101T0900\r\n 00\r\nRRULE:FREQ=WEEKLY;B\r\n\tYDAY=MO,FR\r\n";
    const trigger = new RRuleTrigger(folded);
    expect(trigger.toString()).toBe(BERLIN);
    expect(trigger.isSameRule(new RRuleTrigger(BERLIN))).toBe(true);
  });

  test.each([
    [BERLIN, {}],
    ["DTSTART:20300101T090000\nRRULE:FREQ=DAILY", { timeZone: "America/New_York" }],
    ["DTSTART:20300101T090000\nRRULE:FREQ=DAILY;BYHOUR=9", { dst: { gap: "skip" } }],
  ] as const)("%j comes back from JSON", (text, options) => {
    const trigger = new RRuleTrigger(text, options);
    const copy = triggerFromJSON(JSON.parse(JSON.stringify(trigger)));
    expect(copy).toBeInstanceOf(RRuleTrigger);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(trigger));
    expect(copy.next("2030-01-01T00:00:00Z")?.toString()).toBe(trigger.next("2030-01-01T00:00:00Z")?.toString());
    expect(copy.toString()).toBe(text);
  });

  test("comes back from a store, fires, and combines with other triggers", async () => {
    registerRRule();
    const { scheduler, clock } = setUp();
    const ran: string[] = [];
    scheduler.task("t", (_, { job }) => void ran.push(`${job.scheduledFireTime}`));
    const rule = new RRuleTrigger("DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;COUNT=2");
    await scheduler.addSchedule("t", new OrTrigger([rule, CronTrigger.fromCrontab("0 12 1 1 *")]), { id: "s" });
    await scheduler.start();
    await clock.advanceTo("2030-01-02T10:00:00Z");
    expect(ran).toEqual(["2030-01-01T09:00:00Z", "2030-01-01T12:00:00Z", "2030-01-02T09:00:00Z"]);
    expect((await scheduler.getSchedule("s")).trigger.describe()).toContain("Every day at 09:00");
  });

  test.each([
    [BERLIN, "Every week on Monday and Friday at 09:00, in Europe/Berlin, from 2030-01-01 09:00"],
    [
      "DTSTART:20300101T093000Z\nRRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=2TU,-1FR;COUNT=5",
      "Every 2 months on the 2nd Tuesday and the last Friday at 09:30, in UTC, from 2030-01-01 09:30, 5 times",
    ],
    [
      "DTSTART;VALUE=DATE:20300101\nRRULE:FREQ=YEARLY;BYMONTH=1,7;BYMONTHDAY=-1;UNTIL=20351231",
      "Every year in January and July on the last day of the month, in UTC, from 2030-01-01 until 2035-12-31",
    ],
    [
      "DTSTART:20300101T000000Z\nRRULE:FREQ=MINUTELY;INTERVAL=5;BYHOUR=9,10\nEXDATE:20300101T090000Z",
      "Every 5 minutes in hour 9 and 10, in UTC, from 2030-01-01 00:00, but not on 1 date",
    ],
    [
      "DTSTART:20300101T090000Z\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
      "Every month on Monday, Tuesday, Wednesday, Thursday and Friday at 09:00 (of each month, the last only), in UTC, " +
        "from 2030-01-01 09:00",
    ],
    [
      "DTSTART:20300101T090000Z\nRRULE:FREQ=YEARLY;BYWEEKNO=20,-1;BYDAY=MO\nRDATE:20300102T090000Z,20300103T090000Z",
      "Every year in week 20 and the last week on Monday at 09:00, in UTC, from 2030-01-01 09:00, and on 2 dates",
    ],
  ])("%j is %j", (text, words) => {
    expect(new RRuleTrigger(text).describe()).toBe(words);
  });

  test.each([
    ["", /must be lines NAME:value/],
    [5, /must be text of RFC 5545/],
    ["FREQ=DAILY", /must be lines NAME:value/],
    ["RRULE:FREQ=DAILY", /DTSTART is missing/],
    ["DTSTART:20300101T090000Z", /RRULE is missing/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY\nRRULE:FREQ=DAILY", /RRULE comes twice; take an OrTrigger/],
    ["DTSTART:20300101T090000Z\nEXRULE:FREQ=DAILY", /take an ExcludingTrigger/],
    ["DTSTART:20300132T090000Z\nRRULE:FREQ=DAILY", /DTSTART must be a date and a time/],
    ["DTSTART;TZID=Nowhere/Land:20300101T090000\nRRULE:FREQ=DAILY", /DTSTART\.TZID must be an IANA time zone/],
    ["DTSTART;TZID=Europe/Berlin:20300101T090000Z\nRRULE:FREQ=DAILY", /a TZID and a Z/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=DAYLY", /FREQ must be one of YEARLY/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;BYDAYS=MO", /has "BYDAYS", which is none of FREQ/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;BYHOUR=24", /BYHOUR must be a number from 0 to 23; got "24"/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;INTERVAL=0", /INTERVAL must be a whole number from 1/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;COUNT=2;UNTIL=20310101T000000Z", /COUNT and UNTIL do not go together/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;UNTIL=20310101", /UNTIL must have dates with times/],
    ["DTSTART;VALUE=DATE:20300101\nRRULE:FREQ=DAILY\nEXDATE:20300102T000000Z", /EXDATE must have dates without times/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=MONTHLY;BYWEEKNO=1", /BYWEEKNO goes with FREQ=YEARLY alone/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=WEEKLY;BYDAY=2MO", /BYDAY has numbers/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=MONTHLY;BYDAY=XX", /BYDAY must be a weekday/],
    ["DTSTART:20300101T090000Z\nRRULE:FREQ=MONTHLY;BYSETPOS=1", /BYSETPOS takes some of what another part gives/],
    ["DTSTART:20300101T090000Z\nRDATE;VALUE=PERIOD:20300101T000000Z/PT1H", /periods are not supported/],
  ])("refuses %j", (text, message) => {
    const make = () => new RRuleTrigger(text as string);
    expect(make).toThrow(OptionsError);
    expect(make).toThrow(message);
  });

  test("refuses texts and lists that are too long", () => {
    const dates = Array(1001).fill("20300101T000000Z").join(",");
    expect(() => new RRuleTrigger(`DTSTART:20300101T090000Z\nRDATE:${dates}`)).toThrow(/at most 1000 dates/);
    const long = `DTSTART:20300101T090000Z\nRRULE:FREQ=DAILY;BYHOUR=${"1,".repeat(40_000)}1`;
    expect(() => new RRuleTrigger(long)).toThrow(/at most 32768 characters/);
  });

  test("refuses wrong options", () => {
    expect(() => new RRuleTrigger(BERLIN, { timeZone: "UTC" })).toThrow(/is for a text that names no time zone/);
    expect(() => new RRuleTrigger(BERLIN, { tz: "UTC" } as never)).toThrow(OptionsError);
    expect(() => triggerFromJSON({ type: "rrule", version: 1, text: 5 })).toThrow(/text must be text of RFC 5545/);
  });

  test.each([
    "RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
    "RRULE:FREQ=SECONDLY;INTERVAL=3600;BYMINUTE=30",
    "RRULE:FREQ=MINUTELY;INTERVAL=1440;BYHOUR=3;BYMINUTE=4",
    "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "RRULE:FREQ=YEARLY;BYYEARDAY=366;BYMONTHDAY=1",
    "RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;BYHOUR=0,1,2,3;BYMINUTE=0,1,2,3",
    "RRULE:FREQ=SECONDLY;COUNT=999999999",
    "RRULE:FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4,6;BYSETPOS=300",
  ])("%s ends within the steps of a question, at once, whatever is asked", (rule) => {
    const trigger = new RRuleTrigger(`DTSTART;TZID=Europe/Berlin:20300101T000007\n${rule}`);
    for (const ask of [() => trigger.nextMs(0), () => trigger.previousMs(4e12)]) {
      let answer: number | null = null;
      try {
        answer = ask();
      } catch (error) {
        expect(error).toBeInstanceOf(MaxIterationsReachedError);
      }
      expect(answer).toBeNull();
      expect(stepsTaken()).toBeLessThan(300_000);
    }
  });

  test("a schedule whose rule never fires holds up no other", async () => {
    const { clock, scheduler } = setUp({ dataStore: new MemoryDataStore() });
    scheduler.task("t", () => {});
    const never = new RRuleTrigger("DTSTART:20300101T000000Z\nRRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30");
    await expect(scheduler.addSchedule("t", never)).rejects.toThrow(MaxIterationsReachedError);
    await scheduler.addSchedule("t", "@hourly", { id: "s" });
    await scheduler.start();
    await clock.advance("PT2H");
    expect(scheduler).toBeInstanceOf(Scheduler);
    expect((await scheduler.getSchedule("s")).lastFireTime?.toString()).toBe("2030-01-01T02:00:00Z");
  });
});
