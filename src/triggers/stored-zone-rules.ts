import { presentOf, zoneFingerprint, zoneWindowOf } from "../cron/zone-fingerprint.ts";
import type { Trigger } from "./trigger.ts";

/** Where the fingerprints of zones come from; `zoneFingerprint`, or another function in tests. */
export type FingerprintSource = (timeZone: string, firstYear: number) => string | null;

/** The fingerprint of a zone's rules, as a text of zone rules names it. */
export interface ZoneRulesOfZone {
  readonly zone: string;
  /** Such as `2024 1f2e3d4c`: the first year of the window, and a hash. */
  readonly fingerprint: string;
}

const FORM = /^(\S{1,80}) ((\d{4}) [0-9a-f]{8})$/;

const kept = new WeakMap<
  Trigger,
  { readonly text: string | null; readonly fromMs: number; readonly untilMs: number }
>();

/**
 * The rules of the time zones by which a trigger answers here, as a text that is stored beside a next fire time: the
 * fingerprint of each zone, such as `Europe/Berlin 2024 1f2e3d4c`, in the order of their names, joined by commas. Null
 * when no clock change can move its fire times. Computed once per trigger and window.
 *
 * @param nowMs the present, in epoch milliseconds
 */
export function zoneRulesOf(trigger: Trigger, nowMs: number): string | null {
  const known = kept.get(trigger);
  if (known !== undefined && known.fromMs <= nowMs && nowMs < known.untilMs) return known.text;
  const window = zoneWindowOf(nowMs);
  const text = zoneRulesText(trigger, window, zoneFingerprint);
  kept.set(trigger, { text, ...presentOf(window) });
  return text;
}

/** {@link zoneRulesOf} with a given source of fingerprints; nothing is kept. */
export function zoneRulesText(trigger: Trigger, window: number, fingerprintOf: FingerprintSource): string | null {
  const parts: string[] = [];
  for (const zone of [...new Set(trigger.ruleZones)].sort()) {
    const fingerprint = ownFingerprint(zone, window, fingerprintOf);
    if (fingerprint !== null) parts.push(`${zone} ${fingerprint}`);
  }
  return parts.length === 0 ? null : parts.join();
}

/** What a stored text of zone rules names, in the order of the text; null for a text that no trigger writes. */
export function readZoneRules(text: string): readonly (ZoneRulesOfZone & { readonly window: number })[] | null {
  const parts = text.split(",").map((part) => FORM.exec(part));
  return parts.some((match) => match === null)
    ? null
    : parts.map((match) => {
        const [, zone = "", fingerprint = "", year = ""] = match ?? [];
        return { zone, fingerprint, window: Number(year) };
      });
}

/** Null when the zone never changes its offset, or is unknown here: a trigger of the user's may say anything. */
export function ownFingerprint(zone: string, window: number, fingerprintOf: FingerprintSource): string | null {
  try {
    return fingerprintOf(zone, window);
  } catch {
    return null;
  }
}
