import type { OptionsError } from "../core/errors.ts";
import { listOf, mustBe, optionError } from "../core/option-errors.ts";
import { timerHost } from "../core/timer-host.ts";
import { zoneTable } from "../cron/zone.ts";
import { resolveTimeZone } from "./options.ts";

const WHERE = "preloadZones()";
/** A clock that shows an earlier time does not run: while a Worker's modules are loaded, it stands at 1970. Then the
 *  years from this one on are learned, because one of them is the present. */
const CLOCK_SECONDS_MIN = Date.UTC(2026, 0, 1) / 1000;
const CLOCKLESS_SECONDS = 6 * 365 * 86_400;

/**
 * Learns the clock changes of time zones around the present now, rather than when a trigger is first asked about them:
 * a millisecond or less for each zone, and some 20 milliseconds for the first one of a process where Temporal is not
 * built in. At module scope, this moves that time out of the first request. What lies further ahead or behind is still
 * learned when it is asked for.
 *
 * @param timeZones IANA names, offsets, or `"local"`
 * @throws {OptionsError} when it is no list, or a zone in it is unknown
 *
 * @example
 * preloadZones(["Europe/Berlin", "America/New_York"]); // beside the triggers, at module scope
 */
export function preloadZones(timeZones: readonly string[]): void {
  const list = listOf(timeZones, WHERE, "timeZones");
  if (list === null) {
    throw wrong("timeZones", mustBe('a list of time zones such as ["Europe/Berlin"]', timeZones));
  }
  const now = timerHost.now() / 1000;
  for (const [index, timeZone] of list.entries()) {
    if (typeof timeZone !== "string") throw wrong(`timeZones.${index}`, mustBe("a time zone", timeZone));
    const table = zoneTable(resolveTimeZone(timeZone));
    table.offsetAt(Math.max(now, CLOCK_SECONDS_MIN));
    if (now < CLOCK_SECONDS_MIN) table.offsetAt(CLOCK_SECONDS_MIN + CLOCKLESS_SECONDS);
  }
}

function wrong(path: string, message: string): OptionsError {
  return optionError(WHERE, path, message);
}
