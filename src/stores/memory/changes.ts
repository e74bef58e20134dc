import { CHANGES_KEPT_MAX } from "../../core/limits.ts";
import type { ChangeRecordFilter } from "../ledger.ts";
import { frozenCopy } from "./tables.ts";

interface Numbered {
  readonly seq: number;
  readonly at: number;
}

/** The last changes of the schedules, or of the tasks, of a `MemoryDataStore`. */
export class Changes<R extends Numbered> {
  readonly #byId = new Map<string, R[]>();

  add(id: string, record: R): void {
    const records = this.#byId.get(id) ?? [];
    this.#byId.set(id, records);
    records.push(frozenCopy(record));
    if (records.length > CHANGES_KEPT_MAX) records.shift();
  }

  read(id: string, { order, limit, after }: ChangeRecordFilter): R[] {
    const records = this.#byId.get(id) ?? [];
    const ordered = order === "oldest" ? records : records.toReversed();
    return ordered
      .filter(({ seq }) => after === null || (order === "oldest" ? seq > after : seq < after))
      .slice(0, limit);
  }

  /** When the last change was made; undefined when none is kept. */
  lastAt(id: string): number | undefined {
    return this.#byId.get(id)?.at(-1)?.at;
  }

  /** Removes the changes that were made before an instant, except the last one, which still counts. */
  trim(id: string, keptFrom: number): void {
    const records = this.#byId.get(id) ?? [];
    while (records.length > 1 && (records[0]?.at ?? keptFrom) < keptFrom) records.shift();
  }

  /** Removes the changes that are not to be kept. @param isKept is also given the later changes of the same id */
  keep(isKept: (record: R, later: readonly R[]) => boolean): void {
    for (const [id, records] of this.#byId) {
      const kept = records.filter((record, place) => isKept(record, records.slice(place + 1)));
      if (kept.length === 0) this.#byId.delete(id);
      else this.#byId.set(id, kept);
    }
  }

  forget(id: string): void {
    this.#byId.delete(id);
  }
}
