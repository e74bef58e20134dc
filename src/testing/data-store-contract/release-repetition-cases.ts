import type { JobRelease } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { cancel, commit, finish, LEASE_MS, leasedJob, makeJob, makeResult, release, T0, take } from "./makers.ts";
import { again, twice } from "./repeat.ts";

export const releaseRepetitionCases: readonly DataStoreCase[] = [
  {
    name: "repetitions: a finished job whose result is kept was released, and its result stays as it is",
    rules: ["X8"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const [lost, answer] = await twice(store, { releases: [finish(job)] });
      equal([lost.releases, answer.releases], [["released"], ["released"]], "the answers");
      equal((await store.getJobResults({ limit: 10, cursor: null }, T0)).items, [makeResult(job)], "the results");
    },
  },
  {
    name: "repetitions: a finished job whose result is not kept is not fenced, and is not there any more",
    rules: ["X8"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const [lost, answer] = await twice(store, { releases: [finish(job, { expiresAt: T0 })] });
      equal(lost.releases, ["released"], "the first answer");
      isTrue(answer.releases[0] === "missing" || answer.releases[0] === "released", "the second one");
      equal([answer.acquired, await store.getJob("job")], [[], null], "the job");
    },
  },
  {
    name: "repetitions: jobs that were put back were released, and are put back once",
    rules: ["X7"],
    async run({ open }) {
      const store = await open();
      const retried = await leasedJob(store, { id: "retried" });
      const given = await leasedJob(store, { id: "given", startDeadline: T0 + 5 });
      const releases: JobRelease[] = [
        { jobId: "retried", fence: retried.fence, kind: "retry", runAt: T0 + 500, failedAttempts: 1 },
        { jobId: "given", fence: given.fence, kind: "giveUp", hasStarted: true },
      ];
      const [lost, answer] = await twice(store, { jobs: null, releases });
      equal(
        [lost.releases, answer.releases],
        [
          ["released", "released"],
          ["released", "released"],
        ],
        "the answers",
      );
      const fields = { runAt: T0 + 500, failedAttempts: 1, fence: 1 };
      equal(await store.getJob("retried"), makeJob({ id: "retried", ...fields }), "the retried job");
      equal(
        await store.getJob("given"),
        makeJob({ id: "given", startDeadline: T0 + 5, recoveries: 1, startedFence: 1, fence: 1 }),
        "the one that was given up",
      );
    },
  },
  {
    name: "repetitions: a start counts while the lease is the caller's, and never when the job has ended meanwhile",
    rules: ["X7"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      const releases: JobRelease[] = [{ jobId: "job", fence: 1, kind: "start" }];
      const [lost, answer] = await twice(store, { jobs: null, releases });
      equal([lost.releases, answer.releases], [["released"], ["released"]], "the answers");
      await commit(store, { commitId: "one", jobs: null, releases });
      const { acquired } = await take(store, { by: "b", now: T0 + LEASE_MS });
      const fenced = await again(store, { commitId: "one", jobs: null, releases });
      equal(fenced.releases, ["fenced"], "when another holds it");
      await release(store, [finish(present(acquired[0], "the job"))], { by: "b" });
      const late = await again(store, { commitId: "one", jobs: null, releases });
      equal(late.releases, ["missing"], "when it has ended");
    },
  },
  {
    name: "repetitions: a job that the commit put back and leased again was released, and is told as leased",
    rules: ["X7", "X12"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const releases: JobRelease[] = [{ jobId: "job", fence: 1, kind: "retry", runAt: T0, failedAttempts: 1 }];
      const [lost, answer] = await twice(store, { releases, until: T0 + 500 });
      const expected = { ...job, failedAttempts: 1, acquiredUntil: T0 + 500, fence: 2 };
      equal([lost.releases, lost.acquired], [["released"], [expected]], "the lost answer");
      equal([answer.releases, answer.acquired], [["released"], [expected]], "the repetition");
    },
  },
  {
    name: "repetitions: a job that was put back and that others moved on since is theirs",
    rules: ["X7"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      const releases: JobRelease[] = [{ jobId: "job", fence: 1, kind: "giveUp" }];
      await commit(store, { commitId: "one", jobs: null, releases });
      const { acquired } = await take(store, { by: "b" });
      const answer = await again(store, { commitId: "one", jobs: null, releases });
      equal(answer.releases, ["fenced"], "the answer, which knows no better");
      equal(await store.getJob("job"), acquired[0], "the job");
      await commit(store, { by: "b", jobs: null, releases: [{ jobId: "job", fence: 2, kind: "giveUp" }] });
      const late = await again(store, { commitId: "one", jobs: null, releases });
      equal(late.releases, ["fenced"], "when they have put it back as well");
      equal(await store.getJob("job"), makeJob({ fence: 2 }), "the job then");
    },
  },
  {
    name: "repetitions: put-backs that ended a job as cancelled were released",
    rules: ["X8", "R7"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      await cancel(store, "job", T0);
      const releases: JobRelease[] = [{ jobId: "job", fence: 1, kind: "giveUp" }];
      const [lost, answer] = await twice(store, { releases });
      equal([lost.releases, lost.ended[0]?.outcome], [["released"], "cancelled"], "the lost answer");
      equal([answer.releases, answer.acquired], [["released"], []], "the repetition");
    },
  },
  {
    name: "repetitions: a release that was fenced stays fenced, and one of an unknown job missing",
    rules: ["X7"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const releases: JobRelease[] = [
        { ...finish(job), fence: 9 },
        { jobId: "job", fence: 0, kind: "giveUp" },
        finish(makeJob({ id: "unknown", fence: 1 })),
      ];
      const [lost, answer] = await twice(store, { jobs: null, releases });
      const statuses = ["fenced", "fenced", "missing"];
      equal([lost.releases, answer.releases], [statuses, statuses], "the answers");
      equal(await store.getJob("job"), job, "the job");
    },
  },
];
