import { durationText } from "../../core/duration.ts";
import { optionError } from "../../core/option-errors.ts";
import type { DataStore } from "../../stores/data-store.ts";

/** What a call expects of the runs of a schedule. */
interface Expectations {
  readonly expectStartMs?: number | null | undefined;
  readonly expectFinishMs?: number | null | undefined;
}

/** Refuses what cannot be watched: the store finds out with its ledger what became of an occurrence.
 *  @param given what the call names @param all the same with what is stored
 *  @throws {OptionsError} */
export function assertExpectable(
  { ledger }: Pick<DataStore, "ledger">,
  given: Expectations,
  { expectStartMs, expectFinishMs }: Expectations,
  where: string,
): void {
  const expected = given.expectStartMs ?? given.expectFinishMs ?? null;
  if (expected !== null && (ledger ?? null) === null) {
    const why = ledger === null ? LEDGER_OFF : NO_LEDGER;
    const name = (given.expectStartMs ?? null) === null ? "expectFinishWithin" : "expectStartWithin";
    throw optionError(where, name, `needs a data store that keeps a ledger; ${why}`);
  }
  const [start, finish] = [expectStartMs ?? null, expectFinishMs ?? null];
  if (start === null || finish === null || start <= finish) return;
  const least = `must be at least expectStartWithin, ${durationText(start)}`;
  const message = `${least}; got ${durationText(finish)}: a job ends after it has started`;
  throw optionError(where, "expectFinishWithin", message);
}

const LEDGER_OFF = "this one was made with ledger: false; leave that out";
const NO_LEDGER = "this one has none";
