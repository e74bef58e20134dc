import {
  BrokenTriggerError,
  ConflictingIdError,
  JobLookupError,
  OptionsError,
  ScheduleLookupError,
  TaskLookupError,
} from "../../core/errors.ts";
import type { BulkRefusal, SkippedJobs } from "../commands/commands.ts";
import { BULK_COMMIT_MAX, REFUSALS_MAX } from "./limits.ts";

/** The errors that are about one schedule or job. */
const KNOWN = [
  JobLookupError,
  ScheduleLookupError,
  ConflictingIdError,
  TaskLookupError,
  OptionsError,
  BrokenTriggerError,
];

/** What a call passes over: how many, and the first of them. */
export class Skips {
  readonly #refusals: BulkRefusal[] = [];
  #count = 0;

  /** @throws the error, if it is not about the schedule or job */
  add(id: string, error: unknown): void {
    if (!KNOWN.some((known) => error instanceof known)) throw error;
    const { code, message: detail } = error as JobLookupError;
    if (++this.#count <= REFUSALS_MAX) this.#refusals.push({ id, code, detail });
  }

  report(): SkippedJobs {
    return { skipped: this.#count, refusals: this.#refusals };
  }
}

/** Different ids, in parts that one commit takes. */
export function* partsOf(ids: readonly string[]): Generator<readonly string[]> {
  const unique = [...new Set(ids)];
  for (let start = 0; start < unique.length; start += BULK_COMMIT_MAX)
    yield unique.slice(start, start + BULK_COMMIT_MAX);
}
