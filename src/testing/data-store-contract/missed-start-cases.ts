import type { JobRecord } from "../../records/job.ts";
import { keptMsOf } from "../../records/policies.ts";
import type { CommitReport, DataStore } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import { childOf, outcomesOf, settledBy } from "./chain-makers.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { debounced } from "./debounce-makers.ts";
import { pause, putTask, tenASecond } from "./flow-makers.ts";
import { dueSchedule, entriesOf, fireAt, jobIdAt, ledgerCase, seenAgain } from "./ledger-makers.ts";
import {
  type CommitFields,
  commit,
  fireOf,
  idsOf,
  jobIds,
  LEASE_MS,
  leasedJob,
  look,
  makeJob,
  makeJobs,
  numbered,
  planOf,
  QUEUE,
  release,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";
import { again } from "./repeat.ts";

/** The last instant at which the jobs of the cases may start, and the first at which they have missed their start. */
const DEADLINE = T0 + 10;
const MISSED = DEADLINE + 1;

/** A commit that ends jobs which have missed their start, of a scheduler that can run none of them. */
function endMissed(store: DataStore, fields: CommitFields = {}): Promise<CommitReport> {
  return commit(store, { now: MISSED, queues: [], endsMissed: true, ...fields });
}

async function missedIds(store: DataStore, fields: CommitFields = {}): Promise<string[]> {
  return (await endMissed(store, fields)).ended.map(({ jobId }) => jobId).sort();
}

const HURRIED: Partial<JobRecord> = { id: "hurried", startDeadline: DEADLINE };

/** A job that may start until the deadline. */
function hurried(fields: Partial<JobRecord> = {}): JobRecord {
  return makeJob({ ...HURRIED, ...fields });
}

/** What a job may wait for: each adds the job, which nobody acquires at T0. */
const WAITS: Readonly<Record<string, (store: DataStore) => Promise<unknown>>> = {
  "its runAt": (store) => store.addJobs([hurried({ runAt: T0 + LEASE_MS })]),
  "a free scheduler": (store) => store.addJobs([hurried()]),
  "an executor that nobody has": (store) => store.addJobs([hurried({ executor: "nobody's" })]),
  "a task that nobody has": (store) => store.addJobs([hurried({ taskId: "nobody's" })]),
  "the maxRunningJobs of its task": async (store) => {
    await putTask(store, { maxRunningJobs: 1 });
    await leasedJob(store, { id: "first" });
    await store.addJobs([hurried()]);
  },
  "the limit of its key": async (store) => {
    await putTask(store, { maxRunningPerKey: 1 });
    await leasedJob(store, { id: "first", concurrencyKey: "a" });
    await store.addJobs([hurried({ concurrencyKey: "a" })]);
  },
  "a worker behind the limit of its key": async (store) => {
    await putTask(store, { maxRunningPerKey: 1 });
    await store.addJobs([hurried({ concurrencyKey: "a" })]);
  },
  "the rate of its task": async (store) => {
    await putTask(store, tenASecond());
    await leasedJob(store, { id: "first" });
    await store.addJobs([hurried()]);
  },
  "its turn": async (store) => {
    await putTask(store, { fair: true });
    await store.addJobs([hurried({ concurrencyKey: "a" })]);
  },
  "its task, which is paused": async (store) => {
    await putTask(store, {});
    await pause(store);
    await store.addJobs([hurried()]);
  },
  "its key, which is paused": async (store) => {
    await putTask(store, {});
    await pause(store, { key: "a" });
    await store.addJobs([hurried({ concurrencyKey: "a" })]);
  },
  "its parents": async (store) => {
    await store.addJobs([makeJob({ id: "first", runAt: T0 + LEASE_MS }), { ...childOf(["first"]), ...hurried() }]);
  },
  "its schedule's task, which is paused": async (store) => {
    await putTask(store, {});
    await pause(store);
    const schedule = await dueSchedule(store);
    const fire = fireOf(schedule.id, T0, { jobId: "hurried", startDeadline: DEADLINE });
    await commit(store, { jobs: null, plans: [planOf(schedule, { fires: [fire] })] });
  },
  "another burst": (store) => store.addJobs([debounced(T0, HURRIED, { waitMs: LEASE_MS })]),
  "somebody after it was given back": async (store) => {
    const { id: jobId, fence } = await leasedJob(store, hurried());
    await release(store, [{ jobId, fence, kind: "giveUp" }]);
  },
};

export const missedStartCases: readonly DataStoreCase[] = [
  ...Object.entries(WAITS).map(
    ([what, add]): DataStoreCase => ({
      name: `missed starts: a job that waits for ${what} ends by its deadline, whoever takes the commit`,
      rules: ["D1", "D2", "D5"],
      async run({ open }) {
        const store = await open();
        await add(store);
        equal((await look(store, { queues: [] })).nextMissAt, MISSED, "the instant that a look tells");
        equal(await missedIds(store, { now: DEADLINE }), [], "what ends at the deadline");
        const unasked = await commit(store, { now: MISSED, queues: [] });
        equal([unasked.ended, unasked.nextMissAt], [[], MISSED], "a commit that is not to end such jobs");
        const job = present(await store.getJob("hurried"), "the job that waits");
        const { ended, nextMissAt, acquired } = await endMissed(store);
        const result = {
          jobId: "hurried",
          taskId: job.taskId,
          scheduleId: job.scheduleId,
          scheduledFireTime: job.scheduledFireTime,
          outcome: "missedStartDeadline",
          startedAt: null,
          finishedAt: MISSED,
          attempts: 0,
          returnValue: null,
          error: null,
          expiresAt: MISSED + keptMsOf(job, "missedStartDeadline"),
        };
        equal([ended, nextMissAt, idsOf(acquired)], [[result], null, []], "the commit that ends it");
        equal(await store.getJob("hurried"), null, "the job");
        const kept = present(await store.getJobResult("hurried", MISSED), "the result");
        equal([kept.outcome, kept.job?.createdAt], ["missedStartDeadline", T0], "the kept result");
        equal(idsOf((await take(store, { now: MISSED })).acquired).includes("hurried"), false, "whether it runs");
      },
    }),
  ),
  {
    name: "missed starts: a view without jobs tells of none, and a job without a deadline misses none",
    rules: ["D5"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "patient" })]);
      equal((await look(store)).nextMissAt, null, "a look at a job without a deadline");
      await store.addJobs([hurried()]);
      equal((await look(store, { jobs: null })).nextMissAt, null, "a look without jobs");
      equal(await missedIds(store, { now: MISSED + LEASE_MS }), ["hurried"], "what ends");
    },
  },
  {
    name: "missed starts: a job under a lease, live or lapsed, is left to its holder and to recovery",
    rules: ["D1"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, hurried(), { until: T0 + 5 });
      await leasedJob(store, hurried({ id: "running" }), { until: T0 + LEASE_MS, now: T0 });
      equal((await look(store)).nextMissAt, null, "what a look tells");
      equal(await missedIds(store), [], "what ends without a recovery");
      // It is not known to have started, so that it would start for the first time.
      const report = await endMissed(store, { recover: true });
      equal(idsOf(report.recovered.map(({ jobId: id }) => ({ id }))), ["hurried"], "what is recovered");
      equal(
        report.ended.map(({ jobId, outcome, attempts }) => [jobId, outcome, attempts]),
        [["hurried", "missedStartDeadline", 1]],
        "what ends in the same commit",
      );
    },
  },
  {
    name: "missed starts: a job that started in time is not bound by its deadline when it runs again",
    rules: ["D1"],
    async run({ open }) {
      const store = await open();
      const { id: jobId, fence } = await leasedJob(store, hurried({ id: "failed" }));
      await release(store, [{ jobId, fence, kind: "retry", runAt: T0 + LEASE_MS, failedAttempts: 1 }]);
      const started = await leasedJob(store, hurried({ id: "started" }));
      await release(store, [{ jobId: started.id, fence: started.fence, kind: "giveUp", hasStarted: true }]);
      equal((await look(store)).nextMissAt, null, "what a look tells");
      equal(await missedIds(store), [], "what ends");
    },
  },
  {
    name: "missed starts: a commit ends a hundred, the first to miss their start first, and a look tells of more",
    rules: ["D2"],
    async run({ open }) {
      const store = await open();
      const jobs = makeJobs(125).map((job, index) => ({ ...job, startDeadline: DEADLINE - (index % 5) }));
      await store.addJobs(jobs);
      const first = await endMissed(store);
      equal([first.ended.length, first.nextMissAt], [100, MISSED], "the first commit");
      const left = jobs.filter(({ startDeadline }) => startDeadline === DEADLINE);
      equal(await jobIds(store), idsOf(left), "those that are left");
      const second = await endMissed(store);
      equal([second.ended.length, second.nextMissAt], [25, null], "the second commit");
    },
  },
  {
    name: "missed starts: children are cancelled or freed in the same commit, and a child that missed its own ends so",
    rules: ["D6"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        hurried({ id: "parent", executor: "nobody's" }),
        childOf(["parent"], { id: "cancels" }),
        childOf(["parent"], { id: "runs", onParentFailure: "run" }),
        childOf(["parent"], { id: "too late", startDeadline: DEADLINE - 1 }),
        childOf(["too late"], { id: "grandchild" }),
      ]);
      const report = await endMissed(store);
      equal(settledBy(report).cancelled.slice(0, 2).sort(), ["parent", "too late"], "what missed its start");
      equal(settledBy(report).cancelled.slice(2).sort(), ["cancels", "grandchild"], "what was cancelled");
      equal(settledBy(report).admitted, ["runs"], "what was freed");
      equal(
        await outcomesOf(store, ["parent", "cancels", "too late", "grandchild"], MISSED),
        {
          parent: "missedStartDeadline",
          cancels: "cancelled",
          "too late": "missedStartDeadline",
          grandchild: "cancelled",
        },
        "the results",
      );
      equal(idsOf((await take(store, { now: MISSED })).acquired), ["runs"], "what a worker gets");
    },
  },
  {
    name: "missed starts: a job that has missed its start leaves its idempotency key to the next addition",
    rules: ["D3"],
    async run({ open }) {
      const store = await open();
      const key = { idempotencyKey: "key", runAt: T0 + LEASE_MS };
      await store.addJobs([hurried(key)]);
      const [early] = await store.addJobs([makeJob({ ...key, id: "early", createdAt: DEADLINE })]);
      equal([early?.isNew, early?.job.id], [false, "hurried"], "an addition at the deadline");
      const [alone] = await store.addJobs([hurried({ ...key, id: "alone", createdAt: MISSED, startDeadline: MISSED })]);
      equal([alone?.isNew, alone?.job.id], [true, "alone"], "an addition after it");
      const third = makeJob({ ...key, id: "of a commit", createdAt: MISSED + 1 });
      const { additions } = await commit(store, { now: MISSED + 1, jobs: null, additions: [third] });
      equal([additions[0]?.isNew, additions[0]?.job.id], [true, "of a commit"], "an addition of a commit");
      const [last] = await store.addJobs([makeJob({ ...key, id: "last", createdAt: MISSED + 2 })]);
      equal([last?.isNew, last?.job.id], [false, "of a commit"], "an addition that has an existing job");
      equal((await store.getJob("hurried"))?.idempotencyKey, "key", "the key of the one that missed its start");
      equal(await missedIds(store, { now: MISSED + 1 }), ["alone", "hurried"], "what ends");
      equal((await store.getJobResult("hurried", MISSED))?.job?.idempotencyKey, "key", "the key that its result keeps");
      const [after] = await store.addJobs([makeJob({ ...key, id: "after", createdAt: MISSED + 2 })]);
      equal(after?.job.id, "of a commit", "an addition after those have ended");
    },
  },
  {
    name: "missed starts: of additions of one commit, too, one that has missed its start leaves its key to the next",
    rules: ["D3"],
    async run({ open }) {
      const late = { idempotencyKey: "key", createdAt: MISSED };
      const jobs = [hurried(late), ...["b", "c", "d"].map((id) => makeJob({ ...late, id }))];
      if (jobs[1] !== undefined) jobs[1] = { ...jobs[1], startDeadline: DEADLINE };
      const ids = ["hurried", "b", "c", "c"];
      const store = await open();
      equal(idsOf((await store.addJobs(jobs)).map(({ job }) => job)), ids, "the answers to a call");
      equal(idsOf((await store.addJobs(jobs)).map(({ job }) => job)), ids, "the answers to its repetition");
      equal(await missedIds(store), ["b", "hurried"], "what ends");
      const other = await open();
      const { additions } = await commit(other, { now: MISSED, jobs: null, additions: jobs });
      equal(idsOf(additions.map(({ job }) => job)), ids, "the answers of a commit");
    },
  },
  {
    name: "missed starts: an addition to a burst gives its job another deadline, or none",
    rules: ["W1", "D5"],
    async run({ open }) {
      const store = await open();
      const wait = { waitMs: LEASE_MS };
      await store.addJobs([debounced(T0, HURRIED, wait)]);
      await store.addJobs([debounced(T0 + 1, { id: "b", startDeadline: DEADLINE + 5 }, wait)]);
      equal((await look(store)).nextMissAt, MISSED + 5, "after the second addition");
      await store.addJobs([debounced(T0 + 2, { id: "c" }, wait)]);
      equal((await look(store)).nextMissAt, null, "after an addition without a deadline");
      equal(await missedIds(store, { now: MISSED + 5 }), [], "what ends");
    },
  },
  {
    name: "missed starts: an overlap counts a job that has missed its start as ended",
    rules: ["D4"],
    async run({ open }) {
      for (const policy of ["skip", "replaceQueued"] as const) {
        const store = await open();
        const schedule = await dueSchedule(store, { id: policy, overlap: policy });
        await fireAt(store, schedule, [T0], { startDeadline: DEADLINE });
        const next = await seenAgain(store, policy);
        const overlap = { policy, passed: 0, lastPassedTime: null };
        const fires = [fireOf(policy, T0 + 1000, { jobId: numbered(policy, 2) })];
        const { plans } = await commit(store, {
          now: T0 + 1000,
          jobs: null,
          plans: [planOf(next, { overlap, fires })],
        });
        const nothing = { isSkipped: false, replaced: [], cancelRequested: [] };
        equal(plans, [{ committed: true, addedJobIds: [numbered(policy, 2)], overlap: nothing }], "the plan");
        equal(await missedIds(store), [jobIdAt(T0, policy)], "what ends");
      }
    },
  },
  ledgerCase(
    ["D4"],
    "missed starts: an occurrence that has missed its start raises no overdue occurrence, and its entry says so",
    async (store, ledger) => {
      const schedule = await dueSchedule(store, { expectStartMs: 60_000, expectFinishMs: 120_000 });
      await fireAt(store, schedule, [T0], { startDeadline: DEADLINE });
      await updateSchedule(store, "schedule", { paused: true });
      const { changedOverdue } = await commit(store, { now: T0 + 120_000, queues: [], overdue: true });
      equal(changedOverdue, undefined, "the overdue occurrences while it waits");
      equal(await missedIds(store, { overdue: true }), [jobIdAt(T0)], "what ends");
      const [entry] = await entriesOf(ledger);
      equal(
        entry?.kind === "run" ? [entry.outcome, entry.startedAt, entry.finishedAt] : entry,
        ["missedStartDeadline", null, MISSED],
        "its entry",
      );
    },
  ),
  {
    name: "missed starts: a repetition ends no job twice, and ends what its first try did not",
    rules: ["D7"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([hurried(), hurried({ id: "later", startDeadline: DEADLINE + 3 })]);
      await endMissed(store, { commitId: "scheduler-a 1#twice" });
      await again(store, { now: MISSED, queues: [], endsMissed: true });
      equal(await jobIds(store), [], "what is unfinished");
      equal((await store.getJobResult("hurried", MISSED))?.finishedAt, MISSED, "when the first one ended");
    },
  },
  {
    name: "missed starts: a job that misses its start takes no token, and those behind it are admitted in its place",
    rules: ["D6"],
    async run({ open }) {
      const store = await open();
      await putTask(store, tenASecond());
      await leasedJob(store, { id: "first" });
      await store.addJobs([hurried(), makeJob({ id: "next", runAt: T0 + 1 })]);
      equal((await take(store, { now: T0 + 5 })).acquired, [], "before the next token");
      const report = await endMissed(store, { now: T0 + 100, queues: [QUEUE] });
      equal(
        [report.ended.map(({ jobId }) => jobId), idsOf(report.acquired)],
        [["hurried"], ["next"]],
        "the commit with the next token",
      );
    },
  },
];
