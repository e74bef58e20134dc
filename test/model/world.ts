/** Rows of jobs. Fire times are 1, 2 and 3 at most; 0 stands for none. */
export const JOBS = 3;
/** A lease ends this long after the commit that made it. */
export const LEASE = 2;
/** Where the fences of a schedule that is added again begin: its n-th life counts from n times this. */
export const FENCES_PER_LIFE = 40;

/** The schedule's row. */
export interface Schedule {
  exists: boolean;
  fence: number;
  nextFireTime: number;
  lastFireTime: number;
  isPaused: boolean;
  /** The commit that committed last, while it may be asked for. */
  stampBy: number;
  stampCommit: number;
  /** The scheduler that committed last and can run the jobs, or -1. */
  preferredScheduler: number;
  /** Until when an older version leases it. */
  leasedUntil: number;
  /** Not stored: what became of each fire time in this life of the schedule. */
  fates: Fate[];
}

/** What became of a fire time. */
export const Fate = Object.freeze({ open: 0, skipped: 1, added: 2 });
export type Fate = (typeof Fate)[keyof typeof Fate];

export const JobState = Object.freeze({ absent: 0, ready: 1, leased: 2, done: 3 });
export type JobState = (typeof JobState)[keyof typeof JobState];

/** The row of the job of one fire time. */
export interface Job {
  state: JobState;
  fence: number;
  by: number;
  /** The commit that leased it. */
  commit: number;
  until: number;
}

/** What a scheduler saw of the schedule, and as of when it plans; `expected` 0 for no plan. */
export interface Plan {
  fence: number;
  expected: number;
  last: number;
  asOf: number;
  /** Not sent: how many changes were left when it looked. Equal while nothing changed. */
  version: number;
}

export const Phase = Object.freeze({
  /** Its process is dead. */
  down: 0,
  /** It gives up the leases of its dead instances. */
  starting: 1,
  idle: 2,
  /** It has looked and planned. */
  planned: 3,
  /** It does not know what became of its commit. */
  unknown: 4,
  /** The commit was committed, and its answer is on the way. */
  answered: 5,
});
export type Phase = (typeof Phase)[keyof typeof Phase];

/** What a scheduler knows of a lease on a job. */
export const Hold = Object.freeze({
  none: 0,
  /** It runs the job, or has run it and tells so with the commit under way. */
  held: 1,
  /** The lease has ended, and somebody recovered the job; the holder does not know. */
  lost: 2,
  /** Leased by a commit whose answer is on the way. */
  granted: 3,
  /** Both. */
  grantedAndLost: 4,
});
export type Hold = (typeof Hold)[keyof typeof Hold];

export interface Scheduler {
  phase: Phase;
  /** How far its clock is ahead: -1, 0 or 1. */
  skew: number;
  /** The first commit of this instance. Commits of a scheduler are numbered; an id is its number here. */
  firstCommit: number;
  /** The commit under way. */
  commit: number;
  plan: Plan;
  /** Jobs that the commit under way releases, with the fences of their leases; 0 for none. */
  releases: number[];
  holds: Hold[];
  /** Fences of the leases held. */
  fences: number[];
  /** Not known to it: whether a try of the commit under way committed its plan, and what came since. */
  truth: Truth;
}

export const Truth = Object.freeze({ notCommitted: 0, committed: 1, committedAndMovedOn: 2 });
export type Truth = (typeof Truth)[keyof typeof Truth];

export const MessageKind = Object.freeze({ none: 0, commit: 1, extension: 2, surrender: 3 });
export type MessageKind = (typeof MessageKind)[keyof typeof MessageKind];

/** A request that its sender has given up, and that still may arrive. */
export interface Message {
  kind: MessageKind;
  by: number;
  /** A commit's number. For an extension: of the commit under way, or the next one; see `Rules.orphans`. */
  commit: number;
  /** Of the instance that sent it, where it matters. */
  firstCommit: number;
  plan: Plan;
  /** Fences of the jobs that are released, or of those that an extension names. */
  fences: number[];
  recovers: boolean;
  limit: number;
  /** The sender's clock when it was sent. */
  now: number;
}

/** A commit of an older version, which leases the schedule and then does not raise the fence. */
interface OlderVersion {
  isAtWork: boolean;
  fence: number;
  fireTime: number;
}

export interface World {
  time: number;
  /** How many more requests or answers may go astray. */
  faults: number;
  crashes: number;
  changes: number;
  /** How many clocks may be set back. */
  jumps: number;
  /** Whether an older version may still begin. */
  hasOlder: boolean;
  schedule: Schedule;
  jobs: Job[];
  schedulers: Scheduler[];
  messages: Message[];
  /** Whether the client does not know what became of its pause, the fence that it expects, and whether it was
   *  committed. */
  pause: { isUnknown: boolean; fence: number; wasCommitted: boolean };
  older: OlderVersion;
}

export const NO_PLAN: Plan = Object.freeze({ fence: 0, expected: 0, last: 0, asOf: 0, version: 0 });

export function noMessage(): Message {
  return {
    kind: MessageKind.none,
    by: 0,
    commit: 0,
    firstCommit: 0,
    plan: NO_PLAN,
    fences: [0, 0, 0],
    recovers: false,
    limit: 0,
    now: 0,
  };
}

/** A number for the next commit of a scheduler: higher than all that are still known. */
export function nextCommit(world: World, by: number): number {
  const scheduler = at(world.schedulers, by);
  let highest = Math.max(scheduler.firstCommit, scheduler.commit);
  for (const job of world.jobs) if (job.by === by && job.commit > highest) highest = job.commit;
  for (const message of world.messages) {
    if (message.kind !== MessageKind.none && message.by === by && message.commit > highest) highest = message.commit;
  }
  return highest + 1;
}

/** An element that exists. */
export function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`no element ${index} of ${list.length}`);
  return item;
}
