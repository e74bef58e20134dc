import { StoreRefusedError, StoreUnavailableError } from "../../src/core/errors.ts";
import type { JobRecord, NewJobRecord } from "../../src/records/job.ts";
import type { JobLogRecord } from "../../src/records/job-log.ts";
import type { JobResultRecord } from "../../src/records/job-result.ts";
import type { JobStepRecord } from "../../src/records/job-step.ts";
import type { AuditRecord } from "../../src/records/ledger.ts";
import type { ScheduleRecord } from "../../src/records/schedule.ts";
import type { SchedulerRecord } from "../../src/records/scheduler.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import type { Serializer } from "../../src/serializers/serializer.ts";
import type { Ledger } from "../../src/stores/contract/ledger-types.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { seenByOld } from "./old-program.ts";
import type { SimulatedProcess } from "./process.ts";
import { REFUSED_PAYLOAD, REFUSED_RESULT } from "./refused.ts";
import type { World } from "./world.ts";

/** What the store will never take. */
export class RefusedError extends Error {}

/** @throws {RefusedError} */
function refuse(jobs: readonly JobRecord[]): void {
  if (jobs.some(({ payload }) => payload === `${REFUSED_PAYLOAD}`)) throw new RefusedError("a job is refused");
}

/** What becomes of one call. */
interface Fate {
  readonly delayBeforeMs: number;
  readonly delayAfterMs: number;
  /** `late`: the caller is told that it failed, and it takes effect afterwards. */
  readonly end: "answered" | "lostBefore" | "lostAfter" | "late";
  /** Whether the process dies before it hears of it. */
  readonly isDeadly: boolean;
}

const SOUND: Fate = { delayBeforeMs: 0, delayAfterMs: 0, end: "answered", isDeadly: false };
const LATE_MS = 3000;
/** Of all calls, where processes crash. */
const DEADLY_CALLS = 0.005;
const CALLS_AT_INSTANT_MAX = 1000;
/** Calls that may arrive after their caller has given them up. */
const MAY_BE_LATE: ReadonlySet<string> = new Set([
  "commit",
  "extendLeases",
  "addJobs",
  "cancelJobs",
  "addSchedules",
  "updateSchedules",
  "removeSchedules",
  "commitSchedules",
  "pauseTask",
  "addBlackout",
  "removeBlackout",
]);

/** The ledger, whose calls neither fail nor wait. */
function watched(world: World, ledger: Ledger): Ledger {
  const takeBackAfter: Ledger["takeBackAfter"] = async (instant, hasUptimes) => {
    await ledger.takeBackAfter(instant, hasUptimes);
    world.jobs.onTakenBack(instant);
  };
  return new Proxy(ledger, {
    get: (target, name) => {
      const value: unknown = name === "takeBackAfter" ? takeBackAfter : Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/**
 * The store as one simulated process sees it, over a network that delays, that fails calls before or after they took
 * effect, and that brings some when their caller has given them up. What takes effect is compared with the models, in
 * the order in which it does.
 */
export class FaultyStore implements contract.DataStore {
  readonly serializer: Serializer;
  readonly capabilities: contract.StoreCapabilities = { sharedByProcesses: true };
  readonly ledger: Ledger | null;
  readonly #world: World;
  readonly #process: SimulatedProcess;
  readonly #store: contract.DataStore;
  #instantMs = -1;
  #callsAtInstant = 0;

  constructor(world: World, process: SimulatedProcess) {
    this.#world = world;
    this.#process = process;
    this.#store = world.store;
    this.serializer = world.store.serializer;
    this.ledger = world.store.ledger == null ? null : watched(world, world.store.ledger);
  }

  open(now: number): Promise<void> {
    return this.#call("open", () => this.#store.open(now));
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}

  putTasks(tasks: readonly TaskRecord[]): Promise<contract.TaskChange[]> {
    return this.#call("putTasks", async () => {
      const changes = await this.#store.putTasks(tasks);
      this.#world.onTasks(tasks, changes);
      return changes;
    });
  }

  getTasks(): Promise<TaskRecord[]> {
    return this.#call("getTasks", () => this.#store.getTasks());
  }

  getTask(id: string): Promise<TaskRecord | null> {
    return this.#call("getTask", () => this.#store.getTask(id));
  }

  removeTask(id: string): Promise<"removed" | "inUse" | "missing"> {
    return this.#call("removeTask", () => this.#store.removeTask(id));
  }

  pauseTask(request: contract.TaskPauseRequest): Promise<boolean> {
    return this.#call("pauseTask", async () => {
      const isKnown = await this.#store.pauseTask(request);
      this.#world.jobs.beforeLimits();
      this.#world.gates.onPause(request, isKnown);
      return isKnown;
    });
  }

  getTaskPauses(): Promise<contract.TaskPause[]> {
    return this.#call("getTaskPauses", async () => {
      const pauses = await this.#store.getTaskPauses();
      this.#world.gates.checkPauses(pauses);
      return pauses;
    });
  }

  getBlackouts(): Promise<contract.BlackoutList> {
    return this.#call("getBlackouts", () => this.#store.getBlackouts());
  }

  addBlackout(addition: contract.BlackoutAddition): Promise<contract.BlackoutAdditionReport> {
    return this.#call("addBlackout", () => this.#store.addBlackout(addition));
  }

  removeBlackout(id: string): ReturnType<contract.DataStore["removeBlackout"]> {
    return this.#call("removeBlackout", () => this.#store.removeBlackout(id));
  }

  addSchedules(
    additions: readonly contract.ScheduleAddition[],
    note?: AuditRecord,
  ): Promise<contract.ScheduleAdditionReport> {
    return this.#call("addSchedules", async () => {
      const report = await this.#store.addSchedules(additions, note);
      this.#world.schedules.onAdd(additions, report, note);
      return report;
    });
  }

  getSchedule(id: string): Promise<ScheduleRecord | null> {
    return this.#call("getSchedule", () => this.#store.getSchedule(id));
  }

  getSchedules(filter: contract.ScheduleFilter): Promise<contract.RecordPage<ScheduleRecord>> {
    return this.#call("getSchedules", () => this.#store.getSchedules(filter));
  }

  updateSchedules(
    updates: readonly contract.ScheduleUpdateRequest[],
    note?: AuditRecord,
  ): Promise<(ScheduleRecord | null)[]> {
    return this.#call("updateSchedules", async () => {
      const updated = await this.#store.updateSchedules(updates, note);
      for (const [index, { id, changes, expectedFence }] of updates.entries()) {
        this.#world.schedules.onUpdate(id, changes, { expectedFence, note }, updated[index] ?? null);
      }
      return updated;
    });
  }

  commitSchedules(commit: contract.ScheduleCommit, note?: AuditRecord): Promise<contract.ScheduleCommitReport> {
    return this.#call("commitSchedules", () => this.#store.commitSchedules(commit, note));
  }

  removeSchedules(removals: readonly contract.ScheduleRemovalRequest[], note?: AuditRecord): Promise<boolean[]> {
    return this.#call("removeSchedules", async () => {
      const wereThere = await this.#store.removeSchedules(removals, note);
      for (const [index, { id }] of removals.entries()) {
        this.#world.schedules.onRemove(id, wereThere[index] === true, note);
      }
      return wereThere;
    });
  }

  look(request: contract.LookRequest): Promise<contract.LookReport> {
    this.#process.protocol.onView(request);
    return this.#call("look", async () => {
      const report = await this.#store.look(request);
      this.#checkSeen(request, report);
      return this.#process.options.isOld ? seenByOld(report) : report;
    });
  }

  async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const { protocol } = this.#process;
    protocol.onSend(request);
    this.#world.schedules.onSend(request);
    try {
      const report = await this.#call("commit", async () => {
        refuse(request.additions);
        this.#refuseParts(request);
        let effect: contract.CommitReport;
        try {
          effect = await this.#store.commit(request);
        } catch (error) {
          this.#checkRefusal(error, request.additions, request.releases);
          throw error;
        }
        const { now, schedulerId, heartbeat } = request;
        if (heartbeat !== undefined) this.#onSign({ now, schedulerId, ...heartbeat });
        this.#world.jobs.beforePlans(request, effect, this.#process);
        this.#world.schedules.onPlans(request, effect, this.#process);
        this.#world.jobs.afterPlans(request, effect, this.#process);
        if (effect.cleanup !== undefined) this.#onCleanUp(effect.cleanup, now);
        this.#checkSeen(request, effect);
        return effect;
      });
      protocol.onAnswer(request, report);
      this.#world.jobs.onAnswer(report);
      this.#world.announcements.onStep(this.#process, request, report);
      return this.#process.options.isOld ? seenByOld(report) : report;
    } catch (error) {
      if (error instanceof StoreUnavailableError) protocol.onFailure(request);
      else protocol.onRefusal(request);
      throw error;
    }
  }

  async addJobs(jobs: readonly NewJobRecord[]): Promise<contract.JobAddition[]> {
    const additions = await this.#call("addJobs", async () => {
      refuse(jobs);
      let report: contract.JobAddition[];
      try {
        report = await this.#store.addJobs(jobs);
      } catch (error) {
        this.#checkRefusal(error, jobs, []);
        throw error;
      }
      // What a schedule's occurrence became must come through a plan; whatever way it comes, it comes once.
      for (const job of jobs) {
        if (job.fireTime !== null && job.retryOf === undefined)
          this.#world.schedules.onEnqueued(job, this.#process.name);
      }
      this.#world.jobs.onAddAlone(jobs, report);
      return report;
    });
    this.#world.announcements.onAdded(this.#process, additions, []);
    return additions;
  }

  getJob(id: string): Promise<JobRecord | null> {
    return this.#call("getJob", () => this.#store.getJob(id));
  }

  getJobs(filter: contract.JobFilter): Promise<contract.RecordPage<JobRecord>> {
    return this.#call("getJobs", () => this.#store.getJobs(filter));
  }

  async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    const { settledCommitId } = this.#process.protocol;
    const report = await this.#call("extendLeases", async () => {
      const effect = await this.#store.extendLeases(extension);
      this.#onSign(extension);
      this.#world.jobs.onExtend(extension, effect, this.#process, settledCommitId);
      return effect;
    });
    this.#world.attempts.told(this.#process, extension, report);
    return report;
  }

  giveUpLeases(request: contract.LeaseSurrender): Promise<contract.RecoveryReport> {
    return this.#call("giveUpLeases", async () => {
      const report = await this.#store.giveUpLeases(request);
      this.#onSign(request);
      const { schedulerId, now } = request;
      const isSpared = (commitId: string): boolean => this.#world.schedules.isOfTheLiving(schedulerId, commitId, now);
      this.#world.jobs.onGiveUp(request, report, this.#process, isSpared);
      return report;
    });
  }

  #onSign({ now, schedulerId: identity, instanceId, aliveUntil, profile }: contract.LeaseSurrender): void {
    if (aliveUntil === null) return;
    this.#process.onBeat(now);
    const isResident = profile?.isResident !== false;
    this.#world.schedules.onAlive({ identity, instanceId, aliveUntil, isResident }, now);
  }

  cancelJobs(ids: readonly string[], now: number): Promise<contract.CancelReport> {
    return this.#call("cancelJobs", async () => {
      const report = await this.#store.cancelJobs(ids, now);
      this.#world.jobs.onCancel(ids, now, report);
      return report;
    });
  }

  seeBackfill(request: contract.BackfillRequest): Promise<contract.BackfillState> {
    return this.#call("seeBackfill", () => this.#store.seeBackfill(request));
  }

  commitBackfill(commit: contract.BackfillCommit): Promise<readonly JobRecord[] | null> {
    return this.#call("commitBackfill", () => this.#store.commitBackfill(commit));
  }

  cancelBackfill(id: string, now: number): Promise<boolean> {
    return this.#call("cancelBackfill", () => this.#store.cancelBackfill(id, now));
  }

  getSchedulers(now: number): Promise<SchedulerRecord[]> {
    return this.#call("getSchedulers", () => this.#store.getSchedulers(now));
  }

  saveJobStep(save: contract.JobStepSave): Promise<contract.JobStepReport> {
    return this.#call("saveJobStep", () => this.#store.saveJobStep(save));
  }

  getJobLogs(jobId: string, now: number): Promise<JobLogRecord[]> {
    return this.#call("getJobLogs", () => this.#store.getJobLogs(jobId, now));
  }

  getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]> {
    return this.#call("getJobSteps", () => this.#store.getJobSteps(jobId, now));
  }

  getJobResult(jobId: string, now: number): Promise<JobResultRecord | null> {
    return this.#call("getJobResult", () => this.#store.getJobResult(jobId, now));
  }

  getUnknownJobIds(jobIds: readonly string[], now: number): Promise<string[]> {
    return this.#call("getUnknownJobIds", () => this.#store.getUnknownJobIds(jobIds, now));
  }

  getResultsOfJobs(jobIds: readonly string[], now: number): Promise<contract.ResultsOfJobs> {
    return this.#call("getResultsOfJobs", () => this.#store.getResultsOfJobs(jobIds, now));
  }

  restore(records: contract.RestoredRecords): Promise<void> {
    return this.#call("restore", () => this.#store.restore(records));
  }

  removeJobResults(selection: contract.ResultRemoval, limit: number): Promise<number> {
    return this.#call("removeJobResults", () => this.#store.removeJobResults(selection, limit));
  }

  inspect(now: number): Promise<contract.StoreInspection> {
    return this.#call("inspect", () => this.#store.inspect(now));
  }

  getJobResults(filter: contract.JobResultFilter, now: number): Promise<contract.RecordPage<JobResultRecord>> {
    return this.#call("getJobResults", () => this.#store.getJobResults(filter, now));
  }

  getFailures(selection: contract.FailureSelection, now: number): Promise<contract.FailureList> {
    return this.#call("getFailures", () => this.#store.getFailures(selection, now));
  }

  cleanup(request: { readonly now: number; readonly limit: number }): Promise<contract.CleanupReport> {
    return this.#call("cleanup", async () => {
      const report = await this.#store.cleanup(request);
      this.#onCleanUp(report, request.now);
      return report;
    });
  }

  #onCleanUp(report: contract.CleanupReport, now: number): void {
    this.#world.schedules.onCleanup(report, now);
    this.#world.gates.sawClock(now);
    this.#world.jobs.onCleanup(now);
  }

  /** @throws {RefusedError} */
  #refuseParts({ releases, plans }: contract.CommitRequest): void {
    const text = JSON.stringify(REFUSED_RESULT);
    if (releases.some((release) => release.kind === "finish" && release.result.returnValue === text)) {
      throw new RefusedError("a result is refused");
    }
    if (plans.some(({ scheduleId, fires }) => fires.length > 0 && this.#world.schedules.isRefused(scheduleId))) {
      throw new RefusedError("a plan is refused");
    }
  }

  /** Additions may be refused for the sake of their parents. It is no part of the way of the answer: a call that takes
   *  longer than others would be compared with what came after it. */
  #checkRefusal(error: unknown, additions: readonly NewJobRecord[], releases: readonly contract.JobRelease[]): void {
    const released = releases.map(({ jobId }) => jobId);
    if (error instanceof StoreRefusedError) this.#world.jobs.onRefused(additions, released);
  }

  #checkSeen(view: contract.View, seen: contract.Seen): void {
    this.#world.schedules.checkSeen(view, seen, this.#process);
    this.#world.jobs.checkSeen(view, seen, this.#process);
  }

  async #call<T>(name: string, effect: () => Promise<T>): Promise<T> {
    const { history, clock, random } = this.#world;
    const process = this.#process;
    await process.whenRunning();
    await this.#notTooOften();
    history.count(`calls of ${name}`);
    const fate = this.#fate(name);
    if (fate !== SOUND) process.troubled(fate.delayBeforeMs + fate.delayAfterMs);
    if (fate.delayBeforeMs > 0) await clock.sleep(clock.now() + fate.delayBeforeMs);
    // What a process had on its way when it died may arrive or not.
    if (process.isCrashed && random.chance(0.5)) await process.whenRunning();
    if (fate.end === "lostBefore" || fate.end === "late") {
      history.trace(process.name, `${name} fails${fate.end === "late" ? ", and takes effect later" : ""}`);
      if (fate.end === "late") void this.#takeEffectLate(name, effect);
      if (fate.isDeadly) process.crash();
      await process.whenRunning();
      throw new StoreUnavailableError(`${name} was lost`);
    }
    const result = await this.#world.exclusively(effect);
    if (fate.isDeadly) process.crash();
    if (fate.delayAfterMs > 0) await clock.sleep(clock.now() + fate.delayAfterMs);
    await process.whenRunning();
    if (fate.end === "answered") return result;
    history.trace(process.name, `${name} fails after it took effect`);
    throw new StoreUnavailableError(`the answer to ${name} was lost`);
  }

  async #takeEffectLate(name: string, effect: () => Promise<unknown>): Promise<void> {
    const { history, clock, random } = this.#world;
    this.#world.lateCalls++;
    await clock.sleep(clock.now() + random.int(1, LATE_MS));
    this.#world.lateCalls--;
    history.trace(this.#process.name, `${name} takes effect late`);
    history.count("late effects");
    // What it leases nobody runs.
    this.#process.troubled();
    await this.#world.exclusively(effect).catch((error: unknown) => {
      if (!(error instanceof RefusedError || error instanceof StoreRefusedError)) throw error;
    });
  }

  /** A loop that does not wait would stop the world. */
  async #notTooOften(): Promise<void> {
    const { history } = this.#world;
    if (history.nowMs !== this.#instantMs) this.#callsAtInstant = 0;
    this.#instantMs = history.nowMs;
    if (++this.#callsAtInstant <= CALLS_AT_INSTANT_MAX) return;
    history.violate(`${this.#process.name} calls the store without end`);
    this.#process.crash();
    await this.#process.whenRunning();
  }

  #fate(name: string): Fate {
    const { faults, random } = this.#world;
    if (!faults.areOn) return SOUND;
    if (faults.crash > 0 && random.chance(DEADLY_CALLS)) {
      const end = random.pick(["lostBefore", "answered", "late"] as const);
      return { delayBeforeMs: 0, delayAfterMs: 0, end: this.#endOf(name, end), isDeadly: true };
    }
    if (!random.chance(faults.callTrouble)) return SOUND;
    const delay = (): number => (random.chance(0.5) ? random.int(1, faults.callDelayMsMax) : 0);
    const end = random.chance(faults.callFailure)
      ? random.pick(["lostBefore", "lostAfter", "late"] as const)
      : "answered";
    return { delayBeforeMs: delay(), delayAfterMs: delay(), end: this.#endOf(name, end), isDeadly: false };
  }

  /** No start is so slow that it takes the leases of the one after it. */
  #endOf(name: string, end: Fate["end"]): Fate["end"] {
    return end === "late" && !MAY_BE_LATE.has(name) ? "lostBefore" : end;
  }
}
