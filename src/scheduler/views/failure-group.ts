import { printAsJSON } from "../../core/inspect.ts";
import { instantOf, type Temporal } from "../../core/temporal.ts";
import { FAILURE_GROUP_FIELDS } from "../../records/fields/failure.ts";
import type { RecordOf } from "../../records/fields/field.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { Count } from "./health.ts";
import { jsonOf } from "./json-of.ts";
import { cellText, type TableRow, timeText } from "./table.ts";

/** What a {@link FailureGroup} shows; times in epoch milliseconds. */
export type FailureGroupFacts = RecordOf<typeof FAILURE_GROUP_FIELDS>;

/** What `getFailures` returns. */
export interface FailureReport {
  /** The groups with the most failures come first. */
  readonly groups: FailureGroup[];
  /** How many failures were looked at, the newest ones; `isCapped` where there may be more. */
  readonly seen: Count;
}

/**
 * Failures of one task, with one error, or both: their messages differ in numbers and ids alone.
 *
 * @example
 * const { groups } = await scheduler.getFailures();
 * await scheduler.retryJobs({ taskId: "charge", failureKey: groups[0].key });
 */
export class FailureGroup {
  readonly #facts: FailureGroupFacts;

  static {
    printAsJSON(FailureGroup.prototype);
  }

  constructor(facts: FailureGroupFacts) {
    this.#facts = facts;
  }

  /** Null where failures of all tasks are in one group. */
  get taskId(): string | null {
    return this.#facts.taskId;
  }
  /** Stands for the error: `retryJobs({ taskId, failureKey: key })` retries the group. Null where all errors of a task
   *  are in one group. */
  get key(): string | null {
    return this.#facts.key;
  }
  /** How the jobs ended; null as {@link key} is. */
  get outcome(): JobOutcome | null {
    return this.#facts.outcome;
  }
  /** The name of the error; null for none, as where a job was lost. */
  get name(): string | null {
    return this.#facts.name;
  }
  /** The first line of the message, with a # for each number and id; null for none. */
  get pattern(): string | null {
    return this.#facts.pattern;
  }
  /** The message of the newest of these failures, cut after 500 characters; null for none. */
  get message(): string | null {
    return this.#facts.message;
  }
  /** How many failures are in the group, of those that were looked through. */
  get count(): number {
    return this.#facts.count;
  }
  /** When the first of them ended. */
  get firstAt(): Temporal.Instant {
    return instantOf(this.#facts.firstAt);
  }
  /** When the last of them ended. */
  get lastAt(): Temporal.Instant {
    return instantOf(this.#facts.lastAt);
  }
  /** Some of the jobs, the newest first: at most 10. */
  get jobIds(): readonly string[] {
    return this.#facts.jobIds;
  }
  /** Some of the schedules that made them: at most 10. */
  get scheduleIds(): readonly string[] {
    return this.#facts.scheduleIds;
  }

  /** The group as one line of a table: `console.table(groups.map((group) => group.toRow()))`. */
  toRow(): TableRow {
    const { taskId, outcome, name, message, count, lastAt } = this.#facts;
    const error = message === null ? name : cellText(`${name ?? outcome}: ${message}`);
    return { taskId, outcome, error, count, lastAt: timeText(lastAt) };
  }

  toJSON(): Record<string, unknown> {
    return jsonOf<FailureGroup>(FAILURE_GROUP_FIELDS, this, this.#facts);
  }
}
