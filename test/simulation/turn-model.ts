import type { History } from "./history.ts";

/** How many jobs of one other key may come first while a job of a key could start, besides the turns that the key has
 *  lost. */
const PASSES_MAX = 4;

/** Whether the keys of fair tasks take turns: how often each was passed over by each other. */
export class TurnModel {
  readonly #history: History;
  /** How many turns each key has lost: with jobs that ended while they waited, because the jobs behind them keep their
   *  turns, and with jobs that were put back, which get another turn. */
  readonly #lost = new Map<string, number>();
  readonly #passes = new Map<string, Map<string, number>>();

  constructor(history: History) {
    this.#history = history;
  }

  /** A job was acquired. @param waiting the other keys of its task that have had a job at least as urgent to start since
   *  an earlier commit */
  onAcquired(gate: string, taskId: string, waiting: ReadonlySet<string>): void {
    this.#caughtUp(gate);
    this.#passes.delete(gate);
    for (const other of this.#passes.keys()) {
      if (other.startsWith(`${taskId}/`) && !waiting.has(other)) this.#passes.delete(other);
    }
    for (const other of waiting) {
      if (other === gate) continue;
      const passes = this.#passes.get(other) ?? new Map<string, number>();
      this.#passes.set(other, passes);
      const count = (passes.get(gate) ?? 0) + 1;
      passes.set(gate, count);
      if (count > PASSES_MAX + (this.#lost.get(other) ?? 0))
        this.#history.violate(`${gate} had ${count} turns while ${other} waited for one`);
    }
  }

  /** A job that waited for its turn has ended, or one that had its turn was put back. */
  onTurnLost(gate: string): void {
    this.#lost.set(gate, (this.#lost.get(gate) ?? 0) + 1);
  }

  /** What the others were ahead of a key makes good for the turns that it has lost. */
  #caughtUp(gate: string): void {
    const lost = this.#lost.get(gate) ?? 0;
    const ahead = Math.max(0, ...(this.#passes.get(gate)?.values() ?? [])) - PASSES_MAX;
    if (ahead > 0) this.#lost.set(gate, Math.max(0, lost - ahead));
  }
}
