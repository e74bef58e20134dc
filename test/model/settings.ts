import { RULES, type Rules } from "./rules.ts";

/** Which part of the protocol a model is of, and how much may go wrong in it. */
export interface Settings {
  /** One row of clocks, each so far ahead, for each initial state. */
  readonly skews: readonly (readonly number[])[];
  /** Fire times of the schedule: 1, 2 and 3 at most; 0 for no schedule. */
  readonly fires: number;
  /** Jobs that are ready at the beginning. */
  readonly jobs: number;
  /** Faults and changes happen until now. Later, what was begun comes to its end. */
  readonly chanceUntil: number;
  /** How a plan treats the fire times that were missed: the last one stands for all, or each gets a job, at most two in
   *  one plan; or the trigger breaks at the second, so that its schedule is paused. */
  readonly trigger: "latest" | "all" | "breaks";
  /** Whether schedulers run jobs too, or enqueue them only. */
  readonly runsJobs: boolean;
  /** Jobs that one scheduler runs at a time. */
  readonly capacity: number;
  /** Of the task; null for no limit. */
  readonly maxRunningJobs: number | null;
  /** Whether schedulers leave a due schedule to its preferred scheduler until the next instant. */
  readonly hasPreferred: boolean;
  /** Whether schedulers look at schedules that are due at the next instant. */
  readonly looksAhead: boolean;
  /** Requests or answers that go astray. */
  readonly faults: number;
  readonly crashes: number;
  /** Pauses, updates, replacements and removals. */
  readonly changes: number;
  /** Clocks that are set back. */
  readonly jumps: number;
  /** Whether all schedulers have the same identity. */
  readonly areTwins: boolean;
  /** Whether an older version, which leases schedules, commits once. */
  readonly hasOlder: boolean;
  readonly rules: Rules;
}

export function makeSettings(changes: Partial<Settings>): Settings {
  return {
    skews: [[0, 0]],
    fires: 3,
    jobs: 0,
    chanceUntil: (changes.fires ?? 3) + 1,
    trigger: "latest",
    runsJobs: false,
    capacity: 1,
    maxRunningJobs: 1,
    hasPreferred: false,
    looksAhead: true,
    faults: 0,
    crashes: 0,
    changes: 0,
    jumps: 0,
    areTwins: false,
    hasOlder: false,
    rules: RULES,
    ...changes,
  };
}
