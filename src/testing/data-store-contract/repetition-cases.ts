import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  type CommitFields,
  commit,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  lookedAt,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  planOf,
  release,
  T0,
  take,
} from "./makers.ts";
import { again, twice } from "./repeat.ts";

export const repetitionCases: readonly DataStoreCase[] = [
  {
    name: "repetitions: what the commit leased is found again, with the lease that it has",
    rules: ["X12"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const [lost, answer] = await twice(store, { limit: 2 });
      equal(idsOf(lost.acquired), ["job-00000", "job-00001"], "what was leased");
      equal([answer.acquired, answer.hasReady], [lost.acquired, true], "the repetition");
      equal(idsOf((await take(store)).acquired), ["job-00002"], "the next commit");
    },
  },
  {
    name: "repetitions: they are topped up to the limit, by what came meanwhile",
    rules: ["X12"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(1));
      await commit(store, { commitId: "one", limit: 2 });
      await store.addJobs([makeJob({ id: "new a" }), makeJob({ id: "new b" })]);
      const { acquired, hasReady } = await again(store, { commitId: "one", limit: 2 });
      equal([idsOf(acquired).toSorted(), hasReady], [["job-00000", "new a"], true], "the repetition");
      const third = await again(store, { commitId: "one", limit: 2 });
      equal(third.acquired, acquired, "another one");
    },
  },
  {
    name: "repetitions: with a limit of 0, as at stop, they still tell what the commit leased",
    rules: ["X12"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const lost = await commit(store, { commitId: "one", limit: 2 });
      const answer = await again(store, { commitId: "one", limit: 0 });
      equal([answer.acquired, answer.hasReady], [lost.acquired, true], "the repetition");
    },
  },
  {
    name: "repetitions: they tell what the commit leased also while a dead lease waits",
    rules: ["X12"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "dead" }, { by: "b", until: T0 + 5 });
      await store.addJobs(makeJobs(2));
      const lost = await commit(store, { commitId: "one", limit: 1 });
      const answer = await again(store, { commitId: "one", limit: 2 });
      equal([idsOf(lost.acquired), answer.acquired], [["job-00000"], lost.acquired], "the answers");
    },
  },
  {
    name: "repetitions: what the commit leased counts to the limit of its task, in theirs as in any other's",
    rules: ["X12", "Q6"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 2 })]);
      await store.addJobs(makeJobs(3));
      const [lost, answer] = await twice(store, { limit: 5 });
      equal([idsOf(lost.acquired), answer.acquired], [["job-00000", "job-00001"], lost.acquired], "the answers");
      equal([answer.hasReady, (await take(store, { by: "b" })).acquired], [false, []], "what is left for others");
    },
  },
  {
    name: "repetitions: they find what was leased also after another commit of the same scheduler",
    rules: ["X12"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const lost = await commit(store, { commitId: "one", limit: 1 });
      await commit(store, { commitId: "two", limit: 1 });
      equal((await again(store, { commitId: "one", limit: 1 })).acquired, lost.acquired, "the repetition");
    },
  },
  {
    name: "repetitions: they do not tell of what has been released, recovered or extended away meanwhile",
    rules: ["X12"],
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const { acquired } = await commit(store, { commitId: "one", limit: 2 });
      await release(store, [finish(present(acquired[0], "the first job"))]);
      equal(idsOf((await again(store, { commitId: "one", limit: 1 })).acquired), ["job-00001"], "one was released");
      const late = T0 + LEASE_MS;
      await take(store, { by: "b", now: late });
      equal((await again(store, { commitId: "one", now: late })).acquired, [], "another one has them");
    },
  },
  {
    name: "repetitions: of a commit that never arrived they are that commit",
    rules: ["X5"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      const [due] = await lookedAt(store, makeSchedule());
      const answer = await again(store, {
        releases: [finish(job)],
        additions: [makeJob({ id: "added" })],
        plans: [planOf(present(due, "the schedule"))],
      });
      equal(
        [answer.releases, answer.additions, answer.plans, idsOf(answer.acquired)],
        [
          ["released"],
          [{ job: makeJob({ id: "added" }), isNew: true }],
          [{ committed: true, addedJobIds: ["job of schedule"] }],
          ["added", "job of schedule"],
        ],
        "the answer",
      );
      const schedule = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 1 });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
    },
  },
  {
    name: "repetitions: an addition is made once, leased or not, and answers as new both times",
    rules: ["X9"],
    async run({ open }) {
      const store = await open();
      const additions = [makeJob({ id: "a", idempotencyKey: "key" }), makeJob({ id: "b", runAt: T0 + 900 })];
      const [lost, answer] = await twice(store, { additions });
      for (const report of [lost, answer]) {
        equal(
          report.additions.map(({ job, isNew }) => [job.id, isNew]),
          [
            ["a", true],
            ["b", true],
          ],
          "the answers",
        );
        equal(
          report.acquired.map(({ id, fence }) => [id, fence]),
          [["a", 1]],
          "what is acquired",
        );
      }
      equal(idsOf((await store.getJobs({ limit: 10, cursor: null })).items), ["a", "b"], "the jobs");
    },
  },
  {
    name: "repetitions: an addition that stood back for another job's key stands back again",
    rules: ["X9", "A2"],
    async run({ open }) {
      const store = await open();
      const first = makeJob({ id: "first", idempotencyKey: "key" });
      await store.addJobs([first]);
      const [lost, answer] = await twice(store, {
        jobs: null,
        additions: [makeJob({ id: "second", idempotencyKey: "key" })],
      });
      equal(
        [lost.additions, answer.additions],
        [[{ job: first, isNew: false }], [{ job: first, isNew: false }]],
        "both",
      );
      equal(await store.getJob("second"), null, "the second job");
    },
  },
  {
    name: "repetitions: an addition that ran elsewhere meanwhile is not run again, whether its result is kept or not",
    rules: ["X9", "A5"],
    isAboutLostAnswers: true,
    async run({ open }) {
      const store = await open();
      const additions = [
        makeJob({ id: "kept", idempotencyKey: "a" }),
        makeJob({ id: "not kept", idempotencyKey: "b", resultExpirationMs: 0 }),
      ];
      await commit(store, { commitId: "one", limit: 0, additions });
      const { acquired } = await take(store, { by: "b" });
      const [kept, notKept] = acquired;
      const releases = [
        finish(present(kept, "the first job")),
        finish(present(notKept, "the second job"), { expiresAt: T0 }),
      ];
      await release(store, releases, { by: "b" });
      const answer = await again(store, { commitId: "one", additions, now: T0 + 590_000 });
      equal(
        answer.additions.map(({ job, isNew }) => [job.id, isNew]),
        [
          ["kept", true],
          ["not kept", true],
        ],
        "the answers",
      );
      equal(answer.acquired, [], "what is acquired");
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [], "the jobs");
    },
  },
  {
    name: "repetitions: what was recovered is recovered once",
    rules: ["X13"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "a" }), makeJob({ id: "b", maxRecoveries: 0 })]);
      await take(store, { by: "dead" });
      const late = T0 + LEASE_MS;
      const [lost, answer] = await twice(store, { now: late, recover: true });
      equal(
        [lost.recovered.map(({ jobId }) => jobId), lost.ended.map(({ jobId }) => jobId)],
        [["a"], ["b"]],
        "the lost answer",
      );
      equal([answer.recovered, answer.ended, answer.acquired], [[], [], lost.acquired], "the repetition");
      equal((await store.getJob("a"))?.recoveries, 1, "how often the job was recovered");
    },
  },
  {
    name: "repetitions: a whole commit whose answer was lost tells all of it again",
    rules: ["X5", "X3"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 3 })]);
      const done = await leasedJob(store, { id: "done" });
      const failed = await leasedJob(store, { id: "failed" });
      const due = await lookedAt(store, makeSchedule({ id: "a" }), makeSchedule({ id: "b" }));
      const fields: CommitFields = {
        releases: [finish(done), { jobId: "failed", fence: failed.fence, kind: "retry", runAt: T0, failedAttempts: 1 }],
        additions: [makeJob({ id: "added" })],
        plans: due.map((schedule) => planOf(schedule)),
        schedules: {},
      };
      const [lost, answer] = await twice(store, fields);
      equal(answer, lost, "the repetition");
      equal(idsOf(answer.acquired), ["failed", "added", "job of a"], "the jobs that it tells of");
      equal(answer.hasReady, false, "the limit of the task leaves no room");
    },
  },
  {
    name: "repetitions: a first try that arrives after its repetition was answered fires, adds and leases nothing more",
    rules: ["X6"],
    isAboutLostAnswers: true,
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { id: "first" });
      const [due] = await lookedAt(store, makeSchedule());
      const fields: CommitFields = {
        commitId: "one",
        limit: 3,
        releases: [finish(job, { expiresAt: T0 })],
        additions: [makeJob({ id: "added", resultExpirationMs: 0 })],
        plans: [planOf(present(due, "the schedule"))],
      };
      const answer = await again(store, fields);
      equal(idsOf(answer.acquired), ["added", "job of schedule"], "the repetition");
      await release(
        store,
        answer.acquired.map((acquired) => finish(acquired, { expiresAt: T0 })),
      );
      const late = await commit(store, fields);
      equal(late.plans, [{ committed: false, addedJobIds: [] }], "its plan");
      equal(late.acquired, [], "what it leases");
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [], "the jobs");
      const schedule = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 1 });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
    },
  },
];
