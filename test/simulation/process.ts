import type { EventBroker, Unsubscribe } from "../../src/brokers/event-broker.ts";
import type { Clock } from "../../src/core/clock.ts";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import type { Logger } from "../../src/core/logger.ts";
import type { JobExecutor } from "../../src/executors/job-executor.ts";
import { Scheduler } from "../../src/mod.ts";
import type { EventRecord } from "../../src/records/events.ts";
import type { SchedulerOptions } from "../../src/scheduler/options/scheduler-options.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { FaultyStore, RefusedError } from "./faulty-store.ts";
import type { Caller } from "./history.ts";
import { type PoolForm, SimulatedPool } from "./pool.ts";
import { Protocol } from "./protocol.ts";
import { Random } from "./random.ts";
import type { World } from "./world.ts";

/** What a simulated process is started with. */
export interface ProcessOptions {
  readonly name: string;
  readonly identity: string;
  readonly role: "both" | "scheduler" | "worker";
  /** Whether it ticks instead of running loops. */
  readonly isTicker: boolean;
  readonly maxConcurrentJobs: number;
  readonly leaseMs: number;
  readonly maxIdleMs: number;
  readonly cleanupMs: number | null;
  /** Whether it runs an older version of the program: without one of the tasks, with other settings, and with triggers
   *  that it cannot read. */
  readonly isOld: boolean;
  /** Whether it says of the tasks only one setting. */
  readonly isStub: boolean;
  readonly seed: number;
  /** The executor "pool"; null for a run without. */
  readonly pool: PoolForm | null;
  /** Puts something between the scheduler and its store: for mutations. */
  readonly wrapStore: (store: DataStore) => DataStore;
}

const TICK_MS = 700;

const OLD_VERSION = 1;
export const NEW_VERSION = 2;

/** Without `currentJob()`: following asynchronous calls doubles the price of every promise. */
const PLAIN_EXECUTOR: JobExecutor = {
  async open() {},
  async execute({ invoke }) {
    return invoke();
  },
  async close() {},
  async [Symbol.asyncDispose]() {},
};

/** One life of a scheduler, with a clock of its own that may be wrong, stand still, or never go on. */
export class SimulatedProcess implements Caller {
  readonly name: string;
  readonly identity: string;
  readonly options: ProcessOptions;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly protocol: Protocol;
  readonly pool: SimulatedPool | null;
  offsetMs = 0;
  lastTroubleMs = -1;
  lastBeatMs = Number.NEGATIVE_INFINITY;
  isBeatStale = false;
  setBackFrom = Number.NEGATIVE_INFINITY;
  #setBackWhileStillMs = Number.NEGATIVE_INFINITY;
  readonly startedAtMs: number;
  isCrashed = false;
  isStopping = false;
  /** The true time at which its scheduler was told to stop; null before. */
  stoppingSinceMs: number | null = null;
  hasStopped = false;
  #frozenUntilMs = 0;
  #ticking: Promise<void> = Promise.resolve();
  readonly #world: World;

  constructor(world: World, options: ProcessOptions) {
    this.#world = world;
    this.options = options;
    this.startedAtMs = world.clock.now();
    this.name = options.name;
    this.identity = options.identity;
    this.clock = {
      now: () => world.clock.now() + this.offsetMs,
      sleep: (untilMs, signal) => this.#sleep(untilMs, signal),
      yield: async () => {
        await world.clock.yield();
        if (this.isStalled) await this.whenRunning();
      },
    };
    this.protocol = new Protocol(world.history, this, options.isTicker);
    const { pool } = options;
    this.pool = pool === null ? null : new SimulatedPool(pool, this.clock, this.name, world.history);
    const settings: SchedulerOptions = {
      dataStore: options.wrapStore(new FaultyStore(world, this)),
      eventBroker: new FaultyBroker(world, this),
      executors: { inline: PLAIN_EXECUTOR, ...(this.pool === null ? {} : { pool: this.pool }) },
      role: options.role,
      identity: options.identity,
      maxConcurrentJobs: options.maxConcurrentJobs,
      leaseDuration: { milliseconds: options.leaseMs },
      maxIdle: { milliseconds: options.maxIdleMs },
      version: options.isOld ? OLD_VERSION : NEW_VERSION,
      cleanupInterval: options.cleanupMs === null ? null : { milliseconds: options.cleanupMs },
      clock: this.clock,
      random: new Random(options.seed).next,
      logger: this.#logger(),
    };
    this.scheduler = new Scheduler(settings);
  }

  get isAlive(): boolean {
    return !this.isCrashed && !this.hasStopped;
  }

  get leaseMs(): number {
    return this.options.leaseMs;
  }

  get isResident(): boolean {
    return !this.options.isTicker;
  }

  get mayBePreferred(): boolean {
    return this.isResident && this.options.role === "both";
  }

  /** Whether it has started, and goes on. */
  get isWorking(): boolean {
    return this.isAlive && !this.isStalled && !this.isStopping && this.scheduler.state === "started";
  }

  get isStalled(): boolean {
    return this.isCrashed || this.#frozenUntilMs > this.#world.clock.now();
  }

  /** Resolves while it runs; never once it has crashed. */
  async whenRunning(): Promise<void> {
    const { clock } = this.#world;
    while (!this.isCrashed && this.#frozenUntilMs > clock.now()) await clock.sleep(this.#frozenUntilMs);
    if (this.isCrashed) await new Promise<never>(() => {});
  }

  /** Something goes wrong for it, from now on for so long. */
  troubled(forMs = 0): void {
    this.lastTroubleMs = Math.max(this.lastTroubleMs, this.#world.clock.now() + forMs);
  }

  crash(): void {
    this.#world.history.trace(this.name, "crashes");
    this.isCrashed = true;
  }

  freeze(forMs: number): void {
    this.#world.history.trace(this.name, `stands still for ${forMs} ms`);
    this.#frozenUntilMs = Math.max(this.#frozenUntilMs, this.#world.clock.now() + forMs);
    this.troubled(forMs);
  }

  jump(byMs: number): void {
    this.#world.history.trace(this.name, `its clock jumps by ${byMs} ms`);
    if (byMs < 0) this.setBackFrom = this.clock.now();
    this.offsetMs += byMs;
    if (byMs < 0 && this.#frozenUntilMs > this.#world.clock.now()) this.#setBackWhileStillMs = this.#frozenUntilMs;
    this.troubled();
  }

  /** A heartbeat took effect. @param at when it was sent, by the clock here */
  onBeat(at: number): void {
    const nowMs = this.#world.clock.now();
    this.isBeatStale = nowMs - (this.clock.now() - at) < this.lastBeatMs;
    this.lastBeatMs = nowMs;
  }

  get hasHiddenStandstill(): boolean {
    return this.lastBeatMs < this.#setBackWhileStillMs;
  }

  /** Runs until it crashes or is stopped. */
  async run(): Promise<void> {
    const { role, isTicker, maxConcurrentJobs } = this.options;
    const how = `${role}, ${isTicker ? "ticks" : "loops"}, ${maxConcurrentJobs} jobs`;
    this.#world.history.trace(this.name, `starts as ${this.identity} (${how})`);
    if (this.options.isTicker) {
      this.#ticking = this.#tick();
      return this.#ticking;
    }
    while (!this.isStopping) {
      try {
        return await this.scheduler.start();
      } catch {
        await this.clock.sleep(this.clock.now() + TICK_MS);
      }
    }
  }

  /** @param isAbrupt whether it stops in the middle of a tick, too */
  async stop(drainMs: number, isAbrupt = false): Promise<void> {
    const { history } = this.#world;
    history.trace(this.name, "stops");
    this.isStopping = true;
    if (!isAbrupt) await this.#ticking;
    this.stoppingSinceMs = this.#world.clock.now();
    await this.scheduler.stop({ drainTimeout: { milliseconds: drainMs } });
    await this.#ticking;
    this.hasStopped = true;
    history.trace(this.name, "has stopped");
    const left = this.#world.jobs.leasesOf(this);
    if (left > 0 && !this.options.isTicker) {
      history.violate(`${this.name} stopped and kept ${left} leases`);
    }
  }

  async #tick(): Promise<void> {
    while (!this.isStopping) {
      await this.clock.sleep(this.clock.now() + TICK_MS);
      if (this.isStopping) return;
      try {
        await this.scheduler.tick();
      } catch (error) {
        this.#world.history.trace(this.name, `tick failed: ${error}`);
        if (!(error instanceof StoreUnavailableError))
          this.#world.history.violate(`${this.name}: a tick failed: ${error}`);
      }
    }
  }

  /** As `systemClock` does: a timer counts elapsed time, and whoever wakes too early sleeps on. */
  async #sleep(untilMs: number, signal?: AbortSignal): Promise<void> {
    const { clock } = this.#world;
    let lastMs = Number.NEGATIVE_INFINITY;
    while (signal?.aborted !== true) {
      const nowMs = this.clock.now();
      const leftMs = untilMs - nowMs;
      if (leftMs <= 0 || nowMs < lastMs) break;
      lastMs = nowMs;
      await clock.sleep(clock.now() + leftMs, signal);
    }
    if (this.isStalled) await this.whenRunning();
  }

  #logger(): Logger {
    const { history } = this.#world;
    if (!history.isTraced)
      return { debug: () => {}, info: () => {}, warn: () => {}, error: (...args) => this.#failed(args) };
    return {
      debug: () => {},
      info: () => {},
      warn: (...args) => history.trace(this.name, `log: ${args.join(" ")}`),
      error: (...args) => this.#failed(args),
    };
  }

  /** Nothing in a simulation is an error of the program but what the store refuses and how jobs end: outages are
   *  warnings. */
  #failed(args: readonly unknown[]): void {
    if (String(args[0]).startsWith("escapement: job ")) return;
    if (args.some((arg) => arg instanceof RefusedError)) return;
    this.#world.history.violate(`${this.name} logged an error: ${args.join(" ")}`);
  }
}

/** Events between processes, some of which never arrive. */
class FaultyBroker implements EventBroker {
  readonly #listeners = new Set<(event: EventRecord) => void>();
  readonly #world: World;
  readonly #process: SimulatedProcess;

  constructor(world: World, process: SimulatedProcess) {
    this.#world = world;
    this.#process = process;
    world.brokers.add(this);
  }

  async open(): Promise<void> {}

  async publish(events: readonly EventRecord[]): Promise<void> {
    const { faults, random, brokers } = this.#world;
    if (this.#process.isCrashed) return;
    this.#world.announcements.onPublish(this.#process, events);
    if (faults.areOn && faults.eventLoss > 0 && random.chance(faults.eventLoss / 10))
      throw new Error("the broker is down");
    for (const broker of brokers) {
      const isLost = faults.areOn && faults.eventLoss > 0 && random.chance(faults.eventLoss);
      if (!isLost) broker.deliver(events);
    }
  }

  deliver(events: readonly EventRecord[]): void {
    if (this.#process.isStalled) return;
    for (const event of events) for (const listener of this.#listeners) listener(event);
  }

  subscribe(listener: (event: EventRecord) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#world.brokers.delete(this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
