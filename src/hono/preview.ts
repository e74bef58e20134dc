import { instantText } from "../core/temporal.ts";
import type { Trigger } from "../triggers/trigger.ts";
import { isoIn } from "../triggers/words.ts";
import type { Preview } from "./api.ts";

/** Fire times of a trigger, in epoch milliseconds and in order, with what changes of the clocks do to them. */
export function previewOf(trigger: Trigger, times: readonly number[]): Preview {
  const { timeZone } = trigger;
  return {
    description: trigger.describe(),
    timeZone,
    items: times.map((at) => ({ at: instantText(at), local: isoIn(at, timeZone), clockChange: null })),
    skipped: [],
  };
}
