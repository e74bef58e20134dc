import type { TaskRecord } from "../../records/task.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { add, finish, leasedJob, look, makeJob, makeSchedule, makeTask, release, T0 } from "./makers.ts";

export const taskCases: readonly DataStoreCase[] = [
  {
    name: "tasks: putting answers per task whether it was added, updated or left as it was",
    async run({ open }) {
      const store = await open();
      const first = await store.putTasks([makeTask({ id: "a" }), makeTask({ id: "b" })]);
      equal(first, ["added", "added"], "two new tasks");
      const second = await store.putTasks([
        makeTask({ id: "b", maxRunningJobs: 7 }),
        makeTask({ id: "c" }),
        makeTask({ id: "a" }),
      ]);
      equal(second, ["updated", "added", "unchanged"], "a changed, a new and an equal task");
      equal((await store.getTask("b"))?.maxRunningJobs, 7, "the changed setting");
    },
  },
  {
    name: "tasks: every field comes back as it was put",
    async run({ open }) {
      const store = await open();
      const task = makeTask({
        executor: "threads",
        maxRunningJobs: 3,
        misfireGraceMs: 5000,
        maxRecoveries: 0,
        timeoutMs: 1234,
        resultExpirationMs: 0,
        retry: { attemptsMax: 5, initialMs: 10, factor: 1.5, maxMs: 99, jitter: "none" },
        metadata: { team: "ops", nested: { list: [1, null, "x"] } },
      });
      await store.putTasks([task]);
      equal(await store.getTask("task"), task, "the stored task");
      await store.putTasks([makeTask()]);
      equal(await store.getTask("task"), makeTask(), "the replaced task");
    },
  },
  {
    name: "tasks: the hash and the version of a declaration come back, count as settings, and may go again",
    async run({ open }) {
      const store = await open();
      const task = makeTask({ declaration: "hash", version: 4 });
      equal(await store.putTasks([makeTask()]), ["added"], "without");
      equal(await store.putTasks([task]), ["updated"], "with");
      equal(await store.putTasks([task]), ["unchanged"], "again");
      equal(await store.getTask("task"), task, "the stored task");
      const stale = async (asked: TaskRecord): Promise<readonly string[]> =>
        (await look(store, { tasks: [asked] })).staleTaskIds;
      equal(await stale(task), [], "an equal one");
      equal(await stale(makeTask({ declaration: "other", version: 4 })), ["task"], "another hash");
      equal(await stale(makeTask({ declaration: "hash", version: 5 })), ["task"], "another version");
      equal(await store.putTasks([makeTask()]), ["updated"], "without again");
      equal(await store.getTask("task"), makeTask(), "the task without them");
    },
  },
  {
    name: "tasks: a task that comes twice in one call counts as existing the second time",
    async run({ open }) {
      const store = await open();
      const changes = await store.putTasks([makeTask(), makeTask({ maxRunningJobs: 2 })]);
      equal(changes, ["added", "updated"], "the two answers");
      equal((await store.getTask("task"))?.maxRunningJobs, 2, "the later settings");
    },
  },
  {
    name: "tasks: all of them are listed by id, and none at first",
    async run({ open }) {
      const store = await open();
      equal(await store.getTasks(), [], "an empty store");
      equal(await store.putTasks([]), [], "putting nothing");
      await store.putTasks([makeTask({ id: "c" }), makeTask({ id: "a" }), makeTask({ id: "b" })]);
      equal(
        (await store.getTasks()).map(({ id }) => id),
        ["a", "b", "c"],
        "the ids",
      );
      equal(await store.getTask("missing"), null, "an unknown task");
    },
  },
  {
    name: "tasks: one that nothing refers to is removed, an unknown one is missing",
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      equal(await store.removeTask("task"), "removed", "the first removal");
      equal(await store.removeTask("task"), "missing", "the second removal");
      equal(await store.getTask("task"), null, "the removed task");
    },
  },
  {
    name: "tasks: one with a schedule is in use",
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      await store.addSchedules(add(makeSchedule()));
      equal(await store.removeTask("task"), "inUse", "with a schedule");
      await store.removeSchedule("schedule");
      equal(await store.removeTask("task"), "removed", "without one");
    },
  },
  {
    name: "tasks: one with a delayed, a ready or a leased job is in use",
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      await store.addJobs([makeJob({ id: "delayed", runAt: T0 + 1000 })]);
      equal(await store.removeTask("task"), "inUse", "with a delayed job");
      await store.cancelJob("delayed", T0);
      await store.addJobs([makeJob({ id: "ready" })]);
      equal(await store.removeTask("task"), "inUse", "with a ready job");
      await store.cancelJob("ready", T0);
      const job = await leasedJob(store, { id: "leased" });
      equal(await store.removeTask("task"), "inUse", "with a leased job");
      await release(store, [finish(job)]);
      equal(await store.removeTask("task"), "removed", "with nothing but results");
    },
  },
];
