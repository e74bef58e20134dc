import { EscapementError, OptionsError } from "../../src/core/errors.ts";
import { instantOf } from "../../src/core/temporal.ts";
import type { Scheduler } from "../../src/mod.ts";
import { JOB_ADDED } from "../../src/scheduler/options/job-added.ts";
import type {
  CatchUpOptions,
  JobOptions,
  RunJobOptions,
  ScheduleOptions,
} from "../../src/scheduler/options/options.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";
import { RefusedError } from "./faulty-store.ts";
import type { Users } from "./flow-workload.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import { REFUSED_PAYLOAD } from "./refused.ts";
import type { SimulatedTask } from "./tasks.ts";
import type { World } from "./world.ts";

/** What clients of a store under faults have to expect. */
const EXPECTED_CODES: ReadonlySet<string> = new Set([
  "storeUnavailable",
  "scheduleLookup",
  "jobLookup",
  "conflictingId",
  "schedulerState",
  "jobCancelled",
  "jobDeadlineMissed",
  "jobTimeout",
  "jobAbandoned",
  "nonRetryable",
  // The parents of a job may be gone.
  "storeRefused",
]);

const IDEMPOTENCY_KEYS = 4;

/** What the users of the simulated schedulers do. */
export class Workload implements Users {
  readonly #world: World;
  readonly #random: Random;
  readonly #tasks: readonly SimulatedTask[];
  readonly #endMs: number;
  readonly #hasFlow: boolean;
  /** Schedules that every process adds anew when it starts. */
  readonly #standing: { id: string; taskId: string; trigger: Trigger; options: ScheduleOptions }[] = [];
  readonly #scheduleIds: string[] = [];
  readonly #jobIds: string[] = [];
  /** Calls that wait for their answer. */
  readonly #calls = new Set<{ readonly process: SimulatedProcess; readonly what: string }>();

  /** @param endMs no trigger fires after this
   *  @param hasFlow whether tasks have limits: a job that nobody can run keeps its place among those of its key */
  constructor(world: World, random: Random, tasks: readonly SimulatedTask[], endMs: number, hasFlow: boolean) {
    this.#hasFlow = hasFlow;
    this.#world = world;
    this.#random = random;
    this.#tasks = tasks;
    this.#endMs = endMs;
    for (let index = random.int(1, 3); index > 0; index--) {
      const id = `standing${index}`;
      this.#scheduleIds.push(id);
      const options = {
        ...this.#scheduleOptions(),
        id,
        conflictPolicy: random.pick(["replace", "doNothing", "update"] as const),
      };
      this.#standing.push({ id, taskId: this.#taskId(), trigger: this.#lastingTrigger(), options });
    }
  }

  /** What a program does when it starts. */
  addStanding(process: SimulatedProcess): void {
    for (const { taskId, trigger, options } of this.#standing) {
      this.attempt(process, "addSchedule", (scheduler) => scheduler.addSchedule(taskId, trigger, options));
    }
  }

  /** One thing that one user does. */
  act(process: SimulatedProcess): void {
    const kind = this.#random.int(1, 23);
    if (kind <= 7) this.#addJob(process);
    else if (kind <= 9) this.#addJobs(process);
    else if (kind <= 10) this.#runJob(process);
    else if (kind <= 12) this.#addSchedule(process);
    else if (kind <= 14) this.#cancel(process);
    else if (kind === 23) this.#addUnderHalfACharacter(process);
    else this.#changeSchedule(process, kind);
  }

  /** Everything that is paused goes on. */
  resumeAll(process: SimulatedProcess): void {
    for (const id of this.#scheduleIds) {
      if (this.#world.schedules.get(id)?.paused !== true) continue;
      this.attempt(process, "unpauseSchedule", (scheduler) => scheduler.unpauseSchedule(id));
    }
  }

  get scheduleIds(): readonly string[] {
    return this.#scheduleIds;
  }

  /** A schedule is removed, and does not come back before somebody adds it again. */
  removeOne(process: SimulatedProcess, random: Random): void {
    const id = random.pick(this.#scheduleIds);
    this.attempt(process, `removeSchedule of ${id}`, (scheduler) => scheduler.removeSchedule(id, { by: "a user" }));
  }

  /** A schedule comes back under its id, with any rule, or becomes another one. */
  addAgain(process: SimulatedProcess, random: Random): void {
    const id = random.pick(this.#scheduleIds);
    const taskId = this.#taskId();
    const trigger = this.#trigger();
    const options = { ...this.#scheduleOptions(), id, by: "a user", conflictPolicy: "replace" as const };
    this.attempt(process, `addSchedule of ${id}`, (scheduler) => scheduler.addSchedule(taskId, trigger, options));
  }

  lastJobIds(): readonly string[] {
    const unfinished = [...this.#world.jobs.unfinished.keys()];
    return [...this.#jobIds.slice(-3), ...unfinished.slice(-2)];
  }

  checkAtRest(): void {
    for (const { process, what } of this.#calls) {
      // One that still stands still answers nothing.
      if (!process.isStalled) this.#world.history.violate(`${process.name} never answered ${what}`);
    }
  }

  #addJob(process: SimulatedProcess): void {
    const options = this.#jobOptions();
    const taskId = this.#taskId();
    this.attempt(process, "addJob", async (scheduler) => this.added((await scheduler.addJob(taskId, options)).id));
  }

  #addJobs(process: SimulatedProcess): void {
    const list = Array.from({ length: this.#random.int(1, 6) }, () => ({
      task: this.#taskId(),
      ...this.#jobOptions(),
    }));
    this.attempt(process, "addJobs", async (scheduler) => {
      for (const { id } of await scheduler.addJobs(list)) this.added(id);
    });
  }

  #runJob(process: SimulatedProcess): void {
    const taskId = this.#taskId();
    const { idempotencyKey: _, ...options } = this.#jobOptions();
    this.attempt(process, "runJob", async (scheduler) => {
      let id = "";
      const onAdded = (jobId: string): void => {
        id = jobId;
      };
      const value: unknown = await scheduler.runJob(taskId, { ...options, [JOB_ADDED]: onAdded } as RunJobOptions);
      const { history, jobs } = this.#world;
      // A clock that is ahead by more than results are kept has only the event of the job, which has no value.
      if (value === undefined && jobs.hasResultExpired(id, process.clock.now())) history.count("results of the past");
      else if (typeof value !== "object") history.violate(`runJob() of ${taskId} resolved with ${value}`);
    });
  }

  #addSchedule(process: SimulatedProcess): void {
    const id = `schedule${this.#scheduleIds.length}`;
    this.#scheduleIds.push(id);
    const taskId = this.#taskId();
    const trigger = this.#trigger();
    const options = { ...this.#scheduleOptions(), id };
    this.attempt(process, "addSchedule", (scheduler) => scheduler.addSchedule(taskId, trigger, options));
  }

  /** No database keeps half of a surrogate pair as it is, so two such keys could become one. */
  #addUnderHalfACharacter(process: SimulatedProcess): void {
    const idempotencyKey = `key${String.fromCharCode(0xd800 + this.#random.int(0, 0x3ff))}`;
    const options = { ...this.#jobOptions(), idempotencyKey };
    const taskId = this.#taskId();
    this.attempt(process, "addJob", async (scheduler) => {
      try {
        await scheduler.addJob(taskId, options);
      } catch (error) {
        if (error instanceof OptionsError) return;
        throw error;
      }
      this.#world.history.violate(`${process.name} took half a character for a key`);
    });
  }

  #cancel(process: SimulatedProcess): void {
    if (this.#jobIds.length === 0) return;
    const id = this.#random.pick(this.#jobIds.slice(-5));
    this.attempt(process, "cancelJob", (scheduler) => scheduler.cancelJob(id));
  }

  #changeSchedule(process: SimulatedProcess, kind: number): void {
    const id = this.#random.pick(this.#scheduleIds);
    const resumeFrom = this.#random.chance(0.5) ? { resumeFrom: "now" as const } : {};
    const trigger = this.#trigger();
    const coalesce = this.#random.pick(["latest", "earliest", "all"] as const);
    const taskId = this.#taskId();
    const options = this.#scheduleOptions();
    const conflictPolicy = this.#random.pick(["replace", "update"] as const);
    const isStanding = this.#standing.some((standing) => standing.id === id);
    this.attempt(process, `change ${kind} of ${id}`, async (scheduler) => {
      if (kind === 15) await scheduler.pauseSchedule(id);
      else if (kind <= 17) await scheduler.unpauseSchedule(id, resumeFrom);
      else if (kind === 18) await scheduler.updateSchedule(id, { trigger, coalesce });
      else if (kind === 19) await scheduler.runScheduleNow(id);
      else if (kind === 20) await scheduler.addSchedule(taskId, trigger, { ...options, id, conflictPolicy });
      else if (!isStanding) await scheduler.removeSchedule(id);
      else {
        await scheduler.removeSchedule(id);
        await scheduler.addSchedule(taskId, trigger, { ...options, id });
      }
    });
  }

  /** What a process that dies meanwhile was asked for is never answered. */
  attempt(process: SimulatedProcess, what: string, action: (scheduler: Scheduler) => Promise<unknown>): void {
    this.#world.history.trace(process.name, `is asked to ${what}`);
    const call = { process, what };
    this.#calls.add(call);
    const answered = action(process.scheduler).finally(() => this.#calls.delete(call));
    answered.catch((error: unknown) => {
      this.#world.history.trace(process.name, `${what} failed: ${error}`);
      if (error instanceof RefusedError) return;
      // The older version of the program does not know how the first task tells keys, nor do stubs of settings that others
      // have changed.
      if ((process.options.isOld || process.options.isStub) && `${error}`.includes("concurrencyKey is missing")) return;
      if (error instanceof EscapementError && EXPECTED_CODES.has(error.code)) return;
      if (what === "runJob" && error instanceof Error) return;
      this.#world.history.violate(`${process.name}: ${what} failed unexpectedly: ${error}`);
    });
  }

  /** A call that resolved has added its job. */
  added(id: string): void {
    this.#jobIds.push(id);
    if (this.#world.jobs.get(id) === undefined) this.#world.history.violate(`job ${id} was promised and never added`);
  }

  #jobOptions(): JobOptions {
    const random = this.#random;
    const now = this.#world.clock.now();
    return {
      payload: random.chance(0.03) ? REFUSED_PAYLOAD : random.int(0, 1000),
      priority: random.pick([0, 0, 0, 5, -5]),
      ...(random.chance(0.3) ? { runAt: instantOf(now + random.int(-2000, 10_000)) } : {}),
      ...(random.chance(0.3) ? { idempotencyKey: `key${random.int(1, IDEMPOTENCY_KEYS)}` } : {}),
      ...(random.chance(0.1) ? { startDeadline: instantOf(now + random.int(0, 5000)) } : {}),
      // Only its deadline ends it.
      ...(!this.#hasFlow && random.chance(0.03)
        ? { executor: "nobody's", startDeadline: instantOf(now + random.int(0, 5000)) }
        : {}),
    };
  }

  #scheduleOptions(): ScheduleOptions {
    const random = this.#random;
    const catchUp = this.#catchUp();
    // A pace counts where each fire time becomes a job that waits for the others, and nowhere else.
    const hasPace = catchUp?.pace != null && random.chance(0.7);
    return {
      payload: random.chance(0.03) ? REFUSED_PAYLOAD : { schedule: random.int(0, 1000) },
      coalesce: hasPace ? "all" : random.pick(["latest", "earliest", "all"] as const),
      catchUp,
      priority: random.pick([0, 0, 3]),
      ...(random.chance(0.3) ? { maxJitter: { milliseconds: random.int(1, 3000) } } : {}),
      ...(random.chance(0.3) ? { misfireGraceTime: { milliseconds: random.int(0, 4000) } } : {}),
      ...(random.chance(0.05) ? { paused: true } : {}),
      overlap: hasPace ? "queue" : random.pick(["queue", "queue", "skip", "replaceQueued", "cancelRunning"] as const),
    };
  }

  #catchUp(): CatchUpOptions | null {
    const random = this.#random;
    if (random.chance(0.4)) return null;
    return {
      maxAge: random.chance(0.5) ? { milliseconds: random.int(500, 15_000) } : null,
      maxCount: random.pick([null, 1, 3]),
      pace: random.chance(0.7) ? { milliseconds: random.int(1, 20_000) } : null,
    };
  }

  #trigger(): Trigger {
    if (this.#random.chance(0.8)) return this.#lastingTrigger();
    return new DateTrigger(instantOf(Math.min(this.#endMs, this.#world.clock.now() + this.#random.int(0, 20_000))));
  }

  /** One that fires to the end. A schedule that was exhausted and cleaned up would start all over when it is added
   *  again. */
  #lastingTrigger(): Trigger {
    const random = this.#random;
    const endTime = instantOf(this.#endMs);
    const now = this.#world.clock.now();
    switch (random.int(1, 3)) {
      case 1:
        return CronTrigger.fromCrontab(`*/${random.pick([2, 3, 5, 10])} * * * * *`, { endTime });
      case 2:
        return new IntervalTrigger({
          milliseconds: random.int(700, 8000),
          startTime: instantOf(Math.min(this.#endMs, now + random.int(-5000, 5000))),
          endTime,
        });
      default:
        return new IntervalTrigger({ seconds: random.int(1, 10), endTime });
    }
  }

  #taskId(): string {
    return this.#random.pick(this.#tasks).id;
  }
}
