// How what became of runs and fire times is said, and which glyph and colour goes with it.

/** The classes of the style sheet. */
export type Tone = "success" | "error" | "missed" | "running" | "queued" | "paused" | "cancelled" | "abandoned";

const SAYINGS: Readonly<Record<string, readonly [Tone, string]>> = {
  success: ["success", "succeeded"],
  error: ["error", "failed"],
  missedStartDeadline: ["missed", "too late to start"],
  misfired: ["missed", "too late to start"],
  deserializationFailed: ["error", "input unreadable"],
  skipped: ["cancelled", "skipped by its handler"],
  declined: ["cancelled", "skipped by its handler"],
  blackedOut: ["paused", "not run: blackout"],
  cancelled: ["cancelled", "cancelled"],
  abandoned: ["abandoned", "lost with its process"],
  running: ["running", "running"],
  queued: ["queued", "waiting"],
  blocked: ["queued", "blocked back"],
  ended: ["queued", "ended"],
  coalesced: ["missed", "not run: a later run stands for it"],
  paused: ["paused", "not run: paused"],
  tooOld: ["missed", "not run: too old to catch up"],
  overCount: ["missed", "not run: too many to catch up"],
  overlapSkipped: ["missed", "not run: the run before was unfinished"],
  replaced: ["missed", "not run: a newer one took its place"],
  removed: ["cancelled", "not run: removed"],
  waiting: ["queued", "waiting"],
  begun: ["running", "under way"],
  upcoming: ["queued", "still to come"],
  unrecorded: ["queued", "no record"],
  excluded: ["queued", "excluded by the rule"],
  skippedGap: ["missed", "does not exist: clocks go forward"],
  outside: ["queued", "outside the rule's dates"],
  noFireTime: ["queued", "no fire time of the rule"],
};

export function sayingOf(verdict: string): { readonly tone: Tone; readonly words: string } {
  const [tone, words] = SAYINGS[verdict] ?? ["queued", verdict];
  return { tone, words };
}

/** The verdict on a fire time, which tells a run that has begun from one that waits to begin. */
export function verdictOf({ verdict, run }: { verdict: string; run: { attempts: number } | null }): string {
  return verdict === "waiting" && run?.attempts ? "begun" : verdict;
}

/** Whether it is something that somebody may have to do something about. */
export function isTrouble(verdict: string): boolean {
  return ["error", "missed", "abandoned"].includes(sayingOf(verdict).tone);
}

/** What is done about fire times that were missed. */
export const COALESCE = {
  latest: "run once, for the latest of them",
  earliest: "run once, for the earliest of them",
  all: "run once for each of them",
};
/** What is done while an earlier run is unfinished. */
export const OVERLAP = {
  queue: "the next one waits for its turn",
  skip: "the next one is left out",
  replaceQueued: "only the newest one waits",
  cancelRunning: "the earlier one is cancelled",
};
