import { durationText } from "../../core/duration.ts";
import { optionError } from "../../core/option-errors.ts";
import type { DataStore } from "../../stores/data-store.ts";

/** What a call expects of the runs of a schedule, in milliseconds. */
interface Expectations {
  readonly expectStartWithin?: number | null | undefined;
  readonly expectFinishWithin?: number | null | undefined;
}

/** Refuses what cannot be watched: the store finds out with its ledger what became of an occurrence.
 *  @param given what the call names @param all the same with what is stored
 *  @throws {OptionsError} */
export function assertExpectable(
  { ledger }: Pick<DataStore, "ledger">,
  given: Expectations,
  { expectStartWithin, expectFinishWithin }: Expectations,
  where: string,
): void {
  const name = (given.expectStartWithin ?? null) === null ? "expectFinishWithin" : "expectStartWithin";
  if ((given[name] ?? null) !== null && (ledger ?? null) === null) {
    const why = ledger === null ? LEDGER_OFF : NO_LEDGER;
    throw optionError(where, name, `needs a data store that keeps a ledger; ${why}`);
  }
  const [start, finish] = [expectStartWithin ?? null, expectFinishWithin ?? null];
  if (start === null || finish === null || start <= finish) return;
  const least = `must be at least expectStartWithin, ${durationText(start)}`;
  const message = `${least}; got ${durationText(finish)}: a job ends after it has started`;
  throw optionError(where, "expectFinishWithin", message);
}

const LEDGER_OFF = "this one was made with ledger: false; leave that out";
const NO_LEDGER = "this one has none";
