import type { OccurrenceRecord, Skip } from "../../records/ledger.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";
import type { DataStore, ScheduleAddition } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  end,
  entriesOf,
  filterOf,
  fireAt,
  jobIdAt,
  ledgerCase,
  makeSkip,
  runOf,
  seenAgain,
  skipOf,
  taken,
} from "./ledger-makers.ts";
import { add, commit, commitPlans, fireOf, makeSchedule, planOf, removeSchedule, T0 } from "./makers.ts";

// What becomes of fire times that a schedule passes twice, because it was removed and added again with a start
// that has passed. Each has one entry.

const AT = T0 + 50_000;
const NOTE = { at: AT, by: "somebody" };

/** Lets a schedule fire at T0 + 1000, and at T0 + 2000 and 5000 after skips; removes it, and adds it again with the
 *  start T0. Returns the entries of both jobs that have ended.
 *  @param again how it is added again. Default: as schedulers add it, under a first fence of its own */
async function relived(
  store: DataStore,
  again: readonly ScheduleAddition[] = add(makeSchedule({ fence: 7 })),
): Promise<{ readonly [seconds: number]: OccurrenceRecord }> {
  await store.addSchedules(add(makeSchedule({ nextFireTime: T0 + 1000 })), { ...NOTE, at: T0 });
  await fireAt(store, await seenAgain(store), [T0 + 1000]);
  await fireAt(store, await seenAgain(store), [T0 + 2000]);
  const skips = [makeSkip(T0 + 3000, { until: T0 + 4000, verdict: "coalesced", count: 2, into: T0 + 5000 })];
  const fires = [fireOf("schedule", T0 + 5000, { jobId: jobIdAt(T0 + 5000) })];
  const last = { skips, fires, nextFireTime: T0 + 6000, lastFireTime: T0 + 5000 };
  await commitPlans(store, [planOf(await seenAgain(store), last)], { now: T0 + 5000 });
  const first = await taken(store, jobIdAt(T0 + 1000), T0 + 5000);
  await end(store, first, { finishedAt: T0 + 6000 });
  const third = present(await store.getJob(jobIdAt(T0 + 5000)), "the third job");
  await end(store, third, { finishedAt: T0 + 6000 });
  await removeSchedule(store, "schedule", { ...NOTE, at: AT - 1000 });
  await store.addSchedules(again, NOTE);
  return {
    1: runOf(first, { finishedAt: T0 + 6000 }),
    5: runOf(third, { finishedAt: T0 + 6000 }),
  };
}

/** The entry of what is left of a skip. */
function partOf(skip: Skip, from: number, until: number): OccurrenceRecord {
  return { kind: "skip", ...skip, from, until, count: null };
}

/** Passes over all fire times up to T0 + 9000. */
async function passOver(store: DataStore): Promise<Skip> {
  const skip = makeSkip(T0, { until: T0 + 8000, verdict: "coalesced", count: 9, into: T0 + 9000 });
  const plan = { skips: [skip], fires: [fireOf("schedule", T0 + 9000)], lastFireTime: T0 + 9000 };
  await commitPlans(store, [planOf(await seenAgain(store), { ...plan, nextFireTime: AT + 9000 })], { now: AT });
  return skip;
}

async function shared(ledger: Ledger): Promise<readonly OccurrenceRecord[]> {
  const entries = await entriesOf(ledger);
  const newest = await entriesOf(ledger, { order: "newest" });
  equal(newest.toReversed(), entries, "the entries, the newest first");
  return entries;
}

export const ledgerAgainCases: readonly DataStoreCase[] = [
  ledgerCase(
    ["H11"],
    "changes: an addition of what was removed takes back its skips from its start on",
    async (store, ledger) => {
      const runs = await relived(store);
      equal(await shared(ledger), [runs[1], runs[5]], "the entries");
    },
  ),
  ledgerCase(["H11"], "changes: an addition cuts a skip that reaches beyond its start", async (store, ledger) => {
    await store.addSchedules(add(makeSchedule()), { ...NOTE, at: T0 });
    const skip = makeSkip(T0, { until: T0 + 8000, verdict: "tooOld", count: 9 });
    await commitPlans(store, [planOf(await seenAgain(store), { fires: [], skips: [skip], nextFireTime: T0 + 9000 })], {
      now: T0 + 8000,
    });
    await removeSchedule(store, "schedule", { ...NOTE, at: T0 + 8500 });
    await store.addSchedules(add(makeSchedule({ nextFireTime: T0 + 4000 })), NOTE);
    equal(await shared(ledger), [partOf(skip, T0, T0 + 3999)], "the entries");
  }),
  ledgerCase(
    ["H7"],
    "ledger: a plan's skip leaves out what ran before the schedule was removed",
    async (store, ledger) => {
      const runs = await relived(store);
      const skip = await passOver(store);
      const entries = [
        partOf(skip, T0, T0 + 999),
        runs[1],
        partOf(skip, T0 + 1001, T0 + 1999),
        partOf(skip, T0 + 2001, T0 + 4999),
        runs[5],
        partOf(skip, T0 + 5001, T0 + 8000),
      ];
      equal(await shared(ledger), entries, "the entries while a job from before the removal is unfinished");
      const job = present(await store.getJob(jobIdAt(T0 + 2000)), "the second job");
      await end(store, job, { finishedAt: AT });
      entries.splice(3, 0, runOf(job, { finishedAt: AT }));
      equal(await shared(ledger), entries, "the entries once the job has ended");
    },
  ),
  ledgerCase(["H14"], "ledger: a window within a part of a skip has that part", async (store, ledger) => {
    await relived(store);
    const skip = await passOver(store);
    for (const order of ["oldest", "newest"] as const) {
      const earlier = await entriesOf(ledger, { from: T0 + 3000, until: T0 + 4000, order });
      equal(earlier, [partOf(skip, T0 + 2001, T0 + 4999)], `the ${order} entry of the earlier window`);
      const later = await entriesOf(ledger, { from: T0 + 6000, until: T0 + 7000, order });
      equal(later, [partOf(skip, T0 + 5001, T0 + 8000)], `the ${order} entry of the later window`);
      const entries: OccurrenceRecord[] = [];
      let cursor: string | null = null;
      for (let count = 0; count === 0 || (cursor !== null && count < 20); count++) {
        const page: Awaited<ReturnType<Ledger["getOccurrences"]>> = await ledger.getOccurrences(
          filterOf({ order, limit: 1, cursor }),
        );
        entries.push(...page.items);
        ({ cursor } = page);
      }
      equal(entries, await entriesOf(ledger, { order }), `pages of one entry, the ${order} first`);
    }
  }),
  ledgerCase(
    ["H7"],
    "ledger: a skip leaves out an earlier run, when a call adds the schedule and replaces it",
    async (store, ledger) => {
      const schedule = makeSchedule({ metadata: { is: "first" } });
      const runs = await relived(store, [...add(schedule), { schedule: makeSchedule(), conflictPolicy: "replace" }]);
      await passOver(store);
      const entries = await shared(ledger);
      equal(
        entries.filter(({ kind }) => kind === "run"),
        [runs[1], runs[5]],
        "the runs",
      );
      equal(entries.length, 6, "how many entries there are");
    },
  ),
  ledgerCase(
    ["H7"],
    "ledger: what a change passes over leaves out what ran before the schedule was removed",
    async (store, ledger) => {
      const runs = await relived(store);
      await removeSchedule(store, "schedule", NOTE);
      const removed = makeSkip(T0, { until: AT, verdict: "removed", count: null });
      const entries = [
        partOf(removed, T0, T0 + 999),
        runs[1],
        partOf(removed, T0 + 1001, T0 + 1999),
        partOf(removed, T0 + 2001, T0 + 4999),
        runs[5],
        partOf(removed, T0 + 5001, AT),
      ];
      equal(await shared(ledger), entries, "the entries");
    },
  ),
  ledgerCase(["H6"], "ledger: a fire time that runs in both lives has the later run", async (store, ledger) => {
    await relived(store);
    await fireAt(store, await seenAgain(store), [T0 + 1000], { jobId: "again" });
    equal((await shared(ledger)).length, 2, "how many entries there are while it runs");
    const job = await taken(store, "again", AT);
    await end(store, job, { finishedAt: AT + 5 });
    equal((await shared(ledger))[0], runOf(job, { finishedAt: AT + 5 }), "the first entry");
  }),
  ledgerCase(
    ["H7"],
    "ledger: a fire that makes no job leaves the run from before the removal",
    async (store, ledger) => {
      const runs = await relived(store);
      const overlap = { policy: "skip", passed: 0, lastPassedTime: null } as const;
      const plan = planOf(await seenAgain(store), { fires: [fireOf("schedule", T0 + 1000)], overlap });
      await commit(store, {
        now: AT,
        jobs: null,
        plans: [{ ...plan, lastFireTime: T0 + 1000, nextFireTime: T0 + 7000 }],
      });
      const entry = (await shared(ledger))[0];
      equal(entry, runs[1], "the first entry");
      const next = planOf(await seenAgain(store), { fires: [fireOf("schedule", T0 + 7000)], overlap });
      await commit(store, {
        now: AT,
        jobs: null,
        plans: [{ ...next, lastFireTime: T0 + 7000, nextFireTime: T0 + 8000 }],
      });
      const skipped = skipOf(T0 + 7000, { verdict: "overlapSkipped" });
      equal((await shared(ledger)).at(-1), skipped, "the last entry");
    },
  ),
  ledgerCase(
    ["H6"],
    "ledger: a fire time in the place of its own job is not replaced by itself",
    async (store, ledger) => {
      const overlap = { policy: "replaceQueued", passed: 0, lastPassedTime: null } as const;
      await store.addSchedules(add(makeSchedule({ overlap: "replaceQueued" })), NOTE);
      const fire = async (fireTime: number, jobId: string): Promise<void> => {
        const plan = planOf(await seenAgain(store), { fires: [fireOf("schedule", fireTime, { jobId })], overlap });
        const times = { lastFireTime: fireTime, nextFireTime: fireTime + 1000 };
        await commit(store, { now: AT, jobs: null, plans: [{ ...plan, ...times }] });
      };
      await fire(T0, "first");
      await removeSchedule(store, "schedule", NOTE);
      await store.addSchedules(add(makeSchedule({ overlap: "replaceQueued" })), NOTE);
      await fire(T0, "second");
      equal(await shared(ledger), [], "the entries while the second job waits");
      equal((await ledger.getJobOfFireTime("schedule", T0))?.id, "second", "the job that waits");
      await fire(T0 + 1000, "third");
      equal(await shared(ledger), [skipOf(T0, { verdict: "replaced", into: T0 + 1000 })], "the entries");
    },
  ),
];
