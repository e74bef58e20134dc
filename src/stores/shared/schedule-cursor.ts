import { optionError } from "../../core/option-errors.ts";

/** Where a page of schedules in the order of their next fire times ended. */
export interface ScheduleCursor {
  /** Null for a schedule that has no fire time left. Such schedules come last. */
  readonly nextFireTime: number | null;
  readonly id: string;
}

export function scheduleCursor({ nextFireTime, id }: ScheduleCursor): string {
  return `${nextFireTime ?? NEVER} ${id}`;
}

/** @throws {OptionsError} for a text that no page in this order gave */
export function readScheduleCursor(text: string): ScheduleCursor {
  const place = text.indexOf(" ");
  const time = text.slice(0, Math.max(place, 0));
  const nextFireTime = time === NEVER ? null : Number(time);
  if (time !== "" && (nextFireTime === null || Number.isSafeInteger(nextFireTime))) {
    return { nextFireTime, id: text.slice(place + 1) };
  }
  const message = "must be the cursor of a page of schedules in this order; begin again without a cursor";
  throw optionError("getSchedules()", "cursor", message);
}

const NEVER = "never";
