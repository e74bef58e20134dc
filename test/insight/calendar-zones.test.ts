import ICAL from "ical.js";
import { describe, expect, test } from "vitest";
import { type CalendarFinding, datesFromICalendar } from "../../src/insight/mod.ts";
import { windowsZone } from "../../src/insight/windows-zones.ts";
import { resolveTimeZone } from "../../src/triggers/options.ts";

const range = { from: "2026-02-01", until: "2026-04-30" };

function calendar(events: readonly string[], head = ""): string {
  const blocks = events.map((event) => `BEGIN:VEVENT\nUID:u\nSUMMARY:x\n${event}\nEND:VEVENT\n`);
  return `BEGIN:VCALENDAR\nVERSION:2.0\n${head}${blocks.join("")}END:VCALENDAR\n`;
}

/** The dates in short: `02-16`, `02-16..02-23`, and what could not be read. */
function read(events: readonly string[], head = ""): [dates: string, findings: readonly CalendarFinding[]] {
  const findings: CalendarFinding[] = [];
  const dates = datesFromICalendar(calendar(events, head), { ...range, onFinding: (one) => void findings.push(one) });
  const texts = dates.map((one) =>
    typeof one === "string" ? one.slice(5) : `${one.from.slice(5)}..${one.until.slice(5)}`,
  );
  return [texts.join(" "), findings];
}

/** A series of midnights. */
const series = (zone: string, rest: string): string =>
  `DTSTART;TZID=${zone}:20260216T000000\nDTEND;TZID=${zone}:20260217T000000\n${rest}`;

const OUTLOOK = `BEGIN:VTIMEZONE
TZID:Customized Time Zone
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
`;

describe("times in UTC are read in the zone of their event", () => {
  test.each([
    ["UNTIL", series("Europe/Berlin", "RRULE:FREQ=DAILY;UNTIL=20260222T230000Z"), "02-16..02-23"],
    ["UNTIL of Tokyo", series("Asia/Tokyo", "RRULE:FREQ=DAILY;UNTIL=20260219T150000Z"), "02-16..02-20"],
    ["UNTIL of New York", series("America/New_York", "RRULE:FREQ=DAILY;UNTIL=20260220T045959Z"), "02-16..02-19"],
    [
      "UNTIL in summer time",
      series("Europe/Berlin", "RRULE:FREQ=WEEKLY;UNTIL=20260329T220000Z"),
      "02-16 02-23 03-02 03-09 03-16 03-23 03-30",
    ],
    [
      "EXDATE",
      series("Europe/Berlin", "RRULE:FREQ=DAILY;COUNT=5\nEXDATE:20260217T230000Z"),
      "02-16..02-17 02-19..02-20",
    ],
    [
      "EXDATE of another zone",
      series("Europe/Berlin", "RRULE:FREQ=DAILY;COUNT=5\nEXDATE;TZID=America/New_York:20260217T180000"),
      "02-16..02-17 02-19..02-20",
    ],
    ["RDATE", series("Europe/Berlin", "RDATE:20260302T230000Z"), "02-16 03-03"],
    ["DTEND", "DTSTART;TZID=Europe/Berlin:20260216T000000\nDTEND:20260217T230000Z", "02-16..02-17"],
    ["DTEND of a day of 23 hours", "DTSTART;TZID=Europe/Berlin:20260329T000000\nDTEND:20260329T220000Z", "03-29"],
  ])("%s", (_, event, dates) => {
    expect(read([event])).toEqual([dates, []]);
  });

  test("RECURRENCE-ID", () => {
    const moved = "DTSTART;TZID=Europe/Berlin:20260225T000000\nDTEND;TZID=Europe/Berlin:20260226T000000";
    const events = [series("Europe/Berlin", "RRULE:FREQ=DAILY;COUNT=5"), `RECURRENCE-ID:20260217T230000Z\n${moved}`];
    expect(read(events)).toEqual(["02-16..02-17 02-19..02-20 02-25", []]);
  });

  test.each([
    ["cancelled", "STATUS:CANCELLED", "02-03 02-10"],
    [
      "moved, and longer",
      "DTSTART;VALUE=DATE:20260218\nDTEND;VALUE=DATE:20260220",
      "02-03 02-10 02-18..02-19 02-25..02-26",
    ],
    ["moved back, with the rule", "DTSTART;VALUE=DATE:20260216\nRRULE:FREQ=WEEKLY", "02-03 02-10 02-16 02-23"],
    ["at a time of day", "DTSTART:20260217T090000Z", "02-03 02-10"],
  ])("a change of this and all later days: %s", (_, change, dates) => {
    const all = "DTSTART;VALUE=DATE:20260203\nRRULE:FREQ=WEEKLY;COUNT=4";
    expect(read([all, `RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20260217\n${change}`])).toEqual([dates, []]);
  });

  test("a change of all later days moves some into the range, and some out of it", () => {
    const all = "DTSTART;VALUE=DATE:20251202\nRRULE:FREQ=MONTHLY";
    const later = "RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20260102\nDTSTART;VALUE=DATE:20251228";
    expect(read([all, later])).toEqual(["02-25 03-28 04-27", []]);
  });

  test("of whole days, in the zone of the calendar", () => {
    const days = "DTSTART;VALUE=DATE:20260216\nRRULE:FREQ=DAILY;COUNT=5\nEXDATE:20260217T230000Z";
    expect(read([days], "X-WR-TIMEZONE:Europe/Berlin\n")[0]).toBe("02-16..02-17 02-19..02-20");
    expect(read([days], OUTLOOK)[0]).toBe("02-16..02-17 02-19..02-20");
    expect(read([days])[0]).toBe("02-16 02-18..02-20");
    expect(read([days], "X-WR-TIMEZONE:Mars/Olympus\n")[0]).toBe("02-16 02-18..02-20");
  });
});

describe("the name of a zone may be", () => {
  // Midnight of the 18th in the zone, as UTC has it.
  test.each([
    ["W. Europe Standard Time", "20260217T230000Z"],
    ["w. europe standard time", "20260217T230000Z"],
    ["Pacific Standard Time", "20260218T080000Z"],
    ["Eastern Standard Time (Mexico)", "20260218T050000Z"],
    ["GMT Standard Time", "20260218T000000Z"],
    ["Tokyo Standard Time", "20260217T150000Z"],
    ["/freeassociation.sourceforge.net/Europe/London", "20260218T000000Z"],
    ["/freeassociation.sourceforge.net/Tzfile/Europe/Berlin", "20260217T230000Z"],
    ["/softwarestudio.org/Olson_20011030_5/America/New_York", "20260218T050000Z"],
    ["/mozilla.org/20070129_1/America/Argentina/Buenos_Aires", "20260218T030000Z"],
    ['"tzone://Microsoft/Utc"', "20260218T000000Z"],
    ['"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna"', "20260217T230000Z"],
    ['"(GMT+09:00) Osaka, Sapporo, Tokyo"', "20260217T150000Z"],
    ['"(UTC-05:00) Eastern Time (US & Canada)"', "20260218T050000Z"],
    ['"(GMT-05.00) Eastern Time (US & Canada)"', "20260218T050000Z"],
    ['"(GMT+01.00) Amsterdam / Berlin / Bern / Rome / Stockholm / Vienna"', "20260217T230000Z"],
    ['"(UTC-04:00) Atlantic Time (Canada)"', "20260218T040000Z"],
    ['"(UTC-03:30) Newfoundland"', "20260218T033000Z"],
    ['"(UTC-08:00) Pacific Time (US & Canada)"', "20260218T080000Z"],
    ["UTC+01", "20260217T230000Z"],
    ["GMT-0500", "20260218T050000Z"],
    ["Customized Time Zone", "20260217T230000Z"],
  ])("%s", (zone, at) => {
    const event = series(zone, `RRULE:FREQ=DAILY;COUNT=5\nEXDATE:${at}`);
    expect(read([event], OUTLOOK)).toEqual(["02-16..02-17 02-19..02-20", []]);
  });

  test("any of Windows", () => {
    for (const name of ["Dateline", "Romance", "India", "AUS Eastern", "E. South America", "Newfoundland", "Samoa"]) {
      expect(resolveTimeZone(windowsZone(`${name} Standard Time`) ?? "")).toMatch(/\//);
    }
    expect(windowsZone("UTC-11")).toBe("Etc/GMT+11");
    expect(windowsZone("Mars Standard Time")).toBeUndefined();
  });

  test("that of a VTIMEZONE, which ical.js reads alike", () => {
    const component = new ICAL.Component(ICAL.parse(calendar([], OUTLOOK)));
    const zone = new ICAL.Timezone(component.getFirstSubcomponent("vtimezone") as ICAL.Component);
    for (const day of ["20260216", "20260329", "20260330", "20260415"]) {
      const iso = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00`;
      const midnight = ICAL.Time.fromDateTimeString(iso);
      midnight.zone = zone;
      const utc = new Date(midnight.toUnixTime() * 1000).toISOString().replaceAll(/[-:]|\.000/g, "");
      const event = `DTSTART;TZID=Customized Time Zone:${day}T000000\nDURATION:P1D\nRDATE:${utc}\nRRULE:FREQ=DAILY;COUNT=1`;
      expect(read([event], OUTLOOK)[0]).toBe(iso.slice(5, 10));
      expect(read([`${event}\nEXDATE:${utc}`], OUTLOOK)[0]).toBe("");
    }
  });
});

describe("an event that cannot be read is a finding, and the others are read", () => {
  const holiday = "UID:h\nDTSTART;VALUE=DATE:20260216";
  test.each([
    ["DTSTART;TZID=Mars/Olympus:20260301T000000\nDURATION:P1D", /^TZID is "Mars\/Olympus", which is neither/],
    ["DTSTART;VALUE=DATE:20261301", /^DTSTART must be a date/],
    ["DTSTART;VALUE=DATE:20260301\nRRULE:FREQ=SOMETIMES", /^FREQ must be one of/],
    ["DTSTART;VALUE=DATE:20260301\nRRULE:FREQ=WEEKLY;BYDAY=1FR", /^BYDAY has numbers/],
    ["DTSTART;VALUE=DATE:20260301\nEXDATE:tomorrow", /^EXDATE must be a date/],
    ["DTSTART;VALUE=DATE:20260301\nRDATE;VALUE=PERIOD:20260301T000000Z/P1D", /periods are not supported/],
  ])("%j", (event, message) => {
    expect(read([event, holiday])).toEqual(["02-16", [{ event: "x", message: expect.stringMatching(message) }]]);
  });

  test("a change of an event that cannot be read leaves the event", () => {
    const events = [
      "DTSTART;VALUE=DATE:20260216\nRRULE:FREQ=DAILY;COUNT=2",
      "RECURRENCE-ID:never\nSUMMARY:y\nDTSTART;VALUE=DATE:20260301",
    ];
    const [dates, findings] = read(events);
    expect([dates, findings.length]).toEqual(["02-16..02-17 03-01", 1]);
  });

  test("what has a time of day does not count, whatever is wrong with it", () => {
    expect(read(["DTSTART;TZID=Mars/Olympus:20260301T090000\nRRULE:FREQ=SOMETIMES", holiday])).toEqual(["02-16", []]);
  });

  test("empty dates and commas at the end are no dates", () => {
    const days = "DTSTART;VALUE=DATE:20260216\nRRULE:FREQ=DAILY;COUNT=3";
    expect(read([`${days}\nEXDATE;VALUE=DATE:`])).toEqual(["02-16..02-18", []]);
    expect(read([`${days}\nEXDATE;VALUE=DATE:20260217,`])).toEqual(["02-16 02-18", []]);
    expect(read([`${days}\nRDATE:,`])).toEqual(["02-16..02-18", []]);
    expect(read([`${days}\nEXDATE;VALUE=DATE:20260216,,20260217`])).toEqual(["02-18", []]);
  });
});
