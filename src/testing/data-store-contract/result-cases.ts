import { OptionsError } from "../../core/errors.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { DataStore, JobResultFilter, JobResultSelection, RecordPage } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  add,
  commit,
  finish,
  leasedJob,
  lookedAt,
  makeJob,
  makeResult,
  makeSchedule,
  numbered,
  planOf,
  release,
  T0,
  take,
} from "./makers.ts";

const MINUTE_MS = 60_000;

/** Runs a job to its end. */
async function done(store: DataStore, job: Partial<JobRecord>, result: Partial<JobResultRecord> = {}): Promise<void> {
  const queues = [{ executor: "inline", taskId: job.taskId ?? "task" }];
  const leased = await leasedJob(store, job, { queues });
  await release(store, [finish(leased, result)]);
}

export const resultCases: readonly DataStoreCase[] = [
  {
    name: "results: every field comes back as it was released",
    rules: ["G4"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { scheduleId: "s", fireTime: T0, scheduledFireTime: T0 + 2 });
      const result = makeResult(job, {
        outcome: "error",
        startedAt: null,
        attempts: 4,
        returnValue: null,
        error: {
          name: "TypeError",
          message: 'bad "thing"\n',
          stack: "at x",
          code: "E",
          cause: { name: "Error", message: "inner" },
        },
        expiresAt: T0 + 1,
      });
      await release(store, [{ jobId: job.id, fence: job.fence, kind: "finish", result }]);
      equal(await store.getJobResult("job", T0), result, "the result");
    },
  },
  {
    name: "results: null when there is none, and from expiresAt on",
    rules: ["R14"],
    async run({ open }) {
      const store = await open();
      equal(await store.getJobResult("unknown", T0), null, "an unknown job");
      await done(store, { id: "a" }, { expiresAt: T0 + 100 });
      equal((await store.getJobResult("a", T0 + 99))?.jobId, "a", "just before it expires");
      equal(await store.getJobResult("a", T0 + 99 + 1), null, "when it has expired");
      equal((await store.getJobResult("a", T0 + 99))?.jobId, "a", "reading deletes nothing");
    },
  },
  {
    name: "results: pages come by the end of the job, the newest first unless told otherwise, without expired ones",
    rules: ["I5"],
    async run({ open }) {
      const store = await open();
      for (const [index, minute] of [3, 0, 2, 1, 2].entries()) {
        const times = { finishedAt: T0 + minute * MINUTE_MS, expiresAt: T0 + (index === 3 ? 10 : 1000) };
        await done(store, { id: numbered("j", 9 - index) }, times);
      }
      const pages = async (filter: Partial<JobResultFilter>): Promise<string[][]> => {
        const found: string[][] = [];
        let cursor: string | null = null;
        do {
          const page: RecordPage<JobResultRecord> = await store.getJobResults({ limit: 2, cursor, ...filter }, T0 + 10);
          found.push(page.items.map(({ jobId }) => jobId));
          ({ cursor } = page);
        } while (cursor !== null);
        return found;
      };
      const newest = [
        ["j-00009", "j-00005"],
        ["j-00007", "j-00008"],
      ];
      equal(await pages({}), newest, "the newest first");
      equal(await pages({ order: "newest" }), newest, "the newest first, as told");
      const oldest = [
        ["j-00008", "j-00007"],
        ["j-00005", "j-00009"],
      ];
      equal(await pages({ order: "oldest" }), oldest, "the oldest first");
    },
  },
  {
    name: "results: can be of a task, a schedule, an outcome, a time, and of any of these together",
    rules: ["I5"],
    async run({ open }) {
      const store = await open();
      await done(
        store,
        { id: "a", taskId: "x", scheduleId: "s", fireTime: T0 },
        { outcome: "error", finishedAt: T0 + 10 },
      );
      await done(store, { id: "b", taskId: "x", scheduleId: "s", fireTime: T0 + 1 }, { finishedAt: T0 + 20 });
      await done(
        store,
        { id: "c", taskId: "y", scheduleId: "s", fireTime: T0 + 2 },
        { outcome: "error", finishedAt: T0 + 30 },
      );
      await done(store, { id: "d", taskId: "x" }, { outcome: "error", finishedAt: T0 + 40 });
      const ids = async (selection: JobResultSelection): Promise<string> => {
        const page = { limit: 10, cursor: null, ...selection };
        const newest = (await store.getJobResults(page, T0)).items.map(({ jobId }) => jobId);
        const oldest = (await store.getJobResults({ ...page, order: "oldest" }, T0)).items.map(({ jobId }) => jobId);
        equal(newest.toReversed(), oldest, "both orders have the same results");
        return oldest.join("");
      };
      equal(await ids({}), "abcd", "all");
      equal(await ids({ taskId: "x" }), "abd", "of a task");
      equal(await ids({ scheduleId: "s" }), "abc", "of a schedule");
      equal(await ids({ outcome: "error" }), "acd", "of an outcome");
      equal(await ids({ outcome: "success" }), "b", "of success");
      equal(await ids({ outcome: "cancelled" }), "", "of an outcome that nothing has");
      equal(await ids({ taskId: "x", outcome: "error" }), "ad", "of task and outcome");
      equal(await ids({ taskId: "x", scheduleId: "s" }), "ab", "of task and schedule");
      equal(await ids({ taskId: "x", scheduleId: "s", outcome: "error" }), "a", "of all three");
      equal(await ids({ from: T0 + 20 }), "bcd", "from an instant on");
      equal(await ids({ until: T0 + 20 }), "a", "before an instant");
      equal(await ids({ from: T0 + 11, until: T0 + 31 }), "bc", "within a time");
      equal(await ids({ taskId: "x", from: T0 + 11, until: T0 + 40 }), "b", "of task and time");
      equal(await ids({ scheduleId: "s", from: T0 + 20 }), "bc", "of schedule and time");
      equal(await ids({ outcome: "error", until: T0 + 40 }), "ac", "of outcome and time");
    },
  },
  {
    name: "results: a cursor stays good while results come and go",
    rules: ["I2"],
    async run({ open }) {
      const store = await open();
      for (const index of [1, 2, 3, 4, 5]) await done(store, { id: `j-${index}` }, { finishedAt: T0 + index });
      const next = async (cursor: string | null, order: "newest" | "oldest"): Promise<[string, string | null]> => {
        const page = await store.getJobResults({ limit: 2, cursor, order }, T0);
        return [page.items.map(({ jobId }) => jobId).join(" "), page.cursor];
      };
      const [newest, older] = await next(null, "newest");
      const [oldest, younger] = await next(null, "oldest");
      equal([newest, oldest], ["j-5 j-4", "j-1 j-2"], "the first pages");
      await done(store, { id: "newer" }, { finishedAt: T0 + 9 });
      equal(await store.removeJobResults({ from: T0 + 4, until: T0 + 5 }, 10), 1, "the one at the cursor");
      equal(await store.removeJobResults({ from: T0 + 2, until: T0 + 3 }, 10), 1, "the one at the other");
      equal((await next(present(older, "a cursor"), "newest"))[0], "j-3 j-1", "what follows the newest");
      equal((await next(present(younger, "a cursor"), "oldest"))[0], "j-3 j-5", "what follows the oldest");
      const refused = await store.getJobResults({ limit: 2, cursor: "j-00001" }, T0).catch((error: unknown) => error);
      equal(refused instanceof OptionsError, true, "a cursor of something else is refused");
    },
  },
  {
    name: "results: those that are selected are removed, the oldest first, and at most the limit",
    rules: ["R16"],
    async run({ open }) {
      const store = await open();
      for (const index of [1, 2, 3, 4, 5, 6]) {
        const outcome = index % 2 === 0 ? "error" : "success";
        await done(store, { id: `j-${index}` }, { finishedAt: T0 + index, outcome });
      }
      equal(await store.removeJobResults({ outcome: "error" }, 2), 2, "at the limit");
      equal(await store.removeJobResults({ outcome: "error" }, 2), 1, "the rest");
      equal(await store.removeJobResults({ outcome: "error" }, 2), 0, "a repetition");
      const { items } = await store.getJobResults({ limit: 10, cursor: null }, T0);
      equal(items.map(({ jobId }) => jobId).join(" "), "j-5 j-3 j-1", "what is left");
      equal(await store.removeJobResults({ taskId: "nobody" }, 9), 0, "none of another task");
      equal(await store.removeJobResults({ taskId: "task", until: T0 + 5 }, 9), 2, "those of a time");
      await done(store, { id: "j-7" }, { finishedAt: T0 + 7 });
      const ofJobs = { jobIds: ["j-7", "gone"] };
      equal(await store.removeJobResults(ofJobs, 2), 1, "that of a job");
      equal(await store.removeJobResults(ofJobs, 2), 0, "a repetition for the job");
      equal(await store.removeJobResults({}, 9), 1, "all that are left");
      equal((await store.getJobResult("j-5", T0)) ?? null, null, "a removed result");
    },
  },
  {
    name: "cleanup: removes expired results, at most the limit, and says how many",
    rules: ["R17"],
    async run({ open }) {
      const store = await open();
      for (let index = 0; index < 5; index++)
        await done(store, { id: numbered("j", index) }, { expiresAt: T0 + index + 1 });
      equal(
        await store.cleanup({ now: T0 + 3, limit: 2 }),
        { removedResults: 2, removedScheduleIds: [] },
        "at the limit",
      );
      equal((await store.cleanup({ now: T0 + 3, limit: 2 })).removedResults, 1, "the rest");
      equal((await store.cleanup({ now: T0 + 3, limit: 2 })).removedResults, 0, "nothing left");
      const left = await store.getJobResults({ limit: 10, cursor: null }, T0);
      equal(
        left.items.map(({ jobId }) => jobId),
        ["j-00004", "j-00003"],
        "what stays",
      );
    },
  },
  {
    name: "cleanup: jobs that kept no result leave nothing that it counts, however late it comes",
    rules: ["R17"],
    async run({ open }) {
      const store = await open();
      await done(store, { id: "a", resultExpirationMs: 0 }, { expiresAt: T0 });
      await done(store, { id: "b" }, { expiresAt: T0 + 5 });
      const late = { now: T0 + 3_600_000, limit: 10 };
      equal((await store.cleanup(late)).removedResults, 1, "the only result");
      equal((await store.cleanup(late)).removedResults, 0, "nothing left");
    },
  },
  {
    name: "cleanup: a commit cleans up too when it is asked to, and says what it removed",
    rules: ["R18"],
    async run({ open }) {
      const store = await open();
      await done(store, { id: "a" }, { expiresAt: T0 + 1 });
      await done(store, { id: "b" }, { expiresAt: T0 + 9 });
      equal((await commit(store, { now: T0 + 1 })).cleanup, undefined, "one that is not asked to");
      const { cleanup } = await commit(store, { now: T0 + 1, cleanup: { limit: 10 } });
      // A store may leave that to others.
      if (cleanup === undefined) return;
      equal(cleanup, { removedResults: 1, removedScheduleIds: [] }, "one that is");
      equal((await store.getJobResult("b", T0 + 1))?.jobId, "b", "the other result");
    },
  },
  {
    name: "cleanup: removes schedules without a fire time and an unfinished job",
    rules: ["R17"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "exhausted", nextFireTime: null }),
          makeSchedule({ id: "exhausted and paused", nextFireTime: null, paused: true }),
          makeSchedule({ id: "alive", nextFireTime: T0 + 99 }),
          makeSchedule({ id: "busy", nextFireTime: null }),
        ),
      );
      await store.addJobs([makeJob({ scheduleId: "busy" })]);
      const first = await store.cleanup({ now: T0, limit: 10 });
      equal(first.removedScheduleIds.toSorted(), ["exhausted", "exhausted and paused"], "what is removed");
      equal((await store.getSchedule("exhausted")) ?? null, null, "a removed schedule");
      const job = present((await take(store)).acquired[0], "the job");
      equal((await store.cleanup({ now: T0, limit: 10 })).removedScheduleIds, [], "while its job runs");
      await release(store, [finish(job)]);
      equal((await store.cleanup({ now: T0, limit: 10 })).removedScheduleIds, ["busy"], "when its job has finished");
      equal((await store.getSchedule("alive"))?.id, "alive", "one with a fire time");
    },
  },
  {
    name: "cleanup: removes at most the limit of schedules",
    rules: ["R17"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(...Array.from({ length: 3 }, (_, index) => makeSchedule({ id: numbered("s", index), nextFireTime: null }))),
      );
      equal((await store.cleanup({ now: T0, limit: 2 })).removedScheduleIds.length, 2, "at the limit");
      equal((await store.cleanup({ now: T0, limit: 2 })).removedScheduleIds.length, 1, "the rest");
    },
  },
  {
    name: "cleanup: removes a schedule whose plan was its last, once the job has run",
    rules: ["R17"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const plan = planOf(present(due, "the schedule"), { nextFireTime: null });
      const { acquired } = await commit(store, { plans: [plan] });
      equal((await store.cleanup({ now: T0, limit: 10 })).removedScheduleIds, [], "while its job runs");
      await release(store, [finish(present(acquired[0], "the job"))]);
      equal((await store.cleanup({ now: T0, limit: 10 })).removedScheduleIds, ["schedule"], "when it has run");
    },
  },
];
