import type { Labels } from "../../records/policies.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { debounced, WAIT_MS } from "./debounce-makers.ts";
import { jobList, resultList, scheduleList } from "./list-makers.ts";
import {
  add,
  cancel,
  commit,
  commitPlans,
  finish,
  fireOf,
  jobIds,
  LEASE_MS,
  leasedJob,
  lookedAt,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  planOf,
  release,
  removeSchedule,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";

const BILLING: Labels = { team: "billing" };
const EU_BILLING: Labels = { region: "eu", team: "billing" };
const MAIL: Labels = { team: "mail" };

/** Values that a careless store reads as something else. */
const ODD: readonly string[] = [
  "a,b",
  "a:b",
  "'; DROP TABLE x; --",
  '"]}',
  "%_*?[a]",
  "Billing",
  "billing ",
  "1",
  "1.0",
  "null",
  "\ud83d\ude00\u2028",
];

export const labelCases: readonly DataStoreCase[] = [
  {
    name: "labels: tasks, schedules, jobs and results keep theirs",
    rules: ["I15"],
    async run(context) {
      const [store, other] = await openTwo(context);
      const task = makeTask({ labels: BILLING });
      await store.putTasks([task, makeTask({ id: "other" })]);
      equal(await other.getTasks(), [makeTask({ id: "other" }), task], "the tasks");
      const schedule = makeSchedule({ labels: EU_BILLING });
      await store.addSchedules(add(schedule));
      equal(await other.getSchedule("schedule"), schedule, "the schedule");
      const job = await leasedJob(store, { labels: EU_BILLING });
      equal(job.labels, EU_BILLING, "the labels of the job that is acquired");
      equal((await other.getJob("job"))?.labels, EU_BILLING, "those of the job");
      const done = finish(job);
      await release(store, [done]);
      equal(await other.getJobResult("job", T0), done.kind === "finish" && done.result, "the result");
    },
  },
  {
    name: "labels: a list has the jobs that have all of the labels, in each order, and whatever else is asked for",
    rules: ["I15", "I1", "I14"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "d-runs", labels: BILLING, scheduleId: "s", fireTime: T0 });
      await store.addJobs([
        makeJob({ id: "a", labels: BILLING, runAt: T0 + 9 }),
        makeJob({ id: "b", labels: MAIL, runAt: T0 + 8 }),
        makeJob({ id: "c", labels: EU_BILLING, runAt: T0 + 7, taskId: "other" }),
        makeJob({ id: "e", labels: EU_BILLING, runAt: T0 - 5 }),
        makeJob({ id: "f", runAt: T0 + 6 }),
        makeJob({ id: "g", labels: { region: "eu" } }),
      ]);
      equal(await jobList(store, { labels: BILLING }), "a c d-runs e", "of a label");
      equal(await jobList(store, { labels: EU_BILLING }), "c e", "of two labels");
      equal(await jobList(store, { labels: { team: "billing", region: "eu" } }), "c e", "of the same two");
      equal(await jobList(store, { labels: { team: "billing", region: "us" } }), "", "of two that no job has");
      equal(await jobList(store, { labels: BILLING, taskId: "task" }), "a d-runs e", "and of a task");
      equal(await jobList(store, { labels: BILLING, scheduleId: "s" }), "d-runs", "and of a schedule");
      equal(await jobList(store, { labels: BILLING, state: "running" }), "d-runs", "that run");
      equal(await jobList(store, { labels: BILLING, state: "queued" }), "a c e", "that are queued");
      equal(await jobList(store, { labels: BILLING, from: T0, until: T0 + 9 }), "c d-runs", "of a time");
      equal(await jobList(store, { labels: BILLING, search: "OTH" }), "c", "that are searched for");
      const byTime = (filter: Parameters<typeof jobList>[1]) => jobList(store, { ...filter, sort: "runAt" });
      equal(await byTime({ labels: BILLING }), "e d-runs c a", "by runAt");
      equal(await byTime({ labels: EU_BILLING, taskId: "task" }), "e", "by runAt, and of a task");
      equal(await byTime({ labels: BILLING, state: "running" }), "d-runs", "by runAt, and running");
      equal(await byTime({ labels: BILLING, scheduleId: "s" }), "d-runs", "by runAt, and of a schedule");
    },
  },
  {
    name: "labels: a list has the schedules that have all of the labels",
    rules: ["I15", "I3"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "a", labels: BILLING, nextFireTime: T0 + 9 }),
          makeSchedule({ id: "b", labels: MAIL }),
          makeSchedule({ id: "c", labels: EU_BILLING, nextFireTime: T0 + 8, taskId: "other" }),
          makeSchedule({ id: "d", labels: BILLING, nextFireTime: null }),
          makeSchedule({ id: "e", labels: BILLING, paused: true, nextFireTime: T0 + 7 }),
          makeSchedule({ id: "f" }),
        ),
      );
      equal(await scheduleList(store, { labels: BILLING }), "a c d e", "of a label");
      equal(await scheduleList(store, { labels: EU_BILLING }), "c", "of two labels");
      equal(await scheduleList(store, { labels: BILLING, taskId: "task" }), "a d e", "and of a task");
      equal(await scheduleList(store, { labels: BILLING, paused: false }), "a c d", "that are not paused");
      equal(await scheduleList(store, { labels: BILLING, state: "ended" }), "d", "that have ended");
      equal(await scheduleList(store, { labels: BILLING, search: "E" }), "e", "that are searched for");
      equal(await scheduleList(store, { labels: BILLING, ids: ["f", "e", "b"] }), "e", "and of some ids");
      equal(await scheduleList(store, { labels: BILLING, sort: "nextFireTime" }), "e c a d", "by fire time");
    },
  },
  {
    name: "labels: a list has the results of jobs that had all of the labels, and so has a removal",
    rules: ["I15", "I5", "R16"],
    async run({ open }) {
      const store = await open();
      const labelled: readonly [string, Labels | undefined][] = [
        ["a", BILLING],
        ["b", MAIL],
        ["c", EU_BILLING],
        ["d", undefined],
        ["e", BILLING],
        ["f", EU_BILLING],
      ];
      await store.addJobs(labelled.map(([id, labels]) => makeJob({ id, ...(labels === undefined ? {} : { labels }) })));
      const { acquired } = await take(store);
      await release(
        store,
        acquired.map((job, index) =>
          finish(job, { finishedAt: T0 - 9 + (index >> 1), outcome: job.id === "e" ? "error" : "success" }),
        ),
      );
      equal(await resultList(store, { labels: BILLING }), "a c e f", "of a label");
      equal(await resultList(store, { labels: BILLING, order: "newest" }), "f e c a", "the newest first");
      equal(await resultList(store, { labels: EU_BILLING }), "c f", "of two labels");
      equal(await resultList(store, { labels: BILLING, outcome: "error" }), "e", "and of an outcome");
      equal(await resultList(store, { labels: BILLING, from: T0 - 8 }), "c e f", "and of a time");
      equal(await resultList(store, { labels: BILLING, search: "F" }), "f", "that are searched for");
      const removed = await store.removeJobResults({ labels: BILLING, until: T0 - 7 }, 1);
      equal([removed, await resultList(store, { labels: BILLING })], [1, "c e f"], "after a removal of one");
      equal(await store.removeJobResults({ labels: EU_BILLING }, 9), 2, "how many of two labels are removed");
      equal(await resultList(store, {}), "b d e", "what is left");
      const { removedResults } = await store.cleanup({ now: T0 + 86_400_000, limit: 9 });
      equal([removedResults, await resultList(store, { labels: BILLING })], [3, ""], "what a clean-up leaves");
    },
  },
  {
    name: "labels: values are compared as they are, letter by letter",
    rules: ["I15"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(ODD.map((value, index) => makeJob({ id: `job-${index}`, labels: { team: value } })));
      await store.addJobs([makeJob({ id: "odd", labels: { constructor: "x", "a.b/c-d_e": "y" } })]);
      for (const [index, value] of ODD.entries()) {
        equal(await jobList(store, { labels: { team: value } }), `job-${index}`, `the job of ${JSON.stringify(value)}`);
      }
      for (const team of ["billing", "a", "", "b", "%"]) {
        equal(await jobList(store, { labels: { team } }), "", `the job of "${team}"`);
      }
      equal(await jobList(store, { labels: { constructor: "x", "a.b/c-d_e": "y" } }), "odd", "of odd names");
      equal(await jobList(store, { labels: { "a.b": "y" } }), "", "of a part of a name");
    },
  },
  {
    name: "labels: a change of a schedule replaces all of them, and jobs that exist keep theirs",
    rules: ["I15", "S10"],
    async run({ open }) {
      const store = await open();
      const [seen] = await lookedAt(store, makeSchedule({ labels: EU_BILLING, payload: '"p"' }));
      equal(seen?.labels, EU_BILLING, "what a look shows");
      const due = present(seen, "a due schedule");
      await commitPlans(store, [planOf(due, { fires: [fireOf("schedule", T0, { jobId: "fired" })] })]);
      equal((await store.getJob("fired"))?.labels, EU_BILLING, "the labels of its job");
      equal((await updateSchedule(store, "schedule", { labels: MAIL }))?.labels, MAIL, "after a change");
      equal(await scheduleList(store, { labels: BILLING }), "", "the schedules with a former label");
      equal(await scheduleList(store, { labels: MAIL }), "schedule", "the schedules with the new one");
      equal(await jobList(store, { labels: EU_BILLING }), "fired", "the jobs with the former ones");
      equal((await updateSchedule(store, "schedule", { priority: 1 }))?.labels, MAIL, "after another change");
      equal((await updateSchedule(store, "schedule", { labels: null }))?.labels, undefined, "after a removal");
      equal(await scheduleList(store, { labels: MAIL }), "", "the schedules with a label then");
      const replacement = makeSchedule({ labels: EU_BILLING });
      await store.addSchedules([{ schedule: replacement, conflictPolicy: "replace" }]);
      equal(await scheduleList(store, { labels: EU_BILLING }), "schedule", "after a replacement");
      await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "replace" }]);
      equal(await scheduleList(store, { labels: EU_BILLING }), "", "after one without labels");
      equal((await store.getSchedule("schedule"))?.labels, undefined, "the labels of the schedule");
    },
  },
  {
    name: "labels: they go with the schedule, and come again with another of its id",
    rules: ["I15", "S12"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ labels: BILLING })));
      await removeSchedule(store, "schedule");
      await store.addSchedules(add(makeSchedule()));
      equal(await scheduleList(store, { labels: BILLING }), "", "of a schedule that has the id now");
      await store.addSchedules([
        { schedule: makeSchedule({ labels: MAIL, declaration: "2" }), conflictPolicy: "update" },
      ]);
      equal(await scheduleList(store, { labels: MAIL }), "schedule", "of a schedule that is declared anew");
    },
  },
  {
    name: "labels: each job of a fire has those of its schedule, and another schedule's job has none",
    rules: ["I15", "P1"],
    async run({ open }) {
      const store = await open();
      const seen = await lookedAt(
        store,
        makeSchedule({ id: "a", labels: EU_BILLING, metadata: { n: null }, payload: '"p"' }),
        makeSchedule({ id: "b" }),
      );
      const fires = (id: string) => [
        fireOf(id, T0, { jobId: `of-${id}`, missedCount: 1, firstMissedTime: T0 - 1, lastMissedTime: T0 - 1 }),
      ];
      await commitPlans(
        store,
        seen.map((schedule) => planOf(schedule, { fires: fires(schedule.id) })),
      );
      const job = present(await store.getJob("of-a"), "the job of a");
      const facts = [job.labels, job.metadata, job.payload, job.missedCount, job.createdAt];
      equal(facts, [EU_BILLING, { n: null }, '"p"', 1, T0], "the job of the schedule with labels");
      equal((await store.getJob("of-b"))?.labels, undefined, "the labels of the other");
      equal(await jobList(store, { labels: BILLING }), "of-a", "the jobs with a label");
    },
  },
  {
    name: "labels: the last addition of a burst decides about those of its job",
    rules: ["I15", "W1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a", labels: EU_BILLING })]);
      await store.addJobs([debounced(T0 + 1, { id: "b", labels: MAIL })]);
      equal((await store.getJob("a"))?.labels, MAIL, "after another addition");
      equal(await jobList(store, { labels: EU_BILLING }), "", "the jobs with the former labels");
      equal(await jobList(store, { labels: MAIL }), "a", "the jobs with the new ones");
      await store.addJobs([debounced(T0 + 2, { id: "c" })]);
      equal((await store.getJob("a"))?.labels, undefined, "after an addition without labels");
      equal(await jobList(store, { labels: MAIL }), "", "the jobs with a label then");
      const { acquired } = await take(store, { now: T0 + 2 + WAIT_MS });
      equal(acquired.map(({ id }) => id).join(" "), "a", "what runs");
    },
  },
  {
    name: "labels: a result has those of its job, in whatever way that ended",
    rules: ["I15", "R1"],
    async run({ open }) {
      const store = await open();
      const labels = EU_BILLING;
      await leasedJob(store, { id: "lost", labels, maxRecoveries: 0 });
      const [, done] = [await store.addJobs([makeJob({ id: "done", labels })]), (await take(store)).acquired[0]];
      await store.addJobs([
        makeJob({ id: "cancelled", labels, runAt: T0 + LEASE_MS * 9 }),
        makeJob({ id: "child", labels, after: ["cancelled"], onParentFailure: "cancel" }),
        makeJob({ id: "missed", labels, startDeadline: T0, runAt: T0 + LEASE_MS * 9 }),
        makeJob({ id: "unkept", labels, resultExpirationMs: 0, runAt: T0 + LEASE_MS * 9 }),
      ]);
      const end = finish(present(done, "a job that runs"));
      await release(store, [end]);
      await cancel(store, "cancelled", T0);
      await cancel(store, "unkept", T0);
      await commit(store, { by: "b", now: T0 + LEASE_MS, recover: true, endsMissed: true, jobs: null });
      equal(await jobIds(store), [], "the jobs that are left");
      equal(await jobList(store, { labels }), "", "the jobs with the labels");
      equal(await resultList(store, { labels, order: "oldest" }), await resultList(store, {}), "the results with them");
      const kept = await store.getJobResults({ limit: 99, cursor: null }, T0);
      equal(
        kept.items.map(({ jobId, job }) => [jobId, job?.labels]).sort(),
        ["cancelled", "child", "done", "lost", "missed"].map((id) => [id, labels]),
        "the results",
      );
      await store.removeJobResults({ labels }, 99);
      equal(await resultList(store, { labels }), "", "what a removal leaves");
    },
  },
  {
    name: "labels: very many jobs with a label come page by page, by id and by runAt",
    rules: ["I15"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(900).map((job, index) => (index % 3 === 0 ? { ...job, labels: BILLING } : job)));
      for (const sort of ["id", "runAt"] as const) {
        const found = await pagesOf(store, sort);
        equal(found.length, 300, `how many there are by ${sort}`);
        equal(found, [...found].sort(), `in which order they are by ${sort}`);
      }
    },
  },
];

async function pagesOf(store: DataStore, sort: "id" | "runAt"): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<DataStore["getJobs"]>> = await store.getJobs({
      ...{ labels: BILLING, sort, limit: 70, cursor },
    });
    found.push(...page.items.map(({ id }) => id));
    ({ cursor } = page);
  } while (cursor !== null);
  return found;
}
