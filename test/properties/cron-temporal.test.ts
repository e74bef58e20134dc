import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Temporal } from "../../src/core/temporal.ts";
import { CompiledCron } from "../../src/cron/compiled-cron.ts";
import type { CronSpec } from "../../src/cron/spec.ts";
import { cases } from "../cron/arbitraries.ts";
import { fromEnvironment } from "../cron/differential.ts";
import { isMatchingDate } from "../cron/oracle.ts";

const CASES = fromEnvironment("SCAN_CASES", 60);
const SEED = fromEnvironment("ORACLE_SEED", Math.floor(Math.random() * 2 ** 31));
/** Instants that a scan looks at, in steps that no fire time can slip through. */
const SCAN_STEPS_MAX = 240;

/** Bounds the work of one test, however many cases are asked for. */
const CASES_PER_TEST = 20;

describe("a scan through Temporal finds what the engine says", () => {
  console.log(`cron scan: SCAN_CASES=${CASES} ORACLE_SEED=${SEED}`);
  for (let first = 0; first < CASES; first += CASES_PER_TEST) {
    const numRuns = Math.min(CASES_PER_TEST, CASES - first);
    test(`in the random cases ${first} to ${first + numRuns - 1}`, () => {
      fc.assert(scanned, { numRuns, seed: SEED + first });
    });
  }
});

const scanned = fc.property(cases(1), ({ spec, instants }) => {
  const cron = new CompiledCron(spec);
  const start = Math.floor((instants[0] ?? 0) / 1000) * 1000;
  const stepMs = hasOnlySecondZero(spec) ? 60_000 : 1000;
  const first = stepMs === 60_000 ? Math.ceil(start / 60_000) * 60_000 : start;
  for (let step = 0; step < SCAN_STEPS_MAX; step++) {
    const ms = first + step * stepMs;
    expect({ ms, fires: cron.matches(ms) }).toEqual({ ms, fires: firesAt(spec, ms) });
  }
});

// Whole minutes suffice where the offset is in whole minutes too.
function hasOnlySecondZero({ seconds, timeZone }: CronSpec): boolean {
  return seconds.lo === 1 && seconds.hi === 0 && timeZone !== "Africa/Monrovia";
}

/** Whether a spec fires at an instant, by Temporal's own words for gaps and overlaps. */
function firesAt(spec: CronSpec, ms: number): boolean {
  const zoned = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(spec.timeZone);
  const wall = zoned.toPlainDateTime();
  if (isMatchingWall(spec, wall)) {
    if (spec.overlap === "both") return true;
    const disambiguation = spec.overlap === "first" ? "earlier" : "later";
    if (wall.toZonedDateTime(spec.timeZone, { disambiguation }).epochMilliseconds === ms) return true;
  }
  if (spec.gap === "skip") return false;
  const change = zoned.add({ nanoseconds: 1 }).getTimeZoneTransition("previous");
  if (change === null) return false;
  const before = change.subtract({ nanoseconds: 1 }).offsetNanoseconds;
  const gapMs = (change.offsetNanoseconds - before) / 1e6;
  const sinceMs = ms - change.epochMilliseconds;
  if (gapMs <= 0 || sinceMs >= gapMs) return false;
  const start = change.toPlainDateTime().subtract({ milliseconds: gapMs });
  if (spec.gap === "shift") return isMatchingWall(spec, start.add({ milliseconds: sinceMs }));
  if (sinceMs !== 0) return false;
  for (let second = 0; second < gapMs / 1000; second++)
    if (isMatchingWall(spec, start.add({ seconds: second }))) return true;
  return false;
}

function isMatchingWall(spec: CronSpec, wall: Temporal.PlainDateTime): boolean {
  const has = ({ lo, hi }: { lo: number; hi: number }, value: number): boolean =>
    ((value < 32 ? lo >>> value : hi >>> (value - 32)) & 1) === 1;
  return (
    has(spec.seconds, wall.second) &&
    has(spec.minutes, wall.minute) &&
    ((spec.hours >>> wall.hour) & 1) === 1 &&
    isMatchingDate(spec, Date.UTC(wall.year, wall.month - 1, wall.day) / 86_400_000)
  );
}
