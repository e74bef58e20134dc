import type { ScheduleChangeRecord, ScheduleState } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";
import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  CHANGES,
  cleanUp,
  DAY_MS,
  dueSchedule,
  entriesOf,
  ledgerCase,
  makeSkip,
  NOTE,
  seenAgain,
  TASK_PAUSES,
} from "./ledger-makers.ts";
import { add, commitPlans, makeSchedule, makeTask, planOf, removeSchedule, T0, updateSchedule } from "./makers.ts";

type Changes = Awaited<ReturnType<Ledger["getScheduleChanges"]>>;

/** The state that a change tells of a schedule. */
function stateOf(schedule: ScheduleRecord): ScheduleState {
  const { trigger, nextFireTime, paused, taskId, metadata, ...rest } = schedule;
  const settings = Object.fromEntries(Object.entries(rest).filter(([name]) => !NO_SETTINGS.includes(name)));
  return { trigger, nextFireTime, paused, taskId, settings, metadata };
}

const OF_STORES = ["createdAt", "lastFireTime", "paceUntil", "zoneRules", "fence", "revision", "skippedCount"];
const NO_SETTINGS = ["id", "triggerRule", "payload", "declaration", "version", ...OF_STORES];

/** A schedule that is not due, so that changes move nothing. */
const LATER = makeSchedule({ nextFireTime: T0 + 60_000, payload: "1", metadata: { a: [1] }, concurrencyKey: "key" });

const ADDED = {
  ...NOTE,
  scheduleId: "schedule",
  kind: "added",
  effectiveFrom: T0 + 1,
  before: null,
  after: stateOf(LATER),
  changesPayload: false,
};

/** The changes of the schedule of the cases, the oldest first, without their numbers. */
async function changesOf(ledger: Ledger): Promise<Omit<ScheduleChangeRecord, "seq">[]> {
  return (await ledger.getScheduleChanges(CHANGES)).items.map(({ seq: _seq, ...change }) => change);
}

async function kindsOf(ledger: Ledger): Promise<string[]> {
  return (await ledger.getScheduleChanges(CHANGES)).items.map(({ kind }) => kind);
}

export const changeCases: readonly DataStoreCase[] = [
  ledgerCase(["H8", "H9"], "changes: an addition leaves who added what, and when", async (store, ledger) => {
    await store.addSchedules(add(LATER), NOTE);
    equal(await changesOf(ledger), [ADDED], "the changes");
    await store.addSchedules(add(LATER), { at: T0 + 7, by: "another" });
    equal(await changesOf(ledger), [ADDED], "the changes after a schedule was kept");
    equal(await entriesOf(ledger), [], "the entries");
  }),
  ledgerCase(
    ["H8"],
    "changes: without a note, and where nothing is written, there is nothing to tell",
    async (store, ledger) => {
      await store.addSchedules(add(LATER));
      await updateSchedule(store, "schedule", { priority: 5 });
      await store.addSchedules([{ schedule: makeSchedule({ id: "new" }), conflictPolicy: "error" }, conflict()], NOTE);
      await updateSchedule(store, "schedule", { priority: 6 }, -1, NOTE);
      await updateSchedule(store, "unknown", { priority: 6 }, undefined, NOTE);
      await removeSchedule(store, "unknown", NOTE);
      const outdated = { ...LATER, declaration: "older", version: 1 };
      await store.addSchedules([{ schedule: { ...outdated, version: 2 }, conflictPolicy: "replace" }]);
      const update = { ...outdated, declaration: "other", priority: 9 };
      await store.addSchedules([{ schedule: update, conflictPolicy: "update" }], NOTE);
      equal(await changesOf(ledger), [], "the changes");
      await removeSchedule(store, "schedule");
      equal(await changesOf(ledger), [], "the changes after a removal");
      for (const scheduleId of ["new", "unknown"]) {
        equal((await ledger.getScheduleChanges({ ...CHANGES, scheduleId })).items, [], `the changes of ${scheduleId}`);
      }
    },
  ),
  ledgerCase(["H9"], "changes: a change leaves the states before and after", async (store, ledger) => {
    await store.addSchedules(add(LATER), NOTE);
    const changes = { trigger: "{}", triggerRule: "{}", taskId: "other", priority: 3, metadata: { b: 2 } };
    const fields = { ...changes, nextFireTime: T0 + 90_000, concurrencyKey: null, name: "A name" };
    await updateSchedule(store, "schedule", fields, LATER.fence, { at: T0 + 5, by: null });
    const { concurrencyKey: _removed, ...rest } = LATER;
    const after = stateOf({ ...rest, ...changes, nextFireTime: T0 + 90_000, name: "A name" });
    const expected = { kind: "changed", at: T0 + 5, by: null, effectiveFrom: T0 + 6, before: ADDED.after, after };
    equal(await changesOf(ledger), [ADDED, { ...ADDED, ...expected }], "the changes");
  }),
  ledgerCase(["H9", "H8"], "changes: a replacement leaves what it changed", async (store, ledger) => {
    for (const conflictPolicy of ["replace", "update"] as const) {
      const id = conflictPolicy;
      const first = { ...LATER, id, declaration: "first" };
      await store.addSchedules([{ schedule: first, conflictPolicy }], NOTE);
      const second = { ...first, declaration: "second", trigger: "{}", priority: 8 };
      const replacement = { ...second, triggerRule: "{}", nextFireTime: T0 + 70_000, createdAt: T0 + 9 };
      await store.addSchedules([{ schedule: replacement, conflictPolicy }], { at: T0 + 9, by: "another" });
      await store.addSchedules([{ schedule: replacement, conflictPolicy }], { at: T0 + 10, by: "a third" });
      const [, ...changed] = (await ledger.getScheduleChanges({ ...CHANGES, scheduleId: id })).items;
      const states = { before: stateOf(first), after: stateOf({ ...replacement, createdAt: T0 }) };
      const expected = { at: T0 + 9, by: "another", kind: "changed", effectiveFrom: T0 + 10, changesPayload: false };
      equal(
        changed.map(({ seq: _seq, ...change }) => change),
        [{ scheduleId: id, ...expected, ...states }],
        `the changes of ${conflictPolicy}, of which a repetition is none`,
      );
    }
  }),
  ledgerCase(
    ["H8", "G15"],
    "changes: a schedule that one call adds twice was added, and then changed",
    async (store, ledger) => {
      const second = { ...LATER, priority: 4 };
      const additions = [LATER, second].map((schedule) => ({ schedule, conflictPolicy: "replace" as const }));
      await store.addSchedules(additions, NOTE);
      const changed = { ...ADDED, kind: "changed", before: ADDED.after, after: stateOf(second) };
      equal(await changesOf(ledger), [ADDED, changed], "the changes");
    },
  ),
  ledgerCase(["H9"], "changes: a payload is told to have changed, and is not told", async (store, ledger) => {
    await store.addSchedules(add(LATER), NOTE);
    await updateSchedule(store, "schedule", { payload: '"new"' }, undefined, { at: T0 + 1, by: "a" });
    await updateSchedule(store, "schedule", { payload: null, priority: 2 }, undefined, { at: T0 + 2, by: "a" });
    await updateSchedule(store, "schedule", { payload: null, priority: 3 }, undefined, { at: T0 + 3, by: "a" });
    const changes = await changesOf(ledger);
    equal(
      changes.map((change) => change.changesPayload),
      [false, true, true, false],
      "which changed the payload",
    );
    equal(
      changes.map(({ kind }) => kind),
      ["added", "changed", "changed", "changed"],
      "their kinds",
    );
  }),
  ledgerCase(["H8"], "changes: what changed nothing, as a repetition, leaves nothing", async (store, ledger) => {
    await store.addSchedules(add(LATER), NOTE);
    await updateSchedule(store, "schedule", {}, undefined, { at: T0 + 1, by: "a" });
    const same = { priority: LATER.priority, metadata: { a: [1] }, payload: "1", concurrencyKey: "key" };
    await updateSchedule(store, "schedule", same, undefined, { at: T0 + 2, by: "a" });
    await store.addSchedules([{ schedule: LATER, conflictPolicy: "replace" }], { at: T0 + 3, by: "a" });
    equal(await kindsOf(ledger), ["added"], "the changes after some that changed nothing");
    for (const at of [T0 + 4, T0 + 5]) {
      await updateSchedule(store, "schedule", { priority: 7 }, undefined, { at, by: "a" });
    }
    for (const at of [T0 + 6, T0 + 7]) await removeSchedule(store, "schedule", { at, by: "a" });
    const kinds = (await ledger.getScheduleChanges(CHANGES)).items.map(({ kind, at }) => [kind, at - T0]);
    equal(
      kinds,
      [
        ["added", 0],
        ["changed", 4],
        ["removed", 6],
      ],
      "the changes after repetitions",
    );
  }),
  ledgerCase(["H9"], "changes: a pause and its end are told apart from other changes", async (store, ledger) => {
    await store.addSchedules(add(LATER), NOTE);
    for (const changes of [
      { paused: true },
      { paused: true },
      { paused: false },
      { paused: true, priority: 1 },
      { paused: false, nextFireTime: T0 + 70_000 },
      { paused: true, payload: "2" },
      { paused: false },
      { nextFireTime: T0 + 80_000 },
    ]) {
      await updateSchedule(store, "schedule", changes, undefined, { at: T0 + 5, by: "a" });
    }
    const kinds = ["added", "paused", "unpaused", "changed", "unpaused", "changed", "unpaused", "changed"];
    equal(await kindsOf(ledger), kinds, "the kinds");
  }),
  ledgerCase(
    ["H8"],
    "changes: a schedule whose trigger failed was paused by the scheduler that planned",
    async (store, ledger) => {
      const schedule = await dueSchedule(store, {}, { ...NOTE, at: T0 - 5 });
      const { nextFireTime, lastFireTime } = schedule;
      const plan = planOf(schedule, { fires: [], nextFireTime, lastFireTime, paused: true });
      await commitPlans(store, [plan], { now: T0 + 9, by: "scheduler-b" });
      await commitPlans(store, [plan], { now: T0 + 10 });
      const before = stateOf(makeSchedule());
      const states = { before, after: { ...before, paused: true }, changesPayload: false };
      const failed = { scheduleId: "schedule", kind: "failed", at: T0 + 9, by: "scheduler-b", effectiveFrom: T0 };
      equal((await changesOf(ledger)).slice(1), [{ ...failed, ...states }], "the changes after the addition");
      equal(await entriesOf(ledger), [], "the entries");
    },
  ),
  ledgerCase(["H8"], "changes: a plan of a failed trigger tells itself what it passes over", async (store, ledger) => {
    const told = makeSkip(T0 + 1000, { until: T0 + 2000, verdict: "tooOld", count: 2 });
    for (const [id, skips] of [
      ["silent", []],
      ["telling", [told]],
    ] as const) {
      const schedule = await dueSchedule(store, { id }, { ...NOTE, at: T0 - 5 });
      const plan = planOf(schedule, { fires: [], skips, nextFireTime: T0 + 5000, lastFireTime: null, paused: true });
      await commitPlans(store, [plan], { now: T0 + 9000 });
      const failed = (await ledger.getScheduleChanges({ ...CHANGES, scheduleId: id })).items.at(-1);
      equal([failed?.kind, failed?.effectiveFrom], ["failed", T0 + 5000], `the last change of ${id}`);
      const entries = skips.map((skip) => ({ kind: "skip", ...skip }));
      equal(await entriesOf(ledger, { scheduleId: id }), entries, `the entries of ${id}`);
    }
  }),
  ledgerCase(["H8"], "changes: plans that move a schedule on are none", async (store, ledger) => {
    const schedule = await dueSchedule(store, {}, { ...NOTE, at: T0 - 5 });
    await commitPlans(store, [planOf(schedule)]);
    await commitPlans(store, [planOf(await seenAgain(store), { nextFireTime: null })], { now: T0 + 1000 });
    equal(await kindsOf(ledger), ["added"], "the changes");
  }),
  ledgerCase(["H20"], "changes: nobody removes a schedule that has ended: the clean-up does", async (store, ledger) => {
    await store.addSchedules(add({ ...LATER, nextFireTime: null }), NOTE);
    await store.cleanup({ now: T0 + 9, limit: 100 });
    const before = stateOf({ ...LATER, nextFireTime: null });
    const removed = { kind: "removed", at: T0 + 9, by: null, effectiveFrom: T0 + 10, before, after: null };
    equal((await changesOf(ledger)).slice(1), [{ ...ADDED, ...removed }], "the changes after the addition");
  }),
  ledgerCase(
    ["H12"],
    "changes: they are numbered over schedules and tasks, and listed in both orders",
    async (store, ledger) => {
      await store.putTasks([makeTask()]);
      await store.addSchedules(add(LATER), NOTE);
      await store.addSchedules(add(makeSchedule({ id: "other" })), NOTE);
      await store.pauseTask({ taskId: "task", key: null, paused: true, now: T0, by: "a" });
      for (const priority of [1, 2, 3, 4]) await updateSchedule(store, "schedule", { priority }, undefined, NOTE);
      await store.pauseTask({ taskId: "task", key: null, paused: false, now: T0, by: "a" });
      const { items: all } = await ledger.getScheduleChanges(CHANGES);
      const { items: others } = await ledger.getScheduleChanges({ ...CHANGES, scheduleId: "other" });
      const pauses = await ledger.getTaskPauseHistory(TASK_PAUSES);
      const [first, ...rest] = all.map(({ seq }) => seq);
      const [paused, unpaused] = pauses.map(({ seq }) => seq);
      const seqs = [first, others[0]?.seq, paused, ...rest, unpaused].map((seq) => present(seq, "a number"));
      isTrue(
        seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? 0)),
        `numbers that grow: ${seqs}`,
      );
      for (const order of ["oldest", "newest"] as const) {
        const expected = order === "oldest" ? all : all.toReversed();
        const listed = [];
        for (let after: number | null = null; listed.length < all.length; after = listed.at(-1)?.seq ?? null) {
          const page: Changes = await ledger.getScheduleChanges({ ...CHANGES, order, limit: 2, after });
          isTrue(page.items.length > 0 && page.items.length <= 2, "a page of one or two");
          listed.push(...page.items);
          equal(page.hasMore, listed.length < all.length, "whether there is another page");
        }
        equal(listed, expected, `pages of two, the ${order} first`);
        const none = { ...CHANGES, order, after: present(expected.at(-1), "the last one").seq };
        equal((await ledger.getScheduleChanges(none)).items, [], "what comes after the last one");
      }
    },
  ),
  ledgerCase(["H12", "I1"], "changes: a page ends at 4 MB, and the other changes follow", async (store, ledger) => {
    const metadata = { text: "x".repeat(600_000) };
    await store.addSchedules(add(makeSchedule({ ...LATER, metadata })), NOTE);
    for (const priority of [1, 2, 3, 4, 5]) await updateSchedule(store, "schedule", { priority }, undefined, NOTE);
    const first: Changes = await ledger.getScheduleChanges(CHANGES);
    equal([first.items.length, first.hasMore], [3, true], "the first page");
    const after = present(first.items.at(-1), "the last change of the page").seq;
    const second: Changes = await ledger.getScheduleChanges({ ...CHANGES, after });
    equal([second.items.length, second.hasMore], [3, false], "the second page");
  }),
  ledgerCase(["H12"], "changes: no number comes again after the clean-up", async (store, ledger) => {
    await store.addSchedules(add(LATER), NOTE);
    await removeSchedule(store, "schedule", NOTE);
    const last = present((await ledger.getScheduleChanges(CHANGES)).items.at(-1), "the removal").seq;
    const late = T0 + ledger.limits.ageMsMax + DAY_MS;
    await cleanUp(store, late, 2);
    equal(await changesOf(ledger), [], "what is left");
    await store.addSchedules(add(LATER), NOTE);
    const [{ seq } = { seq: 0 }] = (await ledger.getScheduleChanges(CHANGES)).items;
    isTrue(seq > last, `a number above ${last}, not ${seq}`);
    await removeSchedule(store, "schedule", NOTE);
    await cleanUp(store, late, 2);
    await store.putTasks([makeTask()]);
    await store.pauseTask({ taskId: "task", key: null, paused: true, now: T0, by: "a" });
    const pauses = (await ledger.getTaskPauseHistory(TASK_PAUSES)).map((pause) => pause.seq);
    isTrue(pauses.length === 1 && (pauses[0] ?? 0) > seq + 1, `one number above ${seq + 1}, not ${pauses}`);
  }),
  ledgerCase(["H13"], "changes: the pauses of a task and of its keys leave who paused what", async (store, ledger) => {
    await store.putTasks([makeTask(), makeTask({ id: "other" })]);
    const pauses = [
      { taskId: "task", key: null, paused: true, now: T0 + 1, by: "a" },
      { taskId: "task", key: null, paused: true, now: T0 + 2, by: "repetition" },
      { taskId: "task", key: "key", paused: true, now: T0 + 3, by: "b" },
      { taskId: "other", key: null, paused: true, now: T0 + 4, by: "c" },
      { taskId: "task", key: null, paused: false, now: T0 + 5, by: "d" },
      { taskId: "task", key: "key", paused: false, now: T0 + 6, by: "e" },
      { taskId: "task", key: "key", paused: false, now: T0 + 7, by: "repetition" },
      { taskId: "task", key: null, paused: true, now: T0 + 8 },
      { taskId: "task", key: null, paused: false, now: T0 + 9 },
      { taskId: "unknown", key: null, paused: true, now: T0 + 9, by: "f" },
    ];
    for (const pause of pauses) await store.pauseTask(pause);
    const history = (await ledger.getTaskPauseHistory(TASK_PAUSES)).map(({ seq: _seq, ...pause }) => pause);
    const told = [
      { taskId: "task", key: null, kind: "taskPaused", at: T0 + 1, by: "a" },
      { taskId: "task", key: "key", kind: "taskPaused", at: T0 + 3, by: "b" },
      { taskId: "task", key: null, kind: "taskUnpaused", at: T0 + 5, by: "d" },
      { taskId: "task", key: "key", kind: "taskUnpaused", at: T0 + 6, by: "e" },
    ];
    equal(history, told, "the pauses of the task");
    const newest = await ledger.getTaskPauseHistory({ ...TASK_PAUSES, order: "newest", limit: 2 });
    equal(
      newest.map(({ by }) => by),
      ["e", "d"],
      "the newest two",
    );
    const after = present(newest[1], "the second").seq;
    const rest = await ledger.getTaskPauseHistory({ ...TASK_PAUSES, order: "newest", after });
    equal(
      rest.map(({ by }) => by),
      ["b", "a"],
      "those before them",
    );
    equal((await ledger.getTaskPauseHistory({ ...TASK_PAUSES, taskId: "unknown" })).length, 0, "those of no task");
  }),
];

/** An addition that keeps its call from writing anything. */
function conflict(): { readonly schedule: ScheduleRecord; readonly conflictPolicy: "error" } {
  return { schedule: LATER, conflictPolicy: "error" };
}
