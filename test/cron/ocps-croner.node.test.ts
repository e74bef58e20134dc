import { Cron } from "croner";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { dialectCases } from "./dialect-arbitraries.ts";

/** Where croner differs from the text of OCPS: docs/triggers.md names each. */
const DIFFERENCES: readonly RegExp[] = [
  // A step of more than the field has.
  /\/100\b/,
  /^(?:\S+ ){4,5}\S*\/(?:8|9|1\d)\b/,
  // A star of years with a step.
  / (?:\S+,)?\*\/\d+\S*$/,
  // A list of days or weekdays that begins with a star, which OCPS 1.1 takes for a star.
  / \*,/,
  // `L` in a list beside a star.
  /\bL,\S*\*|\*\S*,L\b/,
];

test.each(["UTC", "Europe/Berlin"])("croner answers the same to random text of OCPS, in %s", (timeZone) => {
  // Far from clock changes, of which croner has a rule of its own.
  const from = Date.UTC(2027, 4, 1);
  const until = Date.UTC(2027, 8, 1);
  let count = 0;
  fc.assert(
    fc.property(dialectCases("ocps", timeZone), ({ text }) => {
      fc.pre(!DIFFERENCES.some((difference) => difference.test(text)));
      const ours = CronTrigger.fromCrontab(text, { dialect: "ocps", timeZone });
      const theirs = new Cron(text, { timezone: timeZone });
      let at: number | null = from;
      for (let index = 0; index < 3 && at !== null && at < until; index++) {
        const theirNext: Date | null = theirs.nextRun(new Date(at));
        at = ours.nextMs(at);
        // croner looks less far ahead.
        if (at !== null && at < until) expect([text, theirNext?.toISOString()]).toEqual([text, iso(at)]);
        else expect(theirNext === null || theirNext.getTime() >= until).toBe(true);
        count++;
      }
    }),
    { numRuns: 40 },
  );
  expect(count).toBeGreaterThanOrEqual(40);
});

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

test.each<[text: string, ours: string, theirs: string]>([
  ["0 12 * * * *", "2027-03-28T00:12:00.000Z", "2027-03-28T00:12:00.000Z"],
  ["30 2 * * *", "2027-03-29T00:30:00.000Z", "2027-03-28T01:00:00.000Z"],
])("croner lets a fixed time fire when a gap ends, and OCPS leaves it out: %s", (text, ours, theirs) => {
  const [at, timeZone] = [Date.UTC(2027, 2, 28), "Europe/Berlin"];
  expect(iso(CronTrigger.fromCrontab(text, { dialect: "ocps", timeZone }).nextMs(at) ?? 0)).toBe(ours);
  expect(new Cron(text, { timezone: timeZone }).nextRun(new Date(at))?.toISOString()).toBe(theirs);
});

test.each([
  ["@Daily", true],
  ["? 0 * * *", true],
  ["0 0 1,15W * *", true],
  ["0 0 LW * *", true],
  ["0 0 l * *", true],
  ["*/90 * * * *", false],
])("croner and the text of OCPS disagree about %s", (text, croner) => {
  const isRead = (read: () => unknown): boolean => {
    try {
      return read() !== null;
    } catch {
      return false;
    }
  };
  expect(isRead(() => new Cron(text))).toBe(croner);
  expect(isRead(() => CronTrigger.fromCrontab(text, { dialect: "ocps" }))).toBe(!croner);
});
