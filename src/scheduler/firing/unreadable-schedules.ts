import { serializedError } from "../../records/serialized-error.ts";
import type { LookedSchedule } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { scheduleDeserializationFailed } from "../events/event-records.ts";
import { TRIGGER_CACHE_MAX } from "./limits.ts";

/** Reports due schedules whose trigger cannot be read here: each schedule by one event, and each reason by one line in
 *  the log. Bounded: the schedule or reason that was reported longest ago is forgotten, and reported again. */
export class UnreadableSchedules {
  readonly #env: Environment;
  readonly #ids = new Set<string>();
  readonly #reasons = new Set<string>();

  constructor(env: Environment) {
    this.#env = env;
  }

  report(schedules: readonly { readonly schedule: LookedSchedule; readonly error: unknown }[]): void {
    const { events, logger } = this.#env;
    const unreported = schedules.filter(({ schedule }) => isNew(this.#ids, schedule.id));
    events.publish(
      unreported.map(({ schedule, error }) =>
        scheduleDeserializationFailed(this.#env, schedule, serializedError(error)),
      ),
    );
    for (const { schedule, error } of unreported) {
      if (!isNew(this.#reasons, serializedError(error).message)) continue;
      logger.warn(
        `escapement: schedule "${schedule.id}" is left to schedulers that can read its trigger, as others like it are`,
        error,
      );
    }
  }
}

function isNew(reported: Set<string>, text: string): boolean {
  if (reported.has(text)) return false;
  if (reported.size >= TRIGGER_CACHE_MAX) {
    for (const oldest of reported) {
      reported.delete(oldest);
      break;
    }
  }
  reported.add(text);
  return true;
}
