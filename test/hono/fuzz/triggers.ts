import fc from "fast-check";

const mostly = (good: readonly unknown[], bad: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...good) }, fc.constantFrom(...bad));

const cron = mostly(
  ["0 9 * * mon-fri", "* * * * *", "*/5 * * * * *", "0 9 L * *", "0 9 * * fri#2", "@daily"],
  ["0 9 * * mon-fir", "", "* * *", "60 * * * *", "0 0 30 2 *", "9".repeat(2000), "*/0 * * * *", "\u0000", 5],
);
const zone = mostly(["UTC", "Europe/Berlin", "Pacific/Apia", "+05:30"], ["Mars/Olympus", "", "../x", null]);
const every = mostly(["PT5M", "5m", "PT1S", "P1000Y"], ["PT0.001S", "PT0S", "-PT1M", "x", "P1M", "", 60]);
const at = mostly(
  ["2030-01-01T00:00:30Z", "2020-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"],
  ["+275760-09-13T00:00:00Z", "2030-03-31T02:30:00", "tomorrow"],
);
const tags = ["cron", "interval", "calendarInterval", "date", "and", "or", "excluding", "x", "__proto__"] as const;

const simple = fc.oneof(
  fc.record({ cron, timeZone: zone }, { requiredKeys: ["cron"] }),
  fc.record({ every }),
  fc.record({ at, timeZone: zone }, { requiredKeys: ["at"] }),
);

/** Triggers of requests: mostly such as people write, and some that are nested, mixed or tagged with anything. */
export const TRIGGERS: fc.Arbitrary<unknown> = fc.letrec<{ any: unknown; tagged: unknown }>((tie) => ({
  any: fc.oneof({ maxDepth: 4 }, { weight: 5, arbitrary: simple }, { weight: 2, arbitrary: tie("tagged") }),
  tagged: fc.record(
    {
      type: fc.constantFrom(...tags),
      minute: fc.constantFrom("*", 5, "x", -1, null),
      hour: fc.constantFrom("*", "*/2", 99),
      timeZone: zone,
      seconds: fc.constantFrom(1, 0, -5, 1e300, "x"),
      milliseconds: fc.constantFrom(1, 60_000, 0, 0.5, 1e300),
      startTime: at,
      endTime: at,
      runTime: at,
      triggers: fc.array(tie("any"), { maxLength: 4 }),
      trigger: tie("any"),
      threshold: fc.constantFrom("PT1S", "PT0S", 5),
    },
    { requiredKeys: ["type"] },
  ),
})).any;
