import { describe, expect, test } from "vitest";
import { datesFromICalendar, insight, toICalendar } from "../../src/insight/mod.ts";
import { CronTrigger, ExcludingTrigger, MaxIterationsReachedError, OptionsError } from "../../src/mod.ts";
import { RRuleTrigger } from "../../src/rrule/mod.ts";
import { setUpRouter } from "../hono/support.ts";
import { setUp } from "../scheduler/support.ts";
import { datesOf, eventsOf } from "./read-calendar.mjs";

const range = { from: "2030-01-01T00:00:00Z", until: "2030-01-03T00:00:00Z" };
const nine = CronTrigger.fromCrontab("0 9 * * *");

const LONG = "ä€😀 ".repeat(40);
const NAMES = [
  "semi;colon, comma \\ backslash",
  "two\nlines\r\nand more",
  `long ${LONG}end`,
  "BEGIN:VEVENT\r\nEND:VCALENDAR",
  `control ${String.fromCharCode(7, 27)}characters`,
];

describe("a calendar of schedules", () => {
  test("has an event for each fire time, which calendar programs read", () => {
    const text = toICalendar([{ id: "report", taskId: "t", trigger: nine, name: "The report" }], range);
    expect(eventsOf(text)).toEqual(
      ["2030-01-01", "2030-01-02"].map((day) => ({
        uid: `report/${day}T09:00:00Z@escapement`,
        at: `${day}T09:00:00.000Z`,
        summary: "The report",
        description: "Task t. At 09:00, in UTC",
      })),
    );
    expect(text.split("\r\n").slice(0, 20)).toEqual([
      ...["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Escapement//Schedules//EN", "CALSCALE:GREGORIAN"],
      ...["METHOD:PUBLISH", "NAME:Schedules", "X-WR-CALNAME:Schedules"],
      ...["BEGIN:VEVENT", "UID:report/2030-01-01T09:00:00Z@escapement", "DTSTAMP:20300101T000000Z"],
      ...["DTSTART:20300101T090000Z", "SUMMARY:The report", "DESCRIPTION:Task t. At 09:00\\, in UTC", "CATEGORIES:t"],
      ...["TRANSP:TRANSPARENT", "END:VEVENT", "BEGIN:VEVENT", "UID:report/2030-01-02T09:00:00Z@escapement"],
      ...["DTSTAMP:20300101T000000Z", "DTSTART:20300102T090000Z"],
    ]);
  });

  test.each(NAMES)("carries %j as it is, in lines of at most 75 octets", (name) => {
    const text = toICalendar([{ id: name, trigger: nine, name }], { ...range, name });
    const shown = name.replaceAll("\r\n", "\n").replaceAll(/(?!\n)\p{Cc}/gu, "");
    expect(eventsOf(text).map(({ summary, uid }) => [summary, uid.startsWith(shown)])).toEqual(
      Array(2).fill([shown, true]),
    );
    const octets = text.split("\r\n").map((line) => new TextEncoder().encode(line).length);
    expect(octets.filter((count) => count > 75)).toEqual([]);
  });

  test("takes what a scheduler returns, without what is paused, has ended or is too often", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", "0 9 * * *", { id: "daily" });
    await scheduler.addSchedule("t", "* * * * *", { id: "often" });
    await scheduler.addSchedule("t", "0 9 * * *", { id: "paused", paused: true });
    const { items } = await scheduler.getSchedules();
    const events = eventsOf(toICalendar(items, { ...range, limit: 3 }));
    expect(events.map(({ summary }) => summary)).toEqual(["daily", "daily", "often", "often", "often"]);
    expect(eventsOf(toICalendar([{ id: "ended", trigger: nine, nextFireTime: null }], range))).toEqual([]);
  });

  test.each([
    [[{ id: "a", trigger: nine }], { ...range, until: range.from }, /until must be later than from/],
    [[{ id: "a" }], range, /schedules\.0\.trigger must be a trigger/],
    [
      [{ id: "a", trigger: "0 9 * * *" }],
      range,
      /must be a trigger; got "0 9 \* \* \*": write CronTrigger\.fromCrontab/,
    ],
    [[{ id: "a", trigger: nine }], { ...range, til: 1 }, /til is no option/],
    [
      [{ id: "a", trigger: nine }],
      { ...range, until: "2090-01-01T00:00:00Z", limit: 20_000 },
      /more than 10000 fire times/,
    ],
  ])("refuses %j with %j", (schedules, options, message) => {
    expect(() => toICalendar(schedules as never, options as never)).toThrow(message);
  });
});

describe("the calendar of a router", () => {
  const TOKEN = "calendar-token-with-32-characters";

  test("is for tokens of its own, which read nothing else", async () => {
    const granted = [TOKEN];
    const auth = { tokens: [{ token: "router-token-of-32-characters-and-more", scope: "write" as const }] };
    const calendar = { tokens: () => [...granted], name: "Ours" };
    const { router, scheduler } = setUpRouter({ auth, insight: insight({ calendar }) });
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", "0 9 * * *", { id: "daily", payload: { secret: 1 } });
    const ask = (path: string, token?: string): Promise<Response> =>
      Promise.resolve(
        router.request(
          `https://scheduler.test${path}`,
          token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
        ),
      );
    const answer = await ask(`/calendar.ics?token=${TOKEN}&days=2`);
    expect(answer.headers.get("content-type")).toBe("text/calendar; charset=utf-8");
    const text = await answer.text();
    expect(eventsOf(text).map(({ at }) => at)).toEqual(["2030-01-01T09:00:00.000Z", "2030-01-02T09:00:00.000Z"]);
    expect(text).toContain("X-WR-CALNAME:Ours");
    expect(text).not.toContain("secret");
    expect((await ask("/calendar.ics", TOKEN)).status).toBe(200);
    const refused = await Promise.all([
      ...[ask("/calendar.ics"), ask("/calendar.ics?token=wrong"), ask("/calendar.ics", auth.tokens[0]?.token)],
      ...[ask("/schedules", TOKEN), ask(`/schedules?token=${TOKEN}`), ask("/overview", TOKEN)],
    ]);
    expect(refused.map(({ status }) => status)).toEqual(Array(6).fill(401));
    granted.pop();
    expect((await ask(`/calendar.ics?token=${TOKEN}`)).status).toBe(401);
  });

  test("is not there without tokens", async () => {
    const { ask } = setUpRouter({ insight: insight() });
    expect((await ask(`GET /calendar.ics?token=${TOKEN}`)).status).toBe(404);
    expect(() => insight({ calendar: { tokens: ["short"] } })).toThrow(/calendar\.tokens must be a list of 1 to/);
    expect(() => insight({ calendar: { tokens: [] } })).toThrow(OptionsError);
    expect(() => insight({ calender: {} } as never)).toThrow(/did you mean "calendar"/);
  });

  test("has room for all schedules, however often some fire", async () => {
    const calendar = { tokens: [TOKEN] };
    const logged = { warn: [] as string[] };
    const ignore = (): void => {};
    const logger = {
      ...{ debug: ignore, info: ignore, error: ignore },
      warn: (line: string) => {
        if (line.includes("calendar.ics")) logged.warn.push(line);
      },
    };
    const { router, scheduler } = setUpRouter({ logger, insight: insight({ calendar }) });
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", "* * * * * *", { id: "a" });
    await scheduler.addSchedule("t", "0 0 1 2 *", { id: "z" });
    const read = async (days: number) =>
      (await router.request(`https://localhost/calendar.ics?token=${TOKEN}&days=${days}`)).text();
    // Whoever asks the same meanwhile gets the same answer, which is made once.
    const [text, same] = await Promise.all([read(60), read(60)]);
    expect(same).toBe(text);
    const summaries = eventsOf(text).map(({ summary }) => summary);
    expect([summaries.filter((one) => one === "a").length, summaries.filter((one) => one === "z").length]).toEqual([
      1000, 1,
    ]);
    const leftOut = "each has more fire times than the 1000 here: a";
    expect(text.replaceAll("\r\n ", "")).toContain(`\r\nX-ESCAPEMENT-LEFT-OUT:${leftOut}\r\nBEGIN:VEVENT`);
    expect(logged.warn).toEqual([`escapement: GET /calendar.ics leaves fire times out: ${leftOut}`]);
    const short = await router.request(`https://localhost/calendar.ics?token=${TOKEN}&days=1`);
    await scheduler.removeSchedule("a");
    expect([short.status, (await read(59)).includes("LEFT-OUT"), logged.warn.length]).toEqual([200, false, 2]);
  });
});

/** A calendar with events, each as lines. */
function calendar(...events: readonly string[]): string {
  const blocks = events.map((event) => `BEGIN:VEVENT\r\n${event.replaceAll("\n", "\r\n")}\r\nEND:VEVENT\r\n`);
  return `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${blocks.join("")}END:VCALENDAR\r\n`;
}

const years = { from: "2030-01-01", until: "2031-12-31" };

describe("the dates of a calendar", () => {
  test.each([
    ["DTSTART;VALUE=DATE:20300501", ["2030-05-01"]],
    ["DTSTART;VALUE=DATE:20300501\nDTEND;VALUE=DATE:20300502", ["2030-05-01"]],
    ["DTSTART;VALUE=DATE:20300501\nDTEND;VALUE=DATE:20300504", [{ from: "2030-05-01", until: "2030-05-03" }]],
    ["DTSTART;VALUE=DATE:20300501\nDURATION:P1W", [{ from: "2030-05-01", until: "2030-05-07" }]],
    ["DTSTART;VALUE=DATE:20291230\nDURATION:P5D", [{ from: "2030-01-01", until: "2030-01-03" }]],
    ["DTSTART;VALUE=DATE:19000101\nDTEND;VALUE=DATE:99991231", [years]],
    ["DTSTART;VALUE=DATE:19701225\nRRULE:FREQ=YEARLY", ["2030-12-25", "2031-12-25"]],
    ["DTSTART;VALUE=DATE:20281225\nRRULE:FREQ=YEARLY;COUNT=3", ["2030-12-25"]],
    ["DTSTART;VALUE=DATE:20281225\nRRULE:FREQ=YEARLY;UNTIL=20301231T000000Z", ["2030-12-25"]],
    ["DTSTART;VALUE=DATE:20300101\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", ["2030-11-28", "2031-11-27"]],
    [
      "DTSTART;VALUE=DATE:20291231\nDURATION:P2D\nRRULE:FREQ=YEARLY",
      ["2030-01-01", { from: "2030-12-31", until: "2031-01-01" }, "2031-12-31"],
    ],
    [
      "DTSTART;VALUE=DATE:20300101\nRRULE:FREQ=YEARLY\nEXDATE;VALUE=DATE:20310101\nRDATE;VALUE=DATE:20300301,20300302",
      ["2030-01-01", { from: "2030-03-01", until: "2030-03-02" }],
    ],
    ["DTSTART;TZID=Europe/Berlin:20300501T000000\nDTEND;TZID=Europe/Berlin:20300502T000000", ["2030-05-01"]],
    ["DTSTART:20300501T090000Z\nDTEND:20300501T100000Z", []],
    ["DTSTART:20300501T000000Z", []],
    ["DTSTART;VALUE=DATE:20300501\nSTATUS:CANCELLED", []],
    ["DTSTART;VALUE=DATE:20350501", []],
    ["SUMMARY:no start", []],
  ])("of %j are %j", (event, dates) => {
    expect(datesFromICalendar(calendar(event), years)).toEqual(dates);
  });

  test("know what was changed of a recurring event", () => {
    const text = calendar(
      "UID:a\nSUMMARY:Day off\nDTSTART;VALUE=DATE:20300101\nRRULE:FREQ=YEARLY",
      "UID:a\nRECURRENCE-ID;VALUE=DATE:20310101\nDTSTART;VALUE=DATE:20310105",
      "UID:b\nDTSTART;VALUE=DATE:20300701",
    );
    expect(datesFromICalendar(text, years)).toEqual(["2030-01-01", "2030-07-01", "2031-01-05"]);
  });

  test("are read from calendars of programs, with time zones, alarms, folds and a byte order mark", () => {
    const text = `\uFEFFBEGIN:VCALENDAR
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:DAYLIGHT
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
END:VTIMEZONE
a line that is none
BEGIN:VEVENT
DTSTART;VALUE=DATE;X-A="a;b:c":2030
 1225
SUMMARY;LANGUAGE=de:Erster Weih
\tnachtstag
BEGIN:VALARM
TRIGGER:-PT15M
DURATION:P9D
END:VALARM
END:VEVENT
END:VCALENDAR
`;
    expect(datesFromICalendar(text, years)).toEqual(["2030-12-25"]);
  });

  test("are what an ExcludingTrigger leaves out", () => {
    const holidays = datesFromICalendar(calendar("DTSTART;VALUE=DATE:20300102\nDURATION:P2D"), years);
    const trigger = new ExcludingTrigger(CronTrigger.fromCrontab("0 9 * * *"), holidays);
    const days = [...trigger.fireTimes({ from: range.from, limit: 3 })].map((at) => at.toPlainDate().toString());
    expect(days).toEqual(["2030-01-01", "2030-01-04", "2030-01-05"]);
  });

  test("are those that ical.js finds, of random rules", () => {
    const rules = [
      "FREQ=YEARLY;BYMONTH=5;BYDAY=1MO",
      "FREQ=MONTHLY;BYMONTHDAY=-1",
      "FREQ=WEEKLY;INTERVAL=3;BYDAY=TU,SA",
    ];
    for (const rule of rules) {
      const text = calendar(`UID:x\nDTSTART;VALUE=DATE:20300105\nRRULE:${rule};COUNT=20`);
      const found = datesOf(text);
      const expected = found.filter(
        (day) =>
          day <= years.until &&
          new RRuleTrigger(`DTSTART;VALUE=DATE:20300105\nRRULE:${rule}`).matches(`${day}T00:00:00Z`),
      );
      const days = datesFromICalendar(text, years).flatMap((one) =>
        typeof one === "string" ? [one] : [one.from, one.until],
      );
      expect(days.slice(0, 10)).toEqual(expected.slice(0, 10));
    }
  });

  test.each([
    ["", /must be a calendar, which begins with/],
    ["BEGIN:VEVENT\nEND:VEVENT", /must be a calendar/],
    ["<html>", /must be a calendar/],
    ["BEGIN:VCALENDAR\nBEGIN:VEVENT", /ends within "VEVENT"/],
    ["BEGIN:VCALENDAR\nEND:VEVENT", /ends "VEVENT", which is not open/],
    ["BEGIN:VCALENDAR\n".repeat(20), /nests deeper than 16/],
  ])("are not read from %j", (text, message) => {
    const read = () => datesFromICalendar(text, years);
    expect(read).toThrow(OptionsError);
    expect(read).toThrow(message);
  });

  test("are refused where there would be too much to read", () => {
    expect(() => datesFromICalendar("x".repeat(1_000_001), years)).toThrow(/at most 1000000 characters/);
    const many = calendar(...Array(10_001).fill("A:b"));
    expect(() => datesFromICalendar(many, years)).toThrow(/at most 10000 events/);
    const never = "DTSTART;VALUE=DATE:20300101\nRRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30";
    const wide = { from: "2030-01-01", until: "9999-12-31" };
    expect(() => datesFromICalendar(calendar(never), wide)).toThrow(MaxIterationsReachedError);
    const often = calendar(...Array(2000).fill("DTSTART;VALUE=DATE:19700101\nRRULE:FREQ=DAILY"));
    expect(() => datesFromICalendar(often, wide)).toThrow(MaxIterationsReachedError);
    expect(() => datesFromICalendar(calendar(), { from: "2031-01-01", until: "2030-01-01" })).toThrow(
      /must not be earlier/,
    );
    expect(() => datesFromICalendar(5 as never, years)).toThrow(/must be the text of a calendar/);
  });
});
