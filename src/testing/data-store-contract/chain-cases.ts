import type { JobRecord } from "../../records/job.ts";
import { JOB_OUTCOMES } from "../../records/policies.ts";
import type { DataStore, StepReport } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { keyed, putTask } from "./flow-makers.ts";
import {
  commit,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  look,
  lookedAt,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  planOf,
  release,
  step,
  T0,
  take,
} from "./makers.ts";
import { again, twice } from "./repeat.ts";

/** A job that waits for others. */
export function childOf(parents: readonly string[], fields: Partial<JobRecord> = {}): JobRecord {
  return makeJob({ id: "child", after: parents, onParentFailure: "cancel", ...fields });
}

/** The jobs that waited until a report, and the jobs that ended because of their parents. */
export function settledBy({ promoted = [], ended }: StepReport): { promoted: string[]; cancelled: string[] } {
  return { promoted: promoted.map(({ jobId }) => jobId), cancelled: ended.map(({ jobId }) => jobId) };
}

const LATE = T0 + LEASE_MS;

/** Releases of a job that is to be cancelled, and of one that has started. */
const GIVEN_UP = { jobId: "parent", fence: 1, kind: "giveUp" } as const;
const STARTED = { ...GIVEN_UP, hasStarted: true } as const;

async function outcomesOf(store: DataStore, ids: readonly string[], now = T0 + 1): Promise<Record<string, string>> {
  const results = await store.getResultsOfJobs(ids, now);
  return Object.fromEntries(results.map(({ jobId, outcome }) => [jobId, outcome]));
}

export const chainCases: readonly DataStoreCase[] = [
  {
    name: "chains: a job is held until its parents have ended, and can be acquired in the step that ends the last one",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const child = childOf(["job-00000", "job-00001"]);
      const [addition] = await store.addJobs([child]);
      const held = { ...child, heldBy: "parents" as const };
      equal(addition, { job: held, isNew: true }, "the answer of the addition");
      equal(await store.getJob("child"), held, "the job while it is held");
      const { acquired, hasReady, nextRunAt } = await take(store);
      equal(idsOf(acquired), ["job-00000", "job-00001"], "what a worker gets");
      equal([hasReady, nextRunAt], [false, null], "what there is to do");
      const first = await step(store, { releases: [finish(present(acquired[0], "a parent"))] });
      equal([first.promoted ?? [], idsOf(first.acquired)], [[], []], "after the first parent");
      const second = await step(store, { releases: [finish(present(acquired[1], "a parent"))] });
      equal(second.promoted, [{ jobId: "child", taskId: "task", scheduleId: null }], "what was promoted");
      const leased = { acquiredBy: "scheduler-a", acquiredUntil: T0 + 60_000, fence: 1 };
      equal(second.acquired, [{ ...child, ...leased }], "what the last step acquires");
    },
  },
  {
    name: "chains: a job without a key is held until its parents have ended, also where its task has a rate or is fair",
    async run({ open }) {
      const store = await open();
      const rateLimit = { limit: 10, perMs: 1000, burst: 10 };
      await store.putTasks([makeTask({ id: "rated", rateLimit }), makeTask({ id: "fair", fair: true })]);
      await store.addJobs(makeJobs(1));
      for (const taskId of ["rated", "fair"]) {
        await store.addJobs([childOf(["job-00000"], { id: `one-${taskId}`, taskId })]);
        await store.addJobs(["a", "b"].map((id) => childOf(["job-00000"], { id: `${id}-${taskId}`, taskId })));
      }
      const { items } = await store.getJobs({ limit: 10, cursor: null });
      const heldBy = Object.fromEntries(items.map((job) => [job.id, job.heldBy]));
      const ids = ["rated", "fair"].flatMap((taskId) => ["one", "a", "b"].map((id) => `${id}-${taskId}`));
      const expected = Object.fromEntries(ids.map((id) => [id, "parents"]));
      equal({ "job-00000": undefined, ...heldBy }, { "job-00000": undefined, ...expected }, "what holds them");
    },
  },
  {
    name: "chains: the jobs of a task with a rate wait for their parents, however many are added at once",
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ rateLimit: { limit: 1000, perMs: 1000, burst: 10 } })]);
      await store.addJobs([makeJob({ id: "parent" })]);
      await store.addJobs([childOf(["parent"], { id: "alone" })]);
      await store.addJobs([childOf(["parent"], { id: "first" }), childOf(["parent"], { id: "second" })]);
      const { acquired } = await take(store);
      equal(idsOf(acquired), ["parent"], "what a worker gets");
      const after = await take(store, { releases: [finish(present(acquired[0], "the parent"))] });
      equal(idsOf(after.acquired), ["alone", "first", "second"], "what a worker gets after the parent");
    },
  },
  ...JOB_OUTCOMES.filter((outcome) => outcome !== "success").map(
    (outcome): DataStoreCase => ({
      name: `chains: a parent that ends as ${outcome} cancels a job, unless the job is to run all the same`,
      async run({ open }) {
        const store = await open();
        const parent = await leasedJob(store, { id: "parent" });
        await store.addJobs([
          childOf(["parent"], { id: "cancels", metadata: { kept: true } }),
          childOf(["parent"], { id: "runs", onParentFailure: "run" }),
        ]);
        const report = await release(store, [finish(parent, { outcome })]);
        const result = {
          jobId: "cancels",
          taskId: "task",
          scheduleId: null,
          scheduledFireTime: null,
          outcome: "cancelled",
          startedAt: null,
          finishedAt: T0,
          attempts: 0,
          returnValue: null,
          error: null,
          expiresAt: T0 + 86_400_000,
        };
        equal(report.ended, [result], "what ended");
        equal(settledBy(report).promoted, ["runs"], "what was promoted");
        const kept = present(await store.getJobResult("cancels", T0), "the result");
        equal([kept.outcome, kept.job?.metadata], ["cancelled", { kept: true }], "the kept result");
        equal(await store.getJob("cancels"), null, "the cancelled job");
        equal(idsOf((await take(store)).acquired), ["runs"], "what a worker gets");
      },
    }),
  ),
  {
    name: "chains: a failure goes through several levels in one commit, as far as no job is to run all the same",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([
        childOf(["parent"], { id: "a" }),
        childOf(["a"], { id: "b" }),
        childOf(["b", "parent"], { id: "c", onParentFailure: "run" }),
        childOf(["c"], { id: "d" }),
        childOf(["b", "c"], { id: "e" }),
      ]);
      const report = await release(store, [finish(parent, { outcome: "error" })]);
      equal([...settledBy(report).cancelled].sort(), ["a", "b", "e"], "what ended");
      equal(settledBy(report).promoted, ["c"], "what was promoted");
      equal(
        await outcomesOf(store, ["a", "b", "c", "d", "e"]),
        { a: "cancelled", b: "cancelled", e: "cancelled" },
        "kept",
      );
      const { acquired } = await take(store);
      equal(idsOf(acquired), ["c"], "what a worker gets");
      const last = await step(store, { releases: [finish(present(acquired[0], "the job that runs"))] });
      equal(idsOf(last.acquired), ["d"], "what follows");
    },
  },
  {
    name: "chains: the first parent that fails cancels a job, and the end of the others changes nothing",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const { acquired } = await take(store);
      const [first, second] = [present(acquired[0], "a parent"), present(acquired[1], "a parent")];
      await store.addJobs([childOf(idsOf(acquired), { idempotencyKey: "key" })]);
      equal(settledBy(await release(store, [finish(first, { outcome: "error" })])).cancelled, ["child"], "what ended");
      await store.addJobs([childOf([second.id], { id: "next", idempotencyKey: "key", onParentFailure: "run" })]);
      const report = await release(store, [finish(second, { outcome: "error" })]);
      equal(settledBy(report), { promoted: ["next"], cancelled: [] }, "what the second parent settles");
      equal(await outcomesOf(store, ["child"]), { child: "cancelled" }, "the result");
    },
  },
  {
    name: "chains: parents that end in one step count all, whatever became of each",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const { acquired } = await take(store);
      const [a = makeJob(), b = makeJob(), c = makeJob()] = acquired;
      await store.addJobs([
        childOf([a.id, b.id], { id: "fine" }),
        childOf([b.id, c.id], { id: "failed" }),
        childOf([a.id, c.id], { id: "runs", onParentFailure: "run" }),
      ]);
      const report = await release(store, [finish(a), finish(b), finish(c, { outcome: "error" })]);
      equal([...settledBy(report).promoted].sort(), ["fine", "runs"], "what was promoted");
      equal(settledBy(report).cancelled, ["failed"], "what ended");
    },
  },
  {
    name: "chains: a parent that is retried, put back or lost has not ended",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"])]);
      const retry = { jobId: "parent", fence: 1, kind: "retry", runAt: T0, failedAttempts: 1 } as const;
      equal(settledBy(await release(store, [retry])), { promoted: [], cancelled: [] }, "after a retry");
      equal(parent.fence, 1, "the first fence");
      equal(idsOf((await take(store)).acquired), ["parent"], "what a worker gets");
      const giveUp = { jobId: "parent", fence: 2, kind: "giveUp" } as const;
      equal(settledBy(await release(store, [giveUp])), { promoted: [], cancelled: [] }, "after it was given up");
      equal(idsOf((await take(store)).acquired), ["parent"], "what a worker gets again");
      equal(settledBy(await release(store, [], { now: T0 + 60_000 })), { promoted: [], cancelled: [] }, "after a loss");
      equal((await store.getJob("child"))?.heldBy, "parents", "the child");
    },
  },
  {
    name: "chains: a queued parent that is cancelled cancels its children in the same commit",
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        makeJob({ id: "parent" }),
        childOf(["parent"], { id: "a" }),
        childOf(["a"], { id: "b" }),
        childOf(["b"], { id: "c", onParentFailure: "run" }),
      ]);
      const report = await store.cancelJob("parent", T0 + 1);
      equal(report.status === "cancelled" && report.ended?.map(({ jobId }) => jobId), ["a", "b"], "what ended");
      equal(await outcomesOf(store, ["a", "b", "c"], T0 + 2), { a: "cancelled", b: "cancelled" }, "the results");
      equal(idsOf((await take(store)).acquired), ["c"], "what a worker gets");
      await store.addJobs([makeJob({ id: "alone" })]);
      const alone = await store.cancelJob("alone", T0 + 1);
      equal("ended" in alone, false, "whether a job without children names ended children");
    },
  },
  {
    name: "chains: a running parent that is cancelled cancels its children when it ends",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"])]);
      equal((await store.cancelJob("parent", T0)).status, "requested", "the answer");
      equal((await store.getJob("child"))?.heldBy, "parents", "the child meanwhile");
      const report = await release(store, [{ jobId: "parent", fence: parent.fence, kind: "giveUp" }]);
      equal(settledBy(report).cancelled, ["parent", "child"], "what ended");
    },
  },
  {
    name: "chains: a parent that is abandoned cancels its children, by a step or by the giving up of leases",
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "lost", maxRecoveries: 0 });
      await store.addJobs([childOf(["lost"], { id: "a" }), childOf(["lost"], { id: "b", onParentFailure: "run" })]);
      const report = await release(store, [], { now: T0 + 60_000 });
      equal(settledBy(report), { promoted: ["b"], cancelled: ["lost", "a"] }, "what the step settled");
      const [left] = (await take(store, { now: T0 + 60_000 })).acquired;
      equal(left?.id, "b", "what a worker gets");
      await store.addJobs([childOf(["b"], { id: "c" })]);
      await release(store, [finish(present(left, "the job"))], { now: T0 + 60_000 });
      await leasedJob(store, { id: "left", maxRecoveries: 0 }, { by: "x", now: T0 + 60_000 });
      await store.addJobs([childOf(["left"], { id: "d" })]);
      const now = T0 + 60_000;
      const { ended } = await store.giveUpLeases({ now, schedulerId: "x", incarnation: "x 2#", aliveUntil: null });
      equal(
        ended.map(({ jobId, outcome }) => [jobId, outcome]),
        [
          ["left", "abandoned"],
          ["d", "cancelled"],
        ],
        "given up",
      );
    },
  },
  {
    name: "chains: a parent that a fire of its schedule replaces counts as cancelled",
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "replaceQueued" }));
      await store.addJobs([
        makeJob({ id: "queued", scheduleId: "schedule", fireTime: T0 - 1000 }),
        childOf(["queued"]),
        childOf(["queued"], { id: "runs", onParentFailure: "run" }),
      ]);
      const overlap = { policy: "replaceQueued", passed: 0, lastPassedTime: null } as const;
      const report = await commit(store, [planOf(present(due, "the schedule"), { overlap })]);
      equal(report.plans[0]?.overlap?.replaced, [{ jobId: "queued", fireTime: T0 - 1000 }], "what was replaced");
      equal(settledBy(report), { promoted: ["runs"], cancelled: ["child"] }, "what became of the children");
    },
  },
  {
    name: "chains: parents that have ended count, if their result is kept",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const [fine = makeJob(), failed = makeJob()] = (await take(store)).acquired;
      await release(store, [finish(fine), finish(failed, { outcome: "error" })]);
      const now = T0 + 3;
      const children = [
        childOf([fine.id], { id: "a", createdAt: now, runAt: now }),
        childOf([fine.id, failed.id], { id: "b", createdAt: now, runAt: now }),
        childOf([failed.id], { id: "c", createdAt: now, runAt: now, onParentFailure: "run" }),
        childOf(["b"], { id: "d", createdAt: now, runAt: now }),
      ];
      const additions = await store.addJobs(children);
      equal(
        additions.map(({ job, isNew, hasEnded = false }) => [job.id, isNew, hasEnded, job.heldBy ?? null]),
        [
          ["a", true, false, null],
          ["b", true, true, null],
          ["c", true, false, null],
          ["d", true, true, null],
        ],
        "the answers",
      );
      equal(await outcomesOf(store, ["a", "b", "c", "d"], now), { b: "cancelled", d: "cancelled" }, "the results");
      equal(idsOf((await take(store, { now })).acquired), ["a", "c"], "what a worker gets");
    },
  },
  {
    name: "chains: a step adds children too, of parents that it ends and of others",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const [fine = makeJob(), failed = makeJob()] = (await take(store)).acquired;
      const report = await step(store, {
        releases: [finish(fine)],
        additions: [childOf([fine.id], { id: "a" }), childOf([failed.id], { id: "b" })],
      });
      equal(
        report.additions.map(({ job }) => [job.id, job.heldBy ?? null]),
        [
          ["a", null],
          ["b", "parents"],
        ],
        "the answers",
      );
      equal(idsOf(report.acquired), ["a"], "what the step acquires");
      const last = await step(store, {
        releases: [finish(failed, { outcome: "error" })],
        additions: [childOf([failed.id], { id: "c" })],
      });
      equal([...settledBy(last).cancelled].sort(), ["b", "c"], "what ended");
    },
  },
  {
    name: "chains: a parent that is unknown is refused, and nothing of the call is written",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent", resultExpirationMs: 0 });
      await release(store, [finish(parent, { expiresAt: T0 })]);
      for (const unknown of ["nobody", "parent"]) {
        const jobs = [makeJob({ id: "good" }), childOf(["good", unknown])];
        const error = await store.addJobs(jobs).catch((reason: unknown) => reason);
        equal(codeOf(error), "storeRefused", `the addition after ${unknown}`);
        isTrue(error instanceof Error && error.message.includes(`"${unknown}"`), "the error names the parent");
        const inStep = await step(store, { additions: jobs }).catch((reason: unknown) => reason);
        equal(codeOf(inStep), "storeRefused", `the step that adds it after ${unknown}`);
      }
      equal((await store.getJobs({ limit: 9, cursor: null })).items, [], "what was written");
    },
  },
  ...[
    { end: "abandons", parent: { maxRecoveries: 0 }, isCancelled: false, fields: { now: LATE } },
    { end: "cancels", parent: {}, isCancelled: true, fields: { now: LATE } },
    { end: "gives up and cancels", parent: {}, isCancelled: true, fields: { releases: [GIVEN_UP] } },
    { end: "gives up", parent: { maxRecoveries: 0 }, isCancelled: false, fields: { releases: [STARTED] } },
  ].map(
    ({ end, parent, isCancelled, fields }): DataStoreCase => ({
      name: `chains: a parent that the step of the addition ${end}, and that leaves no result, is unknown`,
      async run({ open }) {
        const store = await open();
        const leased = await leasedJob(store, { id: "parent", resultExpirationMs: 0, ...parent });
        if (isCancelled) await store.cancelJob("parent", T0);
        const additions = [makeJob({ id: "good" }), childOf(["parent"])];
        const error = await take(store, { ...fields, additions }).catch((reason: unknown) => reason);
        equal(codeOf(error), "storeRefused", "the step");
        const asBefore = isCancelled ? { ...leased, cancelRequested: true } : leased;
        equal((await store.getJobs({ limit: 9, cursor: null })).items, [asBefore], "what was written");
        equal(settledBy(await take(store, fields)).cancelled, ["parent"], "what ends without the addition");
      },
    }),
  ),
  {
    name: "chains: a parent whose end in the step of the addition does not count goes on",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent", resultExpirationMs: 0 });
      const end = finish(parent, { expiresAt: T0 });
      const report = await step(store, { by: "scheduler-b", releases: [end], additions: [childOf(["parent"])] });
      equal([report.releases, report.additions[0]?.job.heldBy], [["fenced"], "parents"], "the report");
    },
  },
  {
    name: "chains: a job that comes after one that the step cancels is cancelled too, even if no result is kept",
    async run({ open }) {
      const store = await open();
      const first = await leasedJob(store, { id: "first" });
      await store.addJobs([childOf(["first"], { id: "parent", resultExpirationMs: 0 })]);
      const additions = [childOf(["parent"]), childOf(["parent"], { id: "runs", onParentFailure: "run" })];
      const report = await take(store, { releases: [finish(first, { outcome: "error" })], additions });
      equal([settledBy(report).cancelled, idsOf(report.acquired)], [["parent", "child"], ["runs"]], "the report");
      equal(await outcomesOf(store, ["parent", "child"]), { child: "cancelled" }, "the results");
    },
  },
  {
    name: "chains: a result that has expired is no parent",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await release(store, [finish(parent, { expiresAt: T0 + 100 })]);
      const late = { createdAt: T0 + 100, runAt: T0 + 100 };
      equal(
        codeOf(await store.addJobs([childOf(["parent"], late)]).catch((e: unknown) => e)),
        "storeRefused",
        "too late",
      );
      const [addition] = await store.addJobs([childOf(["parent"], { createdAt: T0 + 99, runAt: T0 + 99 })]);
      equal([addition?.isNew, addition?.job.heldBy], [true, undefined], "just in time");
    },
  },
  {
    name: "chains: a job that repeats another may have parents that are unknown by now",
    async run({ open }) {
      const store = await open();
      const [addition] = await store.addJobs([childOf(["gone"], { retryOf: "first" })]);
      equal([addition?.isNew, addition?.job.heldBy], [true, undefined], "the answer");
      equal(idsOf((await take(store)).acquired), ["child"], "what a worker gets");
    },
  },
  {
    name: "chains: jobs of one call may come after each other in any order, but not in a circle",
    async run({ open }) {
      const store = await open();
      const circle = [childOf(["b"], { id: "a" }), childOf(["c"], { id: "b" }), childOf(["a"], { id: "c" })];
      // The first job with a key stands for the second.
      const key = { idempotencyKey: "key" };
      const once = { once: { kind: "throttle" as const, key: "key", until: T0 + 1 } };
      const byKey = [childOf(["c"], { id: "a", ...key }), makeJob({ id: "b", ...key }), childOf(["b"], { id: "c" })];
      const itself = [
        { ...childOf(["b"], { id: "a" }), ...once },
        { ...makeJob({ id: "b" }), ...once },
      ];
      for (const jobs of [circle, [childOf(["child"])], [...circle, makeJob({ id: "good" })], byKey, itself]) {
        equal(codeOf(await store.addJobs(jobs).catch((e: unknown) => e)), "storeRefused", "a circle");
      }
      equal((await store.getJobs({ limit: 9, cursor: null })).items, [], "what was written");
      await store.addJobs([childOf(["b", "c"], { id: "a" }), childOf(["c"], { id: "b" }), makeJob({ id: "c" })]);
      const order: string[] = [];
      let report = await take(store);
      while (report.acquired.length > 0) {
        order.push(...idsOf(report.acquired));
        report = await step(store, { releases: report.acquired.map((job) => finish(job)) });
      }
      equal(order, ["c", "b", "a"], "the order of the runs");
    },
  },
  {
    name: "chains: where another job stands for a parent of the same call, the child waits for that job",
    async run({ open }) {
      const store = await open();
      const standIn = await leasedJob(store, { id: "first", idempotencyKey: "key" });
      const additions = await store.addJobs([childOf(["second"]), makeJob({ id: "second", idempotencyKey: "key" })]);
      equal(
        additions.map(({ job, isNew }) => [job.id, isNew]),
        [
          ["child", true],
          ["first", false],
        ],
        "the answers",
      );
      equal((await store.getJob("child"))?.after, ["first"], "the parents of the child");
      equal(settledBy(await release(store, [finish(standIn)])).promoted, ["child"], "what was promoted");
    },
  },
  {
    name: "chains: a parent that is named twice counts once",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent", "parent"])]);
      equal(settledBy(await release(store, [finish(parent)])).promoted, ["child"], "what was promoted");
      equal(idsOf((await take(store)).acquired), ["child"], "what a worker gets");
    },
  },
  {
    name: "chains: a thousand parents of one job",
    async run({ open }) {
      const store = await open();
      const parents = makeJobs(1000);
      await store.addJobs([...parents, childOf(idsOf(parents))]);
      const { acquired } = await take(store, { limit: 1000 });
      equal(acquired.length, 1000, "how many parents run");
      const early = await release(
        store,
        acquired.slice(1).map((job) => finish(job)),
      );
      equal(settledBy(early), { promoted: [], cancelled: [] }, "before the last one");
      const last = await step(store, { releases: [finish(present(acquired[0], "the last parent"))] });
      equal(idsOf(last.acquired), ["child"], "after the last one");
    },
  },
  {
    name: "chains: a thousand jobs after one, that run or are cancelled",
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "fine" }), makeJob({ id: "failed" })]);
      const [fine = makeJob(), failed = makeJob()] = (await take(store)).acquired;
      await store.addJobs(makeJobs(1000, { after: ["fine"], onParentFailure: "cancel" }));
      const report = await step(store, { releases: [finish(fine)], limit: 1000 });
      equal([report.promoted?.length, report.acquired.length], [1000, 1000], "what runs");
      const more = makeJobs(1000, { after: ["failed"], onParentFailure: "cancel" });
      await store.addJobs(more.map((job) => ({ ...job, id: `more-${job.id}` })));
      const { ended } = await release(store, [finish(failed, { outcome: "error" })]);
      equal(ended.length, 1000, "what ends");
    },
  },
  {
    name: "chains: very many descendants end too, in this commit or in steps that follow at once",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      const deep = makeJobs(1500).map((job, index, jobs) => ({ ...job, after: [jobs[index - 1]?.id ?? "parent"] }));
      const wide = makeJobs(1500, { after: ["job-01499"], onParentFailure: "cancel" });
      await store.addJobs(deep);
      await store.addJobs(wide.map((job) => ({ ...job, id: `wide-${job.id}` })));
      let report = await release(store, [finish(parent, { outcome: "error" })]);
      const ended = new Set(settledBy(report).cancelled);
      for (let steps = 0; steps < 10 && (steps === 0 || report.hasReady); steps++) {
        report = await take(store);
        equal(report.acquired, [], "what a worker gets");
        for (const id of settledBy(report).cancelled) ended.add(id);
      }
      equal([ended.size, report.hasReady], [3000, false], "how many ended");
      equal((await store.getJobs({ limit: 9, cursor: null })).items, [], "what is left");
    },
  },
  {
    name: "chains: very many jobs after one are all promoted, in this commit or in steps that follow at once",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs(makeJobs(2500, { after: ["parent"], onParentFailure: "cancel" }));
      let report = await release(store, [finish(parent)]);
      const promoted = new Set(settledBy(report).promoted);
      const acquired = new Set<string>();
      for (let steps = 0; steps < 10 && (steps === 0 || report.hasReady); steps++) {
        report = await take(store, { limit: 1000 });
        for (const id of settledBy(report).promoted) promoted.add(id);
        for (const { id } of report.acquired) acquired.add(id);
      }
      equal([promoted.size, acquired.size, report.hasReady], [2500, 2500, false], "how many");
    },
  },
  {
    name: "chains: an addition that is repeated changes nothing, whatever became of the child",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2, { resultExpirationMs: 0 }));
      const [first = makeJob(), second = makeJob()] = (await take(store)).acquired;
      const child = childOf([first.id, second.id], { resultExpirationMs: 0 });
      const repeat = async (): Promise<unknown[]> => {
        const additions = await store.addJobs([child]);
        return additions.map(({ isNew, job, hasEnded = false }) => [isNew, job.id, job.heldBy ?? null, hasEnded]);
      };
      equal(await repeat(), [[true, "child", "parents", false]], "the first call");
      equal(await repeat(), [[true, "child", "parents", false]], "while it is held");
      const noResult = { expiresAt: T0 };
      await release(store, [finish(first, noResult)]);
      equal(await repeat(), [[true, "child", "parents", false]], "after the first parent");
      equal(settledBy(await release(store, [finish(second, noResult)])).promoted, ["child"], "what was promoted");
      equal(await repeat(), [[true, "child", null, false]], "once it waits for a worker");
      const [leased = makeJob()] = (await take(store)).acquired;
      equal(leased.id, "child", "what a worker gets");
      equal(await repeat(), [[true, "child", null, false]], "while it runs");
      equal((await take(store)).acquired, [], "what a worker gets then");
    },
  },
  {
    name: "chains: a repetition of a step frees and cancels nothing twice",
    isAboutLostAnswers: true,
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const [fine = makeJob(), failed = makeJob()] = (await take(store)).acquired;
      await store.addJobs([
        childOf([fine.id], { id: "a", runAt: T0 + 9 }),
        childOf([failed.id], { id: "b" }),
        childOf([fine.id], { id: "c" }),
      ]);
      const fields = {
        releases: [finish(fine), finish(failed, { outcome: "error" })],
        additions: [childOf([fine.id], { id: "d" })],
      };
      const [lost, answer] = await twice(store, fields);
      equal([...settledBy(lost).promoted].sort(), ["a", "c"], "what the first try promoted");
      equal(answer.releases, ["released", "released"], "the releases");
      equal([...idsOf(lost.acquired)].sort(), ["c", "d"], "what the first try acquired");
      equal([...idsOf(answer.acquired)].sort(), ["c", "d"], "what the repetition holds");
      equal((await again(store, fields)).acquired.length, 2, "what a further repetition holds");
      equal(await outcomesOf(store, ["a", "b", "c"]), { b: "cancelled" }, "the results");
    },
  },
  {
    name: "chains: a job that is to run later waits for its time as well, and its priority counts then",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([
        childOf(["parent"], { id: "later", runAt: T0 + 1000 }),
        childOf(["parent"], { id: "low", priority: 1 }),
        childOf(["parent"], { id: "high", priority: 2 }),
      ]);
      equal((await look(store)).nextRunAt, null, "the next instant while they are held");
      const report = await step(store, { releases: [finish(parent)] });
      equal([...settledBy(report).promoted].sort(), ["high", "later", "low"], "what was promoted");
      equal(idsOf(report.acquired), ["high", "low"], "what a worker gets");
      equal(report.nextRunAt, T0 + 1000, "the next instant");
      equal((await store.getJob("later"))?.heldBy, undefined, "whether it is held");
      equal(idsOf((await take(store, { now: T0 + 1000 })).acquired), ["later"], "what a worker gets later");
    },
  },
  {
    name: "chains: a held job keeps its idempotency key, and is returned for another of the same key",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"], { idempotencyKey: "key" })]);
      const rival = childOf(["parent", "nobody"], { id: "rival", idempotencyKey: "key" });
      const [addition] = await store.addJobs([rival]);
      equal([addition?.isNew, addition?.job.id, addition?.job.heldBy], [false, "child", "parents"], "the answer");
      equal(settledBy(await release(store, [finish(parent)])).promoted, ["child"], "what was promoted");
    },
  },
  {
    name: "chains: a held job can be cancelled, and its parents go on",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"]), childOf(["child"], { id: "grandchild" })]);
      const report = await store.cancelJob("child", T0);
      equal(report.status === "cancelled" && report.ended?.map(({ jobId }) => jobId), ["grandchild"], "what ended");
      const { releases, ended, promoted } = await release(store, [finish(parent)]);
      equal([releases, ended, promoted ?? []], [["released"], [], []], "the end of the parent");
      equal((await take(store)).acquired, [], "what a worker gets");
    },
  },
  {
    name: "chains: a worker that does not know of the children of its job ends their wait",
    async run(context) {
      const [worker, other] = await openTwo(context);
      const parent = await leasedJob(worker, { id: "parent" });
      await step(worker);
      await other.addJobs([childOf(["parent"]), childOf(["parent"], { id: "second", onParentFailure: "run" })]);
      const report = await step(worker, { releases: [finish(parent, { outcome: "error" })] });
      equal(settledBy(report), { promoted: ["second"], cancelled: ["child"] }, "what the worker settles");
      equal(idsOf(report.acquired), ["second"], "what it acquires");
    },
  },
  {
    name: "chains: the results of many jobs are read at once",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const [a = makeJob(), b = makeJob(), c = makeJob()] = (await take(store)).acquired;
      await release(store, [finish(a), finish(b, { expiresAt: T0 + 50 }), finish(c, { outcome: "error" })]);
      const ids = [c.id, "nobody", a.id, b.id, a.id];
      const read = async (now: number): Promise<string[]> =>
        (await store.getResultsOfJobs(ids, now)).map(({ jobId }) => jobId).sort();
      equal(await read(T0), [a.id, b.id, c.id], "the results");
      equal(await read(T0 + 50), [a.id, c.id], "once one has expired");
      equal(await store.getResultsOfJobs([], T0), [], "of no jobs");
      const [result] = await store.getResultsOfJobs([a.id], T0);
      equal(result, await store.getJobResult(a.id, T0), "one result");
    },
  },
  {
    name: "chains: a job with a key is held by its key when its parents have ended, and is promoted once",
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const parent = await leasedJob(store, { id: "parent" });
      const running = await leasedJob(store, keyed("running", "k"));
      const addition = childOf(["parent"], { concurrencyKey: "k" });
      await store.addJobs([addition, childOf(["parent"], { id: "of other key", concurrencyKey: "l" })]);
      equal((await store.getJob("child"))?.heldBy, "parents", "what holds it at first");
      const { tasks } = await store.inspect(T0);
      equal(tasks, [{ taskId: "task", waiting: 2, running: 2, held: 2 }], "the counts at first");
      const first = await take(store, { releases: [finish(parent)] });
      const ofOther = { jobId: "of other key", taskId: "task", scheduleId: null, concurrencyKey: "l" };
      equal([first.promoted, idsOf(first.acquired)], [[ofOther], ["of other key"]], "the step that ends the parent");
      equal([first.hasReady, first.nextRunAt], [false, null], "what there is to do");
      equal((await store.getJob("child"))?.heldBy, "limit", "what holds it then");
      const counted = await store.inspect(T0);
      equal(counted.tasks, [{ taskId: "task", waiting: 1, running: 2, held: 1 }], "the counts then");
      const second = await take(store, { releases: [finish(running)] });
      equal(
        second.promoted,
        [{ ...ofOther, jobId: "child" }].map((job) => ({ ...job, concurrencyKey: "k" })),
        "promoted",
      );
      const leased = { acquiredBy: "scheduler-a", acquiredUntil: T0 + LEASE_MS, fence: 1 };
      equal(second.acquired, [{ ...addition, ...leased }], "what the step that frees the key acquires");
      const third = await take(store, { releases: second.acquired.map((job) => finish(job)) });
      equal([third.promoted, third.acquired], [undefined, []], "when it has ended");
    },
  },
  {
    name: "chains: held jobs are counted, and are not late",
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"]), childOf(["parent"], { id: "second" })]);
      const { tasks, oldestDueJob } = await store.inspect(T0 + 1000);
      equal(tasks, [{ taskId: "task", waiting: 2, running: 1, held: 2 }], "the counts");
      equal(oldestDueJob, null, "the oldest due job");
      equal(await store.removeTask("task"), "inUse", "whether the task can be removed");
    },
  },
];

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : error;
}
