import { PAGE_SIZE_MAX } from "../../core/limits.ts";
import type { OccurrenceRecord, Run, Skip } from "../../records/ledger.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";

/** Which fire times of a schedule ran, by the ledger: their handler was called, or that of the fire time that stands
 *  for them. */
export class FireTimesThatRan {
  readonly #ledger: Ledger | null;
  readonly #scheduleId: string;
  /** By fire times that stand for others: whether they ran, as far as that matters. */
  readonly #stands = new Map<number, boolean>();

  /** @param ledger null for none: then none ran, as far as anybody knows */
  constructor(ledger: Ledger | null, scheduleId: string) {
    this.#ledger = ledger;
    this.#scheduleId = scheduleId;
  }

  /** Answers which fire time ran for one of these: itself, or the one that stands for it; null where none did. Its
   *  answers are those of this instant. */
  async among(fireTimes: readonly number[]): Promise<(fireTime: number) => number | null> {
    const asked = new Set(fireTimes);
    const runs = new Map<number, Run>();
    const skips: Skip[] = [];
    for await (const entry of this.#entries(Math.min(...fireTimes), Math.max(...fireTimes))) {
      if (entry.kind === "run" && asked.has(entry.fireTime)) runs.set(entry.fireTime, entry);
      // What took the place of a fire time does not stand for it.
      if (entry.kind === "skip" && entry.into !== null && entry.verdict !== "replaced") skips.push(entry);
    }
    const stoodFor: Skip[] = [];
    for (const skip of skips) if (await this.#standsFor(skip.into ?? 0, runs)) stoodFor.push(skip);
    return (at) => {
      const run = runs.get(at);
      if (run !== undefined) return hasStarted(run) ? at : null;
      return stoodFor.find(({ from, until }) => from <= at && at <= until)?.into ?? null;
    };
  }

  /** Whether the job of a fire time that stands for others ran, or is to run. */
  async #standsFor(into: number, runs: ReadonlyMap<number, Run>): Promise<boolean> {
    const known = this.#stands.get(into);
    if (known !== undefined) return known;
    const entry = runs.get(into) ?? (await this.#entries(into, into).next()).value;
    const run = entry !== undefined && "outcome" in entry ? entry : undefined;
    // Without an entry, its job is unfinished.
    const stands = run === undefined ? entry === undefined : hasStarted(run);
    if (run !== undefined) this.#stands.set(into, stands);
    return stands;
  }

  async *#entries(from: number, until: number): AsyncGenerator<OccurrenceRecord, undefined, undefined> {
    let cursor: string | null = null;
    do {
      const filter = { scheduleId: this.#scheduleId, from, until, order: "oldest", limit: PAGE_SIZE_MAX } as const;
      const page: Awaited<ReturnType<Ledger["getOccurrences"]>> | undefined = await this.#ledger?.getOccurrences({
        ...filter,
        cursor,
      });
      yield* page?.items ?? [];
      cursor = page?.cursor ?? null;
    } while (cursor !== null);
  }
}

/** Whether the handler of a job was called. */
function hasStarted({ outcome, startedAt, attempts }: Run): boolean {
  switch (outcome) {
    case "missedStartDeadline":
    case "deserializationFailed":
      return false;
    case "cancelled":
      return startedAt !== null || attempts > 0;
    default:
      return true;
  }
}
