import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  add,
  finish,
  leasedJob,
  lookedAt,
  makeJob,
  makeResult,
  makeSchedule,
  numbered,
  planOf,
  release,
  step,
  T0,
  take,
} from "./makers.ts";

/** Runs a job to its end. */
async function done(store: DataStore, job: Partial<JobRecord>, result: Partial<JobResultRecord> = {}): Promise<void> {
  const queues = [{ executor: "inline", taskId: job.taskId ?? "task" }];
  const leased = await leasedJob(store, job, { queues });
  await release(store, [finish(leased, result)]);
}

export const resultCases: readonly DataStoreCase[] = [
  {
    name: "results: every field comes back as it was released",
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
    name: "results: pages come by job id, without expired ones",
    async run({ open }) {
      const store = await open();
      for (const index of [3, 0, 2, 1]) {
        await done(store, { id: numbered("j", index) }, { expiresAt: T0 + (index === 2 ? 10 : 1000) });
      }
      const ids = (results: readonly JobResultRecord[]): string[] => results.map(({ jobId }) => jobId);
      const first = await store.getJobResults({ limit: 2, cursor: null }, T0 + 10);
      equal(ids(first.items), ["j-00000", "j-00001"], "the first page");
      const rest = await store.getJobResults({ limit: 2, cursor: present(first.cursor, "the cursor") }, T0 + 10);
      equal([ids(rest.items), rest.cursor], [["j-00003"], null], "the last page");
    },
  },
  {
    name: "results: pages can be of a task, a schedule, an outcome, and any of these together",
    async run({ open }) {
      const store = await open();
      await done(store, { id: "a", taskId: "x", scheduleId: "s", fireTime: T0 }, { outcome: "error" });
      await done(store, { id: "b", taskId: "x", scheduleId: "s", fireTime: T0 + 1 });
      await done(store, { id: "c", taskId: "y", scheduleId: "s", fireTime: T0 + 2 }, { outcome: "error" });
      await done(store, { id: "d", taskId: "x" }, { outcome: "error" });
      const page = { limit: 10, cursor: null };
      const ids = async (filter: Parameters<DataStore["getJobResults"]>[0]): Promise<string[]> =>
        (await store.getJobResults(filter, T0)).items.map(({ jobId }) => jobId);
      equal(await ids(page), ["a", "b", "c", "d"], "all");
      equal(await ids({ ...page, taskId: "x" }), ["a", "b", "d"], "of a task");
      equal(await ids({ ...page, scheduleId: "s" }), ["a", "b", "c"], "of a schedule");
      equal(await ids({ ...page, outcome: "error" }), ["a", "c", "d"], "of an outcome");
      equal(await ids({ ...page, outcome: "success" }), ["b"], "of success");
      equal(await ids({ ...page, outcome: "cancelled" }), [], "of an outcome that nothing has");
      equal(await ids({ ...page, taskId: "x", outcome: "error" }), ["a", "d"], "of task and outcome");
      equal(await ids({ ...page, taskId: "x", scheduleId: "s" }), ["a", "b"], "of task and schedule");
      equal(await ids({ ...page, taskId: "x", scheduleId: "s", outcome: "error" }), ["a"], "of all three");
    },
  },
  {
    name: "cleanup: removes expired results, at most the limit, and says how many",
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
        ["j-00003", "j-00004"],
        "what stays",
      );
    },
  },
  {
    name: "cleanup: jobs that kept no result leave nothing that it counts, however late it comes",
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
    name: "cleanup: removes schedules without a fire time and an unfinished job",
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
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const plan = planOf(present(due, "the schedule"), { nextFireTime: null });
      const { acquired } = await step(store, { plans: [plan] });
      equal((await store.cleanup({ now: T0, limit: 10 })).removedScheduleIds, [], "while its job runs");
      await release(store, [finish(present(acquired[0], "the job"))]);
      equal((await store.cleanup({ now: T0, limit: 10 })).removedScheduleIds, ["schedule"], "when it has run");
    },
  },
];
