import type { OccurrenceRecord, OccurrenceRunRecord, Skip } from "../../records/ledger.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";
import { PAGE_SIZE_MAX } from "../options/limits.ts";

/** A ledger seldom has two, and one that was restored from a damaged file may have a circle. */
const HOPS_MAX = 9;

/** Which fire times of a schedule ran, by the ledger: their handler was called, or that of the fire time that stands
 *  for them. */
export class FireTimesThatRan {
  readonly #ledger: Ledger | null;
  readonly #scheduleId: string;
  /** The runs of fire times that stand for others. */
  readonly #stands = new Map<number, OccurrenceRunRecord>();

  /** @param ledger null for none: then none ran, as far as anybody knows */
  constructor(ledger: Ledger | null, scheduleId: string) {
    this.#ledger = ledger;
    this.#scheduleId = scheduleId;
  }

  /** Answers which fire time ran for one of these: itself, or the one that stands for it; null where none did. Its
   *  answers are those of this instant. */
  async among(fireTimes: readonly number[]): Promise<(fireTime: number) => number | null> {
    const asked = new Set(fireTimes);
    const runs = new Map<number, OccurrenceRunRecord>();
    const skips: Skip[] = [];
    for await (const entry of this.#entries(Math.min(...fireTimes), Math.max(...fireTimes))) {
      if (entry.kind === "run" && asked.has(entry.fireTime)) runs.set(entry.fireTime, entry);
      // What took the place of a fire time does not stand for it.
      if (entry.kind === "skip" && entry.into !== null && entry.verdict !== "replaced") skips.push(entry);
    }
    const stoodFor: Skip[] = [];
    for (const skip of skips) {
      const into = await this.#standingFor(skip.into, runs);
      if (into !== null) stoodFor.push({ ...skip, into });
    }
    return (at) => {
      const run = runs.get(at);
      if (run !== undefined) return hasStarted(run) ? at : null;
      return stoodFor.find(({ from, until }) => from <= at && at <= until)?.into ?? null;
    };
  }

  /** The fire time whose job ran, or is to run, for those that were coalesced into a fire time; null for none. That one
   *  may have been coalesced later, without knowledge of the others. */
  async #standingFor(into: number | null, runs: ReadonlyMap<number, OccurrenceRunRecord>): Promise<number | null> {
    let at = into;
    for (let hops = 0; at !== null && hops < HOPS_MAX; hops++) {
      const entry: OccurrenceRecord | OccurrenceRunRecord | undefined =
        this.#stands.get(at) ?? runs.get(at) ?? (await this.#entries(at, at).next()).value;
      // Without an entry, its job is unfinished.
      if (entry === undefined) return at;
      if ("outcome" in entry) {
        this.#stands.set(at, entry);
        return hasStarted(entry) ? at : null;
      }
      at = entry.verdict === "replaced" ? null : entry.into;
    }
    return null;
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
function hasStarted({ outcome, startedAt, attempts }: OccurrenceRunRecord): boolean {
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
