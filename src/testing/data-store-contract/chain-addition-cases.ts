import { equal, isTrue } from "./assert.ts";
import { childOf, GIVEN_UP, LATE, outcomesOf, STARTED, settledBy } from "./chain-makers.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { cancel, commit, endedJob, finish, idsOf, leasedJob, makeJob, makeJobs, release, T0, take } from "./makers.ts";

/** Additions of jobs that come after others. */
export const chainAdditionCases: readonly DataStoreCase[] = [
  {
    name: "chains: parents that have ended count, if their result is kept",
    rules: ["C4"],
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
        additions.map(({ job, isNew, hasEnded = false }) => [job.id, isNew, hasEnded, job.blockedBy ?? null]),
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
    name: "chains: a commit adds children too, of parents that it ends and of others",
    rules: ["C4", "X2"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const [fine = makeJob(), failed = makeJob()] = (await take(store)).acquired;
      const report = await commit(store, {
        releases: [finish(fine)],
        additions: [childOf([fine.id], { id: "a" }), childOf([failed.id], { id: "b" })],
      });
      equal(
        report.additions.map(({ job }) => [job.id, job.blockedBy ?? null]),
        [
          ["a", null],
          ["b", "parents"],
        ],
        "the answers",
      );
      equal(idsOf(report.acquired), ["a"], "what the commit acquires");
      const last = await commit(store, {
        releases: [finish(failed, { outcome: "error" })],
        additions: [childOf([failed.id], { id: "c" })],
      });
      equal([...settledBy(last).cancelled].sort(), ["b", "c"], "what ended");
    },
  },
  {
    name: "chains: a parent that is unknown is refused, and nothing of the call is written",
    rules: ["C2"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent", resultExpirationMs: 0 });
      await release(store, [finish(parent, { expiresAt: T0 })]);
      for (const unknown of ["nobody", "parent"]) {
        const jobs = [makeJob({ id: "good" }), childOf(["good", unknown])];
        const error = await store.addJobs(jobs).catch((reason: unknown) => reason);
        equal(codeOf(error), "storeRefused", `the addition after ${unknown}`);
        isTrue(error instanceof Error && error.message.includes(`"${unknown}"`), "the error names the parent");
        const inStep = await commit(store, { additions: jobs }).catch((reason: unknown) => reason);
        equal(codeOf(inStep), "storeRefused", `the commit that adds it after ${unknown}`);
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
      name: `chains: a parent that the commit of the addition ${end}, and that leaves no result, is unknown`,
      rules: ["C2"],
      async run({ open }) {
        const store = await open();
        const leased = await leasedJob(store, { id: "parent", resultExpirationMs: 0, ...parent });
        if (isCancelled) await cancel(store, "parent", T0);
        const additions = [makeJob({ id: "good" }), childOf(["parent"])];
        const error = await take(store, { ...fields, additions }).catch((reason: unknown) => reason);
        equal(codeOf(error), "storeRefused", "the commit");
        const asBefore = isCancelled ? { ...leased, cancelRequested: true } : leased;
        equal((await store.getJobs({ limit: 9, cursor: null })).items, [asBefore], "what was written");
        equal(settledBy(await take(store, fields)).cancelled, ["parent"], "what ends without the addition");
      },
    }),
  ),
  {
    name: "chains: a parent whose end in the commit of the addition does not count goes on",
    rules: ["C2"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent", resultExpirationMs: 0 });
      const end = finish(parent, { expiresAt: T0 });
      const report = await commit(store, { by: "scheduler-b", releases: [end], additions: [childOf(["parent"])] });
      equal([report.releases, report.additions[0]?.job.blockedBy], [["fenced"], "parents"], "the report");
    },
  },
  {
    name: "chains: a job that comes after one that the commit cancels is cancelled too, even if no result is kept",
    rules: ["C2", "C8"],
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
    rules: ["C2"],
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
      equal([addition?.isNew, addition?.job.blockedBy], [true, undefined], "just in time");
    },
  },
  {
    name: "chains: a job that repeats another may have parents that are unknown by now",
    rules: ["C6"],
    async run({ open }) {
      const store = await open();
      await endedJob(store);
      const [addition] = await store.addJobs([childOf(["gone"], { retryOf: "first" })]);
      equal([addition?.isNew, addition?.job.blockedBy], [true, undefined], "the answer");
      equal(idsOf((await take(store)).acquired), ["child"], "what a worker gets");
    },
  },
  {
    name: "chains: jobs of one call may come after each other in any order, but not in a circle",
    rules: ["C3"],
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
        report = await commit(store, { releases: report.acquired.map((job) => finish(job)) });
      }
      equal(order, ["c", "b", "a"], "the order of the runs");
    },
  },
  {
    name: "chains: where another job stands for a parent of the same call, the child waits for that job",
    rules: ["C5"],
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
      equal(settledBy(await release(store, [finish(standIn)])).admitted, ["child"], "what was admitted");
    },
  },
  {
    name: "chains: a parent that is named twice counts once",
    rules: ["C5"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      await store.addJobs([childOf(["parent", "parent"])]);
      equal(settledBy(await release(store, [finish(parent)])).admitted, ["child"], "what was admitted");
      equal(idsOf((await take(store)).acquired), ["child"], "what a worker gets");
    },
  },
  {
    name: "chains: an addition that is repeated changes nothing, whatever became of the child",
    rules: ["C11"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2, { resultExpirationMs: 0 }));
      const [first = makeJob(), second = makeJob()] = (await take(store)).acquired;
      const child = childOf([first.id, second.id], { resultExpirationMs: 0 });
      const repeat = async (): Promise<unknown[]> => {
        const additions = await store.addJobs([child]);
        return additions.map(({ isNew, job, hasEnded = false }) => [isNew, job.id, job.blockedBy ?? null, hasEnded]);
      };
      equal(await repeat(), [[true, "child", "parents", false]], "the first call");
      equal(await repeat(), [[true, "child", "parents", false]], "while it is blocked");
      const noResult = { expiresAt: T0 };
      await release(store, [finish(first, noResult)]);
      equal(await repeat(), [[true, "child", "parents", false]], "after the first parent");
      equal(settledBy(await release(store, [finish(second, noResult)])).admitted, ["child"], "what was admitted");
      equal(await repeat(), [[true, "child", null, false]], "once it waits for a worker");
      const [leased = makeJob()] = (await take(store)).acquired;
      equal(leased.id, "child", "what a worker gets");
      equal(await repeat(), [[true, "child", null, false]], "while it runs");
      equal((await take(store)).acquired, [], "what a worker gets then");
    },
  },
];

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : error;
}
