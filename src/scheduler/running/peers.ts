import type { Heartbeat, LeaseEnd } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { CLOCK_WARNINGS_APART_MS, HEARTBEAT_SLACK_MS_MAX } from "./limits.ts";

/** Another run of a scheduler. All instants are by the clock here, in epoch milliseconds. */
interface Peer {
  readonly heartbeat: Heartbeat;
  /** Until when its leases count as live, because its last heartbeat may have come this late. */
  readonly liveUntil: number;
  /** From when on its leases count as ended, whatever instants they carry: a lease after the heartbeat was seen. */
  readonly deadFrom: number;
  /** When a commit last ended its leases; minus infinity for never. */
  endedAt: number;
  /** How far its clock is ahead, in milliseconds, as far as is known. */
  readonly aheadMs: number;
}

/**
 * What the heartbeats of other schedulers tell, as this one observes them. Clocks may differ by more than a lease. So
 * what counts is not the instant that a heartbeat carries, but whether there was another one since the last
 * observation. There is an observation with each heartbeat of this scheduler, and before each recovery.
 */
export class Peers {
  readonly #env: Environment;
  #peers: ReadonlyMap<string, Peer> = new Map();
  /** When the store was asked last. */
  #askedAt = Number.NEGATIVE_INFINITY;
  /** When the last event of another scheduler's start came. */
  #startedAt = Number.NEGATIVE_INFINITY;
  readonly #warnedAt = new Map<string, number>();
  #hasWarnedOfDuplicate = false;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Compares heartbeats with those of the last observation. @param askedAt when the store was asked for them */
  observed(heartbeats: readonly Heartbeat[], askedAt: number): void {
    const { clock, leaseMs } = this.#env;
    const now = clock.now();
    const sinceMs = askedAt - this.#askedAt;
    // After a gap, be it a standstill or a clock that was set, it is unknown who is alive: they are observed anew.
    const isAnew = !(sinceMs >= 0 && sinceMs <= (2 * leaseMs) / 3);
    const before = isAnew ? Number.NEGATIVE_INFINITY : this.#askedAt;
    this.#askedAt = askedAt;
    const peers = new Map<string, Peer>();
    for (const heartbeat of heartbeats) {
      const { instanceId, at, aliveUntil } = heartbeat;
      const known = this.#peers.get(instanceId);
      const isSame = known?.heartbeat.at === at;
      if (known !== undefined && isSame && !isAnew) {
        peers.set(instanceId, known);
        continue;
      }
      const itsLeaseMs = aliveUntil - at;
      const periodMs = itsLeaseMs / 3;
      const liveUntil = Math.max(
        before + itsLeaseMs,
        Math.ceil(now + periodMs + Math.min(periodMs / 10, HEARTBEAT_SLACK_MS_MAX)),
      );
      const seenAfter = known === undefined || isSame ? Number.NEGATIVE_INFINITY : before;
      const aheadMs = aheadOf(heartbeat, seenAfter, now);
      const deadFrom = now + itsLeaseMs;
      peers.set(instanceId, { heartbeat, liveUntil, deadFrom, endedAt: Number.NEGATIVE_INFINITY, aheadMs });
      this.#compareClocks(heartbeat, aheadMs, seenAfter, now);
      if (known !== undefined && !isSame) this.#warnOfDuplicate(heartbeat);
    }
    this.#peers = peers;
  }

  /** The heartbeats of the last observation. */
  get heartbeats(): readonly Heartbeat[] {
    return [...this.#peers.values()].map(({ heartbeat }) => heartbeat);
  }

  /** Another scheduler has started. It counts as alive for a lease; then its heartbeats say whether it is. */
  started(now: number): void {
    this.#startedAt = now;
  }

  /** Whether another resident scheduler is alive, as far as is known. */
  areAlive(now: number): boolean {
    const sinceMs = now - this.#startedAt;
    if (sinceMs >= 0 && sinceMs < this.#env.leaseMs) return true;
    for (const { heartbeat, liveUntil } of this.#peers.values())
      if (heartbeat.isResident && liveUntil > now) return true;
    return false;
  }

  /** For how long a due job may wait before every other scheduler that is up has looked: one may sleep for `sleepMs`,
   *  or may have started, with a look, since the last observation. */
  unseenMs(now: number, sleepMs: number): number {
    return this.areAlive(now) ? sleepMs : now - this.#askedAt;
  }

  /** Whether another scheduler has died, and no commit has ended its leases. */
  hasDead(now: number): boolean {
    for (const peer of this.#peers.values())
      if (peer.deadFrom <= now && peer.endedAt === Number.NEGATIVE_INFINITY) return true;
    return false;
  }

  /** Whether a commit has to end leases of dead schedulers, if there are leases. It does so once a lease, because
   *  another scheduler with a wrong clock may have moved their ends far ahead. */
  hasLeasesToEnd(now: number): boolean {
    for (const peer of this.#peers.values()) if (isToEnd(peer, now)) return true;
    return false;
  }

  /** When the leases of schedulers end that are alive, or have died. */
  leaseEnds(now: number): LeaseEnd[] {
    return [...this.#peers].flatMap(([instanceId, peer]) => {
      if (peer.liveUntil > now) return [{ instanceId, until: peer.liveUntil }];
      return isToEnd(peer, now) ? [{ instanceId, until: now }] : [];
    });
  }

  /** No lease of a scheduler that was dead at `now` is left. */
  ended(now: number): void {
    for (const peer of this.#peers.values()) if (isToEnd(peer, now)) peer.endedAt = now;
  }

  /** Whether a resident scheduler is alive whose clock differs by more than a lease. */
  haveOtherTime(now: number): boolean {
    const { leaseMs } = this.#env;
    for (const { heartbeat, liveUntil, aheadMs } of this.#peers.values())
      if (heartbeat.isResident && liveUntil > now && Math.abs(aheadMs) > leaseMs) return true;
    return false;
  }

  /** @param before an instant before the heartbeat; minus infinity where none is known */
  #compareClocks({ identity }: Heartbeat, aheadMs: number, before: number, now: number): void {
    const { logger, leaseMs, identity: own } = this.#env;
    // The heartbeat came after `before`, and not after `now`, be it long after, where the store was late.
    const unknownMs = before === Number.NEGATIVE_INFINITY ? 0 : (now - before) / 2;
    if (Math.abs(aheadMs) <= Math.max(leaseMs / 4, unknownMs)) return;
    const warnedAt = this.#warnedAt.get(identity);
    if (warnedAt !== undefined && Math.abs(now - warnedAt) < CLOCK_WARNINGS_APART_MS) return;
    for (const [other, at] of this.#warnedAt) {
      if (Math.abs(now - at) >= CLOCK_WARNINGS_APART_MS) this.#warnedAt.delete(other);
    }
    this.#warnedAt.set(identity, now);
    const where = aheadMs > 0 ? "ahead of" : "behind";
    const by = `${seconds(Math.abs(aheadMs))} s ${where}`;
    logger.warn(
      `escapement: the clock of the scheduler "${identity}" is about ${by} that of "${own}" (here), give or take ` +
        `${seconds(leaseMs / 3)} s; with leases of ${seconds(leaseMs)} s clocks may differ by ` +
        `${seconds(leaseMs / 4)} s: synchronize them (NTP)`,
    );
  }

  /** Another run of the same identity may have died a moment ago. One that gives another heartbeat has not. */
  #warnOfDuplicate({ identity, isResident }: Heartbeat): void {
    if (identity !== this.#env.identity || !isResident || this.#hasWarnedOfDuplicate) return;
    this.#hasWarnedOfDuplicate = true;
    this.#env.logger.warn(
      `escapement: another scheduler with the identity "${identity}" is alive: neither takes over what the other ` +
        "runs while it lives; give each its own identity, or stop the old one before the new one starts",
    );
  }
}

/** @param before an instant before the heartbeat; minus infinity where none is known */
function aheadOf({ at }: Heartbeat, before: number, now: number): number {
  return before === Number.NEGATIVE_INFINITY ? Math.max(0, at - now) : at - (before + now) / 2;
}

function isToEnd({ heartbeat: { at, aliveUntil }, deadFrom, endedAt }: Peer, now: number): boolean {
  return deadFrom <= now && Math.abs(now - endedAt) >= aliveUntil - at;
}

function seconds(ms: number): string {
  return String(Math.round(ms / 100) / 10);
}
