import type { JobRecord } from "../../records/job.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  add,
  cancel,
  finish,
  leasedJob,
  look,
  makeJob,
  makeSchedule,
  makeTask,
  release,
  removeSchedule,
  T0,
  take,
} from "./makers.ts";

const RATE = { limit: 3, perMs: 1000, burst: 1 };

export const taskCases: readonly DataStoreCase[] = [
  {
    name: "tasks: putting answers per task whether it was added, updated or left as it was",
    rules: ["T1", "T5"],
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
    rules: ["G4"],
    async run({ open }) {
      const store = await open();
      const task = makeTask({
        executor: "threads",
        maxRunningJobs: 3,
        misfireGraceMs: 5000,
        maxRecoveries: 0,
        timeoutMs: 1234,
        resultExpirationMs: 0,
        retry: { maxAttempts: 5, backoff: { initialMs: 10, factor: 1.5, maxMs: 99, jitter: "none" } },
        metadata: { team: "ops", nested: { list: [1, null, "x"] } },
      });
      await store.putTasks([task]);
      equal(await store.getTask("task"), task, "the stored task");
      await store.putTasks([makeTask()]);
      equal(await store.getTask("task"), makeTask(), "the replaced task");
    },
  },
  {
    name: "tasks: an unchanged declaration changes nothing, so that an edit survives it",
    rules: ["T2", "T5"],
    async run({ open }) {
      const store = await open();
      const declared = makeTask({ declaration: "hash" });
      equal(await store.putTasks([declared]), ["added"], "the declaration");
      equal(await stale(store, declared), [], "the declaration, looked at");
      equal(await store.putTasks([makeTask({ maxRunningJobs: 7 })]), ["updated"], "an edit");
      const edited = { ...declared, maxRunningJobs: 7 };
      equal(await store.getTask("task"), edited, "the edited task");
      equal(await stale(store, declared), [], "the declaration after the edit, looked at");
      equal(await store.putTasks([declared]), ["unchanged"], "the declaration after the edit");
      equal(await store.getTask("task"), edited, "the task after the declaration");
      equal(await store.putTasks([makeTask({ maxRunningJobs: 7 })]), ["unchanged"], "the edit again");
      const other = makeTask({ declaration: "other", maxRunningJobs: 2 });
      equal(await stale(store, other), ["task"], "another declaration, looked at");
      equal(await store.putTasks([other]), ["updated"], "another declaration");
      equal(await store.getTask("task"), other, "the task of the other declaration");
    },
  },
  {
    name: "tasks: a declaration of a lower version, or of none, never replaces that of a higher one",
    rules: ["T3", "T4"],
    async run({ open }) {
      const store = await open();
      const newer = makeTask({ declaration: "newer", version: 4, maxRunningJobs: 4 });
      const older = makeTask({ declaration: "older", version: 3, maxRunningJobs: 3 });
      const none = makeTask({ declaration: "none" });
      equal(await store.putTasks([older]), ["added"], "the older one first");
      equal(await store.putTasks([newer]), ["updated"], "the newer one");
      equal(await stale(store, older), ["task"], "the older one, looked at");
      equal(await store.putTasks([older]), ["outdated"], "the older one again");
      equal(await store.putTasks([none, newer]), ["outdated", "unchanged"], "one without a version");
      equal(await store.getTask("task"), newer, "the stored task");
      const sibling = makeTask({ declaration: "sibling", version: 4 });
      equal(await store.putTasks([sibling]), ["updated"], "one of the same version");
      equal(await store.getTask("task"), sibling, "the task of the same version");
    },
  },
  {
    name: "tasks: an unchanged declaration raises the version, and lowers it never",
    rules: ["T4"],
    async run({ open }) {
      const store = await open();
      const declared = (version?: number): TaskRecord =>
        makeTask({ declaration: "hash", ...(version === undefined ? {} : { version }) });
      equal(await store.putTasks([declared()]), ["added"], "without a version");
      equal(await stale(store, declared(0)), ["task"], "the first version, looked at");
      equal(await store.putTasks([declared(0), declared(5), declared(2)]), Array(3).fill("unchanged"), "more of them");
      equal(await store.getTask("task"), declared(5), "the stored task");
      equal(await stale(store, declared(2)), [], "a lower version, looked at");
      equal(await store.putTasks([makeTask({ maxRunningJobs: 7 })]), ["updated"], "an edit");
      equal(await store.getTask("task"), { ...declared(5), maxRunningJobs: 7 }, "the edited task");
    },
  },
  {
    name: "tasks: a declaration that was made from another one than the stored one conflicts, and changes nothing",
    rules: ["T16"],
    async run({ open }) {
      const store = await open();
      const one = makeTask({ declaration: "one", version: 2, maxRunningJobs: 5, maxRunningPerKey: 2 });
      equal(await store.putTasks([{ ...one, replaces: null }]), ["added"], "over nothing");
      equal(await store.getTask("task"), one, "the stored task");
      const two = makeTask({ declaration: "two", version: 3, maxRunningJobs: 1, rateLimit: RATE, declaredBy: "two" });
      for (const replaces of [null, "zero"]) {
        equal(await store.putTasks([{ ...two, replaces }]), ["conflict"], `made from ${replaces}`);
        equal(await store.getTask("task"), one, `the task after one made from ${replaces}`);
      }
      equal(await store.putTasks([{ ...one, version: 4, replaces: null }]), ["unchanged"], "the same again");
      equal((await store.getTask("task"))?.version, 4, "the version of the same again");
      equal(await store.putTasks([{ ...two, replaces: "zero" }]), ["conflict"], "an older one, made from another one");
      equal(
        await store.putTasks([{ ...two, replaces: "one" }]),
        ["outdated"],
        "an older one, made from the stored one",
      );
      const newer = { ...two, version: 4 };
      const other = makeTask({ id: "other", declaration: "two" });
      const both = await store.putTasks([
        { ...newer, replaces: "one" },
        { ...other, replaces: "zero" },
      ]);
      equal(both, ["updated", "added"], "made from the stored one, and one that is not there");
      equal(await store.getTask("task"), newer, "the task that was made from the stored one");
      equal(await store.putTasks([makeTask({ maxRunningJobs: 7 })]), ["updated"], "an edit");
      equal(await store.putTasks([{ ...one, version: 4, replaces: "two" }]), ["updated"], "over what was edited");
      equal(await store.removeTask("task"), "removed", "the removal");
      equal(await store.putTasks([{ ...newer, replaces: "one" }]), ["added"], "over what was removed");
      equal(await store.getTask("task"), newer, "the task after its removal");
      await store.putTasks([makeTask({ id: "edited" })]);
      equal(await store.putTasks([{ ...other, id: "edited", replaces: null }]), ["updated"], "over no declaration");
    },
  },
  {
    name: "tasks: the limit of a removed task still counts for jobs that are added afterwards",
    rules: ["T8"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 2, declaration: "hash", version: 3 })]);
      equal(await store.removeTask("task"), "removed", "the removal");
      equal([await store.getTask("task"), await store.getTasks()], [null, []], "what is left of it to see");
      await store.addJobs(["a", "b", "c"].map((id) => makeJob({ id })));
      equal((await acquired(store)).length, 2, "jobs that run at once");
      const again = makeTask({ maxRunningJobs: null, declaration: "older", version: 1 });
      equal(await stale(store, again), ["task"], "the task again, looked at");
      equal(await store.putTasks([again]), ["added"], "the task again");
      equal(await store.getTask("task"), again, "the task that was put again");
      equal((await acquired(store)).length, 1, "jobs beyond the old limit");
    },
  },
  {
    name: "tasks: a task that comes twice in one call counts as existing the second time",
    rules: ["G15"],
    async run({ open }) {
      const store = await open();
      const changes = await store.putTasks([makeTask(), makeTask({ maxRunningJobs: 2 })]);
      equal(changes, ["added", "updated"], "the two answers");
      equal((await store.getTask("task"))?.maxRunningJobs, 2, "the later settings");
    },
  },
  {
    name: "tasks: all of them are listed by id, and none at first",
    rules: ["T6", "G14"],
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
    rules: ["T7"],
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
    rules: ["T7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      await store.addSchedules(add(makeSchedule()));
      equal(await store.removeTask("task"), "inUse", "with a schedule");
      await removeSchedule(store, "schedule");
      equal(await store.removeTask("task"), "removed", "without one");
    },
  },
  {
    name: "tasks: one with a delayed, a ready or a leased job is in use",
    rules: ["T7"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      await store.addJobs([makeJob({ id: "delayed", runAt: T0 + 1000 })]);
      equal(await store.removeTask("task"), "inUse", "with a delayed job");
      await cancel(store, "delayed", T0);
      await store.addJobs([makeJob({ id: "ready" })]);
      equal(await store.removeTask("task"), "inUse", "with a ready job");
      await cancel(store, "ready", T0);
      const job = await leasedJob(store, { id: "leased" });
      equal(await store.removeTask("task"), "inUse", "with a leased job");
      await release(store, [finish(job)]);
      equal(await store.removeTask("task"), "removed", "with nothing but results");
    },
  },
];

async function acquired(store: DataStore): Promise<readonly JobRecord[]> {
  return (await take(store)).acquired;
}

async function stale(store: DataStore, task: TaskRecord): Promise<readonly string[]> {
  return (await look(store, { tasks: [task] })).staleTaskIds;
}
