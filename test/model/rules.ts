/** The rules of the protocol. A mutant breaks one. */
export interface Rules {
  // ---- the schedule's row

  /** What a plan is compared with. */
  readonly comparesFence: boolean;
  readonly comparesNextFireTime: boolean;
  readonly comparesPaused: boolean;
  readonly comparesNow: boolean;
  /** Whether a plan's jobs are added before its schedule moves on: both compare with the row. */
  readonly addsJobsFirst: boolean;
  readonly commitRaisesFence: boolean;
  readonly pauseRaisesFence: boolean;
  readonly updateRaisesFence: boolean;
  readonly replaceRaisesFence: boolean;
  /** Whether a schedule that is added again begins at a fence that it never had. */
  readonly beginsAtFreshFence: boolean;
  /** How a scheduler learns that its plan was committed: by its stamp, or by the fence alone. */
  readonly confirmsBy: "stamp" | "fence";
  /** What the repetition of a pause does: it pauses again, or takes a fence one higher for its first try. */
  readonly repeatedPause: "pauses" | "compares";

  // ---- planning

  /** Which plans are made anew when it is time to send them. */
  readonly validity: "spec" | "none" | "plain";
  /** Whether fire times that were processed are left out, when a new trigger begins before them. */
  readonly neverGoesBack: boolean;
  /** How long others leave a schedule to its preferred scheduler. */
  readonly preferredScheduler: "whileAlive" | "forEver";

  // ---- the jobs' rows

  /** Whether a release counts only for the lease that it names. */
  readonly comparesLease: boolean;
  readonly recovers: boolean;
  /** Whether only leases that have ended are recovered. */
  readonly recoversEndedOnly: boolean;
  readonly raisesJobFence: boolean;
  /** Whether jobs are acquired while the lease of another waits for recovery. */
  readonly acquiresBesideDead: boolean;
  /** Whether a repetition counts what its earlier try leased. */
  readonly topsUp: boolean;
  readonly keepsCommitId: boolean;
  /**
   * Which leases of its instance an extension gives up, besides those that it names: those of commits before the
   * first one that was not answered when it was sent (`settled`), those of all commits but the one under way (`pending`),
   * or of all commits, or none.
   */
  readonly orphans: "settled" | "pending" | "all" | "none";
  /** Whether an extension that arrives late leaves a longer lease alone. */
  readonly onlyLengthens: boolean;
  /** Whether an extension names the jobs that the commit under way releases. */
  readonly namesReleases: boolean;
  /** Whether a scheduler that starts spares the leases of its own instance. */
  readonly surrenderSparesOwn: boolean;
  /** Whether it spares the leases of other runs of its identity that are alive. */
  readonly surrenderSparesLiving: boolean;
}

export const RULES: Rules = Object.freeze({
  comparesFence: true,
  comparesNextFireTime: true,
  comparesPaused: true,
  comparesNow: true,
  addsJobsFirst: true,
  commitRaisesFence: true,
  pauseRaisesFence: true,
  updateRaisesFence: true,
  replaceRaisesFence: true,
  beginsAtFreshFence: true,
  confirmsBy: "stamp",
  repeatedPause: "pauses",
  validity: "spec",
  neverGoesBack: true,
  preferredScheduler: "whileAlive",
  comparesLease: true,
  recovers: true,
  recoversEndedOnly: true,
  raisesJobFence: true,
  acquiresBesideDead: false,
  topsUp: true,
  keepsCommitId: true,
  orphans: "settled",
  onlyLengthens: true,
  namesReleases: true,
  surrenderSparesOwn: true,
  surrenderSparesLiving: true,
});
