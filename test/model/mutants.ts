import { RULES, type Rules } from "./rules.ts";
import { makeSettings, type Settings } from "./settings.ts";

/** The protocol with one rule broken, and what comes of it. */
export interface Mutant {
  readonly name: string;
  readonly settings: Settings;
  readonly flaw: string;
}

const CLOCKS = [[0, 1]];
const JOBS = { fires: 0, jobs: 2, chanceUntil: 2, runsJobs: true };

const STALE = "a plan counted that was made before the schedule changed";
const TWICE = "an occurrence was added twice";
const LEASED_TWICE = "a job was leased to another before the lease on it ended";

function mutant(name: string, rules: Partial<Rules>, flaw: string, settings: Partial<Settings>): Mutant {
  return { name, settings: makeSettings({ skews: CLOCKS, ...settings, rules: { ...RULES, ...rules } }), flaw };
}

export const MUTANTS: readonly Mutant[] = [
  mutant("a schedule that is added again begins at fence 0", { beginsAtFreshFence: false }, STALE, { changes: 1 }),
  mutant("plans are not compared by fence", { comparesFence: false }, STALE, { changes: 1 }),
  mutant(
    "plans are not compared by next fire time, and an older version commits without raising the fence",
    { comparesNextFireTime: false },
    TWICE,
    { trigger: "all", hasOlder: true },
  ),
  mutant(
    "a commit does not raise the fence",
    { commitRaisesFence: false },
    "a plan was told not to be committed, and was",
    {},
  ),
  mutant("a pause does not raise the fence", { pauseRaisesFence: false }, STALE, { changes: 1 }),
  mutant(
    "a pause does not raise the fence, and plans are not compared by it",
    { pauseRaisesFence: false, comparesPaused: false },
    "a paused schedule made a job",
    { changes: 1 },
  ),
  mutant("an update does not raise the fence", { updateRaisesFence: false }, STALE, { changes: 1 }),
  mutant("a replacement does not raise the fence", { replaceRaisesFence: false }, STALE, { changes: 1 }),
  mutant(
    "the schedule moves on before its jobs are added",
    { addsJobsFirst: false },
    "the schedule moved on without its job",
    {},
  ),
  mutant(
    "a commit is confirmed by the fence alone",
    { confirmsBy: "fence" },
    "a plan was told to be committed, and was not",
    {},
  ),
  mutant(
    "a repeated pause takes a commit for its first try",
    { repeatedPause: "compares" },
    "a pause was told to have happened, and has not",
    { changes: 1, faults: 1 },
  ),
  mutant(
    "plans are sent without a look at the clock",
    { validity: "none" },
    "a plan counted that leaves a fire time out which is due",
    {},
  ),
  mutant("plans that are cut are made anew for ever", { validity: "plain" }, "a scheduler does not come to its end", {
    trigger: "all",
  }),
  mutant("plans that pause are made anew for ever", { validity: "plain" }, "a scheduler does not come to its end", {
    trigger: "breaks",
  }),
  mutant("a new trigger goes back behind the old one", { neverGoesBack: false }, TWICE, { changes: 1 }),
  mutant("others wait for a dead preferred scheduler", { preferredScheduler: "forEver" }, "the schedule stays due", {
    hasPreferred: true,
    crashes: 1,
  }),
  mutant(
    "a repetition takes a new commit id",
    { keepsCommitId: false },
    "a plan was told not to be committed, and was",
    {
      faults: 1,
    },
  ),
  mutant(
    "a release counts for whoever holds the job",
    { comparesLease: false },
    "a release counted for the lease of another",
    { ...JOBS, faults: 1 },
  ),
  mutant(
    "an acquisition does not raise the job's fence",
    { raisesJobFence: false },
    "a job was ended by another while it ran",
    { ...JOBS, jobs: 1, faults: 1 },
  ),
  mutant("no commit recovers", { recovers: false }, "a lease stays", { ...JOBS, crashes: 1 }),
  mutant("live leases are recovered", { recoversEndedOnly: false }, LEASED_TWICE, { ...JOBS, maxRunningJobs: null }),
  mutant(
    "jobs are acquired while a dead lease waits",
    { acquiresBesideDead: true },
    "more jobs than maxRunningJobs run",
    JOBS,
  ),
  mutant(
    "a repetition does not count what its first try leased",
    { topsUp: false },
    "a scheduler got more jobs than it asked for",
    { ...JOBS, maxRunningJobs: null, faults: 1 },
  ),
  mutant(
    "an extension leaves orphans",
    { orphans: "none" },
    "an orphaned lease is left after its holder has extended its leases",
    { ...JOBS, faults: 1 },
  ),
  mutant("an extension gives up what the commit under way leases", { orphans: "all" }, LEASED_TWICE, JOBS),
  mutant("a late extension gives up what later commits leased", { orphans: "pending" }, LEASED_TWICE, {
    ...JOBS,
    faults: 1,
  }),
  mutant("an extension gives up what the commit under way releases", { namesReleases: false }, LEASED_TWICE, {
    ...JOBS,
    faults: 1,
  }),
  mutant("a late extension shortens leases", { onlyLengthens: false }, "a late extension made a lease shorter", {
    ...JOBS,
    faults: 1,
  }),
  mutant("a late surrender gives up leases of the present instanceId", { surrenderSparesOwn: false }, LEASED_TWICE, {
    ...JOBS,
    faults: 1,
    crashes: 1,
  }),
  mutant("a surrender takes from a living run of its identity", { surrenderSparesLiving: false }, LEASED_TWICE, {
    ...JOBS,
    areTwins: true,
    maxRunningJobs: null,
    crashes: 1,
  }),
];

const SMALL = { changes: 1, faults: 1, fires: 2 };

/** Guards that another one makes superfluous: the protocol stands without them. */
export const SPARE_GUARDS: readonly Omit<Mutant, "flaw">[] = [
  mutant("paused, because a pause raises the fence", { comparesPaused: false }, "", SMALL),
  mutant("next fire time, because every commit raises the fence", { comparesNextFireTime: false }, "", SMALL),
  mutant("now, because no scheduler sends a plan before its time", { comparesNow: false }, "", SMALL),
];
