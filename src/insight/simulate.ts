import * as v from "valibot";
import type { AbortSignal } from "../core/abort-signal.ts";
import { checker, implementing, instantMs, objectOf, oneOf, says, wholeNumber } from "../core/check.ts";
import { DURATION_MS_MAX } from "../core/check-limits.ts";
import { type Duration, toDurationMs } from "../core/duration.ts";
import { silentLogger } from "../core/logger.ts";
import { once } from "../core/once.ts";
import { isPlain, optionError } from "../core/option-errors.ts";
import { type InstantLike, instantOf, type Temporal } from "../core/temporal.ts";
import { withoutUndefined } from "../core/without-undefined.ts";
import { SETTINGS } from "../records/fields/schedule.ts";
import { OCCURRENCE_VERDICTS, type OccurrenceVerdict } from "../scheduler/options/occurrence-verdicts.ts";
import type { ScheduleOptions, TaskSettings } from "../scheduler/options/options.ts";
import { Scheduler } from "../scheduler/scheduler.ts";
import type { NewSchedule, SchedulerClient } from "../scheduler/scheduler-client.ts";
import type { Blackout } from "../scheduler/views/blackout.ts";
import type { Schedule } from "../scheduler/views/schedule.ts";
import type { TaskView } from "../scheduler/views/task-view.ts";
import { MemoryDataStore } from "../stores/memory/store.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { TriggerLike } from "../triggers/short-trigger.ts";
import type { Trigger } from "../triggers/trigger.ts";
import { SIMULATED_FIRES_MAX } from "./limits.ts";
import { type CheckedFault, reportText, type SimulatedOccurrence, type SimulationReport } from "./simulation-report.ts";

/** A schedule to simulate: as `addSchedules` takes it, or as a scheduler returns it. Its task may be `taskId`, as a
 *  {@link forecast} has it. */
export type SimulatedSchedule =
  | ({ readonly id: string; readonly trigger: TriggerLike } & Omit<
      ScheduleOptions,
      "id" | "conflictPolicy" | "ifRevision" | "requestHash"
    > &
      ({ readonly task: string } | { readonly taskId: string }))
  | Schedule;

/** Something that goes wrong from one instant until another. */
export interface SimulationFault {
  /**
   * - `"down"`: no scheduler is up. Runs that it ends go back to the queue, as `stop()` puts them back.
   * - `"slow"`: runs that begin take `factor` times as long.
   * - `"blackout"`: no fire time within it makes a job.
   */
  readonly kind: "down" | "slow" | "blackout";
  /** It is included. */
  readonly from: InstantLike;
  /** It is not included. */
  readonly until: InstantLike;
  /** How many times as long runs take: 1 or more, for `"slow"` alone. Default: 10. */
  readonly factor?: number | undefined;
}

/** What {@link simulate} takes. */
export interface SimulateOptions {
  /** The scheduler whose schedules and settings of tasks are read. Nothing else is done with it or its store.
   *  Default: none; then `schedules` are given. */
  readonly scheduler?: SchedulerClient | undefined;
  /** Schedules in place of those of a scheduler. Default: those of `scheduler`. */
  readonly schedules?: readonly SimulatedSchedule[] | undefined;
  /** Settings of tasks, by id; with a scheduler, in place of the stored ones. Default: those of tasks. */
  readonly tasks?: Readonly<Record<string, TaskSettings>> | undefined;
  /** When the simulation begins, included. */
  readonly from: InstantLike;
  /** When it ends, not included. */
  readonly until: InstantLike;
  /** Default: none. */
  readonly faults?: readonly SimulationFault[] | undefined;
  /** How long a run of a task takes, by the id of the task, for example `{ report: "90m" }`. Default: no time. */
  readonly runTimes?: Readonly<Record<string, Duration>> | undefined;
  /** The time zone of crontab text. Default: `"UTC"`. */
  readonly timeZone?: string | undefined;
  /** Most jobs that run at once in all. Default: 100. */
  readonly maxConcurrentJobs?: number | undefined;
  /** Ends the simulation: the call rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

const SLOW_FACTOR_DEFAULT = 10;
/** How far the clock moves before the signal is looked at, and what became of the fire times is read. The memory store
 *  remembers less of each schedule where there are many. */
const STRIDE_MS = 6 * 3_600_000;

/** An object of values by name, which are checked where they are used. */
const byName = <T>(what: string): v.GenericSchema<unknown, Readonly<Record<string, T>>> =>
  v.custom<Readonly<Record<string, T>>>(isPlain, says(what));

const check = checker(() =>
  objectOf({
    scheduler: v.optional(implementing<SchedulerClient>("a scheduler", ["getSchedules", "getTasks", "getBlackouts"])),
    schedules: v.optional(v.custom<readonly SimulatedSchedule[]>(Array.isArray, says("a list of schedules"))),
    tasks: v.optional(byName<TaskSettings>("settings by the ids of tasks"), {}),
    from: instantMs,
    until: instantMs,
    faults: v.optional(v.array(fault(), says("a list of faults")), []),
    runTimes: v.optional(byName<Duration>("durations by the ids of tasks"), {}),
    timeZone: v.optional(v.string(says("an IANA time zone"))),
    maxConcurrentJobs: v.optional(wholeNumber(1)),
    signal: v.optional(v.custom<AbortSignal>((value) => typeof Object(value).aborted === "boolean")),
  }),
);

const fault: () => v.GenericSchema<unknown, CheckedFault> = once(() =>
  objectOf({
    kind: oneOf(["down", "slow", "blackout"]),
    from: instantMs,
    until: instantMs,
    factor: v.optional(v.pipe(v.number(says(FACTOR)), v.minValue(1, says(FACTOR))), SLOW_FACTOR_DEFAULT),
  }),
);
const FACTOR = "a number of 1 or more";

/**
 * Runs schedules before their time: a real scheduler on a `VirtualClock` and a memory store, with handlers that take
 * the given times, over the rules, policies and limits of the schedules and their tasks. The store of the scheduler
 * that is given is read and never written. Schedules begin at `from` as if they were added then.
 *
 * @returns what became of each fire time
 * @throws {OptionsError} for wrong options, a range that ends before it begins, or more than 100,000 fire times
 * @throws what reading the schedules of the scheduler throws, and the reason of the signal
 * @example
 * const { counts, text } = await simulate({
 *   schedules: [{ id: "report", task: "report", trigger: "0 * * * *", overlap: "skip" }],
 *   from: "2030-01-01T00:00:00Z",
 *   until: "2030-01-02T00:00:00Z",
 *   faults: [{ kind: "down", from: "2030-01-01T02:00:00Z", until: "2030-01-01T05:00:00Z" }],
 *   runTimes: { report: "90m" },
 * });
 */
export async function simulate(options: SimulateOptions): Promise<SimulationReport> {
  const where = "simulate()";
  const checked = check(options, where);
  const { from, until, faults, signal } = checked;
  if (until <= from) throw optionError(where, "until", "must be later than from");
  for (const [index, one] of faults.entries()) {
    if (one.until <= one.from) throw optionError(where, `faults.${index}.until`, "must be later than its from");
  }
  if ((checked.scheduler === undefined) === (checked.schedules === undefined)) {
    throw optionError(where, "schedules", "takes schedules, or a scheduler that has them: one of both");
  }
  signal?.throwIfAborted();
  const settings = new Map<string, TaskSettings>();
  for (const task of (await checked.scheduler?.getTasks()) ?? []) settings.set(task.id, settingsOf(task));
  const schedules: NewSchedule[] = [];
  const pausedUntil = new Map<string, Temporal.Instant>();
  for await (const schedule of checked.scheduler?.getSchedules() ?? checked.schedules ?? []) {
    schedules.push(newSchedule(schedule));
    if (!isPlain(schedule) && schedule.pausedUntil != null) pausedUntil.set(schedule.id, schedule.pausedUntil);
  }
  for (const [id, given] of Object.entries(checked.tasks)) settings.set(id, given);
  const { timeZone, maxConcurrentJobs, runTimes } = checked;
  const world = new World(from, runTimes, { timeZone, maxConcurrentJobs });
  await world.add(schedules, settings);
  await world.pause(pausedUntil);
  for (const blackout of (await checked.scheduler?.getBlackouts()) ?? []) await world.blackOut(blackout);
  assertBounded(await world.triggers(), from, until, where);
  try {
    await world.run(faults, until, signal);
  } finally {
    await world.end();
  }
  const occurrences = world.occurrences();
  const counts: Partial<Record<OccurrenceVerdict, number>> = {};
  for (const verdict of OCCURRENCE_VERDICTS) {
    const count = occurrences.filter((one) => one.verdict === verdict).length;
    if (count > 0) counts[verdict] = count;
  }
  return { occurrences, counts, text: reportText({ occurrences, counts, from, until, faults }) };
}

/** The scheduler of a simulation, its clock and its store. */
class World {
  readonly #clock: VirtualClock;
  readonly #scheduler: Scheduler;
  /** Never started, so that it reads while the other one is down. */
  readonly #reader: Scheduler;
  readonly #runMs: ReadonlyMap<string, number>;
  readonly #from: number;
  readonly #found = new Map<string, SimulatedOccurrence>();
  #factor = 1;
  #isUp = false;
  /** From when on fire times are read again, in epoch milliseconds: that of the earliest that is still waiting. */
  #openFrom: number;

  constructor(
    from: number,
    runTimes: Readonly<Record<string, Duration>>,
    limits: { timeZone?: string | undefined; maxConcurrentJobs?: number | undefined },
  ) {
    this.#clock = new VirtualClock(instantOf(from));
    const runMs = Object.entries(runTimes).map(([id, time]) => [id, toDurationMs(time, `runTimes.${id}`)] as const);
    this.#runMs = new Map(runMs);
    this.#from = this.#openFrom = from;
    const ledger = { maxCount: SIMULATED_FIRES_MAX, maxAge: { milliseconds: DURATION_MS_MAX } };
    const shared = { dataStore: new MemoryDataStore({ ledger }), clock: this.#clock, logger: silentLogger };
    // Without chance, so that equal questions get equal answers.
    // Without clean-ups, because a schedule that fires once is read after it has ended.
    const options = { random: () => 0, identity: "simulation", cleanupInterval: null };
    this.#scheduler = new Scheduler({ ...shared, ...limits, ...options });
    this.#reader = new Scheduler({ ...shared, identity: "reader" });
  }

  async add(schedules: readonly NewSchedule[], settings: ReadonlyMap<string, TaskSettings>): Promise<void> {
    for (const taskId of new Set(schedules.map(({ task }) => String(task)))) {
      this.#scheduler.task(taskId, settings.get(taskId) ?? {}, async (_payload, { signal }) => {
        const runMs = (this.#runMs.get(taskId) ?? 0) * this.#factor;
        if (runMs > 0) await this.#clock.sleep(this.#clock.now() + runMs, signal);
        signal.throwIfAborted();
      });
    }
    await this.#scheduler.addSchedules(schedules);
  }

  /** Gives pauses their ends. */
  async pause(ends: ReadonlyMap<string, Temporal.Instant>): Promise<void> {
    for (const [id, until] of ends) {
      if (until.epochMilliseconds <= this.#from) await this.#scheduler.unpauseSchedule(id);
      else await this.#scheduler.pauseSchedule(id, { until });
    }
  }

  async blackOut(blackout: Blackout): Promise<void> {
    const { id, from, until, trigger, duration, labels, taskIds, missed } = blackout;
    const given = Object.entries({ from, until, trigger, duration, labels, taskIds, missed });
    await this.#scheduler.addBlackout(id, Object.fromEntries(given.filter(([, value]) => value !== null)));
  }

  async triggers(): Promise<Trigger[]> {
    const triggers: Trigger[] = [];
    for await (const { trigger } of this.#reader.getSchedules()) triggers.push(trigger);
    return triggers;
  }

  async run(faults: readonly CheckedFault[], until: number, signal: AbortSignal | undefined): Promise<void> {
    for (const [index, { kind, ...span }] of faults.entries()) {
      if (kind !== "blackout") continue;
      const [from, end] = [instantOf(span.from), instantOf(span.until)];
      await this.#scheduler.addBlackout(`fault ${index}`, { from, until: end });
    }
    const isWithin = (kind: CheckedFault["kind"], at: number) =>
      faults.filter((one) => one.kind === kind && one.from <= at && at < one.until);
    const edges = faults.flatMap((one) => [one.from, one.until]).filter((at) => at > this.#from && at < until);
    const stops = [...new Set([this.#from, ...edges])].sort((a, b) => a - b);
    for (const [index, at] of stops.entries()) {
      this.#factor = Math.max(1, ...isWithin("slow", at).map(({ factor }) => factor));
      const isDown = isWithin("down", at).length > 0;
      if (isDown && this.#isUp) await this.#scheduler.stop({ drainTimeout: "0s" });
      else if (!isDown && !this.#isUp) await this.#scheduler.start();
      this.#isUp = !isDown;
      // What happens at the next edge happens after it: a fault begins before the fire time at its very edge. Nothing
      // fires while all is down, so that the start after it is exact.
      const next = stops[index + 1] ?? until;
      await this.#advance(isDown && next < until ? next : next - 1, signal);
    }
  }

  async #advance(untilMs: number, signal: AbortSignal | undefined): Promise<void> {
    while (this.#clock.now() < untilMs) {
      signal?.throwIfAborted();
      await this.#clock.advanceTo(instantOf(Math.min(this.#clock.now() + STRIDE_MS, untilMs)));
      await this.#read();
    }
  }

  /** Reads what became of the fire times that were not known before, or still waited. */
  async #read(): Promise<void> {
    const range = { from: instantOf(this.#openFrom), order: "oldest" } as const;
    let openFrom = this.#clock.now();
    for await (const { id } of this.#reader.getSchedules()) {
      for await (const { fireTime, verdict, run } of this.#reader.getOccurrences(id, range)) {
        const instant = fireTime.toInstant();
        const one = { scheduleId: id, fireTime: instant, verdict, startedAt: run?.startedAt ?? null };
        this.#found.set(JSON.stringify([instant.epochMilliseconds, id]), one);
        if (verdict === "waiting") openFrom = Math.min(openFrom, instant.epochMilliseconds);
      }
    }
    this.#openFrom = openFrom;
  }

  occurrences(): SimulatedOccurrence[] {
    const time = ({ fireTime }: SimulatedOccurrence): number => fireTime.epochMilliseconds;
    const byId = (a: SimulatedOccurrence, b: SimulatedOccurrence) => (a.scheduleId < b.scheduleId ? -1 : 1);
    return [...this.#found.values()].sort((a, b) => time(a) - time(b) || byId(a, b));
  }

  async end(): Promise<void> {
    await this.#scheduler.stop({ drainTimeout: "0s" });
    await this.#reader.stop();
  }
}

/** @throws {OptionsError} for more fire times than a simulation has */
function assertBounded(triggers: readonly Trigger[], from: number, until: number, where: string): void {
  let count = 0;
  for (const trigger of triggers) {
    for (let at = trigger.nextMs(from - 1); at !== null && at < until; at = trigger.nextMs(at)) {
      if (++count <= SIMULATED_FIRES_MAX) continue;
      const message = `leaves more than ${SIMULATED_FIRES_MAX} fire times: take a shorter time, or fewer schedules`;
      throw optionError(where, "until", message);
    }
  }
}

/** Settings that say where a job runs, or what it gets, which a simulation does not need. */
const LEFT_OUT: readonly string[] = ["executor", "payload"];

function newSchedule(given: SimulatedSchedule): NewSchedule {
  if (!isPlain(given)) {
    const schedule = given as unknown as Schedule & Record<string, unknown>;
    const names = SETTINGS.map(({ name }) => name).filter((name) => !LEFT_OUT.includes(name));
    const options = Object.fromEntries(names.map((name) => [name, schedule[name]]));
    const { id, taskId: task, trigger, paused } = schedule;
    return withoutUndefined({ ...options, id, task, trigger, paused }) as NewSchedule;
  }
  const { payload: _payload, executor: _executor, ...schedule } = given as NewSchedule & { taskId?: string };
  if (schedule.taskId === undefined || schedule.task !== undefined) return schedule;
  const { taskId, ...others } = schedule;
  return { ...others, task: taskId };
}

function settingsOf(task: TaskView): TaskSettings {
  const { maxRunningJobs, maxRunningPerKey, rateLimit, fair, misfireGraceTime, maxRecoveries, timeout } = task;
  const { retry, overlap, metadata, labels } = task;
  const limits = { maxRunningJobs, maxRunningPerKey, rateLimit, fair };
  return { ...limits, misfireGraceTime, maxRecoveries, timeout, retry, overlap, metadata, labels };
}
