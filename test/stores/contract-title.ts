/** The title of a case of the contract in a report of tests: the rules of docs/store-contract.md that the case tests,
 *  then its name. */
export function titleOf(rules: readonly string[], name: string): string {
  return `[${rules.join(" ")}] ${name}`;
}
