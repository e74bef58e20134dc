import { SchedulerStateError } from "../../core/errors.ts";
import type { StopLimits } from "./stop-limits.ts";

/** What a scheduler does at present. `stopped` both before the start and after the stop. */
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
}

/**
 * The states of a scheduler: stopped -> starting -> started <-> paused -> stopping -> stopped. Before the first start
 * the scheduler is a client of its store, and the store is opened at the first use. A scheduler that was stopped stays
 * stopped.
 */
export class Lifecycle {
  readonly #steps: LifecycleSteps;
  #state: SchedulerState = "stopped";
  #opened: Promise<void> | null = null;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  readonly #stopped: Promise<void>;
  #resolveStopped: () => void = () => {};

  constructor(steps: LifecycleSteps) {
    this.#steps = steps;
    this.#stopped = new Promise((resolve) => {
      this.#resolveStopped = resolve;
    });
  }

  get state(): SchedulerState {
    return this.#state;
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

  /** Makes sure that the store is open. @throws {SchedulerStateError} after `stop` */
  async ready(): Promise<void> {
    this.assertUsable();
    // A try that failed is forgotten, so that the next call tries again.
    this.#opened ??= this.#steps.open().catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    await this.#opened;
  }

  /** @throws {SchedulerStateError} once the scheduler has stopped; while it stops, running jobs may still use it */
  assertUsable(): void {
    if (this.#stopping !== null && this.#state === "stopped") throw wasStopped();
  }

  async start(paused: boolean): Promise<void> {
    if (this.#stopping !== null) throw wasStopped();
    if (this.#state !== "stopped") {
      throw new SchedulerStateError(`start() was called on a scheduler that is ${this.#state} already; call it once`);
    }
    this.#state = "starting";
    this.#starting = this.#begin(paused);
    await this.#starting;
  }

  async #begin(paused: boolean): Promise<void> {
    try {
      await this.ready();
      if (!this.isEnding) await this.#steps.begin();
    } catch (error) {
      // A start that failed leaves a client that may be started again.
      if (!this.isEnding) this.#state = "stopped";
      throw error;
    }
    if (this.isEnding) throw new SchedulerStateError("stop() was called while the scheduler was starting");
    this.#state = paused ? "paused" : "started";
  }

  pause(): void {
    this.#change("started", "paused", "pause");
  }

  resume(): void {
    this.#change("paused", "started", "resume");
  }

  #change(from: SchedulerState, to: SchedulerState, verb: string): void {
    if (this.#state === to) return;
    if (this.#state !== from) {
      throw new SchedulerStateError(`${verb}() needs a scheduler that is ${from}; this one is ${this.#state}`);
    }
    this.#state = to;
  }

  /** @param limits makes the limits of a stop that begins */
  stop(limits: () => StopLimits): Promise<void> {
    this.#stopping ??= this.#end(limits());
    return this.#stopping;
  }

  async #end(limits: StopLimits): Promise<void> {
    this.#state = "stopping";
    try {
      // A failure of the start is reported to the caller of start().
      if (this.#starting !== null) await limits.within(this.#starting.catch(() => {}));
      await this.#steps.end(limits);
    } finally {
      try {
        if (this.#opened !== null) {
          await limits.within(this.#opened.catch(() => {}));
          await limits.within(this.#steps.close(limits));
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
    "this scheduler was stopped, which is final; create a new Scheduler on the same data store",
  );
}
