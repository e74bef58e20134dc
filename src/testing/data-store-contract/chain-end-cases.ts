import { isDone, JOB_OUTCOMES } from "../../records/policies.ts";
import { equal, present } from "./assert.ts";
import { childOf, outcomesOf, settledBy } from "./chain-makers.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  cancel,
  commit,
  commitPlans,
  finish,
  idsOf,
  leasedJob,
  lookedAt,
  makeJob,
  makeJobs,
  makeSchedule,
  planOf,
  release,
  T0,
  take,
} from "./makers.ts";
import { again, twice } from "./repeat.ts";

/** What the end of parents does to their children. */
export const chainEndCases: readonly DataStoreCase[] = [
  {
    name: "chains: a parent whose handler skipped it lets all jobs run that come after it",
    rules: ["C8"],
    async run({ open }) {
      const store = await open();
      const parents = [await leasedJob(store, { id: "a" }), await leasedJob(store, { id: "b" })] as const;
      await store.addJobs([childOf(["a"], { id: "child" }), childOf(["a", "b"], { id: "grandchild" })]);
      const first = await release(store, [finish(parents[0], { outcome: "skipped" })]);
      equal([first.ended, settledBy(first).admitted], [[], ["child"]], "after the first");
      const second = await release(store, [finish(parents[1], { outcome: "success" })]);
      equal([second.ended, settledBy(second).admitted], [[], ["grandchild"]], "after the second");
      await store.addJobs([childOf(["a"], { id: "later" })]);
      equal((await store.getJob("later"))?.blockedBy, undefined, "a child that is added afterwards");
    },
  },
  ...JOB_OUTCOMES.filter((outcome) => !isDone(outcome)).map(
    (outcome): DataStoreCase => ({
      name: `chains: a parent that ends as ${outcome} cancels a job, unless the job is to run all the same`,
      rules: ["C8"],
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
        equal(settledBy(report).admitted, ["runs"], "what was admitted");
        const kept = present(await store.getJobResult("cancels", T0), "the result");
        equal([kept.outcome, kept.job?.metadata], ["cancelled", { kept: true }], "the kept result");
        equal(await store.getJob("cancels"), null, "the cancelled job");
        equal(idsOf((await take(store)).acquired), ["runs"], "what a worker gets");
      },
    }),
  ),
  {
    name: "chains: a failure goes through several levels in one commit, as far as no job is to run all the same",
    rules: ["C8"],
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
      equal(settledBy(report).admitted, ["c"], "what was admitted");
      equal(
        await outcomesOf(store, ["a", "b", "c", "d", "e"]),
        { a: "cancelled", b: "cancelled", e: "cancelled" },
        "kept",
      );
      const { acquired } = await take(store);
      equal(idsOf(acquired), ["c"], "what a worker gets");
      const last = await commit(store, { releases: [finish(present(acquired[0], "the job that runs"))] });
      equal(idsOf(last.acquired), ["d"], "what follows");
    },
  },
  {
    name: "chains: the first parent that fails cancels a job, and the end of the others changes nothing",
    rules: ["C8"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const { acquired } = await take(store);
      const [first, second] = [present(acquired[0], "a parent"), present(acquired[1], "a parent")];
      await store.addJobs([childOf(idsOf(acquired), { idempotencyKey: "key" })]);
      equal(settledBy(await release(store, [finish(first, { outcome: "error" })])).cancelled, ["child"], "what ended");
      await store.addJobs([childOf([second.id], { id: "next", idempotencyKey: "key", onParentFailure: "run" })]);
      const report = await release(store, [finish(second, { outcome: "error" })]);
      equal(settledBy(report), { admitted: ["next"], cancelled: [] }, "what the second parent settles");
      equal(await outcomesOf(store, ["child"]), { child: "cancelled" }, "the result");
    },
  },
  {
    name: "chains: parents that end in one commit count all, whatever became of each",
    rules: ["C8"],
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
      equal([...settledBy(report).admitted].sort(), ["fine", "runs"], "what was admitted");
      equal(settledBy(report).cancelled, ["failed"], "what ended");
    },
  },
  {
    name: "chains: a parent that is retried, put back or lost has not ended",
    rules: ["C7"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"])]);
      const retry = { jobId: "parent", fence: 1, kind: "retry", runAt: T0, failedAttempts: 1 } as const;
      equal(settledBy(await release(store, [retry])), { admitted: [], cancelled: [] }, "after a retry");
      equal(parent.fence, 1, "the first fence");
      equal(idsOf((await take(store)).acquired), ["parent"], "what a worker gets");
      const giveUp = { jobId: "parent", fence: 2, kind: "giveUp" } as const;
      equal(settledBy(await release(store, [giveUp])), { admitted: [], cancelled: [] }, "after it was given up");
      equal(idsOf((await take(store)).acquired), ["parent"], "what a worker gets again");
      equal(settledBy(await release(store, [], { now: T0 + 60_000 })), { admitted: [], cancelled: [] }, "after a loss");
      equal((await store.getJob("child"))?.blockedBy, "parents", "the child");
    },
  },
  {
    name: "chains: a queued parent that is cancelled cancels its children in the same commit",
    rules: ["C8"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        makeJob({ id: "parent" }),
        childOf(["parent"], { id: "a" }),
        childOf(["a"], { id: "b" }),
        childOf(["b"], { id: "c", onParentFailure: "run" }),
      ]);
      const report = await cancel(store, "parent", T0 + 1);
      equal(report.status === "cancelled" && report.ended?.map(({ jobId }) => jobId), ["a", "b"], "what ended");
      equal(await outcomesOf(store, ["a", "b", "c"], T0 + 2), { a: "cancelled", b: "cancelled" }, "the results");
      equal(idsOf((await take(store)).acquired), ["c"], "what a worker gets");
      await store.addJobs([makeJob({ id: "alone" })]);
      const alone = await cancel(store, "alone", T0 + 1);
      equal("ended" in alone, false, "whether a job without children names ended children");
    },
  },
  {
    name: "chains: a running parent that is cancelled cancels its children when it ends",
    rules: ["C8"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent"])]);
      equal((await cancel(store, "parent", T0)).status, "requested", "the answer");
      equal((await store.getJob("child"))?.blockedBy, "parents", "the child meanwhile");
      const report = await release(store, [{ jobId: "parent", fence: parent.fence, kind: "giveUp" }]);
      equal(settledBy(report).cancelled, ["parent", "child"], "what ended");
    },
  },
  {
    name: "chains: a parent that is abandoned cancels its children, by a commit or by the giving up of leases",
    rules: ["C8", "L12"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "lost", maxRecoveries: 0 });
      await store.addJobs([childOf(["lost"], { id: "a" }), childOf(["lost"], { id: "b", onParentFailure: "run" })]);
      const report = await release(store, [], { now: T0 + 60_000 });
      equal(settledBy(report), { admitted: ["b"], cancelled: ["lost", "a"] }, "what the commit settled");
      const [left] = (await take(store, { now: T0 + 60_000 })).acquired;
      equal(left?.id, "b", "what a worker gets");
      await store.addJobs([childOf(["b"], { id: "c" })]);
      await release(store, [finish(present(left, "the job"))], { now: T0 + 60_000 });
      await leasedJob(store, { id: "left", maxRecoveries: 0 }, { by: "x", now: T0 + 60_000 });
      await store.addJobs([childOf(["left"], { id: "d" })]);
      const now = T0 + 60_000;
      const { ended } = await store.giveUpLeases({ now, schedulerId: "x", instanceId: "x 2#", aliveUntil: null });
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
    rules: ["C8", "P14"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ overlap: "replaceQueued" }));
      await store.addJobs([
        makeJob({ id: "queued", scheduleId: "schedule", fireTime: T0 - 1000 }),
        childOf(["queued"]),
        childOf(["queued"], { id: "runs", onParentFailure: "run" }),
      ]);
      const overlap = { policy: "replaceQueued", passed: 0, lastPassedTime: null } as const;
      const report = await commitPlans(store, [planOf(present(due, "the schedule"), { overlap })]);
      equal(report.plans[0]?.overlap?.replaced, [{ jobId: "queued", fireTime: T0 - 1000 }], "what was replaced");
      equal(settledBy(report), { admitted: ["runs"], cancelled: ["child"] }, "what became of the children");
    },
  },
  {
    name: "chains: a thousand parents of one job",
    rules: ["C1"],
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
      equal(settledBy(early), { admitted: [], cancelled: [] }, "before the last one");
      const last = await commit(store, { releases: [finish(present(acquired[0], "the last parent"))] });
      equal(idsOf(last.acquired), ["child"], "after the last one");
    },
  },
  {
    name: "chains: a thousand jobs after one, that run or are cancelled",
    rules: ["C1", "C9"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "fine" }), makeJob({ id: "failed" })]);
      const [fine = makeJob(), failed = makeJob()] = (await take(store)).acquired;
      await store.addJobs(makeJobs(1000, { after: ["fine"], onParentFailure: "cancel" }));
      const report = await commit(store, { releases: [finish(fine)], limit: 1000 });
      equal([report.admitted?.length, report.acquired.length], [1000, 1000], "what runs");
      const more = makeJobs(1000, { after: ["failed"], onParentFailure: "cancel" });
      await store.addJobs(more.map((job) => ({ ...job, id: `more-${job.id}` })));
      const { ended } = await release(store, [finish(failed, { outcome: "error" })]);
      equal(ended.length, 1000, "what ends");
    },
  },
  {
    name: "chains: very many descendants end too, in this commit or in commits that follow at once",
    rules: ["C9"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      const deep = makeJobs(1500).map((job, index, jobs) => ({ ...job, after: [jobs[index - 1]?.id ?? "parent"] }));
      const wide = makeJobs(1500, { after: ["job-01499"], onParentFailure: "cancel" });
      await store.addJobs(deep);
      await store.addJobs(wide.map((job) => ({ ...job, id: `wide-${job.id}` })));
      let report = await release(store, [finish(parent, { outcome: "error" })]);
      const ended = new Set(settledBy(report).cancelled);
      for (let commits = 0; commits < 10 && (commits === 0 || report.hasReady); commits++) {
        report = await take(store);
        equal(report.acquired, [], "what a worker gets");
        for (const id of settledBy(report).cancelled) ended.add(id);
      }
      equal([ended.size, report.hasReady], [3000, false], "how many ended");
      equal((await store.getJobs({ limit: 9, cursor: null })).items, [], "what is left");
    },
  },
  {
    name: "chains: very many jobs after one are all admitted, in this commit or in commits that follow at once",
    rules: ["C9"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs(makeJobs(2500, { after: ["parent"], onParentFailure: "cancel" }));
      let report = await release(store, [finish(parent)]);
      const admitted = new Set(settledBy(report).admitted);
      const acquired = new Set<string>();
      for (let commits = 0; commits < 10 && (commits === 0 || report.hasReady); commits++) {
        report = await take(store, { limit: 1000 });
        for (const id of settledBy(report).admitted) admitted.add(id);
        for (const { id } of report.acquired) acquired.add(id);
      }
      equal([admitted.size, acquired.size, report.hasReady], [2500, 2500, false], "how many");
    },
  },
  {
    name: "chains: a repetition of a commit frees and cancels nothing twice",
    rules: ["C11"],
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
      equal([...settledBy(lost).admitted].sort(), ["a", "c"], "what the first try admitted");
      equal(answer.releases, ["released", "released"], "the releases");
      equal([...idsOf(lost.acquired)].sort(), ["c", "d"], "what the first try acquired");
      equal([...idsOf(answer.acquired)].sort(), ["c", "d"], "what the repetition holds");
      equal((await again(store, fields)).acquired.length, 2, "what a further repetition holds");
      equal(await outcomesOf(store, ["a", "b", "c"]), { b: "cancelled" }, "the results");
    },
  },
];
