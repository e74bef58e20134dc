// What operators do to schedules, tasks and jobs, in a small world: two or three processes on one store, over a
// network that loses calls and answers, with crashes, and with clocks that differ by less than stores put up with. A
// seed costs a fraction of one of ../simulate.ts, because there are no models of the whole store: each operation brings
// what must hold of it.
//
// To add an operation: write a file beside this one that exports an `OperationMaker`, and name it in operations.ts.
// `act` does it once, through `run.attempt`, which tells expected failures from others; calls run at the same time, and
// it is good to repeat one, by the same process or another. What must hold is checked in `onEffect` (each call that
// took effect in the store, in that order, whatever its caller heard), `onHandler` (each call of a handler), and
// `checkAtRest` (after the faults; `heal` comes before). `run.history.violate(text)` tells of a broken promise. Then
// put a fault of your own into operator-mutants.ts, for each promise, that the promise must find.
//
// The worlds are small, so that 100,000 seeds take some 15 minutes: a run has all of the promises, and one to three of
// the operations. Each hundredth seed of the script is over SQL.
//
//   node scripts/simulate.mjs --only operators [--count 100000]
//   node scripts/simulate.mjs --only operators --seed 4711 --trace
//
// A `World` with one operation costs a fraction of that again (`--only steps`).

import type { EventBroker, Unsubscribe } from "../../../src/brokers/event-broker.ts";
import type { Clock } from "../../../src/core/clock.ts";
import { EscapementError, StoreUnavailableError } from "../../../src/core/errors.ts";
import { instantOf } from "../../../src/core/temporal.ts";
import type { JobExecutor } from "../../../src/executors/job-executor.ts";
import { Scheduler } from "../../../src/mod.ts";
import type { EventRecord } from "../../../src/records/events.ts";
import type { Labels } from "../../../src/records/policies.ts";
import type { ScheduleOptions, TaskSettings } from "../../../src/scheduler/options/options.ts";
import type { JobContext } from "../../../src/scheduler/scheduler-client.ts";
import type { DataStore } from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { VirtualClock } from "../../../src/testing/virtual-clock.ts";
import { IntervalTrigger } from "../../../src/triggers/interval.ts";
import { History } from "../history.ts";
import { Random } from "../random.ts";
import type { SimulationOptions, SimulationReport } from "../simulate.ts";
import { OPERATORS } from "./operations.ts";

/** One kind of thing that operators do, and what must hold of it. */
export interface Operation {
  /** How often it is done, compared with the others. */
  readonly weight: number;
  /** A process starts: registers a task of the operation's own. */
  register?(process: OperatedProcess): void;
  /** Does it once, by this process. It does not wait: failures are those of `run.attempt`. */
  act(process: OperatedProcess): void;
  /** A call took effect in the store. Its caller may hear of it later, or never. */
  onEffect?(method: string, args: readonly unknown[], answer: unknown): void;
  /** A handler was called. */
  onHandler?(context: JobContext, process: OperatedProcess): void;
  /** No faults from here on: ends what would keep the world from coming to rest. */
  heal?(process: OperatedProcess): void;
  /** Whether there is nothing left to wait for, where faults have ended. Default: there always is. */
  isAtRest?(): Promise<boolean>;
  /** What must have come true once there were no faults for a while. */
  checkAtRest?(): Promise<void>;
}

/** Makes what one run has of an operation. It may draw from `run.random` alone. */
export type OperationMaker = (run: OperatorRun) => Operation;

/** What a run has of everything that its operations use. */
export interface OperatorRun {
  readonly world: World;
  /** The true time. */
  readonly clock: VirtualClock;
  readonly history: History;
  readonly random: Random;
  /** The store itself, which loses nothing. */
  readonly store: DataStore;
  readonly taskId: string;
  /** The ids of the schedules, which all processes add when they start. */
  readonly scheduleIds: readonly string[];
  labelsOf(scheduleId: string): Labels | undefined;
  pauseAfterFailuresOf(scheduleId: string): number | null;
  /** Whether the schedule leaves out what is too old. */
  hasCatchUp(scheduleId: string): boolean;
  /** Adds a schedule, as processes do when they start, or with another interval. */
  addSchedule(process: OperatedProcess, id: string, intervalMs: number | null, options: ScheduleOptions): void;
  readonly processes: readonly OperatedProcess[];
  readonly areFaultsOn: boolean;
  /** Calls a scheduler. Answers what it answered, or null for what clients of a store under faults have to expect.
   *  @param expected codes of further errors to expect */
  attempt<T>(
    process: OperatedProcess,
    what: string,
    call: (scheduler: Scheduler) => Promise<T>,
    expected?: readonly string[],
  ): Promise<T | null>;
}

/** What is there in a run, and for how long. */
export interface World {
  /** All that operators do. The place of one decides what the others draw, so that a new one comes last. */
  readonly operations: readonly OperationMaker[];
  readonly hasSchedules: boolean;
  /** How long the faults last. */
  readonly turns: { readonly min: number; readonly max: number };
  readonly leaseMs: number;
  /** How far clocks differ from the true one: less than a lease, and than what stores put up with. */
  readonly skewMsMax: number;
  /** How long everything may take to come to rest. */
  readonly healingMs: number;
  /** Whether processes stand still for longer than a lease, and some of them take ticks alone. */
  readonly hasTicks: boolean;
}

/** What may happen between two turns, and how late what was lost may come. */
const TURN_MS_MAX = 1500;
const LATE_MS = 2000;
const HEALING_STEP_MS = 2000;
/** How long a tick lasts, and the pause after it. */
const TICK_MS = { run: 2000, pause: 600 };
const EXPECTED_CODES: readonly string[] = ["storeUnavailable", "schedulerState", "scheduleLookup", "jobLookup"];

/** When a run begins, and some fire times before it. */
const START = "2030-01-01T00:00:00Z";
const BEFORE_START = "2029-12-31T23:59:50Z";

const LARGE = "x".repeat(200_000);

/** A schedule as processes add it. */
interface DrawnSchedule {
  readonly trigger: IntervalTrigger;
  readonly options: ScheduleOptions;
}

/** How much goes wrong in a run. Probabilities are of one call, event or turn. */
interface Faults {
  readonly call: number;
  readonly deadlyCall: number;
  readonly crash: number;
  readonly eventLoss: number;
  readonly skewMs: number;
}

/** One run: the same seed gives the same one. */
export async function simulateOperators(
  options: Pick<SimulationOptions, "seed" | "trace" | "makeStore" | "wrapStore">,
  world: World = OPERATORS,
): Promise<SimulationReport> {
  return new Simulation(options, world).run();
}

class Simulation implements OperatorRun {
  readonly clock = new VirtualClock(START);
  readonly history: History;
  readonly random: Random;
  readonly store: DataStore;
  readonly taskId = "task";
  readonly scheduleIds: readonly string[];
  readonly processes: OperatedProcess[] = [];
  areFaultsOn = true;
  readonly brokers = new Set<PartialBroker>();
  readonly operations: readonly Operation[];
  readonly world: World;
  readonly #seed: number;
  readonly #faults: Faults;
  readonly #settings: TaskSettings;
  readonly #schedules: readonly DrawnSchedule[];
  readonly #durationMsMax: number;
  readonly #failure: number;
  readonly #wrapStore: (store: DataStore) => DataStore;
  /** What operators do in this run. All others look on. */
  readonly #acting: readonly Operation[];
  readonly #open = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();
  #lives = 0;

  constructor(
    { seed, trace, makeStore, wrapStore }: Pick<SimulationOptions, "seed" | "trace" | "makeStore" | "wrapStore">,
    world: World,
  ) {
    this.#seed = seed;
    this.world = world;
    this.history = new History(this.clock, trace ?? null);
    this.random = new Random(seed + 0x4f50_4552);
    this.store = makeStore?.() ?? new MemoryDataStore();
    this.#wrapStore = wrapStore ?? ((store) => store);
    this.#faults = drawFaults(this.random, world.skewMsMax);
    this.#settings = drawSettings(this.random);
    this.#durationMsMax = this.random.pick([0, 0, 400, 2500]);
    this.#failure = this.random.pick([0, 0, 0.3, 0.6]);
    const length = world.hasSchedules ? this.random.pick([1, 1, 2]) : 0;
    this.#schedules = Array.from({ length }, (_, index) => drawSchedule(this.random, index));
    this.scheduleIds = this.#schedules.map(({ options }) => options.id ?? "");
    const ways = Array.from(
      { length: this.random.pick([2, 2, 2, 3]) },
      () => this.random.int(-1, 1) * this.#faults.skewMs,
    );
    this.operations = world.operations.map((make) => make(this));
    this.#acting = drawActing(this.random, this.operations);
    for (const offsetMs of ways) this.#start(offsetMs);
  }

  async run(): Promise<SimulationReport> {
    const { clock, history, random } = this;
    for (
      let turns = random.int(this.world.turns.min, this.world.turns.max);
      turns > 0 && history.violations.length === 0;
      turns--
    ) {
      await clock.advanceTo(instantOf(clock.now() + random.int(1, TURN_MS_MAX)));
      this.#act();
    }
    if (history.violations.length === 0) await this.#heal();
    return { seed: this.#seed, violations: history.violations, counts: history.counts };
  }

  /** One process dies or comes back, or one operator does something. */
  #act(): void {
    const { random, processes } = this;
    const place = random.int(0, processes.length - 1);
    const process = processes[place] as OperatedProcess;
    if (process.isCrashed) {
      if (random.chance(0.5)) processes[place] = this.#started(process.offsetMs);
      return;
    }
    if (random.chance(this.#faults.crash)) {
      process.crash();
      return;
    }
    if (this.world.hasTicks && random.chance(this.#faults.crash)) {
      process.standStill(random.int(1, 2 * this.world.leaseMs));
      return;
    }
    const weights = Object.fromEntries(this.#acting.map(({ weight }, index) => [String(index), weight]));
    for (let left = random.pick([1, 1, 2]); left > 0; left--) {
      this.#acting[Number(random.weighted(weights))]?.act(process);
    }
  }

  async #heal(): Promise<void> {
    const { clock, history, processes } = this;
    history.trace("world", "heals");
    this.areFaultsOn = false;
    for (const [place, process] of processes.entries()) {
      if (process.isCrashed) processes[place] = this.#started(process.offsetMs);
    }
    // What was late has arrived.
    await clock.advanceTo(instantOf(clock.now() + LATE_MS));
    // All of its additions may have been lost.
    this.#addSchedules(processes[0] as OperatedProcess);
    for (const operation of this.operations) operation.heal?.(processes[0] as OperatedProcess);
    for (let waitedMs = 0; waitedMs < this.world.healingMs && !(await this.#isAtRest()); waitedMs += HEALING_STEP_MS) {
      await clock.advanceTo(instantOf(clock.now() + HEALING_STEP_MS));
    }
    for (const what of this.#open) history.violate(`never answered: ${what}`);
    for (const operation of this.operations) await operation.checkAtRest?.();
    const stops = processes.map((process) => process.stop());
    await clock.advanceTo(instantOf(clock.now() + this.world.healingMs));
    await Promise.all(stops);
  }

  async #isAtRest(): Promise<boolean> {
    for (const { isAtRest } of this.operations) if ((await isAtRest?.()) !== true) return false;
    return this.#open.size === 0;
  }

  #start(offsetMs: number): void {
    this.processes.push(this.#started(offsetMs));
  }

  #started(offsetMs: number): OperatedProcess {
    const name = `p${++this.#lives}`;
    const process = new OperatedProcess(this, name, offsetMs, this.#wrapStore, this.random.int(0, 2 ** 31));
    const { durations, failures } = { durations: this.random.fork(), failures: this.random.fork() };
    process.scheduler.task(this.taskId, this.#settings, async (_payload: unknown, context: JobContext) => {
      for (const operation of this.operations) operation.onHandler?.(context, process);
      const untilMs = process.clock.now() + durations.int(0, this.#durationMsMax);
      if (untilMs > process.clock.now()) await process.clock.sleep(untilMs, context.signal);
      if (failures.chance(this.#failure)) throw new Error("this time");
    });
    for (const operation of this.#acting) operation.register?.(process);
    this.history.trace(name, "starts");
    void (this.world.hasTicks && this.random.chance(0.3) ? this.#tick(process) : this.#live(process));
    return process;
  }

  #addSchedules(process: OperatedProcess): void {
    for (const id of this.scheduleIds) this.addSchedule(process, id, null, {});
  }

  addSchedule(process: OperatedProcess, id: string, intervalMs: number | null, changes: ScheduleOptions): void {
    const { trigger, options } = this.#scheduleOf(id);
    const other = intervalMs === null ? trigger : new IntervalTrigger({ milliseconds: intervalMs, startTime: START });
    void this.attempt(process, `addSchedule ${id} ${intervalMs ?? ""} ${Object.keys(changes)}`, (scheduler) =>
      scheduler.addSchedule(this.taskId, other, { ...options, ...changes }),
    );
  }

  labelsOf(id: string): Labels | undefined {
    return this.#scheduleOf(id).options.labels;
  }

  pauseAfterFailuresOf(id: string): number | null {
    return this.#scheduleOf(id).options.pauseAfterFailures ?? null;
  }

  hasCatchUp(id: string): boolean {
    return this.#scheduleOf(id).options.catchUp !== null;
  }

  #scheduleOf(id: string): DrawnSchedule {
    const found = this.#schedules.find(({ options }) => options.id === id);
    if (found === undefined) throw new Error(`there is no schedule ${id}`);
    return found;
  }

  async #live(process: OperatedProcess): Promise<void> {
    this.#addSchedules(process);
    while (!process.isCrashed) {
      try {
        return await process.scheduler.start();
      } catch {
        await process.clock.sleep(process.clock.now() + 500);
      }
    }
  }

  async #tick(process: OperatedProcess): Promise<void> {
    while (!process.isCrashed && !process.isStopped) {
      await process.scheduler.tick({ maxDuration: { milliseconds: TICK_MS.run } }).catch(() => {});
      await process.clock.sleep(process.clock.now() + TICK_MS.pause);
    }
  }

  async attempt<T>(
    process: OperatedProcess,
    what: string,
    call: (scheduler: Scheduler) => Promise<T>,
    expected: readonly string[] = [],
  ): Promise<T | null> {
    const { history } = this;
    await process.whenAlive();
    const name = `${process.name}: ${what} (${this.clock.now()})`;
    history.trace(process.name, what);
    history.count(what.split(" ")[0] ?? what);
    if (!process.isCrashed) this.#open.add(name);
    process.onCrash.push(() => this.#open.delete(name));
    try {
      const answer = await call(process.scheduler);
      history.trace(process.name, `${what}: answered ${history.isTraced ? JSON.stringify(answer)?.slice(0, 300) : ""}`);
      return answer;
    } catch (error) {
      const code = error instanceof EscapementError ? error.code : "";
      const isExpected = EXPECTED_CODES.includes(code) || expected.includes(code);
      if (isExpected) history.trace(process.name, `${what}: ${error}`);
      else history.violate(`${process.name}: ${what}: ${error}`);
      return null;
    } finally {
      this.#open.delete(name);
    }
  }

  /** A call of a process, over the network. */
  async call<T>(process: OperatedProcess, method: string, args: readonly unknown[], effect: () => T): Promise<T> {
    const { clock, history, random } = this;
    await process.whenAlive();
    const run = (): Promise<T> =>
      this.#exclusively(async () => {
        const answer = await effect();
        for (const operation of this.operations) operation.onEffect?.(method, args, answer);
        return answer;
      });
    const fate = this.#fate();
    if (fate === "slow") await clock.sleep(clock.now() + random.int(1, 600));
    if (fate === "lost" || fate === "late") {
      history.trace(process.name, `${method} fails${fate === "late" ? ", and takes effect later" : ""}`);
      if (fate === "late") void clock.sleep(clock.now() + random.int(1, LATE_MS)).then(run, () => {});
      throw new StoreUnavailableError(`${method} was lost`);
    }
    const answer = await run();
    if (fate === "deadly") process.crash();
    if (fate === "slow") await clock.sleep(clock.now() + random.int(1, 600));
    await process.whenAlive();
    if (fate !== "answerLost") return answer;
    history.trace(process.name, `${method} fails after it took effect`);
    throw new StoreUnavailableError(`the answer to ${method} was lost`);
  }

  /** Lets calls take effect one after the other, each with what the operations make of its answer. A store in memory
   *  answers all of them after as many promises. */
  #exclusively<T>(effect: () => Promise<T>): Promise<T> {
    if (this.store instanceof MemoryDataStore) return effect();
    const mine = this.#last.then(effect);
    this.#last = mine.catch(() => {});
    return mine;
  }

  #fate(): "sound" | "slow" | "lost" | "answerLost" | "late" | "deadly" {
    const { random } = this;
    if (!this.areFaultsOn) return "sound";
    if (this.#faults.deadlyCall > 0 && random.chance(this.#faults.deadlyCall)) return "deadly";
    if (this.#faults.call === 0 || !random.chance(this.#faults.call)) return "sound";
    return random.pick(["slow", "slow", "lost", "answerLost", "late"] as const);
  }

  publish(events: readonly EventRecord[]): void {
    for (const broker of this.brokers) {
      const isLost = this.areFaultsOn && this.#faults.eventLoss > 0 && this.random.chance(this.#faults.eventLoss);
      if (!isLost) broker.deliver(events);
    }
  }
}

/** One life of a scheduler. */
export class OperatedProcess {
  readonly name: string;
  /** How far its clock is from the true one. */
  readonly offsetMs: number;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly onCrash: (() => void)[] = [];
  readonly #run: Simulation;
  isCrashed = false;
  isStopped = false;
  #standsUntil = 0;

  constructor(run: Simulation, name: string, offsetMs: number, wrap: (store: DataStore) => DataStore, seed: number) {
    this.#run = run;
    this.name = name;
    this.offsetMs = offsetMs;
    const { clock } = run;
    this.clock = {
      now: () => clock.now() + offsetMs,
      sleep: async (untilMs, signal) => {
        await clock.sleep(untilMs - offsetMs, signal);
        await this.whenAlive();
      },
      yield: async () => {
        await clock.yield();
        await this.whenAlive();
      },
    };
    this.scheduler = new Scheduler({
      dataStore: wrap(this.#storeOver(run)),
      eventBroker: new PartialBroker(run, this),
      executors: { inline: PLAIN_EXECUTOR },
      identity: name,
      leaseDuration: { milliseconds: run.world.leaseMs },
      maxIdle: { milliseconds: 4000 },
      cleanupInterval: { milliseconds: 8000 },
      clock: this.clock,
      random: new Random(seed).next,
      logger: { debug: () => {}, info: () => {}, warn: () => {}, error: (...args) => this.#failed(args) },
    });
  }

  crash(): void {
    this.#run.history.trace(this.name, "crashes");
    this.isCrashed = true;
    for (const tell of this.onCrash.splice(0)) tell();
  }

  /** Nothing of it goes on for so long. */
  standStill(ms: number): void {
    this.#run.history.trace(this.name, `stands still for ${ms} ms`);
    this.#standsUntil = this.#run.clock.now() + ms;
  }

  stop(): Promise<void> {
    this.isStopped = true;
    return this.scheduler.stop();
  }

  /** Never resolves once it has crashed. */
  async whenAlive(): Promise<void> {
    while (this.#standsUntil > this.#run.clock.now()) await this.#run.clock.sleep(this.#standsUntil);
    if (this.isCrashed) await new Promise<never>(() => {});
  }

  /** The store, and the ledger of it, with each call over the network. */
  #storeOver(run: Simulation): DataStore {
    const { ledger } = run.store;
    const over = <T extends object>(target: T, own: Partial<Record<string, unknown>> = {}): T =>
      new Proxy(target, {
        get: (_target, key) => {
          if (typeof key === "string" && key in own) return own[key];
          const value: unknown = Reflect.get(target, key, target);
          if (typeof value !== "function" || typeof key === "symbol") return value;
          return (...args: unknown[]) => run.call(this, key, args, () => Reflect.apply(value, target, args));
        },
      });
    const nothing = async (): Promise<void> => {};
    const own = { close: nothing, capabilities: { sharedByProcesses: true }, getDataVersion: undefined };
    return over(run.store, ledger === undefined || ledger === null ? own : { ...own, ledger: over(ledger) });
  }

  /** Nothing here is an error of the program but how jobs end, and what that pauses: outages are warnings. */
  #failed(args: readonly unknown[]): void {
    const text = String(args[0]);
    if (!text.startsWith("escapement: job ") && !/ was paused: \d+ failures? in a row$/.test(text)) {
      this.#run.history.violate(`${this.name} logged an error: ${args.join(" ")}`);
    }
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

/** Events between processes, some of which never arrive. */
class PartialBroker implements EventBroker {
  readonly #listeners = new Set<(event: EventRecord) => void>();
  readonly #run: Simulation;
  readonly #process: OperatedProcess;

  constructor(run: Simulation, process: OperatedProcess) {
    this.#run = run;
    this.#process = process;
  }

  async open(): Promise<void> {
    this.#run.brokers.add(this);
  }

  async publish(events: readonly EventRecord[]): Promise<void> {
    if (!this.#process.isCrashed) this.#run.publish(events);
  }

  deliver(events: readonly EventRecord[]): void {
    if (this.#process.isCrashed) return;
    for (const event of events) for (const listener of this.#listeners) listener(event);
  }

  subscribe(listener: (event: EventRecord) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#run.brokers.delete(this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Some of the operations. */
function drawActing(random: Random, operations: readonly Operation[]): readonly Operation[] {
  if (operations.length === 1) return operations;
  const drawn = Array.from({ length: random.pick([1, 2, 2, 3]) }, () => random.pick(operations));
  return [...new Set(drawn)];
}

function drawFaults(random: Random, skewMsMax: number): Faults {
  const isCalm = random.chance(0.1);
  return {
    call: isCalm ? 0 : random.pick([0, 0.05, 0.2]),
    deadlyCall: isCalm ? 0 : random.pick([0, 0.01]),
    crash: isCalm ? 0 : random.pick([0, 0.1, 0.3]),
    eventLoss: isCalm ? 0 : random.pick([0, 0.3]),
    skewMs: isCalm ? 0 : random.pick([0, 0, skewMsMax]),
  };
}

function drawSettings(random: Random): TaskSettings {
  const graceMs = random.pick([null, null, 700]);
  return {
    maxRunningJobs: random.pick([1, 2, null]),
    misfireGraceTime: graceMs === null ? null : { milliseconds: graceMs },
    maxRecoveries: 2,
    retry: { maxAttempts: random.pick([1, 2]), backoff: { initial: { milliseconds: 300 } } },
    ...(random.chance(0.2) ? { maxRunningPerKey: 1, concurrencyKey: () => "key" } : {}),
  };
}

function drawSchedule(random: Random, index: number): DrawnSchedule {
  return {
    // It has fired before, as far as the rule knows.
    trigger: new IntervalTrigger({
      milliseconds: random.pick([1200, 2500, 4000]),
      startTime: random.pick([START, BEFORE_START]),
    }),
    options: {
      id: `schedule${index}`,
      conflictPolicy: "update",
      coalesce: random.pick(["latest", "earliest", "all"] as const),
      overlap: random.pick(["queue", "skip", "replaceQueued", "cancelRunning"] as const),
      catchUp: random.pick([null, { maxAge: { milliseconds: 2000 } }]),
      // So large that a commit of a backfill has room for two jobs.
      ...(random.chance(0.05) ? { payload: LARGE } : {}),
      ...(random.chance(0.5) ? { labels: { team: index === 0 ? "a" : "b" } } : {}),
      ...(random.chance(0.4) ? { pauseAfterFailures: random.int(1, 3) } : {}),
      ...(random.chance(0.1) ? { expectStartWithin: { milliseconds: 500 } } : {}),
    },
  };
}
