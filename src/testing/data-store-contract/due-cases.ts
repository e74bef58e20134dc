import type { ScheduleRecord } from "../../records/schedule.ts";
import type { DataStore, LookedSchedule, ScheduleWindow } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import {
  add,
  commit,
  idsOf,
  look,
  lookedAt,
  makeSchedule,
  numbered,
  removeSchedule,
  T0,
  updateSchedule,
} from "./makers.ts";

/** What a planner sees of a schedule, except the size of its row. */
function seen(record: ScheduleRecord): object {
  const {
    payload: _,
    metadata: _ignored,
    name: _name,
    skippedCount: _count,
    revision: _revision,
    declaration: _hash,
    version: _version,
    ...schedule
  } = record;
  return { ...schedule, preferredScheduler: null, bytes: 0 };
}

function withoutBytes(due: readonly LookedSchedule[]): object[] {
  return due.map((schedule) => ({ ...schedule, bytes: 0 }));
}

/** The ids of the schedules in a window, and the earliest fire time after the window. */
async function windowOf(store: DataStore, window: Partial<ScheduleWindow> = {}): Promise<[string[], number | null]> {
  const { due, nextFireAt } = await look(store, { schedules: window });
  return [idsOf(due), nextFireAt];
}

/** The place after a schedule. */
function behind(due: readonly LookedSchedule[]): [number, string] {
  const last = present(due.at(-1), "the last schedule of a page");
  return [last.nextFireTime, last.id];
}

export const dueCases: readonly DataStoreCase[] = [
  {
    name: "due schedules: each comes with every field that a planner needs",
    rules: ["V2"],
    async run({ open }) {
      const store = await open();
      const schedule = makeSchedule({
        name: "n",
        payload: '"p"',
        executor: "threads",
        priority: -3,
        coalesce: "all",
        overlap: "skip",
        declaration: "a",
        version: 1,
        misfireGraceMs: 0,
        maxJitterMs: 250,
        catchUp: { maxAgeMs: 1000, maxCount: 9, paceMs: 5 },
        resultExpirationMs: 0,
        maxRecoveries: 0,
        metadata: { a: [1, { b: null }] },
        nextFireTime: T0 - 5,
        lastFireTime: T0 - 10,
        paceUntil: T0 + 9,
        fence: 1_099_511_627_775,
      });
      equal(withoutBytes(await lookedAt(store, schedule)), [seen(schedule)], "what is due");
    },
  },
  {
    name: "due schedules: earliest next fire time first, then by id, at most the limit",
    rules: ["V2", "V3"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "late", nextFireTime: T0 - 1 }),
          makeSchedule({ id: "b", nextFireTime: T0 - 5 }),
          makeSchedule({ id: "earliest", nextFireTime: T0 - 9 }),
          makeSchedule({ id: "a", nextFireTime: T0 - 5 }),
        ),
      );
      equal(await windowOf(store), [["earliest", "a", "b", "late"], null], "all");
      equal(await windowOf(store, { limit: 3 }), [["earliest", "a", "b"], T0 - 1], "the first three");
      equal(await windowOf(store, { limit: 1 }), [["earliest"], T0 - 5], "the first");
    },
  },
  {
    name: "due schedules: paused, exhausted and future ones are not due; one exactly at the window's end is",
    rules: ["V2"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "paused", paused: true }),
          makeSchedule({ id: "paused later", paused: true, nextFireTime: T0 + 1 }),
          makeSchedule({ id: "exhausted", nextFireTime: null }),
          makeSchedule({ id: "future", nextFireTime: T0 + 2 }),
          makeSchedule({ id: "now", nextFireTime: T0 }),
        ),
      );
      equal(await windowOf(store), [["now"], T0 + 2], "what is due");
      await updateSchedule(store, "now", { paused: true });
      equal(await windowOf(store), [[], T0 + 2], "when it is paused");
      await updateSchedule(store, "now", { paused: false });
      equal(await windowOf(store), [["now"], T0 + 2], "when it is not any more");
      await updateSchedule(store, "future", { nextFireTime: null });
      equal(await windowOf(store), [["now"], null], "when the future one is exhausted");
    },
  },
  {
    name: "due schedules: a look ahead shows what is due by then",
    rules: ["V2"],
    async run({ open }) {
      const store = await open();
      const soon = makeSchedule({ id: "soon", nextFireTime: T0 + 60 });
      await store.addSchedules(add(soon, makeSchedule({ id: "later", nextFireTime: T0 + 61 })));
      equal(await windowOf(store, { dueBy: T0 + 60 }), [["soon"], T0 + 61], "60 ms ahead");
      equal(await windowOf(store, { dueBy: T0 + 59 }), [[], T0 + 60], "59 ms ahead");
    },
  },
  {
    name: "due schedules: nextFireAt is null in an empty store, and the earliest one where the limit is 0",
    rules: ["V5"],
    async run({ open }) {
      const store = await open();
      equal(await windowOf(store), [[], null], "an empty store");
      await store.addSchedules(add(makeSchedule({ id: "a" }), makeSchedule({ id: "b", nextFireTime: T0 - 3 })));
      equal(await windowOf(store, { limit: 0 }), [[], T0 - 3], "a limit of 0");
    },
  },
  {
    name: "due schedules: pages go on behind the last one, across equal fire times, and none comes twice",
    rules: ["V3"],
    async run({ open }) {
      const store = await open();
      const all = Array.from({ length: 23 }, (_, index) =>
        makeSchedule({ id: numbered("s", index), nextFireTime: T0 - 100 + Math.floor(index / 5) }),
      );
      await store.addSchedules(add(...all.toReversed()));
      const ids: string[] = [];
      let after: ScheduleWindow["after"] = null;
      for (let page = 0; page < 8; page++) {
        const { due, nextFireAt } = await look(store, { schedules: { limit: 3, after } });
        ids.push(...idsOf(due));
        equal(nextFireAt, all[ids.length]?.nextFireTime ?? null, `the earliest behind page ${page}`);
        if (due.length > 0) after = behind(due);
      }
      equal(ids, idsOf(all), "the ids of all pages");
      equal((await look(store, { schedules: { limit: 3, after } })).due, [], "a page behind the last one");
    },
  },
  {
    name: "due schedules: a page can go on behind a schedule that is no longer there",
    rules: ["V3"],
    async run({ open }) {
      const store = await open();
      const all = Array.from({ length: 4 }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      await store.addSchedules(add(...all));
      await removeSchedule(store, "s-00001");
      equal(await windowOf(store, { after: [T0, "s-00001"] }), [["s-00002", "s-00003"], null], "behind a removed one");
      equal(await windowOf(store, { after: [T0 - 1, "x"], limit: 1 }), [["s-00000"], T0], "behind an earlier time");
      equal(await windowOf(store, { after: [T0, "x"] }), [[], null], "behind them all");
    },
  },
  {
    name: "due schedules: the rows of a page are bounded in bytes, and the first one is shown whatever its size",
    rules: ["V3"],
    async run({ open }) {
      const store = await open();
      const payload = `"${"x".repeat(10_000)}"`;
      const metadata = { text: "y".repeat(10_000) };
      const all = [
        makeSchedule({ id: "a", nextFireTime: T0 - 4 }),
        makeSchedule({ id: "b", nextFireTime: T0 - 3, payload }),
        makeSchedule({ id: "c", nextFireTime: T0 - 2, metadata }),
        makeSchedule({ id: "d", nextFireTime: T0 - 1 }),
      ];
      const due = await lookedAt(store, ...all);
      const sizes = due.map(({ bytes }) => bytes);
      isTrue(
        sizes.every((size, index) => size >= (index === 1 || index === 2 ? 10_000 : 1)),
        "each row is as large as what it holds",
      );
      const [a = 0, b = 0, c = 0, d = 0] = sizes;
      isTrue(Math.max(a, d) < 5000, "small rows are small");
      equal(await windowOf(store, { bytesMax: a + b + c + d }), [["a", "b", "c", "d"], null], "room for all");
      equal(await windowOf(store, { bytesMax: a + b + c + d - 1 }), [["a", "b", "c"], T0 - 1], "a byte too few");
      equal(await windowOf(store, { bytesMax: a + d + 100 }), [["a"], T0 - 3], "none is passed over for a smaller one");
      equal(await windowOf(store, { bytesMax: 1 }), [["a"], T0 - 3], "the first one alone");
      equal(await windowOf(store, { bytesMax: 1, after: [T0 - 4, "a"] }), [["b"], T0 - 2], "a large one alone");
    },
  },
  {
    name: "due schedules: the size of a row follows its changes",
    rules: ["V4"],
    async run({ open }) {
      const store = await open();
      const [before] = await lookedAt(store, makeSchedule());
      await updateSchedule(store, "schedule", { metadata: { text: "y".repeat(10_000) } });
      const [large] = (await look(store, { schedules: {} })).due;
      isTrue(present(large, "the schedule").bytes >= 10_000 + present(before, "the schedule").bytes - 100, "it grew");
      await updateSchedule(store, "schedule", { metadata: {} });
      const [after] = (await look(store, { schedules: {} })).due;
      equal(after?.bytes, before?.bytes, "and shrank again");
    },
  },
  {
    name: "due schedules: without schedules in the view none is shown",
    rules: ["V9"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule()));
      const { due, nextFireAt } = await look(store);
      equal([due, nextFireAt], [[], null], "a look");
      const report = await commit(store);
      equal([report.due, report.nextFireAt], [[], null], "a commit");
    },
  },
  {
    name: "due schedules: everybody sees the same, and looking takes nothing",
    rules: ["V1"],
    async run(context) {
      const [first, second] = await openTwo(context);
      const due = await lookedAt(first, makeSchedule());
      for (const [store, by] of [[second, "b"] as const, [first, "scheduler-a"] as const]) {
        equal((await look(store, { by, schedules: {} })).due, due, `as ${by} sees it`);
        equal((await commit(store, { by, schedules: {} })).due, due, `as a commit of ${by} reports it`);
      }
      equal(await first.getSchedule("schedule"), makeSchedule(), "the schedule");
    },
  },
];
