import type { JobResultRecord } from "../../src/records/job-result.ts";
import type { OccurrenceRecord, Skip } from "../../src/records/ledger.ts";
import type { ScheduleRemovalRequest } from "../../src/stores/data-store.ts";
import { History } from "../../src/stores/memory/history-of-schedule.ts";
import { MemoryLedger } from "../../src/stores/memory/ledger.ts";
import { StatsOfJobs } from "../../src/stores/memory/stats-of-jobs.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { changing, type Mutant, patched, store } from "./mutant.ts";

type Ended = Parameters<MemoryLedger["ended"]>;

/** A ledger that is told of other ends of jobs than there are; null for none. */
function ending(name: string, change: (end: Ended) => Ended | null): Mutant {
  return ofLedger(
    name,
    patched(
      name,
      MemoryLedger.prototype,
      "ended",
      (original) =>
        function (this: MemoryLedger, ...end: Ended) {
          const changed = change(end);
          if (changed !== null) original.apply(this, changed);
        },
    ),
  );
}

/** A ledger that writes other skips than there are. */
function skipping(name: string, change: (skip: Skip) => readonly Skip[]): Mutant {
  return ofLedger(
    name,
    patched(
      name,
      MemoryLedger.prototype,
      "skip",
      (original) =>
        function (this: MemoryLedger, scheduleId, skips) {
          original.call(this, scheduleId, skips.flatMap(change));
        },
    ),
  );
}

/** A ledger that answers something else than it has. */
function telling(name: string, change: (entries: readonly OccurrenceRecord[]) => readonly OccurrenceRecord[]): Mutant {
  return ofLedger(
    name,
    patched(
      name,
      MemoryLedger.prototype,
      "getOccurrences",
      (original) =>
        async function (this: MemoryLedger, filter) {
          const page = await original.call(this, filter);
          return { ...page, items: [...change(page.items)] };
        },
    ),
  );
}

/** Statistics that are told of other ends of jobs than there are, or more or less often. */
function counting(name: string, change: (result: JobResultRecord) => readonly JobResultRecord[]): Mutant {
  const mutant = patched(
    name,
    StatsOfJobs.prototype,
    "ended",
    (original) =>
      function (this: StatsOfJobs, result) {
        for (const one of change(result)) original.call(this, one);
      },
  );
  return { ...mutant, name: `the statistics ${name}` };
}

function ofLedger(name: string, mutant: Mutant): Mutant {
  return { ...mutant, name: `the ledger ${name}` };
}

const ALL = { scheduleId: "", order: "newest", limit: 1, cursor: null } as const;

/** Faults of what a store remembers of fire times. */
export const LEDGERS: readonly Mutant[] = [
  ending("has no run of jobs that were lost too often", (end) => (end[1].outcome === "abandoned" ? null : end)),
  ending("has no run of jobs that were cancelled", (end) => (end[1].outcome === "cancelled" ? null : end)),
  ending("has no run of jobs that were too late", (end) => (end[1].outcome === "missedStartDeadline" ? null : end)),
  ending("takes every end for a success", ([job, result, isKeyed]) => [
    job,
    { ...result, outcome: "success" },
    isKeyed,
  ]),
  ending("counts an attempt too many of jobs that were lost", ([job, result, isKeyed]) => [
    job,
    { ...result, attempts: result.attempts + (job.recoveries > 0 ? 1 : 0) },
    isKeyed,
  ]),
  ending("says that admission held no job", ([job, result]) => [job, result, false]),
  ending("has runs at the time with jitter", ([job, result, isKeyed]) => [
    { ...job, fireTime: job.scheduledFireTime },
    result,
    isKeyed,
  ]),
  ofLedger(
    "keeps the older entry of a fire time",
    patched(
      "",
      History.prototype,
      "addSkip",
      (original) =>
        function (this: History, skip) {
          const [last] = this.read({ ...ALL, from: Number.MIN_SAFE_INTEGER, until: skip.from }, null);
          if (last === undefined) original.call(this, skip);
        },
    ),
  ),
  ofLedger(
    "overwrites the entry before",
    patched(
      "",
      History.prototype,
      "addRun",
      (original) =>
        function (this: History, run) {
          const [last] = this.read({ ...ALL, from: Number.MIN_SAFE_INTEGER, until: run.fireTime }, null);
          const start = last === undefined ? run.fireTime : last.kind === "run" ? last.fireTime : last.from;
          original.call(this, { ...run, fireTime: start });
        },
    ),
  ),
  ofLedger(
    "cuts no skip",
    patched("", History.prototype, "cut", () => () => {}),
  ),
  ofLedger(
    "cuts each skip of a change",
    patched(
      "",
      History.prototype,
      "cut",
      (original) =>
        function (this: History) {
          original.call(this, Number.NEGATIVE_INFINITY);
        },
    ),
  ),
  skipping("leaves out what was due when a schedule was removed", (skip) => (skip.verdict === "removed" ? [] : [skip])),
  skipping("leaves out what was due in a pause", (skip) => (skip.verdict === "paused" ? [] : [skip])),
  skipping("leaves out what an earlier job was too slow for", (skip) =>
    skip.verdict === "overlapSkipped" ? [] : [skip],
  ),
  skipping("takes a pause for a change of the rule", (skip) => [
    skip.verdict === "paused" ? { ...skip, verdict: "replaced" } : skip,
  ]),
  skipping("leaves out the last fire time of a skip", ({ until, ...skip }) => [
    { ...skip, until: Math.max(skip.from, until - 1) },
  ]),
  skipping("lets a skip begin too early", ({ from, ...skip }) => [{ ...skip, from: from - 1 }]),
  skipping("miscounts what a skip has", ({ count, ...skip }) => [
    { ...skip, count: count === null ? null : count + 1 },
  ]),
  skipping("does not know what took the place of others", (skip) => [{ ...skip, into: null }]),
  counting("leave out jobs that were lost too often", (result) => (result.outcome === "abandoned" ? [] : [result])),
  counting("count a job that was lost once for each of its attempts", (result) =>
    Array.from({ length: Math.max(1, result.attempts) }, () => result),
  ),
  counting("do not know of which schedule a cancelled job was", (result) => [
    result.outcome === "cancelled" ? { ...result, scheduleId: null } : result,
  ]),
  telling("tells entries twice", (entries) => [...entries, ...entries.slice(-1)]),
  ofLedger(
    "does not find unfinished jobs",
    patched("", MemoryLedger.prototype, "getJobOfFireTime", () => async () => null),
  ),
  ofLedger(
    "forgets who made a change",
    patched(
      "",
      MemoryLedger.prototype,
      "changed",
      (original) =>
        function (this: MemoryLedger, before, after, { at }) {
          original.call(this, before, after, { at, by: null });
        },
    ),
  ),
  ofLedger(
    "has the changes in the wrong order",
    patched(
      "",
      MemoryLedger.prototype,
      "getScheduleChanges",
      (original) =>
        async function (this: MemoryLedger, filter) {
          const page = await original.call(this, filter);
          return { ...page, items: page.items.reverse() };
        },
    ),
  ),
  store(
    "leaves no skip of plans",
    changing({
      commit: (request) => ({ ...request, plans: request.plans.map(({ skips: _, ...plan }) => plan) }),
    }),
  ),
  store(
    "does not learn of removals",
    class extends MemoryDataStore {
      override removeSchedules(removals: readonly ScheduleRemovalRequest[]): Promise<boolean[]> {
        return super.removeSchedules(removals);
      }
    },
  ),
];
