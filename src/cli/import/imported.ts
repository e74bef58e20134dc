import type { Clock } from "../../core/clock.ts";
import type { Trigger } from "../../cron.ts";

/** A schedule as another system has it. */
export interface ImportedSchedule {
  /** Where it stands: `line 3`, `CronJob backup`. */
  readonly where: string;
  /** It stays the same when the text is read again. */
  readonly id: string;
  readonly taskId: string;
  /** The rule as it was written. */
  readonly written: string;
  readonly trigger: Trigger;
  readonly settings: {
    readonly paused?: boolean;
    readonly overlap?: "queue" | "skip" | "cancelRunning";
    readonly misfireGraceTime?: string;
    readonly maxJitter?: string;
    readonly name?: string;
    readonly coalesce?: "latest" | "earliest" | "all";
    readonly catchUp?: { readonly maxAge: string };
    readonly priority?: number;
    readonly payload?: unknown;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
  /** What the other system does and this one does not, or otherwise. */
  readonly notes: readonly string[];
  /** When the other system would run it next; null or left out where that is not known. */
  readonly dueMs?: number | null;
}

/** When a schedule first fires here. What the other system has had since the start of the rule does not run again; what
 *  is overdue there is due here. */
export function firstMsOf({ trigger, dueMs = null }: ImportedSchedule, nowMs: number): number | null {
  const firstMs = trigger.firstMs(nowMs);
  if (firstMs === null || firstMs >= nowMs) return firstMs;
  if (dueMs !== null && dueMs < nowMs) return dueMs;
  return trigger.startingAtMs(nowMs).nextMs(nowMs - 1) ?? firstMs;
}

/** A job that waits in another system. */
export interface ImportedJob {
  readonly where: string;
  readonly taskId: string;
  readonly settings: {
    /** Names it in all systems, so that it is added once. */
    readonly idempotencyKey: string;
    readonly payload?: unknown;
    /** Left out for a job that is due. */
    readonly runAt?: string;
    readonly priority?: number;
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly retry?: ImportedRetry;
  };
}

/** How often a job is tried from now on, and after what pauses. */
export interface ImportedRetry {
  readonly maxAttempts: number;
  readonly backoff?: { readonly initial: string; readonly factor: number; readonly jitter: "full" | "none" };
}

/** What cannot be taken over. */
export interface ImportProblem {
  readonly where: string;
  readonly message: string;
}

/** What was read of a file. */
export interface Imported {
  readonly schedules: readonly ImportedSchedule[];
  /** What cannot be read. It keeps nothing else from being added. */
  readonly problems: readonly ImportProblem[];
  /** What a queue has besides schedules; undefined for a system that has none. */
  readonly queue?: ImportedQueue;
}

/** What a queue has besides schedules. */
export interface ImportedQueue {
  readonly jobs: readonly ImportedJob[];
  /** Tasks that are paused in the other system. */
  readonly pausedTaskIds: readonly string[];
  /** What stays behind. It keeps nothing else from being added. */
  readonly left: readonly ImportProblem[];
  /** What is otherwise here, or is to be said in the program. */
  readonly notes: readonly string[];
}

/** How a file is read. */
export interface ImportSettings {
  readonly timeZone: string;
  /** The task of all schedules; undefined for one for each. */
  readonly taskId: string | undefined;
  readonly system: boolean | undefined;
  readonly nowMs: number;
  readonly clock: Clock;
}

/** Ids that are unique among those that were given before. */
export class UniqueIds {
  readonly #uses = new Map<string, number>();

  of(id: string): string {
    let count = this.#uses.get(id) ?? 0;
    let unique: string;
    // Another one may have the id that a number makes of this one.
    do unique = ++count === 1 ? id : `${id}-${count}`;
    while (this.#uses.has(unique));
    this.#uses.set(id, count);
    if (unique !== id) this.#uses.set(unique, 1);
    return unique;
  }
}

/** Text as a part of an id. */
export function idPart(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60) || "schedule"
  );
}
