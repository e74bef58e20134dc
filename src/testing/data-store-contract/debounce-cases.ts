import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase, DataStoreContext } from "./contract-case.ts";
import { heldIds, keyed, putTask, takenIds, tenASecond } from "./flow-makers.ts";
import { finish, idsOf, LEASE_MS, leasedJob, look, makeJob, numbered, release, step, T0, take } from "./makers.ts";
import { again, twice } from "./repeat.ts";

/** How long the debounced jobs of the cases wait after the last addition, in milliseconds. */
const WAIT_MS = 1000;

/** A queue without jobs: a step that asks for it promotes jobs, and acquires none. */
const NOBODYS = { executor: "none", taskId: "task" };

export const debounceCases: readonly DataStoreCase[] = [
  {
    name: "debounce: of a burst, one job is left, with the last addition's values and the first one's id",
    async run({ open }) {
      const store = await open();
      const answers = [];
      for (const [index, payload] of ["1", "2", "3"].entries()) {
        const fields = { id: `job-${payload}`, payload, priority: index, metadata: { index } };
        answers.push(...(await store.addJobs([debounced(T0 + 400 * index, fields)])));
      }
      const last = makeJob({
        ...{ id: "job-1", payload: "3", priority: 2, metadata: { index: 2 } },
        runAt: T0 + 800 + WAIT_MS,
      });
      equal(
        answers.map(({ job, isNew }) => [job.id, job.payload, job.runAt, isNew]),
        [
          ["job-1", "1", T0 + WAIT_MS, true],
          ["job-1", "2", T0 + 400 + WAIT_MS, false],
          ["job-1", "3", T0 + 800 + WAIT_MS, false],
        ],
        "the answers",
      );
      equal(answers[2]?.job, last, "the last answer");
      equal(await store.getJob("job-1"), last, "the stored job");
      equal(await jobIds(store), ["job-1"], "all jobs");
    },
  },
  {
    name: "debounce: the last addition decides about every setting of the job, and its text comes back as it was",
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a", payload: "1", startDeadline: T0 + 1, metadata: { old: 1 } })]);
      const text = JSON.stringify("'\"\\\u0000\ud800\u2028\u{1f600}");
      const fields = {
        ...{ executor: "threads", payload: text, priority: -3, startDeadline: null, resultExpirationMs: 7 },
        ...{ maxRecoveries: 0, metadata: { createdAt: null, list: [1.5, { a: "\u0000" }] } },
      };
      await store.addJobs([debounced(T0 + 9, { id: "b", ...fields })]);
      const job = makeJob({ id: "a", ...fields, createdAt: T0, runAt: T0 + 9 + WAIT_MS });
      equal(await store.getJob("a"), job, "the stored job");
    },
  },
  {
    name: "debounce: the job runs no later than its longest wait after the first addition",
    async run({ open }) {
      const store = await open();
      const runAts = [];
      for (const after of [0, 900, 1800, 2600]) {
        const { id } = makeJob({ id: `job-${after}` });
        const [answer] = await store.addJobs([debounced(T0 + after, { id, payload: `${after}` }, { maxWaitMs: 2500 })]);
        runAts.push(present(answer, "an answer").job.runAt - T0);
      }
      equal(runAts, [1000, 1900, 2500, 2500], "when it runs");
      equal((await look(store, { now: T0 + 2400 })).hasReady, true, "whether the last addition left it due");
      equal((await take(store, { now: T0 + 2600 })).acquired[0]?.payload, "2600", "what runs");
    },
  },
  {
    name: "debounce: a job that is due and that nobody has acquired yet waits again",
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a" })]);
      const due = T0 + WAIT_MS;
      equal((await take(store, { now: due, limit: 0 })).hasReady, true, "whether it is due");
      await store.addJobs([debounced(due, { id: "b", payload: "2" })]);
      const { acquired, hasReady, nextRunAt } = await take(store, { now: due });
      equal([acquired, hasReady, nextRunAt], [[], false, due + WAIT_MS], "what a step finds then");
      equal(idsOf((await take(store, { now: due + WAIT_MS })).acquired), ["a"], "what it acquires later");
    },
  },
  {
    name: "debounce: a shorter pause makes the job run earlier",
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a" })]);
      await store.addJobs([debounced(T0 + 1, { id: "b" }, { waitMs: 5 })]);
      equal((await look(store)).nextRunAt, T0 + 6, "when it runs");
    },
  },
  {
    name: "debounce: an addition that was made earlier than the last one changes nothing",
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a", payload: "1" })]);
      await store.addJobs([debounced(T0 + 20, { id: "c", payload: "3" })]);
      const job = makeJob({ id: "a", payload: "3", runAt: T0 + 20 + WAIT_MS });
      // In one millisecond, the ids tell which is the last.
      for (const late of [debounced(T0 + 10, { id: "d", payload: "2" }), debounced(T0 + 20, { id: "b" })]) {
        equal(await store.addJobs([late]), [{ job, isNew: false }], "the answer to a late addition");
      }
      await store.addJobs([debounced(T0 + 20, { id: "e", payload: "5" })]);
      equal((await store.getJob("a"))?.payload, "5", "the payload after another one in the same millisecond");
    },
  },
  {
    name: "debounce: each task has keys of its own, and jobs without a key stand by themselves",
    async run({ open }) {
      const store = await open();
      const jobs = [
        debounced(T0, { id: "a" }),
        debounced(T0, { id: "b", taskId: "other" }),
        debounced(T0, { id: "c" }, { key: "other" }),
        makeJob({ id: "d" }),
        makeJob({ id: "e", idempotencyKey: "key" }),
      ];
      const answers = await store.addJobs(jobs);
      equal(
        answers.map(({ job, isNew }) => [job, isNew]),
        jobs.map((job) => [plain(job), true]),
        "the answers",
      );
      equal(await jobIds(store), ["a", "b", "c", "d", "e"], "the jobs");
    },
  },
  ...(["retry", "giveUp", "loss", "stray"] as const).map((how) => ({
    name: `debounce: a job that was acquired counts no more, and a new burst makes a new job (${how})`,
    async run({ open }: DataStoreContext): Promise<void> {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a", payload: "1" })]);
      const due = T0 + WAIT_MS;
      const held = present((await take(store, { now: due })).acquired[0], "the job is acquired");
      const [second] = await store.addJobs([debounced(due, { id: "b", payload: "2" })]);
      equal([second?.job.id, second?.isNew], ["b", true], "the answer while the first runs");
      await putBack(store, held, how, due);
      const [third] = await store.addJobs([debounced(due + 1, { id: "c", payload: "3" })]);
      equal([third?.job.id, third?.isNew], ["b", false], "the answer while the first waits");
      equal(
        (await store.getJobs({ limit: 9, cursor: null })).items.map(({ id, payload }) => [id, payload]),
        [
          ["a", "1"],
          ["b", "3"],
        ],
        "the jobs",
      );
      const late = due + LEASE_MS + WAIT_MS;
      equal(idsOf((await take(store, { now: late })).acquired).toSorted(), ["a", "b"], "what runs");
    },
  })),
  {
    name: "debounce: a job that was cancelled or has ended makes room for a new one",
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a" })]);
      await store.cancelJob("a", T0 + 1);
      const [second] = await store.addJobs([debounced(T0 + 2, { id: "b" })]);
      equal([second?.job.id, second?.isNew], ["b", true], "after a cancellation");
      const now = T0 + 2 + WAIT_MS;
      const [job] = (await take(store, { now })).acquired;
      await release(store, [finish(present(job, "the second job"))], { now });
      const [third] = await store.addJobs([debounced(now, { id: "c" })]);
      equal([third?.job.id, third?.isNew], ["c", true], "after an end");
    },
  },
  {
    name: "debounce: in one call the last payload wins, and every answer is the job as the call left it",
    async run({ open }) {
      const store = await open();
      const call = ["1", "2", "3"].map((payload) => debounced(T0, { id: `job-${payload}`, payload }));
      const job = makeJob({ id: "job-1", payload: "3", runAt: T0 + WAIT_MS });
      const answers = [true, false, false].map((isNew) => ({ job, isNew }));
      equal(await store.addJobs(call), answers, "the answers");
      equal(await jobIds(store), ["job-1"], "the jobs");
    },
  },
  {
    name: "debounce: among others in one call, jobs are acquired in the order of addition",
    async run({ open }) {
      const store = await open();
      const call = [
        makeJob({ id: "a", runAt: T0 + WAIT_MS }),
        debounced(T0, { id: "b", payload: "1" }),
        makeJob({ id: "c", runAt: T0 + WAIT_MS, idempotencyKey: "k" }),
        debounced(T0, { id: "d", payload: "2" }),
        makeJob({ id: "e", runAt: T0 + WAIT_MS, idempotencyKey: "k" }),
        makeJob({ id: "f", runAt: T0 + WAIT_MS, resultExpirationMs: 0 }),
      ];
      equal(
        (await store.addJobs(call)).map(({ job, isNew }) => [job.id, isNew]),
        [
          ["a", true],
          ["b", true],
          ["c", true],
          ["b", false],
          ["c", false],
          ["f", true],
        ],
        "the answers",
      );
      const { acquired } = await take(store, { now: T0 + WAIT_MS });
      equal(
        acquired.map(({ id, payload }) => [id, payload]),
        [
          ["a", null],
          ["b", "2"],
          ["c", null],
          ["f", null],
        ],
        "what is acquired",
      );
    },
  },
  {
    name: "debounce: many calls at once leave one job for each key, with its last payload",
    async run({ open }) {
      const store = await open();
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) => {
          const fields = { id: numbered("job", index), payload: `${index}` };
          return store.addJobs([debounced(T0, fields, { key: `key-${index % 3}` }), makeJob({ id: `plain-${index}` })]);
        }),
      );
      equal(
        answers.map(([first, second]) => [first?.job.id, first?.isNew, second?.job.id]),
        Array.from({ length: 60 }, (_, index) => [numbered("job", index % 3), index < 3, `plain-${index}`]),
        "the answers",
      );
      const { acquired } = await take(store, { now: T0 + WAIT_MS });
      equal(
        acquired.filter(({ id }) => id.startsWith("job")).map(({ id, payload }) => [id, payload]),
        [57, 58, 59].map((last, index) => [numbered("job", index), `${last}`]),
        "what runs",
      );
    },
  },
  {
    name: "debounce: a step's addition changes the job, and the step knows when it runs",
    async run({ open }) {
      const store = await open();
      const first = await step(store, { additions: [debounced(T0, { id: "a", payload: "1" })] });
      equal(
        [first.additions[0]?.isNew, first.acquired, first.nextRunAt],
        [true, [], T0 + WAIT_MS],
        "the step that adds it",
      );
      const now = T0 + WAIT_MS;
      const second = await step(store, { now, additions: [debounced(now, { id: "b", payload: "2" })] });
      const job = makeJob({ id: "a", payload: "2", runAt: now + WAIT_MS });
      equal(
        [second.additions, second.acquired, second.nextRunAt],
        [[{ job, isNew: false }], [], now + WAIT_MS],
        "the step that changes it",
      );
      isTrue(!second.hasReady, "nothing is left to acquire");
    },
  },
  {
    name: "debounce: a step whose answer was lost adds and changes nothing twice",
    async run({ open }) {
      const store = await open();
      const additions = [debounced(T0, { id: "a", payload: "1" }), debounced(T0, { id: "b", payload: "2" })];
      const [lost, answer] = await twice(store, { additions });
      const job = makeJob({ id: "a", payload: "2", runAt: T0 + WAIT_MS });
      const answers = [
        { job, isNew: true },
        { job, isNew: false },
      ];
      equal([lost.additions, answer.additions], [answers, answers], "the answers");
      equal(await jobIds(store), ["a"], "the jobs");
    },
  },
  {
    name: "debounce: an addition that is repeated late does not override a newer one",
    async run({ open }) {
      const store = await open();
      const first = [debounced(T0, { id: "a", payload: "1" })];
      const second = [debounced(T0, { id: "b", payload: "2" })];
      await step(store, { stepId: "one", additions: first });
      await step(store, { stepId: "two", additions: second });
      await store.addJobs([debounced(T0 + 1, { id: "c", payload: "3" })]);
      const job = makeJob({ id: "a", payload: "3", runAt: T0 + 1 + WAIT_MS });
      const [one] = (await again(store, { stepId: "one", additions: first })).additions;
      const [two] = (await again(store, { stepId: "two", additions: second })).additions;
      equal(
        [one, two],
        [
          { job, isNew: true },
          { job, isNew: false },
        ],
        "the answers",
      );
      equal(await store.getJob("a"), job, "the job");
    },
  },
  {
    name: "debounce: an addition that is repeated after its job was acquired leaves the next burst alone",
    async run({ open }) {
      const store = await open();
      const first = debounced(T0, { id: "a", payload: "1" });
      await store.addJobs([first]);
      const now = T0 + WAIT_MS;
      const [held] = (await take(store, { now })).acquired;
      await store.addJobs([debounced(now, { id: "c", payload: "3" })]);
      equal(
        (await store.addJobs([first])).map(({ job, isNew }) => [job.id, isNew]),
        [["a", true]],
        "the answer while the job runs",
      );
      await release(store, [finish(present(held, "the first job"))], { now });
      equal(
        (await store.addJobs([first])).map(({ job, isNew }) => [job.id, isNew]),
        [["a", true]],
        "the answer after its end",
      );
      const next = makeJob({ id: "c", payload: "3", createdAt: now, runAt: now + WAIT_MS });
      equal((await store.getJobs({ limit: 9, cursor: null })).items, [next], "the jobs");
    },
  },
  {
    name: "debounce: a job that waits for its parents gets the values of the last addition, and waits on",
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      const after = { after: ["parent"], onParentFailure: "run" } as const;
      const first = debounced(T0, { id: "a", payload: "1", ...after }, { waitMs: 0 });
      const answers = await store.addJobs([first, debounced(T0, { id: "b", payload: "2" }, { waitMs: 0 })]);
      answers.push(...(await store.addJobs([debounced(T0 + 1, { id: "c", payload: "3" }, { waitMs: 0 })])));
      const held = makeJob({ id: "a", heldBy: "parents", ...after });
      equal(
        answers,
        [
          { job: { ...held, payload: "2" }, isNew: true },
          { job: { ...held, payload: "2" }, isNew: false },
          { job: { ...held, payload: "3", runAt: T0 + 1 }, isNew: false },
        ],
        "the answers",
      );
      const early = await take(store, { now: T0 + 1 });
      equal([early.acquired, early.hasReady, early.nextRunAt], [[], false, null], "while the parent runs");
      const { acquired } = await take(store, { now: T0 + 1, releases: [finish(parent, { outcome: "error" })] });
      equal(
        acquired.map(({ id, payload, after: parents }) => [id, payload, parents]),
        [["a", "3", ["parent"]]],
        "when it has ended",
      );
    },
  },
  {
    name: "debounce: a job that its key holds is held with the values of the last addition, or waits again",
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const running = await leasedJob(store, keyed("running", "k"));
      const ofKey = { concurrencyKey: "k" };
      const now = { waitMs: 0 };
      await store.addJobs([debounced(T0, { id: "a", ...ofKey }, now), keyed("other", "k")]);
      await take(store);
      await store.addJobs([debounced(T0 + 1, { id: "b", payload: "2", priority: -1, ...ofKey }, now)]);
      equal((await take(store, { now: T0 + 1 })).acquired, [], "while another job of the key runs");
      equal(await heldIds(store), ["a", "other"], "the held jobs");
      const second = await take(store, { now: T0 + 1, releases: [finish(running)] });
      equal(idsOf(second.acquired), ["other"], "the job that now comes first");
      await store.addJobs([debounced(T0 + 2, { id: "c", payload: "3", ...ofKey })]);
      const releases = [finish(present(second.acquired[0], "the other job"))];
      const third = await take(store, { now: T0 + 2, releases });
      equal([third.acquired, third.hasReady, third.nextRunAt], [[], false, T0 + 2 + WAIT_MS], "while it waits");
      const { acquired } = await take(store, { now: T0 + 2 + WAIT_MS });
      equal(
        acquired.map(({ id, payload }) => [id, payload]),
        [["a", "3"]],
        "when it is due",
      );
    },
  },
  ...[
    { what: "of a key", settings: { maxRunningPerKey: 1 }, key: { concurrencyKey: "k" } },
    { what: "without a key in a task with a rate", settings: tenASecond(), key: {} },
  ].map(({ what, settings, key }) => ({
    name: `debounce: a job ${what} that was promoted and waits again leaves its place to others`,
    async run({ open }: DataStoreContext): Promise<void> {
      const store = await open();
      await putTask(store, settings);
      const first = debounced(T0, { id: "a", ...key }, { waitMs: 0 });
      await store.addJobs([first, makeJob({ id: "next", ...key })]);
      equal(idsOf((await take(store, { queues: [NOBODYS] })).acquired), [], "what nobody acquires");
      equal(await heldIds(store), ["next"], "the held job");
      await store.addJobs([debounced(T0 + 1, { id: "b", ...key })]);
      equal((await look(store, { now: T0 + 1 })).hasReady, true, "whether a look finds the other job");
      equal(await takenIds(store, { now: T0 + 1 }), ["next"], "what is acquired");
    },
  })),
  {
    name: "debounce: a job that was promoted and gets another key leaves its place, and takes one of the other key",
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const now = { waitMs: 0 };
      await store.addJobs([debounced(T0, { id: "a", concurrencyKey: "k" }, now), keyed("next", "k")]);
      await take(store, { queues: [NOBODYS] });
      await store.addJobs([debounced(T0 + 1, { id: "b", concurrencyKey: "l" }, now), keyed("other", "l")]);
      equal((await look(store, { now: T0 + 1 })).hasReady, true, "whether a look finds the jobs");
      equal(await takenIds(store, { now: T0 + 1 }), ["next", "other"], "what is acquired");
      equal(await heldIds(store), ["a"], "the held job");
    },
  },
  ...[0, 60_000].map((resultExpirationMs) => ({
    name: `debounce: a repeated addition whose job has ended starts nothing (kept for ${resultExpirationMs} ms)`,
    isAboutLostAnswers: true as const,
    async run({ open }: DataStoreContext): Promise<void> {
      const store = await open();
      const second = debounced(T0 + 1, { id: "b", payload: "2", resultExpirationMs });
      await store.addJobs([debounced(T0, { id: "a", payload: "1", resultExpirationMs })]);
      await store.addJobs([second]);
      const now = T0 + 1 + WAIT_MS;
      const held = present((await take(store, { now })).acquired[0], "the job");
      equal(await store.addJobs([second]), [{ job: held, isNew: false }], "the answer while it runs");
      await release(store, [finish(held, { expiresAt: now + resultExpirationMs })], { now });
      await store.addJobs([debounced(now, { id: "c" })]);
      equal(
        (await store.addJobs([second])).map(({ job, isNew, hasEnded }) => [job.id, isNew, hasEnded]),
        [["a", false, true]],
        "the answer after its end",
      );
      equal(await jobIds(store), ["c"], "the jobs");
    },
  })),
];

/** A job of a burst that is added at `createdAt`. */
function debounced(
  createdAt: number,
  fields: Partial<JobRecord>,
  { key = "key", waitMs = WAIT_MS, maxWaitMs = null }: Partial<NonNullable<NewJobRecord["debounce"]>> = {},
): NewJobRecord {
  return { ...makeJob({ createdAt, runAt: createdAt + waitMs, ...fields }), debounce: { key, waitMs, maxWaitMs } };
}

function plain({ debounce: _debounce, ...job }: NewJobRecord): JobRecord {
  return job;
}

async function jobIds(store: DataStore): Promise<string[]> {
  return idsOf((await store.getJobs({ limit: 100, cursor: null })).items);
}

/** Puts an acquired job back, in one of the ways in which that happens. */
async function putBack(
  store: DataStore,
  { id: jobId, fence }: JobRecord,
  how: "retry" | "giveUp" | "loss" | "stray",
  now: number,
): Promise<void> {
  if (how === "retry") {
    await release(store, [{ jobId, fence, kind: "retry", runAt: now + 5, failedAttempts: 1 }], { now });
  } else if (how === "giveUp") {
    await release(store, [{ jobId, fence, kind: "giveUp" }], { now });
  } else if (how === "loss") {
    await step(store, { by: "b", now: now + LEASE_MS, recover: true, jobs: null });
  } else {
    const incarnation = "scheduler-a 1#";
    const extension = { schedulerId: "scheduler-a", incarnation, settledStepId: `${incarnation}~`, jobs: [] };
    await store.extendLeases({ ...extension, now, until: now + LEASE_MS, aliveUntil: null });
  }
}
