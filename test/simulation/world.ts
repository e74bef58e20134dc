import type { EventRecord } from "../../src/records/events.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import type { DataStore, TaskChange, TaskPut } from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { Announcements } from "./announcements.ts";
import { Attempts } from "./attempts.ts";
import { BookModel } from "./book-model.ts";
import { ChangeModel } from "./change-model.ts";
import { GateModel } from "./gate-model.ts";
import { History } from "./history.ts";
import { JobModel } from "./job-model.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import { ScheduleModel } from "./schedule-model.ts";
import { StatsModel } from "./stats-model.ts";
import { TriggerTable } from "./trigger-table.ts";

/** How much goes wrong. Probabilities are of one call, event or action. */
export interface Faults {
  /** False once everything heals. */
  areOn: boolean;
  readonly callTrouble: number;
  /** Of the troubled calls, the others are slow only. */
  readonly callFailure: number;
  readonly callDelayMsMax: number;
  readonly eventLoss: number;
  /** Relative weights of what happens to processes. */
  readonly crash: number;
  readonly freeze: number;
  readonly jump: number;
  readonly stop: number;
  /** How far clocks may be from the true one for good, as a part of the duration of leases. */
  readonly skew: number;
  /** Whether some processes run an older version of the program. */
  readonly hasOldPrograms: boolean;
}

/** What all simulated processes share: the true time, the store, what is known about it, and the faults. */
export class World {
  readonly clock = new VirtualClock();
  readonly history: History;
  readonly attempts: Attempts;
  readonly tasks = new Map<string, TaskRecord>();
  readonly gates: GateModel;
  readonly books: BookModel;
  readonly changes: ChangeModel;
  readonly stats: StatsModel;
  readonly jobs: JobModel;
  readonly schedules: ScheduleModel;
  readonly announcements: Announcements;
  readonly processes: SimulatedProcess[] = [];
  /** Where events arrive. */
  readonly brokers = new Set<{ deliver(events: readonly EventRecord[]): void }>();
  readonly store: DataStore;
  readonly faults: Faults;
  readonly random: Random;
  /** Whether clocks are ahead or behind for good, by more than a lease. */
  hasWrongClocks = false;
  /** Whether a clock goes far from the true one and comes back. */
  hasFarClock = false;
  /** How many calls that their callers have given up are still to take effect. */
  lateCalls = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: DataStore, faults: Faults, random: Random, trace: ((line: string) => void) | null) {
    this.store = store;
    this.faults = faults;
    this.random = random;
    this.history = new History(this.clock, trace);
    this.attempts = new Attempts(this.history);
    this.gates = new GateModel(this.history, this.tasks);
    const triggers = new TriggerTable();
    this.books = new BookModel(this.history, triggers);
    this.changes = new ChangeModel(this.history);
    this.stats = new StatsModel(this.history);
    this.jobs = new JobModel(this.history, this.attempts, this.tasks, this.gates, this);
    this.schedules = new ScheduleModel(this.history, this.jobs, { books: this.books, changes: this.changes, triggers });
    this.announcements = new Announcements(this.history, this.jobs);
  }

  /** Whether nothing at all goes wrong in this run. */
  get isCalm(): boolean {
    const { callTrouble, eventLoss, crash, freeze, jump, stop, skew } = this.faults;
    return callTrouble + eventLoss + crash + freeze + jump + stop + skew === 0;
  }

  /** Tasks were put. */
  onTasks(tasks: readonly TaskPut[], changes: readonly TaskChange[]): void {
    this.jobs.beforeLimits();
    tasks.forEach(({ replaces: _, ...task }, index) => {
      if (changes[index] !== "added" && changes[index] !== "updated") return;
      const known = this.tasks.get(task.id);
      // Edits change other settings, and all programs of the newer version declare these alike, or not at all.
      const isChanged = known !== undefined && DECLARED_ALIKE.some((name) => isOther(known[name], task[name]));
      if (task.declaration !== undefined && isChanged) {
        this.history.violate(
          `a declaration changed task ${task.id} from ${JSON.stringify(known)} to ${JSON.stringify(task)}`,
        );
      }
      if (JSON.stringify(known?.rateLimit) !== JSON.stringify(task.rateLimit)) this.gates.onRateChanged(task.id);
      this.tasks.set(task.id, task);
    });
  }

  /** Lets calls take effect one after the other, each together with what the models make of its answer. A store that
   *  answers all calls after the same number of promises needs no such help. */
  exclusively<T>(effect: () => Promise<T>): Promise<T> {
    if (this.store instanceof MemoryDataStore) return effect();
    const mine = this.#last.then(effect);
    this.#last = mine.catch(() => {});
    return mine;
  }

  isAtRest(): boolean {
    return this.lateCalls === 0 && this.jobs.unfinished.size === 0 && this.schedules.isAtRest();
  }
}

const DECLARED_ALIKE = ["executor", "maxRunningJobs", "timeoutMs", "retry", "misfireGraceMs", "maxRecoveries"] as const;

function isOther(known: unknown, given: unknown): boolean {
  return JSON.stringify(known) !== JSON.stringify(given);
}

/** Which faults a seed gets. */
export function drawFaults(random: Random): Faults {
  const none: Faults = {
    areOn: true,
    callTrouble: 0,
    callFailure: 0,
    callDelayMsMax: 0,
    eventLoss: 0,
    crash: 0,
    freeze: 0,
    jump: 0,
    stop: 0,
    skew: 0,
    hasOldPrograms: false,
  };
  const kind = random.int(1, 10);
  if (kind === 1) return none;
  const troubles = drawTroubles(random, kind, none);
  return { ...troubles, hasOldPrograms: random.chance(0.4), skew: random.pick([0, 0, 0.2]) };
}

function drawTroubles(random: Random, kind: number, none: Faults): Faults {
  const network = {
    callTrouble: random.pick([0.02, 0.1, 0.3]),
    callFailure: random.pick([0.3, 0.8]),
    callDelayMsMax: random.pick([20, 500, 5000]),
    eventLoss: random.pick([0, 0.2, 1]),
  };
  if (kind <= 3) return { ...none, ...network };
  if (kind <= 5) return { ...none, crash: 4, stop: 2, eventLoss: random.pick([0, 0.2]) };
  if (kind <= 6) return { ...none, freeze: 3, jump: random.pick([0, 3]) };
  return { ...none, ...network, crash: 2, freeze: 1, stop: 1, jump: random.pick([0, 1]) };
}
