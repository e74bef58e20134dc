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
  };
  /** What the other system does and this one does not, or otherwise. */
  readonly notes: readonly string[];
}

/** What cannot be taken over. */
export interface ImportProblem {
  readonly where: string;
  readonly message: string;
}

/** What was read of a file. */
export interface Imported {
  readonly schedules: readonly ImportedSchedule[];
  readonly problems: readonly ImportProblem[];
}

/** How a file is read. */
export interface ImportSettings {
  readonly timeZone: string;
  /** The task of all schedules; undefined for one for each. */
  readonly taskId: string | undefined;
  readonly system: boolean | undefined;
}

/** Ids that are unique among those that were given before. */
export class UniqueIds {
  readonly #uses = new Map<string, number>();

  of(id: string): string {
    const count = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, count);
    return count === 1 ? id : `${id}-${count}`;
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
