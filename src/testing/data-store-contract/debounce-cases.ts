import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { debounced, plain, WAIT_MS } from "./debounce-makers.ts";
import { cancel, commit, finish, idsOf, jobIds, look, makeJob, numbered, release, T0, take } from "./makers.ts";

/** What of a burst is left. */
export const debounceCases: readonly DataStoreCase[] = [
  {
    name: "debounce: of a burst, one job is left, with the last addition's values and the first one's id",
    rules: ["W1"],
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
    rules: ["W1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a", payload: "1", startDeadline: T0 + 1, metadata: { old: 1 } })]);
      const text = JSON.stringify("'\"\\\u0000\ud800\u2028\u{1f600}");
      const fields = {
        ...{ executor: "threads", payload: text, priority: -3, startDeadline: null, resultExpirationMs: 7 },
        ...{ maxRecoveries: 0, metadata: { createdAt: null, list: [1.5, { a: "\u0000" }] } },
        retry: { maxAttempts: 3, backoff: { initialMs: 10, factor: 1.5, maxMs: 1000, jitter: "none" as const } },
      };
      await store.addJobs([debounced(T0 + 9, { id: "b", ...fields })]);
      const job = makeJob({ id: "a", ...fields, createdAt: T0, runAt: T0 + 9 + WAIT_MS });
      equal(await store.getJob("a"), job, "the stored job");
    },
  },
  {
    name: "debounce: the job runs no later than its longest wait after the first addition",
    rules: ["W2"],
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
    rules: ["W1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a" })]);
      const due = T0 + WAIT_MS;
      equal((await take(store, { now: due, limit: 0 })).hasReady, true, "whether it is due");
      await store.addJobs([debounced(due, { id: "b", payload: "2" })]);
      const { acquired, hasReady, nextRunAt } = await take(store, { now: due });
      equal([acquired, hasReady, nextRunAt], [[], false, due + WAIT_MS], "what a commit finds then");
      equal(idsOf((await take(store, { now: due + WAIT_MS })).acquired), ["a"], "what it acquires later");
    },
  },
  {
    name: "debounce: a shorter pause makes the job run earlier",
    rules: ["W1"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a" })]);
      await store.addJobs([debounced(T0 + 1, { id: "b" }, { waitMs: 5 })]);
      equal((await look(store)).nextRunAt, T0 + 6, "when it runs");
    },
  },
  {
    name: "debounce: an addition that was made earlier than the last one changes nothing",
    rules: ["W3"],
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
    rules: ["W1"],
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
  {
    name: "debounce: a job that was cancelled or has ended makes room for a new one",
    rules: ["W6"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a" })]);
      await cancel(store, "a", T0 + 1);
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
    rules: ["W4"],
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
    rules: ["W4", "Q2"],
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
    rules: ["W1", "G16"],
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
    name: "debounce: a commit's addition changes the job, and the commit knows when it runs",
    rules: ["W1", "A1"],
    async run({ open }) {
      const store = await open();
      const first = await commit(store, { additions: [debounced(T0, { id: "a", payload: "1" })] });
      equal(
        [first.additions[0]?.isNew, first.acquired, first.nextRunAt],
        [true, [], T0 + WAIT_MS],
        "the commit that adds it",
      );
      const now = T0 + WAIT_MS;
      const second = await commit(store, { now, additions: [debounced(now, { id: "b", payload: "2" })] });
      const job = makeJob({ id: "a", payload: "2", runAt: now + WAIT_MS });
      equal(
        [second.additions, second.acquired, second.nextRunAt],
        [[{ job, isNew: false }], [], now + WAIT_MS],
        "the commit that changes it",
      );
      isTrue(!second.hasReady, "nothing is left to acquire");
    },
  },
];
