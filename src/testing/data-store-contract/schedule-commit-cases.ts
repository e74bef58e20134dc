import type { ScheduleRecord } from "../../records/schedule.ts";
import type { DataStore, ScheduleCommit } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { DAY_MS, end, entriesOf, fireAt, ledgerCase, NOTE, runningJob, runOf, seenAgain } from "./ledger-makers.ts";
import { add, idsOf, makeJob, makeSchedule, T0 } from "./makers.ts";

const NOTHING: ScheduleCommit = { expected: [], renames: [], removals: [], additions: [] };

/** Additions that replace what is there. */
const put = (...schedules: readonly ScheduleRecord[]): ScheduleCommit["additions"] =>
  schedules.map((schedule) => ({ schedule, conflictPolicy: "replace" }));

async function allIds(store: DataStore): Promise<string[]> {
  return idsOf((await store.getSchedules({ limit: 100, cursor: null })).items);
}

export const scheduleCommitCases: readonly DataStoreCase[] = [
  {
    name: "schedule commits: schedules are added, replaced and removed together",
    rules: ["S20", "S21"],
    async run({ open }) {
      const store = await open();
      const old = makeSchedule({ id: "changed", priority: 1, skippedCount: 3, paused: true });
      await store.addSchedules(add(old, makeSchedule({ id: "gone" }), makeSchedule({ id: "other" })));
      const added = makeSchedule({ id: "new", labels: { team: "billing" } });
      const changed = makeSchedule({ id: "changed", priority: 9, declaration: "d" });
      const { moved, schedules } = await store.commitSchedules({
        expected: [
          { id: "new", revision: null },
          { id: "changed", revision: T0 },
          { id: "gone", revision: T0 },
        ],
        renames: [],
        removals: ["gone"],
        additions: put(added, changed),
      });
      equal(moved, [], "what moved");
      const kept = { ...changed, paused: true, skippedCount: 3, fence: 1, revision: T0 + 1 };
      equal(schedules, [added, kept], "what the additions left");
      equal(await allIds(store), ["changed", "new", "other"], "the schedules");
      const labelled = await store.getSchedules({ limit: 9, cursor: null, labels: { team: "billing" } });
      equal(idsOf(labelled.items), ["new"], "found by the label");
    },
  },
  {
    name: "schedule commits: nothing is written if a schedule has another revision, or is there, or is gone",
    rules: ["S20"],
    async run(context) {
      const [store, other] = await openTwo(context);
      await store.addSchedules(add(...["a", "b", "c"].map((id) => makeSchedule({ id }))));
      await other.updateSchedules([{ id: "a", changes: { priority: 7 } }]);
      await other.addSchedules(add(makeSchedule({ id: "taken" })));
      const before = (await store.getSchedules({ limit: 9, cursor: null })).items;
      const { moved } = await store.commitSchedules({
        expected: [
          { id: "a", revision: T0 },
          { id: "b", revision: T0 },
          { id: "taken", revision: null },
          { id: "missing", revision: T0 },
        ],
        renames: [{ from: "c", to: "d" }],
        removals: ["b"],
        additions: put(makeSchedule({ id: "a", priority: 1 }), makeSchedule({ id: "taken" })),
      });
      equal([...moved].sort(), ["a", "missing", "taken"], "what moved");
      equal((await store.getSchedules({ limit: 9, cursor: null })).items, before, "the schedules");
      const expected = [{ id: "a", revision: T0 + 1 }];
      equal((await store.commitSchedules({ ...NOTHING, expected, removals: ["a"] })).moved, [], "with its revision");
      equal(await allIds(store), ["b", "c", "taken"], "the schedules then");
    },
  },
  {
    name: "schedule commits: a renamed schedule keeps what it is, its labels, its jobs and its results",
    rules: ["S22"],
    async run({ open }) {
      const store = await open();
      await end(store, await runningJob(store, { id: "old", skippedCount: 2, labels: { team: "ops" } }));
      await fireAt(store, await seenAgain(store, "old"), [T0 + 1000]);
      await store.addJobs([makeJob({ id: "by hand", scheduleId: "old", runAt: T0 + 9 * DAY_MS })]);
      const before = present(await store.getSchedule("old"), "the schedule");
      await store.commitSchedules({ ...NOTHING, renames: [{ from: "old", to: "new" }] });
      equal(await store.getSchedule("old"), null, "under the former id");
      const after = present(await store.getSchedule("new"), "the schedule under its new id");
      isTrue(after.fence > before.fence, "the fencing token has grown");
      equal({ ...after, fence: 0 }, { ...before, id: "new", fence: 0 }, "everything else");
      const labelled = await store.getSchedules({ limit: 9, cursor: null, labels: { team: "ops" } });
      equal(idsOf(labelled.items), ["new"], "found by the label");
      const list = { limit: 9, cursor: null };
      equal((await store.getJobs({ ...list, scheduleId: "new" })).items.length, 2, "its jobs");
      equal((await store.getJobs({ ...list, scheduleId: "old" })).items, [], "jobs under the former id");
      const results = await store.getJobResults({ ...list, order: "oldest", scheduleId: "new" }, T0 + 5000);
      equal(
        results.items.map(({ scheduleId }) => scheduleId),
        ["new"],
        "its results",
      );
    },
  },
  ledgerCase(
    ["S22"],
    "schedule commits: a renamed schedule keeps its history and its changes",
    async (store, ledger) => {
      const job = await runningJob(store, { id: "old" });
      await end(store, job);
      await store.updateSchedules([{ id: "old", changes: { priority: 5 } }], NOTE);
      await store.commitSchedules({ ...NOTHING, renames: [{ from: "old", to: "new" }] }, NOTE);
      equal(await entriesOf(ledger, { scheduleId: "new" }), [runOf(job)], "the runs");
      equal(await entriesOf(ledger, { scheduleId: "old" }), [], "runs under the former id");
      const kindsOf = async (scheduleId: string): Promise<string[]> => {
        const { items } = await ledger.getScheduleChanges({ scheduleId, order: "oldest", limit: 9, after: null });
        return items.map((change) => `${change.scheduleId} ${change.kind}`);
      };
      equal(await kindsOf("new"), ["new changed"], "the changes");
      equal(await kindsOf("old"), [], "changes of the former id");
      const days = { from: T0 - (T0 % DAY_MS), until: T0 - (T0 % DAY_MS) + 2 * DAY_MS, bucketMs: DAY_MS };
      const { counts } = await ledger.getStats({ of: "schedules", ...days, limit: 9 });
      equal(
        counts.map(({ id }) => id),
        ["new"],
        "whose ends are counted",
      );
    },
  ),
  ledgerCase(["S21", "H9"], "schedule commits: the ledger tells what each schedule was", async (store, ledger) => {
    await store.addSchedules(add(makeSchedule({ id: "changed" }), makeSchedule({ id: "gone" })), NOTE);
    const additions = put(makeSchedule({ id: "new" }), makeSchedule({ id: "changed", priority: 9 }));
    await store.commitSchedules({ ...NOTHING, removals: ["gone"], additions }, { ...NOTE, by: "plan" });
    const kinds = await Promise.all(
      ["changed", "gone", "new"].map(async (scheduleId) => {
        const { items } = await ledger.getScheduleChanges({ scheduleId, order: "oldest", limit: 9, after: null });
        return items.map(({ kind, by }) => `${kind} by ${by}`);
      }),
    );
    const [added, plan] = ["added by somebody", "by plan"];
    equal(kinds, [[added, `changed ${plan}`], [added, `removed ${plan}`], [`added ${plan}`]], "the changes");
  }),
  {
    name: "schedule commits: of two at once, one counts",
    rules: ["S20", "G16"],
    async run(context) {
      const [store, other] = await openTwo(context);
      await store.addSchedules(add(makeSchedule()));
      const expected = [
        { id: "schedule", revision: T0 },
        { id: "new", revision: null },
      ];
      const commit = (by: DataStore, name: string) =>
        by.commitSchedules({
          ...NOTHING,
          expected,
          additions: put(makeSchedule({ name, declaration: name }), makeSchedule({ id: "new", name })),
        });
      const reports = await Promise.all([commit(store, "a"), commit(other, "b")]);
      const counted = reports.filter(({ moved }) => moved.length === 0);
      equal(counted.length, 1, "how many counted");
      const { items } = await store.getSchedules({ limit: 9, cursor: null });
      equal(new Set(items.map(({ name }) => name)).size, 1, "whose schedules there are");
    },
  },
];
