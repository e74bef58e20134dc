import { StoreUnavailableError } from "../../core/errors.ts";
import { instantText } from "../../core/temporal.ts";
import type { Environment } from "../environment.ts";
import { schedulerPaused, schedulerResumed } from "../events/event-records.ts";

/** Where the store has a server, the clock of that decides: a host that differs from it by more than a lease begins
 *  nothing. Looks compare the two. */
export class StoreClock {
  readonly #env: Environment;
  /** In epoch milliseconds; null for a store without a clock. */
  #comparedAt: number | null = Number.NEGATIVE_INFINITY;
  #fault: StoreUnavailableError | null = null;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Why nothing is begun here; null while the clocks agree, and for a store without a clock. */
  get fault(): StoreUnavailableError | null {
    return this.#fault;
  }

  /** Whether the clock here may have been set since it was compared: then a look comes first. */
  isUncertain(now: number): boolean {
    const sinceMs = now - (this.#comparedAt ?? now);
    return !(sinceMs >= 0 && sinceMs <= this.#env.leaseMs);
  }

  /** Whether the store's clock agrees. */
  confirms(now: number): boolean {
    return this.#comparedAt !== null && this.#fault === null && !this.isUncertain(now);
  }

  /** Called with what a look tells of the store's clock. */
  compare(storeNow: number | undefined, askedAt: number): void {
    const { clock, events, logger } = this.#env;
    this.#comparedAt = storeNow === undefined ? null : clock.now();
    const fault = clockFault(this.#env, storeNow, askedAt);
    if (fault !== null && this.#fault === null) {
      logger.warn(`escapement: ${fault.message}`);
      events.publish([schedulerPaused(this.#env, fault.message)]);
    } else if (fault === null && this.#fault !== null) {
      logger.info("escapement: this host's clock agrees with the store's again: it goes on");
      events.publish([schedulerResumed(this.#env)]);
    }
    this.#fault = fault;
  }
}

/** Whether a look is to tell what the store's clock says. A virtual clock lacks `every`: nobody else keeps to its
 *  time. */
export function asksForNow({ clock }: Environment): { readonly asksForNow?: true } {
  return clock.every === undefined ? {} : { asksForNow: true };
}

/** Compares the clocks by a read of its own. @throws {StoreUnavailableError} while they differ by more than a lease */
export async function assertStoreClock(env: Environment): Promise<void> {
  const now = env.clock.now();
  const nothing = { now, schedulerId: env.identity, jobs: null, schedules: null, tasks: null };
  const fault = clockFault(env, (await env.store.look({ ...nothing, ...asksForNow(env) })).storeNow, now);
  if (fault !== null) throw fault;
}

/** What a look tells of the store's clock: null while it agrees, and for a store without one. */
export function clockFault(
  { clock, leaseMs }: Environment,
  storeNow: number | undefined,
  askedAt: number,
): StoreUnavailableError | null {
  const now = clock.now();
  if (storeNow === undefined || (storeNow >= askedAt - leaseMs && storeNow <= now + leaseMs)) return null;
  return new StoreUnavailableError(clockFaultText(now, storeNow, leaseMs));
}

/** What is wrong, by how much, and what to do. Times in epoch milliseconds. */
export function clockFaultText(now: number, storeNow: number, leaseMs: number): string {
  const bySeconds = Math.round(Math.abs(now - storeNow) / 1000);
  return (
    `this host's clock is ${bySeconds} s ${now > storeNow ? "ahead of" : "behind"} the store's (${instantText(now)} ` +
    `instead of ${instantText(storeNow)}): nothing fires here until they differ by less than leaseDuration ` +
    `(${leaseMs / 1000} s); let both machines take the time of one server (NTP)`
  );
}
