import type { Mutable } from "../../core/mutable.ts";
import { compareTexts } from "../../core/text.ts";
import type { UptimeRecord } from "../../records/ledger.ts";
import { type SchedulerProfile, type SchedulerRecord, UNKNOWN_PROFILE } from "../../records/scheduler.ts";
import type { Heartbeat, LeaseSurrender } from "../data-store.ts";
import {
  CLOCK_TOLERANCE_MS,
  DEAD_SCHEDULER_MS,
  HEARTBEATS_MAX,
  TICK_GAP_MS_MAX,
  UPTIMES_PER_ANSWER_MAX,
} from "../shared/limits.ts";
import { frozenCopy } from "./frozen-copies.ts";

// What a memory store knows of schedulers. An *instance* (`instanceId`) is one run of a scheduler, whose *identity*
// outlives it. The *uptime* of an identity is the spans in which it was up.

/** An instance, and when it gave its last heartbeat, by its own clock. */
type Instance = SchedulerRecord & Pick<Heartbeat, "at">;

/** The instances of schedulers that gave a heartbeat. */
export class Schedulers {
  readonly #byIdentity = new Map<string, Map<string, Instance>>();
  readonly #uptime: Uptime | null;

  /** @param uptime learns of heartbeats; null for a store without a ledger */
  constructor(uptime: Uptime | null) {
    this.#uptime = uptime;
  }

  /** Whether a resident instance of the identity is alive. */
  isAlive(identity: string, now: number): boolean {
    return this.#of(identity).some(({ aliveUntil, isResident }) => isResident && aliveUntil > now);
  }

  /** Whether an instance that is alive made a commit. */
  hasMade(identity: string, commitId: string, now: number): boolean {
    return this.#of(identity).some(({ instanceId, aliveUntil }) => aliveUntil > now && commitId.startsWith(instanceId));
  }

  /** The last heartbeats of all instances but one. */
  heartbeats(instanceId: string): { heartbeats?: readonly Heartbeat[] } {
    const others = this.#all.filter((instance) => instance.instanceId !== instanceId).map(heartbeatOf);
    if (others.length === 0) return {};
    return { heartbeats: others.sort((a, b) => b.aliveUntil - a.aliveUntil).slice(0, HEARTBEATS_MAX) };
  }

  alive(now: number): SchedulerRecord[] {
    return this.#all
      .filter(({ aliveUntil }) => aliveUntil > now)
      .sort((a, b) => compareTexts(a.identity, b.identity) || compareTexts(a.instanceId, b.instanceId))
      .map(({ at: _, ...instance }) => instance);
  }

  /** Notes a heartbeat, or a sign-off (`aliveUntil` is not later than `now`). Null changes nothing. */
  beat(heartbeat: Omit<LeaseSurrender, "profile"> & { readonly profile?: SchedulerProfile | undefined }): void {
    const { schedulerId: identity, instanceId, aliveUntil, now, profile = UNKNOWN_PROFILE } = heartbeat;
    if (aliveUntil === null) return;
    const instance = frozenCopy({ ...profile, identity, instanceId, aliveUntil, at: now });
    if (aliveUntil <= now) this.#remove(identity, instanceId);
    else this.#byIdentity.set(identity, (this.#byIdentity.get(identity) ?? new Map()).set(instanceId, instance));
    const until = Math.max(now, ...this.#of(identity).map((one) => one.aliveUntil));
    this.#uptime?.extend(instance, now, until);
  }

  /** Forgets the other instances of the identity. */
  forgetOthers({ schedulerId, instanceId }: Pick<LeaseSurrender, "schedulerId" | "instanceId">): void {
    for (const other of this.#of(schedulerId)) {
      if (other.instanceId !== instanceId) this.#remove(schedulerId, other.instanceId);
    }
  }

  cleanup(now: number): void {
    for (const { identity, instanceId, aliveUntil, isResident } of this.#all) {
      if (aliveUntil <= now - (isResident ? DEAD_SCHEDULER_MS : 0)) this.#remove(identity, instanceId);
    }
  }

  get #all(): Instance[] {
    return [...this.#byIdentity.keys()].flatMap((identity) => this.#of(identity));
  }

  #of(identity: string): Instance[] {
    return [...(this.#byIdentity.get(identity)?.values() ?? [])];
  }

  #remove(identity: string, instanceId: string): void {
    const instances = this.#byIdentity.get(identity);
    instances?.delete(instanceId);
    if (instances?.size === 0) this.#byIdentity.delete(identity);
  }
}

function heartbeatOf({ identity, instanceId, isResident, at, aliveUntil }: Instance): Heartbeat {
  return { identity, instanceId, isResident, at, aliveUntil };
}

/** When the schedulers of a memory store were up. */
export class Uptime {
  readonly #byIdentity = new Map<string, Mutable<UptimeRecord>[]>();

  /** Notes a heartbeat, or a sign-off. @param until when the last instance of the identity that is alive will count as
   *  dead; `now` when none is alive */
  extend({ identity, role, isResident, tasks }: Instance, now: number, until: number): void {
    const spans = this.#byIdentity.get(identity) ?? [];
    // One that begins later was written by a wrong clock.
    const last = spans.findLast(({ since }) => since <= now + CLOCK_TOLERANCE_MS);
    if (until <= now) {
      if (last !== undefined) last.until = Math.min(last.until, now);
      return;
    }
    const isTicking = last?.isResident === false && !isResident;
    if (last !== undefined && now - last.until <= (isTicking ? TICK_GAP_MS_MAX : 0)) {
      Object.assign(last, { role, isResident, tasks, until });
      return;
    }
    this.#byIdentity.set(identity, spans);
    spans.push({ identity, role, isResident, tasks, since: now, until });
    spans.sort((a, b) => a.since - b.since);
    if (spans.length > UPTIMES_PER_ANSWER_MAX) spans.shift();
  }

  read({ from, until }: { readonly from: number; readonly until: number }): UptimeRecord[] {
    return [...this.#byIdentity.values()]
      .flat()
      .filter((span) => span.since <= until && span.until >= from)
      .sort((a, b) => a.since - b.since || compareTexts(a.identity, b.identity))
      .slice(-UPTIMES_PER_ANSWER_MAX)
      .map((span) => ({ ...span }));
  }

  /** Whether a span ends after an instant. */
  reaches(instant: number): boolean {
    for (const spans of this.#byIdentity.values()) if (spans.some(({ until }) => until > instant)) return true;
    return false;
  }

  /** Removes the spans that begin after an instant. */
  removeAfter(instant: number): void {
    for (const [identity, spans] of this.#byIdentity) {
      const kept = spans.filter(({ since }) => since <= instant);
      if (kept.length === 0) this.#byIdentity.delete(identity);
      else this.#byIdentity.set(identity, kept);
    }
  }

  /** Removes the spans that ended before an instant. */
  cleanup(keptFrom: number): void {
    for (const [identity, spans] of this.#byIdentity) {
      while (spans[0] !== undefined && spans[0].until < keptFrom) spans.shift();
      if (spans.length === 0) this.#byIdentity.delete(identity);
    }
  }
}
