import { instantOf } from "../../src/core/temporal.ts";
import { OUTAGE_PAUSE_MS_MAX, PREFERRED_WAIT_MS_MAX } from "../../src/scheduler/driving/limits.ts";
import { declarationText } from "../../src/scheduler/tasks/declared-settings.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { drawFlow } from "./flow.ts";
import { FlowWorkload } from "./flow-workload.ts";
import { drawLedger, LedgerWorkload } from "./ledger-workload.ts";
import { isReadByOld } from "./old-program.ts";
import { drawPool, type PoolForm } from "./pool.ts";
import { NEW_VERSION, type ProcessOptions, SimulatedProcess } from "./process.ts";
import { Random } from "./random.ts";
import { drawTasks, inPool, registerTasks, type SimulatedTask } from "./tasks.ts";
import { Workload } from "./workload.ts";
import { drawFaults, type Faults, World } from "./world.ts";

export interface SimulationOptions {
  readonly seed: number;
  /** Gets a line for everything that happens. */
  readonly trace?: (line: string) => void;
  /** The store that the processes share. Default: a new `MemoryDataStore`. */
  readonly makeStore?: () => DataStore;
  /** Whether all clocks are right: they neither differ nor jump. Default: the seed decides. */
  readonly areClocksRight?: boolean;
  /** Puts something between each scheduler and its store. */
  readonly wrapStore?: (store: DataStore) => DataStore;
}

export interface SimulationReport {
  readonly seed: number;
  /** Broken promises; the run ends soon after the first. */
  readonly violations: readonly string[];
  /** How often what happened. */
  readonly counts: ReadonlyMap<string, number>;
}

/** How long the faults last, and how long everything may take to come to rest afterwards. */
const FAULTY_MS = { min: 4000, max: 20_000 };
const HEALING_MS_MAX = 3_600_000;
const HEALING_STEP_MS = 5000;
/** How far a clock that is far from the true one is: more than stores put up with, and less than all has to heal in. */
const FAR_MS = 1_200_000;
/** In how many of the runs with flow control a clock goes that far and comes back. */
const FAR_SHARE = 0.5;

/** How many processes of the newer version say next to nothing of the tasks. */
const STUB_SHARE = 0.2;
/** Of how many times that something happens the books are compared with the ledger once. */
const TURNS_PER_BOOK_CHECK = 10;

/** One run: some processes on one store, first with faults, then without until nothing is left to do. The same seed
 *  gives the same run. */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const simulation = new Simulation(options);
  return simulation.run();
}

class Simulation {
  readonly #seed: number;
  readonly #world: World;
  readonly #random: Random;
  readonly #tasks: readonly SimulatedTask[];
  readonly #workload: Workload;
  /** Null in a run without flow control. */
  readonly #flowWorkload: FlowWorkload | null;
  /** Null in a run without. */
  readonly #ledgerWorkload: LedgerWorkload | null;
  readonly #slots: Slot[];
  readonly #pool: PoolForm | null;
  readonly #endMs: number;
  /** The place whose clock goes far from the true one and comes back; null in a run without. It runs jobs alone, and
   *  never crashes: a fire time that came too early, and a lease that ends too late, are no matter of rates. */
  readonly #farSlot: Slot | null;
  readonly #farRandom: Random;
  /** When nobody is there to run jobs, while somebody fires schedules; null in a run without. */
  readonly #away: Away | null;
  #turns = 0;
  readonly #wrapStore: (store: DataStore) => DataStore;

  constructor({ seed, trace, makeStore, areClocksRight = false, wrapStore }: SimulationOptions) {
    this.#seed = seed;
    const random = new Random(seed);
    this.#random = random;
    this.#wrapStore = wrapStore ?? ((store) => store);
    const ledger = drawLedger(seed);
    const store = makeStore?.() ?? new MemoryDataStore({ ledger: ledger?.limits ?? true });
    const faults = drawFaults(random.fork());
    const right = areClocksRight ? { jump: 0, skew: 0 } : {};
    this.#world = new World(store, { ...faults, ...right }, random.fork(), trace ?? null);
    const drawn = drawFlow(seed);
    const pool = drawPool(seed);
    this.#pool = pool?.form ?? null;
    this.#tasks = drawTasks(random.fork(), this.#world.isCalm, drawn?.flow ?? null).map((task, index) =>
      index < (pool?.taskCount ?? 0) ? inPool(task) : task,
    );
    for (const task of this.#tasks) this.#world.tasks.set(task.id, task.record);
    this.#endMs = this.#world.clock.now() + random.int(FAULTY_MS.min, FAULTY_MS.max);
    this.#workload = new Workload(this.#world, random.fork(), this.#tasks, this.#endMs + 4000, drawn !== null);
    const { flow, random: flowRandom } = drawn ?? {};
    this.#flowWorkload =
      flow === undefined || flowRandom === undefined
        ? null
        : new FlowWorkload(this.#world, flowRandom, this.#tasks, flow, this.#workload);
    this.#ledgerWorkload = ledger === null ? null : new LedgerWorkload(this.#world, ledger.random, this.#workload);
    const leaseMs = random.pick([3000, 9000, 30_000]);
    const wrongClocks = this.#world.isCalm || areClocksRight ? [] : drawWrongClocks(seed, leaseMs);
    this.#world.hasWrongClocks = wrongClocks.length > 0;
    const now = this.#world.clock.now();
    this.#away = this.#world.isCalm ? null : drawAway(seed, now, this.#endMs);
    const stubs = new Random(seed + 0x5354_5542);
    this.#slots = Array.from({ length: random.int(2, 4) }, (_, index) => {
      const slot = drawSlot(random, index, leaseMs, this.#world.faults);
      const stays = this.#away !== null && index === 1 ? ({ role: "scheduler", isTicker: false } as const) : {};
      const isStub = !slot.options.isOld && stubs.chance(STUB_SHARE);
      const options = { ...slot.options, ...stays, isStub };
      return { ...slot, options, skewMs: slot.skewMs + (wrongClocks[index] ?? 0) };
    });
    // From a source of its own, so that the other runs are as they would be if there were none.
    this.#farRandom = new Random(seed + 0x4641_5220);
    const goesFar = flow !== undefined && !this.#world.isCalm && !areClocksRight && this.#farRandom.chance(FAR_SHARE);
    this.#farSlot = (goesFar ? this.#slots.find(({ options: { role } }) => role === "worker") : undefined) ?? null;
    this.#world.hasFarClock = this.#farSlot !== null;
  }

  async run(): Promise<SimulationReport> {
    const { clock, history } = this.#world;
    await this.#deploy();
    for (const slot of this.#slots) this.#start(slot);
    while (clock.now() < this.#endMs && history.violations.length === 0) {
      await clock.advanceTo(instantOf(clock.now() + this.#random.int(1, 1000)));
      this.#checkPunctuality();
      if (++this.#turns % TURNS_PER_BOOK_CHECK === 0) await this.#checkBooks();
      this.#sendAway();
      this.#act();
      this.#moveFarClock();
    }
    if (history.violations.length === 0) await this.#heal();
    return { seed: this.#seed, violations: history.violations, counts: history.counts };
  }

  /** The newer version of the program has been there before. */
  async #deploy(): Promise<void> {
    const { clock, store } = this.#world;
    await store.open(clock.now());
    const declared = this.#tasks.map(({ record, settings }) => {
      const declaration = declarationText(record, new Set(Object.keys(settings)));
      return { ...record, declaration, version: NEW_VERSION };
    });
    await store.putTasks(declared);
  }

  #act(): void {
    const { faults } = this.#world;
    const slot = this.#random.pick(this.#slots);
    const { process } = slot;
    if (process === null || !process.isAlive) {
      if (!this.#isAway(slot)) this.#start(slot);
      return;
    }
    const kind = this.#random.weighted({
      act: 12,
      crash: faults.crash,
      freeze: faults.freeze,
      jump: faults.jump,
      stop: faults.stop,
    });
    if (slot === this.#farSlot) {
      // The fire times of a schedule that it adds or changes would begin in another time.
      if (this.#flowWorkload?.isDue() === true && !process.isStopping && !process.isStalled) {
        this.#flowWorkload.act(process);
      }
      return;
    }
    if (kind === "act") {
      // Calls that come together share a commit.
      for (let left = this.#random.pick([1, 1, 1, 4]); left > 0; left--) {
        if (!process.isStopping && !process.isStalled) this.#workload.act(process);
      }
      // Besides, so that nothing else comes less often.
      if (this.#flowWorkload?.isDue() === true && !process.isStopping && !process.isStalled) {
        this.#flowWorkload.act(process);
      }
      if (this.#ledgerWorkload?.isDue() === true && !process.isStopping && !process.isStalled) {
        this.#ledgerWorkload.act(process);
      }
    } else if (kind === "crash") process.crash();
    else if (kind === "freeze") process.freeze(this.#random.int(10, 2 * process.options.leaseMs));
    else if (kind === "jump") this.#jump(process, slot.skewMs);
    else if (!process.isStopping) void process.stop(this.#random.pick([0, 1000, 30_000]), this.#random.chance(0.5));
  }

  /** Whoever could run jobs goes. */
  #sendAway(): void {
    for (const slot of this.#slots) {
      if (slot.process?.isAlive !== true || !this.#isAway(slot)) continue;
      this.#world.history.count("workers away");
      slot.process.crash();
    }
  }

  #isAway(slot: Slot): boolean {
    const { role } = slot.options;
    const { fromMs = 0, untilMs = 0 } = this.#away ?? {};
    const now = this.#world.clock.now();
    return role !== "scheduler" && slot !== this.#farSlot && fromMs <= now && now < untilMs;
  }

  /** The ledger says what is true, whatever is under way. */
  async #checkBooks(): Promise<void> {
    const { books, changes, schedules, stats, store } = this.#world;
    const { ledger } = store;
    if (ledger == null) return;
    await this.#world.exclusively(async () => {
      await books.check(ledger, (id) => schedules.get(id));
      await changes.check(ledger);
      await stats.check(ledger);
    });
  }

  /** Nothing waits while there is somebody who could see to it, whatever was lost: no schedule that is due, whoever its
   *  preferred scheduler is, no job whose lease has ended, and no job that has missed its start, whatever it waits for. */
  #checkPunctuality(): void {
    const { clock, history, schedules, jobs, processes } = this.#world;
    const { missedSince } = jobs;
    const areClocksRight = processes.every(({ offsetMs }) => offsetMs === 0);
    for (const process of processes) {
      const { role, isTicker, maxIdleMs, isOld } = process.options;
      if (isTicker || process.offsetMs !== 0 || !process.isWorking) continue;
      const calmSince = process.lastTroubleMs + OUTAGE_PAUSE_MS_MAX;
      const isLate = (since: number | null): boolean =>
        since !== null && clock.now() - Math.max(since, calmSince) > maxIdleMs + PREFERRED_WAIT_MS_MAX;
      const dueSince = schedules.dueSince(isOld ? isReadByOld : () => true);
      if (role !== "worker" && isLate(dueSince)) {
        history.violate(`${process.name} leaves a schedule waiting that is due since ${dueSince}`);
      }
      const since = Math.max(process.startedAtMs, calmSince);
      const leaseEndsAt = jobs.leaseEndsAt(since, areClocksRight);
      if (role !== "scheduler" && isLate(leaseEndsAt)) {
        history.violate(`${process.name} leaves a job waiting whose lease ended at ${leaseEndsAt}`);
      }
      if (role !== "scheduler" && isLate(missedSince)) {
        history.violate(`${process.name} leaves a job waiting that missed its start at ${missedSince}`);
      }
    }
  }

  /** All clocks but one stay within a lease of the true one, or leases would mean nothing. */
  #jump(process: SimulatedProcess, skewMs: number): void {
    // Another process's clock that is ahead ends leases early: everybody has trouble.
    for (const { process: other } of this.#slots) other?.troubled();
    process.jump(this.#random.chance(0.5) ? skewMs - process.offsetMs : this.#random.int(-20_000, 20_000));
  }

  /** A clock goes far from the true one, or comes back. */
  #moveFarClock(): void {
    const random = this.#farRandom;
    const { process = null, skewMs = 0 } = this.#farSlot ?? {};
    if (process === null || !process.isWorking) return;
    const isAway = isFar(process);
    if (!random.chance(isAway ? 0.3 : 0.1)) return;
    this.#world.history.count("far clocks");
    for (const { process: other } of this.#slots) other?.troubled();
    process.jump(isAway ? skewMs - process.offsetMs : random.pick([FAR_MS, FAR_MS, -FAR_MS]));
  }

  #start(slot: Slot): void {
    const { process: before } = slot;
    const life = ++slot.lives;
    // An identity is given again only after its bearer is gone.
    const identity = slot.keepsIdentity ? `identity${slot.index}` : `identity${slot.index}.${life}`;
    const process = new SimulatedProcess(this.#world, {
      ...slot.options,
      name: `p${slot.index}.${life}`,
      identity,
      seed: this.#random.int(0, 2 ** 31),
      pool: this.#pool,
      wrapStore: this.#wrapStore,
    });
    process.offsetMs = before?.offsetMs ?? slot.skewMs;
    slot.process = process;
    this.#world.processes.push(process);
    registerTasks(this.#world, process, this.#tasks, this.#random.fork());
    void process.run();
    if (this.#world.faults.areOn && slot !== this.#farSlot) this.#workload.addStanding(process);
  }

  /** No faults from here on: what was promised has to come true. */
  async #heal(): Promise<void> {
    const { clock, history, faults, jobs, schedules, attempts, announcements, gates, store } = this.#world;
    history.trace("world", "heals");
    faults.areOn = false;
    for (const slot of this.#slots) {
      const { process } = slot;
      if (process !== null && process.offsetMs !== slot.skewMs) process.jump(slot.skewMs - process.offsetMs);
      if (process === null || !process.isAlive) this.#start(slot);
    }
    const restAt = clock.now() + HEALING_MS_MAX;
    while (clock.now() < restAt && history.violations.length === 0) {
      await clock.advanceTo(instantOf(clock.now() + HEALING_STEP_MS));
      for (const slot of this.#slots) if (slot.process?.isAlive !== true) this.#start(slot);
      this.#checkPunctuality();
      const [{ process }] = this.#slots as [Slot];
      if (process !== null && !process.isStopping) {
        this.#workload.resumeAll(process);
        this.#flowWorkload?.unpauseAll(process);
      }
      const isBusy = this.#world.processes.some((other) => other.isAlive && (other.isStalled || other.isStopping));
      if (this.#world.isAtRest() && !isBusy) break;
    }
    if (history.violations.length > 0) return;
    // Handlers that ignored their signals end, and lost outcomes come to nothing.
    await clock.advanceTo(instantOf(clock.now() + 2 * HEALING_STEP_MS));
    attempts.checkAtRest();
    announcements.checkAtRest();
    // A handler that ignored its signal may have ended its process meanwhile.
    const living = this.#slots.flatMap(({ process }) => (process?.isAlive === true ? [process] : []));
    const stops = living.map((process) => process.stop(0));
    await clock.advanceTo(instantOf(clock.now() + 2 * HEALING_STEP_MS));
    schedules.checkAtRest(clock.now());
    await schedules.checkRecords((id) => store.getSchedule(id));
    await this.#checkBooks();
    gates.checkPauses(await store.getTaskPauses());
    await jobs.checkAtRest((id) => store.getJobResult(id, clock.now()), clock.now());
    if (living.some(({ hasStopped }) => !hasStopped)) history.violate("a scheduler does not stop");
    else await Promise.all(stops);
    this.#workload.checkAtRest();
  }
}

/** How far the clocks of the places are ahead besides, in milliseconds: in some runs by more than a lease. It draws from
 *  a source of its own, so that the other runs are as they would be if there were none. */
function drawWrongClocks(seed: number, leaseMs: number): readonly number[] {
  const random = new Random(seed + 0x434c_4f43);
  if (!random.chance(0.2)) return [];
  return Array.from({ length: 4 }, (_, index) => (index === 0 ? 0 : random.pick([0, -1.5, 1.5, -3, 3]) * leaseMs));
}

/** From when until when workers are away. */
interface Away {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** In how many of the runs they are. */
const AWAY_SHARE = 0.25;

/** Draws from a source of its own, so that the other runs are as they would be if there were none. */
function drawAway(seed: number, now: number, endMs: number): Away | null {
  const random = new Random(seed + 0x4157_4159);
  if (!random.chance(AWAY_SHARE)) return null;
  const fromMs = random.int(now, endMs - 1000);
  return { fromMs, untilMs: random.int(fromMs, endMs) };
}

function isFar({ offsetMs }: SimulatedProcess): boolean {
  return Math.abs(offsetMs) > FAR_MS / 2;
}

/** A place where one process after the other lives. */
interface Slot {
  readonly index: number;
  readonly keepsIdentity: boolean;
  /** How far the clock there is from the true one, in milliseconds, whatever else happens to it. */
  readonly skewMs: number;
  readonly options: Omit<ProcessOptions, "name" | "identity" | "seed" | "pool" | "wrapStore">;
  process: SimulatedProcess | null;
  lives: number;
}

/** The first slot can do everything, so that everything can heal. */
function drawSlot(random: Random, index: number, leaseMs: number, { hasOldPrograms, skew }: Faults): Slot {
  return {
    index,
    keepsIdentity: random.chance(0.5),
    skewMs: index === 0 || skew === 0 ? 0 : random.int(-skew * leaseMs, skew * leaseMs),
    options: {
      role: index === 0 ? "both" : random.pick(["both", "scheduler", "worker"] as const),
      isTicker: index > 0 && random.chance(0.2),
      maxConcurrentJobs: random.pick([1, 2, 5, 100]),
      leaseMs,
      maxIdleMs: random.pick([1000, 5000]),
      cleanupMs: random.pick([null, 4000]),
      isStub: false,
      isOld: index > 0 && hasOldPrograms && random.chance(0.5),
    },
    process: null,
    lives: 0,
  };
}
