import { systemClock } from "../../core/clock.ts";
import { leveledLogger } from "../../core/leveled-logger.ts";
import type { Logger } from "../../core/logger.ts";
import { Scheduler } from "../../scheduler/scheduler.ts";
import { Alarm } from "./alarm.ts";
import { AlarmedStore } from "./alarmed-store.ts";
import { type AttachOptions, type CheckedAttachOptions, checkAttaching } from "./attach-options.ts";
import { RemoteVerbs } from "./remote-verbs.ts";
import type { ObjectContext } from "./shapes.ts";

/** Every run of the object has this name, so that it takes up what the run before has left. Nobody else has leases in
 *  the object's storage. */
const IDENTITY = "durable-object";

/** How long the object counts as alive after it was asked, in milliseconds. */
const ALIVE_MS = 30_000;

/** Nothing was leased under this name: all leases are of earlier runs. */
const BEGINNING = "beginning";

/** A scheduler in a Durable Object, see {@link attachScheduler}. */
export interface AttachedScheduler {
  /** The scheduler itself, for the methods of the object. Each change of it sets the alarm before it resolves. Do not
   *  start it: `alarm` does its ticks. */
  readonly scheduler: Scheduler;
  /** The same for callers of the object: what these verbs take and return survives a remote call. */
  readonly remote: RemoteVerbs;
  /** Resolves when the object has begun. No request and no alarm reaches the object before that. */
  readonly ready: Promise<void>;
  /**
   * Does what is due, and sets the alarm to when something is due next, or deletes it. Call it in the object's
   * `alarm()`. What comes due while jobs run is started too, within the first half of `maxDuration`. Calls are done one
   * after the other. A tick that fails is told to the logger, and done again within 30 s;
   * the call does not reject, because the platform gives up an alarm that fails seven times.
   */
  alarm(): Promise<void>;
  /** Sets the alarm to when something is due, or deletes it. Only needed after a transaction of the object's own that
   *  added a job, see `prepareJob`. */
  rearm(): Promise<void>;
}

/**
 * Puts a scheduler into a Durable Object: its data is in the object's storage, and the object's alarm wakes it. Call
 * this in the constructor of the object, and have the object's `alarm()` call the answer's. An object has one alarm,
 * which belongs to the scheduler from then on.
 *
 * Whenever the object begins, it brings its tables up to date, calls `configure`, puts jobs that an earlier run of the
 * object did not end back into the queue, and sets the alarm where it is missing, lost or later than due. All this is
 * done before a request or an alarm reaches the object.
 * @param ctx the context that the object's constructor gets
 * @param configure registers the tasks, and may declare schedules. When it rejects, the object cannot begin: requests
 *   fail, and if something is planned it is tried again every 30 s
 * @throws {OptionsError} for wrong arguments, and for unknown or invalid options
 * @example
 * export class Room extends DurableObject {
 *   readonly #jobs = attachScheduler(this.ctx, (scheduler) => {
 *     scheduler.task("remind", (payload) => console.log(payload));
 *   });
 *
 *   async remind(text: string) {
 *     await this.#jobs.scheduler.addJob("remind", { payload: text, runAt: new Date(Date.now() + 60_000) });
 *   }
 *
 *   override alarm() {
 *     return this.#jobs.alarm();
 *   }
 * }
 */
export function attachScheduler(
  ctx: ObjectContext,
  configure: (scheduler: Scheduler) => unknown,
  options: AttachOptions = {},
): AttachedScheduler {
  return new Attached(ctx, configure, checkAttaching(ctx, configure, options));
}

class Attached implements AttachedScheduler {
  readonly scheduler: Scheduler;
  readonly remote: RemoteVerbs;
  readonly ready: Promise<void>;
  readonly #storage: ObjectContext["storage"];
  readonly #store: AlarmedStore;
  readonly #alarm: Alarm;
  readonly #logger: Logger;
  readonly #tick: CheckedAttachOptions["tick"];
  #state: "beginning" | "waiting" | "ticking" = "beginning";
  /** Counts what may have altered when something is due. */
  #changes = 0;
  #setting: Promise<void> | null = null;
  /** Whether the alarm is to be set anew; and to what, where that is known. */
  #wanted: { readonly dueAt: number | null | undefined } | null = null;
  /** Settles when the ticks that were asked for are done; never rejects. */
  #lastTick: Promise<void> = Promise.resolve();

  constructor(ctx: ObjectContext, configure: (scheduler: Scheduler) => unknown, options: CheckedAttachOptions) {
    const { scheduler, store, tick } = options;
    this.#storage = ctx.storage;
    const facts = { identity: IDENTITY, instanceId: IDENTITY, role: "both", isResident: false } as const;
    const executors = ["inline", ...Object.keys(scheduler.executors ?? {})];
    this.#store = new AlarmedStore(
      ctx.storage,
      store,
      () => this.#changed(),
      // Nobody asks until when it is alive, because an alarm starts it when something is due.
      (now) => ({ ...facts, tasks: [], executors, aliveUntil: now + ALIVE_MS }),
    );
    this.scheduler = new Scheduler({ ...scheduler, dataStore: this.#store, identity: IDENTITY });
    this.remote = new RemoteVerbs(this.scheduler);
    this.#alarm = new Alarm(ctx.storage);
    this.#logger = leveledLogger(scheduler.logger, scheduler.logLevel);
    this.#tick = tick;
    this.ready = ctx.blockConcurrencyWhile(() => this.#begin(configure));
    // The platform tells of a failure: to whoever asks the object for something.
    this.ready.catch(() => {});
  }

  async alarm(): Promise<void> {
    // Even while it waits for its turn, because this alarm is gone.
    await this.#alarm.guard();
    const tick = this.#lastTick.then(() => this.#runTick());
    this.#lastTick = tick.catch(() => {});
    await tick;
  }

  rearm(): Promise<void> {
    return this.#changed();
  }

  async #begin(configure: (scheduler: Scheduler) => unknown): Promise<void> {
    // The constructor of the object ends first, because `configure` may be a method that uses its fields.
    await Promise.resolve();
    try {
      await configure(this.scheduler);
      await this.#alarm.restore(await this.#takeUp());
      this.#state = "waiting";
    } catch (error) {
      this.#logger.error("escapement: the object could not begin", error);
      await this.#alarm.tryAgain(await this.#nextDueAt().catch(() => null));
      // The object is about to end.
      await this.#storage.sync();
      throw error;
    }
  }

  /** Gives up the leases of earlier runs of the object. Returns when something is due. */
  async #takeUp(): Promise<number | null> {
    const dueAt = await this.#nextDueAt();
    // A lease ends at some time, and then it is due.
    if (dueAt === null) return null;
    const now = systemClock.now();
    const jobs = { queues: [], limit: 0 };
    const { leaseEndsAt } = await this.#store.look({ now, schedulerId: IDENTITY, jobs, schedules: null, tasks: null });
    if (leaseEndsAt === null) return dueAt;
    const surrender = { now, schedulerId: IDENTITY, instanceId: BEGINNING, aliveUntil: null, isAlone: true };
    const { recovered, ended } = await this.#store.giveUpLeases(surrender);
    for (const { jobId, taskId, attempt } of recovered) {
      this.#logger.warn(
        `escapement: job ${jobId} of task "${taskId}" was lost in attempt ${attempt}, with an earlier run of the ` +
          "object; it runs again",
      );
    }
    for (const { jobId, taskId, outcome } of ended) {
      this.#logger.error(`escapement: job ${jobId} of task "${taskId}" was lost, and ended as ${outcome}`);
    }
    return this.#nextDueAt();
  }

  async #nextDueAt(): Promise<number | null> {
    return (await this.scheduler.nextWakeAt())?.epochMilliseconds ?? null;
  }

  async #runTick(): Promise<void> {
    this.#state = "ticking";
    let changesBefore: number;
    let nextWakeAtMs: number | null;
    try {
      // What sets the alarm at present would move the guard.
      await this.#setting?.catch(() => {});
      await this.#alarm.guard();
      changesBefore = this.#changes;
      ({ nextWakeAtMs } = await this.scheduler.tick({ ...this.#tick, stay: "whileRunning" }));
    } catch (error) {
      this.#logger.error("escapement: the tick of an alarm failed; tried again within 30 s", error);
      return;
    } finally {
      this.#state = "waiting";
    }
    // The tick may not have seen what was changed meanwhile.
    await this.#set(this.#changes === changesBefore ? nextWakeAtMs : undefined);
  }

  /** The alarm that guards a tick comes soon enough for what is changed meanwhile, and the end of the tick sets it. */
  async #changed(): Promise<void> {
    this.#changes++;
    if (this.#state === "waiting") await this.#set(undefined);
  }

  /** Sets the alarm. Calls that overlap share the work: the last to ask decides. @param dueAt undefined to look */
  #set(dueAt: number | null | undefined): Promise<void> {
    this.#wanted = { dueAt };
    this.#setting ??= this.#setAsWanted();
    return this.#setting;
  }

  async #setAsWanted(): Promise<void> {
    try {
      for (let wanted = this.#wanted; wanted !== null; wanted = this.#wanted) {
        this.#wanted = null;
        await this.#setOnce(wanted.dueAt);
      }
    } finally {
      this.#wanted = null;
      this.#setting = null;
    }
  }

  async #setOnce(known: number | null | undefined): Promise<void> {
    const dueAt = known === undefined ? await this.#nextDueAt() : known;
    // A tick sets the alarm at its end.
    if (this.#state !== "ticking") await this.#alarm.set(dueAt);
  }
}
