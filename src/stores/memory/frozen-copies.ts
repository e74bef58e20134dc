/** A copy of plain data that nobody can change. Data that is frozen already is returned as it is. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  const copy = Array.isArray(value) ? value.map(frozenCopy) : mapValues(value);
  return Object.freeze(copy) as T;
}

function mapValues(value: object): Record<string, unknown> {
  // An assignment to the key `__proto__` would set the prototype.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, frozenCopy(item)]));
}
