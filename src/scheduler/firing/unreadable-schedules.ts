import { TRIGGER_CACHE_MAX } from "../../core/limits.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type { LookedSchedule } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { scheduleDeserializationFailed } from "../events/event-records.ts";

/** Tells of due schedules whose trigger cannot be read here: of each schedule by one event, and of each reason by one
 *  line in the log. Bounded: what was told longest ago is forgotten, and told again. */
export class UnreadableSchedules {
  readonly #env: Environment;
  readonly #ids = new Set<string>();
  readonly #reasons = new Set<string>();

  constructor(env: Environment) {
    this.#env = env;
  }

  tell(schedules: readonly { readonly schedule: LookedSchedule; readonly error: unknown }[]): void {
    const { events, logger } = this.#env;
    const untold = schedules.filter(({ schedule }) => isNew(this.#ids, schedule.id));
    events.publish(
      untold.map(({ schedule, error }) => scheduleDeserializationFailed(this.#env, schedule, serializedError(error))),
    );
    for (const { schedule, error } of untold) {
      if (!isNew(this.#reasons, serializedError(error).message)) continue;
      logger.warn(
        `escapement: schedule "${schedule.id}" is left to schedulers that can read its trigger, as others like it are`,
        error,
      );
    }
  }
}

function isNew(told: Set<string>, text: string): boolean {
  if (told.has(text)) return false;
  if (told.size >= TRIGGER_CACHE_MAX) {
    for (const oldest of told) {
      told.delete(oldest);
      break;
    }
  }
  told.add(text);
  return true;
}
