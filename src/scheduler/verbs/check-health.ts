import type { EventBroker } from "../../brokers/event-broker.ts";
import { sleepFor } from "../../core/clock.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { HEALTH_ANSWER_MS } from "../../core/limits.ts";
import { VERSION } from "../../core/version.ts";
import { serializedError } from "../../records/serialized-error.ts";
import { backloggedSchedules } from "../running/schedule-backlogs.ts";
import { SchedulerHealth, type StoreFacts } from "../views/health.ts";
import type { VerbContext } from "./verb-context.ts";

/** Looks at the store and at the schedulers on it. Never rejects, and never waits for long: who asks wants to know that
 *  the store hangs. */
export async function checkHealth(context: VerbContext, broker: EventBroker): Promise<SchedulerHealth> {
  const { clock, identity, store } = context.env;
  const about = {
    eventsShared: !(broker.isLocal ?? false),
    versions: { package: VERSION, schema: store.schemaVersion ?? null },
  };
  const answered = new AbortController();
  const late = sleepFor(clock, HEALTH_ANSWER_MS, answered.signal).then(() => {
    throw new StoreUnavailableError(`the store has not answered within ${HEALTH_ANSWER_MS / 1000} s`);
  });
  try {
    const facts = await Promise.race([storeFacts(context), late]);
    return new SchedulerHealth(identity, clock.now(), facts, null, about);
  } catch (error) {
    return new SchedulerHealth(identity, clock.now(), null, serializedError(error), about);
  } finally {
    answered.abort();
  }
}

async function storeFacts({ env: { store, clock, identity }, ready, tasks: own }: VerbContext): Promise<StoreFacts> {
  await ready();
  const askedAt = clock.now();
  const inspection = await store.inspect(askedAt, { checksWrites: true });
  const answeredAt = clock.now();
  const { storeNow, tasks } = inspection;
  const pauses = await store.getTaskPauses();
  return {
    inspection,
    // The store hears of a task that was registered after the start at the next heartbeat.
    schedulers: (await store.getSchedulers(answeredAt)).map((scheduler) =>
      scheduler.identity === identity ? { ...scheduler, tasks: own.ids } : scheduler,
    ),
    backloggedSchedules: await backloggedSchedules(store, tasks, pauses),
    pauses,
    latencyMs: answeredAt - askedAt,
    clockSkewMs: storeNow === null ? null : Math.round(storeNow - (askedAt + answeredAt) / 2),
  };
}
