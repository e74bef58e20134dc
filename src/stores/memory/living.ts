import { DEAD_SCHEDULER_MS, HEARTBEATS_MAX } from "../../core/limits.ts";
import { compareTexts } from "../../core/text.ts";
import { type SchedulerProfile, type SchedulerRecord, UNKNOWN_PROFILE } from "../../records/scheduler.ts";
import type { Heartbeat, LeaseSurrender } from "../data-store.ts";
import type { Lives } from "./lives.ts";
import { frozenCopy } from "./tables.ts";

/** A run, and when it gave its last heartbeat, by its own clock. */
type Run = SchedulerRecord & Pick<Heartbeat, "at">;

/** The runs of schedulers that count as alive in a `MemoryDataStore`, by identity and incarnation. */
export class Living {
  readonly #byIdentity = new Map<string, Map<string, Run>>();
  readonly #lives: Lives | null;

  constructor(lives: Lives | null) {
    this.#lives = lives;
  }

  /** Whether a resident run of the identity is alive. */
  isAlive(identity: string, now: number): boolean {
    return this.#resident(identity, now).length > 0;
  }

  /** Whether a run that is alive made a step. */
  hasMade(identity: string, stepId: string, now: number): boolean {
    for (const { incarnation, aliveUntil } of this.#byIdentity.get(identity)?.values() ?? []) {
      if (aliveUntil > now && stepId.startsWith(incarnation)) return true;
    }
    return false;
  }

  /** The last heartbeats of all runs but one. */
  heartbeats(incarnation: string): { heartbeats?: readonly Heartbeat[] } {
    const others = this.#all.filter((run) => run.incarnation !== incarnation).map(heartbeatOf);
    if (others.length === 0) return {};
    return { heartbeats: others.sort((a, b) => b.aliveUntil - a.aliveUntil).slice(0, HEARTBEATS_MAX) };
  }

  all(now: number): SchedulerRecord[] {
    return this.#all
      .filter(({ aliveUntil }) => aliveUntil > now)
      .sort((a, b) => compareTexts(a.identity, b.identity) || compareTexts(a.incarnation, b.incarnation))
      .map(({ at: _, ...run }) => run);
  }

  get #all(): Run[] {
    return [...this.#byIdentity.values()].flatMap((runs) => [...runs.values()]);
  }

  /** With `aliveUntil: null`, the stored instant stays. */
  report(sign: Omit<LeaseSurrender, "profile"> & { readonly profile?: SchedulerProfile | undefined }): void {
    const { schedulerId: identity, incarnation, aliveUntil, now, profile = UNKNOWN_PROFILE } = sign;
    if (aliveUntil === null) return;
    const runs = this.#byIdentity.get(identity) ?? new Map<string, Run>();
    this.#byIdentity.set(identity, runs);
    if (aliveUntil > now) runs.set(incarnation, frozenCopy({ ...profile, identity, incarnation, aliveUntil, at: now }));
    else this.#remove(identity, incarnation);
    const until = Math.max(now, ...[...runs.values()].map((run) => run.aliveUntil));
    this.#lives?.note(identity, runs.get(incarnation) ?? profile, now, until);
  }

  /** Forgets the other runs of the identity. */
  forgetOthers({ schedulerId, incarnation }: Pick<LeaseSurrender, "schedulerId" | "incarnation">): void {
    for (const other of [...(this.#byIdentity.get(schedulerId)?.keys() ?? [])]) {
      if (other !== incarnation) this.#remove(schedulerId, other);
    }
  }

  cleanup(now: number): void {
    for (const [identity, runs] of this.#byIdentity) {
      for (const { incarnation, aliveUntil, isResident } of runs.values()) {
        if (aliveUntil <= now - (isResident ? DEAD_SCHEDULER_MS : 0)) this.#remove(identity, incarnation);
      }
    }
  }

  #resident(identity: string, now: number): Run[] {
    const runs = [...(this.#byIdentity.get(identity)?.values() ?? [])];
    return runs.filter(({ aliveUntil, isResident }) => isResident && aliveUntil > now);
  }

  #remove(identity: string, incarnation: string): void {
    const runs = this.#byIdentity.get(identity);
    runs?.delete(incarnation);
    if (runs?.size === 0) this.#byIdentity.delete(identity);
  }
}

function heartbeatOf({ identity, incarnation, isResident, at, aliveUntil }: Run): Heartbeat {
  return { identity, incarnation, isResident, at, aliveUntil };
}
