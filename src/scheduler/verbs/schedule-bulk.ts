import type { AuditRecord } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { RecordPage, ScheduleChanges, ScheduleUpdateRequest } from "../../stores/data-store.ts";
import type { SkippedSchedules } from "../commands/commands.ts";
import { schedulePauseEvents, scheduleRemoved, scheduleSaved } from "../events/event-records.ts";
import type { CheckedBulk, ScheduleSelection } from "../options/checked-options.ts";
import { UPDATE_TRIES_MAX } from "../tasks/limits.ts";
import { BULK_COMMIT_MAX } from "./limits.ts";
import { noSchedule, tooManyChanges } from "./schedule-errors.ts";
import { partsOf, Skips } from "./skips.ts";
import type { VerbContext } from "./verb-context.ts";

/** Changes and removes many schedules, in one commit for each 1,000. */
export class ScheduleBulk {
  readonly #context: VerbContext;

  constructor(context: VerbContext) {
    this.#context = context;
  }

  async remove(
    filter: CheckedBulk<ScheduleSelection>,
    note: AuditRecord,
  ): Promise<{ count: number } & SkippedSchedules> {
    const { env } = this.#context;
    const skips = new Skips();
    let count = 0;
    for await (const ids of this.#parts(filter)) {
      const removed = await env.store.removeSchedules(
        ids.map((id) => ({ id })),
        note,
      );
      const gone = ids.filter((_, place) => removed[place] === true);
      for (const [place, id] of ids.entries()) if (removed[place] !== true) skips.add(id, noSchedule(id));
      env.events.publish(gone.map((id) => scheduleRemoved(env, id, false)));
      count += gone.length;
    }
    return { count, ...skips.report() };
  }

  /** @param changesOf may throw, and the schedule is passed over */
  async change(
    filter: CheckedBulk<ScheduleSelection>,
    note: AuditRecord,
    changesOf: (record: ScheduleRecord) => ScheduleChanges,
  ): Promise<{ count: number } & SkippedSchedules> {
    const skips = new Skips();
    let count = 0;
    for await (const ids of this.#parts(filter)) {
      // What others change in between is read again.
      let left = ids;
      for (let tries = 0; left.length > 0; tries++) {
        if (tries === UPDATE_TRIES_MAX) throw tooManyChanges(left[0] ?? "");
        const missed: string[] = [];
        const found = new Set<string>();
        for await (const records of this.#records(left, filter.signal)) {
          const updates = records.flatMap((record) => updateOf(record, changesOf, skips));
          const missedHere = await this.#write(updates, note, records);
          for (const { id } of records) found.add(id);
          count += updates.length - missedHere.length;
          missed.push(...missedHere);
        }
        for (const id of left) if (!found.has(id)) skips.add(id, noSchedule(id));
        left = missed;
      }
    }
    return { count, ...skips.report() };
  }

  /** Returns the ids of the schedules that others have changed meanwhile. */
  async #write(
    updates: readonly ScheduleUpdateRequest[],
    note: AuditRecord,
    records: readonly ScheduleRecord[],
  ): Promise<string[]> {
    if (updates.length === 0) return [];
    const { env } = this.#context;
    const updated = await env.store.updateSchedules(updates, note);
    const before = new Map(records.map((record) => [record.id, record]));
    env.events.publish(
      updated
        .filter((record) => record !== null)
        .flatMap((record) => [
          ...schedulePauseEvents(env, record, note.by, before.get(record.id)),
          scheduleSaved(env, record, "updated"),
        ]),
    );
    return updates.filter((_, place) => (updated[place] ?? null) === null).map(({ id }) => id);
  }

  /** Ids, in parts that one commit takes. Pages begin after an id, so that a change of what was read does not shift
   *  them. */
  async *#parts({
    ids,
    all: _,
    signal,
    ...selection
  }: CheckedBulk<ScheduleSelection>): AsyncGenerator<readonly string[]> {
    if (ids !== undefined) {
      for (const part of partsOf(ids)) {
        signal?.throwIfAborted();
        yield part;
      }
      return;
    }
    let cursor: string | null = null;
    do {
      signal?.throwIfAborted();
      const filter = { ...selection, limit: BULK_COMMIT_MAX, cursor };
      const page: RecordPage<ScheduleRecord> = await this.#context.env.store.getSchedules(filter);
      if (page.items.length > 0) yield page.items.map(({ id }) => id);
      ({ cursor } = page);
    } while (cursor !== null);
  }

  /** The schedules of at most 1,000 ids, in pages of a bounded size. */
  async *#records(ids: readonly string[], signal: AbortSignal | undefined): AsyncGenerator<readonly ScheduleRecord[]> {
    let cursor: string | null = null;
    do {
      signal?.throwIfAborted();
      const filter = { ids, limit: BULK_COMMIT_MAX, cursor };
      const page: RecordPage<ScheduleRecord> = await this.#context.env.store.getSchedules(filter);
      yield page.items;
      ({ cursor } = page);
    } while (cursor !== null);
  }
}

function updateOf(
  record: ScheduleRecord,
  changesOf: (record: ScheduleRecord) => ScheduleChanges,
  skips: Skips,
): ScheduleUpdateRequest[] {
  try {
    return [{ id: record.id, expectedFence: record.fence, changes: changesOf(record) }];
  } catch (error) {
    skips.add(record.id, error);
    return [];
  }
}
