import { ScheduleLookupError } from "../../core/errors.ts";
import type { LedgerCommands } from "../commands/commands.ts";
import { changeFactsOf, changeOfCursor } from "../ledger/change-facts.ts";
import { explain, type Known, knownOf } from "../ledger/explain.ts";
import { occurrencePage } from "../ledger/occurrence-pages.ts";
import type { CheckedOccurrenceFilter, CheckedScheduleChangeFilter } from "../options/checked-options.ts";
import type { Question } from "../options/question.ts";
import { Explanation } from "../views/explanation.ts";
import type { Occurrence } from "../views/occurrence.ts";
import type { Page } from "../views/page.ts";
import { ScheduleChange } from "../views/schedule-change.ts";
import { boundPage } from "./bound-page.ts";
import type { VerbContext } from "./verb-context.ts";

/** What a scheduler tells of the past and the future of its schedules. */
export class LedgerVerbs implements LedgerCommands {
  readonly #context: VerbContext;

  constructor(context: VerbContext) {
    this.#context = context;
  }

  async explain(scheduleId: string, question: Question): Promise<Explanation> {
    return new Explanation(await explain(await this.#known(scheduleId), question));
  }

  async occurrences(scheduleId: string, filter: CheckedOccurrenceFilter): Promise<Page<Occurrence>> {
    const known = await this.#known(scheduleId);
    return boundPage(["getOccurrences()", scheduleId], filter, (one) => occurrencePage(known, one));
  }

  async changes(scheduleId: string, filter: CheckedScheduleChangeFilter): Promise<Page<ScheduleChange>> {
    await this.#context.ready();
    return boundPage(["getScheduleChanges()", scheduleId], filter, (one) => this.#changePage(scheduleId, one));
  }

  async #changePage(scheduleId: string, filter: CheckedScheduleChangeFilter): Promise<Page<ScheduleChange>> {
    const { order, limit, cursor } = filter;
    const after = cursor === null ? null : changeOfCursor(cursor);
    const { store } = this.#context.env;
    const page = await store.ledger?.getScheduleChanges({ scheduleId, order, limit, after });
    const { items: records, hasMore } = page ?? { items: [], hasMore: false };
    const isUnknown = records.length === 0 && after === null && (await store.getSchedule(scheduleId)) === null;
    if (isUnknown) throw new ScheduleLookupError(`there is no schedule "${scheduleId}"`, scheduleId);
    const items = records.map((record) => new ScheduleChange(changeFactsOf(record)));
    return { items, cursor: hasMore ? String(records.at(-1)?.seq) : null };
  }

  async #known(scheduleId: string): Promise<Known> {
    await this.#context.ready();
    const { store, clock } = this.#context.env;
    return knownOf(store, scheduleId, clock.now());
  }
}
