import { JOB_OUTCOMES } from "../../records/policies.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  dueSchedule,
  end,
  entriesOf,
  fireAt,
  jobIdAt,
  ledgerCase,
  NOTE,
  runningJob,
  runOf,
  seenAgain,
  skipOf,
  taken,
} from "./ledger-makers.ts";
import {
  cancel,
  commit,
  endedJob,
  finish,
  fireOf,
  LEASE_MS,
  makeJob,
  makeResult,
  makeTask,
  planOf,
  release,
  removeSchedule,
  T0,
  take,
  updateSchedule,
} from "./makers.ts";
import { twice } from "./repeat.ts";

/** What the ledger says of jobs that the store ended by itself. */
const ALONE = { startedAt: null, outcome: "cancelled" } as const;

/** Lets a new schedule fire at T0, and takes its job as a scheduler that loses it. */
async function lostJob(store: DataStore, maxRecoveries: number, cancels: boolean): Promise<void> {
  const job = await runningJob(store, { maxRecoveries });
  if (cancels) await cancel(store, job.id, T0 + 2000);
}

export const ledgerCases: readonly DataStoreCase[] = [
  ledgerCase(["P6"], "ledger: a fire time that has run makes no job when its schedule is taken back", async (store) => {
    await end(store, await runningJob(store));
    await updateSchedule(store, "schedule", { nextFireTime: T0 });
    const due = await seenAgain(store);
    const fires = [T0, T0 + 1].map((at) => ({ ...fireOf("schedule", at), jobId: `again ${at - T0}` }));
    const plan = planOf(due, { fires, lastFireTime: T0 + 9, nextFireTime: T0 + 5 });
    const [report] = (await commit(store, { now: T0 + 4000, plans: [plan], jobs: null })).plans;
    equal(report, { committed: true, addedJobIds: ["again 1"] }, "the answer");
  }),
  ledgerCase(
    ["H1"],
    "ledger: a finished job of a fire time leaves its run, whatever its outcome",
    async (store, ledger) => {
      for (const outcome of JOB_OUTCOMES) {
        const fire = { createdAt: T0 + 3, scheduledFireTime: T0 + 7, runAt: T0 + 7 };
        const job = await runningJob(store, { id: outcome }, fire);
        const startedAt = outcome === "missedStartDeadline" ? null : T0 + 2011;
        await end(store, job, { outcome, startedAt, finishedAt: T0 + 2070 });
        const reason = outcome === "skipped" ? { reason: "" } : {};
        const run = runOf(job, { outcome, startedAt, finishedAt: T0 + 2070, scheduledFireTime: T0 + 7, ...reason });
        equal(run.kind === "run" && run.createdAt, T0 + 3, "when the job was made");
        equal(await entriesOf(ledger, { scheduleId: outcome }), [run], `the entries after ${outcome}`);
      }
    },
  ),
  ledgerCase(
    ["H1"],
    "ledger: the run of a job that its handler skipped has the first 100 bytes of the reason",
    async (store, ledger) => {
      for (const [id, message, reason] of [
        ["plain", "nothing to do / 50% done", "nothing to do / 50% done"],
        ["long", "x".repeat(101), "x".repeat(100)],
        ["wide", "日".repeat(34), "日".repeat(33)],
        ["lines", "a\nb  c ", "a\nb  c "],
      ] as const) {
        const job = await runningJob(store, { id });
        const error = { name: "SkipRun", message, code: "skipRun" };
        await end(store, job, { outcome: "skipped", error, expiresAt: T0 });
        equal(await entriesOf(ledger, { scheduleId: id }), [runOf(job, { outcome: "skipped", reason })], id);
      }
      const keyed = await runningJob(store, { id: "keyed", concurrencyKey: "key" });
      const error = { name: "SkipRun", message: "a/b", code: "skipRun" };
      await end(store, keyed, { outcome: "skipped", error });
      const run = runOf(keyed, { outcome: "skipped", reason: "a/b", isKeyed: true });
      equal(await entriesOf(ledger, { scheduleId: "keyed" }), [run], "of a job with a key");
    },
  ),
  ledgerCase(["H1"], "ledger: a finished job whose result is not kept leaves the same run", async (store, ledger) => {
    const job = await runningJob(store);
    await end(store, job, { expiresAt: T0 });
    equal(await store.getJobResult(job.id, T0), null, "the result");
    equal(await entriesOf(ledger), [runOf(job)], "the entries");
  }),
  ledgerCase(
    ["H1"],
    "ledger: a run has all attempts of its job, and the start of the last one",
    async (store, ledger) => {
      const job = await runningJob(store);
      await release(store, [{ jobId: job.id, fence: job.fence, kind: "start" }]);
      await release(store, [{ jobId: job.id, fence: job.fence, kind: "retry", runAt: T0 + 2500, failedAttempts: 1 }]);
      equal(await entriesOf(ledger), [], "the entries while the job waits for its next attempt");
      const again = await taken(store, job.id, T0 + 3000);
      await release(store, [{ jobId: job.id, fence: again.fence, kind: "giveUp" }]);
      equal(await entriesOf(ledger), [], "the entries while the job waits for another worker");
      const last = await taken(store, job.id, T0 + 4000);
      const facts = { attempts: 2, startedAt: T0 + 4001, finishedAt: T0 + 4444 };
      await end(store, last, facts);
      equal(await entriesOf(ledger), [runOf(job, facts)], "the entries");
    },
  ),
  ledgerCase(["H2"], "ledger: a release that does not count leaves nothing", async (store, ledger) => {
    const job = await runningJob(store);
    const wrong = finish({ ...job, fence: job.fence + 1 });
    equal((await release(store, [wrong])).releases, ["fenced"], "a release with another fence");
    equal((await release(store, [finish(job)], { by: "scheduler-b" })).releases, ["fenced"], "a release by another");
    equal(await entriesOf(ledger), [], "the entries");
  }),
  ledgerCase(
    ["H2"],
    "ledger: a repeated end leaves one run, and a later one changes nothing",
    async (store, ledger) => {
      for (const [id, expiresAt] of [
        ["kept", T0 + 86_400_000],
        ["dropped", T0],
      ] as const) {
        const job = await runningJob(store, { id });
        const result = { startedAt: T0 + 2001, finishedAt: T0 + 2005, expiresAt };
        await twice(store, {
          commitId: `scheduler-a 1#${id}`,
          now: T0 + 2005,
          jobs: null,
          releases: [finish(job, result)],
        });
        await end(store, job, { outcome: "error", attempts: 9 });
        equal(await entriesOf(ledger, { scheduleId: id }), [runOf(job)], `the entries of the ${id} result`);
      }
    },
  ),
  ledgerCase(
    ["H1", "L12"],
    "ledger: a job that was lost too often leaves a run, and one that goes back does not",
    async (store, ledger) => {
      await lostJob(store, 1, false);
      const now = T0 + 2000 + LEASE_MS;
      const { acquired } = await take(store, { now });
      equal(await entriesOf(ledger), [], "the entries after the first loss");
      const { jobId, fence } = { jobId: jobIdAt(T0), fence: present(acquired[0], "the job").fence };
      await release(store, [{ jobId, fence, kind: "start" }], { now });
      const later = now + LEASE_MS;
      await take(store, { now: later });
      const job = makeJob({ id: jobId, fireTime: T0, scheduledFireTime: T0, createdAt: T0 + 1 });
      const facts = { outcome: "abandoned", startedAt: null, finishedAt: later, attempts: 2 } as const;
      equal(await entriesOf(ledger), [runOf(job, facts)], "the entries after the second loss");
    },
  ),
  ledgerCase(["H1"], "ledger: a job that is given up after it has started may be its last", async (store, ledger) => {
    const job = await runningJob(store, { maxRecoveries: 0, resultExpirationMs: 0 });
    const giveUp = { jobId: job.id, fence: job.fence, kind: "giveUp", hasStarted: true } as const;
    await release(store, [giveUp], { now: T0 + 2009 });
    const facts = { outcome: "abandoned", startedAt: null, finishedAt: T0 + 2009 } as const;
    equal(await entriesOf(ledger), [runOf(job, facts)], "the entries");
  }),
  ledgerCase(["H1"], "ledger: a job that a dead process left may be its last", async (store, ledger) => {
    const job = await runningJob(store, { maxRecoveries: 0 });
    const surrender = { schedulerId: "scheduler-a", instanceId: "scheduler-a 2#", aliveUntil: null, isAlone: true };
    await store.giveUpLeases({ now: T0 + 2009, ...surrender });
    const facts = { outcome: "abandoned", startedAt: null, finishedAt: T0 + 2009 } as const;
    equal(await entriesOf(ledger), [runOf(job, facts)], "the entries");
  }),
  ledgerCase(
    ["H1"],
    "ledger: a job that is cancelled while it waits leaves a run without attempts",
    async (store, ledger) => {
      for (const [id, resultExpirationMs] of [
        ["kept", 1000],
        ["dropped", 0],
      ] as const) {
        const schedule = await dueSchedule(store, { id, resultExpirationMs });
        await fireAt(store, schedule, [T0]);
        const job = present(await store.getJob(jobIdAt(T0, id)), "the job");
        await cancel(store, job.id, T0 + 77);
        await cancel(store, job.id, T0 + 78);
        const run = runOf(job, { ...ALONE, finishedAt: T0 + 77, attempts: 0 });
        equal(await entriesOf(ledger, { scheduleId: id }), [run], `the entries of the ${id} result`);
      }
    },
  ),
  ledgerCase(
    ["H1"],
    "ledger: a running job that is to be cancelled leaves its run when it ends",
    async (store, ledger) => {
      await lostJob(store, 3, true);
      equal(await entriesOf(ledger), [], "the entries while the job runs");
      const now = T0 + 2000 + LEASE_MS;
      await take(store, { now });
      const job = makeJob({ id: jobIdAt(T0), fireTime: T0, scheduledFireTime: T0, createdAt: T0 + 1 });
      equal(await entriesOf(ledger), [runOf(job, { ...ALONE, finishedAt: now })], "the entries after the lease");

      const other = await runningJob(store, { id: "other" });
      await cancel(store, other.id, T0 + 2000);
      await release(store, [{ jobId: other.id, fence: other.fence, kind: "giveUp" }], { now: T0 + 2004 });
      const run = runOf(other, { ...ALONE, finishedAt: T0 + 2004 });
      equal(await entriesOf(ledger, { scheduleId: "other" }), [run], "the entries after its worker gave it up");
    },
  ),
  ledgerCase(["H1"], "ledger: a job that its parent's end cancels leaves a run", async (store, ledger) => {
    await dueSchedule(store);
    const fields = { scheduleId: "schedule", after: ["parent"] };
    const child = makeJob({ ...fields, id: "child", fireTime: T0, scheduledFireTime: T0 });
    const grandchild = makeJob({
      ...child,
      id: "grandchild",
      fireTime: T0 + 1,
      after: ["child"],
      resultExpirationMs: 0,
    });
    await store.addJobs([makeJob({ id: "parent" }), child, grandchild]);
    const parent = await taken(store, "parent", T0);
    await release(store, [finish(parent, { outcome: "error" })], { now: T0 + 5 });
    const facts = { ...ALONE, finishedAt: T0 + 5, attempts: 0 };
    equal(await entriesOf(ledger), [runOf(child, facts), runOf(grandchild, facts)], "the entries");
    const late = makeJob({ ...child, id: "late", fireTime: T0 + 2, createdAt: T0 + 9 });
    await store.addJobs([late]);
    const run = runOf(late, { ...facts, finishedAt: T0 + 9 });
    await commit(store, { now: T0 + 9, jobs: null });
    equal(await entriesOf(ledger, { from: T0 + 2 }), [run], "the entry of a child that came after the parent's end");
  }),
  ledgerCase(["H3"], "ledger: a job that repeats another one takes its place when it ends", async (store, ledger) => {
    const first = await runningJob(store);
    await end(store, first, { outcome: "error" });
    const { fireTime, scheduledFireTime, scheduleId } = first;
    const fields = { fireTime, scheduledFireTime, scheduleId, createdAt: T0 + 5000, runAt: T0 + 5000 };
    await store.addJobs([makeJob({ id: "second", retryOf: first.id, ...fields })]);
    equal(await entriesOf(ledger), [runOf(first, { outcome: "error" })], "the entries while the repetition waits");
    equal(await ledger.getJobOfFireTime("schedule", T0), null, "the job of the fire time");
    const second = await taken(store, "second", T0 + 5000);
    const facts = { startedAt: T0 + 5001, finishedAt: T0 + 5002 };
    await end(store, second, facts);
    equal(await entriesOf(ledger), [runOf(second, facts)], "the entries after the repetition");
  }),
  ledgerCase(["H2"], "ledger: jobs without a fire time leave nothing", async (store, ledger) => {
    await dueSchedule(store, {}, NOTE);
    await store.addJobs([makeJob({ id: "asked for", scheduleId: "schedule" }), makeJob({ id: "alone" })]);
    const { acquired } = await take(store);
    await release(
      store,
      acquired.map((job) => finish(job)),
    );
    await store.addJobs([makeJob({ id: "cancelled", scheduleId: "schedule" })]);
    await cancel(store, "cancelled", T0);
    equal(await entriesOf(ledger), [], "the entries");
  }),
  ledgerCase(["H1"], "ledger: a job that outlives its schedule still leaves its run", async (store, ledger) => {
    const job = await runningJob(store);
    await removeSchedule(store, "schedule");
    await end(store, job);
    equal(await entriesOf(ledger), [runOf(job)], "the entries");
  }),
  ledgerCase(["H1"], "ledger: a run tells whether admission may have blocked its job", async (store, ledger) => {
    await store.putTasks([
      makeTask({ id: "task", maxRunningPerKey: 5 }),
      makeTask({ id: "rated", rateLimit: { limit: 10, perMs: 1000, burst: 10 } }),
      makeTask({ id: "fair", fair: true }),
    ]);
    const queues = ["task", "rated", "fair"].map((taskId) => ({ executor: "inline", taskId }));
    for (const [id, fields, isKeyed] of [
      ["plain", {}, false],
      ["keyed", { concurrencyKey: "key" }, true],
      ["rated", { taskId: "rated" }, true],
      ["fair", { taskId: "fair" }, true],
    ] as const) {
      await fireAt(store, await dueSchedule(store, { id, ...fields }), [T0]);
      const { acquired } = await take(store, { now: T0 + 2000, queues });
      const job = present(acquired[0], "the job");
      await end(store, job);
      equal(await entriesOf(ledger, { scheduleId: id }), [runOf(job, { isKeyed })], `the entries of ${id}`);
    }
  }),
  ledgerCase(
    ["H4"],
    "ledger: a job that gave way to a newer one leaves what became of its fire time",
    async (store, ledger) => {
      const schedule = await dueSchedule(store, { overlap: "replaceQueued" });
      const overlap = { policy: "replaceQueued", passed: 0, lastPassedTime: null } as const;
      await fireAt(store, schedule, [T0]);
      const plan = { ...planOf(await seenAgain(store)), overlap };
      const fires = [fireOf("schedule", T0 + 1000, { jobId: "newer" })];
      await twice(store, { now: T0 + 1000, jobs: null, plans: [{ ...plan, fires }] });
      const replaced = skipOf(T0, { verdict: "replaced", into: T0 + 1000 });
      equal(await entriesOf(ledger), [replaced], "the entries after the newer one was made");
      const job = await taken(store, "newer");
      await end(store, job);
      equal(await entriesOf(ledger), [replaced, runOf(job)], "the entries after the newer one ended");
    },
  ),
  ledgerCase(["H1"], "ledger: a running job that a newer one cancels leaves its run", async (store, ledger) => {
    const job = await runningJob(store, { overlap: "cancelRunning" });
    const overlap = { policy: "cancelRunning", passed: 0, lastPassedTime: null } as const;
    const plan = { ...planOf(await seenAgain(store)), overlap };
    const fires = [fireOf("schedule", T0 + 1000, { jobId: "newer" })];
    await commit(store, { now: T0 + 2000, jobs: null, plans: [{ ...plan, fires }] });
    equal(await entriesOf(ledger), [], "the entries while it runs");
    await end(store, job, { outcome: "cancelled" });
    equal(await entriesOf(ledger), [runOf(job, { outcome: "cancelled" })], "the entries when it has ended");
  }),
  ledgerCase(["H15"], "ledger: the unfinished job of a fire time is found, and no other one", async (store, ledger) => {
    equal(await ledger.getJobOfFireTime("schedule", T0), null, "before the fire");
    await fireAt(store, await dueSchedule(store), [T0]);
    const waiting = await store.getJob(jobIdAt(T0));
    equal(await ledger.getJobOfFireTime("schedule", T0), present(waiting, "the job"), "while it waits");
    equal(await ledger.getJobOfFireTime("schedule", T0 + 1), null, "another fire time");
    equal(await ledger.getJobOfFireTime("other", T0), null, "another schedule");
    const job = await taken(store, jobIdAt(T0));
    equal(await ledger.getJobOfFireTime("schedule", T0), job, "while it runs");
    await endedJob(store);
    const repetition = makeJob({ id: "again", scheduleId: "schedule", fireTime: T0 - 9, retryOf: "first" });
    await store.addJobs([repetition]);
    equal(await ledger.getJobOfFireTime("schedule", T0 - 9), null, "a job that repeats another one");
    await release(store, [finish(job, makeResult(job))]);
    equal(await ledger.getJobOfFireTime("schedule", T0), null, "after its end");
  }),
  ledgerCase(["H16"], "ledger: it begins with the schedule, and goes on after its removal", async (store, ledger) => {
    equal(await ledger.getLedgerStart("schedule"), null, "before");
    const job = await runningJob(store);
    equal(await ledger.getLedgerStart("schedule"), T0, "while there is the schedule");
    await end(store, job);
    await removeSchedule(store, "schedule", { ...NOTE, at: T0 + 3000 });
    equal(await ledger.getLedgerStart("schedule"), T0, "after its removal");
    await dueSchedule(store, { createdAt: T0 + 5000, nextFireTime: T0 + 6000 }, { ...NOTE, at: T0 + 5000 });
    equal(await ledger.getLedgerStart("schedule"), T0, "when a schedule of the same id is added");
    equal((await entriesOf(ledger))[0], runOf(job), "the first entry");
  }),
];
