import type { BackfillRecord } from "../../records/backfill.ts";
import type { JobRecord } from "../../records/job.ts";
import type { BackfillCommit, BackfillRequest, BackfillState } from "../data-store.ts";
import { BACKFILL_KEPT_MS } from "../shared/limits.ts";
import { addJobs, withHolds } from "./additions.ts";
import { emptyNotes, type Tables } from "./ends-of-jobs.ts";
import { frozenCopy } from "./frozen-copies.ts";

/** The backfills of a memory store. */
export class Backfills {
  readonly #byId = new Map<string, BackfillRecord>();
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  see({ scheduleId, key, fireTimes }: BackfillRequest): BackfillState {
    const all = this.#of(scheduleId);
    const backfill = all.find((one) => one.key === key && !one.isCancelled) ?? null;
    const taken = fireTimes.filter((time) => this.#tables.jobs.atFireTime(scheduleId, time) !== undefined);
    return { backfill, seq: greatestSeq(all), taken };
  }

  commit({ backfill, expectedSeq, jobs }: BackfillCommit): JobRecord[] | null {
    const { scheduleId, changedAt } = backfill;
    if (greatestSeq(this.#of(scheduleId)) !== expectedSeq) return null;
    const isTaken = ({ fireTime }: JobRecord): boolean =>
      fireTime !== null && this.#tables.jobs.atFireTime(scheduleId, fireTime) !== undefined;
    if (jobs.some(isTaken)) return null;
    // Made before the first change, because reading the metadata may throw.
    const metadata = jobs.map((job) => frozenCopy(job.metadata));
    this.#byId.set(backfill.id, frozenCopy(backfill));
    const additions = addJobs(this.#tables, jobs, metadata, emptyNotes(changedAt));
    return withHolds(this.#tables, additions).map(({ job }) => job);
  }

  cancel(id: string, now: number): boolean {
    const backfill = this.#byId.get(id);
    if (backfill === undefined || backfill.isCancelled) return false;
    const seq = Math.max(greatestSeq(this.#of(backfill.scheduleId)) + 1, now);
    this.#byId.set(id, Object.freeze({ ...backfill, isCancelled: true, changedAt: now, seq }));
    return true;
  }

  /** Gives the backfills of a schedule to another id. */
  renameSchedule(from: string, to: string): void {
    for (const backfill of this.#of(from)) this.#byId.set(backfill.id, Object.freeze({ ...backfill, scheduleId: to }));
  }

  cleanup(now: number, limit: number): void {
    const old = [...this.#byId.values()].filter(({ changedAt }) => changedAt <= now - BACKFILL_KEPT_MS);
    for (const { id } of old.slice(0, limit)) this.#byId.delete(id);
  }

  #of(scheduleId: string): BackfillRecord[] {
    return [...this.#byId.values()].filter((backfill) => backfill.scheduleId === scheduleId);
  }
}

function greatestSeq(backfills: readonly BackfillRecord[]): number {
  return backfills.reduce((greatest, { seq }) => Math.max(greatest, seq), 0);
}
