import type { BlackoutRecord } from "../../records/blackout.ts";
import type { BlackoutAdditionReport, DataStore } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { add, commit, commitPlans, jobIds, look, makeSchedule, planOf, T0 } from "./makers.ts";

const HOUR_MS = 3_600_000;

function makeBlackout(fields: Partial<BlackoutRecord> = {}): BlackoutRecord {
  return {
    ...{ id: "blackout", from: T0, until: T0 + HOUR_MS, trigger: null, durationMs: null, labels: null, taskIds: null },
    ...{ missed: "skip", reason: null, by: "Ada", createdAt: T0 },
    ...fields,
  };
}

function put(
  store: DataStore,
  fields: Partial<BlackoutRecord> = {},
  conflictPolicy: "update" | "doNothing" | "replace" | "error" = "update",
): Promise<BlackoutAdditionReport> {
  return store.addBlackout({ blackout: makeBlackout(fields), conflictPolicy });
}

export const blackoutCases: readonly DataStoreCase[] = [
  {
    name: "blackouts: each comes back as it was added, by id, and is removed once",
    rules: ["B1"],
    async run(context) {
      const [store, other] = await openTwo(context);
      equal(await store.getBlackouts(), { version: 0, items: [] }, "the blackouts of an empty store");
      const recurring = {
        ...{ from: null, until: null, trigger: '{"type":"cron"}', durationMs: 7_200_000, missed: "runOnce" as const },
        ...{ labels: { team: "billing", ö: '"' }, taskIds: ["b", "a"], reason: "Wartung \u{1F551}", by: null },
      };
      equal(await put(store), { change: "added", blackout: makeBlackout() }, "the first");
      equal((await put(store, { id: "B", ...recurring })).change, "added", "the second");
      const { items } = await other.getBlackouts();
      equal(items, [makeBlackout({ id: "B", ...recurring }), makeBlackout()], "the blackouts");
      equal(await other.removeBlackout("B"), makeBlackout({ id: "B", ...recurring }), "the removal");
      equal(await store.removeBlackout("B"), null, "another removal");
      equal((await store.getBlackouts()).items, [makeBlackout()], "the blackouts after it");
    },
  },
  {
    name: "blackouts: the policy decides where an id is in use",
    rules: ["B2"],
    async run({ open }) {
      const store = await open();
      await put(store);
      const later = { createdAt: T0 + 1, by: "Alan" };
      const other = { ...later, reason: "another" };
      equal(await put(store, later, "error"), { change: "conflict", blackout: makeBlackout() }, "an error");
      equal(await put(store, {}, "error"), { change: "added", blackout: makeBlackout() }, "a repetition");
      equal(await put(store, other, "doNothing"), { change: "kept", blackout: makeBlackout() }, "doNothing");
      for (const policy of ["update", "replace"] as const) {
        equal(await put(store, later, policy), { change: "kept", blackout: makeBlackout() }, `the same, ${policy}`);
      }
      const { version } = await store.getBlackouts();
      for (const policy of ["update", "replace"] as const) {
        const changed = { ...other, reason: policy };
        equal(await put(store, changed, policy), { change: "replaced", blackout: makeBlackout(changed) }, policy);
      }
      const after = await store.getBlackouts();
      equal(
        [after.items.length, after.version > version],
        [1, true],
        "how many there are, and whether the version grew",
      );
    },
  },
  {
    name: "blackouts: each change gives another version, which looks at schedules tell",
    rules: ["B3"],
    async run(context) {
      const [store, other] = await openTwo(context);
      const seen = async () => (await look(other, { schedules: {} })).blackouts;
      equal(await seen(), undefined, "a look before the first one");
      const versions: (number | undefined)[] = [];
      const changes = [
        () => put(store),
        () => put(store, { id: "b" }),
        () => store.removeBlackout("b"),
        () => put(store, { reason: "another" }),
        () => store.removeBlackout("blackout"),
        () => put(store),
      ];
      for (const change of changes) {
        await change();
        const { version } = await store.getBlackouts();
        equal([await seen(), (await commit(other, { schedules: {} })).blackouts], [version, version], "what both tell");
        versions.push(version);
      }
      equal(
        versions,
        [...new Set(versions)].sort((a = 0, b = 0) => a - b),
        "the versions",
      );
      await put(store);
      equal(await seen(), versions.at(-1), "the version where nothing changed");
      equal((await look(other)).blackouts, undefined, "a look without schedules");
    },
  },
  {
    name: "blackouts: a plan counts only if it knew all of them",
    rules: ["B4"],
    async run(context) {
      const [store, other] = await openTwo(context);
      const overlap = { policy: "skip", passed: 0, lastPassedTime: null } as const;
      const plans = ["plain", "apart"].map((id) => ({
        ...planOf(makeSchedule({ id })),
        ...(id === "apart" ? { overlap } : {}),
      }));
      await store.addSchedules(add(makeSchedule({ id: "plain" }), makeSchedule({ id: "apart" })));
      const committed = async (blackouts?: number) => {
        const report = await commitPlans(store, plans, blackouts === undefined ? {} : { blackouts });
        return report.plans.map((one) => one.committed);
      };
      await put(other);
      const { version: first } = await store.getBlackouts();
      equal(await committed(), [false, false], "plans from before the first one");
      equal(await committed(first + 1), [false, false], "plans of another version");
      await other.removeBlackout("blackout");
      const { version } = await store.getBlackouts();
      equal(await committed(first), [false, false], "plans from before the removal");
      equal(await jobIds(store), [], "the jobs");
      const fences = await Promise.all(["plain", "apart"].map(async (id) => (await store.getSchedule(id))?.fence));
      equal(fences, [0, 0], "the fences");
      equal(await committed(version), [true, true], "plans that know the last version");
      equal((await jobIds(store)).length, 2, "how many jobs there are");
    },
  },
  {
    name: "blackouts: a store takes 1,000",
    rules: ["B5"],
    async run({ open }) {
      const store = await open();
      for (let index = 0; index < 1000; index++) await put(store, { id: `b${index}` });
      equal((await put(store, { id: "more" })).change, "full", "one more");
      equal((await put(store, { id: "b7", reason: "another" })).change, "replaced", "one that is there");
      equal((await store.getBlackouts()).items.length, 1000, "how many there are");
      await store.removeBlackout("b8");
      equal((await put(store, { id: "more" })).change, "added", "one more after a removal");
    },
  },
  {
    name: "blackouts: the clean-up removes those that do not recur, 30 days after their end",
    rules: ["B6"],
    async run({ open }) {
      const store = await open();
      await put(store);
      await put(store, { id: "later", until: T0 + HOUR_MS + 1 });
      await put(store, { id: "recurring", from: null, until: null, trigger: "{}", durationMs: 1 });
      const before = await store.getBlackouts();
      const over = T0 + HOUR_MS + 30 * 24 * HOUR_MS;
      await store.cleanup({ now: over - 1, limit: 100 });
      equal(await store.getBlackouts(), before, "the blackouts a moment before");
      await store.cleanup({ now: over, limit: 100 });
      const { version, items } = await store.getBlackouts();
      equal(
        [items.map(({ id }) => id), version > before.version],
        [["later", "recurring"], true],
        "those that are left",
      );
    },
  },
];
