import { ScheduleLookupError } from "../../core/errors.ts";
import { type Asked, questionOf } from "../ledger/asked.ts";
import { changeFactsOf, changeOfCursor } from "../ledger/change-facts.ts";
import { explain, type Known, knownOf } from "../ledger/explain.ts";
import { occurrencePage } from "../ledger/occurrence-pages.ts";
import { checkId, checkOccurrenceFilter, checkScheduleChangeFilter } from "../options/check-options.ts";
import type { OccurrenceFilterOptions, ScheduleChangeFilterOptions } from "../options/options.ts";
import { Explanation } from "../views/explanation.ts";
import type { Occurrence } from "../views/occurrence.ts";
import { type Listing, listingOf, type Page } from "../views/page.ts";
import { ScheduleChange } from "../views/schedule-change.ts";
import type { VerbContext } from "./verb-context.ts";

/** What a scheduler tells of the past and the future of its schedules; documented at `SchedulerClient`. */
export class LedgerVerbs {
  readonly #context: VerbContext;

  constructor(context: VerbContext) {
    this.#context = context;
  }

  async explain(scheduleId: string, at: Asked): Promise<Explanation> {
    checkId(scheduleId, "schedule id");
    const question = questionOf(at, "explain()");
    return new Explanation(await explain(await this.#known(scheduleId), question));
  }

  occurrences(scheduleId: string, filter: OccurrenceFilterOptions): Listing<Occurrence> {
    return listingOf(filter, async (one) => {
      checkId(scheduleId, "schedule id");
      const checked = checkOccurrenceFilter(one, "getOccurrences()");
      return occurrencePage(await this.#known(scheduleId), checked);
    });
  }

  changes(scheduleId: string, filter: ScheduleChangeFilterOptions): Listing<ScheduleChange> {
    return listingOf(filter, (one) => this.#changePage(scheduleId, one));
  }

  async #changePage(scheduleId: string, filter: ScheduleChangeFilterOptions): Promise<Page<ScheduleChange>> {
    checkId(scheduleId, "schedule id");
    const { order, limit, cursor } = checkScheduleChangeFilter(filter, "getScheduleChanges()");
    const after = cursor === null ? null : changeOfCursor(cursor);
    await this.#context.ready();
    const { store } = this.#context.env;
    // One more than the page has tells whether there is another page.
    const records = await store.ledger?.getScheduleChanges({ scheduleId, order, limit: limit + 1, after });
    const isUnknown = (records ?? []).length === 0 && after === null && (await store.getSchedule(scheduleId)) === null;
    if (isUnknown) throw new ScheduleLookupError(`there is no schedule "${scheduleId}"`, scheduleId);
    const shown = (records ?? []).slice(0, limit);
    const isLast = (records ?? []).length <= limit;
    const items = shown.map((record) => new ScheduleChange(changeFactsOf(record)));
    return { items, cursor: isLast ? null : String(shown.at(-1)?.seq) };
  }

  async #known(scheduleId: string): Promise<Known> {
    await this.#context.ready();
    const { store, clock } = this.#context.env;
    return knownOf(store, scheduleId, clock.now());
  }
}
