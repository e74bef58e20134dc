import { makeSettings, type Settings } from "./settings.ts";

/** A part of the protocol to explore as a whole. */
export interface Case {
  readonly name: string;
  readonly settings: Settings;
}

const TWO_CLOCKS = [
  [0, 0],
  [0, 1],
  [-1, 1],
];
const FAR_CLOCKS = [[-1, 1]];
const THREE_CLOCKS = [[-1, 0, 1]];

/** The schedulers run jobs that are there already. */
const JOBS = { fires: 0, chanceUntil: 2, runsJobs: true };

function one(name: string, changes: Partial<Settings>): Case {
  return { name, settings: makeSettings(changes) };
}

/** What fits into seconds. */
export const CASES: readonly Case[] = [
  one("two schedulers, a lost request and a crash", { skews: TWO_CLOCKS, faults: 1, crashes: 1 }),
  one("two schedulers, two lost requests", { skews: FAR_CLOCKS, faults: 2 }),
  one("two schedulers that make up for all, a lost request and a clock set back", {
    skews: TWO_CLOCKS,
    trigger: "all",
    faults: 1,
    jumps: 1,
  }),
  one("two schedulers, a trigger that breaks, a lost request and a clock set back", {
    skews: FAR_CLOCKS,
    trigger: "breaks",
    faults: 1,
    jumps: 1,
  }),
  one("two schedulers, a change and a lost request", { skews: FAR_CLOCKS, changes: 1, faults: 1 }),
  one("two schedulers that do not look ahead, two changes", { skews: [[0, 1]], changes: 2, looksAhead: false }),
  one("two schedulers with preferredSchedulers, a change and a crash", {
    skews: TWO_CLOCKS,
    hasPreferred: true,
    changes: 1,
    crashes: 1,
    fires: 2,
  }),
  one("two schedulers, an older version and a change", { skews: FAR_CLOCKS, hasOlder: true, changes: 1, fires: 2 }),
  one("three schedulers, a lost request", { skews: THREE_CLOCKS, faults: 1 }),
  one("three schedulers, a change and a crash", { skews: THREE_CLOCKS, changes: 1, crashes: 1, fires: 2 }),
  one("two schedulers that run two jobs, a lost request", {
    ...JOBS,
    skews: [[0, 0]],
    jobs: 2,
    chanceUntil: 1,
    faults: 1,
  }),
  one("two schedulers that run a job, a lost request and a crash", {
    ...JOBS,
    skews: [[-1, 1]],
    jobs: 1,
    chanceUntil: 1,
    faults: 1,
    crashes: 1,
  }),
  one("two schedulers that run two jobs each, a lost request", {
    ...JOBS,
    jobs: 2,
    chanceUntil: 1,
    capacity: 2,
    maxRunningJobs: null,
    faults: 1,
  }),
  one("three schedulers that run a job, a crash", { ...JOBS, skews: THREE_CLOCKS, jobs: 1, crashes: 1 }),
  one("two schedulers that fire and run, a lost request and a crash", {
    skews: [[0, 1]],
    fires: 1,
    chanceUntil: 1,
    runsJobs: true,
    faults: 1,
    crashes: 1,
  }),
  one("two schedulers of one identity that run two jobs, a lost request and a crash", {
    ...JOBS,
    areTwins: true,
    jobs: 1,
    chanceUntil: 1,
    faults: 1,
    crashes: 1,
  }),
  one("two schedulers that fire and run, a change", { skews: [[0, 1]], fires: 1, runsJobs: true, changes: 1 }),
];

/** What takes minutes. */
export const DEEP_CASES: readonly Case[] = [
  one("two schedulers, a change, a lost request and a crash", { skews: TWO_CLOCKS, changes: 1, faults: 1, crashes: 1 }),
  one("two schedulers, two changes and a lost request", { skews: TWO_CLOCKS, changes: 2, faults: 1 }),
  one("two schedulers, two lost requests and a crash", { skews: TWO_CLOCKS, faults: 2, crashes: 1 }),
  one("two schedulers, a change and two lost requests", { skews: FAR_CLOCKS, changes: 1, faults: 2 }),
  one("two schedulers with preferredSchedulers, two changes and a crash", {
    skews: [[0, 1]],
    hasPreferred: true,
    changes: 2,
    crashes: 1,
  }),
  one("two schedulers, an older version, a change and a lost request", {
    skews: TWO_CLOCKS,
    hasOlder: true,
    changes: 1,
    faults: 1,
  }),
  one("three schedulers, a lost request and a crash", { skews: THREE_CLOCKS, faults: 1, crashes: 1 }),
  one("three schedulers, a change and a lost request", { skews: THREE_CLOCKS, changes: 1, faults: 1 }),
  one("three schedulers, two changes", { skews: THREE_CLOCKS, changes: 2, fires: 2 }),
  one("two schedulers that run two jobs, a lost request and a crash", {
    ...JOBS,
    skews: TWO_CLOCKS,
    jobs: 2,
    faults: 1,
    crashes: 1,
  }),
  one("two schedulers that run two jobs, two lost requests", { ...JOBS, jobs: 2, chanceUntil: 1, faults: 2 }),
  one("three schedulers that run a job, a lost request and a crash", {
    ...JOBS,
    skews: THREE_CLOCKS,
    jobs: 1,
    chanceUntil: 1,
    faults: 1,
    crashes: 1,
  }),
  one("three schedulers that run two jobs, a lost request", {
    ...JOBS,
    skews: THREE_CLOCKS,
    jobs: 2,
    chanceUntil: 1,
    faults: 1,
  }),
  one("two schedulers that fire and run, a lost request", { skews: [[0, 1]], fires: 2, runsJobs: true, faults: 1 }),
  one("two schedulers that fire twice and run, a change", { skews: [[0, 1]], fires: 2, runsJobs: true, changes: 1 }),
  one("two schedulers that fire and run, a change and a lost request", {
    skews: [[0, 1]],
    fires: 1,
    chanceUntil: 1,
    runsJobs: true,
    changes: 1,
    faults: 1,
  }),
  one("three schedulers, a change, a lost request and a crash", {
    skews: THREE_CLOCKS,
    fires: 2,
    changes: 1,
    faults: 1,
    crashes: 1,
  }),
  one("two schedulers that fire and run, a change, a lost request and a crash", {
    skews: [[0, 1]],
    fires: 1,
    chanceUntil: 1,
    runsJobs: true,
    changes: 1,
    faults: 1,
    crashes: 1,
  }),
  one("three schedulers that fire and run, a lost request", {
    skews: THREE_CLOCKS,
    fires: 1,
    chanceUntil: 1,
    runsJobs: true,
    faults: 1,
  }),
];
