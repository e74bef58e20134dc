import { MaxIterationsReachedError } from "../core/errors.ts";
import { brokenTrigger, type Trigger } from "./trigger.ts";

// How a trigger asks the triggers that it is made of. An answer that does not advance, or is no whole number of
// milliseconds, is an error here, because a search over such answers would not end, or would end with what is no
// instant. An error of the budget gets the child's path.

/** The first fire time of a child after an instant. `path` and `index` say where the child stands in its parent. */
export function nextOf(child: Trigger, afterMs: number, path: string, index?: number): number | null {
  try {
    const atMs = child.nextMs(afterMs);
    if (atMs === null || (Number.isInteger(atMs) && atMs > afterMs)) return atMs;
    throw brokenTrigger(child, afterMs, atMs);
  } catch (error) {
    throw locatedIn(error, path, index);
  }
}

/** The last fire time of a child before an instant. */
export function previousOf(child: Trigger, beforeMs: number, path: string, index?: number): number | null {
  try {
    const atMs = child.previousMs(beforeMs);
    if (atMs === null || (Number.isInteger(atMs) && atMs < beforeMs)) return atMs;
    throw brokenTrigger(child, beforeMs, atMs, "earlier");
  } catch (error) {
    throw locatedIn(error, path, index);
  }
}

/** The first fire time of a child's schedule that is added at an instant. */
export function firstOf(child: Trigger, nowMs: number, path: string, index?: number): number | null {
  try {
    return child.firstMs(nowMs);
  } catch (error) {
    throw locatedIn(error, path, index);
  }
}

/** Whether a child fires at an instant. */
export function matchesOf(child: Trigger, atMs: number, path: string, index?: number): boolean {
  try {
    return child.matchesMs(atMs);
  } catch (error) {
    throw locatedIn(error, path, index);
  }
}

function locatedIn(error: unknown, path: string, index: number | undefined): unknown {
  if (!(error instanceof MaxIterationsReachedError)) return error;
  return error.within(index === undefined ? path : `${path}.${index}`);
}
