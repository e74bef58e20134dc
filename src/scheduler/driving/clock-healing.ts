import { INSTANT_MS_MAX, instantText } from "../../core/temporal.ts";
import type { UptimeRecord } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import { zoneRulesOf } from "../../triggers/stored-zone-rules.ts";
import type { Environment } from "../environment.ts";
import { scheduleSaved } from "../events/event-records.ts";
import { type HostClock, healedFireTime, mayHeal } from "../firing/healed-fire-time.ts";
import { CLOCK_STEADY_MS } from "../firing/limits.ts";
import { HEALED_PAGE_MAX } from "./limits.ts";

interface Healed {
  readonly nextFireTime: number;
  readonly zoneRules: string | null;
}

/** Most schedules that a line of the log names. */
const NAMED_MAX = 5;

/**
 * Takes back schedules that a clock has moved which was wrong for a while.
 *
 * A scheduler whose clock was ahead has left an uptime in the future. Where there is one, and the clock here may be
 * believed, all schedules are looked through, and then what else it wrote is taken back, the uptime too. So a store
 * without such an uptime costs one read now and then.
 */
export class ClockHealing {
  readonly #env: Environment;
  /** Since when the clock here has gone on evenly. */
  #steadySince = Number.POSITIVE_INFINITY;
  #observedAt = Number.NEGATIVE_INFINITY;
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** Whether the clock here was set back since schedules were looked through. */
  #wasSetBack = false;
  #hasWarned = false;

  readonly #signOn: () => Promise<void>;

  /** @param signOn gives a heartbeat where the scheduler ticks */
  constructor(env: Environment, signOn: () => Promise<void>) {
    this.#env = env;
    this.#signOn = signOn;
  }

  /** An uptime that ends after this instant belongs to a wrong clock: nobody has signed on for longer than a lease. */
  uptimeAfter(now: number): number {
    return now + 2 * this.#env.leaseMs;
  }

  /** Called with each heartbeat of a scheduler that stays. @param isDisputed whether a living scheduler has another
   *  time */
  async beat(isDisputed: boolean): Promise<void> {
    const { clock, leaseMs, store, logger } = this.#env;
    const now = clock.now();
    const sinceMs = now - this.#observedAt;
    if (sinceMs < 0) this.#wasSetBack = true;
    if (!(sinceMs >= 0 && sinceMs <= leaseMs)) this.#steadySince = now;
    this.#observedAt = now;
    const steadyMs = now - this.#steadySince;
    if (steadyMs < CLOCK_STEADY_MS || Math.abs(now - this.#checkedAt) < CLOCK_STEADY_MS) return;
    this.#checkedAt = now;
    try {
      const from = this.uptimeAfter(now);
      const wrong = (await store.ledger?.getUptimes({ from, until: INSTANT_MS_MAX })) ?? [];
      if (wrong.length > 0 || this.#wasSetBack)
        await this.#heal({ now, toleranceMs: leaseMs, steadyMs, isDisputed }, wrong);
    } catch (error) {
      logger.warn(
        "escapement: schedules that a wrong clock has moved could not be looked for; tried again later",
        error,
      );
    }
  }

  /**
   * Called by a tick that has found an uptime in the future. Ticks see no clock go on, so what they have is the record
   * of the store: it has to know of a scheduler that was up some minutes ago, and of none that stays and has another
   * time. It leaves such a record itself, for a later tick.
   * @param mayGoOn asked before each request
   * @param isConfirmed whether the store's clock agrees with the one here, which needs no other witness then
   * @returns whether schedules were taken back
   */
  async tick(mayGoOn: () => boolean, isConfirmed: boolean): Promise<boolean> {
    const { store, clock, leaseMs, logger } = this.#env;
    const { ledger = null } = store;
    if (ledger === null || !mayGoOn()) return false;
    const now = clock.now();
    try {
      const uptimes = await ledger.getUptimes({ from: 0, until: INSTANT_MS_MAX });
      const wrong = uptimes.filter(({ until }) => until > this.uptimeAfter(now));
      const hasPast = isConfirmed || uptimes.some(({ since }) => since <= now - CLOCK_STEADY_MS);
      if (!mayGoOn()) return false;
      const alive = await store.getSchedulers(this.uptimeAfter(now));
      const isDisputed = !isConfirmed && alive.some(({ isResident }) => isResident);
      const steadyMs = hasPast ? CLOCK_STEADY_MS : 0;
      // This clock may be wrong as well: then a later tick finds that it was.
      if (mayGoOn()) await this.#signOn();
      return await this.#heal({ now, toleranceMs: leaseMs, steadyMs, isDisputed }, wrong, mayGoOn);
    } catch (error) {
      logger.warn(
        "escapement: schedules that a wrong clock has moved could not be looked for; tried again later",
        error,
      );
      return true;
    }
  }

  async #heal(host: HostClock, wrong: readonly UptimeRecord[], mayGoOn = (): boolean => true): Promise<boolean> {
    const { store, clock } = this.#env;
    if (!mayHeal(host)) {
      this.#warn(host, wrong);
      return false;
    }
    const healed: string[] = [];
    // False while a schedule waits that was added later than now. This clock may itself be the wrong one: another one,
    // or an operator, takes it back.
    let isWhole = true;
    for (let cursor: string | null = null; ; ) {
      if (!mayGoOn()) return healed.length > 0;
      const page: Awaited<ReturnType<typeof store.getSchedules>> = await store.getSchedules({
        limit: HEALED_PAGE_MAX,
        cursor,
      });
      for (const schedule of page.items) {
        if (!mayGoOn()) return healed.length > 0;
        const changes = this.#changesOf(schedule, host);
        if (changes === null) continue;
        if (schedule.createdAt > host.now) isWhole = false;
        else healed.push(...(await this.#healOne(schedule, changes)));
      }
      cursor = page.cursor;
      if (cursor === null) break;
      await clock.yield();
    }
    this.#wasSetBack &&= !isWhole;
    if (mayGoOn()) await store.ledger?.takeBackAfter(host.now + host.toleranceMs, isWhole);
    this.#report(healed, wrong);
    if (!isWhole) this.#warn(host, wrong);
    return healed.length > 0;
  }

  #changesOf(schedule: ScheduleRecord, host: HostClock): Healed | null {
    try {
      const trigger = parseTrigger(schedule.trigger);
      const nextFireTime = healedFireTime(schedule, trigger, { ...host, now: this.#env.clock.now() });
      return nextFireTime === null ? null : { nextFireTime, zoneRules: zoneRulesOf(trigger, host.now) };
    } catch {
      // Who can read its trigger takes it back.
      return null;
    }
  }

  async #healOne(
    { id, fence: expectedFence, nextFireTime: former }: ScheduleRecord,
    changes: Healed,
  ): Promise<string[]> {
    const { store, events, identity, clock } = this.#env;
    const update = { id, expectedFence, changes: { ...changes, paceUntil: null, keepsRevision: true } };
    const [updated = null] = await store.updateSchedules([update], { at: clock.now(), by: identity });
    if (updated === null) return [];
    events.publish([scheduleSaved(this.#env, updated, "updated")]);
    const instead = former === null ? "no more" : instantText(former);
    return [`"${id}" at ${instantText(changes.nextFireTime)} instead of ${instead}`];
  }

  #report(healed: readonly string[], wrong: readonly UptimeRecord[]): void {
    if (healed.length === 0) return;
    const more = healed.length > NAMED_MAX ? ", ..." : "";
    this.#env.logger.warn(
      `escapement: schedules fire by the clock here again, after a clock that was ahead (${healed.length}): ` +
        `${healed.slice(0, NAMED_MAX).join(", ")}${more}${shown(wrong)}`,
    );
  }

  #warn({ isDisputed }: HostClock, wrong: readonly UptimeRecord[]): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const why = isDisputed ? "a living scheduler has another time" : "the clock here is not known to be right";
    this.#env.logger.warn(
      "escapement: schedules may wait for fire times that a wrong clock gave them" +
        `${shown(wrong)}; ${why}: synchronize the clocks (NTP), or take them back with: escapement heal`,
    );
  }
}

/** Whose clock it was. */
function shown(wrong: readonly UptimeRecord[]): string {
  const [first] = wrong;
  return first === undefined
    ? ""
    : `; the scheduler "${first.identity}" was up at ${instantText(first.since)} by its clock`;
}
