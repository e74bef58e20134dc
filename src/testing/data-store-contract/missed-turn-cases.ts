import type { Skip } from "../../records/ledger.ts";
import type { OverdueRecord } from "../../records/overdue.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type {
  DataStore,
  LookedSchedule,
  OverlapReport,
  PlannedJob,
  PlannedOverlap,
  PlanReport,
  SchedulePlan,
} from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { dueSchedule, end, entriesOf, fireAt, jobIdAt, ledgerCase, seenAgain, skipOf, taken } from "./ledger-makers.ts";
import {
  commit,
  finish,
  fireOf,
  idsOf,
  jobIds,
  jobOf,
  LEASE_MS,
  look,
  lookedAt,
  makeJob,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  release,
  removeSchedule,
  T0,
  take,
} from "./makers.ts";
import { twice } from "./repeat.ts";

type Coalescing = Extract<PlannedOverlap["policy"], "latest" | "earliest">;

const NOTHING: OverlapReport = { isSkipped: false, replaced: [], cancelRequested: [] };

/** The plan of the fire of a schedule at its next fire time, whose job stands for no fire time before. */
function planFor(
  schedule: Pick<ScheduleRecord, "id" | "fence" | "nextFireTime">,
  policy: Coalescing,
  fields: Partial<PlannedJob> = {},
): SchedulePlan {
  const { id, nextFireTime } = schedule;
  const at = present(nextFireTime, "a fire time");
  const fire = fireOf(id, at, { jobId: jobIdAt(at, id), missedCount: 0, ...fields });
  return planOf(schedule, { fires: [fire], overlap: { policy, passed: 0, lastPassedTime: null } });
}

function committed(jobIds: readonly string[], overlap: Partial<OverlapReport> = {}): PlanReport[] {
  return [{ committed: true, addedJobIds: jobIds, overlap: { ...NOTHING, ...overlap } }];
}

function gone(...fireTimes: readonly number[]): Pick<OverlapReport, "replaced"> {
  return { replaced: fireTimes.map((fireTime) => ({ jobId: jobIdAt(fireTime), fireTime })) };
}

/** A schedule that has fired, and whose jobs nobody has taken. */
async function waitingAt(store: DataStore, fireTimes: readonly number[]): Promise<LookedSchedule> {
  await fireAt(store, await dueSchedule(store), fireTimes, { missedCount: 0 });
  return seenAgain(store);
}

/** For which fire times a job stands. */
async function standsFor(store: DataStore, jobId: string): Promise<readonly (number | null)[]> {
  const job = present(await store.getJob(jobId), `the job ${jobId}`);
  return [job.missedCount, job.firstMissedTime, job.lastMissedTime];
}

/** Adds the schedule again, and lets it fire at a time that has an unfinished job of before, which stands for others.
 *  @param skip the others */
async function passAgain(store: DataStore, skip: Omit<Skip, "verdict"> & { readonly into: number }): Promise<void> {
  const { from, until, into, count: missedCount } = skip;
  const fires = [
    fireOf("schedule", into, { jobId: "again", missedCount, firstMissedTime: from, lastMissedTime: until }),
  ];
  const skips = [{ ...skip, verdict: "coalesced" as const }];
  const last = Math.max(into, until);
  const seen = await dueSchedule(store, { nextFireTime: from });
  const plan = planOf(seen, { fires, skips, nextFireTime: FOURTH + 1, lastFireTime: last });
  const { plans } = await commit(store, { now: last, jobs: null, plans: [plan] });
  equal(plans, [{ committed: true, addedJobIds: [] }], "what the fire adds");
}

async function missedSince(store: DataStore, now: number): Promise<number | undefined> {
  const { due } = await look(store, { now, schedules: { dueBy: now + 1_000_000 } });
  return present(due[0], "the schedule").missedSince;
}

const FIRST = T0;
const SECOND: number = T0 + 1000;
const THIRD: number = T0 + 2000;
const FOURTH: number = T0 + 3000;
const FIFTH: number = T0 + 4000;

export const missedTurnCases: readonly DataStoreCase[] = [
  {
    name: "missed turns: a look tells of a job that waits although it is due, and of none that runs or is to come",
    rules: ["V15"],
    async run({ open }) {
      const store = await open();
      equal(
        await lookedAt(store, makeSchedule()).then(([due]) => due?.missedSince),
        undefined,
        "before the first fire",
      );
      await fireAt(store, await seenAgain(store), [FIRST], { runAt: FIRST + 500 });
      equal(await missedSince(store, FIRST + 499), undefined, "before its time");
      equal(await missedSince(store, FIRST + 500), FIRST + 500, "when it is due");
      const { acquired } = await take(store, { now: FIRST + 500 });
      equal(await missedSince(store, SECOND), undefined, "while it runs");
      const job = present(acquired[0], "the job");
      const again = { jobId: job.id, fence: job.fence, kind: "retry", runAt: SECOND, failedAttempts: 1 } as const;
      await release(store, [again], { now: FIRST + 600 });
      equal(await missedSince(store, SECOND + 1), undefined, "while it waits to be tried again");
    },
  },
  {
    name: "missed turns: a look tells of none while an earlier job of the schedule runs, and of jobs by hand never",
    rules: ["V15", "P17"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningJobs: 1 })]);
      const schedule = await dueSchedule(store);
      const stored = present(await store.getSchedule("schedule"), "the schedule");
      await store.addJobs([
        jobOf(stored, fireOf("schedule", FIRST - 5000), { id: "again", retryOf: "first" }),
        makeJob({ id: "by hand", scheduleId: "schedule" }),
      ]);
      equal(await missedSince(store, FIRST), undefined, "with jobs that no plan made");
      await fireAt(store, schedule, [FIRST]);
      const { acquired } = await take(store, { now: FIRST, limit: 3 });
      const others = acquired.filter(({ id }) => id !== jobIdAt(FIRST));
      equal(others.length, 1, "how many run, which are not the schedule's own");
      await release(
        store,
        others.map((job) => finish(job)),
        { now: FIRST },
      );
      equal(await missedSince(store, FIRST), FIRST, "while the task runs something else");
    },
  },
  {
    name: "missed turns: with latest, the newest job stands for all that wait",
    rules: ["P17", "P18", "P19"],
    async run({ open }) {
      const store = await open();
      const second = planFor(await waitingAt(store, [FIRST]), "latest");
      const report = await commit(store, { now: SECOND, jobs: null, plans: [second] });
      equal([report.plans, report.ended], [committed([jobIdAt(SECOND)], gone(FIRST)), []], "the answer");
      equal(await standsFor(store, jobIdAt(SECOND)), [1, FIRST, FIRST], "for which it stands");
      equal(await store.getJobResult(jobIdAt(FIRST), SECOND), null, "the result of the first");
      const missed = { missedCount: 1, firstMissedTime: THIRD - 1, lastMissedTime: THIRD - 1 };
      const third = planFor(await seenAgain(store), "latest", missed);
      const { plans, acquired } = await commit(store, { now: THIRD, plans: [third] });
      equal([plans, idsOf(acquired)], [committed([jobIdAt(THIRD)], gone(SECOND)), [jobIdAt(THIRD)]], "the next answer");
      equal(await standsFor(store, jobIdAt(THIRD)), [3, FIRST, THIRD - 1], "for which the next one stands");
      equal((await store.getSchedule("schedule"))?.skippedCount, 0, "the count of skips");
    },
  },
  {
    name: "missed turns: a job that is still to come takes the place of none that is due",
    rules: ["P18", "P19"],
    async run({ open }) {
      const store = await open();
      const second = planFor(await waitingAt(store, [FIRST]), "latest", { runAt: SECOND + 500 });
      const report = await commit(store, { now: SECOND, jobs: null, plans: [second] });
      equal(report.plans, committed([jobIdAt(SECOND)]), "the answer");
      const third = planFor(await seenAgain(store), "latest", { runAt: THIRD + 500 });
      const { plans, acquired } = await commit(store, { now: THIRD, limit: 1, plans: [third] });
      equal(plans, committed([jobIdAt(THIRD)], gone(FIRST)), "the next answer");
      equal(
        acquired.map(({ id, missedCount }) => [id, missedCount]),
        [[jobIdAt(SECOND), 1]],
        "what is acquired",
      );
      equal(await standsFor(store, jobIdAt(SECOND)), [1, FIRST, FIRST], "for which it stands");
      equal(await standsFor(store, jobIdAt(THIRD)), [0, null, null], "for which the third stands");
    },
  },
  {
    name: "missed turns: with earliest, the oldest job stays, and stands for all others",
    rules: ["P17", "P18", "P19"],
    async run({ open }) {
      const store = await open();
      const schedule = await waitingAt(store, [FIRST, SECOND]);
      const missed = { missedCount: 1, firstMissedTime: THIRD + 1, lastMissedTime: THIRD + 1 };
      const plans = [planFor(schedule, "earliest", missed)];
      const report = await commit(store, { now: THIRD + 5, jobs: null, plans });
      equal(report.plans, committed([], { isSkipped: true, ...gone(SECOND) }), "the answer");
      equal(await jobIds(store), [jobIdAt(FIRST)], "the jobs");
      equal(await standsFor(store, jobIdAt(FIRST)), [3, SECOND, THIRD + 1], "for which it stands");
      const { acquired } = await take(store, { now: THIRD + 5 });
      equal(
        acquired.map(({ id, missedCount }) => [id, missedCount]),
        [[jobIdAt(FIRST), 3]],
        "what is acquired",
      );
      equal((await store.getSchedule("schedule"))?.skippedCount, 0, "the count of skips");
    },
  },
  {
    name: "missed turns: nothing is counted where somebody could not count",
    rules: ["P19"],
    async run({ open }) {
      const store = await open();
      const second = planFor(await waitingAt(store, [FIRST]), "latest", { missedCount: null });
      await commit(store, { now: SECOND, jobs: null, plans: [second] });
      equal(await standsFor(store, jobIdAt(SECOND)), [null, FIRST, FIRST], "for which it stands");
    },
  },
  {
    name: "missed turns: a fire takes the place of its own job, of before its schedule was added again",
    rules: ["P18", "P19"],
    async run({ open }) {
      for (const policy of ["latest", "earliest"] as const) {
        const store = await open();
        const [id, first] = [policy, { missedCount: 1, firstMissedTime: FIRST, lastMissedTime: FIRST }];
        await fireAt(store, await dueSchedule(store, { id }), [THIRD], first);
        await removeSchedule(store, id);
        const seen = await dueSchedule(store, { id, nextFireTime: THIRD });
        const both = { missedCount: 2, firstMissedTime: SECOND, lastMissedTime: SECOND + 1 };
        const plans = [planFor(seen, policy, { ...both, jobId: `${id} again` })];
        const { plans: answer } = await commit(store, { now: THIRD, jobs: null, plans });
        const replaced = [{ jobId: jobIdAt(THIRD, id), fireTime: THIRD }];
        equal(answer, committed([`${id} again`], { replaced }), `the answer with ${policy}`);
        equal(await standsFor(store, `${id} again`), [null, FIRST, SECOND + 1], `for which it stands with ${policy}`);
      }
    },
  },
  {
    name: "missed turns: fire times that came again, because the schedule was added again, are not counted twice",
    rules: ["P19"],
    async run({ open }) {
      const store = await open();
      await fireAt(store, await dueSchedule(store), [FIRST], {
        missedCount: 1,
        firstMissedTime: SECOND,
        lastMissedTime: SECOND,
      });
      await removeSchedule(store, "schedule");
      const plans = [planFor(await dueSchedule(store, { nextFireTime: SECOND }), "earliest")];
      const report = await commit(store, { now: SECOND, jobs: null, plans });
      equal(report.plans, committed([], { isSkipped: true }), "the answer");
      equal(await standsFor(store, jobIdAt(FIRST)), [null, SECOND, SECOND], "for which it stands");
    },
  },
  {
    name: "missed turns: while a job of the schedule runs, the others wait for their turn",
    rules: ["P17"],
    async run({ open }) {
      for (const policy of ["latest", "earliest"] as const) {
        const store = await open();
        await fireAt(store, await dueSchedule(store, { id: policy }), [FIRST]);
        const { acquired } = await take(store);
        equal(acquired.length, 1, "how many run");
        await fireAt(store, await seenAgain(store, policy), [SECOND]);
        const third = planFor(await seenAgain(store, policy), policy);
        const report = await commit(store, { now: THIRD, jobs: null, plans: [third] });
        equal(report.plans, committed([jobIdAt(THIRD, policy)]), `the answer with ${policy}`);
        const all = [FIRST, SECOND, THIRD].map((at) => jobIdAt(at, policy));
        equal(
          (await jobIds(store)).filter((id) => id.startsWith(policy)),
          all,
          "the jobs",
        );
        await take(store, { now: THIRD, limit: 10 });
      }
    },
  },
  {
    name: "missed turns: jobs that have started, are to come, or were not made by plans are no part of it",
    rules: ["P17"],
    async run({ open }) {
      const store = await open();
      const schedule = await dueSchedule(store);
      const stored = present(await store.getSchedule("schedule"), "the schedule");
      await store.addJobs([
        jobOf(stored, fireOf("schedule", FIRST - 5000), { id: "again", retryOf: "first" }),
        jobOf(stored, fireOf("schedule", FIRST - 4000), { id: "to come", runAt: FOURTH }),
        jobOf(stored, fireOf("schedule", FOURTH + 4000), { id: "of a later fire time", runAt: FIRST }),
        makeJob({ id: "by hand", scheduleId: "schedule" }),
      ]);
      await fireAt(store, schedule, [FIRST], { missedCount: 0 });
      const plans = [planFor(await seenAgain(store), "latest")];
      const report = await commit(store, { now: SECOND, jobs: null, plans });
      equal(report.plans, committed([jobIdAt(SECOND)], gone(FIRST)), "the answer");
      const left = ["again", "to come", "of a later fire time", "by hand", jobIdAt(SECOND)];
      equal(new Set(await jobIds(store)), new Set(left), "the jobs");
    },
  },
  {
    name: "missed turns: a job that was lost with its process is tried again, whatever missed its turn meanwhile",
    rules: ["P17"],
    async run({ open }) {
      const store = await open();
      await fireAt(store, await dueSchedule(store), [FIRST]);
      await take(store);
      await commit(store, { now: FIRST + LEASE_MS, jobs: null, recover: true });
      const at = FIRST + LEASE_MS;
      await fireAt(store, await seenAgain(store), [at], { missedCount: 0 });
      const next = planFor(await seenAgain(store), "latest");
      const report = await commit(store, { now: at + 1000, jobs: null, plans: [next] });
      equal(report.plans, committed([jobIdAt(at + 1000)], gone(at)), "the answer");
      equal(new Set(await jobIds(store)), new Set([jobIdAt(FIRST), jobIdAt(at + 1000)]), "the jobs");
    },
  },
  {
    name: "missed turns: one plan ends a hundred jobs at most, those of the earliest fire times",
    rules: ["P18"],
    async run({ open }) {
      const store = await open();
      const [due] = await lookedAt(store, makeSchedule());
      const stored = present(await store.getSchedule("schedule"), "the schedule");
      const old = Array.from({ length: 150 }, (_, index) =>
        jobOf(stored, fireOf("schedule", FIRST - 150 + index, { jobId: numbered("old", index), missedCount: 0 })),
      );
      await store.addJobs(old.toReversed());
      const plans = [planFor(present(due, "the schedule"), "latest")];
      const report = await commit(store, { jobs: null, plans });
      const replaced = old.slice(0, 100).map((job) => ({ jobId: job.id, fireTime: job.fireTime ?? 0 }));
      equal(report.plans, committed([jobIdAt(FIRST)], { replaced }), "the answer");
      equal(await standsFor(store, jobIdAt(FIRST)), [100, FIRST - 150, FIRST - 51], "for which it stands");
    },
  },
  {
    name: "missed turns: a repetition tells the same, and counts nothing again; an outdated plan does nothing",
    rules: ["X11", "P2"],
    async run({ open }) {
      const store = await open();
      const schedule = await waitingAt(store, [FIRST]);
      const plans = [planFor(schedule, "latest")];
      const [lost, answer] = await twice(store, { now: SECOND, jobs: null, plans });
      equal(lost.plans, committed([jobIdAt(SECOND)], gone(FIRST)), "the first answer");
      equal(answer.plans, lost.plans, "the repetition");
      equal(await standsFor(store, jobIdAt(SECOND)), [1, FIRST, FIRST], "for which it stands");
      const late = planFor({ ...schedule, nextFireTime: THIRD }, "latest");
      const { plans: refused } = await commit(store, { now: THIRD, jobs: null, plans: [late] });
      equal(refused, [{ committed: false, addedJobIds: [] }], "an outdated plan");
      equal(await jobIds(store), [jobIdAt(SECOND)], "the jobs");
    },
  },
  {
    name: "missed turns: a job that ends so leaves its place at its key",
    rules: ["F9", "P18"],
    async run({ open }) {
      const store = await open();
      await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
      const [due] = await lookedAt(store, makeSchedule({ concurrencyKey: "k" }));
      const first = planOf(present(due, "the schedule"), { fires: [fireOf("schedule", FIRST, { jobId: "first" })] });
      // It is admitted, and nobody acquires it.
      await commit(store, { queues: [{ executor: "none", taskId: "task" }], plans: [first] });
      const plans = [planFor(await seenAgain(store), "latest")];
      const { acquired } = await commit(store, { now: SECOND, plans });
      equal(idsOf(acquired), [jobIdAt(SECOND)], "what takes its place");
    },
  },
  ledgerCase(
    ["H4"],
    "ledger: a skip leaves out the job of before its schedule was added again",
    async (store, ledger) => {
      await waitingAt(store, [SECOND]);
      await removeSchedule(store, "schedule");
      const seen = await dueSchedule(store, { nextFireTime: FIRST });
      const skip = { from: FIRST, until: THIRD - 1, verdict: "tooOld", count: 2, into: null } as const;
      const plan = { ...planFor({ ...seen, nextFireTime: THIRD }, "latest"), expected: FIRST, skips: [skip] };
      await commit(store, { now: THIRD, jobs: null, plans: [plan] });
      const left = { verdict: "tooOld", count: null } as const;
      equal(
        await entriesOf(ledger),
        [
          skipOf(FIRST, { ...left, until: SECOND - 1 }),
          skipOf(SECOND, { verdict: "coalesced", into: THIRD }),
          skipOf(SECOND + 1, { ...left, until: THIRD - 1 }),
        ],
        "the entries",
      );
    },
  ),
  ledgerCase(["H4"], "ledger: what missed its turn is coalesced, as one entry", async (store, ledger) => {
    let schedule = await waitingAt(store, [FIRST]);
    for (const at of [SECOND, THIRD]) {
      const plans = [planFor(schedule, "latest")];
      await twice(store, { now: at, jobs: null, plans, commitId: `scheduler-a 1#${at}` });
      schedule = await seenAgain(store);
    }
    // The fourth one finds that a fire time before it was missed too.
    const missed = { missedCount: 1, firstMissedTime: FOURTH, lastMissedTime: FOURTH };
    const skip = { from: FOURTH, until: FOURTH, verdict: "coalesced", count: 1, into: FOURTH + 1000 } as const;
    const late = { ...schedule, nextFireTime: FOURTH + 1000 };
    const plan = { ...planFor(late, "latest", missed), expected: FOURTH, skips: [skip] };
    await commit(store, { now: FOURTH + 1000, jobs: null, plans: [plan] });
    const all = skipOf(FIRST, { verdict: "coalesced", until: FOURTH, count: 4, into: FOURTH + 1000 });
    equal(await entriesOf(ledger), [all], "the entries while the last one waits");
    await end(store, await taken(store, jobIdAt(FOURTH + 1000), FOURTH + 2000), {
      startedAt: FOURTH + 2001,
      finishedAt: FOURTH + 2002,
    });
    const [entry, run] = await entriesOf(ledger);
    equal([entry, run?.kind], [all, "run"], "the entries when it has ended");
  }),
  ledgerCase(["H4"], "ledger: the oldest job takes what its fire stands for", async (store, ledger) => {
    const schedule = await waitingAt(store, [FIRST]);
    const missed = { missedCount: 1, firstMissedTime: THIRD, lastMissedTime: THIRD };
    const skip = { from: THIRD, until: THIRD, verdict: "coalesced", count: 1, into: SECOND } as const;
    const plan = { ...planFor(schedule, "earliest", missed), skips: [skip], nextFireTime: FOURTH, lastFireTime: THIRD };
    await twice(store, { now: THIRD, jobs: null, plans: [plan] });
    const all = skipOf(SECOND, { verdict: "coalesced", until: THIRD, count: 2, into: FIRST });
    equal(await entriesOf(ledger), [all], "the entries");
  }),
  ledgerCase(
    ["H4"],
    "ledger: fire times that a job stands for without its knowledge keep their entry, where that begins earlier",
    async (store, ledger) => {
      const missed = { missedCount: 1, firstMissedTime: SECOND, lastMissedTime: SECOND };
      await fireAt(store, await dueSchedule(store), [THIRD], missed);
      await fireAt(store, await seenAgain(store), [FOURTH], { missedCount: 0 });
      await removeSchedule(store, "schedule");
      await passAgain(store, { from: FIRST, until: THIRD, count: 3, into: FOURTH });
      const late = { ...(await seenAgain(store)), nextFireTime: FIFTH };
      await commit(store, { now: FIFTH, jobs: null, plans: [{ ...planFor(late, "latest"), expected: FOURTH + 1 }] });
      const entries = [
        skipOf(FIRST, { verdict: "coalesced", until: THIRD - 1, count: null, into: FOURTH }),
        skipOf(THIRD, { verdict: "coalesced", until: FOURTH, count: null, into: FIFTH }),
      ];
      equal(await entriesOf(ledger), entries, "the entries");
    },
  ),
  ledgerCase(
    ["H4"],
    "ledger: fire times that a job stands for without its knowledge keep their entry, where that ends later",
    async (store, ledger) => {
      await fireAt(store, await dueSchedule(store), [FIRST], { missedCount: 0 });
      const missed = { missedCount: 1, firstMissedTime: THIRD, lastMissedTime: THIRD };
      await fireAt(store, await seenAgain(store), [SECOND], missed);
      await removeSchedule(store, "schedule");
      await passAgain(store, { from: THIRD, until: FOURTH, count: 2, into: SECOND });
      const late = { ...(await seenAgain(store)), nextFireTime: FIFTH };
      const plan = { ...planFor(late, "latest", { runAt: FIFTH + 500 }), expected: FOURTH + 1 };
      await commit(store, { now: FIFTH, jobs: null, plans: [plan] });
      const entries = [
        skipOf(FIRST, { verdict: "coalesced", until: SECOND - 1, count: null, into: SECOND }),
        skipOf(SECOND + 1, { verdict: "coalesced", until: THIRD - 1, count: null, into: SECOND }),
        skipOf(THIRD, { verdict: "coalesced", until: FOURTH, count: 2, into: SECOND }),
      ];
      equal(await entriesOf(ledger), entries, "the entries");
    },
  ),
  ledgerCase(["O2", "O6"], "overdue: a job that stands for others is overdue as early as the first", async (store) => {
    const expected = { expectStartMs: 1500, expectFinishMs: 9000 };
    await fireAt(store, await dueSchedule(store, expected), [FIRST], { missedCount: 0 });
    const overdue = (fireTime: number, dueAt: number): OverdueRecord => {
      const jobId = jobIdAt(fireTime);
      return { scheduleId: "schedule", taskId: "task", fireTime, kind: "start", dueAt, raisedAt: dueAt, jobId };
    };
    const open: OverdueRecord[] = [];
    for (const at of [SECOND, THIRD]) {
      await commit(store, { now: at, jobs: null, plans: [planFor(await seenAgain(store), "latest")] });
      equal((await look(store, { now: at })).overdue?.nextAt, at + 500, "when something is overdue at the earliest");
      const { changedOverdue } = await commit(store, { now: at + 500, limit: 0, overdue: true });
      open.push(overdue(at, at + 500));
      equal(changedOverdue, { raised: open.slice(-1), resolved: [] }, "what is overdue then");
    }
    const { changedOverdue } = await commit(store, { now: FOURTH, overdue: true });
    const resolved = open.map((one) => ({ ...one, jobId: jobIdAt(THIRD), reason: "started" as const }));
    equal(changedOverdue, { raised: [], resolved }, "what is over when the last one starts");
  }),
  ledgerCase(
    ["O2", "O3"],
    "overdue: a job that stands for others is as early to end where no start is expected",
    async (store) => {
      await fireAt(store, await dueSchedule(store, { expectFinishMs: 1500 }), [FIRST], { missedCount: 0 });
      await commit(store, { now: SECOND, jobs: null, plans: [planFor(await seenAgain(store), "latest")] });
      const { changedOverdue } = await commit(store, { now: FIRST + 1500, overdue: true });
      const found = changedOverdue?.raised.map(({ kind, jobId, dueAt }) => [kind, jobId, dueAt]);
      equal(found, [["finish", jobIdAt(SECOND), FIRST + 1500]], "what is overdue");
    },
  ),
  ledgerCase(
    ["O3"],
    "overdue: the end that a job was to have says nothing of the start of another one",
    async (store) => {
      const expected = { expectStartMs: 500, expectFinishMs: 1200 };
      await fireAt(store, await dueSchedule(store, expected), [FIRST], { missedCount: 0 });
      await commit(store, { now: FIRST + 500, limit: 0, overdue: true });
      await commit(store, { now: SECOND, jobs: null, plans: [planFor(await seenAgain(store), "latest")] });
      equal((await look(store, { now: SECOND })).overdue?.nextAt, SECOND + 500, "when something is overdue next");
    },
  ),
];
