import { type BackfillRecord, backfillJobId } from "../../records/backfill.ts";
import type { JobRecord } from "../../records/job.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { dueSchedule, end, entriesOf, ledgerCase, makeSkip, NOTE, runOf } from "./ledger-makers.ts";
import { commit, commitPlans, idsOf, jobIds, lookedAt, makeJob, makeSchedule, makeTask, planOf, T0 } from "./makers.ts";

const ID = "01800000-0000-7000-8000-00000000000a";
const OTHER_ID = "01800000-0000-7000-8000-00000000000b";
const DAY_MS = 86_400_000;

function makeBackfill(fields: Partial<BackfillRecord> = {}): BackfillRecord {
  return {
    id: ID,
    scheduleId: "schedule",
    key: "key",
    request: "{}",
    from: T0 - 9000,
    until: T0,
    position: T0 - 9000,
    isDone: false,
    isCancelled: false,
    count: 0,
    first: null,
    last: null,
    paceUntil: null,
    createdAt: T0,
    changedAt: T0,
    seq: T0,
    ...fields,
  };
}

function jobAt(fireTime: number, fields: Partial<JobRecord> = {}): JobRecord {
  const own = { scheduleId: "schedule", fireTime, scheduledFireTime: fireTime, missedCount: 0 };
  return makeJob({ id: backfillJobId(ID, fireTime), ...own, ...fields });
}

function see(store: DataStore, fireTimes: readonly number[] = [], key = "key") {
  return store.seeBackfill({ scheduleId: "schedule", key, fireTimes });
}

/** Adds two jobs of a backfill of a store that has none. */
async function addTwo(store: DataStore): Promise<readonly JobRecord[]> {
  const jobs = [jobAt(T0 - 5000), jobAt(T0 - 4000)];
  const added = await store.commitBackfill({ backfill: makeBackfill(), expectedSeq: 0, jobs });
  equal(added, jobs, "the answer");
  return jobs;
}

export const backfillCases: readonly DataStoreCase[] = [
  {
    name: "backfills: a commit adds its jobs, and how far it has come",
    rules: ["M1", "M3"],
    async run({ open }) {
      const store = await open();
      equal(await see(store), { backfill: null, seq: 0, taken: [] }, "before");
      await addTwo(store);
      equal(await see(store), { backfill: makeBackfill(), seq: T0, taken: [] }, "after the first commit");
      const done = makeBackfill({
        isDone: true,
        count: 3,
        first: T0 - 5000,
        last: T0 - 3000,
        paceUntil: 7,
        seq: T0 + 1,
      });
      const jobs = [jobAt(T0 - 3000)];
      equal(await store.commitBackfill({ backfill: done, expectedSeq: T0, jobs }), jobs, "the second answer");
      equal(await see(store), { backfill: done, seq: T0 + 1, taken: [] }, "after the second commit");
      equal(await see(store, [], "other key"), { backfill: null, seq: T0 + 1, taken: [] }, "under another key");
      const other = await store.seeBackfill({ scheduleId: "other", key: "key", fireTimes: [] });
      equal(other, { backfill: null, seq: 0, taken: [] }, "of another schedule");
      equal(
        await jobIds(store),
        [-5, -4, -3].map((at) => backfillJobId(ID, T0 + at * 1000)),
        "their ids",
      );
    },
  },
  {
    name: "backfills: the fire times of unfinished jobs are taken, whatever made these",
    rules: ["M2"],
    async run({ open }) {
      const store = await open();
      await addTwo(store);
      await store.addJobs([
        jobAt(T0 - 2000, { id: "planned" }),
        jobAt(T0 - 1000, { id: "other", scheduleId: "other" }),
        makeJob({ id: "by hand", scheduleId: "schedule" }),
      ]);
      const asked = [T0 - 5000, T0 - 4500, T0 - 4000, T0 - 2000, T0 - 1000];
      equal((await see(store, asked)).taken, [T0 - 5000, T0 - 4000, T0 - 2000], "those that are taken");
    },
  },
  {
    name: "backfills: a commit does not count where another one of the schedule came first",
    rules: ["M4", "M6"],
    async run({ open }) {
      const store = await open();
      const jobs = await addTwo(store);
      const first = { backfill: makeBackfill(), expectedSeq: 0, jobs };
      equal(await store.commitBackfill(first), null, "the answer to a repetition");
      const other = makeBackfill({ id: OTHER_ID, key: "other", seq: T0 + 5 });
      const late = [jobAt(T0 - 1000, { id: backfillJobId(OTHER_ID, T0 - 1000) })];
      equal(await store.commitBackfill({ backfill: other, expectedSeq: 0, jobs: late }), null, "another backfill's");
      equal(await jobIds(store), idsOf(jobs), "the jobs");
      equal((await see(store, [], "other")).backfill, null, "the other backfill");
      equal(await store.commitBackfill({ backfill: other, expectedSeq: T0, jobs: late }), late, "once it is told");
    },
  },
  {
    name: "backfills: a commit does not count where a fire time has an unfinished job",
    rules: ["M4"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([jobAt(T0 - 4000, { id: "planned" })]);
      const jobs = [jobAt(T0 - 5000), jobAt(T0 - 4000)];
      equal(await store.commitBackfill({ backfill: makeBackfill(), expectedSeq: 0, jobs }), null, "the answer");
      equal(await jobIds(store), ["planned"], "the jobs");
      equal(await see(store), { backfill: null, seq: 0, taken: [] }, "the backfill");
    },
  },
  {
    name: "backfills: limits of keys hold their jobs as all others",
    rules: ["M3", "F1"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
      const jobs = [jobAt(T0 - 5000, { concurrencyKey: "a" }), jobAt(T0 - 4000, { concurrencyKey: "a" })];
      const added = present(await store.commitBackfill({ backfill: makeBackfill(), expectedSeq: 0, jobs }), "the jobs");
      equal(idsOf(added), idsOf(jobs), "the answer");
      const { acquired } = await commit(store, { now: T0 });
      equal(idsOf(acquired), [backfillJobId(ID, T0 - 5000)], "those that start");
    },
  },
  {
    name: "backfills: a job of one neither counts for the overlap of its schedule nor is touched by it",
    rules: ["M5", "P12"],
    async run({ open }) {
      for (const overlap of ["skip", "replaceQueued", "cancelRunning"] as const) {
        const store = await open();
        const scheduleId = `of ${overlap}`;
        const [due] = await lookedAt(store, makeSchedule({ id: scheduleId, overlap }));
        const id = backfillJobId(ID.replace("a", overlap.slice(0, 1)), T0 - 5000);
        const backfill = makeBackfill({ id: id.slice(0, 36), scheduleId });
        const jobs = [jobAt(T0 - 5000, { id, scheduleId })];
        await store.commitBackfill({ backfill, expectedSeq: 0, jobs });
        const schedule = present(due, "the schedule");
        const fires = [{ ...PLANNED, jobId: `fire of ${overlap}` }];
        const plan = planOf(schedule, { fires, overlap: { policy: overlap, passed: 0, lastPassedTime: null } });
        const report = await commit(store, { jobs: null, plans: [plan] });
        equal(report.plans[0]?.addedJobIds, [`fire of ${overlap}`], `the plan with ${overlap}`);
        const job = present(await store.getJob(id), "the job of the backfill");
        equal(job.cancelRequested, false, `whether it is asked to end, with ${overlap}`);
      }
    },
  },
  ledgerCase(
    ["M5", "H3", "H15"],
    "backfills: a job of one replaces the entry of its fire time when it ends",
    async (store, ledger) => {
      const schedule = await dueSchedule(store, {}, NOTE);
      const skip = makeSkip(T0, { until: T0, verdict: "tooOld", count: 1 });
      await commitPlans(store, [planOf(schedule, { fires: [], skips: [skip], nextFireTime: T0 + 90_000 })]);
      const jobs = [jobAt(T0)];
      await store.commitBackfill({ backfill: makeBackfill(), expectedSeq: 0, jobs });
      equal(await ledger.getJobOfFireTime("schedule", T0), null, "the job that the fire time made");
      equal(await entriesOf(ledger), [{ kind: "skip", ...skip }], "the entry before it runs");
      const { acquired } = await commit(store, { now: T0 + 2000 });
      const job = present(acquired[0], "the job");
      await end(store, job);
      equal(await entriesOf(ledger), [runOf(job)], "the entry after it ran");
    },
  ),
  {
    name: "backfills: a cancelled one adds nothing more, and leaves its key to another",
    rules: ["M1", "M7"],
    async run({ open }) {
      const store = await open();
      await addTwo(store);
      equal(await store.cancelBackfill(OTHER_ID, T0 + 1), false, "of an unknown one");
      equal(await store.cancelBackfill(ID, T0 + 1), true, "the answer");
      equal(await store.cancelBackfill(ID, T0 + 1), false, "the answer to a repetition");
      const { backfill, seq } = await see(store);
      equal([backfill, seq > T0], [null, true], "what is seen of it");
      const late = { backfill: makeBackfill({ seq: T0 + 1 }), expectedSeq: T0, jobs: [jobAt(T0 - 1000)] };
      equal(await store.commitBackfill(late), null, "what it adds");
      const next = makeBackfill({ id: OTHER_ID, seq: seq + 1 });
      equal(await store.commitBackfill({ backfill: next, expectedSeq: seq, jobs: [] }), [], "what another one adds");
      equal((await see(store)).backfill, next, "the other one");
    },
  },
  {
    name: "backfills: the clean-up removes those that nobody has changed for 30 days",
    rules: ["M8"],
    async run({ open }) {
      const store = await open();
      await addTwo(store);
      await store.cleanup({ now: T0 + 30 * DAY_MS - 1, limit: 100 });
      equal((await see(store)).backfill, makeBackfill(), "before its time");
      await store.cleanup({ now: T0 + 30 * DAY_MS, limit: 100 });
      equal((await see(store)).backfill, null, "at its time");
    },
  },
  {
    name: "backfills: lists have the jobs of one alone, and those that repeat them",
    rules: ["I4"],
    async run({ open }) {
      const store = await open();
      await addTwo(store);
      const again = jobAt(T0 - 3000, { id: `${backfillJobId(ID, T0 - 3000)}~1`, runAt: T0 - 1 });
      const others = [makeJob({ id: ID }), makeJob({ id: backfillJobId(OTHER_ID, T0 - 5000) }), makeJob({ id: "z" })];
      await store.addJobs([again, ...others]);
      const page = { backfillId: ID, cursor: null };
      const own = [jobAt(T0 - 5000).id, jobAt(T0 - 4000).id, again.id];
      equal(idsOf((await store.getJobs({ ...page, limit: 9 })).items), own, "by id");
      equal(
        idsOf((await store.getJobs({ ...page, limit: 9, order: "newest" })).items),
        [...own].reverse(),
        "backwards",
      );
      const byTime = await store.getJobs({ ...page, limit: 9, sort: "runAt" });
      equal(idsOf(byTime.items), [again.id, ...own.slice(0, 2)], "by time");
      const first = await store.getJobs({ ...page, limit: 2 });
      equal(idsOf(first.items), own.slice(0, 2), "the first page");
      const rest = await store.getJobs({ backfillId: ID, limit: 2, cursor: present(first.cursor, "the cursor") });
      equal([idsOf(rest.items), rest.cursor], [own.slice(2), null], "the second page");
      const filter = { ...page, limit: 9, scheduleId: "schedule", until: T0 };
      equal(idsOf((await store.getJobs(filter)).items), [again.id], "with another filter");
      equal((await store.getJobs({ ...page, limit: 9, scheduleId: "other" })).items, [], "of another schedule");
    },
  },
];

const PLANNED = {
  jobId: "fire",
  fireTime: T0,
  scheduledFireTime: T0,
  runAt: T0,
  createdAt: T0,
  startDeadline: null,
  missedCount: 0,
  firstMissedTime: null,
  lastMissedTime: null,
};
