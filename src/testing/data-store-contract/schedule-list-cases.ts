import { OptionsError } from "../../core/errors.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { jobList, scheduleList } from "./list-makers.ts";
import { add, makeJob, makeSchedule, makeTask, removeSchedule, T0, updateSchedule } from "./makers.ts";

async function isRefused(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => false,
    (error: unknown) => error instanceof OptionsError,
  );
}

export const scheduleListCases: readonly DataStoreCase[] = [
  {
    name: "lists: schedules are found by a part of their id or name, whatever the case of its letters A to Z",
    rules: ["I6", "I3"],
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
      equal(await scheduleList(store, { search: "rEpOrT" }), "a Report b", "by id and by name");
      equal(await scheduleList(store, { search: '"daily" 100%_' }), "a Report", "signs mean themselves");
      equal(await scheduleList(store, { search: "%" }), "a Report", "no pattern");
      equal(await scheduleList(store, { search: "Ä" }), "b", "another letter");
      equal(await scheduleList(store, { search: "ä" }), "", "another letter in the other case");
      equal(await scheduleList(store, { search: "o", taskId: "task" }), "a Report b c", "together with a task");
      equal(await scheduleList(store, { search: "nowhere" }), "", "a text that nothing has");
    },
  },
  {
    name: "lists: schedules are active, paused or ended, and a change counts at once",
    rules: ["I3"],
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
      equal(await scheduleList(store, { state: "active" }), "a e", "active");
      equal(await scheduleList(store, { state: "paused" }), "b", "paused");
      equal(await scheduleList(store, { state: "ended" }), "c d", "ended");
      equal(await scheduleList(store, { state: "ended", paused: true }), "d", "ended and paused");
      equal(await scheduleList(store, { state: "paused", paused: false }), "", "a contradiction");
      equal(await scheduleList(store, { paused: true }), "b d", "paused, ended or not");
      equal(await scheduleList(store, { state: "active", taskId: "other" }), "e", "active of a task");
      equal(await scheduleList(store, { state: "ended", search: "D" }), "d", "ended with a text");
      await updateSchedule(store, "a", { paused: true });
      await updateSchedule(store, "c", { nextFireTime: T0 });
      equal(await scheduleList(store, { state: "active" }), "c e", "active after the changes");
      equal(await scheduleList(store, { state: "paused" }), "a b", "paused after the changes");
    },
  },
  {
    name: "lists: schedules come by their next fire time, then by id, and those without one are the last",
    rules: ["I3"],
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
      equal(await scheduleList(store, { sort: "id" }), "a b c d e f", "by id");
      equal(await scheduleList(store, sorted), "c f d e a b", "by time");
      equal(await scheduleList(store, { ...sorted, state: "active" }), "c e", "active by time");
      equal(await scheduleList(store, { ...sorted, state: "paused" }), "f d", "paused by time");
      equal(await scheduleList(store, { ...sorted, state: "ended" }), "a b", "ended by time");
      equal(await scheduleList(store, { ...sorted, paused: true }), "f d a", "paused or ended by time");
      equal(await scheduleList(store, { ...sorted, paused: false }), "c e b", "not paused by time");
      equal(await scheduleList(store, { ...sorted, taskId: "task" }), "f d e a b", "of a task by time");
      equal(await scheduleList(store, { ...sorted, search: "C" }), "c", "with a text by time");
    },
  },
  {
    name: "lists: ids are in the order of their code points, where an emoji comes after every letter and sign",
    rules: ["G8"],
    async run({ open }) {
      const store = await open();
      // UTF-16 units, by which JavaScript compares texts, have the emoji before the sign.
      const ids = ["B", "a", "a\ud83d\ude00", "\uff5e", "\ud83d\ude00", "\ud83d\ude00b"];
      const mixed = [4, 0, 3, 5, 2, 1].map((place) => ids[place] ?? "");
      await store.putTasks(mixed.map((id) => makeTask({ id, maxRunningJobs: null })));
      await store.addSchedules(add(...mixed.map((id) => makeSchedule({ id, nextFireTime: T0 }))));
      await store.addJobs(mixed.map((id) => makeJob({ id, taskId: id, runAt: T0 })));
      const inOrder = ids.join(" ");
      equal((await store.getTasks()).map(({ id }) => id).join(" "), inOrder, "tasks");
      equal(await scheduleList(store, {}), inOrder, "schedules by id");
      equal(await scheduleList(store, { sort: "nextFireTime" }), inOrder, "schedules by time");
      equal(await jobList(store, {}), inOrder, "jobs");
      const due: string[] = [];
      for (let after: readonly [number, string] | null = null; due.length < ids.length; ) {
        const page = { dueBy: T0, limit: 1, bytesMax: 1_000_000, after };
        const seen = await store.look({ now: T0, schedulerId: "s", jobs: null, schedules: page, tasks: null });
        due.push(...seen.due.map(({ id }) => id));
        after = [T0, due.at(-1) ?? ""];
      }
      equal(due.join(" "), inOrder, "due schedules");
      equal((await store.inspect(T0)).tasks.map(({ taskId }) => taskId).join(" "), inOrder, "tasks with jobs");
      for (const taskId of mixed) {
        for (const key of [null, ...mixed]) await store.pauseTask({ taskId, key, paused: true, now: T0 });
      }
      const pauses = await store.getTaskPauses();
      const expected = ids.flatMap((taskId) => [null, ...ids].map((key) => ({ taskId, key })));
      equal(pauses, expected, "pauses");
    },
  },
  {
    name: "lists: a cursor by next fire time stays good while schedules come, go and fire; any other text is refused",
    rules: ["I2"],
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
      await removeSchedule(store, "b");
      await removeSchedule(store, "c");
      await updateSchedule(store, "a", { nextFireTime: T0 + 100 });
      await store.addSchedules(
        add(makeSchedule({ id: "before", nextFireTime: T0 }), makeSchedule({ id: "z", nextFireTime: T0 + 1 })),
      );
      const [rest, last] = await page(4, cursor);
      equal(rest, "z d e a", "what follows the first page now");
      equal(await page(4, last), ["never", null], "the end");
      for (const text of ["", "b", "x y", " a"]) {
        equal(await isRefused(page(1, text)), true, `the cursor ${JSON.stringify(text)} is refused`);
      }
    },
  },
];
