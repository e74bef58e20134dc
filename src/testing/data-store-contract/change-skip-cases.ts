import type { OccurrenceRecord } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";
import type { ScheduleChanges } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { CHANGES, cleanUp, entriesOf, ledgerCase, makeSkip, NOTE, seenAgain, skipOf } from "./ledger-makers.ts";
import { add, commitPlans, makeSchedule, planOf, removeSchedule, T0, updateSchedule } from "./makers.ts";

// What was due when a schedule was changed, and from when on the change counts.

const AT = T0 + 50_000;
const LATER = { at: AT, by: "somebody" };

/** A skip that a change leaves. */
function left(from: number, until: number, verdict: "paused" | "replaced" | "removed"): OccurrenceRecord {
  return skipOf(from, { until, verdict, count: null });
}

/** From when on the last change counts. */
async function effectiveFrom(ledger: Ledger): Promise<number | undefined> {
  return (await ledger.getScheduleChanges({ ...CHANGES, order: "newest", limit: 1 })).items[0]?.effectiveFrom;
}

interface Moved {
  readonly what: string;
  readonly schedule: Partial<ScheduleRecord>;
  readonly changes: ScheduleChanges;
  readonly effectiveFrom: number;
  readonly skips: readonly OccurrenceRecord[];
}

const DUE = { nextFireTime: T0 + 1000, lastFireTime: T0 };
const BEHIND = { nextFireTime: T0 - 500, lastFireTime: T0 };
const EARLY = { nextFireTime: AT + 1000, lastFireTime: T0 };

const MOVES: readonly Moved[] = [
  {
    what: "a next fire time that was not due becomes a later one",
    schedule: EARLY,
    changes: { nextFireTime: AT + 7000 },
    effectiveFrom: AT + 1,
    skips: [],
  },
  {
    what: "a next fire time that was not due becomes one that is due",
    schedule: EARLY,
    changes: { nextFireTime: T0 + 3000 },
    effectiveFrom: T0 + 3000,
    skips: [],
  },
  {
    what: "a next fire time that was not due is taken away",
    schedule: EARLY,
    changes: { nextFireTime: null },
    effectiveFrom: AT + 1,
    skips: [],
  },
  {
    what: "a next fire time that was due becomes a later one that is due",
    schedule: DUE,
    changes: { nextFireTime: T0 + 3000 },
    effectiveFrom: T0 + 3000,
    skips: [left(T0 + 1000, T0 + 2999, "replaced")],
  },
  {
    what: "a next fire time that was due becomes the present",
    schedule: DUE,
    changes: { nextFireTime: AT },
    effectiveFrom: AT,
    skips: [left(T0 + 1000, AT - 1, "replaced")],
  },
  {
    what: "a next fire time that was due becomes one that is not due",
    schedule: DUE,
    changes: { nextFireTime: AT + 1 },
    effectiveFrom: AT + 1,
    skips: [left(T0 + 1000, AT, "replaced")],
  },
  {
    what: "a next fire time that was due is taken away",
    schedule: DUE,
    changes: { nextFireTime: null },
    effectiveFrom: AT + 1,
    skips: [left(T0 + 1000, AT, "replaced")],
  },
  {
    what: "a next fire time that is the present is taken away",
    schedule: { ...DUE, nextFireTime: AT },
    changes: { nextFireTime: null },
    effectiveFrom: AT + 1,
    skips: [left(AT, AT, "replaced")],
  },
  {
    what: "a next fire time that was due becomes an earlier one",
    schedule: DUE,
    changes: { nextFireTime: T0 + 500 },
    effectiveFrom: T0 + 500,
    skips: [],
  },
  {
    what: "a next fire time becomes one before the last fire time",
    schedule: DUE,
    changes: { nextFireTime: T0 - 500 },
    effectiveFrom: T0 + 1,
    skips: [],
  },
  {
    what: "there was no next fire time",
    schedule: { ...DUE, nextFireTime: null },
    changes: { nextFireTime: T0 + 3000 },
    effectiveFrom: T0 + 3000,
    skips: [],
  },
  {
    what: "the rule changes, and the next fire time that is due stays",
    schedule: DUE,
    changes: { trigger: "{}", triggerRule: "{}", nextFireTime: T0 + 1000 },
    effectiveFrom: T0 + 1000,
    skips: [],
  },
  {
    what: "a schedule that is due is paused",
    schedule: DUE,
    changes: { paused: true },
    effectiveFrom: T0 + 1000,
    skips: [],
  },
  {
    what: "a schedule goes on, and catches up",
    schedule: { ...DUE, paused: true },
    changes: { paused: false },
    effectiveFrom: T0 + 1000,
    skips: [],
  },
  {
    what: "a schedule goes on after its pause",
    schedule: { ...DUE, paused: true },
    changes: { paused: false, nextFireTime: AT + 500 },
    effectiveFrom: AT + 1,
    skips: [left(T0 + 1000, AT, "paused")],
  },
  {
    what: "the rule changes in a pause",
    schedule: { ...DUE, paused: true },
    changes: { trigger: "{}", triggerRule: "{}", nextFireTime: T0 + 9000 },
    effectiveFrom: T0 + 9000,
    skips: [left(T0 + 1000, T0 + 8999, "paused")],
  },
  {
    what: "a schedule whose next fire time is behind its last one is paused",
    schedule: BEHIND,
    changes: { paused: true },
    effectiveFrom: T0 + 1,
    skips: [],
  },
  {
    what: "a next fire time behind the last one becomes one that is not due",
    schedule: BEHIND,
    changes: { nextFireTime: AT + 500 },
    effectiveFrom: AT + 1,
    skips: [left(T0 + 1, AT, "replaced")],
  },
  {
    what: "a clock that is behind takes the next fire time away",
    schedule: { nextFireTime: AT + 1000, lastFireTime: AT + 500 },
    changes: { nextFireTime: null },
    effectiveFrom: AT + 501,
    skips: [],
  },
];

export const changeSkipCases: readonly DataStoreCase[] = [
  ledgerCase(
    ["H10", "H9"],
    "changes: what was due and is passed over is told, and from when on a change counts",
    async (store, ledger) => {
      for (const [index, { what, schedule, changes, ...expected }] of MOVES.entries()) {
        const id = `schedule-${index}`;
        await store.addSchedules(add(makeSchedule({ id, ...schedule })));
        await updateSchedule(store, id, changes, undefined, LATER);
        const [change] = (await ledger.getScheduleChanges({ ...CHANGES, scheduleId: id })).items;
        const skips = await entriesOf(ledger, { scheduleId: id });
        equal({ effectiveFrom: change?.effectiveFrom, skips }, expected, what);
      }
    },
  ),
  ledgerCase(
    ["H9"],
    "changes: an addition counts from its first fire time that is due, or from then on",
    async (store, ledger) => {
      for (const [nextFireTime, expected] of [
        [AT + 1, AT + 1],
        [AT, AT],
        [T0, T0],
        [null, AT + 1],
      ] as const) {
        const id = `${nextFireTime}`;
        await store.addSchedules(add(makeSchedule({ id, nextFireTime })), LATER);
        const [change] = (await ledger.getScheduleChanges({ ...CHANGES, scheduleId: id })).items;
        equal(change?.effectiveFrom, expected, `from when on ${id} counts`);
        equal(await entriesOf(ledger, { scheduleId: id }), [], "the entries");
      }
    },
  ),
  ledgerCase(["H10"], "changes: a replacement passes over what was due", async (store, ledger) => {
    const first = makeSchedule(DUE);
    await store.addSchedules(add(first));
    const second = { ...first, trigger: "{}", triggerRule: "{}", nextFireTime: AT + 9 };
    for (const note of [LATER, { ...LATER, at: AT + 3 }]) {
      await store.addSchedules([{ schedule: second, conflictPolicy: "replace" }], note);
    }
    equal(await effectiveFrom(ledger), AT + 1, "from when on it counts");
    equal(await entriesOf(ledger), [left(T0 + 1000, AT, "replaced")], "the entries");
  }),
  ledgerCase(["H8"], "changes: without a note, nothing that was due is told", async (store, ledger) => {
    await store.addSchedules(add(makeSchedule(DUE)));
    await updateSchedule(store, "schedule", { nextFireTime: T0 + 3000 });
    await removeSchedule(store, "schedule");
    equal(await entriesOf(ledger), [], "the entries");
  }),
  ledgerCase(["H10"], "changes: a removal passes over what was due", async (store, ledger) => {
    for (const [id, fields, skips] of [
      ["due", DUE, [left(T0 + 1000, AT, "removed")]],
      ["paused", { ...DUE, paused: true }, [left(T0 + 1000, AT, "paused")]],
      ["not due", EARLY, []],
      ["ended", { ...DUE, nextFireTime: null }, []],
    ] as const) {
      await store.addSchedules(add(makeSchedule({ id, ...fields })));
      for (const at of [AT, AT + 1]) await removeSchedule(store, id, { ...LATER, at });
      const { items: changes } = await ledger.getScheduleChanges({ ...CHANGES, scheduleId: id });
      const told = changes.map(({ kind, effectiveFrom: from, after }) => ({ kind, from, after }));
      equal(told, [{ kind: "removed", from: AT + 1, after: null }], `the changes of the one that was ${id}`);
      equal(await entriesOf(ledger, { scheduleId: id }), skips, `the entries of the one that was ${id}`);
    }
  }),
  ledgerCase(["H11"], "changes: a later change cuts what earlier changes had passed over", async (store, ledger) => {
    await store.addSchedules(add(makeSchedule(DUE)));
    const move = (at: number, nextFireTime: number) =>
      updateSchedule(store, "schedule", { nextFireTime }, undefined, { ...LATER, at });
    await move(AT, T0 + 9000);
    equal(await entriesOf(ledger), [left(T0 + 1000, T0 + 8999, "replaced")], "the entries after the first change");
    await move(AT + 1, T0 + 5000);
    equal(await entriesOf(ledger), [left(T0 + 1000, T0 + 4999, "replaced")], "the entries after the second change");
    await move(AT + 2, T0 + 7000);
    const both = [left(T0 + 1000, T0 + 4999, "replaced"), left(T0 + 5000, T0 + 6999, "replaced")];
    equal(await entriesOf(ledger), both, "the entries after the third change");
    await move(AT + 3, T0 + 3000);
    equal(await entriesOf(ledger), [left(T0 + 1000, T0 + 2999, "replaced")], "the entries after the fourth change");
    await move(AT + 4, T0 + 1000);
    equal(await entriesOf(ledger), [], "the entries after the last change");
    equal(await effectiveFrom(ledger), T0 + 1000, "from when on the last change counts");
  }),
  ledgerCase(
    ["H11"],
    "changes: a rule that changes alone cuts what earlier changes had passed over",
    async (store, ledger) => {
      await store.addSchedules(add(makeSchedule(DUE)));
      await updateSchedule(store, "schedule", { nextFireTime: AT + 7000 }, undefined, LATER);
      equal(await entriesOf(ledger), [left(T0 + 1000, AT, "replaced")], "the entries after the first change");
      const note = { by: "a clock that is behind", at: AT - 1000 };
      await updateSchedule(store, "schedule", { trigger: "{}", triggerRule: "{}" }, undefined, note);
      equal(await entriesOf(ledger), [left(T0 + 1000, AT - 1000, "replaced")], "the entries after the second change");
    },
  ),
  ledgerCase(["H11"], "changes: what leaves the fire times alone cuts nothing", async (store, ledger) => {
    const schedule = makeSchedule({ ...DUE, paused: true });
    await store.addSchedules(add(schedule));
    await updateSchedule(store, "schedule", { nextFireTime: null }, undefined, LATER);
    const skipped = [left(T0 + 1000, AT, "paused")];
    const note = { by: "a clock that is behind", at: AT - 1000 };
    await updateSchedule(store, "schedule", { paused: false }, undefined, note);
    equal(await entriesOf(ledger), skipped, "the entries after an update");
    const same = { ...schedule, nextFireTime: null, priority: 7 };
    await store.addSchedules([{ schedule: same, conflictPolicy: "replace" }], note);
    equal(await entriesOf(ledger), skipped, "the entries after a replacement");
    await removeSchedule(store, "schedule", note);
    equal(await entriesOf(ledger), skipped, "the entries after the removal");
  }),
  ledgerCase(["H11"], "changes: what plans passed over is not cut", async (store, ledger) => {
    await store.addSchedules(add(makeSchedule({ nextFireTime: T0 })));
    const skips = [
      makeSkip(T0, { until: T0 + 4000, verdict: "tooOld", count: null }),
      makeSkip(T0 + 5000, { until: T0 + 8000, verdict: "replaced", count: null, into: T0 + 9000 }),
    ];
    const plan = planOf(await seenAgain(store), { fires: [], skips, nextFireTime: T0 + 9000, lastFireTime: T0 + 8000 });
    await commitPlans(store, [plan], { now: T0 + 9000 });
    await updateSchedule(store, "schedule", { nextFireTime: T0 + 2000 }, undefined, LATER);
    equal(
      await entriesOf(ledger),
      skips.map((skip) => ({ kind: "skip", ...skip })),
      "the entries",
    );
  }),
  ledgerCase(
    ["H20"],
    "changes: the clean-up removes what has ended, and passes over nothing",
    async (store, ledger) => {
      await store.addSchedules(add(makeSchedule({ ...DUE, nextFireTime: null })), NOTE);
      await cleanUp(store, AT, 2);
      equal(await store.getSchedule("schedule"), null, "the schedule");
      equal(await entriesOf(ledger), [], "the entries");
    },
  ),
  ledgerCase(
    ["H20"],
    "changes: the clean-up ends a schedule after its last fire time, with a clock that is behind, too",
    async (store, ledger) => {
      await store.addSchedules(add(makeSchedule({ nextFireTime: null, lastFireTime: AT + 500 })));
      await store.cleanup({ now: AT, limit: 100 });
      equal(await effectiveFrom(ledger), AT + 501, "from when on the removal counts");
    },
  ),
];
