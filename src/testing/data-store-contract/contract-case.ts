import type { DataStore } from "../../stores/data-store.ts";

/** What a runner gives to every case. */
export interface DataStoreContext {
  /** A fresh, empty store that was opened. */
  open(): Promise<DataStore>;
  /** Another store on the data of the one that `open` gave, opened too. Leave it out where data cannot be shared. */
  reopen?(): Promise<DataStore>;
}

/** One sentence about data stores, and what proves it. */
export interface DataStoreCase {
  readonly name: string;
  /** Only for a store whose answers can get lost on the way, as those of a server can: then a caller repeats what was
   *  done already. Leave these cases out for a store that works in the caller's process. */
  readonly isAboutLostAnswers?: true;
  /** Rejects with a {@link ContractViolation} when the store does not keep the sentence. */
  run(context: DataStoreContext): Promise<void>;
}

/** Two handles on the same data: two stores where they can be shared, one store twice otherwise. */
export async function openTwo(context: DataStoreContext): Promise<[DataStore, DataStore]> {
  const first = await context.open();
  return [first, (await context.reopen?.()) ?? first];
}
