import type { VirtualClock } from "../../src/testing/virtual-clock.ts";

/** Who calls the store: one life of one simulated process. */
export interface Caller {
  /** Unique over all lives; the identity may come again. */
  readonly name: string;
  readonly identity: string;
  readonly clock: { now(): number };
  /** How far its clock is from the true one, in milliseconds. */
  readonly offsetMs: number;
  /** False from a crash or the end of a stop on. */
  readonly isAlive: boolean;
  /** The true time at which its scheduler was told to stop; null before. */
  readonly stoppingSinceMs: number | null;
  /** The true time of the last thing that went wrong for it: a failed or slow call, a freeze, a clock that jumped. */
  readonly lastTroubleMs: number;
  /** How long its leases last, in milliseconds. It gives a heartbeat every third of it. */
  readonly leaseMs: number;
  /** Whether it stays, and sees the heartbeats of others. */
  readonly isResident: boolean;
  /** The true time at which its last heartbeat reached the store; minus infinity before. */
  readonly lastBeatMs: number;
  /** Whether that heartbeat was sent before the one before it came: for others it may look like one that they know. */
  readonly isBeatStale: boolean;
  /** What its clock said before it was last set back; minus infinity before. A call may tell of that present. */
  readonly setBackFrom: number;
  /** Whether its clock was set back while it stood still, and it has given no heartbeat since: its clock may not tell
   *  that it stood still. */
  readonly hasHiddenStandstill: boolean;
  /** Whether it stays, and can run what it fires. */
  readonly mayBePreferred: boolean;
}

/** What a run found, and what led there. */
export class History {
  readonly violations: string[] = [];
  readonly counts = new Map<string, number>();
  readonly #clock: VirtualClock;
  readonly #startMs: number;
  readonly #trace: ((line: string) => void) | null;

  constructor(clock: VirtualClock, trace: ((line: string) => void) | null) {
    this.#clock = clock;
    this.#startMs = clock.now();
    this.#trace = trace;
  }

  /** The true time, in epoch milliseconds. */
  get nowMs(): number {
    return this.#clock.now();
  }

  get isTraced(): boolean {
    return this.#trace !== null;
  }

  /** The promise is broken. */
  violate(what: string): void {
    const line = `${this.#time()} ${what}`;
    this.violations.push(line);
    this.#trace?.(`VIOLATION ${line}`);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  trace(who: string, what: string): void {
    this.#trace?.(`${this.#time()} ${who.padEnd(6)} ${what}`);
  }

  #time(): string {
    return `+${((this.#clock.now() - this.#startMs) / 1000).toFixed(3)}s`;
  }
}
