import { endsWorkWithRequests } from "../core/host.ts";
import type { TickReport } from "../scheduler/views/tick-report.ts";

/**
 * The ticks of one scheduler, one at a time. Who asks during a tick gets the next one, together with all others who ask
 * during it: the tick under way leaves out what became due after it began. Where a runtime ends work together with the
 * request that began it, requests must not wait for each other, and ticks of one scheduler may overlap.
 */
export class TickTurns {
  readonly #tick: () => Promise<TickReport>;
  #present: Promise<TickReport> | null = null;
  #next: Promise<TickReport> | null = null;

  constructor(tick: () => Promise<TickReport>) {
    this.#tick = tick;
  }

  run(): Promise<TickReport> {
    if (endsWorkWithRequests()) return this.#tick();
    if (this.#present === null) return this.#begin();
    this.#next ??= this.#afterPresent(this.#present);
    return this.#next;
  }

  async #afterPresent(present: Promise<TickReport>): Promise<TickReport> {
    // Whoever asked for that tick hears of its failure.
    await present.catch(() => {});
    this.#next = null;
    return this.#begin();
  }

  #begin(): Promise<TickReport> {
    const ticking = this.#tick().finally(() => {
      if (this.#present === ticking) this.#present = null;
    });
    this.#present = ticking;
    return ticking;
  }
}
