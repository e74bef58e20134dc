import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  add,
  commitPlans,
  idsOf,
  look,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  removeSchedule,
  T0,
  updateSchedule,
} from "./makers.ts";

const OTHER_RULE = { trigger: '{"type":"cron"}', triggerRule: '{"type":"cron"}' };

export const scheduleCases: readonly DataStoreCase[] = [
  {
    name: "schedules: every field comes back as it was added",
    rules: ["S1", "G4"],
    async run({ open }) {
      const store = await open();
      const schedule = makeSchedule({
        name: "Täglich",
        payload: '{"to":"x"}',
        executor: "threads",
        priority: -3,
        coalesce: "all",
        overlap: "cancelRunning",
        skippedCount: 12,
        declaration: "as declared",
        version: 0,
        misfireGraceMs: 0,
        maxJitterMs: 250,
        catchUp: { maxAgeMs: 1000, maxCount: 9, paceMs: 5 },
        resultExpirationMs: 0,
        maxRecoveries: 0,
        metadata: { a: [1, { b: null }] },
        paused: true,
        nextFireTime: null,
        lastFireTime: T0 - 1,
        paceUntil: T0 + 70,
      });
      const report = await store.addSchedules(add(schedule));
      equal(report, { conflicts: null, results: [{ change: "added", schedule }] }, "the answer");
      equal(await store.getSchedule("schedule"), schedule, "the stored schedule");
    },
  },
  {
    name: "schedules: an unknown id is null, and adding nothing adds nothing",
    rules: ["G14", "G15"],
    async run({ open }) {
      const store = await open();
      equal(await store.getSchedule("missing"), null, "an unknown schedule");
      equal(await store.addSchedules([]), { conflicts: null, results: [] }, "the answer to nothing");
    },
  },
  {
    name: "schedules: doNothing keeps the stored one and answers with it",
    rules: ["S2"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ priority: 1 })));
      const report = await store.addSchedules(add(makeSchedule({ priority: 2 }), makeSchedule({ id: "new" })));
      equal(
        report,
        {
          conflicts: null,
          results: [
            { change: "kept", schedule: makeSchedule({ priority: 1 }) },
            { change: "added", schedule: makeSchedule({ id: "new" }) },
          ],
        },
        "the answers",
      );
      equal((await store.getSchedule("schedule"))?.priority, 1, "the stored priority");
    },
  },
  {
    name: "schedules: replace replaces every field but createdAt, lastFireTime and skippedCount, and raises the fence",
    rules: ["S3", "S11"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(makeSchedule({ lastFireTime: T0 - 5, skippedCount: 3, metadata: { old: 1 }, payload: '"old"' })),
      );
      const replacement = makeSchedule({
        ...OTHER_RULE,
        taskId: "other",
        name: "other",
        payload: null,
        metadata: { new: 2 },
        priority: 5,
        paused: true,
        createdAt: T0 + 9,
        nextFireTime: T0 + 100,
        lastFireTime: T0 + 8,
      });
      const report = await store.addSchedules([{ schedule: replacement, conflictPolicy: "replace", setsPaused: true }]);
      const counted = { skippedCount: 3, fence: 1, revision: T0 + 1 };
      const expected = { ...replacement, createdAt: T0, lastFireTime: T0 - 5, ...counted };
      equal(report, { conflicts: null, results: [{ change: "replaced", schedule: expected }] }, "the answer");
      equal(await store.getSchedule("schedule"), expected, "the stored schedule");
    },
  },
  {
    name: "schedules: replacing with an equal triggerRule keeps the stored trigger and nextFireTime",
    rules: ["S4"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ nextFireTime: T0 + 1 })));
      const replacement = makeSchedule({ trigger: '{"anchor":2}', nextFireTime: T0 + 500, priority: 4 });
      await store.addSchedules([{ schedule: replacement, conflictPolicy: "replace" }]);
      const stored = present(await store.getSchedule("schedule"), "the schedule");
      equal(stored.trigger, makeSchedule().trigger, "the trigger with its anchor");
      equal(stored.nextFireTime, T0 + 1, "the next fire time");
      equal(stored.priority, 4, "another field");
    },
  },
  {
    name: "schedules: replacing an exhausted one with an equal rule leaves it exhausted",
    rules: ["S4"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ nextFireTime: null })));
      await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "replace" }]);
      equal((await store.getSchedule("schedule"))?.nextFireTime, null, "the next fire time");
    },
  },
  {
    name: "schedules: replacing by an equal one raises the fence as well, and begins with the stored one",
    rules: ["S11", "G15"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ fence: 40 })));
      await store.addSchedules([{ schedule: makeSchedule({ fence: 1000 }), conflictPolicy: "replace" }]);
      equal(await store.getSchedule("schedule"), makeSchedule({ fence: 41, revision: T0 + 1 }), "the schedule");
    },
  },
  {
    name: "schedules: replacing by another task moves it in what is due and what is in use",
    rules: ["S3"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask(), makeTask({ id: "other" })]);
      await store.addSchedules(add(makeSchedule()));
      const other = makeSchedule({ ...OTHER_RULE, taskId: "other", nextFireTime: T0 + 5 });
      await store.addSchedules([{ schedule: other, conflictPolicy: "replace" }]);
      const early = await look(store, { schedules: {} });
      equal([early.due, early.nextFireAt], [[], T0 + 5], "what is due at the old time");
      const { due } = await look(store, { now: T0 + 5, schedules: {} });
      equal(
        due.map(({ taskId }) => taskId),
        ["other"],
        "what is due at the new one",
      );
      equal(await store.removeTask("task"), "removed", "the old task");
      equal(await store.removeTask("other"), "inUse", "the new task");
    },
  },
  {
    name: "schedules: replace on a free id adds",
    rules: ["S1"],
    async run({ open }) {
      const store = await open();
      const report = await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "replace" }]);
      equal(report, { conflicts: null, results: [{ change: "added", schedule: makeSchedule() }] }, "the answer");
    },
  },
  {
    name: "schedules: error on ids in use names all of them and writes nothing of the call",
    rules: ["S8"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ id: "b" }), makeSchedule({ id: "c" })));
      const report = await store.addSchedules([
        { schedule: makeSchedule({ id: "a" }), conflictPolicy: "error" },
        { schedule: makeSchedule({ id: "c", priority: 9 }), conflictPolicy: "error" },
        { schedule: makeSchedule({ id: "b", priority: 9 }), conflictPolicy: "error" },
        { schedule: makeSchedule({ id: "d" }), conflictPolicy: "doNothing" },
        { schedule: makeSchedule({ id: "b", priority: 9 }), conflictPolicy: "replace" },
      ]);
      equal(report, { conflicts: [1, 2] }, "the answer");
      equal(await store.getSchedule("a"), null, "an addition before the conflict");
      equal(await store.getSchedule("d"), null, "an addition after the conflict");
      equal((await store.getSchedule("b"))?.priority, 0, "a replacement after the conflict");
    },
  },
  {
    name: "schedules: many are changed and removed in one commit, each by its own fence",
    rules: ["S12", "S13", "S14"],
    async run({ open }) {
      const store = await open();
      const ids = Array.from({ length: 1000 }, (_, index) => numbered("s", index));
      const added = ids.map((id) => makeSchedule({ id, fence: 1 }));
      for (let start = 0; start < 1000; start += 200) {
        await store.addSchedules(add(...added.slice(start, start + 200)));
      }
      const wrong = new Set([ids[3], ids[999]]);
      const note = { at: T0, by: "me" };
      const updates = ids.map((id, index) => {
        return { id, expectedFence: wrong.has(id) ? 7 : 1, changes: { paused: true, priority: index } };
      });
      const updated = await store.updateSchedules([{ id: "none", changes: { paused: true } }, ...updates], note);
      const expected = added.map((schedule, index) => {
        const changes = { paused: true, priority: index, fence: 2, revision: schedule.revision + 1 };
        return wrong.has(schedule.id) ? null : { ...schedule, ...changes };
      });
      equal(updated, [null, ...expected], "the answers to the updates");
      const named = { ids: ["none", ids[999] ?? "", ids[3] ?? "", ids[5] ?? ""], cursor: null };
      const page = await store.getSchedules({ ...named, limit: 2 });
      equal(idsOf(page.items), [ids[3], ids[5]], "named schedules");
      const rest = await store.getSchedules({ ...named, limit: 2, cursor: page.cursor });
      equal([idsOf(rest.items), rest.cursor], [[ids[999]], null], "the others");
      equal(idsOf((await store.getSchedules({ ...named, limit: 9, paused: true })).items), [ids[5]], "the paused ones");
      const removals = ids.map((id) => ({ id, expectedFence: 2 }));
      const removed = await store.removeSchedules([{ id: "none" }, ...removals], note);
      equal(removed, [false, ...ids.map((id) => !wrong.has(id))], "the answers to the removals");
      const left = await store.getSchedules({ limit: 10, cursor: null });
      equal(idsOf(left.items), [ids[3], ids[999]], "what is left");
      equal(await store.updateSchedules([]), [], "the answer to no update");
      equal(await store.removeSchedules([]), [], "the answer to no removal");
    },
  },
  {
    name: "schedules: error on free ids adds",
    rules: ["S1"],
    async run({ open }) {
      const store = await open();
      const report = await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "error" }]);
      equal(report, { conflicts: null, results: [{ change: "added", schedule: makeSchedule() }] }, "the answer");
    },
  },
  {
    name: "schedules: an id that comes twice in one call counts as existing the second time",
    rules: ["G15"],
    async run({ open }) {
      const store = await open();
      const kept = await store.addSchedules(add(makeSchedule(), makeSchedule({ priority: 3 })));
      equal(kept.conflicts === null && kept.results.map(({ change }) => change), ["added", "kept"], "doNothing");
      equal((await store.getSchedule("schedule"))?.priority, 0, "what doNothing left");
      const replaced = await store.addSchedules([
        { schedule: makeSchedule({ id: "x" }), conflictPolicy: "doNothing" },
        { schedule: makeSchedule({ id: "x", priority: 3 }), conflictPolicy: "replace" },
      ]);
      equal(
        replaced.conflicts === null && replaced.results.map(({ change }) => change),
        ["added", "replaced"],
        "replace",
      );
      equal((await store.getSchedule("x"))?.priority, 3, "what replace left");
      const refused = await store.addSchedules([
        { schedule: makeSchedule({ id: "y" }), conflictPolicy: "doNothing" },
        { schedule: makeSchedule({ id: "y" }), conflictPolicy: "error" },
      ]);
      equal(refused, { conflicts: [1] }, "error");
      equal(await store.getSchedule("y"), null, "what error left");
    },
  },
  {
    name: "schedules: adding the same again, as after an unknown write, changes nothing",
    rules: ["X4"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule()));
      await store.addSchedules(add(makeSchedule()));
      equal(await store.getSchedule("schedule"), makeSchedule(), "the stored schedule");
      equal((await store.getSchedules({ limit: 10, cursor: null })).items.length, 1, "the number of schedules");
    },
  },
  {
    name: "schedules: pages come by id, each with the cursor of the next, null at the end",
    rules: ["I1", "I3"],
    async run({ open }) {
      const store = await open();
      const all = Array.from({ length: 7 }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      await store.addSchedules(add(...all.toReversed()));
      const first = await store.getSchedules({ limit: 3, cursor: null });
      equal(idsOf(first.items), ["s-00000", "s-00001", "s-00002"], "the first page");
      const second = await store.getSchedules({ limit: 3, cursor: present(first.cursor, "the first cursor") });
      equal(idsOf(second.items), ["s-00003", "s-00004", "s-00005"], "the second page");
      const third = await store.getSchedules({ limit: 3, cursor: present(second.cursor, "the second cursor") });
      equal([idsOf(third.items), third.cursor], [["s-00006"], null], "the last page");
      equal((await store.getSchedules({ limit: 7, cursor: null })).cursor, null, "a page that is exactly full");
    },
  },
  {
    name: "schedules: pages can be of one task, paused ones, or both",
    rules: ["I3"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(
        add(
          makeSchedule({ id: "a", taskId: "x" }),
          makeSchedule({ id: "b", taskId: "x", paused: true }),
          makeSchedule({ id: "c", taskId: "y", paused: true }),
          makeSchedule({ id: "d", taskId: "x", paused: true }),
        ),
      );
      const page = { limit: 10, cursor: null };
      equal(idsOf((await store.getSchedules({ ...page, taskId: "x" })).items), ["a", "b", "d"], "of a task");
      equal(idsOf((await store.getSchedules({ ...page, paused: true })).items), ["b", "c", "d"], "paused");
      equal(idsOf((await store.getSchedules({ ...page, paused: false })).items), ["a"], "not paused");
      equal(idsOf((await store.getSchedules({ ...page, taskId: "x", paused: true })).items), ["b", "d"], "both");
      const first = await store.getSchedules({ limit: 1, cursor: null, taskId: "x", paused: true });
      const rest = await store.getSchedules({ limit: 1, cursor: first.cursor, taskId: "x", paused: true });
      equal([idsOf(first.items), idsOf(rest.items), rest.cursor], [["b"], ["d"], null], "pages of both");
    },
  },
  {
    name: "schedules: an update replaces the given fields alone, null included, and raises the fence",
    rules: ["S10", "S11"],
    async run({ open }) {
      const store = await open();
      const schedule = makeSchedule({
        payload: '"p"',
        misfireGraceMs: 5,
        metadata: { a: { b: 1 } },
        lastFireTime: T0 - 1,
      });
      await store.addSchedules(add(schedule));
      const updated = await updateSchedule(store, "schedule", {
        payload: null,
        misfireGraceMs: null,
        metadata: { c: 2 },
        paused: true,
        nextFireTime: null,
        priority: 8,
      });
      const expected = {
        ...schedule,
        payload: null,
        misfireGraceMs: null,
        metadata: { c: 2 },
        paused: true,
        nextFireTime: null,
        priority: 8,
        fence: 1,
        revision: T0 + 1,
      };
      equal(updated, expected, "the answer");
      equal(await store.getSchedule("schedule"), expected, "the stored schedule");
    },
  },
  {
    name: "schedules: every field that may change does",
    rules: ["S10"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule()));
      const changes = {
        ...OTHER_RULE,
        taskId: "other",
        payload: '{"x":1}',
        executor: "threads",
        priority: 2,
        coalesce: "earliest",
        overlap: "replaceQueued",
        misfireGraceMs: 77,
        maxJitterMs: 3,
        catchUp: { maxAgeMs: null, maxCount: 4, paceMs: null },
        resultExpirationMs: 5,
        maxRecoveries: 6,
        metadata: { k: "v" },
        paused: true,
        nextFireTime: T0 + 1,
        lastFireTime: T0 - 1,
        paceUntil: T0 + 8,
      } as const;
      const expected = { ...makeSchedule(), ...changes, fence: 1, revision: T0 + 1 };
      equal(await updateSchedule(store, "schedule", changes), expected, "the answer");
    },
  },
  {
    name: "schedules: a name can be taken away",
    rules: ["S10"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ name: "Daily" })));
      const expected = makeSchedule({ fence: 1, revision: T0 + 1 });
      equal(await updateSchedule(store, "schedule", { name: null }), expected, "the answer");
    },
  },
  {
    name: "schedules: an update gives a concurrency key, leaves it, and takes it away",
    rules: ["S10"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule()));
      const keyed = makeSchedule({ concurrencyKey: "k" });
      const given = await updateSchedule(store, "schedule", { concurrencyKey: "k" });
      equal(given, { ...keyed, fence: 1, revision: T0 + 1 }, "once it was given");
      const left = await updateSchedule(store, "schedule", { priority: 1 });
      equal(left, { ...keyed, priority: 1, fence: 2, revision: T0 + 2 }, "after another update");
      const taken = await updateSchedule(store, "schedule", { priority: 0, concurrencyKey: null });
      const expected = makeSchedule({ fence: 3, revision: T0 + 3 });
      equal(taken, expected, "once it was taken away");
      equal(await store.getSchedule("schedule"), expected, "the stored schedule");
    },
  },
  {
    name: "schedules: an empty update raises the fence and changes nothing else",
    rules: ["S11"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ fence: 1_099_511_627_775 })));
      const expected = makeSchedule({ fence: 1_099_511_627_776, revision: T0 + 1 });
      equal(await updateSchedule(store, "schedule", {}), expected, "the schedule");
    },
  },
  {
    name: "schedules: repeated, as after an unknown write, an update leaves the same schedule under a higher fence",
    rules: ["X4", "S11"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule()));
      await updateSchedule(store, "schedule", { paused: true, priority: 4 });
      const again = present(await updateSchedule(store, "schedule", { paused: true, priority: 4 }), "the answer");
      equal({ ...again, fence: 0, revision: T0 }, makeSchedule({ paused: true, priority: 4 }), "the schedule");
      isTrue(again.fence >= 1, "its fence has grown");
    },
  },
  {
    name: "schedules: an update with an expected fence happens only when the stored one is equal",
    rules: ["S12"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ fence: 4 })));
      equal(await updateSchedule(store, "schedule", { priority: 1 }, 3), null, "a lower fence");
      equal(await updateSchedule(store, "schedule", { priority: 1 }, 5), null, "a higher fence");
      equal(await store.getSchedule("schedule"), makeSchedule({ fence: 4 }), "what refused updates left");
      equal(
        await updateSchedule(store, "schedule", { priority: 1 }, 4),
        makeSchedule({ fence: 5, revision: T0 + 1, priority: 1 }),
        "an equal one",
      );
      equal(await updateSchedule(store, "missing", { priority: 1 }), null, "an unknown schedule");
      equal(await removeSchedule(store, "schedule", { at: T0, by: "me" }, 4), false, "a removal with a lower fence");
      equal((await store.getSchedule("schedule"))?.fence, 5, "the fence after it");
      isTrue(await removeSchedule(store, "schedule", { at: T0, by: "me" }, 5), "a removal with an equal one");
    },
  },
  {
    name: "schedules: changes raise the revision, and plans do not",
    rules: ["S11"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule({ revision: 7 })));
      const [due] = (await look(store, { schedules: {} })).due;
      await commitPlans(store, [planOf(present(due, "the due schedule"))]);
      const revision = async () => (await store.getSchedule("schedule"))?.revision;
      equal(
        [(await store.getSchedule("schedule"))?.fence, await revision()],
        [1, 7],
        "fence and revision after a plan",
      );
      await updateSchedule(store, "schedule", { paused: true });
      equal(await revision(), 8, "after an update");
      await store.addSchedules([{ schedule: makeSchedule({ revision: 99 }), conflictPolicy: "replace" }]);
      equal(await revision(), 9, "after a replacement");
      await store.addSchedules([{ schedule: makeSchedule({ revision: 99 }), conflictPolicy: "doNothing" }]);
      equal(await revision(), 9, "after an addition that was not made");
      const moved = await updateSchedule(store, "schedule", { nextFireTime: T0 + 7, keepsRevision: true });
      equal([moved?.nextFireTime, moved?.fence, moved?.revision], [T0 + 7, 4, 9], "after an update that keeps it");
      equal(await store.getSchedule("schedule"), moved, "the schedule");
    },
  },
  {
    name: "schedules: one that was removed is gone, also from what is due",
    rules: ["S13"],
    async run({ open }) {
      const store = await open();
      await store.addSchedules(add(makeSchedule()));
      isTrue(await removeSchedule(store, "schedule"), "the first removal removes");
      isTrue(!(await removeSchedule(store, "schedule")), "the second removal finds nothing");
      equal(await store.getSchedule("schedule"), null, "the removed schedule");
      const { due, nextFireAt } = await look(store, { schedules: {} });
      equal([due, nextFireAt], [[], null], "what is due");
    },
  },
];
