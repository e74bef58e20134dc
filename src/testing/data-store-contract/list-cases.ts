import type { RecordPage } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { jobList, resultList, scheduleList } from "./list-makers.ts";
import { add, finish, leasedJob, makeJob, type makeResult, makeSchedule, numbered, release, T0 } from "./makers.ts";

export const listCases: readonly DataStoreCase[] = [
  {
    name: "lists: the last of two thousand is found, however short the pages before are",
    rules: ["I1"],
    async run({ open }) {
      const store = await open();
      const many = Array.from({ length: 2000 }, (_, index) => numbered("n", index));
      await store.addSchedules(
        add(...many.map((id, index) => makeSchedule({ id, name: index === 1999 ? "last" : null, nextFireTime: T0 }))),
      );
      await store.addJobs(many.map((id, index) => makeJob({ id, runAt: index === 1999 ? T0 + 9 : T0 })));
      equal(await scheduleList(store, { search: "LAST" }), "n-01999", "the schedule by id");
      equal(await scheduleList(store, { search: "LAST", sort: "nextFireTime" }), "n-01999", "the schedule by time");
      equal(await jobList(store, { from: T0 + 1 }), "n-01999", "the job by its time");
    },
  },
  {
    name: "lists: a page ends at 4 MB, and the other records follow",
    rules: ["I1"],
    async run({ open }) {
      const store = await open();
      const ids = Array.from({ length: 8 }, (_, index) => numbered("n", index));
      const large = JSON.stringify("x".repeat(900_000));
      for (const id of ids) {
        await release(store, [finish(await leasedJob(store, { id }), { finishedAt: T0, returnValue: large })]);
        await store.addSchedules(add(makeSchedule({ id, payload: large })));
      }
      await store.addJobs(ids.map((id) => makeJob({ id: `j${id}`, payload: large })));
      const pages = async (read: (page: { limit: number; cursor: string | null }) => Promise<RecordPage<unknown>>) => {
        const sizes: number[] = [];
        for (let cursor: string | null = null; ; ) {
          const page: RecordPage<unknown> = await read({ limit: 100, cursor });
          sizes.push(page.items.length);
          if (page.cursor === null) return sizes.join(" ");
          ({ cursor } = page);
        }
      };
      equal(await pages((page) => store.getJobs(page)), "4 4", "jobs");
      equal(
        await pages((page) => store.getJobs({ order: "newest", taskId: "task", ...page })),
        "4 4",
        "jobs of a task",
      );
      equal(await pages((page) => store.getJobs({ search: "n-", ...page })), "4 4", "jobs that are searched for");
      equal(await pages((page) => store.getJobResults(page, T0)), "4 4", "results");
      equal(await pages((page) => store.getSchedules(page)), "4 4", "schedules");
      equal(await pages((page) => store.getSchedules({ sort: "nextFireTime", ...page })), "4 4", "schedules by time");
    },
  },
  {
    name: "lists: results can be of several outcomes, an error, a run time, a key and attempts",
    rules: ["I5"],
    async run({ open }) {
      const store = await open();
      const done = async (id: string, result: Parameters<typeof makeResult>[1], fields: object = {}) => {
        const queues = ["task", "u"].map((taskId) => ({ executor: "inline", taskId }));
        await release(store, [finish(await leasedJob(store, { id, ...fields }, { queues }), result)]);
      };
      const error = { name: "TimeoutError", message: "took too long" };
      await done("a", { finishedAt: T0 + 1, startedAt: T0 - 9, attempts: 1 });
      await done("b", { finishedAt: T0 + 2, startedAt: T0, attempts: 3, outcome: "error", error });
      await done("c", { finishedAt: T0 + 3, startedAt: null, attempts: 0, outcome: "cancelled" });
      await done(
        "d",
        { finishedAt: T0 + 3, startedAt: T0, attempts: 2, outcome: "abandoned" },
        { idempotencyKey: "k" },
      );
      await done(
        "e",
        { finishedAt: T0 + 4, startedAt: T0 + 4, outcome: "error" },
        { concurrencyKey: "k", taskId: "u" },
      );
      const both = async (filter: Parameters<typeof resultList>[1]): Promise<string> => {
        const oldest = await resultList(store, filter);
        const newest = await resultList(store, { ...filter, order: "newest" });
        equal(newest.split(" ").toReversed().join(" "), oldest, "both orders have the same results");
        return oldest;
      };
      equal(await both({ outcomes: ["error", "abandoned"] }), "b d e", "of two outcomes");
      equal(
        await both({ outcomes: ["error", "cancelled", "abandoned"], until: T0 + 4 }),
        "b c d",
        "of three, of a time",
      );
      equal(await both({ outcomes: ["error", "success"] }), "a b e", "of success and another outcome");
      equal(await both({ outcomes: ["error", "abandoned"], taskId: "u" }), "e", "together with a task");
      equal(await both({ error: "TOO LONG" }), "b", "of a message");
      equal(await both({ error: "timeout" }), "b", "of a name of errors");
      equal(await both({ runTimeMsMin: 3 }), "a d", "that took so long at least");
      equal(await both({ runTimeMsMax: 3 }), "b d e", "that took so long at most");
      equal(await both({ runTimeMsMin: 1, runTimeMsMax: 2, outcome: "error" }), "b", "that took between two times");
      equal(await both({ attemptsMin: 2 }), "b d", "of attempts");
      equal(await both({ key: "k" }), "d e", "of a key");
    },
  },
  {
    name: "lists: failures are those that ended last, whose errors alone are told",
    rules: ["I16"],
    async run({ open }) {
      const store = await open();
      const done = async (id: string, result: Parameters<typeof makeResult>[1], fields: object = {}) => {
        const queues = ["task", "u"].map((taskId) => ({ executor: "inline", taskId }));
        await release(store, [finish(await leasedJob(store, { id, ...fields }, { queues }), result)]);
      };
      const error = { name: "TypeError", message: "x".repeat(600), stack: "at y" };
      await done("a", { finishedAt: T0 + 1, outcome: "error", error }, { scheduleId: "s" });
      await done("b", { finishedAt: T0 + 2 });
      await done("c", { finishedAt: T0 + 3, outcome: "abandoned", startedAt: null });
      await done("d", { finishedAt: T0 + 4, outcome: "cancelled" });
      await done("e", { finishedAt: T0 + 5, outcome: "deserializationFailed", error }, { taskId: "u" });
      await done("f", { finishedAt: T0 + 6, outcome: "error", error, expiresAt: T0 + 50 });
      const list = async (selection: Partial<Parameters<typeof store.getFailures>[0]>, now = T0 + 50) => {
        const { items, seen } = await store.getFailures({ limit: 100, ...selection }, now);
        return `${items.map(({ jobId }) => jobId).join(" ")} of ${seen}`;
      };
      equal(await list({}), "e c a of 4", "all but the expired one");
      equal(await list({}, T0 + 49), "f e c a of 4", "before it expires");
      equal(await list({ limit: 2 }), "e of 2", "the last two");
      equal(await list({ from: T0 + 3, until: T0 + 5 }), "c of 1", "of a time");
      equal(await list({ taskId: "u" }), "e of 4", "of a task");
      equal(await list({ scheduleId: "s" }), "a of 4", "of a schedule");
      const { items } = await store.getFailures({ limit: 100, from: T0 + 1, until: T0 + 4 }, T0);
      const ids = { taskId: "task", scheduleId: null };
      const cut = { name: "TypeError", message: "x".repeat(500) };
      equal(
        items,
        [
          { jobId: "c", ...ids, outcome: "abandoned", finishedAt: T0 + 3, name: null, message: null },
          { jobId: "a", taskId: "task", scheduleId: "s", outcome: "error", finishedAt: T0 + 1, ...cut },
        ],
        "what is told",
      );
    },
  },
  {
    name: "lists: results are found by a part of job, task, schedule, error or key",
    rules: ["I6"],
    async run({ open }) {
      const store = await open();
      const queues = ["task", "needles"].map((taskId) => ({ executor: "inline", taskId }));
      const done = async (fields: Parameters<typeof makeJob>[0], result: Parameters<typeof makeResult>[1] = {}) => {
        await release(store, [finish(await leasedJob(store, fields, { queues }), result)]);
      };
      await done({ id: "a-Needle" }, { finishedAt: T0 + 1 });
      await done({ id: "b", taskId: "needles" }, { finishedAt: T0 + 2 });
      await done({ id: "c", scheduleId: "the NEEDLE" }, { finishedAt: T0 + 3 });
      const error = { name: "Error", message: 'no "Needle"\nhere' };
      await done({ id: "d" }, { finishedAt: T0 + 4, outcome: "error", error });
      await done({ id: "e", idempotencyKey: "needle 7" }, { finishedAt: T0 + 5 });
      await done({ id: "f", concurrencyKey: "needle" }, { finishedAt: T0 + 6 });
      await done({ id: "g", payload: '"needle"' }, { finishedAt: T0 + 7, returnValue: '"needle"' });
      await done({ id: "h" }, { finishedAt: T0 + 8, outcome: "error", error: { name: "NeedleError", message: "" } });
      equal(await resultList(store, { search: "neEdle" }), "a-Needle b c d e f h", "every place");
      equal(await resultList(store, { search: 'NEEDLE"' }), "d", "a sign that JSON writes in another way");
      equal(await resultList(store, { search: "needle", taskId: "needles" }), "b", "together with a task");
      equal(await resultList(store, { search: "needle", outcome: "error" }), "d h", "together with an outcome");
      equal(await resultList(store, { search: "needle", from: T0 + 5 }), "e f h", "together with a time");
      equal(await resultList(store, { search: "needle", order: "newest" }), "h f e d c b a-Needle", "the newest first");
    },
  },
];
