import type { EventBroker } from "../../brokers/event-broker.ts";
import { sleepFor } from "../../core/clock.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { INSTANT_MS_MAX, instantText } from "../../core/temporal.ts";
import { VERSION } from "../../core/version.ts";
import type { UptimeRecord } from "../../records/ledger.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type { StoreWarning } from "../../stores/data-store.ts";
import { backloggedSchedules } from "../running/schedule-backlogs.ts";
import { clockFaultText } from "../running/store-clock.ts";
import { SchedulerHealth, type StoreFacts } from "../views/health.ts";
import { HEALTH_ANSWER_MS } from "./limits.ts";
import type { VerbContext } from "./verb-context.ts";

/** Clocks that differ by more are a warning, in milliseconds. */
const SKEW_MS_MAX = 1000;

/** Looks at the store and at the schedulers on it. Never rejects, and never waits for long: who asks wants to know that
 *  the store hangs. Logs the warnings that the look before did not have. */
export function healthCheck(context: VerbContext, broker: EventBroker): () => Promise<SchedulerHealth> {
  const { clock, identity, store, logger } = context.env;
  const about = {
    eventsShared: !(broker.isLocal ?? false),
    versions: { package: VERSION, schema: store.schemaVersion ?? null },
  };
  let known: readonly string[] = [];
  const logNew = (warnings: readonly StoreWarning[]): void => {
    for (const { code, message } of warnings) if (!known.includes(code)) logger.warn(`escapement: ${message}`);
    known = warnings.map(({ code }) => code);
  };
  return async () => {
    const answered = new AbortController();
    const late = sleepFor(clock, HEALTH_ANSWER_MS, answered.signal).then(() => {
      throw new StoreUnavailableError(`the store has not answered within ${HEALTH_ANSWER_MS / 1000} s`);
    });
    try {
      const facts = await Promise.race([storeFacts(context), late]);
      logNew(facts.storeWarnings);
      return new SchedulerHealth(identity, clock.now(), facts, null, about);
    } catch (error) {
      return new SchedulerHealth(identity, clock.now(), null, serializedError(error), about);
    } finally {
      answered.abort();
    }
  };
}

async function storeFacts({ env, ready, tasks: own }: VerbContext): Promise<StoreFacts> {
  const { store, clock, identity, leaseMs } = env;
  await ready();
  const askedAt = clock.now();
  const inspection = await store.inspect(askedAt, { checksWrites: true });
  const answeredAt = clock.now();
  const { storeNow, tasks, warnings = [] } = inspection;
  const pauses = await store.getTaskPauses();
  const wrong = (await store.ledger?.getUptimes({ from: answeredAt + 2 * leaseMs, until: INSTANT_MS_MAX })) ?? [];
  const latencyMs = answeredAt - askedAt;
  const clockSkewMs = storeNow === null ? null : Math.round(storeNow - (askedAt + answeredAt) / 2);
  return {
    inspection,
    // The store hears of a task that was registered after the start at the next heartbeat.
    schedulers: (await store.getSchedulers(answeredAt)).map((scheduler) =>
      scheduler.identity === identity ? { ...scheduler, tasks: own.ids } : scheduler,
    ),
    backloggedSchedules: await backloggedSchedules(store, tasks, pauses),
    pauses,
    latencyMs,
    clockSkewMs,
    storeWarnings: [
      ...skewWarnings(answeredAt, clockSkewMs ?? 0, latencyMs / 2, leaseMs),
      ...aheadWarnings(wrong),
      ...warnings,
    ],
  };
}

/** @param wrong uptimes in the future */
function aheadWarnings([first]: readonly UptimeRecord[]): StoreWarning[] {
  if (first === undefined) return [];
  const message =
    `the scheduler "${first.identity}" was up at ${instantText(first.since)}, by a clock that was wrong or that ` +
    "others do not share: schedules that it moved wait until a scheduler with an even clock takes them back, those " +
    "that it added wait for you; if this machine's clock is right, take them back with: escapement heal";
  return [{ code: "clockAhead", message }];
}

/** @param precisionMs how far the skew may be from the true one */
function skewWarnings(now: number, skewMs: number, precisionMs: number, leaseMs: number): StoreWarning[] {
  const byMs = Math.abs(skewMs);
  if (byMs - precisionMs <= SKEW_MS_MAX) return [];
  if (byMs - precisionMs > leaseMs) return [{ code: "clockSkew", message: clockFaultText(now, now + skewMs, leaseMs) }];
  const side = skewMs > 0 ? "ahead of" : "behind";
  const advice = "let both machines take the time of one server";
  const message = `the store's clock is ${byMs} ms ${side} this scheduler's; ${advice}`;
  return [{ code: "clockSkew", message }];
}
