import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobAddition } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase, DataStoreContext } from "./contract-case.ts";
import { cancel, commit, finish, idsOf, jobIds, look, makeJob, numbered, release, T0, take } from "./makers.ts";
import { again } from "./repeat.ts";

/** How long the windows of the cases last, in milliseconds. */
const PER_MS = 1000;

export const onceCases: readonly DataStoreCase[] = [
  {
    name: "once: while a window lasts, the job that opened it stands for every other addition",
    rules: ["W8"],
    async run({ open }) {
      const store = await open();
      const first = once(T0, { id: "a", payload: "1" });
      equal(await store.addJobs([first]), [{ job: plain(first), isNew: true }], "the first answer");
      equal(await store.getJob("a"), plain(first), "the stored job");
      const late = once(T0 + PER_MS - 1, { id: "b", payload: "2" });
      equal(await store.addJobs([late]), [{ job: plain(first), isNew: false }], "the answer while it lasts");
      const next = once(T0 + PER_MS, { id: "c", payload: "3" });
      equal(await store.addJobs([next]), [{ job: plain(next), isNew: true }], "the answer when it is over");
      const last = once(T0 + PER_MS + 1, { id: "d" });
      equal(await store.addJobs([last]), [{ job: plain(next), isNew: false }], "the answer in the next window");
      equal(await jobIds(store), ["a", "c"], "the jobs");
    },
  },
  ...[0, 60_000].map((resultExpirationMs) => ({
    name: `once: a window lasts on after the end of its job (whose result is kept ${resultExpirationMs} ms)`,
    rules: ["W9"],
    async run({ open }: DataStoreContext): Promise<void> {
      const store = await open();
      await store.addJobs([once(T0, { id: "a", resultExpirationMs })]);
      const job = present((await take(store)).acquired[0], "the job");
      equal(
        (await store.addJobs([once(T0 + 1, { id: "b" })])).map(answerOf),
        [["a", false, false]],
        "the answer while the job runs",
      );
      await release(store, [finish(job, { expiresAt: T0 + resultExpirationMs })]);
      equal(
        (await store.addJobs([once(T0 + 2, { id: "c" })])).map(answerOf),
        [["a", false, true]],
        "the answer after the job's end",
      );
      equal(await jobIds(store), [], "the jobs");
    },
  })),
  {
    name: "once: a window lasts on after the cancellation of its job",
    rules: ["W9"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([once(T0, { id: "a" })]);
      await cancel(store, "a", T0);
      equal((await store.addJobs([once(T0 + 1, { id: "b" })])).map(answerOf), [["a", false, true]], "the answer");
    },
  },
  {
    name: "once: each task, kind and key has a window of its own, and other additions pass by it",
    rules: ["W8"],
    async run({ open }) {
      const store = await open();
      const call = [
        once(T0, { id: "a" }),
        once(T0, { id: "b", taskId: "other" }),
        once(T0, { id: "c", idempotencyKey: "key" }, { kind: "unique" }),
        once(T0, { id: "d" }, { key: "other" }),
        makeJob({ id: "e" }),
      ];
      equal(
        await store.addJobs(call),
        call.map((job) => ({ job: plain(job), isNew: true })),
        "the answers",
      );
      equal(
        (await store.addJobs(call.map((job) => ({ ...job, id: `${job.id}-2` })))).map(answerOf),
        [
          ["a", false, false],
          ["b", false, false],
          ["c", false, false],
          ["d", false, false],
          ["e-2", true, false],
        ],
        "the answers to the same once more",
      );
    },
  },
  {
    name: "once: a window that is over lets a job in beside the one that opened it",
    rules: ["W9"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([once(T0, { id: "a", runAt: T0 + 60_000 })]);
      await store.addJobs([once(T0 + PER_MS, { id: "b" })]);
      equal(await jobIds(store), ["a", "b"], "the jobs");
    },
  },
  {
    name: "once: an idempotency key stays taken for as long as its window lasts",
    rules: ["W8", "A2"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([unique(T0, { id: "a" })]);
      const job = present((await take(store)).acquired[0], "the job");
      await release(store, [finish(job)]);
      equal((await store.addJobs([unique(T0 + 1, { id: "b" })])).map(answerOf), [["a", false, true]], "within it");
      equal(
        (await store.addJobs([unique(T0 + PER_MS, { id: "c" })])).map(answerOf),
        [["c", true, false]],
        "after it, when the job has ended",
      );
      equal(
        (await store.addJobs([unique(T0 + 2 * PER_MS, { id: "d" })])).map(answerOf),
        [["c", false, false]],
        "after it, when the job has not ended",
      );
    },
  },
  {
    name: "once: an addition that stands back for an unfinished job with its idempotency key opens no window",
    rules: ["W10"],
    async run({ open }) {
      const store = await open();
      const holder = makeJob({ id: "a", idempotencyKey: "key" });
      await store.addJobs([holder]);
      equal(await store.addJobs([unique(T0, { id: "b" })]), [{ job: holder, isNew: false }], "the answer");
      const job = present((await take(store)).acquired[0], "the job");
      await release(store, [finish(job)]);
      equal((await store.addJobs([unique(T0 + 1, { id: "c" })])).map(answerOf), [["c", true, false]], "the next one");
    },
  },
  {
    name: "once: in one call the first wins, whatever holds its idempotency key",
    rules: ["W8"],
    async run({ open }) {
      const store = await open();
      const call = [
        once(T0, { id: "a", payload: "1" }),
        makeJob({ id: "b", idempotencyKey: "key" }),
        once(T0, { id: "c", payload: "2" }),
        unique(T0, { id: "d" }),
        unique(T0, { id: "e", idempotencyKey: "free" }),
        makeJob({ id: "f", idempotencyKey: "free" }),
        once(T0, { id: "g", idempotencyKey: "free" }, { key: "third" }),
      ];
      equal(
        (await store.addJobs(call)).map(answerOf),
        [
          ["a", true, false],
          ["b", true, false],
          ["a", false, false],
          ["b", false, false],
          ["e", true, false],
          ["e", false, false],
          ["e", false, false],
        ],
        "the answers",
      );
      equal((await store.getJob("a"))?.payload, "1", "the payload");
      const { acquired } = await take(store);
      equal(idsOf(acquired), ["a", "b", "e"], "what is acquired, in the order of addition");
      await release(
        store,
        acquired.map((job) => finish(job)),
      );
      equal(
        (await store.addJobs(call.map((job) => ({ ...job, id: `${job.id}-2`, createdAt: T0 + 1 })))).map(answerOf),
        [
          ["a", false, true],
          ["b-2", true, false],
          ["a", false, true],
          ["b-2", false, false],
          ["e", false, true],
          ["f-2", true, false],
          ["f-2", false, false],
        ],
        "the answers after the end of all: what was not added opened no window",
      );
    },
  },
  {
    name: "once: windows that end within one call let the next job in",
    rules: ["W9"],
    async run({ open }) {
      const store = await open();
      const times = [0, 500, 1000, 1500, 2000, 900];
      const call = times.map((ms, index) => once(T0 + ms, { id: numbered("job", index), runAt: T0 }));
      equal(
        (await store.addJobs(call)).map(({ isNew }) => isNew),
        [true, false, true, false, true, false],
        "which are new",
      );
      equal(
        idsOf((await take(store)).acquired),
        [0, 2, 4].map((index) => numbered("job", index)),
        "the jobs",
      );
    },
  },
  {
    name: "once: many calls at once add one job for each window",
    rules: ["W8", "G16"],
    async run({ open }) {
      const store = await open();
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          store.addJobs([
            once(T0, { id: numbered("job", index) }, { key: `key-${index % 3}` }),
            makeJob({ id: `plain-${index}` }),
          ]),
        ),
      );
      equal(
        answers.map(([first, second]) => [first?.job.id, first?.isNew, second?.job.id]),
        Array.from({ length: 60 }, (_, index) => [numbered("job", index % 3), index < 3, `plain-${index}`]),
        "the answers",
      );
      equal((await jobIds(store)).length, 63, "the number of jobs");
    },
  },
  {
    name: "once: a commit adds and leases the first, and answers for the others",
    rules: ["W8", "A1"],
    async run({ open }) {
      const store = await open();
      const additions = [once(T0, { id: "a" }), once(T0, { id: "b" })];
      const report = await commit(store, { commitId: "one", additions });
      equal([report.additions.map(answerOf), idsOf(report.acquired)], [ANSWERS, ["a"]], "the commit");
      const repeated = await again(store, { commitId: "one", additions });
      equal([repeated.additions.map(answerOf), idsOf(repeated.acquired)], [ANSWERS, ["a"]], "its repetition");
      const next = await commit(store, { additions: [once(T0 + 1, { id: "c" })] });
      equal([next.additions.map(answerOf), next.acquired], [[["a", false, false]], []], "the next commit");
    },
  },
  {
    name: "once: repeated additions are not made again, even if another window was opened since",
    rules: ["W11"],
    async run({ open }) {
      const store = await open();
      const first = once(T0, { id: "a" });
      const second = once(T0 + 1, { id: "b" });
      await store.addJobs([first, second]);
      const job = present((await take(store)).acquired[0], "the job");
      await release(store, [finish(job)]);
      equal((await store.addJobs([first])).map(answerOf), [["a", true, false]], "the first, in its window");
      await store.addJobs([once(T0 + PER_MS, { id: "c" })]);
      equal((await store.addJobs([first])).map(answerOf), [["a", true, false]], "the first, in the next window");
      equal(
        (await store.addJobs([second])).map(({ isNew }) => isNew),
        [false],
        "the second, in the next window",
      );
      equal(await jobIds(store), ["c"], "the jobs");
      const late = T0 + 60_000;
      await store.cleanup({ now: late, limit: 10 });
      equal(
        (await store.addJobs([second])).map(({ isNew }) => isNew),
        [false],
        "the second, after a clean-up",
      );
      equal(await jobIds(store), ["c"], "the jobs after it");
    },
  },
  {
    name: "once: a repeated addition whose result is not kept is not made again",
    rules: ["W11"],
    isAboutLostAnswers: true,
    async run({ open }) {
      const store = await open();
      const first = once(T0, { id: "a", resultExpirationMs: 0 });
      await store.addJobs([first]);
      const job = present((await take(store)).acquired[0], "the job");
      await release(store, [finish(job, { expiresAt: T0 })]);
      for (const meanwhile of [[], [once(T0 + PER_MS, { id: "b" })]]) {
        await store.addJobs(meanwhile);
        equal((await store.addJobs([first])).map(answerOf), [["a", true, false]], "the answer");
        equal(await jobIds(store), idsOf(meanwhile), "the jobs");
      }
    },
  },
  {
    name: "once: a clean-up removes windows long after their ends, at most as many as it is told",
    rules: ["W12"],
    async run({ open }) {
      const store = await open();
      const call = Array.from({ length: 5 }, (_, index) =>
        once(T0 + index, { id: `job-${index}` }, { key: `key-${index}` }),
      );
      await store.addJobs([...call, once(T0, { id: "lasting" }, { key: "lasting", until: T0 + 86_400_000 })]);
      const cleanUps = [];
      for (const now of [T0 + PER_MS + 10, T0 + 3_600_000, T0 + 3_600_000, T0 + 3_600_000]) {
        const { hasExpired } = await look(store, { now, asksForExpired: true });
        cleanUps.push([hasExpired, (await store.cleanup({ now, limit: 3 })).removedWindows ?? 0]);
      }
      const expected = [
        [false, 0],
        [true, 3],
        [true, 2],
        [false, 0],
      ];
      equal(cleanUps, expected, "whether there are any to remove, and how many were removed");
      equal(
        (await store.addJobs([once(T0 + 3_600_000, { id: "x" }, { key: "lasting" })])).map(answerOf),
        [["lasting", false, false]],
        "the answer in the window that lasts",
      );
    },
  },
];

const ANSWERS = [
  ["a", true, false],
  ["a", false, false],
];

/** A job that is added at `createdAt`, once in a time. */
function once(
  createdAt: number,
  fields: Partial<JobRecord>,
  { kind = "throttle", key = "key", until = createdAt + PER_MS }: Partial<NonNullable<NewJobRecord["once"]>> = {},
): NewJobRecord {
  return { ...makeJob({ createdAt, runAt: createdAt, ...fields }), once: { kind, key, until } };
}

/** As `uniqueFor` adds it. */
function unique(createdAt: number, fields: Partial<JobRecord>): NewJobRecord {
  const idempotencyKey = fields.idempotencyKey ?? "key";
  return once(createdAt, { idempotencyKey, ...fields }, { kind: "unique", key: idempotencyKey });
}

function plain({ once: _once, ...job }: NewJobRecord): JobRecord {
  return job;
}

function answerOf({ job, isNew, hasEnded = false }: JobAddition): [id: string, isNew: boolean, hasEnded: boolean] {
  return [job.id, isNew, hasEnded];
}
