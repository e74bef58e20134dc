/** How far metrics count the jobs of each task and state, and the schedules of each state. SQLite counts a million
 *  entries of an index in 50 to 90 ms, and a local database holds up the process meanwhile. */
export const METRICS_COUNT_MAX = 2_000_000;
