import type { EventBroker } from "../../brokers/event-broker.ts";
import { sleepFor } from "../../core/clock.ts";
import { OptionsError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { BROKER_OPEN_MS } from "./limits.ts";
import { pauseAfterFailure } from "./outage-pause.ts";
import type { SharedParts } from "./shared-parts.ts";

/**
 * Opens the broker of a scheduler. A broker makes a scheduler faster and nothing else, so that none keeps its scheduler
 * from work: a broker that fails, or has not opened after a while, goes on to be opened in the background. As soon as
 * it is open, everybody who goes by events is told that some were missed.
 *
 * @param signal ends the tries
 * @throws {OptionsError} when the broker cannot be opened as it was made
 */
export async function openBroker(
  env: Environment,
  broker: EventBroker,
  shared: SharedParts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, logger } = env;
  const attempt = async (): Promise<void> => shared.open(broker, () => broker.open({ logger }));
  const first = attempt();
  const waiting = new AbortController();
  try {
    const late = sleepFor(clock, BROKER_OPEN_MS, waiting.signal).then(() => "late" as const);
    if ((await Promise.race([first, late])) !== "late") return;
    logger.warn(
      `escapement: the event broker takes more than ${BROKER_OPEN_MS / 1000} s to open; work goes on without`,
    );
  } catch (error) {
    if (error instanceof OptionsError) throw error;
  } finally {
    waiting.abort();
  }
  void openLater(env, first, attempt, signal);
}

async function openLater(
  env: Environment,
  first: Promise<void>,
  attempt: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let opening = first;
  for (let failures = 1; ; failures++) {
    try {
      await opening;
      if (!signal.aborted) env.events.missed();
      return;
    } catch (error) {
      if (signal.aborted) return;
      await pauseAfterFailure(env, "the event broker", error, failures, signal);
    }
    // Nobody would wait for another try.
    if (signal.aborted) return;
    opening = attempt();
  }
}
