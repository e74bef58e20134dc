import { SchedulerStateError } from "../../core/errors.ts";
import { JoinedCall } from "../../core/joined-call.ts";
import type { StopLimits } from "./stop-limits.ts";

/** What a scheduler does at present. `stopped` both before a start and after a stop. */
export type SchedulerState = "stopped" | "starting" | "started" | "paused" | "stopping";

/** What the state machine calls when the state changes. */
export interface LifecycleSteps {
  /** Opens what a client needs: the broker and the store. */
  open(): Promise<void>;
  /** Takes up work: opens the executors, gives up old leases of this identity, and starts the loop. */
  begin(): Promise<void>;
  /** Ends the work, if any was begun, that of a tick too. */
  end(limits: StopLimits): Promise<void>;
  /** Closes what `open` and `begin` opened. */
  close(limits: StopLimits): Promise<void>;
  /** Ends what listens to events, where nothing was opened. */
  closeEvents(): void;
  /** Makes the parts of the next run, after a stop. */
  renew(): void;
}

/**
 * The states of a scheduler: stopped -> starting -> started <-> paused -> stopping -> stopped. Before the first start
 * the scheduler is a client of its store, and the store is opened at the first use. After a stop, only a start or a
 * tick opens it again, because nobody would close it after a call that came too late.
 */
export class Lifecycle {
  readonly #steps: LifecycleSteps;
  #state: SchedulerState = "stopped";
  #opening: JoinedCall<void>;
  #lastOpening: Promise<void> = Promise.resolve();
  #isOpen = false;
  /** Whether there may be something to close. */
  #hasOpened = false;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  #limits: StopLimits | null = null;
  /** Counts the runs: what is left of an earlier run changes nothing in this one. */
  #run = 0;
  #stopped: Promise<void> = Promise.resolve();
  #resolveStopped: () => void = () => {};

  constructor(steps: LifecycleSteps) {
    this.#steps = steps;
    this.#opening = this.#newOpening();
    this.#beginRun();
  }

  get state(): SchedulerState {
    return this.#state;
  }

  /** Whether the scheduler has stopped, and nothing has begun anew. */
  get hasStopped(): boolean {
    return this.#stopping !== null && this.#state === "stopped";
  }

  /** Whether `stop` was called. */
  get isEnding(): boolean {
    return this.#stopping !== null;
  }

  /** The start that is under way, or else the last start; null before the first start. */
  get starting(): Promise<void> | null {
    return this.#starting;
  }

  /** Resolves when the scheduler has stopped. */
  get stopped(): Promise<void> {
    return this.#stopped;
  }

  /** Whether the store is open, and the scheduler has not stopped. */
  get isReady(): boolean {
    return this.#isOpen && !this.hasStopped;
  }

  /** Makes sure that the store is open. @throws {SchedulerStateError} after `stop` */
  async ready(): Promise<void> {
    this.assertUsable();
    if (this.#isOpen) return;
    const opening = this.#opening.run();
    this.#lastOpening = opening;
    await opening;
  }

  #newOpening(): JoinedCall<void> {
    return new JoinedCall(async () => {
      const run = this.#run;
      this.#hasOpened = true;
      try {
        await this.#steps.open();
        if (run === this.#run) this.#isOpen = true;
      } catch (error) {
        // A try that failed is forgotten, so that the next call tries again.
        if (run === this.#run) this.#hasOpened = this.#isOpen;
        throw error;
      }
    });
  }

  /** @throws {SchedulerStateError} once the scheduler has stopped; while it stops, running jobs may still use it */
  assertUsable(): void {
    if (this.hasStopped) throw wasStopped();
  }

  /** A scheduler that has stopped begins a new run: with `start`, or as a client. @throws {SchedulerStateError} while
   *  it stops */
  revive(): void {
    if (this.#stopping === null) return;
    if (!this.hasStopped) throw new SchedulerStateError("the scheduler stops; await stop(), then begin again");
    this.#steps.renew();
    this.#beginRun();
  }

  #beginRun(): void {
    this.#run++;
    this.#opening = this.#newOpening();
    this.#isOpen = false;
    this.#hasOpened = false;
    this.#starting = null;
    this.#stopping = null;
    this.#limits = null;
    this.#stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
  }

  async start(paused: boolean): Promise<void> {
    this.revive();
    if (this.#state !== "stopped") {
      throw new SchedulerStateError(`start() was called on a scheduler that is ${this.#state} already; call it once`);
    }
    this.#state = "starting";
    this.#starting = this.#begin(paused);
    await this.#starting;
  }

  async #begin(paused: boolean): Promise<void> {
    const run = this.#run;
    const isEnding = (): boolean => this.isEnding || run !== this.#run;
    try {
      await this.ready();
      if (!isEnding()) await this.#steps.begin();
    } catch (error) {
      // A start that failed leaves a client that may be started again.
      if (!isEnding()) this.#state = "stopped";
      throw error;
    }
    if (isEnding()) throw new SchedulerStateError("stop() was called while the scheduler was starting");
    this.#state = paused ? "paused" : "started";
  }

  /** Returns whether this call paused the scheduler. */
  pause(): boolean {
    return this.#change("started", "paused", "pause");
  }

  /** Returns whether the scheduler was paused. */
  resume(): boolean {
    return this.#change("paused", "started", "resume");
  }

  #change(from: SchedulerState, to: SchedulerState, verb: string): boolean {
    if (this.#state === to) return false;
    if (this.#state !== from) {
      throw new SchedulerStateError(`${verb}() needs a scheduler that is ${from}; this one is ${this.#state}`);
    }
    this.#state = to;
    return true;
  }

  /** A stop that is under way ends what still runs at once. */
  hurry(): void {
    this.#limits?.hurry();
  }

  /** @param limits makes the limits of a stop that begins */
  stop(limits: () => StopLimits): Promise<void> {
    if (this.#stopping === null) {
      this.#limits = limits();
      this.#stopping = this.#end(this.#limits);
    }
    return this.#stopping;
  }

  async #end(limits: StopLimits): Promise<void> {
    // Nothing runs yet that could use the time.
    if (this.#state === "starting") limits.hurry();
    this.#state = "stopping";
    try {
      // A failure of the start is reported to the caller of start().
      if (this.#starting !== null) await limits.within(this.#starting.catch(() => {}));
      await this.#steps.end(limits);
    } finally {
      try {
        if (this.#hasOpened) {
          await limits.within(this.#lastOpening.catch(() => {}));
          await limits.within(this.#steps.close(limits));
        } else {
          this.#steps.closeEvents();
        }
      } finally {
        limits.end();
        this.#state = "stopped";
        this.#resolveStopped();
      }
    }
  }
}

function wasStopped(): SchedulerStateError {
  return new SchedulerStateError(
    "this scheduler was stopped; start() or tick() begins again, and then everything else works too",
  );
}
