// How what became of runs and fire times is said, and which glyph and colour goes with it.

/** The classes of the style sheet. */
export type Tone = "success" | "error" | "missed" | "running" | "queued" | "paused" | "cancelled" | "abandoned";

interface Saying {
  readonly tone: Tone;
  readonly words: string;
}

const SAYINGS: Readonly<Record<string, Saying>> = {
  success: { tone: "success", words: "succeeded" },
  error: { tone: "error", words: "failed" },
  missedStartDeadline: { tone: "missed", words: "too late to start" },
  misfired: { tone: "missed", words: "too late to start" },
  deserializationFailed: { tone: "error", words: "input unreadable" },
  skipped: { tone: "cancelled", words: "skipped by its handler" },
  declined: { tone: "cancelled", words: "skipped by its handler" },
  blackedOut: { tone: "paused", words: "not run: blackout" },
  cancelled: { tone: "cancelled", words: "cancelled" },
  abandoned: { tone: "abandoned", words: "lost with its process" },
  running: { tone: "running", words: "running" },
  queued: { tone: "queued", words: "waiting" },
  held: { tone: "queued", words: "held back" },
  ended: { tone: "queued", words: "ended" },
  coalesced: { tone: "missed", words: "not run: a later run stands for it" },
  paused: { tone: "paused", words: "not run: paused" },
  tooOld: { tone: "missed", words: "not run: too old to catch up" },
  overCount: { tone: "missed", words: "not run: too many to catch up" },
  overlapSkipped: { tone: "missed", words: "not run: the run before was unfinished" },
  replaced: { tone: "missed", words: "not run: a newer one took its place" },
  removed: { tone: "cancelled", words: "not run: removed" },
  waiting: { tone: "running", words: "under way" },
  upcoming: { tone: "queued", words: "still to come" },
  unrecorded: { tone: "queued", words: "no record" },
  excluded: { tone: "queued", words: "excluded by the rule" },
  skippedGap: { tone: "missed", words: "does not exist: clocks go forward" },
  outside: { tone: "queued", words: "outside the rule's dates" },
  noFireTime: { tone: "queued", words: "no fire time of the rule" },
};

export function sayingOf(verdict: string): Saying {
  return SAYINGS[verdict] ?? { tone: "queued", words: verdict };
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
