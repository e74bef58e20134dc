import { OptionsError } from "../../core/errors.ts";
import type { DataStore, JobFilter, JobResultFilter, RecordPage, ScheduleFilter } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  add,
  finish,
  leasedJob,
  makeJob,
  makeJobs,
  type makeResult,
  makeSchedule,
  makeTask,
  numbered,
  release,
  step,
  T0,
} from "./makers.ts";

type Without<T> = Omit<T, "limit" | "cursor">;

/** All pages of a list. Where a filter takes few of many, pages may be short. */
async function pagesOf<T>(
  read: (page: { readonly limit: number; readonly cursor: string | null }) => Promise<RecordPage<T>>,
  limit: number,
): Promise<T[][]> {
  const pages: T[][] = [];
  let cursor: string | null = null;
  do {
    const page: RecordPage<T> = await read({ limit, cursor });
    pages.push(page.items);
    ({ cursor } = page);
  } while (cursor !== null);
  return pages;
}

/** The ids of schedules, joined; they are the same whatever the size of the pages is. */
async function schedules(store: DataStore, filter: Without<ScheduleFilter>): Promise<string> {
  return sameForAll(async (limit) => {
    const pages = await pagesOf((page) => store.getSchedules({ ...filter, ...page }), limit);
    return pages.flat().map(({ id }) => id);
  });
}

async function jobs(store: DataStore, filter: Without<JobFilter>): Promise<string> {
  const newest = await sameForAll(async (limit) => {
    const pages = await pagesOf((page) => store.getJobs({ ...filter, order: "newest", ...page }), limit);
    return pages.flat().map(({ id }) => id);
  });
  const oldest = await sameForAll(async (limit) => {
    const pages = await pagesOf((page) => store.getJobs({ ...filter, ...page }), limit);
    return pages.flat().map(({ id }) => id);
  });
  equal(newest.split(" ").toReversed().join(" "), oldest, "both orders have the same jobs");
  return oldest;
}

async function results(store: DataStore, filter: Without<JobResultFilter>): Promise<string> {
  return sameForAll(async (limit) => {
    const pages = await pagesOf((page) => store.getJobResults({ order: "oldest", ...filter, ...page }, T0), limit);
    return pages.flat().map(({ jobId }) => jobId);
  });
}

async function sameForAll(read: (limit: number) => Promise<string[]>): Promise<string> {
  const [small, large] = [await read(1), await read(100)];
  equal(small, large, "pages of one, and one page of all");
  return large.join(" ");
}

async function rejects(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => false,
    (error: unknown) => error instanceof OptionsError,
  );
}

export const listCases: readonly DataStoreCase[] = [
  {
    name: "lists: schedules are found by a part of their id or name, whatever the case of its letters A to Z",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "a Report", name: 'The "daily" 100%_x' }),
          makeSchedule({ id: "b", name: "REPORTS of Ä" }),
          makeSchedule({ id: "c", name: "other", payload: '"report"', metadata: { report: 1 } }),
          makeSchedule({ id: "d", taskId: "report" }),
        ),
      );
      equal(await schedules(store, { search: "rEpOrT" }), "a Report b", "by id and by name");
      equal(await schedules(store, { search: '"daily" 100%_' }), "a Report", "signs mean themselves");
      equal(await schedules(store, { search: "%" }), "a Report", "no pattern");
      equal(await schedules(store, { search: "Ä" }), "b", "another letter");
      equal(await schedules(store, { search: "ä" }), "", "another letter in the other case");
      equal(await schedules(store, { search: "o", taskId: "task" }), "a Report b c", "together with a task");
      equal(await schedules(store, { search: "nowhere" }), "", "a text that nothing has");
    },
  },
  {
    name: "lists: schedules are active, paused or ended, and a change counts at once",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "a" }),
          makeSchedule({ id: "b", paused: true }),
          makeSchedule({ id: "c", nextFireTime: null }),
          makeSchedule({ id: "d", nextFireTime: null, paused: true }),
          makeSchedule({ id: "e", taskId: "other" }),
        ),
      );
      equal(await schedules(store, { state: "active" }), "a e", "active");
      equal(await schedules(store, { state: "paused" }), "b", "paused");
      equal(await schedules(store, { state: "ended" }), "c d", "ended");
      equal(await schedules(store, { state: "ended", paused: true }), "d", "ended and paused");
      equal(await schedules(store, { state: "paused", paused: false }), "", "a contradiction");
      equal(await schedules(store, { paused: true }), "b d", "paused, ended or not");
      equal(await schedules(store, { state: "active", taskId: "other" }), "e", "active of a task");
      equal(await schedules(store, { state: "ended", search: "D" }), "d", "ended with a text");
      await store.updateSchedule("a", { paused: true });
      await store.updateSchedule("c", { nextFireTime: T0 });
      equal(await schedules(store, { state: "active" }), "c e", "active after the changes");
      equal(await schedules(store, { state: "paused" }), "a b", "paused after the changes");
    },
  },
  {
    name: "lists: schedules come by their next fire time, then by id, and those without one are the last",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "e", nextFireTime: T0 + 5 }),
          makeSchedule({ id: "b", nextFireTime: null }),
          makeSchedule({ id: "d", nextFireTime: T0 + 5, paused: true }),
          makeSchedule({ id: "c", nextFireTime: -5, taskId: "other" }),
          makeSchedule({ id: "a", nextFireTime: null, paused: true }),
          makeSchedule({ id: "f", nextFireTime: T0, paused: true }),
        ),
      );
      const sorted = { sort: "nextFireTime" } as const;
      equal(await schedules(store, { sort: "id" }), "a b c d e f", "by id");
      equal(await schedules(store, sorted), "c f d e a b", "by time");
      equal(await schedules(store, { ...sorted, state: "active" }), "c e", "active by time");
      equal(await schedules(store, { ...sorted, state: "paused" }), "f d", "paused by time");
      equal(await schedules(store, { ...sorted, state: "ended" }), "a b", "ended by time");
      equal(await schedules(store, { ...sorted, paused: true }), "f d a", "paused or ended by time");
      equal(await schedules(store, { ...sorted, paused: false }), "c e b", "not paused by time");
      equal(await schedules(store, { ...sorted, taskId: "task" }), "f d e a b", "of a task by time");
      equal(await schedules(store, { ...sorted, search: "C" }), "c", "with a text by time");
    },
  },
  {
    name: "lists: a cursor by next fire time stays good while schedules come, go and fire; any other text is refused",
    async run({ open }) {
      const store = await open();
      const all = ["a", "b", "c", "d", "e"].map((id, index) => makeSchedule({ id, nextFireTime: T0 + index }));
      await store.addSchedules(add(...all, makeSchedule({ id: "never", nextFireTime: null })));
      const page = async (limit: number, cursor: string | null): Promise<[string, string | null]> => {
        const { items, cursor: next } = await store.getSchedules({ sort: "nextFireTime", limit, cursor });
        return [items.map(({ id }) => id).join(" "), next];
      };
      const [first, cursor] = await page(2, null);
      equal(first, "a b", "the first page");
      await store.removeSchedule("b");
      await store.removeSchedule("c");
      await store.updateSchedule("a", { nextFireTime: T0 + 100 });
      await store.addSchedules(
        add(makeSchedule({ id: "before", nextFireTime: T0 }), makeSchedule({ id: "z", nextFireTime: T0 + 1 })),
      );
      const [rest, last] = await page(4, cursor);
      equal(rest, "z d e a", "what follows the first page now");
      equal(await page(4, last), ["never", null], "the end");
      for (const text of ["", "b", "x y", " a"]) {
        equal(await rejects(page(1, text)), true, `the cursor ${JSON.stringify(text)} is refused`);
      }
    },
  },
  {
    name: "lists: jobs are queued, held or running, as their records say",
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
      const keyed = ["k1", "k2", "k3"].map((id) => makeJob({ id, concurrencyKey: "key" }));
      await store.addJobs([
        ...keyed,
        makeJob({ id: "later", runAt: T0 + 1000 }),
        makeJob({ id: "other", taskId: "x" }),
      ]);
      await step(store, { limit: 1 });
      await store.addJobs([makeJob({ id: "child", after: ["later"], onParentFailure: "cancel" })]);
      equal(await jobs(store, { state: "running" }), "k1", "running");
      equal(await jobs(store, { state: "held" }), "child k2 k3", "held by a limit or by parents");
      equal(await jobs(store, { state: "queued" }), "later other", "queued");
      equal(await jobs(store, { state: "queued", taskId: "x" }), "other", "queued of a task");
      equal(await jobs(store, { state: "running", taskId: "x" }), "", "running of a task that runs nothing");
      const { items } = await store.getJobs({ limit: 10, cursor: null, state: "held" });
      equal(
        items.map(({ heldBy }) => heldBy),
        ["parents", "limit", "limit"],
        "why they are held",
      );
    },
  },
  {
    name: "lists: jobs can be of a time in which they are to run, whose end does not belong to it",
    async run({ open }) {
      const store = await open();
      const times = [0, 1, 2, 3].map((index) => makeJob({ id: `j${index}`, runAt: T0 + index * 1000 }));
      await store.addJobs([...times, makeJob({ id: "j4", runAt: T0 + 1000, scheduleId: "s" })]);
      equal(await jobs(store, { runAfter: T0 + 1000 }), "j1 j2 j3 j4", "from an instant on");
      equal(await jobs(store, { runBefore: T0 + 1000 }), "j0", "before an instant");
      equal(await jobs(store, { runAfter: T0 + 1000, runBefore: T0 + 3000 }), "j1 j2 j4", "within a time");
      equal(await jobs(store, { runAfter: T0 + 1000, scheduleId: "s" }), "j4", "of a schedule and a time");
      equal(
        await jobs(store, { runAfter: T0 + 1, runBefore: T0 + 2000, state: "queued" }),
        "j1 j4",
        "queued of a time",
      );
    },
  },
  {
    name: "lists: a job of a fair task is found by its true runAt while it waits for its turn",
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ fair: true })]);
      await store.addJobs(["a", "b"].map((id) => makeJob({ id, concurrencyKey: id })));
      await step(store, { limit: 1 });
      equal(await jobs(store, { runAfter: T0, runBefore: T0 + 1 }), "a b", "both jobs are due at their instant");
    },
  },
  {
    name: "lists: jobs are found by a part of id, task, schedule or key",
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        makeJob({ id: "a-Needle" }),
        makeJob({ id: "b", taskId: "needles" }),
        makeJob({ id: "c", scheduleId: "the NEEDLE" }),
        makeJob({ id: "d", idempotencyKey: "needle 7" }),
        makeJob({ id: "e", concurrencyKey: "a needle" }),
        makeJob({ id: "f", payload: '"needle"', metadata: { needle: true }, executor: "needle" }),
      ]);
      equal(await jobs(store, { search: "neEdle" }), "a-Needle b c d e", "every place");
      equal(await jobs(store, { search: "needle", taskId: "task" }), "a-Needle c d e", "together with a task");
      equal(await jobs(store, { search: "needle", scheduleId: "the NEEDLE" }), "c", "together with a schedule");
    },
  },
  {
    name: "lists: a cursor of jobs stays good in both orders while jobs come and go",
    async run({ open }) {
      const store = await open();
      await store.addJobs(makeJobs(6));
      const page = async (order: "oldest" | "newest", cursor: string | null): Promise<[string, string | null]> => {
        const { items, cursor: next } = await store.getJobs({ limit: 2, cursor, order });
        return [items.map(({ id }) => id.slice(-1)).join(""), next];
      };
      const [oldest, younger] = await page("oldest", null);
      const [newest, older] = await page("newest", null);
      equal([oldest, newest], ["01", "54"], "the first pages");
      for (const index of [1, 2, 4]) await store.cancelJob(numbered("job", index), T0);
      await store.addJobs([makeJob({ id: numbered("job", 9) }), makeJob({ id: "job-00002+" })]);
      equal((await page("oldest", younger))[0], "+3", "what follows the oldest");
      equal((await page("newest", older))[0], "3+", "what follows the newest");
    },
  },
  {
    name: "lists: results are found by a part of job, task, schedule, error or key",
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
      equal(await results(store, { search: "neEdle" }), "a-Needle b c d e f h", "every place");
      equal(await results(store, { search: 'NEEDLE"' }), "d", "a sign that JSON writes in another way");
      equal(await results(store, { search: "needle", taskId: "needles" }), "b", "together with a task");
      equal(await results(store, { search: "needle", outcome: "error" }), "d h", "together with an outcome");
      equal(await results(store, { search: "needle", finishedAfter: T0 + 5 }), "e f h", "together with a time");
      equal(await results(store, { search: "needle", order: "newest" }), "h f e d c b a-Needle", "the newest first");
    },
  },
  {
    name: "lists: the last of two thousand is found, however short the pages before are",
    async run({ open }) {
      const store = await open();
      const many = Array.from({ length: 2000 }, (_, index) => numbered("n", index));
      await store.addSchedules(
        add(...many.map((id, index) => makeSchedule({ id, name: index === 1999 ? "last" : null, nextFireTime: T0 }))),
      );
      await store.addJobs(many.map((id, index) => makeJob({ id, runAt: index === 1999 ? T0 + 9 : T0 })));
      equal(await schedules(store, { search: "LAST" }), "n-01999", "the schedule by id");
      equal(await schedules(store, { search: "LAST", sort: "nextFireTime" }), "n-01999", "the schedule by time");
      equal(await jobs(store, { runAfter: T0 + 1 }), "n-01999", "the job by its time");
    },
  },
];
