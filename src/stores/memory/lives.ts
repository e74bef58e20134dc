import { LIVES_PER_ANSWER_MAX, TICK_GAP_MS_MAX } from "../../core/limits.ts";
import { compareTexts } from "../../core/text.ts";
import type { LifeRecord } from "../../records/ledger.ts";
import type { SchedulerProfile } from "../../records/scheduler.ts";
import type { Mutable } from "./tables.ts";

/** When the schedulers of a `MemoryDataStore` lived. */
export class Lives {
  readonly #byIdentity = new Map<string, Mutable<LifeRecord>[]>();

  /** Notes a sign of life, or a sign-off. @param until when the last run of the identity that lives will count as dead;
   *  `now` when none lives */
  note(identity: string, { role, isResident, tasks }: SchedulerProfile, now: number, until: number): void {
    const lives = this.#byIdentity.get(identity) ?? [];
    const last = lives.at(-1);
    if (until <= now) {
      if (last !== undefined) last.until = Math.min(last.until, now);
      return;
    }
    const isTicking = last?.isResident === false && !isResident;
    if (last !== undefined && now - last.until <= (isTicking ? TICK_GAP_MS_MAX : 0)) {
      Object.assign(last, { role, isResident, tasks, until });
      return;
    }
    this.#byIdentity.set(identity, lives);
    lives.push({ identity, role, isResident, tasks, since: now, until });
    if (lives.length > LIVES_PER_ANSWER_MAX) lives.shift();
  }

  read({ from, until }: { readonly from: number; readonly until: number }): LifeRecord[] {
    return [...this.#byIdentity.values()]
      .flat()
      .filter((life) => life.since <= until && life.until >= from)
      .sort((a, b) => a.since - b.since || compareTexts(a.identity, b.identity))
      .slice(-LIVES_PER_ANSWER_MAX)
      .map((life) => ({ ...life }));
  }

  /** Removes the lives that ended before an instant. */
  cleanup(keptFrom: number): void {
    for (const [identity, lives] of this.#byIdentity) {
      while (lives[0] !== undefined && lives[0].until < keptFrom) lives.shift();
      if (lives.length === 0) this.#byIdentity.delete(identity);
    }
  }
}
