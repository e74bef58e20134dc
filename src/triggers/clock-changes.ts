import { zoneTable } from "../cron/zone.ts";

/** A change of a zone's clocks. */
export interface ClockShift {
  readonly atMs: number;
  /** How far the clocks go forward; less than zero when they go back. */
  readonly shiftMs: number;
  /** The offset from then on, east of UTC. */
  readonly offsetMs: number;
}

/** The table of a zone looks so far ahead for a change. */
const STEP_S = 3 * 86_400;
/** Most steps of one search: 40 years, which is more than a preview has of what fires daily. */
const STEPS_MAX = 5000;
/** A repeated time lies at most so long before or after its change. */
const MARGIN_S = 2 * 86_400;

/** The changes of a zone's clocks that may concern what fires between two instants, in order. */
export function* clockChanges(timeZone: string, fromMs: number, untilMs: number): Generator<ClockShift> {
  if (timeZone === "UTC") return;
  const table = zoneTable(timeZone);
  const untilS = Math.ceil(untilMs / 1000) + MARGIN_S;
  // The table begins with 1970.
  let atS = Math.max(Math.floor(fromMs / 1000) - MARGIN_S, MARGIN_S);
  for (let steps = 0; steps < STEPS_MAX && atS < untilS; steps++) {
    const changeS = table.changeAfter(atS);
    if (changeS === null || changeS > atS + STEP_S) {
      atS += STEP_S;
      continue;
    }
    const offset = table.offsetAt(changeS);
    const shift = offset - table.offsetAt(changeS - 1);
    if (shift !== 0) yield { atMs: changeS * 1000, shiftMs: shift * 1000, offsetMs: offset * 1000 };
    atS = changeS;
  }
}
