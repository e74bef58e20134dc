import type { OverdueRecord, ResolvedOverdueRecord } from "../../records/overdue.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { OverdueReport } from "../../stores/contract/look-types.ts";
import type { CommitReport, DataStore } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { dueSchedule, fireAt, jobIdAt, ledgerCase, makeSkip, NOTE, seenAgain } from "./ledger-makers.ts";
import {
  add,
  type CommitFields,
  cancel,
  commit,
  commitPlans,
  endedJob,
  finish,
  fireOf,
  look,
  makeJob,
  makeSchedule,
  numbered,
  planOf,
  release,
  removeSchedule,
  T0,
  updateSchedule,
} from "./makers.ts";

/** What the schedules of the cases expect: a start within a minute, and an end within ten. */
const START_MS = 60_000;
const FINISH_MS = 600_000;
const EXPECTED: Partial<ScheduleRecord> = { expectStartMs: START_MS, expectFinishMs: FINISH_MS };
const JOB = jobIdAt(T0);

/** A commit that looks after overdue occurrences, and does nothing else. */
function checked(store: DataStore, now: number, fields: CommitFields = {}): Promise<CommitReport> {
  return commit(store, { now, limit: 0, overdue: true, ...fields });
}

async function changed(store: DataStore, now: number, fields: CommitFields = {}): Promise<OverdueReport | undefined> {
  return (await checked(store, now, fields)).changedOverdue;
}

/** An overdue occurrence about the first fire time of the schedule. */
function overdueOf(kind: OverdueRecord["kind"], fields: Partial<OverdueRecord> = {}): OverdueRecord {
  const dueAt = (fields.fireTime ?? T0) + (kind === "start" ? START_MS : FINISH_MS);
  return { scheduleId: "schedule", taskId: "task", fireTime: T0, kind, dueAt, raisedAt: dueAt, jobId: null, ...fields };
}

function ended(occurrence: OverdueRecord, reason: ResolvedOverdueRecord["reason"]): ResolvedOverdueRecord {
  return { ...occurrence, reason };
}

function raised(...list: OverdueRecord[]): OverdueReport {
  return { raised: list, resolved: [] };
}

function resolved(...list: ResolvedOverdueRecord[]): OverdueReport {
  return { raised: [], resolved: list };
}

/** A schedule that expects something, and its job of T0, the only one. */
async function fired(store: DataStore, fields: Partial<ScheduleRecord> = {}): Promise<void> {
  const schedule = await dueSchedule(store, { ...EXPECTED, ...fields });
  const fires = [fireOf("schedule", T0, { jobId: JOB })];
  await commitPlans(store, [planOf(schedule, { fires, nextFireTime: null })]);
}

export const overdueCases: readonly DataStoreCase[] = [
  ledgerCase(["S10", "S3", "O1"], "overdue: what a schedule expects is stored, changed and removed", async (store) => {
    const schedule = makeSchedule(EXPECTED);
    await store.addSchedules(add(schedule));
    equal(await store.getSchedule("schedule"), schedule, "the added schedule");
    const updated = await updateSchedule(store, "schedule", { expectStartMs: null, expectFinishMs: 1000 });
    const { expectStartMs: _, ...rest } = schedule;
    equal(updated, { ...rest, expectFinishMs: 1000, fence: 1, revision: T0 + 1 }, "the changed schedule");
    const plain = makeSchedule();
    await store.addSchedules([{ schedule: plain, conflictPolicy: "replace" }]);
    equal(await store.getSchedule("schedule"), { ...plain, fence: 2, revision: T0 + 2 }, "the replaced schedule");
    equal((await look(store, { now: T0 + FINISH_MS })).overdue, undefined, "what is overdue");
  }),
  ledgerCase(["O10"], "overdue: a look tells when something is overdue at the earliest", async (store) => {
    equal((await look(store)).overdue, undefined, "the look at an empty store");
    await store.addSchedules(
      add(
        makeSchedule({ id: "plain" }),
        makeSchedule({ id: "later", nextFireTime: T0 + 10_000, expectFinishMs: START_MS }),
        makeSchedule({ id: "paused", paused: true, ...EXPECTED }),
        makeSchedule({ id: "ended", nextFireTime: null, ...EXPECTED }),
      ),
    );
    equal((await look(store)).overdue, { nextAt: T0 + 70_000, isOpen: false }, "the look");
    await store.addSchedules(add(makeSchedule(EXPECTED)));
    const seen = { nextAt: T0 + START_MS, isOpen: false };
    equal((await look(store)).overdue, seen, "the look at two schedules");
    equal((await look(store, { jobs: null, schedules: {} })).overdue, seen, "the look without jobs");
    equal((await look(store, { jobs: null })).overdue, undefined, "the look at nothing");
    await fireAt(store, await seenAgain(store), [T0]);
    equal((await look(store)).overdue, seen, "the look at the job, whose fire time counts");
  }),
  ledgerCase(["O4", "I12"], "overdue: a fire time without a job is overdue once for each kind", async (store) => {
    await store.addSchedules(add(makeSchedule(EXPECTED)));
    equal(await changed(store, T0 + START_MS - 1), undefined, "the overdue occurrences a moment too early");
    equal(await changed(store, T0 + START_MS), raised(overdueOf("start")), "the overdue occurrence");
    equal(
      (await look(store)).overdue,
      { nextAt: T0 + FINISH_MS, isOpen: true },
      "the look at an open overdue occurrence",
    );
    equal(
      await changed(store, T0 + FINISH_MS - 1, { by: "scheduler-b" }),
      undefined,
      "the overdue occurrences of another commit",
    );
    equal(
      await changed(store, T0 + FINISH_MS, { by: "scheduler-b" }),
      raised(overdueOf("finish")),
      "the other overdue occurrence",
    );
    equal((await look(store)).overdue, { nextAt: null, isOpen: true }, "the look at all of them");
    equal(await changed(store, T0 + 2 * FINISH_MS), undefined, "the overdue occurrences later on");
    const open = [overdueOf("start"), overdueOf("finish")];
    equal((await store.inspect(T0 + FINISH_MS)).overdue, { open, count: 2 }, "the open ones");
  }),
  ledgerCase(
    ["O1", "O3"],
    "overdue: a fire time that nobody looked at in time is overdue for both at once",
    async (store) => {
      await store.addSchedules(add(makeSchedule(EXPECTED)));
      const raisedAt = T0 + FINISH_MS;
      const { changedOverdue } = await checked(store, raisedAt);
      const kinds = present(changedOverdue, "the report").raised.map(({ kind }) => kind);
      equal([...kinds].sort(), ["finish", "start"], "the kinds");
      equal((await look(store)).overdue, { nextAt: null, isOpen: true }, "the look");
    },
  ),
  ledgerCase(["O1"], "overdue: a commit without `overdue` raises none", async (store) => {
    await store.addSchedules(add(makeSchedule(EXPECTED)));
    equal((await commit(store, { now: T0 + FINISH_MS })).changedOverdue, undefined, "the overdue occurrences");
    equal((await look(store)).overdue, { nextAt: T0 + START_MS, isOpen: false }, "the look");
  }),
  ledgerCase(["O9"], "overdue: a repeated commit tells once more what it did, and only that", async (store) => {
    await store.addSchedules(add(makeSchedule(EXPECTED)));
    const commitId = "scheduler-a 1#first";
    const again = { commitId, isRepetition: true };
    equal(await changed(store, T0 + START_MS, { commitId }), raised(overdueOf("start")), "the overdue occurrences");
    equal(
      await changed(store, T0 + START_MS + 5, again),
      raised(overdueOf("start")),
      "the overdue occurrences of the repetition",
    );
    await updateSchedule(store, "schedule", { paused: true });
    const end = "scheduler-a 1#second";
    const over = resolved(ended(overdueOf("start"), "paused"));
    equal(await changed(store, T0 + 2 * START_MS, { commitId: end }), over, "what is over");
    await changed(store, T0 + 3 * START_MS, { by: "scheduler-b" });
    equal(await changed(store, T0 + 3 * START_MS, { commitId: end, isRepetition: true }), over, "the repetition");
  }),
  ledgerCase(["O9"], "overdue: a repetition whose first try did not arrive raises", async (store) => {
    await store.addSchedules(add(makeSchedule(EXPECTED)));
    equal(
      await changed(store, T0 + START_MS, { isRepetition: true }),
      raised(overdueOf("start")),
      "the overdue occurrences",
    );
  }),
  ledgerCase(
    ["O3", "O6"],
    "overdue: a job that waits is overdue for its start, and is over when it starts",
    async (store) => {
      await fired(store);
      const occurrence = overdueOf("start", { jobId: JOB });
      equal(await changed(store, T0 + START_MS), raised(occurrence), "the overdue occurrence");
      equal(await changed(store, T0 + START_MS + 1), undefined, "the overdue occurrences of another commit");
      const report = await checked(store, T0 + START_MS + 2, { limit: 1 });
      equal(
        report.changedOverdue,
        resolved(ended(occurrence, "started")),
        "what is over in the commit that acquires the job",
      );
      equal(report.overdue, { nextAt: T0 + FINISH_MS, isOpen: false }, "the look at its end");
    },
  ),
  ledgerCase(
    ["O6"],
    "overdue: a job that is overdue when a commit acquires it is raised and resolved",
    async (store) => {
      await fired(store);
      const occurrence = overdueOf("start", { jobId: JOB, raisedAt: T0 + START_MS + 7 });
      const expected = { raised: [occurrence], resolved: [ended(occurrence, "started")] };
      equal(await changed(store, T0 + START_MS + 7, { limit: 1 }), expected, "the overdue occurrences");
    },
  ),
  ledgerCase(["O3", "O6"], "overdue: a job that started in time is overdue for its end alone", async (store) => {
    await fired(store);
    const job = present((await commit(store, { now: T0 + 1 })).acquired[0], "the job");
    equal(await changed(store, T0 + START_MS), undefined, "the overdue occurrences");
    equal((await look(store)).overdue, { nextAt: T0 + FINISH_MS, isOpen: false }, "the look");
    const occurrence = overdueOf("finish", { jobId: JOB });
    equal(await changed(store, T0 + FINISH_MS), raised(occurrence), "the overdue occurrence of the end");
    equal((await look(store)).overdue, { nextAt: null, isOpen: true }, "the look at it");
    await release(store, [finish(job)], { now: T0 + FINISH_MS + 9 });
    equal(await changed(store, T0 + FINISH_MS + 9), resolved(ended(occurrence, "finished")), "what is over");
    equal((await look(store)).overdue, undefined, "the look at nothing");
  }),
  ledgerCase(["O3", "O6"], "overdue: a job that ends before anybody looks is not overdue", async (store) => {
    await fired(store);
    const job = present((await commit(store, { now: T0 + 1 })).acquired[0], "the job");
    await release(store, [finish(job)], { now: T0 + 9 });
    equal((await look(store)).overdue, undefined, "the look");
    equal(await changed(store, T0 + FINISH_MS), undefined, "the overdue occurrences");
  }),
  ledgerCase(["O3"], "overdue: a job that waits to be tried again has started", async (store) => {
    await fired(store);
    const job = present((await commit(store, { now: T0 + 1 })).acquired[0], "the job");
    const runAt = T0 + 2 * START_MS;
    const retry = { jobId: job.id, fence: job.fence, kind: "retry", runAt, failedAttempts: 1 } as const;
    await release(store, [retry], { now: T0 + 9 });
    equal(await changed(store, T0 + START_MS), undefined, "the overdue occurrences");
    equal((await look(store)).overdue, { nextAt: T0 + FINISH_MS, isOpen: false }, "the look");
  }),
  ledgerCase(["O3"], "overdue: a job that was lost is overdue for its end", async (store) => {
    await fired(store, { maxRecoveries: 0 });
    await commit(store, { now: T0 + 1, until: T0 + 2 });
    const now = T0 + FINISH_MS;
    const occurrence = overdueOf("finish", { jobId: JOB });
    const expected = { raised: [occurrence], resolved: [ended(occurrence, "finished")] };
    equal(
      await changed(store, now, { recover: true }),
      expected,
      "the overdue occurrences of the commit that ends it as abandoned",
    );
  }),
  ledgerCase(["O6"], "overdue: a job that was cancelled before it started is over", async (store) => {
    await fired(store);
    const occurrence = overdueOf("start", { jobId: JOB });
    equal(await changed(store, T0 + START_MS), raised(occurrence), "the overdue occurrence");
    await cancel(store, JOB, T0 + START_MS + 1);
    equal(await changed(store, T0 + START_MS + 2), resolved(ended(occurrence, "finished")), "what is over");
  }),
  ledgerCase(
    ["O6"],
    "overdue: a job that stands for missed fire times resolves their overdue occurrences",
    async (store) => {
      const schedule = await dueSchedule(store, EXPECTED);
      equal(await changed(store, T0 + START_MS), raised(overdueOf("start")), "the occurrence of the first fire time");
      const into = T0 + 2 * START_MS;
      const skips = [makeSkip(T0, { until: T0 + START_MS, verdict: "coalesced", count: 2, into })];
      const fires = [fireOf("schedule", into, { jobId: "late" })];
      const plan = planOf(schedule, { fires, skips, nextFireTime: into + START_MS, lastFireTime: into });
      equal(await changed(store, into, { plans: [plan] }), undefined, "the overdue occurrences while the job waits");
      const occurrence = overdueOf("start", { jobId: "late" });
      equal((await store.inspect(into)).overdue, { open: [occurrence], count: 1 }, "the open occurrence");
      equal(await changed(store, into + 1, { limit: 1 }), resolved(ended(occurrence, "started")), "what is over");
      equal((await look(store)).overdue?.nextAt, into + START_MS, "when the job's own fire time is overdue");
    },
  ),
  ledgerCase(["O6"], "overdue: a fire time that makes no job is over", async (store) => {
    const schedule = await dueSchedule(store, EXPECTED);
    await changed(store, T0 + START_MS);
    const skips = [makeSkip(T0, { verdict: "tooOld" })];
    const plan = planOf(schedule, { fires: [], skips, nextFireTime: T0 + 2 * FINISH_MS, lastFireTime: T0 });
    const over = resolved(ended(overdueOf("start"), "skipped"));
    equal(await changed(store, T0 + START_MS + 1, { plans: [plan] }), over, "what is over");
  }),
  ledgerCase(["O7"], "overdue: a pause ends those without a job, and is no reason for others", async (store) => {
    await store.addSchedules(add(makeSchedule(EXPECTED)));
    await changed(store, T0 + START_MS);
    await updateSchedule(store, "schedule", { paused: true }, undefined, { ...NOTE, at: T0 + START_MS + 1 });
    equal(await changed(store, T0 + START_MS + 1), resolved(ended(overdueOf("start"), "paused")), "what is over");
    equal((await look(store)).overdue, undefined, "the look in the pause");
    const now = T0 + 2 * FINISH_MS;
    await updateSchedule(store, "schedule", { paused: false }, undefined, { ...NOTE, at: now });
    equal((await look(store, { now })).overdue, undefined, "the look after the pause");
    equal(await changed(store, now), undefined, "the overdue occurrences after the pause");
    const schedule = await seenAgain(store);
    await commit(store, { now, jobs: null, plans: [planOf(schedule, { fires: [], nextFireTime: now + 1000 })] });
    equal((await look(store, { now })).overdue?.nextAt, now + 1000 + START_MS, "the occurrence of the next fire time");
  }),
  ledgerCase(["O5"], "overdue: a schedule that goes on from an instant of its pause raises none", async (store) => {
    await store.addSchedules(add(makeSchedule({ ...EXPECTED, paused: true })));
    const now = T0 + 2 * FINISH_MS;
    const resumed = { paused: false, nextFireTime: T0 + START_MS };
    await updateSchedule(store, "schedule", resumed, undefined, { ...NOTE, at: now });
    equal((await look(store, { now })).overdue, undefined, "the look after the pause");
    equal(await changed(store, now), undefined, "the overdue occurrences after the pause");
  }),
  ledgerCase(["O5"], "overdue: a schedule that an addition lets go on from its pause raises none", async (store) => {
    const paused = makeSchedule({ ...EXPECTED, paused: true });
    await store.addSchedules(add(paused, { ...paused, id: "other rule" }));
    const now = T0 + 2 * FINISH_MS;
    const otherRule = { trigger: "{}", triggerRule: "{}", nextFireTime: T0 + START_MS };
    const resumed = [makeSchedule(EXPECTED), makeSchedule({ ...EXPECTED, id: "other rule", ...otherRule })];
    await store.addSchedules(
      resumed.map((schedule) => ({ schedule, conflictPolicy: "replace", setsPaused: true })),
      { ...NOTE, at: now },
    );
    equal((await look(store, { now })).overdue, undefined, "the look after the pause");
    equal(await changed(store, now), undefined, "the overdue occurrences after the pause");
  }),
  ledgerCase(["O7"], "overdue: the pause of a schedule leaves those of its jobs", async (store) => {
    await fired(store);
    const occurrence = overdueOf("start", { jobId: JOB });
    await updateSchedule(store, "schedule", { paused: true }, undefined, NOTE);
    equal(await changed(store, T0 + START_MS), raised(occurrence), "the overdue occurrences");
  }),
  ledgerCase(["O7"], "overdue: the removal of a schedule ends those without a job", async (store) => {
    await store.addSchedules(add(makeSchedule(EXPECTED)));
    await changed(store, T0 + START_MS);
    await removeSchedule(store, "schedule", { ...NOTE, at: T0 + START_MS + 1 });
    equal(await changed(store, T0 + START_MS + 2), resolved(ended(overdueOf("start"), "removed")), "what is over");
    equal((await look(store)).overdue, undefined, "the look");
  }),
  ledgerCase(["O2"], "overdue: a job of a removed schedule is never overdue", async (store) => {
    await fired(store);
    await removeSchedule(store, "schedule");
    equal(await changed(store, T0 + FINISH_MS), undefined, "the overdue occurrences");
    equal((await look(store)).overdue, undefined, "the look");
  }),
  ledgerCase(["O2"], "overdue: a job that repeats the one of the occurrence does not take its place", async (store) => {
    await fired(store);
    const occurrence = overdueOf("start", { jobId: JOB });
    equal(await changed(store, T0 + START_MS), raised(occurrence), "the overdue occurrence");
    const now = T0 + START_MS + 1;
    const job = present((await commit(store, { now })).acquired[0], "the job");
    await release(store, [finish(job)], { now });
    await store.addJobs([makeJob({ id: "retry", scheduleId: "schedule", fireTime: T0, retryOf: JOB })]);
    equal((await store.inspect(now)).overdue, { open: [occurrence], count: 1 }, "the open occurrence");
  }),
  ledgerCase(["O2"], "overdue: jobs that no fire time made are never overdue", async (store) => {
    await store.addSchedules(add(makeSchedule({ ...EXPECTED, nextFireTime: null })));
    await store.addJobs([makeJob({ scheduleId: "schedule" }), makeJob({ id: "plain" })]);
    await endedJob(store);
    await store.addJobs([makeJob({ id: "retry", scheduleId: "schedule", fireTime: T0, retryOf: "first" })]);
    equal((await look(store)).overdue, undefined, "the look");
    equal(await changed(store, T0 + FINISH_MS), undefined, "the overdue occurrences");
  }),
  ledgerCase(
    ["O4", "O11", "I12"],
    "overdue: a commit raises those of a hundred schedules, and others those of the rest",
    async (store) => {
      const schedules = Array.from({ length: 250 }, (_, index) =>
        makeSchedule({ id: numbered("s", index), expectStartMs: START_MS }),
      );
      await store.addSchedules(add(...schedules));
      const counts: number[] = [];
      const names = new Set<string>();
      while ((await look(store)).overdue?.nextAt === T0 + START_MS) {
        const list = (await changed(store, T0 + START_MS))?.raised ?? [];
        counts.push(list.length);
        for (const { scheduleId } of list) names.add(scheduleId);
      }
      equal([counts, names.size], [[100, 100, 50], 250], "the overdue occurrences");
      equal((await store.inspect(T0)).overdue?.count, 250, "how many are open");
      equal((await store.inspect(T0)).overdue?.open.length, 100, "how many are shown");
    },
  ),
  ledgerCase(["O8"], "overdue: all of very many are over in the end", async (store) => {
    const count = 1200;
    const ids = Array.from({ length: count }, (_, index) => numbered("s", index));
    await store.addSchedules(add(...ids.map((id) => makeSchedule({ id, expectStartMs: START_MS }))));
    while ((await look(store)).overdue?.nextAt === T0 + START_MS) await changed(store, T0 + START_MS);
    for (const id of ids.slice(-300)) await removeSchedule(store, id);
    let over = 0;
    for (let tries = 0; tries < 4; tries++) over += (await changed(store, T0 + START_MS))?.resolved.length ?? 0;
    equal(over, 300, "how many are over after as many commits as there are parts, and one");
  }),
];
