import { Refusal } from "../refusal.ts";

/** @throws {Refusal} when another number fits than the caller saw */
export function assertExpected(things: string, count: number, expectedCount: number | undefined): void {
  if (expectedCount === undefined || expectedCount === count) return;
  const detail = `${count} ${things} fit, and ${expectedCount} were expected; look at them again`;
  throw new Refusal(409, "unexpectedCount", detail);
}
