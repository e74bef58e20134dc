import type { EventBroker } from "../../brokers/event-broker.ts";
import { LocalEventBroker } from "../../brokers/local.ts";
import { sleepFor } from "../../core/clock.ts";
import { SchedulerStateError } from "../../core/errors.ts";
import { hasRunEnded } from "../../core/identity.ts";
import { once } from "../../core/once.ts";
import { Wakeup } from "../../core/wakeup.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import type { LeaseExtender } from "../../executors/lease-extender.ts";
import type { EventRecord } from "../../records/events.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { SchedulerProfile } from "../../records/scheduler.ts";
import type { JobAddition, LeaseSurrender, LeaseSurrenderReport } from "../../stores/data-store.ts";
import { endedWithoutRun } from "../../stores/shared/added-and-ended-jobs.ts";
import { hasParents } from "../../stores/shared/parents-of-jobs.ts";
import type { Environment } from "../environment.ts";
import { schedulerStopped } from "../events/event-records.ts";
import { additionEvents } from "../events/flow-events.ts";
import { FirePlanner } from "../firing/fire-planner.ts";
import type { CheckedSchedulerOptions } from "../options/check-options.ts";
import type { JobAttempt } from "../running/job-attempt.ts";
import { JobRunner } from "../running/job-runner.ts";
import { LeaseKeeper } from "../running/lease-keeper.ts";
import { tellLeftLeases } from "../running/left-leases.ts";
import { Peers } from "../running/peers.ts";
import { ScheduleBacklogs } from "../running/schedule-backlogs.ts";
import { assertStoreClock, StoreClock } from "../running/store-clock.ts";
import { UnclaimedJobs } from "../running/unclaimed-jobs.ts";
import type { JobContext } from "../scheduler-client.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import type { TickReport } from "../views/tick-report.ts";
import { AdditionLine } from "./addition-line.ts";
import { watchChanges } from "./change-watch.ts";
import { cleanUp, type TickCleaning } from "./clean-up.ts";
import { ClockHealing } from "./clock-healing.ts";
import { Committer } from "./committer.ts";
import { every } from "./every.ts";
import { IDLE_MS_UNSHARED, STOP_FLUSH_TRIES, TICK_FLUSH_MS } from "./limits.ts";
import { Loop } from "./loop.ts";
import { openBroker } from "./open-broker.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { StopLimits } from "./stop-limits.ts";
import { tick } from "./tick.ts";
import type { TickBounds } from "./tick-bounds.ts";
import { ZoneCheck } from "./zone-check.ts";

const IDLE_MS = 10_000;

/** After how many of its longest sleeps a loop has seen a job, although a look may be late. */
const UNSEEN_IDLES = 1.5;

export interface EngineParts {
  readonly env: Environment;
  readonly broker: EventBroker;
  readonly executors: Readonly<Record<string, JobExecutor>>;
  readonly tasks: TaskRegistry;
  readonly options: CheckedSchedulerOptions;
  readonly leaseExtender: LeaseExtender | undefined;
  readonly contextOf: (attempt: JobAttempt) => JobContext;
  readonly isPaused: () => boolean;
  /** What the scheduler opens and closes. All its engines use the same. */
  readonly shared: SharedParts;
  readonly tickCleaning: TickCleaning;
  /** Whether another engine of this scheduler may still be at work. */
  readonly hasOthers: boolean;
}

/** What works behind a scheduler: the committer and the lease keeper, their drivers, and the parts that are opened and
 *  closed with them. */
export class Engine {
  readonly runner: JobRunner;
  readonly #parts: EngineParts;
  readonly #additions = new AdditionLine();
  readonly #committer: Committer;
  readonly #keeper: LeaseKeeper;
  readonly #peers: Peers;
  readonly #loop: Loop;
  readonly #unclaimed: UnclaimedJobs;
  readonly #backlogs: ScheduleBacklogs;
  readonly #zoneCheck: ZoneCheck;
  readonly #healing: ClockHealing;
  readonly #storeClock: StoreClock;
  #zoneChecking: Promise<void> | null = null;
  /** Wakes a tick that waits. */
  readonly #tickWakeup: Wakeup;
  // Made on first use, as a Worker may make no signal at the top of its module.
  readonly #cleaning = once(() => new AbortController());
  readonly #cancellationHeard = (jobId: string): void => {
    if (this.#isResident) this.#keeper.cancellationHeard(jobId);
  };
  /** Aborted when the broker is not to be opened any more. */
  #opening: AbortController | null = null;
  #background: Promise<unknown> = Promise.resolve();
  readonly #shared: SharedParts;
  /** Whether what dead runs of this identity left was given up, or nothing can be left. */
  #hasGivenUpLeft: boolean;
  /** Whether the loop runs, so that it can take additions. */
  #isResident = false;
  /** Whether the lease extender is at work. */
  #extendsLeases = false;
  /** Whether the work has ended or is about to end. */
  #isEnding = false;
  /** Whether nothing that waits in the queue will be begun here any more. */
  #beginsNothing = false;

  constructor(parts: EngineParts) {
    const { env, executors, tasks, options, leaseExtender, contextOf, isPaused } = parts;
    const { sharedByProcesses } = env.store.capabilities;
    this.#parts = parts;
    this.#shared = parts.shared;
    this.#tickWakeup = new Wakeup(env.clock);
    // A random identity had no earlier run.
    this.#hasGivenUpLeft = options.identity === undefined;
    this.runner = new JobRunner({
      env,
      tasks,
      executors,
      maxConcurrentJobs: options.maxConcurrentJobs,
      leaseExtender,
      contextOf,
      onProgress: () => {
        if (this.#isResident) this.#keeper.progressed(this.#cleaning().signal);
      },
      onEnded: () => this.#loop.jobEnded(),
    });
    const hasScheduleRole = options.role !== "worker";
    const hasJobRole = options.role !== "scheduler";
    this.#unclaimed = new UnclaimedJobs({
      env,
      missing: (queue) => (hasJobRole ? tasks.missing(queue) : "worker"),
      executors: Object.keys(executors),
    });
    this.#backlogs = new ScheduleBacklogs(env);
    const maxIdleMs = options.maxIdleMs ?? (sharedByProcesses ? IDLE_MS : IDLE_MS_UNSHARED);
    const planner = new FirePlanner(
      env,
      (schedule) => this.#isResident && hasJobRole && this.runner.canRun(schedule),
      (now) => (sharedByProcesses && this.#isResident ? this.#peers.unseenMs(now, UNSEEN_IDLES * maxIdleMs) : 0),
    );
    this.#zoneCheck = new ZoneCheck({
      env,
      policy: options.zoneRules,
      onFound: () => {
        if (this.#isResident) this.#zoneChecking ??= this.#checkZones();
      },
    });
    const { runner } = this;
    const zoneCheck = this.#zoneCheck;
    const additions = this.#additions;
    const profileOfTicks = (): SchedulerProfile | null => (this.#isResident ? null : this.#profile(false));
    this.#peers = new Peers(env);
    const storeClock = new StoreClock(env);
    this.#storeClock = storeClock;
    this.#healing = new ClockHealing(env, () => this.#keeper.runOnce(true));
    this.#committer = new Committer({
      ...{ env, tasks, planner, runner, additions, hasScheduleRole, hasJobRole, zoneCheck, storeClock, maxIdleMs },
      profileOfTicks,
      peers: () => (this.#isResident ? this.#peers : null),
    });
    this.#keeper = new LeaseKeeper({
      env,
      runner,
      peers: this.#peers,
      profile: () => this.#profile(this.#isResident),
      settledCommitId: () => this.#committer.settledCommitId,
    });
    this.#loop = new Loop({
      env,
      committer: this.#committer,
      planner,
      runner,
      keeper: this.#keeper,
      storeClock,
      maxIdleMs,
      isPaused,
      hasPeers: () => this.#peers.areAlive(env.clock.now()),
      onFirstLook: ({ leaseEndsAt }) => {
        if (sharedByProcesses && leaseEndsAt !== null) void tellLeftLeases(env, this.runner);
      },
    });
  }

  /** Opens the broker and the store. @throws {StoreUnavailableError} `open` may be called again */
  async open(): Promise<void> {
    const { env, broker } = this.#parts;
    const opening = newOpening();
    this.#opening = opening;
    try {
      await openBroker(env, broker, this.#shared, opening.signal);
      await this.#shared.open(env.store, () => env.store.open(env.clock.now()));
    } catch (error) {
      // A failure to close is not reported, because the caller has to know the failure to open. An opening that
      // overlapped may have succeeded.
      if (!this.#shared.hasOpened(env.store)) {
        opening.abort();
        await this.#shared.close().catch(() => {});
      }
      throw error;
    }
    env.events.open();
  }

  /** Gives up leases that dead processes of this identity left behind, and starts the loop. */
  async begin(): Promise<void> {
    if (this.#isEnding) return;
    const { env } = this.#parts;
    const { store, clock, identity, instanceId, leaseMs } = env;
    await this.#openExecutors();
    const now = clock.now();
    const profile = this.#profile(true);
    const surrender = { now, schedulerId: identity, instanceId, aliveUntil: now + leaseMs, profile };
    const report = await this.#takeOver(surrender, await store.giveUpLeases(surrender));
    this.#peers.observed(report.heartbeats ?? [], now);
    // The store was slow, and a stop did not wait for it.
    if (this.#isEnding) return;
    await this.#startGuard();
    if (this.#isEnding) return;
    const happened: EventRecord[] = [];
    this.runner.recordRecovery(report, now, happened);
    env.events.publish(happened);
    this.#wakeOnEvents();
    this.#isResident = true;
    this.#cleaning().signal.addEventListener(
      "abort",
      this.runner.onCapacity(() => this.#loop.capacityGrew()),
    );
    this.runner.lag.start(this.#cleaning().signal);
    this.runner.longRuns.start(this.#cleaning().signal);
    this.#loop.start();
    watchChanges(env, this.#loop, this.#keeper, this.#cleaning().signal);
    this.#hearCancellations();
    this.#unclaimed.start(this.#cleaning().signal);
    if (this.#parts.options.role !== "worker") this.#backlogs.start(this.#cleaning().signal);
    this.#background = Promise.all([this.#keepLeases(), this.#cleanUp()]);
  }

  /** Gives up what those runs of this identity left that could not say that they ended, because their process died. */
  async #takeOver(surrender: LeaseSurrender, report: LeaseSurrenderReport): Promise<LeaseSurrenderReport> {
    const { store } = this.#parts.env;
    const { now, schedulerId } = surrender;
    const left = (report.heartbeats ?? []).filter(
      ({ identity, aliveUntil, instanceId }) => identity === schedulerId && aliveUntil > now && hasRunEnded(instanceId),
    );
    if (left.length === 0) return report;
    const signOff = { now, schedulerId, aliveUntil: now, jobs: [], until: now, settledCommitId: null };
    for (const { instanceId } of left) await store.extendLeases({ ...signOff, instanceId });
    const { recovered, ended } = report;
    const rest = await store.giveUpLeases(surrender);
    return { ...rest, recovered: [...recovered, ...rest.recovered], ended: [...ended, ...rest.ended] };
  }

  /** The same of those that still lived when this one began. */
  async #takeOverLater(now: number): Promise<void> {
    const { events, identity: schedulerId, instanceId } = this.#parts.env;
    const nothing = { recovered: [], ended: [], heartbeats: this.#peers.heartbeats };
    const report = await this.#takeOver({ now, schedulerId, instanceId, aliveUntil: null }, nothing);
    if (report === nothing) return;
    const happened: EventRecord[] = [];
    this.runner.recordRecovery(report, now, happened);
    events.publish(happened);
    this.#loop.lookForSchedule();
  }

  /** Adds jobs: in the loop's next commit, which leases them too, or by a write of their own where no commit would. */
  async addJobs(jobs: readonly NewJobRecord[]): Promise<readonly JobAddition[]> {
    const { env, options, isPaused } = this.#parts;
    const leasesJobs = this.#isResident && options.role !== "scheduler" && !isPaused();
    // A job that waits for others is not to be leased, and may be refused, which would stop a commit.
    if (leasesJobs && AdditionLine.fits(jobs) && !jobs.some(hasParents)) {
      const waiting = this.#additions.add(jobs);
      this.#loop.commit();
      return waiting;
    }
    const additions = await env.store.addJobs(jobs);
    this.#announce(additions, jobs);
    // Each promise costs an addition time, so that nothing is awaited where no job has ended.
    if (additions.some(({ hasEnded }) => hasEnded === true)) await this.#tellEndsOf(additions);
    return additions;
  }

  /** Tells of jobs that were added otherwise. */
  announceJobs(jobs: readonly JobRecord[]): void {
    this.#announce(
      jobs.map((job) => ({ job, isNew: true })),
      jobs,
    );
  }

  #announce(additions: readonly JobAddition[], jobs: readonly NewJobRecord[]): void {
    const { env } = this.#parts;
    this.runner.log.added(additions);
    const happened: EventRecord[] = [];
    jobs.forEach((job, index) => {
      const addition = additions[index];
      if (addition !== undefined) happened.push(...additionEvents(env, addition, job, false));
    });
    env.events.publish(happened);
  }

  /** Tells of jobs that were cancelled as soon as they were added, because of parents that had ended. Does not reject,
   *  because the jobs were added. */
  async #tellEndsOf(additions: readonly JobAddition[]): Promise<void> {
    const { env } = this.#parts;
    const ends: JobResultRecord[] = [];
    for (const { job, isNew, hasEnded } of additions) {
      if (!isNew || hasEnded !== true) continue;
      // A repetition of an addition may find a job that has run meanwhile.
      if (await this.#hasRun(job)) continue;
      ends.push(endedWithoutRun(job, "cancelled", job.createdAt));
    }
    if (ends.length === 0) return;
    const happened: EventRecord[] = [];
    this.runner.recordEnds(ends, happened);
    env.events.publish(happened);
  }

  /** Whether a job that has ended was not cancelled. If the store does not say so, it was cancelled, nearly always. */
  async #hasRun({ id }: JobRecord): Promise<boolean> {
    const { store, clock, logger } = this.#parts.env;
    try {
      const kept = await store.getJobResult(id, clock.now());
      return kept !== null && kept.outcome !== "cancelled";
    } catch (error) {
      logger.warn(`escapement: the result of job ${id} could not be read; the job counts as cancelled`, error);
      return false;
    }
  }

  /** Makes the same commits as the loop, until nothing is due or a bound is reached. */
  async tick(bounds: TickBounds): Promise<TickReport> {
    const { env, tickCleaning } = this.#parts;
    const { mark } = env.events;
    await this.#openExecutors();
    this.#watchJobs();
    this.#watchSchedules();
    const report = await tick(
      {
        env,
        committer: this.#committer,
        runner: this.runner,
        keeper: this.#keeper,
        cleaning: tickCleaning,
        giveUpLeft: () => this.#giveUpLeft(),
        afterWork: () => this.#unclaimed.look(),
        zoneCheck: this.#zoneCheck,
        healing: this.#healing,
        storeClock: this.#storeClock,
        wakeup: this.#tickWakeup,
      },
      bounds,
    );
    await this.#flushEvents(mark);
    return report;
  }

  /** When there is something to do, in epoch milliseconds; null for never. One read. */
  async nextDueAt(): Promise<number | null> {
    return this.#committer.nextDueAt(this.#parts.env.clock.now());
  }

  /** Gives up, once, what dead runs of this identity have left. Returns whether there was something. */
  async #giveUpLeft(): Promise<boolean> {
    if (this.#hasGivenUpLeft) return false;
    const { env, hasOthers } = this.#parts;
    const { store, clock, identity, instanceId } = env;
    const now = clock.now();
    const isAlone = !hasOthers && !store.capabilities.sharedByProcesses && !this.#shared.isUsedByOthers(store);
    const surrender = { now, schedulerId: identity, instanceId, aliveUntil: null };
    const report = await store.giveUpLeases({ ...surrender, ...(isAlone ? { isAlone } : {}) });
    this.#hasGivenUpLeft = true;
    // It can only warn of clocks: who ticks does not stay to see whether there is another heartbeat.
    this.#peers.observed(report.heartbeats ?? [], now);
    const happened: EventRecord[] = [];
    this.runner.recordRecovery(report, now, happened);
    env.events.publish(happened);
    return happened.length > 0;
  }

  /** Where nothing stays resident, an event that is not sent now is never sent. */
  async #flushEvents(after: number): Promise<void> {
    const { events, clock } = this.#parts.env;
    const flushed = new AbortController();
    await Promise.race([events.flush(after), sleepFor(clock, TICK_FLUSH_MS, flushed.signal)]);
    flushed.abort();
  }

  /** Makes the loop look at once, because there may be something to do. */
  wake(): void {
    this.#loop.lookForSchedule();
  }

  /**
   * Ends the work, that of the loop or that of a tick: begins nothing new, and lets running jobs end. Then the jobs
   * that still run are aborted and go back to the queue.
   * @param ticking the tick that is under way, or null
   * @param onDraining called when nothing that waits in the queue will be begun here any more
   */
  async end(limits: StopLimits, ticking: Promise<unknown> | null, onDraining: () => void): Promise<void> {
    const { events, logger } = this.#parts.env;
    const wasResident = this.#isResident;
    this.#isEnding = true;
    this.#tickWakeup.call();
    const runningCount = this.runner.running.size;
    if (runningCount > 0 && limits.drainMs > 0) {
      const count = runningCount === 1 ? "1 job" : `${runningCount} jobs`;
      logger.info(`escapement: waits for ${count} to end, for ${limits.drainMs / 1000} s at most`);
    }
    const drained = (this.#isResident ? this.#loop.drain() : Promise.resolve()).then(() => {
      this.#beginsNothing = true;
      this.runner.giveBackWaiting();
      onDraining();
      return Promise.all([this.runner.whenIdle(), ticking]);
    });
    drained.catch(() => {});
    await Promise.race([drained, limits.drained]);
    this.#committer.close();
    this.runner.abortAll(limits.graceMs);
    void limits.hurried.then(() => this.runner.abortAll(0));
    await limits.within(this.#finish(limits, ticking));
    if (limits.isOver) {
      logger.warn(
        "escapement: the stop did not wait for the store; what is left of its jobs runs when their leases end",
      );
    }
    this.#additions.rejectAll(new SchedulerStateError("the scheduler stopped before the job was added"));
    if (!wasResident) return;
    events.publish([schedulerStopped(this.#parts.env)]);
    logger.info("escapement: stopped");
  }

  async #finish(limits: StopLimits, ticking: Promise<unknown> | null): Promise<void> {
    await this.runner.whenIdle();
    const wasResident = this.#isResident;
    this.#isResident = false;
    this.#cleaning().abort();
    const watchers = [this.#unclaimed.stopped(), this.#backlogs.stopped(), this.runner.longRuns.stopped()];
    const others = [...watchers, this.#keeper.settled(), ticking];
    await Promise.all([this.#loop.stop(), this.#background, ...others]);
    await this.#zoneChecking;
    await this.#settle(limits);
    if (wasResident && !limits.isOver) await this.#signOff();
  }

  /** Whether a job that waits in the queue may still be begun, by this scheduler or by another one. */
  mayBegin(): boolean {
    const { store } = this.#parts.env;
    return !this.#beginsNothing || store.capabilities.sharedByProcesses || this.#shared.isUsedByOthers(store);
  }

  /** Closes each part that was opened, unless another scheduler of this process uses the part. @throws the first
   *  failure, after all parts have been closed */
  async close(limits: StopLimits): Promise<void> {
    const { env, leaseExtender } = this.#parts;
    const { events } = env;
    if (this.#extendsLeases && leaseExtender !== undefined) await limits.within(leaseExtender.stop());
    await limits.within(this.#flushEvents(0));
    this.#opening?.abort();
    events.close();
    await this.#shared.close();
  }

  async #startGuard(): Promise<void> {
    const { env, leaseExtender } = this.#parts;
    const { identity, instanceId, leaseMs, clock, logger } = env;
    const { sharedByProcesses } = env.store.capabilities;
    const facts = { identity, instanceId, leaseMs, clock, logger, sharedByProcesses };
    await leaseExtender?.start({ ...facts, profile: () => this.#profile(true) });
    this.#extendsLeases = true;
  }

  #profile(isResident: boolean): SchedulerProfile {
    const { executors, tasks, options } = this.#parts;
    return { role: options.role, isResident, tasks: tasks.ids, executors: Object.keys(executors) };
  }

  /** @throws {HandlerLookupError} when nobody here has the handler of a task */
  async #openExecutors(): Promise<void> {
    const { executors, env, tasks, options } = this.#parts;
    for (const executor of Object.values(executors)) {
      await this.#shared.open(executor, () => executor.open({ logger: env.logger, serializer: env.store.serializer }));
    }
    tasks.executorsOpened();
    if (options.role !== "scheduler") tasks.assertHandlers();
  }

  async #keepLeases(): Promise<void> {
    const { env, options } = this.#parts;
    await every(env, "leases", this.#keeper.periodMs, this.#cleaning().signal, async () => {
      this.#hearCancellations();
      await this.#keeper.runOnce();
      const now = env.clock.now();
      await this.#takeOverLater(now);
      if (options.role !== "worker" && this.#storeClock.fault === null)
        await this.#healing.beat(!this.#storeClock.confirms(now) && this.#peers.haveOtherTime(now));
      if (this.#peers.hasDead(env.clock.now())) this.#loop.lookBy();
    });
  }

  /** Where no broker carries events between processes, and jobs run here. Also sees to what the store hears by. */
  #hearCancellations(): void {
    const { env, broker, options } = this.#parts;
    if (options.role === "scheduler" || !(broker instanceof LocalEventBroker)) return;
    env.store.hearCancellations?.(this.#cancellationHeard, this.#cleaning().signal);
  }

  async #cleanUp(): Promise<void> {
    const { env, options } = this.#parts;
    const periodMs = options.cleanupIntervalMs;
    if (periodMs === null) return;
    await every(env, "clean-up", periodMs, this.#cleaning().signal, async () => {
      if (this.#storeClock.fault !== null) return;
      if (this.#storeClock.isUncertain(env.clock.now())) await assertStoreClock(env);
      await cleanUp(env);
    });
  }

  /** Looks after jobs that nobody takes, and wakes the loop for those that nobody has taken yet. Where nothing stays
   *  resident, jobs are watched from the first tick on. */
  #watchJobs(): void {
    const { events } = this.#parts.env;
    events.watch("jobAdded", (job) => {
      this.#unclaimed.added(job);
      if (job.isLeased !== true) this.#lookBy(job.runAtMs);
    });
    events.watch("jobBlocked", (job) => this.#unclaimed.blocked(job));
    // A debounced job may run earlier than the loop knows. Of a job that was put off, the loop learns when it looks.
    events.watch("jobUpdated", ({ runAtMs }) => this.#lookBy(runAtMs));
    events.watch("jobAcquired", ({ jobId }) => this.#unclaimed.acquired(jobId));
  }

  /** Something may be due at `atMs` (epoch milliseconds): the loop looks then, or a tick that waits. */
  #lookBy(atMs: number): void {
    if (this.#isResident) this.#loop.lookBy(atMs);
    else this.#tickWakeup.call(atMs);
  }

  #pauseEndsBy(atMs: number | null): void {
    if (atMs !== null) this.#lookBy(atMs);
  }

  /** Looks for schedules that are due earlier than the last look has shown. */
  #watchSchedules(): void {
    const { events } = this.#parts.env;
    const onSchedule = ({ nextFireTimeMs }: { nextFireTimeMs: number | null }): void => {
      if (nextFireTimeMs === null) return;
      if (this.#isResident) this.#loop.lookForSchedule(nextFireTimeMs);
      else this.#tickWakeup.call(nextFireTimeMs);
    };
    events.watch("scheduleAdded", onSchedule);
    events.watch("schedulePaused", ({ untilMs }) => this.#pauseEndsBy(untilMs));
    events.watch("scheduleUpdated", (schedule) => {
      onSchedule(schedule);
      if (this.#isResident) this.#backlogs.fired();
    });
  }

  /** Has what the last look found computed anew, and makes the loop look for what it did not show. */
  async #checkZones(): Promise<void> {
    const { signal } = this.#cleaning();
    try {
      await this.#zoneCheck.run(() => !signal.aborted);
    } catch (error) {
      this.#parts.env.logger.warn("escapement: time zone rules could not be compared; tried again later", error);
    }
    this.#zoneChecking = null;
    if (this.#zoneCheck.hasMore && !signal.aborted) this.#loop.lookBy();
  }

  /** Wakes the loop after changes, those of other schedulers and our own. */
  #wakeOnEvents(): void {
    const { events, identity, clock } = this.#parts.env;
    this.#watchSchedules();
    this.#watchJobs();
    events.watch("schedulerStarted", ({ schedulerId }) => {
      if (schedulerId !== identity) this.#peers.started(clock.now());
    });
    events.watchGaps(() => {
      this.#loop.lookForSchedule();
      if (this.#isResident) this.#keeper.gapHeard();
    });
    events.watch("jobAdmitted", ({ schedulerId, isLeased }) => {
      // What our own commit admitted is in its answer.
      if (schedulerId !== identity && !isLeased) this.#loop.lookBy();
    });
    events.watch("taskUnpaused", () => this.#loop.lookBy());
    events.watch("taskPaused", ({ untilMs }) => this.#pauseEndsBy(untilMs));
    // Its limits may let more jobs run.
    events.watch("taskUpdated", () => {
      this.#parts.tasks.watchSoon();
      this.#loop.lookBy();
    });
    events.watch("jobRetried", ({ runAtMs }) => this.#loop.lookBy(runAtMs));
    events.watch("jobCancelRequested", ({ jobId }) => this.#cancellationHeard(jobId));
    events.watch("jobReleased", ({ schedulerId }) => {
      // A job of ours may wait for the slot of the released job. Our own releases are followed by an acquisition
      // anyway.
      if (schedulerId !== identity) this.#loop.lookBy();
    });
  }

  /** Records the last outcomes, and gives back jobs that are leased but will not run. */
  async #settle(limits: StopLimits): Promise<void> {
    const { clock, logger } = this.#parts.env;
    const failures: unknown[] = [];
    while (this.#committer.hasUnsent && failures.length < STOP_FLUSH_TRIES && !limits.isOver) {
      try {
        await this.#committer.settle(clock.now());
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 0 || !this.#committer.hasUnsent) return;
    logger.warn(
      "escapement: the last outcomes are not recorded yet; their jobs run again when the leases end",
      failures.at(-1),
    );
  }

  /** Tells the store that this scheduler no longer lives. */
  async #signOff(): Promise<void> {
    const { store, clock, identity, instanceId, logger } = this.#parts.env;
    const now = clock.now();
    const settledCommitId = this.#committer.settledCommitId;
    try {
      await store.extendLeases({
        now,
        schedulerId: identity,
        instanceId,
        settledCommitId,
        until: now,
        jobs: [],
        aliveUntil: now,
        profile: this.#profile(true),
      });
    } catch (error) {
      logger.warn("escapement: others count this scheduler as alive until its lease ends", error);
    }
  }
}

/** @throws {SchedulerStateError} at the top of a Worker's module, where nothing may wait */
function newOpening(): AbortController {
  try {
    return new AbortController();
  } catch (cause) {
    throw new SchedulerStateError(
      "at the top of a Worker's module a scheduler can be made and given tasks; call what asks its store in fetch(), " +
        "scheduled() or alarm()",
      { cause },
    );
  }
}
