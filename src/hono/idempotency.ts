import { ConflictingIdError, ScheduleLookupError } from "../core/errors.ts";
import { toEpochMs } from "../core/temporal.ts";
import { textHash } from "../core/text-hash.ts";
import { checkId } from "../scheduler/options/check-options.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import { plain } from "../scheduler/views/plain.ts";

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

/** @param asked the route and what was asked of it */
export function requestKeyOf({ headers }: Request, ...asked: unknown[]): RequestKey | undefined {
  const idempotencyKey = headers.get("idempotency-key");
  return idempotencyKey === null ? undefined : { idempotencyKey, requestHash: textHash(JSON.stringify(asked)) };
}

/** The id of the schedule that a request with a key adds, so that all its repetitions add one.
 *  @throws {OptionsError} for a key that no job may have
 *  @throws {ConflictingIdError} when the schedule was there, and has been removed since */
export async function keyedScheduleId(client: SchedulerClient, key: string, nowMs: number): Promise<string> {
  const id = textHash(checkId(key, "Idempotency-Key"));
  try {
    const [last] = (await client.getScheduleChanges(id, { limit: 1 })).items;
    // As text, because there may be no Temporal.
    if (last?.kind === "removed" && toEpochMs(plain(last).at, "at") > nowMs - KEY_KEPT_MS) {
      throw new ConflictingIdError(`schedule "${id}", which this Idempotency-Key added, has been removed since`, id);
    }
  } catch (error) {
    if (!(error instanceof ScheduleLookupError)) throw error;
  }
  return id;
}
