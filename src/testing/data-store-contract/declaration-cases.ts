import type { ScheduleRecord } from "../../records/schedule.ts";
import type { DataStore, LookReport, ScheduleAddition, ScheduleDeclaration } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { look, makeSchedule, T0, updateSchedule } from "./makers.ts";

const OTHER_RULE = { trigger: '{"type":"cron"}', triggerRule: '{"type":"cron"}' };

/** Declares a schedule, and returns what became of it. */
async function declare(
  store: DataStore,
  fields: Partial<ScheduleRecord>,
  others: Partial<ScheduleAddition> = {},
): Promise<{ change: string; schedule: ScheduleRecord } | undefined> {
  const addition: ScheduleAddition = { schedule: makeSchedule(fields), conflictPolicy: "update", ...others };
  const report = await store.addSchedules([addition]);
  return report.conflicts === null ? report.results[0] : undefined;
}

export const declarationCases: readonly DataStoreCase[] = [
  {
    name: "schedule declarations: one that is new is added with its declaration and version",
    rules: ["S1"],
    async run({ open }) {
      const store = await open();
      const schedule = makeSchedule({ declaration: "a", version: 3 });
      equal(await declare(store, schedule), { change: "added", schedule }, "the answer");
      equal(await store.getSchedule("schedule"), schedule, "the stored schedule");
    },
  },
  {
    name: "schedule declarations: a look shows those that are stored as they are declared, and writes nothing",
    rules: ["V12"],
    async run({ open }) {
      const store = await open();
      await declare(store, { id: "a", declaration: "x", version: 2, payload: "1" });
      await declare(store, { id: "b", declaration: "x" });
      await declare(store, { id: "c" });
      const a = await store.getSchedule("a");
      const b = await store.getSchedule("b");
      const unchanged = async (...declared: readonly ScheduleDeclaration[]): Promise<LookReport["unchanged"]> =>
        (await look(store, { declared })).unchanged;
      equal(
        await unchanged({ id: "b", declaration: "x" }, { id: "a", declaration: "x", version: 2 }),
        [b, a],
        "as they are declared",
      );
      equal(await unchanged({ id: "a", declaration: "x" }), [a], "of a lower version");
      equal(await unchanged({ id: "b", declaration: "x", version: 1 }), [], "of a higher version");
      const others = [
        { id: "a", declaration: "y", version: 2 },
        { id: "c", declaration: "x" },
        { id: "missing", declaration: "x" },
      ];
      equal(await unchanged(...others), [], "what is declared anew, edited or missing");
      equal((await look(store)).unchanged, undefined, "nothing asked");
      equal(await store.getSchedule("a"), a, "the stored schedule");
    },
  },
  {
    name: "schedule declarations: while it is declared as before, nothing changes, whoever edited it since",
    rules: ["S6"],
    async run({ open }) {
      const store = await open();
      await declare(store, { declaration: "a", priority: 1 });
      const edited = await updateSchedule(store, "schedule", { priority: 7, paused: true, ...OTHER_RULE });
      const answer = await declare(store, { declaration: "a", priority: 1, nextFireTime: T0 + 9 });
      equal(answer, { change: "kept", schedule: edited }, "the answer");
      equal(await store.getSchedule("schedule"), edited, "the stored schedule");
    },
  },
  {
    name: "schedule declarations: what is declared anew replaces all but the history and the pause",
    rules: ["S6", "S3"],
    async run({ open }) {
      const store = await open();
      const before = { declaration: "a", payload: '"old"', lastFireTime: T0 - 5, skippedCount: 4, paused: true };
      await declare(store, { ...before, metadata: { old: 1 } });
      const anew = makeSchedule({
        ...OTHER_RULE,
        declaration: "b",
        taskId: "other",
        payload: '"new"',
        priority: 2,
        overlap: "skip",
        metadata: { new: 2 },
        createdAt: T0 + 9,
        nextFireTime: T0 + 100,
        fence: 77,
      });
      const counted = { skippedCount: 4, fence: 1, revision: T0 + 1 };
      const expected = { ...anew, createdAt: T0, lastFireTime: T0 - 5, paused: true, ...counted };
      equal(await declare(store, anew), { change: "updated", schedule: expected }, "the answer");
      equal(await store.getSchedule("schedule"), expected, "the stored schedule");
    },
  },
  {
    name: "schedule declarations: with an equal rule the stored trigger and nextFireTime stay",
    rules: ["S4", "S6"],
    async run({ open }) {
      const store = await open();
      await declare(store, { declaration: "a", nextFireTime: T0 - 77 });
      const anew = { declaration: "b", trigger: '{"type":"interval","start":2}', nextFireTime: T0 + 100, priority: 1 };
      const counted = { fence: 1, revision: T0 + 1 };
      const expected = makeSchedule({ declaration: "b", nextFireTime: T0 - 77, priority: 1, ...counted });
      equal(await declare(store, anew), { change: "updated", schedule: expected }, "the answer");
    },
  },
  {
    name: "schedule declarations: a new rule revives one that has ended, and the same declaration does not",
    rules: ["S4", "S6"],
    async run({ open }) {
      const store = await open();
      await declare(store, { declaration: "a", nextFireTime: null, lastFireTime: T0 - 1 });
      equal((await declare(store, { declaration: "a" }))?.schedule.nextFireTime, null, "declared as before");
      const anew = { ...OTHER_RULE, declaration: "b", nextFireTime: T0 };
      equal((await declare(store, anew))?.schedule.nextFireTime, T0, "with a new rule");
      equal((await look(store, { schedules: {} })).due.length, 1, "how many are due");
    },
  },
  {
    name: "schedule declarations: a pause stays unless the addition sets it, with update and with replace",
    rules: ["S5"],
    async run({ open }) {
      const store = await open();
      await declare(store, { declaration: "a", paused: true });
      const update = await declare(store, { declaration: "b" });
      const replace = await declare(store, { declaration: "b" }, { conflictPolicy: "replace" });
      const updateSets = await declare(store, { declaration: "c" }, { setsPaused: true });
      const replaceSets = await declare(
        store,
        { declaration: "c", paused: true },
        { conflictPolicy: "replace", setsPaused: true },
      );
      equal(
        [update, replace, updateSets, replaceSets].map((answer) => [answer?.change, answer?.schedule.paused]),
        [
          ["updated", true],
          ["replaced", true],
          ["updated", false],
          ["replaced", true],
        ],
        "the answers",
      );
      equal((await look(store, { schedules: {} })).due.length, 0, "how many are due");
    },
  },
  {
    name: "schedule declarations: a lower version never overwrites a higher one, and none is lower than every one",
    rules: ["S7"],
    async run({ open }) {
      const store = await open();
      await declare(store, { declaration: "a", version: 5, priority: 5 });
      for (const version of [{ version: 4 }, {}]) {
        const answer = await declare(store, { declaration: "b", priority: 9, ...version });
        equal([answer?.change, answer?.schedule.priority], ["outdated", 5], "the answer to a lower version");
      }
      const same = await declare(store, { declaration: "b", priority: 6, version: 5 });
      equal([same?.change, same?.schedule.priority], ["updated", 6], "the answer to the same version");
      const replaced = await declare(store, { declaration: "c", priority: 7 }, { conflictPolicy: "replace" });
      equal(
        [replaced?.change, replaced?.schedule],
        ["replaced", makeSchedule({ declaration: "c", priority: 7, fence: 2, revision: T0 + 2 })],
        "the answer to replace, which asks for no version",
      );
    },
  },
  {
    name: "schedule declarations: a higher version that declares the same raises the version and nothing else",
    rules: ["S7"],
    async run({ open }) {
      const store = await open();
      await declare(store, { declaration: "a", version: 5 });
      const raised = await declare(store, { declaration: "a", version: 7, priority: 9 });
      const expected = makeSchedule({ declaration: "a", version: 7 });
      equal(raised, { change: "kept", schedule: expected }, "the answer to the higher version");
      const older = await declare(store, { declaration: "a", version: 6 });
      equal(older, { change: "kept", schedule: expected }, "the answer to a lower version");
      const other = await declare(store, { declaration: "b", version: 6 });
      equal(other, { change: "outdated", schedule: expected }, "the answer to a lower version that differs");
    },
  },
  {
    name: "schedule declarations: one without a declaration is an edit of what was never declared",
    rules: ["S6"],
    async run({ open }) {
      const store = await open();
      await declare(store, { priority: 1 });
      const answer = await declare(store, { priority: 2 });
      equal([answer?.change, answer?.schedule.priority], ["updated", 2], "the answer");
    },
  },
  {
    name: "schedule declarations: doNothing and edits leave the declaration as it is",
    rules: ["S9"],
    async run({ open }) {
      const store = await open();
      await declare(store, { declaration: "a", version: 1 });
      await declare(store, { declaration: "b", version: 2 }, { conflictPolicy: "doNothing" });
      const updated = await updateSchedule(store, "schedule", { priority: 3 });
      equal([updated?.declaration, updated?.version], ["a", 1], "the declaration and its version");
    },
  },
  {
    name: "schedule declarations: an id that comes twice in one call is declared one after the other",
    rules: ["G15"],
    async run({ open }) {
      const store = await open();
      const [first, second] = ["a", "b"].map((declaration, priority) => makeSchedule({ declaration, priority }));
      const additions = [first, second, second].map((schedule) => ({
        schedule: schedule as ScheduleRecord,
        conflictPolicy: "update" as const,
      }));
      const report = await store.addSchedules(additions);
      equal(
        report.conflicts === null ? report.results.map(({ change }) => change) : null,
        ["added", "updated", "kept"],
        "the answers",
      );
      equal((await store.getSchedule("schedule"))?.priority, 1, "the stored priority");
    },
  },
];
