import type { DataStore, JobRelease, StepReport } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  finish,
  fireOf,
  idsOf,
  LEASE_MS,
  leasedJob,
  lookedAt,
  makeJob,
  makeJobs,
  makeResult,
  makeSchedule,
  makeTask,
  planOf,
  release,
  type StepFields,
  step,
  T0,
  take,
} from "./makers.ts";

/** A step whose answer is lost, and its repetition, some milliseconds later. */
async function twice(store: DataStore, fields: StepFields): Promise<[lost: StepReport, answer: StepReport]> {
  const stepId = fields.stepId ?? "scheduler-a 1#twice";
  const lost = await step(store, { ...fields, stepId });
  return [lost, await again(store, { ...fields, stepId })];
}

/** A repetition: its clock has moved on. */
function again(store: DataStore, fields: StepFields): Promise<StepReport> {
  const now = (fields.now ?? T0) + 7;
  return step(store, { stepId: "scheduler-a 1#twice", ...fields, now, isRepetition: true });
}

export const repetitionCases: readonly DataStoreCase[] = [
  {
    name: "repetitions: what the step leased is found again, with the lease that it has",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const [lost, answer] = await twice(store, { limit: 2 });
      equal(idsOf(lost.acquired), ["job-00000", "job-00001"], "what was leased");
      equal([answer.acquired, answer.hasReady], [lost.acquired, true], "the repetition");
      equal(idsOf((await take(store)).acquired), ["job-00002"], "the next step");
    },
  },
  {
    name: "repetitions: they are topped up to the limit, by what came meanwhile",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(1));
      await step(store, { stepId: "one", limit: 2 });
      await store.addJobs([makeJob({ id: "new a" }), makeJob({ id: "new b" })]);
      const { acquired, hasReady } = await again(store, { stepId: "one", limit: 2 });
      equal([idsOf(acquired).toSorted(), hasReady], [["job-00000", "new a"], true], "the repetition");
      const third = await again(store, { stepId: "one", limit: 2 });
      equal(third.acquired, acquired, "another one");
    },
  },
  {
    name: "repetitions: with a limit of 0, as at stop, they still tell what the step leased",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const lost = await step(store, { stepId: "one", limit: 2 });
      const answer = await again(store, { stepId: "one", limit: 0 });
      equal([answer.acquired, answer.hasReady], [lost.acquired, true], "the repetition");
    },
  },
  {
    name: "repetitions: they tell what the step leased also while a dead lease waits",
    async run({ open }) {
      const store = await open();
      await leasedJob(store, { id: "dead" }, { by: "b", until: T0 + 5 });
      await store.addJobs(makeJobs(2));
      const lost = await step(store, { stepId: "one", limit: 1 });
      const answer = await again(store, { stepId: "one", limit: 2 });
      equal([idsOf(lost.acquired), answer.acquired], [["job-00000"], lost.acquired], "the answers");
    },
  },
  {
    name: "repetitions: they find what was leased also after another step of the same scheduler",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(2));
      const lost = await step(store, { stepId: "one", limit: 1 });
      await step(store, { stepId: "two", limit: 1 });
      equal((await again(store, { stepId: "one", limit: 1 })).acquired, lost.acquired, "the repetition");
    },
  },
  {
    name: "repetitions: they do not tell of what has been released, recovered or extended away meanwhile",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(3));
      const { acquired } = await step(store, { stepId: "one", limit: 2 });
      await release(store, [finish(present(acquired[0], "the first job"))]);
      equal(idsOf((await again(store, { stepId: "one", limit: 1 })).acquired), ["job-00001"], "one was released");
      const late = T0 + LEASE_MS;
      await take(store, { by: "b", now: late });
      equal((await again(store, { stepId: "one", now: late })).acquired, [], "another one has them");
    },
  },
  {
    name: "repetitions: of a step that never arrived they are that step",
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
    name: "repetitions: a finished job whose result is kept was released, and its result stays as it is",
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
      equal(await store.getJob("given"), makeJob({ id: "given", fence: 1 }), "the one that was given up");
    },
  },
  {
    name: "repetitions: a job that the step put back and leased again was released, and is told as leased",
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
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      const releases: JobRelease[] = [{ jobId: "job", fence: 1, kind: "giveUp" }];
      await step(store, { stepId: "one", jobs: null, releases });
      const { acquired } = await take(store, { by: "b" });
      const answer = await again(store, { stepId: "one", jobs: null, releases });
      equal(answer.releases, ["fenced"], "the answer, which knows no better");
      equal(await store.getJob("job"), acquired[0], "the job");
      await step(store, { by: "b", jobs: null, releases: [{ jobId: "job", fence: 2, kind: "giveUp" }] });
      const late = await again(store, { stepId: "one", jobs: null, releases });
      equal(late.releases, ["fenced"], "when they have put it back as well");
      equal(await store.getJob("job"), makeJob({ fence: 2 }), "the job then");
    },
  },
  {
    name: "repetitions: put-backs that ended a job as cancelled were released",
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      await store.cancelJob("job", T0);
      const releases: JobRelease[] = [{ jobId: "job", fence: 1, kind: "giveUp" }];
      const [lost, answer] = await twice(store, { releases });
      equal([lost.releases, lost.ended[0]?.outcome], [["released"], "cancelled"], "the lost answer");
      equal([answer.releases, answer.acquired], [["released"], []], "the repetition");
    },
  },
  {
    name: "repetitions: a release that was fenced stays fenced, and one of an unknown job missing",
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
  {
    name: "repetitions: an addition is made once, leased or not, and answers as new both times",
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
    isAboutLostAnswers: true,
    async run({ open }) {
      const store = await open();
      const additions = [
        makeJob({ id: "kept", idempotencyKey: "a" }),
        makeJob({ id: "not kept", idempotencyKey: "b", resultExpirationMs: 0 }),
      ];
      await step(store, { stepId: "one", limit: 0, additions });
      const { acquired } = await take(store, { by: "b" });
      const [kept, notKept] = acquired;
      const releases = [
        finish(present(kept, "the first job")),
        finish(present(notKept, "the second job"), { expiresAt: T0 }),
      ];
      await release(store, releases, { by: "b" });
      const answer = await again(store, { stepId: "one", additions, now: T0 + 590_000 });
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
    name: "repetitions: a plan that was committed says so again, and moves the schedule once",
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ fence: 11 }));
      const [lost, answer] = await twice(store, { plans: [planOf(present(due, "the schedule"))] });
      const plans = [{ committed: true, addedJobIds: ["job of schedule"] }];
      equal([lost.plans, answer.plans], [plans, plans], "the answers");
      equal(answer.acquired, lost.acquired, "what is acquired");
      const schedule = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 12 });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
      equal((await store.getJobs({ limit: 10, cursor: null })).items.length, 1, "the number of jobs");
    },
  },
  {
    name: "repetitions: a plan without fires, one that pauses and one that exhausts say again that they counted",
    async run({ open }) {
      const store = await open();
      const due = await lookedAt(
        store,
        makeSchedule({ id: "a" }),
        makeSchedule({ id: "b" }),
        makeSchedule({ id: "c" }),
      );
      const [a, b, c] = due.map((schedule) => present(schedule, "a schedule"));
      const plans = [
        planOf(present(a, "a"), { fires: [], nextFireTime: T0 }),
        planOf(present(b, "b"), { fires: [], paused: true, nextFireTime: T0 }),
        planOf(present(c, "c"), { nextFireTime: null }),
      ];
      const [lost, answer] = await twice(store, { jobs: null, plans });
      const expected = [
        { committed: true, addedJobIds: [] },
        { committed: true, addedJobIds: [] },
        { committed: true, addedJobIds: ["job of c"] },
      ];
      equal([lost.plans, answer.plans], [expected, expected], "the answers");
      equal((await store.getSchedule("a"))?.fence, 1, "the fence of the first");
    },
  },
  {
    name: "repetitions: a plan that did not count is not said to have counted, since another step's did",
    async run(context) {
      const [first, second] = await openTwo(context);
      const [due] = await lookedAt(first, makeSchedule());
      const schedule = present(due, "the schedule");
      const theirs = planOf(schedule, { fires: [fireOf("schedule", T0, { jobId: "theirs" })] });
      await step(second, { by: "b", stepId: "b 1#1", jobs: null, plans: [theirs] });
      const [lost, answer] = await twice(first, { jobs: null, plans: [planOf(schedule)] });
      const refused = [{ committed: false, addedJobIds: [] }];
      equal([lost.plans, answer.plans], [refused, refused], "the answers");
      equal(idsOf((await first.getJobs({ limit: 10, cursor: null })).items), ["theirs"], "the jobs");
    },
  },
  {
    name: "repetitions: when others have moved the schedule on since, its jobs are still named, and it stays theirs",
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const plans = [planOf(present(due, "the schedule"))];
      const lost = await step(store, { stepId: "one", plans });
      await store.updateSchedule("schedule", { priority: 3 });
      const answer = await again(store, { stepId: "one", plans });
      equal(
        [answer.plans[0]?.addedJobIds, answer.acquired],
        [["job of schedule"], lost.acquired],
        "what the repetition tells",
      );
      const schedule = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, priority: 3, fence: 2 });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
    },
  },
  {
    name: "repetitions: of a schedule that was removed since, nothing comes back",
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const plans = [planOf(present(due, "the schedule"))];
      const lost = await step(store, { stepId: "one", plans });
      await store.removeSchedule("schedule");
      const answer = await again(store, { stepId: "one", plans });
      equal(
        [answer.plans, answer.acquired],
        [[{ committed: false, addedJobIds: ["job of schedule"] }], lost.acquired],
        "the answer",
      );
      equal(await store.getSchedule("schedule"), null, "the schedule");
    },
  },
  {
    name: "repetitions: a plan's job that ran elsewhere meanwhile is neither made nor named again",
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule({ resultExpirationMs: 0 }));
      const plans = [planOf(present(due, "the schedule"))];
      await step(store, { stepId: "one", limit: 0, plans });
      const { acquired } = await take(store, { by: "b" });
      await release(store, [finish(present(acquired[0], "the job"), { expiresAt: T0 })], { by: "b" });
      const answer = await again(store, { stepId: "one", plans });
      equal([answer.plans, answer.acquired], [[{ committed: true, addedJobIds: [] }], []], "the answer");
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [], "the jobs");
    },
  },
  {
    name: "repetitions: of several plans of one schedule the first alone is said to have counted",
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const schedule = present(due, "the schedule");
      const second = planOf(schedule, { fires: [fireOf("schedule", T0 + 1, { jobId: "second" })] });
      const [, answer] = await twice(store, { jobs: null, plans: [planOf(schedule), second] });
      equal(
        answer.plans,
        [
          { committed: true, addedJobIds: ["job of schedule"] },
          { committed: false, addedJobIds: [] },
        ],
        "the answer",
      );
    },
  },
  {
    name: "repetitions: what was recovered is recovered once",
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
    name: "repetitions: a whole step whose answer was lost tells all of it again",
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 3 })]);
      const done = await leasedJob(store, { id: "done" });
      const failed = await leasedJob(store, { id: "failed" });
      const due = await lookedAt(store, makeSchedule({ id: "a" }), makeSchedule({ id: "b" }));
      const fields: StepFields = {
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
    isAboutLostAnswers: true,
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { id: "first" });
      const [due] = await lookedAt(store, makeSchedule());
      const fields: StepFields = {
        stepId: "one",
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
      const late = await step(store, fields);
      equal(late.plans, [{ committed: false, addedJobIds: [] }], "its plan");
      equal(late.acquired, [], "what it leases");
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [], "the jobs");
      const schedule = makeSchedule({ nextFireTime: T0 + 1000, lastFireTime: T0, fence: 1 });
      equal(await store.getSchedule("schedule"), schedule, "the schedule");
    },
  },
];
