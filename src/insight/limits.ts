/** Most fire times of one simulation. A simulation runs a whole scheduler in memory for them, and keeps what became of
 *  each. */
export const SIMULATED_FIRES_MAX = 100_000;

/** Most events of a calendar that is written or read, because a calendar is made and read as one text in memory. */
export const CALENDAR_EVENTS_MAX = 10_000;

/** Longest text of a calendar that is read, in UTF-16 units. A country's holidays of ten years take 50,000. */
export const CALENDAR_TEXT_LENGTH_MAX = 1_000_000;

/** Most steps of the questions of one plan to the triggers of its declarations: some 80 ms of work. */
export const PLAN_STEPS_MAX = 1_000_000;
