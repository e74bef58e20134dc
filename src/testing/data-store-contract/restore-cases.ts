import type { OccurrenceRecord } from "../../records/ledger.ts";
import { NOTICE_TASK_PREFIX } from "../../records/notice.ts";
import type { RestoredHistory } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { end, entriesOf, ledgerCase, NOTE, runOf, skipOf, taken } from "./ledger-makers.ts";
import { add, makeJob, makeResult, makeSchedule, makeTask, T0 } from "./makers.ts";

// What another store had.

export const restoreCases: readonly DataStoreCase[] = [
  {
    name: "restored records: results come as they are, and those that are there stay",
    rules: ["R22"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([makeJob({ id: "unfinished" })]);
      const facts = { metadata: { a: 1 }, payload: "5", idempotencyKey: "key", retryOf: "first" };
      const first = makeResult(makeJob({ id: "a", ...facts }), {
        outcome: "error",
        error: { name: "E", message: "m" },
      });
      const second = makeResult(makeJob({ id: "b" }), { finishedAt: T0 + 9 });
      const ofUnfinished = makeResult(makeJob({ id: "unfinished" }));
      await store.restore({ results: [first, second, ofUnfinished], histories: [] });
      await store.restore({ results: [{ ...first, attempts: 9 }], histories: [] });
      const page = { order: "oldest", limit: 10, cursor: null } as const;
      equal((await store.getJobResults(page, T0)).items, [first, second], "the results");
      equal((await store.getJob("unfinished"))?.id, "unfinished", "the job");
    },
  },

  ledgerCase(
    ["H26"],
    "restored records: a history goes on with what another store remembers",
    async (store, ledger) => {
      await store.putTasks([makeTask(), makeTask({ id: `${NOTICE_TASK_PREFIX}a`, metadata: { on: ["failed"] } })]);
      await store.addSchedules(add(makeSchedule({ createdAt: T0 })), NOTE);
      await store.addJobs([makeJob({ scheduleId: "schedule", fireTime: T0, scheduledFireTime: T0 + 3 })]);
      const job = await taken(store, "job");
      await end(store, job);
      const live = runOf(job);
      const other = makeJob({ id: "other/id", fireTime: T0 - 100, scheduledFireTime: T0 - 90, createdAt: T0 - 95 });
      const entries: OccurrenceRecord[] = [
        runOf(other, { outcome: "error", startedAt: null, finishedAt: T0 - 50, attempts: 3, isKeyed: true }),
        skipOf(T0 - 80, { until: T0 - 60, count: 3, into: T0 - 50, verdict: "coalesced" }),
        runOf(makeJob({ id: "c", fireTime: T0 - 50 }), { outcome: "skipped", reason: "nothing to do: 5% / day" }),
        runOf(makeJob({ id: "late", fireTime: T0 })),
      ];
      const history: RestoredHistory = { scheduleId: "schedule", since: T0 - 200, entries };
      const unknown = { ...history, scheduleId: "unknown" };
      for (let times = 0; times < 2; times++) await store.restore({ results: [], histories: [history, unknown] });
      equal(await entriesOf(ledger), [...entries.slice(0, 3), live], "the entries");
      equal(await ledger.getLedgerStart("schedule"), T0 - 200, "the start of the ledger");
      equal(await ledger.getLedgerStart("unknown"), null, "a schedule that is not there");
      await store.restore({ results: [], histories: [{ scheduleId: "schedule", since: T0, entries: [] }] });
      equal(await ledger.getLedgerStart("schedule"), T0 - 200, "a later start changes nothing");
      const page = { taskId: `${NOTICE_TASK_PREFIX}a`, limit: 10, cursor: null };
      equal((await store.getJobs(page)).items, [], "the notices");
    },
  ),
];
