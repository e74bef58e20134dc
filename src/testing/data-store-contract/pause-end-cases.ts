import type { CommitReport, DataStore } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { keyed, pause, takenIds, unpause } from "./flow-makers.ts";
import { CHANGES, dueSchedule, entriesOf, ledgerCase, NOTE, TASK_PAUSES } from "./ledger-makers.ts";
import {
  add,
  commit,
  commitPlans,
  look,
  lookedAt,
  makeSchedule,
  makeTask,
  planOf,
  T0,
  updateSchedule,
} from "./makers.ts";

const END = T0 + 60_000;
const SAID = { pausedUntil: END, pauseReason: "upgrade", pausedBy: "Ada" };

/** Pauses of the task of the cases. */
const TASK_SAID = { until: END, reason: "upgrade", by: "Ada" };

/** A commit that ends pauses. */
function endPauses(store: DataStore, now = END, fields: Parameters<typeof commit>[1] = {}): Promise<CommitReport> {
  return commit(store, { now, endsPauses: true, schedules: {}, ...fields });
}

async function pauseOf(store: DataStore, id = "schedule"): Promise<unknown> {
  const { paused, pausedUntil, pauseReason, pausedBy } = (await store.getSchedule(id)) ?? {};
  return { paused, pausedUntil, pauseReason, pausedBy };
}

const NO_PAUSE = { paused: false, pausedUntil: undefined, pauseReason: undefined, pausedBy: undefined };

export const pauseEndCases: readonly DataStoreCase[] = [
  {
    name: "pauses that end: what is said of the pause of a schedule comes and goes with the pause",
    rules: ["S15"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "paused", paused: true, ...SAID }), makeSchedule()));
      equal(await pauseOf(store, "paused"), { paused: true, ...SAID }, "a schedule that was added as paused");
      await updateSchedule(store, "schedule", { paused: true, ...SAID });
      equal(await pauseOf(store), { paused: true, ...SAID }, "a pause");
      await updateSchedule(store, "schedule", { priority: 7 });
      equal(await pauseOf(store), { paused: true, ...SAID }, "another change");
      await store.addSchedules([{ schedule: makeSchedule({ priority: 8 }), conflictPolicy: "replace" }]);
      equal(await pauseOf(store), { paused: true, ...SAID }, "a replacement");
      const other = { pauseReason: "longer", pausedBy: "Alan" };
      await updateSchedule(store, "schedule", { paused: true, ...other });
      equal(await pauseOf(store), { paused: true, pausedUntil: undefined, ...other }, "another pause");
      await updateSchedule(store, "schedule", { paused: false });
      equal(await pauseOf(store), NO_PAUSE, "the end");
      const paused = makeSchedule({ paused: true, ...SAID });
      await store.addSchedules([{ schedule: paused, conflictPolicy: "replace" }]);
      equal(await pauseOf(store), NO_PAUSE, "a replacement by a paused one that does not set the pause");
      await updateSchedule(store, "schedule", { paused: true, ...SAID });
      await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "replace", setsPaused: true }]);
      equal(await pauseOf(store), NO_PAUSE, "a replacement that sets the pause");
    },
  },
  {
    name: "pauses that end: a commit ends those of schedules whose end has come, each once",
    rules: ["S16", "S17"],
    async run(context) {
      const [store, other] = await openTwo(context);
      const at = (id: string, pausedUntil?: number) =>
        makeSchedule({ id, paused: true, ...(pausedUntil === undefined ? {} : { pausedUntil }), pauseReason: "r" });
      await store.addSchedules(add(at("later", END + 1), at("first", END - 1), at("second", END), at("never")));
      equal((await look(other)).pauseEndsAt, END - 1, "what a look tells");
      const early = await endPauses(other, END - 2);
      equal([early.endedPauses, early.due], [undefined, []], "a commit before the first end");
      const without = await commit(other, { now: END, schedules: {} });
      equal([without.endedPauses, without.pauseEndsAt], [undefined, END - 1], "a commit that ends none");
      const before = await store.getSchedule("first");
      const report = await endPauses(other);
      const ended = ["first", "second"].map((id) => ({ id, taskId: "task", nextFireTime: T0 }));
      const schedules = [...(report.endedPauses?.schedules ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));
      equal([schedules, report.endedPauses?.tasks], [ended, []], "the ended pauses");
      equal(
        report.due.map(({ id }) => id),
        ["first", "second"],
        "what is due at the end of the commit",
      );
      equal(report.pauseEndsAt, END + 1, "the next end");
      const { fence = 0, revision = 0 } = before ?? {};
      const raised = { fence: fence + 1, revision: revision + 1 };
      equal(await store.getSchedule("first"), { ...makeSchedule({ id: "first" }), ...raised }, "the schedule");
      equal((await endPauses(store)).endedPauses, undefined, "another commit");
      await endPauses(store, END + 1);
      equal("pauseEndsAt" in (await look(store)), false, "whether a look tells of an end where there is none");
    },
  },
  {
    name: "pauses that end: a plan from before the end does not count, and one from after it does",
    rules: ["S16"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ paused: true, ...SAID })));
      const paused = await store.getSchedule("schedule");
      await endPauses(store);
      const stale = planOf({ ...makeSchedule({ fence: paused?.fence ?? 0 }) });
      equal((await commitPlans(store, [stale], { now: END })).plans[0]?.committed, false, "a plan from before the end");
      const fresh = planOf(makeSchedule({ fence: (paused?.fence ?? 0) + 1 }));
      equal((await commitPlans(store, [fresh], { now: END })).plans[0]?.committed, true, "a plan from after the end");
    },
  },
  {
    name: "pauses that end: an unpausing, another end and a removal take the end away",
    rules: ["S16", "S17"],
    async run({ open }) {
      const store = await open();
      const paused = { paused: true, ...SAID };
      await store.addSchedules(add(...["a", "b", "c"].map((id) => makeSchedule({ id, ...paused }))));
      await updateSchedule(store, "a", { paused: false });
      await updateSchedule(store, "b", { paused: true, pausedUntil: END + 5 });
      await store.removeSchedules([{ id: "c" }]);
      equal((await look(store)).pauseEndsAt, END + 5, "what a look tells");
      equal((await endPauses(store, END + 4)).endedPauses, undefined, "a commit before the later end");
      const [b] = (await endPauses(store, END + 5)).endedPauses?.schedules ?? [];
      equal(b?.id, "b", "the pause that ends then");
    },
  },
  {
    name: "pauses that end: where there are very many, commits end 100 each",
    rules: ["S16"],
    async run({ open }) {
      const store = await open();
      const many = Array.from({ length: 250 }, (_, index) =>
        makeSchedule({
          id: `s${String(index).padStart(3, "0")}`,
          paused: true,
          pausedUntil: END - index,
          nextFireTime: null,
        }),
      );
      await store.addSchedules(add(...many));
      const counts: unknown[] = [];
      for (let commits = 0; commits < 4; commits++) {
        const { endedPauses, pauseEndsAt = null } = await endPauses(store);
        counts.push([endedPauses?.schedules.length ?? 0, pauseEndsAt]);
      }
      equal(
        counts,
        [
          [100, END - 149],
          [100, END - 49],
          [50, null],
          [0, null],
        ],
        "what each commit ended, and the next end",
      );
    },
  },
  {
    name: "pauses that end: those of a task and of its keys end too, and the same commit acquires their jobs",
    rules: ["T15"],
    async run(context) {
      const [store, other] = await openTwo(context);
      await store.putTasks([makeTask(), makeTask({ id: "other" })]);
      await store.addJobs([keyed("a", "k"), keyed("b", "l"), keyed("c", "l")]);
      await pause(store, TASK_SAID);
      await pause(store, { ...TASK_SAID, key: "k", until: END + 1 });
      await pause(store, { taskId: "other", by: "Ada" });
      equal((await look(other)).pauseEndsAt, END, "what a look tells");
      const said = { pausedUntil: END, pauseReason: "upgrade", pausedBy: "Ada" };
      equal((await store.getTask("task")) ?? {}, { ...makeTask(), paused: true, ...said }, "the task");
      equal(
        await store.getTaskPauses(),
        [
          { taskId: "other", key: null, pausedBy: "Ada" },
          { taskId: "task", key: null, ...said },
          { taskId: "task", key: "k", ...said, pausedUntil: END + 1 },
        ],
        "the pauses",
      );
      equal((await endPauses(other, END - 1)).endedPauses, undefined, "a commit before the first end");
      equal(await takenIds(other, { now: END - 1 }), [], "the jobs before the first end");
      const first = await endPauses(other);
      equal(
        first.endedPauses,
        { schedules: [], tasks: [{ taskId: "task", key: null }] },
        "the end of the task's pause",
      );
      equal(
        first.acquired.map(({ id }) => id),
        ["b", "c"],
        "the jobs that it starts",
      );
      equal(await store.getTask("task"), makeTask(), "the task after the end");
      const second = await endPauses(store, END + 1);
      equal(second.endedPauses, { schedules: [], tasks: [{ taskId: "task", key: "k" }] }, "the end of the key's pause");
      equal(
        second.acquired.map(({ id }) => id),
        ["a"],
        "the job that it starts",
      );
      equal(await store.getTaskPauses(), [{ taskId: "other", key: null, pausedBy: "Ada" }], "what stays paused");
      equal((await endPauses(store, END + 2)).endedPauses, undefined, "another commit");
    },
  },
  {
    name: "pauses that end: another pause of a task replaces what was said, and settings leave it",
    rules: ["T14", "T15"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask()]);
      for (const key of [null, "k"]) {
        await pause(store, { ...TASK_SAID, key });
        await pause(store, { key, reason: "longer", by: "Alan" });
      }
      const said = { pauseReason: "longer", pausedBy: "Alan" };
      const both = [null, "k"].map((key) => ({ taskId: "task", key, ...said }));
      equal(await store.getTaskPauses(), both, "the pauses");
      await store.putTasks([makeTask({ maxRunningJobs: 3 })]);
      equal(await store.getTaskPauses(), both, "the pauses after the task was put");
      equal("pauseEndsAt" in (await look(store)), false, "whether a pause ends");
      for (const key of [null, "k"]) await unpause(store, { key });
      equal(await store.getTask("task"), makeTask({ maxRunningJobs: 3 }), "the task");
      equal(await store.getTaskPauses(), [], "the pauses after the end");
      await pause(store, TASK_SAID);
      equal(await store.removeTask("task"), "removed", "the removal");
      equal("pauseEndsAt" in (await look(store)), false, "whether the pause of a removed task ends");
    },
  },
  ledgerCase(["H8", "S16"], "pauses that end: the ledger tells of the pause, and of its end", async (store, ledger) => {
    const schedule = makeSchedule({ nextFireTime: T0 - 5 });
    await store.addSchedules(add(schedule));
    const said = { pausedUntil: END, pauseReason: "upgrade" };
    await updateSchedule(store, "schedule", { paused: true, ...SAID }, undefined, NOTE);
    await updateSchedule(store, "schedule", { paused: true, ...SAID, pausedBy: "Alan" }, undefined, NOTE);
    await updateSchedule(store, "schedule", { paused: true, pausedUntil: END + 1 }, undefined, NOTE);
    await endPauses(store, END + 1);
    const { items } = await ledger.getScheduleChanges(CHANGES);
    const facts = items.map(({ kind, by, at, before, after }) => {
      const state = kind === "unpaused" ? before : after;
      return [kind, by, at, state?.pausedUntil, state?.pauseReason, after?.paused];
    });
    const expected = [
      ["paused", NOTE.by, NOTE.at, said.pausedUntil, said.pauseReason, true],
      ["paused", NOTE.by, NOTE.at, END + 1, undefined, true],
      ["unpaused", null, END + 1, END + 1, undefined, false],
    ];
    equal(facts, expected, "the changes");
    equal(await entriesOf(ledger), [], "the entries");
    equal((await lookedAt(store, schedule)).length, 1, "how many schedules are due");
  }),
  ledgerCase(["H13", "T15"], "pauses that end: the ledger tells of those of tasks and keys", async (store, ledger) => {
    await store.putTasks([makeTask()]);
    for (const key of [null, "k"]) {
      await pause(store, { ...TASK_SAID, key });
      await pause(store, { ...TASK_SAID, key });
      await pause(store, { key, by: "Alan" });
      await pause(store, { ...TASK_SAID, key });
    }
    await endPauses(store);
    const told = (await ledger.getTaskPauseHistory(TASK_PAUSES)).map(({ seq: _, taskId: __, ...record }) => record);
    const said = { until: END, reason: "upgrade" };
    const ofKey = (key: string | null) => [
      { key, kind: "taskPaused", at: T0, by: "Ada", ...said },
      { key, kind: "taskPaused", at: T0, by: "Alan" },
      { key, kind: "taskPaused", at: T0, by: "Ada", ...said },
    ];
    const ends = [null, "k"].map((key) => ({ key, kind: "taskUnpaused", at: END, by: null }));
    equal(told, [...ofKey(null), ...ofKey("k"), ...ends], "the records");
  }),
  ledgerCase(["H8", "P7"], "pauses that end: a plan that pauses its schedule says why", async (store, ledger) => {
    const plan = { ...planOf(await dueSchedule(store)), fires: [], paused: true, pauseReason: "the trigger failed" };
    await commitPlans(store, [plan]);
    const { paused, pauseReason, pausedBy } = (await store.getSchedule("schedule")) ?? {};
    equal([paused, pauseReason, pausedBy], [true, "the trigger failed", "scheduler-a"], "the schedule");
    const { items } = await ledger.getScheduleChanges(CHANGES);
    equal([items.at(-1)?.kind, items.at(-1)?.after?.pauseReason], ["failed", "the trigger failed"], "the change");
  }),
];
