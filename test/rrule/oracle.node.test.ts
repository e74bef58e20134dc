import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { RRuleTrigger } from "../../src/rrule/mod.ts";

/** What `scripts/lib/rrule_oracle.py` writes. */
interface OracleRule {
  readonly text: string;
  /** The first 12 fire times, as python-dateutil has them. */
  readonly fires: readonly number[];
  /** Places of fire times that clocks go over. */
  readonly gaps: readonly number[];
  /** Whether there are no others. */
  readonly isWhole: boolean;
}

/** Many more of them: `npm run oracle:rrule`. */
const FILE = process.env.RRULE_RULES ?? new URL("golden.jsonl", import.meta.url);
const COUNT = 12;

const rules: OracleRule[] = readFileSync(FILE, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

test(`${rules.length} random rules fire as python-dateutil says, forward and back`, () => {
  const wrong: unknown[] = [];
  for (const { text, fires, gaps, isWhole } of rules) {
    // dateutil takes times in a gap for times, and counts them; RFC 5545 does not.
    const trigger = new RRuleTrigger(text, { dst: { gap: "skip", overlap: "first" } });
    const found: number[] = [];
    for (let at: number | null = trigger.nextMs(-1e14); at !== null && found.length < COUNT; at = trigger.nextMs(at)) {
      found.push(at);
    }
    const back: number[] = [];
    let before: number | null = (found.at(-1) ?? 0) + 1;
    for (; before !== null && back.length < found.length; ) {
      before = trigger.previousMs(before);
      if (before !== null) back.unshift(before);
    }
    const expected = fires.filter((_, place) => !gaps.includes(place));
    const compared = isWhole && gaps.length === 0 ? found : found.slice(0, expected.length);
    const isRight = JSON.stringify(compared) === JSON.stringify(expected);
    if (!isRight || JSON.stringify(back) !== JSON.stringify(found) || trigger.toString() !== text) {
      wrong.push({ text, found, expected, back });
    }
  }
  expect(wrong.slice(0, 5)).toEqual([]);
});
