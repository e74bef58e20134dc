/**
 * The error of a case that failed: the store, broker or executor does not keep its contract.
 *
 * @example
 * if (error instanceof ContractViolation) console.log(error.message);
 */
export class ContractViolation extends Error {
  override readonly name = "ContractViolation";
}

/** Fails unless both values are equal, deeply. The order of an object's keys does not matter. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const actualText = canonicalText(actual);
  const expectedText = canonicalText(expected);
  if (actualText !== expectedText) {
    throw new ContractViolation(`${what}: expected ${expectedText}, got ${actualText}`);
  }
}

export function isTrue(condition: boolean, what: string): void {
  if (!condition) throw new ContractViolation(`${what}: it does not hold`);
}

/** The value itself; fails when it is null or undefined. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new ContractViolation(`${what}: expected a value, got ${value}`);
  return value;
}

function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (item === undefined) return "<undefined>";
    if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
