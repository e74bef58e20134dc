import type { Ledger } from "../../stores/contract/ledger-types.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal, isTrue, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  CHANGES,
  cleanUp,
  DAY_MS,
  dueSchedule,
  end,
  entriesOf,
  jobIdAt,
  ledgerCase,
  makeSkip,
  NOTE,
  runningJob,
  runOf,
  seenAgain,
  skipOf,
  TASK_PAUSES,
} from "./ledger-makers.ts";
import { commitPlans, extend, makeTask, planOf, removeSchedule, T0, updateSchedule } from "./makers.ts";

/** A ledger that keeps more entries than this is too large to be filled by a case. */
const FILLED_MAX = 20_000;

/** Leaves one entry for each second from the schedule's next fire time on. */
async function skipSeconds(store: DataStore, count: number, now: number): Promise<void> {
  for (let done = 0; done < count; ) {
    const schedule = await seenAgain(store);
    const from = schedule.nextFireTime;
    const part = Math.min(500, count - done);
    const skips = Array.from({ length: part }, (_, index) => makeSkip(from + index * 1000));
    await commitPlans(store, [planOf(schedule, { fires: [], skips, nextFireTime: from + part * 1000 })], { now });
    done += part;
  }
}

async function startOf(ledger: Ledger): Promise<number> {
  return present(await ledger.getLedgerStart("schedule"), "the start of the ledger");
}

export const ledgerRetentionCases: readonly DataStoreCase[] = [
  ledgerCase(
    ["H17", "H16"],
    "ledger: the clean-up removes entries that are too old, and the ledger then begins later",
    async (store, ledger) => {
      const { ageMsMax } = ledger.limits;
      const job = await runningJob(store);
      await end(store, job);
      const schedule = await seenAgain(store);
      const now = T0 + ageMsMax + 2 * DAY_MS;
      const skips = [
        makeSkip(T0 + 1000, { until: T0 + 2000, verdict: "tooOld", count: 2 }),
        // A part of it is young enough.
        makeSkip(T0 + 3000, { until: now - 3 * DAY_MS, verdict: "tooOld", count: null }),
        makeSkip(now - DAY_MS, { until: now - DAY_MS + 1 }),
      ];
      await commitPlans(store, [planOf(schedule, { fires: [], skips, nextFireTime: now })], { now });
      await store.cleanup({ now: T0 + 3000, limit: 1000 });
      equal((await entriesOf(ledger)).length, 4, "how many there are before they are old");
      // Each entry that is left grows old two days after the clean-up's last day, or later.
      await cleanUp(store, T0 + ageMsMax + 3500, 1);
      await cleanUp(store, T0 + ageMsMax + 3501, 1);
      for (let hour = 1; hour <= 24; hour++) {
        await store.cleanup({ now: T0 + ageMsMax + hour * 3_600_000, limit: 1000 });
      }
      equal(
        await entriesOf(ledger),
        skips.slice(1).map((skip) => ({ kind: "skip", ...skip })),
        "what is left",
      );
      const start = await startOf(ledger);
      isTrue(
        start > T0 + 2000 && start <= T0 + 2 * DAY_MS,
        `that the ledger begins after what was removed, at ${start - T0}`,
      );
    },
  ),
  ledgerCase(
    ["H17", "H16"],
    "ledger: the clean-up removes the oldest entries of which there are too many",
    async (store, ledger, { skip }) => {
      const { countMax } = ledger.limits;
      if (countMax > FILLED_MAX) return skip?.("its ledger keeps too many entries to be filled");
      await dueSchedule(store);
      const now = T0 + countMax * 2000;
      await skipSeconds(store, countMax + 700, now);
      await cleanUp(store, now);
      const { items } = await ledger.getOccurrences({ ...OLDEST, limit: 2 });
      equal(items, [skipOf(T0 + 700_000), skipOf(T0 + 701_000)], "the first two that are left");
      const start = await startOf(ledger);
      isTrue(start > T0 + 699_000 && start <= T0 + 700_000, `that the ledger begins with them, at ${start - T0}`);
      const last = await ledger.getOccurrences({ ...OLDEST, order: "newest", limit: 1 });
      equal(last.items, [skipOf(T0 + (countMax + 699) * 1000)], "the last one");
    },
  ),
  ledgerCase(["H19"], "ledger: nothing of a schedule is left when it was removed long ago", async (store, ledger) => {
    const { ageMsMax } = ledger.limits;
    await dueSchedule(store, {}, NOTE);
    const kept = await dueSchedule(store, { id: "kept" }, NOTE);
    await skipSeconds(store, 3, T0 + 9000);
    await removeSchedule(store, "schedule", { ...NOTE, at: T0 + 9000 });
    await cleanUp(store, T0 + 9000, 3);
    equal((await entriesOf(ledger)).length, 4, "how many entries there are soon after");
    equal((await ledger.getScheduleChanges(CHANGES)).items.length, 2, "how many changes there are soon after");
    await cleanUp(store, T0 + 9000 + ageMsMax + DAY_MS);
    equal(await entriesOf(ledger), [], "the entries");
    equal((await ledger.getScheduleChanges(CHANGES)).items, [], "the changes");
    equal(await ledger.getLedgerStart("schedule"), null, "its start");
    isTrue((await ledger.getLedgerStart(kept.id)) !== null, "that the ledger knows a schedule that was not removed");
  }),
  ledgerCase(
    ["H19"],
    "ledger: a removed schedule that never fired is known while its changes are",
    async (store, ledger) => {
      await dueSchedule(store, {}, NOTE);
      const start = await startOf(ledger);
      await removeSchedule(store, "schedule", { ...NOTE, at: T0 - 1 });
      await cleanUp(store, T0 + 3 * DAY_MS);
      equal(await ledger.getLedgerStart("schedule"), start, "its start");
      equal((await ledger.getScheduleChanges(CHANGES)).items.length, 2, "how many changes there are");
    },
  ),
  ledgerCase(["H6"], "ledger: an entry that ends late is kept beside those that are there", async (store, ledger) => {
    const late = await runningJob(store);
    await skipSeconds(store, 5, T0 + 60_000);
    await end(store, late, { finishedAt: T0 + 60_001 });
    const expected = [runOf(late, { finishedAt: T0 + 60_001 }), ...[1, 2, 3, 4, 5].map((n) => skipOf(T0 + n * 1000))];
    equal(await entriesOf(ledger), expected, "the entries");
    equal(late.id, jobIdAt(T0), "the job that ended late");
  }),
  ledgerCase(["H18"], "changes: the clean-up keeps the newest 100 of a schedule", async (store, ledger) => {
    await dueSchedule(store, {}, NOTE);
    await dueSchedule(store, { id: "other" }, NOTE);
    for (let priority = 1; priority <= 120; priority++) {
      await updateSchedule(store, "schedule", { priority }, undefined, { at: T0 + priority, by: "somebody" });
    }
    await cleanUp(store, T0 + 1000);
    const { items: kept } = await ledger.getScheduleChanges(CHANGES);
    equal(
      kept.map(({ at }) => at - T0),
      Array.from({ length: 100 }, (_, index) => index + 21),
      "when they were made",
    );
    equal(
      (await ledger.getScheduleChanges({ ...CHANGES, scheduleId: "other" })).items.length,
      1,
      "those of another schedule",
    );
  }),
  ledgerCase(["H18"], "changes: the clean-up keeps the newest 100 pauses of a task", async (store, ledger) => {
    await store.putTasks([makeTask()]);
    for (let time = 1; time <= 120; time++) {
      await store.pauseTask({ taskId: "task", key: null, paused: time % 2 === 1, now: T0 + time, by: "somebody" });
    }
    await cleanUp(store, T0 + 1000);
    const kept = await ledger.getTaskPauseHistory(TASK_PAUSES);
    equal(
      kept.map(({ at }) => at - T0),
      Array.from({ length: 100 }, (_, index) => index + 21),
      "when they were made",
    );
  }),
  ledgerCase(
    ["H18"],
    "changes: the clean-up removes old pauses of tasks, except those that hold",
    async (store, ledger) => {
      await store.putTasks([makeTask(), makeTask({ id: "other" })]);
      const pauses = [
        ["task", null, true],
        ["task", "a", true],
        ["task", "b", true],
        ["task", "b", false],
        ["task", "a", false],
        ["task", "a", true],
        ["other", null, true],
        ["other", null, false],
      ] as const;
      for (const [index, [taskId, key, paused]] of pauses.entries()) {
        await store.pauseTask({ taskId, key, paused, now: T0 + index, by: "somebody" });
      }
      const now = T0 + ledger.limits.ageMsMax;
      const kept = async (): Promise<unknown[]> => {
        const lists = ["task", "other"].map((taskId) => ledger.getTaskPauseHistory({ ...TASK_PAUSES, taskId }));
        return (await Promise.all(lists)).flat().map(({ at }) => at - T0);
      };
      await store.cleanup({ now, limit: 1000 });
      equal(await kept(), [0, 1, 2, 3, 4, 5, 6, 7], "when those were made that are kept before they are old");
      await cleanUp(store, now + 100);
      equal(await kept(), [0, 5], "when those were made that are kept for ever");
    },
  ),
  ledgerCase(["H24"], "uptimes: the clean-up removes those that ended long ago", async (store, ledger) => {
    const { ageMsMax } = ledger.limits;
    await extend(store, [], { now: T0, aliveUntil: T0 + 1000 });
    const now = T0 + 41 * DAY_MS + ageMsMax;
    await extend(store, [], { now, aliveUntil: now + 1000 });
    await cleanUp(store, now);
    const lives = await ledger.getUptimes({ from: T0, until: now + 1000 * DAY_MS });
    equal(
      lives.map(({ since }) => since),
      [now],
      "when those that are left began",
    );
  }),
];

const OLDEST = { scheduleId: "schedule", from: T0, until: T0 + 1000 * DAY_MS, order: "oldest", cursor: null } as const;
