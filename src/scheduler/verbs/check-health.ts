import { serializedError } from "../../records/serialized-error.ts";
import { backloggedSchedules } from "../running/schedule-backlogs.ts";
import { SchedulerHealth, type StoreFacts } from "../views/health.ts";
import type { VerbContext } from "./verb-context.ts";

/** Looks at the store and at the schedulers on it. Never rejects. */
export async function checkHealth(context: VerbContext): Promise<SchedulerHealth> {
  const { clock, identity } = context.env;
  try {
    return new SchedulerHealth(identity, clock.now(), await storeFacts(context), null);
  } catch (error) {
    return new SchedulerHealth(identity, clock.now(), null, serializedError(error));
  }
}

async function storeFacts({ env: { store, clock }, ready }: VerbContext): Promise<StoreFacts> {
  await ready();
  const askedAt = clock.now();
  const inspection = await store.inspect(askedAt);
  const answeredAt = clock.now();
  const { storeNow, tasks } = inspection;
  return {
    inspection,
    schedulers: await store.getSchedulers(answeredAt),
    backloggedSchedules: await backloggedSchedules(store, tasks),
    latencyMs: answeredAt - askedAt,
    clockSkewMs: storeNow === null ? null : Math.round(storeNow - (askedAt + answeredAt) / 2),
  };
}
