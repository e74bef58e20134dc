import type { DataStoreCase } from "../../src/testing/data-store-contract/mod.ts";

/** The title of a case of the contract in a report of tests: the rules of docs/store-contract.md that the case tests,
 *  then its name. */
export function titleOf(rules: readonly string[], name: string): string {
  return `[${rules.join(" ")}] ${name}`;
}

/**
 * One of so many cases, for a store that differs from another by its transport alone, whose contract is tested whole.
 * `npm run test:matrix` takes all cases.
 *
 * @param first the index of the first case: samples of one server take different ones
 */
export function sampleOf(cases: readonly DataStoreCase[], every: number, first = 0): readonly DataStoreCase[] {
  const isWhole = globalThis.process?.env.ESCAPEMENT_ALL_TESTS !== undefined;
  return cases.filter((_, index) => isWhole || index % every === first);
}
