import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { add, idsOf, LEASE_MS, makeSchedule, numbered, T0, takeSchedules } from "./makers.ts";

export const scheduleAcquisitionCases: readonly DataStoreCase[] = [
  {
    name: "due schedules: one gets its holder, the lease's end and a higher fence",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ fence: 3 })));
      const { schedules } = await takeSchedules(store, { by: "me", until: T0 + 500 });
      const expected = makeSchedule({ acquiredBy: "me", acquiredUntil: T0 + 500, fence: 4 });
      equal(schedules, [expected], "the leased schedule");
      equal(await store.getSchedule("schedule"), expected, "the stored schedule");
    },
  },
  {
    name: "due schedules: earliest next fire time first, then by id, at most the limit",
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
      equal(idsOf((await takeSchedules(store, { limit: 3 })).schedules), ["earliest", "a", "b"], "the first three");
      equal(idsOf((await takeSchedules(store, { limit: 3 })).schedules), ["late"], "what is left");
    },
  },
  {
    name: "due schedules: paused, exhausted and future ones are not due; one exactly at now is",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "paused", paused: true }),
          makeSchedule({ id: "exhausted", nextFireTime: null }),
          makeSchedule({ id: "future", nextFireTime: T0 + 1 }),
          makeSchedule({ id: "now", nextFireTime: T0 }),
        ),
      );
      const report = await takeSchedules(store);
      equal(idsOf(report.schedules), ["now"], "what is leased");
      equal(report.nextDueAt, T0 + 1, "when to look again");
    },
  },
  {
    name: "due schedules: one under a live lease is left alone, one whose lease has ended is taken",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule()));
      await takeSchedules(store, { by: "a", until: T0 + 100 });
      const early = await takeSchedules(store, { by: "b", now: T0 + 99 });
      equal([idsOf(early.schedules), early.nextDueAt], [[], T0 + 100], "just before the lease ends");
      const { schedules } = await takeSchedules(store, { by: "b", now: T0 + 100, until: T0 + 200 });
      equal(schedules, [makeSchedule({ acquiredBy: "b", acquiredUntil: T0 + 200, fence: 2 })], "when it has ended");
    },
  },
  {
    name: "due schedules: ones whose lease has ended keep their place in the order",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "first", nextFireTime: T0 - 10 })));
      await takeSchedules(store, { until: T0 + 1 });
      await store.addSchedules(
        add(
          makeSchedule({ id: "second", nextFireTime: T0 - 5 }),
          makeSchedule({ id: "zeroth", nextFireTime: T0 - 20 }),
        ),
      );
      const { schedules } = await takeSchedules(store, { now: T0 + 1, limit: 2 });
      equal(idsOf(schedules), ["zeroth", "first"], "the first two");
    },
  },
  {
    name: "due schedules: repeating an acquisition returns what it leased, without a new fence",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "a" }), makeSchedule({ id: "b" })));
      const first = await takeSchedules(store, { acquisitionId: "one" });
      const second = await takeSchedules(store, { acquisitionId: "one" });
      equal(second.schedules, first.schedules, "the repetition");
    },
  },
  {
    name: "due schedules: repeating an acquisition tops it up to the limit",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "a", nextFireTime: T0 - 1 })));
      await takeSchedules(store, { acquisitionId: "one", limit: 2 });
      await store.addSchedules(add(makeSchedule({ id: "b" }), makeSchedule({ id: "c" })));
      const { schedules } = await takeSchedules(store, { acquisitionId: "one", limit: 2 });
      equal(idsOf(schedules), ["a", "b"], "the repetition");
    },
  },
  {
    name: "due schedules: a repeated acquisition finds what it leased also after another one of the same scheduler",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "a" }), makeSchedule({ id: "b" })));
      const first = await takeSchedules(store, { acquisitionId: "one", limit: 1 });
      await takeSchedules(store, { acquisitionId: "two", limit: 1 });
      const { schedules } = await takeSchedules(store, { acquisitionId: "one", limit: 1 });
      equal(schedules, first.schedules, "the repetition");
    },
  },
  {
    name: "due schedules: a repeated acquisition does not return what it no longer holds",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "a" }), makeSchedule({ id: "b" })));
      await takeSchedules(store, { acquisitionId: "one", limit: 2 });
      await store.updateSchedule("a", { nextFireTime: T0 + 5000 });
      equal(idsOf((await takeSchedules(store, { acquisitionId: "one" })).schedules), ["b"], "what is still held");
    },
  },
  {
    name: "due schedules: another acquisition of the same scheduler does not lease again what it holds",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule()));
      await takeSchedules(store, { acquisitionId: "one" });
      equal((await takeSchedules(store, { acquisitionId: "two" })).schedules, [], "the second acquisition");
    },
  },
  {
    name: "due schedules: nextDueAt is at most now when the limit left due ones behind",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "a" }), makeSchedule({ id: "b" })));
      const { nextDueAt } = await takeSchedules(store, { limit: 1 });
      equal(present(nextDueAt, "when to look again") <= T0, true, "it is due already");
    },
  },
  {
    name: "due schedules: nextDueAt does not count what was just acquired, and is null when there is nothing else",
    async run({ open }) {
      const store = await open();
      equal(await takeSchedules(store), { schedules: [], nextDueAt: null }, "an empty store");
      await store.addSchedules(add(makeSchedule(), makeSchedule({ id: "exhausted", nextFireTime: null })));
      equal((await takeSchedules(store)).nextDueAt, null, "all is acquired");
      equal((await takeSchedules(store, { by: "b" })).nextDueAt, T0 + LEASE_MS, "for another scheduler");
    },
  },
  {
    name: "due schedules: paused again while leased, one is not acquired when its lease ends",
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule()));
      await takeSchedules(store);
      await store.updateSchedule("schedule", { paused: true });
      equal(await takeSchedules(store, { now: T0 + LEASE_MS }), { schedules: [], nextDueAt: null }, "nothing is due");
      await store.updateSchedule("schedule", { paused: false });
      equal(idsOf((await takeSchedules(store)).schedules), ["schedule"], "due at once when unpaused");
    },
  },
  {
    name: "due schedules: several schedulers at once never lease the same one",
    async run(context) {
      const stores = await openTwo(context);
      const all = Array.from({ length: 100 }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      await stores[0].addSchedules(add(...all));
      const reports = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          takeSchedules(present(stores[index % 2], "a store"), { by: `scheduler-${index}`, limit: 15 }),
        ),
      );
      const ids = reports.flatMap((report) => idsOf(report.schedules));
      equal([ids.length, new Set(ids).size], [100, 100], "all are leased, each once");
    },
  },
];
