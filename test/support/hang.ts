// No test has a limit of its own, because a limit that fits an idle machine fails on a busy one: the work of a test is
// bounded, not its time. What reaches these hangs.

/** Longest wait for something that a test needs: another process, a line of its output. */
export const HANG_MS = 240_000;

/** Longest time of a test or hook: longer, so that a wait that fails can say what it waited for. */
export const TEST_HANG_MS = 300_000;
