import type { DataStore } from "../../../src/stores/data-store.ts";

/** A store that is wrong in one way, and the cases that have to notice: those whose names begin so. */
export interface BrokenStore {
  readonly Store: new () => DataStore;
  readonly caughtBy: string;
}

export function caughtBy(section: string, ...stores: readonly (new () => DataStore)[]): BrokenStore[] {
  return stores.map((Store) => ({ Store, caughtBy: `${section}: ` }));
}
