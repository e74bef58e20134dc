import { ConflictingIdError, ScheduleLookupError } from "../core/errors.ts";
import { ID_LENGTH_MAX } from "../core/limits.ts";
import { mustBe, optionError } from "../core/option-errors.ts";
import { textHash } from "../core/text-hash.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";

/** How long the key of a request stays taken, because a request may be repeated after its job has ended. */
export const KEY_KEPT = "PT10M";
const KEY_KEPT_MS = 600_000;

/** What makes a request repeatable. */
export interface RequestKey {
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey: string;
  /** Differs for another request under the same key. */
  readonly requestHash: string;
}

/** @param asked the route and what was asked of it @throws {OptionsError} for a key that no job may have */
export function requestKeyOf({ headers }: Request, route: string, ...asked: unknown[]): RequestKey | undefined {
  const idempotencyKey = headers.get("idempotency-key");
  if (idempotencyKey === null) return undefined;
  if (idempotencyKey.length === 0 || idempotencyKey.length > ID_LENGTH_MAX) {
    throw optionError(route, "idempotencyKey", mustBe(`text of 1 to ${ID_LENGTH_MAX} characters`, idempotencyKey));
  }
  return { idempotencyKey, requestHash: textHash(JSON.stringify([route, ...asked])) };
}

/** The id of the schedule that a request with a key adds, so that all its repetitions add one.
 *  @throws {ConflictingIdError} when the schedule was there, and has been removed since */
export async function keyedScheduleId(client: SchedulerClient, key: string, nowMs: number): Promise<string> {
  const id = textHash(key);
  try {
    const [last] = (await client.getScheduleChanges(id, { limit: 1 })).items;
    if (last?.kind === "removed" && last.at.epochMilliseconds > nowMs - KEY_KEPT_MS) {
      throw new ConflictingIdError(`schedule "${id}", which this Idempotency-Key added, has been removed since`, id);
    }
  } catch (error) {
    if (!(error instanceof ScheduleLookupError)) throw error;
  }
  return id;
}
