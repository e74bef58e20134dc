import type { DataStore } from "../../stores/data-store.ts";

/** What a test runner gives to every case. */
export interface DataStoreContext {
  /** A new, empty store that was opened. */
  open(): Promise<DataStore>;
  /** A second opened store on the data of the store that `open` gave. Leave this function out where stores cannot share
   *  data. */
  reopen?(): Promise<DataStore>;
  /** Called by a case that is about something that the store need not have, and has not, such as a ledger. The case
   *  then asks no more of the store. A test runner passes its own function that skips a test. */
  skip?(reason: string): void;
}

/** One sentence about data stores, and a function that tests the sentence. */
export interface DataStoreCase {
  readonly name: string;
  /** The rules of docs/store-contract.md that the case tests, such as `Q2`; at least one. */
  readonly rules: readonly string[];
  /** Whether the case is only for a store whose answers can get lost on the way, such as a server. Then a caller may
   *  repeat a call that was already carried out. Leave these cases out for a store in the caller's own process. */
  readonly isAboutLostAnswers?: true;
  /** Whether the case is only for a store that keeps a payload and a result of megabytes each in one row. */
  readonly isAboutLargeRows?: true;
  /** Rejects with a {@link ContractViolation} when the store does not keep the sentence. */
  readonly run: (context: DataStoreContext) => Promise<void>;
}

/** Two stores on the same data; the same store twice where stores cannot share data. */
export async function openTwo(context: DataStoreContext): Promise<[DataStore, DataStore]> {
  const first = await context.open();
  return [first, (await context.reopen?.()) ?? first];
}
