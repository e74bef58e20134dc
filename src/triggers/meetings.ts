import { MaxIterationsReachedError } from "../core/errors.ts";
import { nextOf, previousOf } from "./asking.ts";
import { QUESTION_STEPS_MAX } from "./limits.ts";
import type { StepShare } from "./step-budget.ts";
import type { Trigger } from "./trigger.ts";
import { isoOf } from "./words.ts";

/** A moment at which all triggers fire within the threshold: the time of the earliest, and each one's time. */
interface Meeting {
  readonly atMs: number;
  readonly timesMs: readonly number[];
}

/** What a question to one of the triggers takes from the budget, with what its answer costs here. */
const STEPS_A_TIME = 2;

/** Where meetings follow each other within the threshold without end, so many are looked at to find a restart point. */
const RESTART_MEETINGS = 256;

/**
 * Where the fire times of several triggers meet.
 *
 * A *possible* meeting is a fire time of one trigger from which on, within the threshold, each other trigger fires as
 * well. A meeting *consumes* the times that met, so that a possible meeting whose times are consumed is none. Which
 * times are consumed depends on the meetings before, but no state is kept between questions. So a search first goes
 * back to a restart point, at which nothing can be consumed yet, and then pairs forwards:
 *
 * - The best restart point is a possible meeting with no other one within the threshold before it, because a meeting
 *   consumes no time that is later than the threshold after it. The first meeting of all is such a point.
 * - Where possible meetings follow each other more closely for very long, the restart point is one that shares no time
 *   with its neighbour before it.
 * - Where there is neither, the budget of the question ends the search.
 */
export class Meetings {
  readonly #triggers: readonly Trigger[];
  readonly #thresholdMs: number;
  readonly #roundsMax: number;
  readonly #share: StepShare;

  constructor(triggers: readonly Trigger[], thresholdMs: number, roundsMax: number, share: StepShare) {
    this.#triggers = triggers;
    this.#thresholdMs = thresholdMs;
    this.#roundsMax = roundsMax;
    this.#share = share;
  }

  /** The first meeting after an instant. */
  next(afterMs: number): number | null {
    const possible = this.#possibleAfter(afterMs);
    if (possible === null) return null;
    let meeting = this.#pair([...this.#restartAt(possible).timesMs]);
    while (meeting !== null && meeting.atMs <= afterMs) meeting = this.#pair(this.#consume(meeting));
    return meeting?.atMs ?? null;
  }

  /** The last meeting before an instant. */
  previous(beforeMs: number): number | null {
    const possible = this.#possibleBefore(beforeMs, Number.NEGATIVE_INFINITY);
    if (possible === null) return null;
    let last: number | null = null;
    let meeting = this.#pair([...this.#restartAt(possible).timesMs]);
    while (meeting !== null && meeting.atMs < beforeMs) {
      last = meeting.atMs;
      meeting = this.#pair(this.#consume(meeting));
    }
    return last;
  }

  // The first possible meeting after an instant.
  #possibleAfter(afterMs: number): Meeting | null {
    let cursorMs = afterMs;
    for (let round = 0; round < this.#roundsMax; round++) {
      const timesMs = this.#timesAfter(cursorMs);
      if (timesMs === null) return null;
      const earliestMs = earliestOf(timesMs);
      const latestMs = latestOf(timesMs);
      if (latestMs - earliestMs <= this.#thresholdMs) return { atMs: earliestMs, timesMs };
      // The latest trigger has no earlier fire time, so the triggers cannot meet before its time less the threshold.
      cursorMs = latestMs - this.#thresholdMs - 1;
    }
    throw this.#apart("after", afterMs);
  }

  // The last possible meeting before an instant, at or after a floor.
  #possibleBefore(beforeMs: number, floorMs: number): Meeting | null {
    // The meeting lies at or before the cursor.
    let cursorMs = beforeMs - 1;
    for (let round = 0; cursorMs >= floorMs; round++) {
      if (round >= this.#roundsMax) throw this.#apart("before", beforeMs);
      // One of the triggers fires at the meeting.
      const latestMs = this.#lastTime(cursorMs + 1, Math.max);
      if (latestMs === null || latestMs < floorMs) return null;
      cursorMs = latestMs;
      // Every trigger fires at the meeting or at most the threshold later. So a trigger whose last such time lies
      // before the cursor moves the cursor back.
      const earliestMs = this.#lastTime(cursorMs + this.#thresholdMs + 1, Math.min);
      if (earliestMs === null) return null;
      if (earliestMs >= cursorMs) {
        const timesMs = this.#timesAfter(cursorMs - 1);
        return timesMs === null ? null : { atMs: cursorMs, timesMs };
      }
      cursorMs = earliestMs;
    }
    return null;
  }

  // A possible meeting, at or before another one, whose times no earlier meeting has consumed.
  #restartAt(possible: Meeting): Meeting {
    // One trigger alone shares no time between its meetings.
    if (this.#triggers.length === 1) return possible;
    let meeting = possible;
    let apart: Meeting | null = null;
    for (let passed = 0; ; passed++) {
      const before = this.#possibleBefore(meeting.atMs, meeting.atMs - this.#thresholdMs);
      if (before === null) return meeting;
      const { timesMs } = meeting;
      if (before.timesMs.every((atMs, index) => atMs < (timesMs[index] ?? 0))) apart = meeting;
      if (passed >= RESTART_MEETINGS && apart !== null) return apart;
      meeting = before;
    }
  }

  // The first meeting of the triggers' times from the given ones on: as long as the times are apart, the earliest is no
  // part of a meeting, and its trigger is asked for the next one.
  #pair(timesMs: number[] | null): Meeting | null {
    if (timesMs === null) return null;
    for (;;) {
      const earliestMs = earliestOf(timesMs);
      const neededMs = latestOf(timesMs) - this.#thresholdMs;
      if (earliestMs >= neededMs) return { atMs: earliestMs, timesMs };
      for (let index = 0; index < timesMs.length; index++) {
        if ((timesMs[index] ?? 0) >= neededMs) continue;
        const nextMs = this.#next(index, neededMs - 1);
        if (nextMs === null) return null;
        timesMs[index] = nextMs;
      }
    }
  }

  // Each trigger's time after the one that met.
  #consume({ timesMs }: Meeting): number[] | null {
    const nextMs: number[] = [];
    for (let index = 0; index < timesMs.length; index++) {
      const found = this.#next(index, timesMs[index] ?? 0);
      if (found === null) return null;
      nextMs.push(found);
    }
    return nextMs;
  }

  #timesAfter(afterMs: number): number[] | null {
    const timesMs: number[] = [];
    for (let index = 0; index < this.#triggers.length; index++) {
      const atMs = this.#next(index, afterMs);
      if (atMs === null) return null;
      timesMs.push(atMs);
    }
    return timesMs;
  }

  // The earliest or the latest of the triggers' last times before an instant. For the latest, a trigger without such a
  // time does not count; for the earliest, it means that there is no meeting.
  #lastTime(beforeMs: number, choose: typeof Math.min): number | null {
    let chosen: number | null = null;
    for (let index = 0; index < this.#triggers.length; index++) {
      const trigger = this.#triggers[index];
      if (trigger === undefined) continue;
      this.#take("before", beforeMs);
      const atMs = previousOf(trigger, beforeMs, "triggers", index);
      if (atMs !== null) chosen = chosen === null ? atMs : choose(chosen, atMs);
      else if (choose === Math.min) return null;
    }
    return chosen;
  }

  #next(index: number, afterMs: number): number | null {
    this.#take("after", afterMs);
    const trigger = this.#triggers[index];
    return trigger === undefined ? null : nextOf(trigger, afterMs, "triggers", index);
  }

  #take(side: string, atMs: number): void {
    if (this.#share.take(STEPS_A_TIME)) return;
    throw new MaxIterationsReachedError(
      `where the triggers come together ${side} ${isoOf(atMs)} was not found within the ` +
        `${QUESTION_STEPS_MAX} steps of one question; ` +
        "check that they can meet, or use a smaller threshold or triggers that fire less often",
    );
  }

  #apart(side: string, atMs: number): MaxIterationsReachedError {
    return new MaxIterationsReachedError(
      `the triggers did not come together within ${this.#roundsMax} rounds ${side} ${isoOf(atMs)}; ` +
        "raise the threshold or maxIterations, or check that they can meet",
    );
  }
}

function earliestOf(timesMs: readonly number[]): number {
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const atMs of timesMs) if (atMs < earliestMs) earliestMs = atMs;
  return earliestMs;
}

function latestOf(timesMs: readonly number[]): number {
  let latestMs = Number.NEGATIVE_INFINITY;
  for (const atMs of timesMs) if (atMs > latestMs) latestMs = atMs;
  return latestMs;
}
