import type { JobRecord } from "../../src/records/job.ts";
import type { JobResultRecord } from "../../src/records/job-result.ts";
import type { JobOutcome } from "../../src/records/policies.ts";
import { cellsOf, DAY_MS, outcomeCell } from "../../src/records/stats.ts";
import type { Ledger } from "../../src/stores/contract/ledger-types.ts";
import type { StatsFilter } from "../../src/stores/data-store.ts";
import type { History } from "./history.ts";

/** Days that a run lies within, whatever its clocks show. */
const DAYS = 40;

/** How many jobs truly ended, one by one, as it looks from outside the stores: their statistics have to say the same. */
export class StatsModel {
  readonly #history: History;
  /** By what is counted, then its id and its cell. */
  readonly #counts: Readonly<Record<StatsFilter["of"], Map<string, number>>> = {
    all: new Map(),
    tasks: new Map(),
    schedules: new Map(),
  };
  readonly #from: number;

  constructor(history: History) {
    this.#history = history;
    this.#from = (Math.floor(history.nowMs / DAY_MS) - DAYS / 2) * DAY_MS;
  }

  /** A job ended, once. @param told how its attempt ended; null for a job that the store ended */
  onEnded({ taskId, scheduleId }: JobRecord, outcome: JobOutcome, told: JobResultRecord | null): void {
    const { ended, late } = told === null ? { ended: outcomeCell(outcome), late: 0 } : cellsOf(told);
    for (const cell of late === 0 ? [ended] : [ended, late]) {
      this.#add("all", "", cell);
      this.#add("tasks", taskId, cell);
    }
    if (scheduleId !== null) this.#add("schedules", scheduleId, ended + late);
  }

  /** What the store says is what happened. */
  async check(ledger: Ledger): Promise<void> {
    for (const of of ["all", "tasks", "schedules"] as const) {
      const range = { from: this.#from, until: this.#from + DAYS * DAY_MS, bucketMs: DAYS * DAY_MS };
      const { counts } = await ledger.getStats({ of, ...range, limit: 1000 });
      const said = counts.map(({ id, cell, count }) => `${id} ${cell}: ${count}`).sort();
      const truth = [...this.#counts[of]].map(([key, count]) => `${key}: ${count}`).sort();
      if (said.join() === truth.join()) continue;
      const [surplus, lack] = [said.filter((one) => !truth.includes(one)), truth.filter((one) => !said.includes(one))];
      this.#history.violate(`the statistics of ${of} say ${surplus.join(", ")}, not ${lack.join(", ")}`);
    }
    this.#history.count("statistics checked");
  }

  #add(of: StatsFilter["of"], id: string, cell: number): void {
    const key = `${id} ${cell}`;
    this.#counts[of].set(key, (this.#counts[of].get(key) ?? 0) + 1);
  }
}
