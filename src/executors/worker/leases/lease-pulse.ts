import type { SchedulerProfile } from "../../../records/scheduler.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { LeaseTable, TableLease } from "./lease-table.ts";

/** The most jobs that a warning names. */
const NAMED_JOBS_MAX = 5;
/** Shortest time between two warnings of loops that are blocked, in milliseconds. A program whose loop is blocked again
 *  and again would fill its log. */
const WARNINGS_APART_MS = 60_000;

export interface PulseOptions {
  readonly store: LeaseStore;
  readonly identity: string;
  readonly instanceId: string;
  readonly leaseMs: number;
  readonly maxBlockedMs: number;
  /** Milliseconds since some fixed instant, by a clock that nobody sets. */
  readonly elapsed: () => number;
  readonly warn: (message: string, error?: unknown) => void;
}

/** Extends the leases of a scheduler while the scheduler's event loop is blocked: when the loop has been silent for
 *  more than a third of a lease, and until it has been silent for `maxBlockedMs`. */
export class LeasePulse {
  readonly #options: PulseOptions;
  #beats: number | null = null;
  /** When the last beat was seen, and when leases were last extended after it, by `elapsed`. */
  #beatAt = 0;
  #extendedAt: number | null = null;
  #warnedAt = Number.NEGATIVE_INFINITY;
  /** Blocked loops after the last warning. */
  #untold = 0;
  /** Of the present silence: whether it was told, and whether the loop has been silent for too long. */
  #isTold = false;
  #hasGivenUp = false;
  #hasFailed = false;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  /** Looks once whether the loop is blocked, and extends its leases if so. Never rejects. */
  async runOnce(table: LeaseTable, profile: SchedulerProfile): Promise<void> {
    const { leaseMs, maxBlockedMs, elapsed } = this.#options;
    const { beats } = table;
    if (beats !== this.#beats) {
      this.#beats = beats;
      this.#beatAt = elapsed();
      this.#extendedAt = null;
      this.#isTold = false;
      this.#hasGivenUp = false;
      return;
    }
    const silentMs = elapsed() - this.#beatAt;
    if (silentMs <= leaseMs / 3 || this.#hasGivenUp) return;
    if (this.#extendedAt !== null && elapsed() - this.#extendedAt < leaseMs / 3) return;
    const leases = table.held();
    if (leases.length === 0) return;
    if (silentMs > maxBlockedMs) {
      this.#hasGivenUp = true;
      this.#warnOfEnd(leases);
      return;
    }
    if (!this.#isTold) this.#warnOfBlock(leases, silentMs);
    this.#isTold = true;
    await this.#extend(table, leases, profile);
  }

  async #extend(table: LeaseTable, leases: readonly TableLease[], profile: SchedulerProfile): Promise<void> {
    const { store, identity, instanceId, leaseMs, elapsed, warn } = this.#options;
    const startedAt = elapsed();
    const now = Math.round(table.now + startedAt - this.#beatAt);
    const until = now + leaseMs;
    try {
      const { lost } = await store.extendLeases({
        now,
        schedulerId: identity,
        instanceId,
        // Leases of which the scheduler has not heard yet are not given up.
        settledCommitId: null,
        until,
        jobs: leases.map(({ jobId, fence }) => ({ jobId, fence })),
        aliveUntil: until,
        profile,
      });
      this.#extendedAt = startedAt;
      this.#hasFailed = false;
      const lostIds = new Set(lost);
      for (const lease of leases) if (!lostIds.has(lease.jobId)) table.extend(lease, until);
    } catch (error) {
      // The next look tries again.
      if (!this.#hasFailed) warn(`escapement: the lease thread of "${identity}" cannot extend leases`, error);
      this.#hasFailed = true;
    }
  }

  #warnOfBlock(leases: readonly TableLease[], silentMs: number): void {
    const { identity, maxBlockedMs, elapsed, warn } = this.#options;
    if (elapsed() - this.#warnedAt < WARNINGS_APART_MS) {
      this.#untold++;
      return;
    }
    const before = this.#untold === 0 ? "" : ` (for the ${this.#untold + 1}. time since the last warning)`;
    this.#warnedAt = elapsed();
    this.#untold = 0;
    warn(
      `escapement: the event loop of "${identity}" has been blocked for ${seconds(silentMs)} s${before}, and ` +
        `${countOf(leases)} there: ${named(leases)}. The lease thread keeps the leases until the loop has been ` +
        `blocked for ${seconds(maxBlockedMs)} s (maxBlocked)`,
    );
  }

  #warnOfEnd(leases: readonly TableLease[]): void {
    const { identity, leaseMs, maxBlockedMs, warn } = this.#options;
    warn(
      `escapement: the event loop of "${identity}" has been blocked for more than ${seconds(maxBlockedMs)} s ` +
        `(maxBlocked), so that the leases end within ${seconds(leaseMs)} s, and others may take the jobs; ` +
        `${countOf(leases)} there: ${named(leases)}`,
    );
  }
}

function countOf({ length }: readonly TableLease[]): string {
  return length === 1 ? "1 job runs" : `${length} jobs run`;
}

function named(leases: readonly TableLease[]): string {
  const names = leases.slice(0, NAMED_JOBS_MAX).map(({ taskId, jobId }) => `"${taskId}" (job ${jobId})`);
  return leases.length > NAMED_JOBS_MAX ? `${names.join(", ")} and others` : names.join(", ");
}

function seconds(ms: number): string {
  return String(Math.round(ms / 100) / 10);
}
