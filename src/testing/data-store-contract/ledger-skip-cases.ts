import type { OccurrenceRecord } from "../../records/ledger.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { dueSchedule, entriesOf, fireAt, ledgerCase, makeSkip, seenAgain, skipOf } from "./ledger-makers.ts";
import { commitPlans, fireOf, planOf, T0, updateSchedule } from "./makers.ts";
import { again, twice } from "./repeat.ts";

/** One of each kind that a planner makes. */
const SKIPS = [
  makeSkip(T0, { until: T0 + 2000, verdict: "tooOld", count: null }),
  makeSkip(T0 + 3000, { until: T0 + 4000, verdict: "overCount", count: 2 }),
  makeSkip(T0 + 5000, { until: T0 + 8000, verdict: "coalesced", count: 4, into: T0 + 9000 }),
];
const NOW = T0 + 9000;
const FIRES = [fireOf("schedule", NOW)];
const AFTERWARDS = { nextFireTime: T0 + 10_000, lastFireTime: NOW, fires: FIRES };

const ENTRIES: readonly OccurrenceRecord[] = SKIPS.map((skip) => ({ kind: "skip", ...skip }));

export const ledgerSkipCases: readonly DataStoreCase[] = [
  ledgerCase(["H5"], "ledger: a plan that counts leaves its skips", async (store, ledger) => {
    const plan = planOf(await dueSchedule(store), { skips: SKIPS, ...AFTERWARDS });
    await commitPlans(store, [plan], { now: NOW });
    equal(await entriesOf(ledger), ENTRIES, "the entries");
    await commitPlans(store, [plan], { now: NOW + 1 });
    equal(await entriesOf(ledger), ENTRIES, "the entries after the same plan came once more");
  }),
  ledgerCase(["H5"], "ledger: a plan without fires may leave skips", async (store, ledger) => {
    const schedule = await dueSchedule(store);
    await commitPlans(store, [planOf(schedule, { skips: SKIPS, ...AFTERWARDS, fires: [] })], { now: NOW });
    equal(await entriesOf(ledger), ENTRIES, "the entries");
  }),
  ledgerCase(["H5"], "ledger: a plan that does not count leaves nothing", async (store, ledger) => {
    const schedule = await dueSchedule(store);
    const plan = planOf(schedule, { skips: SKIPS, ...AFTERWARDS });
    await commitPlans(store, [{ ...plan, fence: plan.fence + 1 }], { now: NOW });
    await commitPlans(store, [{ ...plan, expected: plan.expected + 1 }], { now: NOW });
    await commitPlans(store, [plan], { now: T0 - 1 });
    await commitPlans(store, [{ ...plan, scheduleId: "unknown" }], { now: NOW });
    equal(await entriesOf(ledger), [], "the entries after plans that others were faster than");
    await commitPlans(store, [planOf(schedule), { ...plan, skips: [makeSkip(T0 + 500)] }], { now: NOW });
    equal(await entriesOf(ledger), [], "the entries after the second plan of a commit");
    const [updated, fence] = [{ ...plan, expected: T0 + 1000 }, (await seenAgain(store)).fence];
    await updateSchedule(store, "schedule", { paused: true });
    await commitPlans(store, [{ ...updated, fence: fence + 1 }], { now: NOW });
    equal(await entriesOf(ledger), [], "the entries after a plan of a paused schedule");
  }),
  ledgerCase(["H5"], "ledger: a repeated plan leaves its skips once", async (store, ledger) => {
    const plan = planOf(await dueSchedule(store), { skips: SKIPS, ...AFTERWARDS });
    await twice(store, { now: NOW, jobs: null, plans: [plan] });
    equal(await entriesOf(ledger), ENTRIES, "the entries");
  }),
  ledgerCase(["H5"], "ledger: a repetition whose first try did not arrive leaves the skips", async (store, ledger) => {
    const plan = planOf(await dueSchedule(store), { skips: SKIPS, ...AFTERWARDS });
    await again(store, { now: NOW, jobs: null, plans: [plan] });
    equal(await entriesOf(ledger), ENTRIES, "the entries");
  }),
  ledgerCase(
    ["H5"],
    "ledger: a fire that made no job, because an earlier one is unfinished, was skipped",
    async (store, ledger) => {
      const schedule = await dueSchedule(store, { overlap: "skip" });
      await fireAt(store, schedule, [T0]);
      const overlap = { policy: "skip", passed: 2, lastPassedTime: T0 + 2000 } as const;
      const passed = makeSkip(T0 + 1000, { until: T0 + 2000, verdict: "overlapSkipped", count: 2 });
      const fields = { fires: [fireOf("schedule", T0 + 3000, { jobId: "next" })], skips: [passed], overlap };
      const plan = planOf(await seenAgain(store), { ...fields, nextFireTime: T0 + 4000, lastFireTime: T0 + 3000 });
      await twice(store, { now: T0 + 3000, jobs: null, plans: [plan] });
      const expected = [{ kind: "skip", ...passed }, skipOf(T0 + 3000, { verdict: "overlapSkipped" })];
      equal(await entriesOf(ledger), expected, "the entries");
    },
  ),
  ledgerCase(
    ["H5"],
    "ledger: a fire that made its job, because no other one is unfinished, was not",
    async (store, ledger) => {
      const schedule = await dueSchedule(store, { overlap: "skip" });
      const overlap = { policy: "skip", passed: 0, lastPassedTime: null } as const;
      await commitPlans(store, [planOf(schedule, { overlap })]);
      equal(await entriesOf(ledger), [], "the entries");
    },
  ),
  ledgerCase(["H4"], "ledger: each of the jobs that gave way leaves an entry", async (store, ledger) => {
    const schedule = await dueSchedule(store, { overlap: "replaceQueued" });
    await fireAt(store, schedule, [T0, T0 + 1000, T0 + 2000]);
    const overlap = { policy: "replaceQueued", passed: 1, lastPassedTime: T0 + 3000 } as const;
    const passed = makeSkip(T0 + 3000, { verdict: "replaced", into: T0 + 4000 });
    const fields = { fires: [fireOf("schedule", T0 + 4000, { jobId: "next" })], skips: [passed], overlap };
    const plan = planOf(await seenAgain(store), { ...fields, nextFireTime: T0 + 5000, lastFireTime: T0 + 4000 });
    await commitPlans(store, [plan], { now: T0 + 4000 });
    const times = [T0, T0 + 1000, T0 + 2000, T0 + 3000];
    const expected = times.map((time) => skipOf(time, { verdict: "replaced", into: T0 + 4000 }));
    equal(await entriesOf(ledger), expected, "the entries");
  }),
];
