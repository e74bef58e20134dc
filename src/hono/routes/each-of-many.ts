import { ConflictingIdError, JobLookupError, ScheduleLookupError, TaskLookupError } from "../../core/errors.ts";
import { REFUSALS_MAX } from "../../core/limits.ts";
import type { ManyReport } from "../api.ts";
import { Refusal } from "../refusal.ts";

const REFUSALS = [ConflictingIdError, JobLookupError, ScheduleLookupError, TaskLookupError];

/**
 * Changes one thing after the other, until the caller leaves. What cannot be changed is passed over.
 * @throws the signal's reason, after which what was done stays done
 */
export async function eachOfMany(
  ids: Iterable<string>,
  signal: AbortSignal,
  change: (id: string) => Promise<unknown>,
): Promise<ManyReport> {
  const refusals: ManyReport["refusals"][number][] = [];
  let count = 0;
  let skipped = 0;
  for (const id of new Set(ids)) {
    signal.throwIfAborted();
    try {
      await change(id);
      count++;
    } catch (error) {
      if (!REFUSALS.some((known) => error instanceof known)) throw error;
      const { code, message: detail } = error as JobLookupError;
      if (refusals.length < REFUSALS_MAX) refusals.push({ id, code, detail });
      skipped++;
    }
  }
  return { count, skipped, refusals };
}

/** @throws {Refusal} when another number fits than the caller saw */
export function assertExpected(things: string, count: number, expectedCount: number | undefined): void {
  if (expectedCount === undefined || expectedCount === count) return;
  const detail = `${count} ${things} fit, and ${expectedCount} were expected; look at them again`;
  throw new Refusal(409, "unexpectedCount", detail);
}
