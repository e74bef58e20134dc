import { OptionsError } from "../../core/errors.ts";
import { equal, isTrue } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { jobList } from "./list-makers.ts";
import { cancel, commit, idsOf, leasedJob, makeJob, makeJobs, makeTask, numbered, T0 } from "./makers.ts";

export const jobListCases: readonly DataStoreCase[] = [
  {
    name: "lists: jobs by runAt, then in the order of addition, whatever they wait for",
    rules: ["I14", "I2"],
    async run({ open }) {
      const store = await open();
      const running = { id: "running", runAt: T0 - 5, scheduleId: "s", fireTime: T0 };
      await leasedJob(store, running);
      await leasedJob(
        store,
        { id: "running-late", runAt: T0 - 3, taskId: "other" },
        { queues: [{ executor: "inline", taskId: "other" }] },
      );
      await store.addJobs([
        makeJob({ id: "z", runAt: T0 + 7 }),
        makeJob({ id: "later", runAt: T0 + 9, taskId: "other" }),
        makeJob({ id: "a", runAt: T0 + 7, scheduleId: "s" }),
        makeJob({ id: "due", runAt: T0 - 4 }),
        makeJob({ id: "urgent", runAt: T0 - 1, priority: 9 }),
        makeJob({ id: "kyd", runAt: T0 - 2, concurrencyKey: "key" }),
        makeJob({ id: "child", runAt: T0 + 8, after: ["z"] }),
      ]);
      const list = (filter: Omit<Parameters<typeof jobList>[1], "sort">) =>
        jobList(store, { ...filter, sort: "runAt" });
      equal(await list({}), "running due running-late kyd urgent z a child later", "all");
      equal(await list({ taskId: "task" }), "running due kyd urgent z a child", "of a task");
      equal(await list({ taskId: "other" }), "running-late later", "of another task");
      equal(await list({ scheduleId: "s" }), "running a", "of a schedule");
      equal(await list({ state: "running" }), "running running-late", "that run");
      equal(await list({ state: "queued", search: "e" }), "due urgent later", "that are queued");
      equal(await list({ state: "blocked", search: "child" }), "child", "that are blocked");
      equal(await list({ from: T0 - 3, until: T0 + 8 }), "running-late kyd urgent z a", "of a time");
      equal(await list({ search: "LATE" }), "running-late later", "that are searched for");
      const { cursor } = await store.getJobs({ sort: "runAt", limit: 5, cursor: null });
      await cancel(store, "z", T0);
      await store.addJobs([makeJob({ id: "new", runAt: T0 + 7 }), makeJob({ id: "past", runAt: T0 - 9 })]);
      const { items } = await store.getJobs({ sort: "runAt", limit: 9, cursor });
      equal(idsOf(items), ["a", "new", "later"], "the next page, after changes");
      for (const text of ["", "a", "1", "1 2 3", "9".repeat(17)]) {
        const reading = store.getJobs({ sort: "runAt", limit: 9, cursor: text });
        const error: unknown = await reading.then(
          () => null,
          (reason: unknown) => reason,
        );
        isTrue(error instanceof OptionsError, `an error for the cursor "${text}"`);
      }
    },
  },
  {
    name: "lists: very many jobs that are not due yet come by runAt, page by page",
    rules: ["I14"],
    async run({ open }) {
      const store = await open();
      const ids = Array.from({ length: 1500 }, (_, index) => numbered("job", index));
      await store.addJobs(ids.map((id, index) => makeJob({ id, runAt: T0 + 5000 - Math.floor(index / 10) })));
      const place = (id: string) => Math.floor(Number(id.slice(-5)) / 10);
      const expected = [...ids].sort((a, b) => place(b) - place(a) || (a < b ? -1 : 1));
      const listed: string[] = [];
      for (let cursor: string | null = null; ; ) {
        const page: Awaited<ReturnType<typeof store.getJobs>> = await store.getJobs({
          sort: "runAt",
          limit: 400,
          cursor,
        });
        listed.push(...idsOf(page.items));
        if (page.cursor === null) break;
        ({ cursor } = page);
      }
      equal(listed, expected, "the jobs");
    },
  },
  {
    name: "lists: jobs are queued, blocked or running, as their records say",
    rules: ["I4"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
      const keyed = ["k1", "k2", "k3"].map((id) => makeJob({ id, concurrencyKey: "key" }));
      await store.addJobs([
        ...keyed,
        makeJob({ id: "later", runAt: T0 + 1000 }),
        makeJob({ id: "other", taskId: "x" }),
      ]);
      await commit(store, { limit: 1 });
      await store.addJobs([makeJob({ id: "child", after: ["later"], onParentFailure: "cancel" })]);
      equal(await jobList(store, { state: "running" }), "k1", "running");
      equal(await jobList(store, { state: "blocked" }), "child k2 k3", "blocked by a limit or by parents");
      equal(await jobList(store, { state: "queued" }), "later other", "queued");
      equal(await jobList(store, { state: "queued", taskId: "x" }), "other", "queued of a task");
      equal(await jobList(store, { state: "running", taskId: "x" }), "", "running of a task that runs nothing");
      const { items } = await store.getJobs({ limit: 10, cursor: null, state: "blocked" });
      equal(
        items.map(({ blockedBy }) => blockedBy),
        ["parents", "limit", "limit"],
        "why they are blocked",
      );
    },
  },
  {
    name: "lists: jobs can be of a time in which they are to run, whose end does not belong to it",
    rules: ["I4"],
    async run({ open }) {
      const store = await open();
      const times = [0, 1, 2, 3].map((index) => makeJob({ id: `j${index}`, runAt: T0 + index * 1000 }));
      await store.addJobs([...times, makeJob({ id: "j4", runAt: T0 + 1000, scheduleId: "s" })]);
      equal(await jobList(store, { from: T0 + 1000 }), "j1 j2 j3 j4", "from an instant on");
      equal(await jobList(store, { until: T0 + 1000 }), "j0", "before an instant");
      equal(await jobList(store, { from: T0 + 1000, until: T0 + 3000 }), "j1 j2 j4", "within a time");
      equal(await jobList(store, { from: T0 + 1000, scheduleId: "s" }), "j4", "of a schedule and a time");
      equal(await jobList(store, { from: T0 + 1, until: T0 + 2000, state: "queued" }), "j1 j4", "queued of a time");
    },
  },
  {
    name: "lists: a job of a fair task is found by its true runAt while it waits for its turn",
    rules: ["F15", "I4"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ fair: true })]);
      await store.addJobs(["a", "b"].map((id) => makeJob({ id, concurrencyKey: id })));
      await commit(store, { limit: 1 });
      equal(await jobList(store, { from: T0, until: T0 + 1 }), "a b", "both jobs are due at their instant");
    },
  },
  {
    name: "lists: jobs are found by a part of id, task, schedule or key",
    rules: ["I6", "I4"],
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
      equal(await jobList(store, { search: "neEdle" }), "a-Needle b c d e", "every place");
      equal(await jobList(store, { search: "needle", taskId: "task" }), "a-Needle c d e", "together with a task");
      equal(await jobList(store, { search: "needle", scheduleId: "the NEEDLE" }), "c", "together with a schedule");
    },
  },
  {
    name: "lists: jobs can be of a key, and can have begun a number of attempts at least",
    rules: ["I4"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        makeJob({ id: "a", idempotencyKey: "k" }),
        makeJob({ id: "b", concurrencyKey: "k" }),
        makeJob({ id: "c", idempotencyKey: "kk", concurrencyKey: "K" }),
        makeJob({ id: "d", failedAttempts: 1, recoveries: 1, runAt: T0 + 9 }),
      ]);
      await leasedJob(store, { id: "e", failedAttempts: 1, priority: 9 }, { limit: 1 });
      equal(await jobList(store, { key: "k" }), "a b", "of a key");
      equal(await jobList(store, { key: "k", sort: "runAt" }), "a b", "of a key, by time");
      equal(await jobList(store, { attemptsMin: 1 }), "d e", "that have begun");
      equal(await jobList(store, { attemptsMin: 2 }), "d e", "that have begun twice");
      equal(await jobList(store, { attemptsMin: 3 }), "", "that have begun three times");
      equal(await jobList(store, { attemptsMin: 2, state: "running" }), "e", "that run");
    },
  },
  {
    name: "lists: a cursor of jobs stays good in both orders while jobs come and go",
    rules: ["I2"],
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
      for (const index of [1, 2, 4]) await cancel(store, numbered("job", index), T0);
      await store.addJobs([makeJob({ id: numbered("job", 9) }), makeJob({ id: "job-00002+" })]);
      equal((await page("oldest", younger))[0], "+3", "what follows the oldest");
      equal((await page("newest", older))[0], "3+", "what follows the newest");
    },
  },
];
