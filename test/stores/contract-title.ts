import type { DataStoreCase } from "../../src/testing/data-store-contract/mod.ts";

/** The title of a case of the contract in a report of tests: the rules of docs/store-contract.md that the case tests,
 *  then its name. */
export function titleOf(rules: readonly string[], name: string): string {
  return `[${rules.join(" ")}] ${name}`;
}

/** Every fifth case, for a store that differs from another by its transport alone, whose contract is tested whole.
 *  `npm run test:matrix` takes all cases. */
export function sampleOf(cases: readonly DataStoreCase[]): readonly DataStoreCase[] {
  const isWhole = globalThis.process?.env.ESCAPEMENT_ALL_TESTS !== undefined;
  return cases.filter((_, index) => isWhole || index % 5 === 0);
}
