import { instantOf } from "../../src/core/temporal.ts";
import type { Scheduler } from "../../src/mod.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import type { JobOptions } from "../../src/scheduler/options/options.ts";
import { drawKey, drawLimits, type Flow, recordOf } from "./flow.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { SimulatedTask } from "./tasks.ts";
import type { World } from "./world.ts";

/** What the users of flow control need of all others. */
export interface Users {
  attempt(process: SimulatedProcess, what: string, action: (scheduler: Scheduler) => Promise<unknown>): void;
  /** A call that resolved has added its job. */
  added(id: string): void;
  /** Some jobs that were added lately. */
  lastJobIds(): readonly string[];
}

/** What the users of flow control do, besides what others do. */
export class FlowWorkload {
  readonly #world: World;
  readonly #random: Random;
  readonly #tasks: readonly SimulatedTask[];
  readonly #flow: Flow;
  readonly #users: Users;

  constructor(world: World, random: Random, tasks: readonly SimulatedTask[], flow: Flow, users: Users) {
    this.#world = world;
    this.#random = random;
    this.#tasks = tasks;
    this.#flow = flow;
    this.#users = users;
  }

  /** Whether somebody does something now. */
  isDue(): boolean {
    return this.#random.chance(0.5);
  }

  act(process: SimulatedProcess): void {
    const { hasPauses, hasWindows, hasChains, changesLimits } = this.#flow;
    const kind = this.#random.weighted({
      burst: 3,
      pause: hasPauses ? 2 : 0,
      window: hasWindows ? 4 : 0,
      chain: hasChains ? 4 : 0,
      limits: changesLimits ? 1 : 0,
    });
    if (kind === "burst") this.#addBurst(process);
    else if (kind === "pause") this.#pause(process);
    else if (kind === "window") this.#addInWindow(process);
    else if (kind === "chain") this.#chain(process);
    else this.#changeLimits();
  }

  /** Everything that is paused goes on. */
  unpauseAll(process: SimulatedProcess): void {
    for (const { taskId, key } of this.#world.gates.pauses) {
      this.#users.attempt(process, "unpauseTask", (scheduler) => scheduler.unpauseTask(taskId, optionsOf(key)));
    }
  }

  /** Many jobs of one task at once, most of one key. */
  #addBurst(process: SimulatedProcess): void {
    const task = this.#taskId();
    const concurrencyKey = this.#random.chance(0.5) ? drawKey(this.#random) : null;
    const list = Array.from({ length: this.#random.int(2, 12) }, () => ({
      task,
      ...this.#jobOptions(),
      ...(concurrencyKey !== null && this.#random.chance(0.8) ? { concurrencyKey } : {}),
    }));
    this.#users.attempt(process, "addJobs", async (scheduler) => {
      for (const { id } of await scheduler.addJobs(list)) this.#users.added(id);
    });
  }

  #pause(process: SimulatedProcess): void {
    const taskId = this.#taskId();
    const options = optionsOf(this.#random.chance(0.5) ? drawKey(this.#random) : null);
    const ends = this.#random.chance(0.6);
    this.#users.attempt(process, ends ? "unpauseTask" : "pauseTask", (scheduler) =>
      ends ? scheduler.unpauseTask(taskId, options) : scheduler.pauseTask(taskId, options),
    );
  }

  #addInWindow(process: SimulatedProcess): void {
    const random = this.#random;
    const kind = random.pick(["debounce", "throttle", "uniqueFor"] as const);
    const forMs = random.pick([300, 2000]);
    // So all windows of a key are of one length, and who adds at the end of one knows when that is.
    const key = `${kind} for ${forMs}`;
    const duration = { milliseconds: forMs };
    const taskId = this.#taskId();
    const options = (): JobOptions => {
      const { runAt: _, ...others } = this.#jobOptions();
      const parents = this.#flow.hasChains && random.chance(0.2) ? this.#users.lastJobIds().slice(-1) : [];
      // A burst has no parents.
      const plain = kind === "debounce" ? others : { ...others, ...afterAll(parents, "run") };
      if (kind === "throttle") return { ...plain, throttle: { key, per: duration } };
      if (kind === "uniqueFor") return { ...plain, idempotencyKey: key, uniqueFor: duration };
      const maxWait = random.chance(0.5) ? { maxWait: { milliseconds: 2 * forMs } } : {};
      return { ...plain, debounce: { key, wait: duration, ...maxWait } };
    };
    const count = random.int(1, 6);
    const { clock } = process;
    const pauses = Array.from({ length: count }, () => random.pick([0, forMs / 2, forMs, "end" as const]));
    const burst = Array.from({ length: count }, options);
    this.#users.attempt(process, `addJob in ${key}`, async (scheduler) => {
      for (const [index, job] of burst.entries()) {
        const { id, createdAt } = await scheduler.addJob(taskId, job);
        this.#users.added(id);
        const pause = pauses[index] ?? 0;
        // A host whose clock is ahead may have added it.
        if (pause === "end") await clock.sleep(Math.min(createdAt.epochMilliseconds, clock.now()) + forMs);
        else if (pause > 0) await clock.sleep(clock.now() + pause);
      }
    });
  }

  #chain(process: SimulatedProcess): void {
    const random = this.#random;
    const onParentFailure = random.pick(["cancel", "cancel", "run"] as const);
    const parents = this.#users.lastJobIds();
    const kind = random.pick(["after", "after", "line", "fan"] as const);
    const tasks = Array.from({ length: 4 }, () => this.#taskId());
    const jobs = tasks.map((task) => ({ task, ...this.#jobOptions() }));
    const [first, second, third, last] = jobs as [NewJob, NewJob, NewJob, NewJob];
    if (kind === "after") {
      const known = parents.filter(() => random.chance(0.5));
      const after = random.chance(0.05) ? ["nobody"] : known;
      const { task, ...options } = first;
      this.#users.attempt(process, "addJob after others", async (scheduler) => {
        this.#users.added((await scheduler.addJob(task, { ...options, ...afterAll(after, onParentFailure) })).id);
      });
    } else if (kind === "line") {
      this.#users.attempt(process, "addJob one after the other", async (scheduler) => {
        let after: string[] = [];
        for (const { task, ...options } of jobs) {
          const { id } = await scheduler.addJob(task, { ...options, ...afterAll(after, onParentFailure) });
          this.#users.added(id);
          after = [id];
        }
      });
    } else {
      this.#users.attempt(process, "addBatch", async (scheduler) => {
        // biome-ignore lint/suspicious/noThenProperty: that is how the option is called
        const { then } = await scheduler.addBatch([first, second, third], { then: { ...last, onParentFailure } });
        this.#users.added(then.id);
      });
    }
  }

  /** Somebody edits a task, at once and for all. */
  #changeLimits(): void {
    const task = this.#random.pick(this.#tasks);
    const stored = this.#world.tasks.get(task.id);
    if (stored === undefined) return;
    const { declaration: _, version: __, ...settings } = stored;
    const { maxRunningPerKey: ___, rateLimit: ____, fair: _____, ...others } = settings;
    const edited: TaskRecord = { ...others, ...recordOf(drawLimits(this.#random)) };
    this.#world.history.trace("store", `task ${task.id} gets ${JSON.stringify(edited)}`);
    void this.#world.store.putTasks([edited]).then((changes) => this.#world.onTasks([edited], changes));
  }

  #jobOptions(): JobOptions {
    const random = this.#random;
    const now = this.#world.clock.now();
    return {
      payload: random.int(0, 1000),
      priority: random.pick([0, 0, 0, 0, 5]),
      ...(random.chance(0.2) ? { runAt: instantOf(now + random.int(-2000, 5000)) } : {}),
      ...(random.chance(0.15) ? { startDeadline: instantOf(now + random.int(0, 5000)) } : {}),
    };
  }

  #taskId(): string {
    return this.#random.pick(this.#tasks).id;
  }
}

function afterAll(after: readonly string[], onParentFailure: "cancel" | "run"): JobOptions {
  return after.length === 0 ? {} : { after, onParentFailure };
}

type NewJob = JobOptions & { readonly task: string };

function optionsOf(key: string | null): { key?: string } {
  return key === null ? {} : { key };
}
