import { instantOf } from "../../src/core/temporal.ts";
import type { LedgerOptions } from "../../src/stores/shared/ledger-option.ts";
import type { ModelJob } from "./job-model.ts";
import type { SimulatedProcess } from "./process.ts";
import { Random } from "./random.ts";
import type { Workload } from "./workload.ts";
import type { World } from "./world.ts";

/** How many of the runs have it. */
const SHARE = 0.5;

/** What a run does besides, for the sake of the ledger. */
export interface LedgerPlan {
  readonly random: Random;
  /** How much the store remembers; undefined for more than a run has. */
  readonly limits: LedgerOptions | undefined;
}

/** What a seed gets of it; null for nothing. It draws from a source of its own, so that the other runs are as they
 *  would be if there were none. */
export function drawLedger(seed: number): LedgerPlan | null {
  const random = new Random(seed + 0x424f_4f4b);
  if (!random.chance(SHARE)) return null;
  const isBounded = random.chance(0.4);
  // No clock is wrong by a day, so that no entry is too old for a clean-up.
  return { random, limits: isBounded ? { maxCount: random.pick([1, 3, 10, 100]), maxAge: { days: 1 } } : undefined };
}

/** What users do to fire times: they cancel and repeat their jobs, and let paused schedules go on from any time. */
export class LedgerWorkload {
  readonly #world: World;
  readonly #random: Random;
  readonly #users: Workload;

  constructor(world: World, random: Random, users: Workload) {
    this.#world = world;
    this.#random = random;
    this.#users = users;
  }

  isDue(): boolean {
    return this.#random.chance(0.3);
  }

  act(process: SimulatedProcess): void {
    const kind = this.#random.weighted({ cancel: 2, retry: 2, resume: 2, remove: 1, again: 1 });
    if (kind === "cancel") this.#cancel(process);
    else if (kind === "retry") this.#retry(process);
    else if (kind === "resume") this.#resume(process);
    else if (kind === "remove") this.#users.removeOne(process, this.#random);
    else this.#users.addAgain(process, this.#random);
  }

  #cancel(process: SimulatedProcess): void {
    const job = this.#pick(this.#world.jobs.unfinished.values());
    if (job === null) return;
    this.#users.attempt(process, "cancelJob", (scheduler) => scheduler.cancelJob(job.record.id));
  }

  /** A job of a fire time that has ended is repeated. */
  #retry(process: SimulatedProcess): void {
    const job = this.#pick([...this.#world.jobs.all].filter(({ result }) => result !== null));
    if (job === null) return;
    this.#users.attempt(process, "retryJob", async (scheduler) => {
      const { id } = await scheduler.retryJob(job.record.id);
      this.#world.history.count("retried");
      this.#users.added(id);
    });
  }

  #resume(process: SimulatedProcess): void {
    const id = this.#random.pick(this.#users.scheduleIds);
    const resumeFrom = instantOf(this.#world.clock.now() + this.#random.int(-15_000, 5000));
    this.#users.attempt(process, `resume ${id} from ${resumeFrom}`, (scheduler) =>
      scheduler.unpauseSchedule(id, { resumeFrom, by: "a user" }),
    );
  }

  #pick(jobs: Iterable<ModelJob>): ModelJob | null {
    const fired = [...jobs].filter(({ record }) => record.fireTime !== null);
    return fired.length === 0 ? null : this.#random.pick(fired.slice(-8));
  }
}
