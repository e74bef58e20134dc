/** Longest single timer, in milliseconds. Longer sleeps are taken in steps, because clocks jump, and because timers
 *  overflow at 24.8 days. */
export const TIMER_STEP_MS_MAX = 3_600_000;

/** Largest lag of a timer that counts as usual for the host, in milliseconds. Virtual machines were seen to have 25. If
 *  a lag is larger, something held the event loop, or the machine was suspended. */
export const LAG_MS_MAX = 60;

/** Shortest timer that counts as a sample of the lag of timers, in milliseconds. Shorter timers have hardly any lag. */
export const LAG_SAMPLE_MS_MIN = 20;

/** How long before a known fire time a precise sleep wakes to set a shorter timer, in milliseconds. A scheduler also
 *  looks ahead by this time. It is longer than a look takes, together with the lag of the timer before the look. */
export const LOOK_AHEAD_MS = 60;

/** The time before the instant from which on a precise sleep uses timers of 1 ms, and the time from which on it uses
 *  turns of the event loop, in milliseconds. The turns keep a core busy, so that more than one millisecond of them is
 *  not worth its cost. */
export const SHORT_TIMERS_MS = 4;
export const LAST_TURNS_MS = 1;

/** Most turns of the event loop at the end of a precise sleep. A millisecond has some hundreds. Without this bound, the
 *  turns would never end on a host whose clock stands still between inputs (Workers). */
export const LAST_TURNS_MAX = 2000;

/** Most precise sleeps a second. Each costs some milliseconds of CPU, so that all together take a tenth of a core at
 *  most. */
export const PRECISE_SLEEPS_PER_SECOND_MAX = 20;
