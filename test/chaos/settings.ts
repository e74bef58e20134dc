/** Leases of a chaos run: short, so that a killed or stopped process is noticed within the run. */
export const LEASE_MS = 1500;

/** How long a SIGSTOP lasts: past the lease, so that the process wakes up to work that is somebody else's. */
export const FREEZE_MS = 2500;

/** Periods of the schedules, in milliseconds. */
export const PERIODS_MS: readonly number[] = [100, 250, 400, 1000];

/** Concurrency keys of jobs, and how many jobs of a key may run at once. */
export const KEYS: readonly string[] = ["tenant 1", "tenant 2", "tenant 3", "tenant 4"];
export const KEY_LIMIT = 2;

/** How many attempts of a key may start in a time. */
export const RATE = { limit: 20, perMs: 1000, burst: 3 } as const;

/** Policies of schedules whose runs may not overlap, and the period of these schedules, in milliseconds: shorter than
 *  their runs. */
export const OVERLAPS = ["skip", "replaceQueued"] as const;
export const OVERLAP_PERIOD_MS = 100;

/** Which part of the events is lost before it reaches the broker, and which is sent twice. */
export const DROPPED = 0.05;
export const DOUBLED = 0.05;

/** How long a process sleeps at most, in milliseconds: so late is a wake-up whose event was lost. */
export const MAX_IDLE_MS = { withoutBroker: 200, withBroker: 2000 } as const;
