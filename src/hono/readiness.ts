import type { Clock } from "../core/clock.ts";
import { JoinedCall } from "../core/joined-call.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import { READINESS_KEPT_MS } from "./limits.ts";

/** The looks at the store of one scheduler. */
class Readiness {
  readonly #look: JoinedCall<boolean>;
  #wasReady = false;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(client: SchedulerClient) {
    this.#look = new JoinedCall(async () => (await client.health()).isStoreReached);
  }

  async at(nowMs: number): Promise<boolean> {
    // A clock that was set back must not keep an old answer.
    if (nowMs >= this.#lookedAtMs && nowMs < this.#lookedAtMs + READINESS_KEPT_MS) return this.#wasReady;
    this.#wasReady = await this.#look.run();
    this.#lookedAtMs = nowMs;
    return this.#wasReady;
  }
}

const known = new WeakMap<SchedulerClient, Readiness>();

/** Whether the store can be reached. Nobody has to sign in to ask that, and a look reads the store. So who asks during
 *  a look shares it, and its answer is given again for a moment. */
export function isReady(client: SchedulerClient, clock: Clock): Promise<boolean> {
  const readiness = known.get(client) ?? new Readiness(client);
  known.set(client, readiness);
  return readiness.at(clock.now());
}
