import type { Clock } from "../core/clock.ts";
import { READINESS_KEPT_MS } from "../core/limits.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";

interface Look {
  readonly atMs: number;
  readonly isReady: boolean;
}

/** The last look of each scheduler. */
const looks = new WeakMap<SchedulerClient, Look>();

/** Whether the store can be reached. A look is kept for a moment, because strangers may ask, and each look reads the
 *  store. */
export async function isReady(client: SchedulerClient, clock: Clock): Promise<boolean> {
  const atMs = clock.now();
  const last = looks.get(client);
  if (last !== undefined && atMs >= last.atMs && atMs < last.atMs + READINESS_KEPT_MS) return last.isReady;
  const { isStoreReached } = await client.health();
  looks.set(client, { atMs, isReady: isStoreReached });
  return isStoreReached;
}
