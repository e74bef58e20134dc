import type { Clock } from "../../src/core/clock.ts";
import type { JobCall, JobExecutor } from "../../src/executors/job-executor.ts";
import type { History } from "./history.ts";
import { Random } from "./random.ts";

/** How the executor "pool" of a run is; its workers start and rest for some time. */
export interface PoolForm {
  readonly slots: number;
  /** How long the first job of a worker waits for its start. */
  readonly startMs: number;
  /** After how many jobs a worker rests, and for how long. */
  readonly jobsPerWorker: number;
  readonly restMs: number;
}

/** How many of the runs have a pool. */
const SHARE = 0.3;

/** Draws from numbers of its own, so that the other runs of a seed stay as they were. */
export function drawPool(seed: number): { readonly form: PoolForm; readonly taskCount: number } | null {
  const random = new Random(seed + 0x504f_4f4c);
  if (!random.chance(SHARE)) return null;
  const form = {
    slots: random.pick([1, 1, 2, 3]),
    startMs: random.pick([0, 0, 30, 700]),
    jobsPerWorker: random.pick([1, 3, 1000]),
    restMs: random.pick([0, 20, 900]),
  };
  return { form, taskCount: random.int(1, 4) };
}

/** An executor with a capacity, which counts what it gets. */
export class SimulatedPool implements JobExecutor {
  readonly #form: PoolForm;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #history: History;
  readonly #listeners = new Set<() => void>();
  /** How many slots run something, or rest. */
  #taken = 0;
  #served = 0;
  /** Since when it has had a free slot, in true time; infinity while it has none. */
  freeSinceMs: number;

  constructor(form: PoolForm, clock: Clock, name: string, history: History) {
    this.#form = form;
    this.#clock = clock;
    this.#name = name;
    this.#history = history;
    this.freeSinceMs = history.nowMs;
  }

  get capacity(): number {
    return this.#form.slots - this.#taken;
  }

  onCapacity(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async open(): Promise<void> {}

  async execute(call: JobCall): Promise<unknown> {
    if (this.capacity <= 0)
      this.#history.violate(`${this.#name} gives its pool job ${call.job.id} beyond its capacity`);
    this.#taken++;
    if (this.capacity === 0) this.freeSinceMs = Number.POSITIVE_INFINITY;
    this.#history.count("runs in a pool");
    const { startMs, jobsPerWorker, restMs } = this.#form;
    const index = this.#served++;
    try {
      if (startMs > 0 && index % jobsPerWorker === 0) await this.#clock.sleep(this.#clock.now() + startMs, call.signal);
      call.signal.throwIfAborted();
      call.started?.();
      return await call.invoke();
    } finally {
      if (restMs === 0 || this.#served % jobsPerWorker !== 0) this.#free();
      else void this.#clock.sleep(this.#clock.now() + restMs).then(() => this.#free());
    }
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}

  #free(): void {
    this.#taken--;
    if (this.capacity === 1) this.freeSinceMs = this.#history.nowMs;
    for (const listener of this.#listeners) listener();
  }
}
