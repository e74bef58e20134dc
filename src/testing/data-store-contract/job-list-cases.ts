import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { jobList } from "./list-makers.ts";
import { cancel, makeJob, makeJobs, makeTask, numbered, step, T0 } from "./makers.ts";

export const jobListCases: readonly DataStoreCase[] = [
  {
    name: "lists: jobs are queued, held or running, as their records say",
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
      await step(store, { limit: 1 });
      await store.addJobs([makeJob({ id: "child", after: ["later"], onParentFailure: "cancel" })]);
      equal(await jobList(store, { state: "running" }), "k1", "running");
      equal(await jobList(store, { state: "held" }), "child k2 k3", "held by a limit or by parents");
      equal(await jobList(store, { state: "queued" }), "later other", "queued");
      equal(await jobList(store, { state: "queued", taskId: "x" }), "other", "queued of a task");
      equal(await jobList(store, { state: "running", taskId: "x" }), "", "running of a task that runs nothing");
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
      await step(store, { limit: 1 });
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
