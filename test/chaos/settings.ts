/** Leases of a chaos run: short, so that a killed or stopped process is noticed within the run. */
export const LEASE_MS = 1500;

/** How long a SIGSTOP lasts: past the lease, so that the process wakes up to work that is somebody else's. */
export const FREEZE_MS = 2500;

/** Periods of the schedules, in milliseconds. */
export const PERIODS_MS: readonly number[] = [100, 250, 400, 1000];

/** Policies of schedules whose runs may not overlap, and the period of these schedules, in milliseconds: shorter than
 *  their runs. */
export const OVERLAPS = ["skip", "replaceQueued"] as const;
export const OVERLAP_PERIOD_MS = 100;
