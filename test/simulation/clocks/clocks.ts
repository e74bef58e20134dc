// Clocks that are wrong by seconds to years, for seconds to minutes, of one host or all: one to three hosts on one store
// stay, or tick, run schedules, and die and come back meanwhile. A seed costs a fraction of one of ../simulate.ts,
// because there is no model of the store. What must hold:
//
// - No fire time runs twice.
// - While no clock has been wrong, and once what was wrong is over, each fire time runs.
// - Where clocks were behind alone, all fire times run of a schedule that catches up on each.
// - A schedule goes on some minutes after all clocks are right again, by the rule, and `health()` warns until then.
// - Only a host takes a schedule back whose clock has gone on evenly for some minutes, and with which no living one
//   disagrees.
//
//   node scripts/simulate.mjs --only clocks [--count 100000]
//   node scripts/simulate.mjs --only clocks --seed 4711 --trace

import type { Clock } from "../../../src/core/clock.ts";
import { SchedulerStateError } from "../../../src/core/errors.ts";
import { instantOf } from "../../../src/core/temporal.ts";
import type { JobExecutor } from "../../../src/executors/job-executor.ts";
import { Scheduler } from "../../../src/mod.ts";
import { CLOCK_STEADY_MS, EARLIEST_NOW_MS } from "../../../src/scheduler/firing/limits.ts";
import type { ScheduleOptions } from "../../../src/scheduler/options/options.ts";
import type { JobContext } from "../../../src/scheduler/scheduler-client.ts";
import type { CommitRequest, DataStore, ScheduleUpdateRequest } from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { CLOCK_TOLERANCE_MS, DEAD_SCHEDULER_MS, LEDGER_AGE_MS_DEFAULT } from "../../../src/stores/shared/limits.ts";
import { VirtualClock } from "../../../src/testing/virtual-clock.ts";
import { CronTrigger } from "../../../src/triggers/cron.ts";
import { IntervalTrigger } from "../../../src/triggers/interval.ts";
import type { Trigger } from "../../../src/triggers/trigger.ts";
import { History } from "../history.ts";
import { Random } from "../random.ts";
import type { SimulationOptions, SimulationReport } from "../simulate.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const START = "2030-01-01T11:30:20Z";
/** What a board without a battery shows when it starts. */
const EPOCH_START = 10 * SECOND;
/** In which commits a run waits for what must come true, and how late a fire time may run. */
const STEP_MS = 20 * SECOND;
const STEP = { milliseconds: STEP_MS };
/** In how many of them a process has stopped. */
const STOP_STEPS_MAX = 15;
const LATE_MS = 5 * SECOND;

/** What goes wrong in a run. */
type Kind = "behind" | "ahead" | "any";

/** A clock is wrong for a while. */
interface Episode {
  /** How long all clocks are right before. */
  readonly calmMs: number;
  readonly durationMs: number;
  /** How far the clocks of these hosts are off: equally. Null: they start in 1970. */
  readonly byMs: number | null;
  readonly hosts: readonly Host[];
  /** What becomes of the processes there meanwhile, and with the mend. */
  readonly during: Fate;
  readonly after: Fate;
}

type Fate = "goesOn" | "restarts" | "crashes" | "standsStill";

/** One run: the same seed gives the same one. */
export async function simulateClocks(
  options: Pick<SimulationOptions, "seed" | "trace" | "makeStore" | "wrapStore">,
): Promise<SimulationReport> {
  return new Simulation(options).run();
}

class Simulation {
  readonly clock = new VirtualClock(START);
  readonly history: History;
  readonly store: DataStore;
  readonly leaseMs: number;
  readonly schedules: readonly SimulatedSchedule[];
  readonly hosts: readonly Host[];
  readonly wrapStore: (store: DataStore) => DataStore;
  readonly random: Random;
  readonly #seed: number;
  readonly #kind: Kind;
  /** The earliest instant that a clock showed when it went ahead. */
  #aheadFrom = Number.POSITIVE_INFINITY;
  lives = 0;

  constructor({
    seed,
    trace,
    makeStore,
    wrapStore,
  }: Pick<SimulationOptions, "seed" | "trace" | "makeStore" | "wrapStore">) {
    const random = new Random(seed + 0x434c_4b53);
    this.#seed = seed;
    this.random = random;
    this.history = new History(this.clock, trace ?? null);
    this.store = makeStore?.() ?? new MemoryDataStore();
    this.wrapStore = wrapStore ?? ((store) => store);
    this.leaseMs = random.pick([30, 60, 60, 120]) * SECOND;
    this.#kind = random.pick(["behind", "ahead", "ahead", "any"] as const);
    const mayRunAll = this.#kind === "behind";
    this.schedules = Array.from({ length: random.pick([1, 2, 2, 3]) }, (_, index) =>
      drawSchedule(random, index, mayRunAll),
    );
    const areTicking = random.chance(0.25);
    this.hosts = Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, (_, index) => {
      const skewMs = random.pick([0, 0, random.int(-1, 1)]) * Math.floor(this.leaseMs / 10);
      const tickMs = areTicking || (index > 0 && random.chance(0.15)) ? random.pick([20, 45, 90]) * SECOND : null;
      return new Host(this, `host${index}`, skewMs, tickMs);
    });
  }

  async run(): Promise<SimulationReport> {
    const { clock, history, random, hosts } = this;
    await this.store.open(clock.now());
    for (const host of hosts) host.start();
    await clock.advance({ seconds: 1 });
    for (let left = random.pick([1, 1, 2, 3]); left > 0 && history.violations.length === 0; left--) {
      await this.#live(this.#drawEpisode());
    }
    if (history.violations.length === 0) await this.#goOn();
    if (history.violations.length === 0) this.#checkAll();
    for (const host of hosts) await host.stop();
    return { seed: this.#seed, violations: history.violations, counts: history.counts };
  }

  #drawEpisode(): Episode {
    const { random, hosts } = this;
    const isAhead = this.#kind === "ahead" || (this.#kind === "any" && random.chance(0.5));
    const some = hosts.filter(() => random.chance(0.4));
    return {
      calmMs: random.pick([random.int(1, 90) * SECOND, random.int(2, 10) * MINUTE]),
      durationMs: random.pick([random.int(1, 60) * SECOND, random.int(1, 15) * MINUTE]),
      byMs: !isAhead && random.chance(0.2) ? null : (isAhead ? 1 : -1) * drawDistance(random),
      hosts: random.chance(0.4) ? hosts : some.length > 0 ? some : [random.pick(hosts)],
      during: random.pick(["goesOn", "goesOn", "goesOn", "restarts", "crashes", "standsStill"] as const),
      after: random.pick(["goesOn", "goesOn", "goesOn", "restarts", "crashes", "standsStill"] as const),
    };
  }

  async #live({ calmMs, durationMs, byMs, hosts, during, after }: Episode): Promise<void> {
    const { clock, history, random } = this;
    await this.#advance(calmMs);
    for (const schedule of this.schedules) schedule.calmUntil ??= clock.now();
    history.count(byMs === null ? "starts in 1970" : byMs > 0 ? "ahead" : "behind");
    history.count(hosts.length === this.hosts.length ? "all hosts" : "some hosts");
    const offsetMs = byMs ?? EPOCH_START - clock.now();
    if (offsetMs > 0) this.#aheadFrom = Math.min(this.#aheadFrom, clock.now() + offsetMs);
    const part = Math.floor(random.next() * durationMs);
    for (const host of hosts) {
      // A host that starts in 1970 was off before.
      if (byMs === null) await host.die(random.chance(0.5));
      host.set(offsetMs);
      if (byMs === null) host.start();
    }
    await this.#advance(part);
    await this.#befall(hosts, during);
    await this.#advance(durationMs - part);
    await this.#checkHealth();
    const isLate = after === "standsStill";
    if (isLate) await this.#befall(hosts, after);
    for (const host of hosts) host.set(host.skewMs);
    if (!isLate) await this.#befall(hosts, after);
    await this.#advance(random.int(0, 2) * SECOND);
    await this.#checkHealth();
  }

  async #befall(hosts: readonly Host[], fate: Fate): Promise<void> {
    if (fate === "goesOn") return;
    this.history.count(fate);
    for (const host of hosts) {
      if (fate === "standsStill") host.standStill(this.random.int(1, 3) * this.random.pick([SECOND, MINUTE]));
      else {
        await host.die(fate === "crashes");
        host.start();
      }
    }
  }

  /** No clock is wrong from here on: all schedules go on within minutes, and run each of their fire times. */
  async #goOn(): Promise<void> {
    const { clock, history, hosts, schedules } = this;
    await this.#advance(Math.max(0, ...hosts.map(({ standsUntil }) => standsUntil - clock.now())));
    const since = clock.now();
    const ticks = Math.max(0, ...hosts.map(({ tickMs }) => tickMs ?? 0));
    // A clock has to go on evenly, and those that differ have to be seen to agree, or to be gone.
    const bound = 2 * CLOCK_STEADY_MS + 4 * this.leaseMs + 4 * ticks + 3 * MINUTE;
    let waiting = await this.#waiting();
    while (waiting !== null && clock.now() - since <= bound) {
      await this.#advance(STEP_MS);
      await this.#checkHealth();
      waiting = await this.#waiting();
    }
    if (waiting !== null) {
      history.violate(`${waiting} after ${(clock.now() - since) / SECOND} s of right clocks`);
      return;
    }
    if (clock.now() > since) history.count("had to be taken back");
    await this.#advance(ticks);
    for (const schedule of schedules) schedule.calmFrom = clock.now();
    await this.#advance(this.random.int(3, 8) * MINUTE);
  }

  /** What is not as the rule has it; null for nothing. */
  async #waiting(): Promise<string | null> {
    for (const { id, trigger } of this.schedules) {
      const schedule = await this.store.getSchedule(id);
      const now = this.clock.now();
      const next = trigger.nextMs(now + this.leaseMs);
      const at = schedule?.nextFireTime ?? null;
      // One that was added by a clock that is ahead is none that was moved.
      const isMoved = schedule === null || schedule.createdAt <= now;
      if (next === null || (at !== null && at <= next) || !isMoved) continue;
      return `${id} waits for ${at === null ? "nothing" : instantOf(at)}, not for ${instantOf(next)}`;
    }
    return null;
  }

  /** A host whose clock is right warns of schedules that have fired far ahead. */
  async #checkHealth(): Promise<void> {
    const now = this.clock.now();
    const watcher = this.hosts.find(({ isWorking, offsetMs, skewMs }) => isWorking && offsetMs === skewMs);
    // An uptime that a wrong clock wrote goes on as one of the right clock once that comes to its begin.
    if (watcher === undefined || now > this.#aheadFrom - 2 * MINUTE) return;
    let moved: string | null = null;
    for (const { id, trigger } of this.schedules) {
      const schedule = await this.store.getSchedule(id);
      const { nextFireTime = null, lastFireTime = null } = schedule ?? {};
      const rule = trigger.nextMs(now + this.leaseMs);
      const isLate = rule !== null && (nextFireTime === null || nextFireTime > rule);
      if (lastFireTime !== null && lastFireTime > now + 4 * this.leaseMs && isLate) moved = id;
    }
    if (moved === null) return;
    const storeWarnings = (await watcher.scheduler?.health())?.storeWarnings ?? [];
    this.history.count("schedules that were moved");
    if (storeWarnings.some(({ code }) => code === "clockAhead")) return;
    this.history.violate(`${watcher.name} does not warn of ${moved}, which a wrong clock has moved`);
  }

  /** Each fire time of a time without wrong clocks has run; and each of all, where none was to be left out. */
  #checkAll(): void {
    // A host that is some seconds behind, as clocks may be, is late by as much.
    const lateMs = LATE_MS - Math.min(0, ...this.hosts.map(({ skewMs }) => skewMs));
    const end = this.clock.now() - lateMs;
    for (const schedule of this.schedules) {
      const { id, trigger, ran, addedAt, calmUntil, calmFrom, movedTo, runsAll } = schedule;
      if (addedAt === null) continue;
      // Ticks come late, and what passes between two of them may become one run.
      const tickMs = Math.max(0, ...this.hosts.map((host) => host.tickMs ?? 0));
      const isWhole = runsAll && this.#kind === "behind";
      const isSure = (at: number): boolean =>
        isWhole || at <= (calmUntil ?? 0) - tickMs - lateMs || at > calmFrom + this.leaseMs;
      const hasRun = (at: number): boolean =>
        ran.has(at) || (!isWhole && [...ran.keys()].some((other) => Math.abs(other - at) <= 2 * tickMs));
      // What a wrong clock left out stays out where its last fire time comes within the time that clocks may differ by.
      const isLeftOut = (at: number): boolean =>
        movedTo.some((last) => at <= last && last <= at + CLOCK_TOLERANCE_MS + tickMs + LATE_MS);
      for (let at = trigger.nextMs(addedAt); at !== null && at <= end - tickMs; at = trigger.nextMs(at)) {
        if (!isSure(at) || hasRun(at) || isLeftOut(at)) continue;
        this.history.violate(`${id} never ran for ${instantOf(at)}`);
        return;
      }
    }
  }

  /** A clock that is ahead removes what is not old, and what the ledger does not have may run again. */
  onCleanup(now: number): void {
    for (const { ran, forgotten } of this.schedules) {
      for (const fireTime of ran.keys()) if (fireTime < now - LEDGER_AGE_MS_DEFAULT) forgotten.add(fireTime);
    }
  }

  /** A host takes schedules back. */
  async onTakenBack(host: Host, updates: readonly ScheduleUpdateRequest[]): Promise<void> {
    const now = this.clock.now();
    for (const { id, changes } of updates) {
      const lastFireTime = (await this.store.getSchedule(id))?.lastFireTime ?? null;
      if (lastFireTime !== null) this.schedules.find((schedule) => schedule.id === id)?.movedTo.push(lastFireTime);
      this.history.trace(host.name, `takes ${id} back to ${changes.nextFireTime}`);
      this.history.count("taken back");
    }
    const showsMs = host.clock.now();
    if (showsMs < EARLIEST_NOW_MS) this.history.violate(`${host.name} takes schedules back at ${instantOf(showsMs)}`);
    if (host.tickMs !== null) return;
    // A beat may be older than a change of the clock by a third of a lease.
    const steadyMs = now - host.setAt + this.leaseMs;
    if (steadyMs < CLOCK_STEADY_MS)
      this.history.violate(`${host.name} takes schedules back ${steadyMs} ms after its clock was set`);
    for (const other of this.hosts) {
      const isSeen = now - Math.max(other.setAt, other.startedAt) >= 2 * this.leaseMs;
      const byMs = Math.abs(other.offsetMs - host.offsetMs);
      // A clean-up forgets one that is far behind until its next heartbeat.
      if (host.offsetMs - other.offsetMs > DEAD_SCHEDULER_MS) continue;
      if (other.isWorking && other.tickMs === null && isSeen && byMs > 2 * this.leaseMs)
        this.history.violate(`${host.name} takes schedules back while ${other.name} disagrees`);
    }
  }

  async #advance(ms: number): Promise<void> {
    if (ms > 0) await this.clock.advanceTo(instantOf(this.clock.now() + ms));
  }
}

/** A machine with a clock of its own, on which one process after the other lives. */
class Host {
  readonly name: string;
  /** How far its clock is off when it is right. */
  readonly skewMs: number;
  /** How often it ticks; null for one that stays. */
  readonly tickMs: number | null;
  offsetMs: number;
  /** The true times at which its clock was last set, and its process started. */
  setAt = Number.NEGATIVE_INFINITY;
  startedAt = 0;
  standsUntil = 0;
  clock: Clock;
  scheduler: Scheduler | null = null;
  readonly #run: Simulation;
  #setBefore = Number.NEGATIVE_INFINITY;
  #life = 0;

  constructor(run: Simulation, name: string, skewMs: number, tickMs: number | null) {
    this.#run = run;
    this.name = name;
    this.skewMs = skewMs;
    this.tickMs = tickMs;
    this.offsetMs = skewMs;
    this.clock = this.#clockOf(0);
  }

  get isWorking(): boolean {
    return this.scheduler !== null && this.standsUntil <= this.#run.clock.now();
  }

  /** Its clock is off by so much from now on. */
  set(offsetMs: number): void {
    if (this.offsetMs === offsetMs) return;
    this.#run.history.trace(this.name, `its clock is set by ${offsetMs - this.offsetMs} ms`);
    const now = this.#run.clock.now();
    // A change that is over before another heartbeat is seen by nobody, and what is less is within what clocks may
    // differ by.
    if (offsetMs === this.skewMs && now - this.setAt < this.#run.leaseMs) this.setAt = this.#setBefore;
    else if (Math.abs(offsetMs - this.offsetMs) > 2 * this.#run.leaseMs) {
      this.#setBefore = this.setAt;
      this.setAt = now;
    }
    this.offsetMs = offsetMs;
  }

  standStill(ms: number): void {
    this.#run.history.trace(this.name, `stands still for ${ms} ms`);
    this.standsUntil = Math.max(this.standsUntil, this.#run.clock.now() + ms);
  }

  start(): void {
    const life = ++this.#life;
    this.clock = this.#clockOf(life);
    this.startedAt = this.#run.clock.now();
    this.#run.history.trace(this.name, `starts at ${instantOf(this.clock.now())}`);
    void (this.tickMs === null ? this.#stay() : this.#tick(life, this.tickMs));
  }

  async die(isCrash: boolean): Promise<void> {
    const { scheduler } = this;
    this.#run.history.trace(this.name, isCrash ? "crashes" : "stops");
    this.scheduler = null;
    if (isCrash) this.#life++;
    else {
      // One that stands still stops once it goes on.
      const { clock } = this.#run;
      let isOver = false;
      void scheduler?.stop().then(() => {
        isOver = true;
      });
      await clock.advanceTo(instantOf(Math.max(clock.now(), this.standsUntil) + 1));
      for (let left = STOP_STEPS_MAX; left > 0 && scheduler !== null && !isOver; left--) await clock.advance(STEP);
      if (scheduler !== null && !isOver) this.#run.history.violate(`${this.name} does not stop`);
      this.#life++;
    }
  }

  async stop(): Promise<void> {
    await this.die(false);
  }

  async #stay(): Promise<void> {
    const scheduler = this.#make();
    this.scheduler = scheduler;
    try {
      await scheduler.start();
      await this.#addSchedules(scheduler);
    } catch (error) {
      // It was stopped meanwhile.
      if (!(error instanceof SchedulerStateError)) throw error;
    }
  }

  /** A program that runs for a moment, again and again. */
  async #tick(life: number, tickMs: number): Promise<void> {
    for (;;) {
      const scheduler = this.#make();
      this.scheduler = scheduler;
      await this.#addSchedules(scheduler);
      await scheduler.tick();
      await this.clock.sleep(this.clock.now() + tickMs);
      if (life !== this.#life) return;
      await scheduler.stop();
    }
  }

  async #addSchedules(scheduler: Scheduler): Promise<void> {
    for (const schedule of this.#run.schedules) {
      const { id, trigger, options } = schedule;
      const before = await this.#run.store.getSchedule(id);
      await scheduler.addSchedule("task", trigger, { ...options, id, conflictPolicy: "update" });
      if (before === null && schedule.addedAt === null) schedule.addedAt = this.#run.clock.now();
    }
  }

  #make(): Scheduler {
    const { history, wrapStore, random, leaseMs } = this.#run;
    const scheduler = new Scheduler({
      dataStore: wrapStore(this.#storeOf()),
      executors: { inline: PLAIN_EXECUTOR },
      identity: `${this.name}.${++this.#run.lives}`,
      leaseDuration: { milliseconds: leaseMs },
      maxIdle: { milliseconds: 30 * SECOND },
      clock: this.clock,
      random: new Random(random.int(0, 2 ** 31)).next,
      logger: {
        debug: () => {},
        info: () => {},
        warn: (...args) => history.trace(this.name, `log: ${args.join(" ")}`),
        error: (...args) => history.violate(`${this.name} logged an error: ${args.join(" ")}`),
      },
    });
    scheduler.task("task", { maxRunningJobs: null }, (_payload: unknown, { job }: JobContext) => {
      const schedule = this.#run.schedules.find(({ id }) => id === job.scheduleId);
      schedule?.onRun(job.fireTime?.epochMilliseconds ?? 0, job.id, this.#run.history);
    });
    return scheduler;
  }

  #storeOf(): DataStore {
    const { store } = this.#run;
    const nothing = async (): Promise<void> => {};
    return new Proxy(store, {
      get: (target, key) => {
        if (key === "open" || key === "close") return nothing;
        const value: unknown = Reflect.get(target, key, target);
        if (key === "cleanup") {
          return (request: { readonly now: number; readonly limit: number }) => {
            this.#run.onCleanup(request.now);
            return target.cleanup(request);
          };
        }
        if (key === "commit") {
          return (request: CommitRequest) => {
            if (request.cleanup !== undefined) this.#run.onCleanup(request.now);
            return target.commit(request);
          };
        }
        if (key === "updateSchedules") {
          return async (updates: readonly ScheduleUpdateRequest[], ...rest: unknown[]) => {
            await this.#run.onTakenBack(this, updates);
            return Reflect.apply(value as () => unknown, target, [updates, ...rest]);
          };
        }
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /** As `systemClock` does: a timer counts elapsed time, and whoever wakes too early sleeps on. */
  #clockOf(life: number): Clock {
    const { clock } = this.#run;
    const whenAlive = async (): Promise<void> => {
      while (this.standsUntil > clock.now()) await clock.sleep(this.standsUntil);
      if (life !== this.#life) await new Promise<never>(() => {});
    };
    const now = (): number => clock.now() + this.offsetMs;
    return {
      now,
      sleep: async (untilMs, signal) => {
        let lastMs = Number.NEGATIVE_INFINITY;
        while (signal?.aborted !== true) {
          const nowMs = now();
          if (untilMs <= nowMs || nowMs < lastMs) break;
          lastMs = nowMs;
          await clock.sleep(clock.now() + untilMs - nowMs, signal);
        }
        await whenAlive();
      },
      yield: async () => {
        await clock.yield();
        await whenAlive();
      },
    };
  }
}

/** A schedule that all processes add when they start, and what ran of it. */
class SimulatedSchedule {
  readonly id: string;
  readonly trigger: Trigger;
  readonly options: ScheduleOptions;
  /** Whether each of its fire times becomes a job, however late. */
  readonly runsAll: boolean;
  /** The true times between which clocks were wrong, and when it was added. */
  addedAt: number | null = null;
  calmUntil: number | null = null;
  calmFrom = Number.POSITIVE_INFINITY;
  /** The last fire times by wrong clocks. */
  readonly movedTo: number[] = [];
  /** The jobs of its fire times. */
  readonly ran = new Map<number, string>();
  /** Fire times that the ledger may have no more. */
  readonly forgotten = new Set<number>();

  constructor(id: string, trigger: Trigger, options: ScheduleOptions) {
    this.id = id;
    this.trigger = trigger;
    this.options = options;
    this.runsAll = options.coalesce === "all" && options.catchUp == null;
  }

  onRun(fireTime: number, jobId: string, history: History): void {
    history.count("runs");
    history.trace("task", `runs ${this.id} of ${instantOf(fireTime)}`);
    const other = this.ran.get(fireTime);
    // A run whose process died is repeated, as the same job.
    if (other !== undefined && other !== jobId && !this.forgotten.has(fireTime))
      history.violate(`${this.id} ran twice for ${instantOf(fireTime)}`);
    this.ran.set(fireTime, jobId);
  }
}

/** Without `currentJob()`: following asynchronous calls doubles the price of every promise. */
const PLAIN_EXECUTOR: JobExecutor = {
  async open() {},
  async execute({ invoke }) {
    return invoke();
  },
  async close() {},
  async [Symbol.asyncDispose]() {},
};

function drawDistance(random: Random): number {
  // At most to a year in which rules still have fire times.
  const unit = random.pick([SECOND, MINUTE, HOUR, DAY, 30 * DAY, 400 * DAY, YEAR, 10 * YEAR, 130 * YEAR]);
  return random.int(1, 59) * unit;
}

function drawSchedule(random: Random, index: number, mayRunAll: boolean): SimulatedSchedule {
  const trigger = random.pick<() => Trigger>([
    () => CronTrigger.fromCrontab("* * * * *", { timeZone: "UTC" }),
    () => CronTrigger.fromCrontab("*/5 * * * *", { timeZone: "UTC" }),
    () => CronTrigger.fromCrontab("0 12 * * *", { timeZone: "UTC" }),
    () => new IntervalTrigger({ seconds: random.int(40, 400), startTime: START }),
  ])();
  const coalesce = random.pick(["latest", "earliest", "all"] as const);
  const isBounded = coalesce === "all" && !mayRunAll;
  return new SimulatedSchedule(`schedule${index}`, trigger, {
    coalesce,
    catchUp: isBounded ? { maxAge: { minutes: 20 }, maxCount: random.pick([null, 2]) } : null,
    ...(random.chance(0.2) ? { maxJitter: { seconds: 3 } } : {}),
  });
}
