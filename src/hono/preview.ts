import { instantText, instantTextOrNull } from "../core/temporal.ts";
import { clockMarks } from "../crontab/clock-marks.ts";
import type { Trigger } from "../triggers/trigger.ts";
import { isoIn } from "../triggers/words.ts";
import type { PreviewAnswer } from "./api.ts";

/**
 * Fire times of a trigger, with what changes of the clocks do to them.
 * @param times in epoch milliseconds and in order
 * @param fromMs the instant from which on the trigger was asked
 * @param isWhole whether the trigger has no later fire time
 * @param blackouts the id of the blackout of each fire time that is within one
 */
export function previewOf(
  trigger: Trigger,
  times: readonly number[],
  fromMs: number,
  isWhole: boolean,
  blackouts: ReadonlyMap<number, string | null> = new Map(),
): PreviewAnswer {
  const { timeZone } = trigger;
  const { marks, skipped } = clockMarks(trigger, times, fromMs, isWhole);
  return {
    description: trigger.describe(),
    timeZone,
    items: times.map((at) => ({
      at: instantText(at),
      local: isoIn(at, timeZone),
      clockChange: marks.get(at)?.kind ?? null,
      shiftedFrom: instantTextOrNull(trigger.shiftedFromMs(at)),
      blackout: blackouts.get(at) ?? null,
    })),
    skipped: skipped.map((wallMs) => instantText(wallMs).replace("Z", "")),
  };
}
