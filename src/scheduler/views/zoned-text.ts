import { type Temporal, zonedOf } from "../../core/temporal.ts";
import { isoIn } from "../../triggers/words.ts";

/** The text that the `Temporal.ZonedDateTime` of epoch milliseconds has, for a tenth of its cost. */
export function zonedText(epochMs: number, timeZone: string): string {
  return `${isoIn(epochMs, timeZone).replace("Z", "+00:00")}[${timeZone}]`;
}

/** The same for null: null. */
export function zonedTextOrNull(epochMs: number | null, timeZone: string): string | null {
  return epochMs === null ? null : zonedText(epochMs, timeZone);
}

/** The `Temporal.ZonedDateTime` of epoch milliseconds; null for null. */
export function zonedOrNull(epochMs: number | null, timeZone: string): Temporal.ZonedDateTime | null {
  return epochMs === null ? null : zonedOf(epochMs, timeZone);
}
