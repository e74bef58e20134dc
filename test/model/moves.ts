import { Kind } from "./explore.ts";
import { isValid, planOf } from "./plan.ts";
import type { Settings } from "./settings.ts";
import { hasDeadLease, Store } from "./store.ts";
import {
  at,
  Fate,
  Hold,
  JOBS,
  JobState,
  LEASE,
  type Message,
  MessageKind,
  NO_PLAN,
  nextStep,
  noMessage,
  Phase,
  type Scheduler,
  Truth,
  type World,
} from "./world.ts";

/** Where the moves of one state go. */
export interface Outlet {
  /** The state, each time a new copy. */
  fresh(): World;
  /** Takes a move to a state. */
  readonly emit: (kind: Kind, name: string, by: number, flaw: string | null, world: World) => void;
}

const NOBODY = -1;

/** Everything that may happen in a state. */
export class Moves {
  readonly #settings: Settings;
  readonly #store: Store;
  #outlet: Outlet;

  constructor(settings: Settings, outlet: Outlet) {
    this.#settings = settings;
    this.#store = new Store(settings);
    this.#outlet = outlet;
  }

  /** Emits all moves from a state. */
  from(world: World): void {
    for (let by = 0; by < world.schedulers.length; by++) this.#ofScheduler(world, by);
    this.#ofClient(world);
    this.#ofOlder(world);
    this.#ofMessages(world);
    this.#ofTime(world);
  }

  #move(kind: Kind, name: string, by: number, change: (world: World) => void): void {
    const world = this.#outlet.fresh();
    const { exists, fence } = world.schedule;
    this.#store.flaw = null;
    change(world);
    if (exists && world.schedule.fence < fence) this.#store.flaw = "a fence went back";
    this.#outlet.emit(kind, name, by, this.#store.flaw ?? findFlaw(world, this.#settings), world);
  }

  // ---- schedulers

  #ofScheduler(world: World, by: number): void {
    const scheduler = at(world.schedulers, by);
    const now = world.time + scheduler.skew;
    const canStray = world.faults > 0 && world.time <= this.#settings.chanceUntil;
    switch (scheduler.phase) {
      case Phase.down: {
        // It may stay dead while others live: they must manage without it.
        const isAlone = world.schedulers.every(({ phase }) => phase === Phase.down);
        this.#move(isAlone ? Kind.work : Kind.chance, "starts", by, (next) => start(next, by));
        return;
      }
      case Phase.starting:
        this.#move(Kind.work, "gives up old leases", by, (next) => {
          this.#store.surrender(next, by, at(next.schedulers, by).firstStep);
          at(next.schedulers, by).phase = Phase.idle;
        });
        if (canStray) {
          this.#move(Kind.chance, "loses: give up old leases", by, (next) => {
            const { firstStep } = at(next.schedulers, by);
            stray(next, { ...noMessage(), kind: MessageKind.surrender, by, firstStep });
          });
        }
        return;
      case Phase.idle:
        this.#looks(world, by, now);
        this.#steps(world, by, now, canStray);
        break;
      case Phase.planned:
        this.#steps(world, by, now, canStray);
        break;
      case Phase.unknown:
        this.#repeats(by, now, canStray);
        break;
      case Phase.answered:
        this.#move(Kind.work, "gets the answer", by, (next) => this.#receive(next, by));
        break;
      default:
        scheduler.phase satisfies never;
    }
    this.#extends(world, by, now, canStray);
    if (world.time > this.#settings.chanceUntil) return;
    if (world.crashes > 0) this.#move(Kind.chance, "crashes", by, (next) => crash(next, by));
    if (world.jumps > 0 && scheduler.skew > -1) {
      this.#move(Kind.chance, "'s clock is set back", by, (next) => {
        at(next.schedulers, by).skew = -1;
        next.jumps--;
      });
    }
  }

  #looks({ schedule, schedulers, time }: World, by: number, now: number): void {
    const { exists, isPaused, nextFireTime, leasedUntil, favourite } = schedule;
    const dueBy = this.#settings.looksAhead ? now + 1 : now;
    if (!exists || isPaused || nextFireTime === 0 || nextFireTime > dueBy || leasedUntil > now) return;
    const isFavouritesTurn = this.#settings.rules.favourite === "forEver" || time <= nextFireTime;
    const isAlive = favourite !== NOBODY && at(schedulers, favourite).phase !== Phase.down;
    const isLeft = favourite !== NOBODY && favourite !== by && isFavouritesTurn;
    if (isLeft && (isAlive || this.#settings.rules.favourite === "forEver")) return;
    this.#move(Kind.work, "looks and plans", by, (next) => {
      const { fence, lastFireTime } = next.schedule;
      const asOf = Math.max(now, nextFireTime);
      const scheduler = at(next.schedulers, by);
      scheduler.phase = Phase.planned;
      scheduler.plan = {
        fence,
        expected: nextFireTime,
        last: lastFireTime,
        asOf: Math.min(asOf, this.#settings.fires),
        version: next.changes,
      };
    });
  }

  /** A step with the plan or without one, with the jobs that have ended or not yet, with or without recovery. */
  #steps(world: World, by: number, now: number, canStray: boolean): void {
    const { plan, holds, phase } = at(world.schedulers, by);
    const isDead = hasDeadLease(world, now);
    const isHolding = holds.some((hold) => hold !== Hold.none);
    const recovers = isDead && this.#settings.rules.recovers;
    const canAcquire = this.#canAcquire(world, by, now);
    for (const releases of isHolding ? [true, false] : [false]) {
      if (phase === Phase.planned && plan.expected <= now) {
        this.#sends({ by, now, hasPlan: true, releases, recovers }, canStray);
        // It does not know yet that a lease has ended.
        if (recovers) this.#sends({ by, now, hasPlan: true, releases, recovers: false }, canStray, Kind.chance);
      }
      if (!releases && !canAcquire && !recovers) continue;
      this.#sends({ by, now, hasPlan: false, releases, recovers }, canStray);
      if (recovers && (releases || canAcquire)) {
        this.#sends({ by, now, hasPlan: false, releases, recovers: false }, canStray, Kind.chance);
      }
    }
  }

  #canAcquire({ jobs, schedulers }: World, by: number, now: number): boolean {
    const { holds } = at(schedulers, by);
    const { capacity, maxRunningJobs, runsJobs, rules } = this.#settings;
    if (!runsJobs || holds.filter((hold) => hold !== Hold.none).length >= capacity) return false;
    const leased = jobs.filter(({ state }) => state === JobState.leased);
    const live = rules.acquiresBesideDead ? leased.filter(({ until }) => until > now) : leased;
    const isFull = maxRunningJobs !== null && live.length >= maxRunningJobs;
    return jobs.some(({ state }) => state === JobState.ready) && !isFull;
  }

  #sends(send: Send, canStray: boolean, kind: Kind = Kind.work): void {
    const { by, now } = send;
    const name = nameOf(send);
    this.#move(kind, `steps${name}`, by, (next) => {
      if (this.#prepare(next, send)) this.#execute(next, by, now, true, send.recovers);
    });
    if (canStray) {
      this.#move(Kind.chance, `loses: step${name}`, by, (next) => {
        if (!this.#prepare(next, send)) return;
        stray(next, this.#tryOf(next, by, now, send.recovers));
      });
    }
  }

  /** Makes the step that is then tried; false when its plan has to be made anew, and cannot be sent again. */
  #prepare(world: World, { by, now, hasPlan, releases }: Send): boolean {
    const scheduler = at(world.schedulers, by);
    if (hasPlan && !isValid(this.#settings, planOf(this.#settings, scheduler.plan), now)) {
      scheduler.plan = { ...scheduler.plan, asOf: Math.min(now, this.#settings.fires) };
      if (!isValid(this.#settings, planOf(this.#settings, scheduler.plan), now)) return false;
    }
    if (!hasPlan) scheduler.plan = NO_PLAN;
    scheduler.step = nextStep(world, by);
    if (releases) {
      scheduler.releases = scheduler.holds.map((hold, index) => (hold === Hold.none ? 0 : at(scheduler.fences, index)));
    }
    scheduler.phase = Phase.unknown;
    scheduler.truth = Truth.notCommitted;
    return true;
  }

  #tryOf({ schedulers }: World, by: number, now: number, recovers: boolean): Message {
    const { step, firstStep, plan, releases, holds } = at(schedulers, by);
    const running = holds.filter((hold, index) => hold !== Hold.none && at(releases, index) === 0).length;
    const limit = this.#settings.runsJobs ? this.#settings.capacity - running : 0;
    return {
      kind: MessageKind.step,
      by,
      step,
      firstStep,
      plan,
      fences: releases.slice(),
      recovers,
      limit: Math.max(0, limit),
      now,
    };
  }

  #execute(world: World, by: number, now: number, isFirst: boolean, recovers: boolean): void {
    const request = this.#tryOf(world, by, now, recovers);
    this.#store.step(world, { ...request, releases: request.fences, isFirst });
    const scheduler = at(world.schedulers, by);
    const { step, plan, truth } = scheduler;
    if (plan.expected !== 0) {
      const isCommitted = this.#store.confirms(world, by, step, plan);
      if (isCommitted && truth === Truth.notCommitted)
        this.#store.flaw ??= "a plan was told to be committed, and was not";
      if (!isCommitted && truth === Truth.committed)
        this.#store.flaw ??= "a plan was told not to be committed, and was";
    }
    scheduler.truth = Truth.notCommitted;
    scheduler.plan = NO_PLAN;
    for (let index = 0; index < JOBS; index++) {
      if (at(scheduler.releases, index) === 0) continue;
      scheduler.holds[index] = Hold.none;
      scheduler.fences[index] = 0;
    }
    scheduler.phase = Phase.answered;
    for (let index = 0; index < JOBS; index++) {
      const job = at(world.jobs, index);
      if (job.state !== JobState.leased || job.by !== by || job.step !== step) continue;
      scheduler.holds[index] = Hold.granted;
      scheduler.fences[index] = job.fence;
    }
    // Nothing can come between unless leases are extended.
    if (!this.#settings.runsJobs) this.#receive(world, by);
  }

  #receive(world: World, by: number): void {
    const scheduler = at(world.schedulers, by);
    scheduler.phase = Phase.idle;
    scheduler.step = 0;
    scheduler.releases.fill(0);
    for (let index = 0; index < JOBS; index++) {
      if (scheduler.holds[index] === Hold.granted) scheduler.holds[index] = Hold.held;
      else if (scheduler.holds[index] === Hold.grantedAndLost) scheduler.holds[index] = Hold.lost;
    }
  }

  #repeats(by: number, now: number, canStray: boolean): void {
    const { keepsStepId } = this.#settings.rules;
    const renew = (next: World): void => {
      if (!keepsStepId) at(next.schedulers, by).step = nextStep(next, by);
    };
    this.#move(Kind.work, "repeats its step", by, (next) => {
      renew(next);
      this.#execute(next, by, now, false, hasDeadLease(next, now) && this.#settings.rules.recovers);
    });
    if (canStray) {
      this.#move(Kind.chance, "loses: repeat its step", by, (next) => {
        renew(next);
        stray(next, this.#tryOf(next, by, now, false));
      });
    }
  }

  #extends(world: World, by: number, now: number, canStray: boolean): void {
    if (!this.#settings.runsJobs) return;
    const { firstStep, holds } = at(world.schedulers, by);
    const isOurs = (index: number): boolean => {
      const job = at(world.jobs, index);
      return job.state === JobState.leased && job.by === by && job.step >= firstStep;
    };
    const hasOrphan = holds.some((hold, index) => hold === Hold.none && isOurs(index));
    const hasLease = holds.some((hold) => hold !== Hold.none);
    // Later, work comes to its end without.
    if (!hasOrphan && !(hasLease && world.time <= this.#settings.chanceUntil)) return;
    this.#move(Kind.upkeep, "extends its leases", by, (next) => {
      const request = this.#extensionOf(next, by, now);
      const lost = this.#store.extend(next, request);
      const scheduler = at(next.schedulers, by);
      for (let index = 0; index < JOBS; index++) {
        if (!lost[index] || at(scheduler.releases, index) !== 0) continue;
        scheduler.holds[index] = Hold.none;
        scheduler.fences[index] = 0;
      }
      if (isOrphaned(next, by))
        this.#store.flaw ??= "an orphaned lease is left after its holder has extended its leases";
    });
    if (canStray) {
      this.#move(Kind.chance, "loses: extend its leases", by, (next) => {
        stray(next, { ...noMessage(), ...this.#extensionOf(next, by, now), kind: MessageKind.extension });
      });
    }
  }

  #extensionOf(world: World, by: number, now: number): Pick<Message, "by" | "now" | "firstStep" | "step" | "fences"> {
    const { orphans, namesReleases } = this.#settings.rules;
    const { firstStep, step, holds, fences, releases } = at(world.schedulers, by);
    // A scheduler does not know of what was granted until it has the answer.
    const known = fences.map((fence, index) => {
      const isKnown = holds[index] === Hold.held || holds[index] === Hold.lost;
      return isKnown && (namesReleases || releases[index] === 0) ? fence : 0;
    });
    const pending = step > 0 || orphans !== "settled" ? step : nextStep(world, by);
    return { by, now, firstStep, step: pending, fences: known };
  }

  // ---- the client and an older version

  #ofClient(world: World): void {
    const { schedule, changes, pause, time, faults } = world;
    if (pause.isUnknown) {
      this.#move(Kind.work, "the client repeats its pause", NOBODY, (next) => this.#repeatPause(next));
      return;
    }
    if (time > this.#settings.chanceUntil) return;
    const change = (name: string, apply: (next: World) => void, cost = 1): void => {
      if (changes < cost) return;
      this.#move(Kind.chance, name, NOBODY, (next) => {
        next.changes -= cost;
        apply(next);
      });
    };
    // Adding again and unpausing need a removal or a pause before, which has been counted.
    if (!schedule.exists) {
      if (this.#settings.fires > 0) change("added again", (next) => this.#store.add(next), 0);
      return;
    }
    if (schedule.isPaused) {
      change("unpaused", (next) => this.#store.unpause(next, 0), 0);
      if (schedule.nextFireTime > 0 && schedule.nextFireTime < time) {
        change("unpaused from now on", (next) => this.#store.unpause(next, time), 0);
      }
    } else if (changes > 0) {
      change("paused", (next) => this.#store.pause(next));
      if (faults > 0) {
        for (const wasCommitted of [true, false]) {
          const apply = (next: World): void => {
            next.faults--;
            next.pause = { isUnknown: true, fence: next.schedule.fence, wasCommitted };
            if (wasCommitted) this.#store.pause(next);
          };
          change(`pause ${wasCommitted ? "committed" : "lost"} without an answer`, apply, wasCommitted ? 1 : 0);
        }
      }
    }
    change("updated", (next) => this.#store.update(next));
    change("replaced by the same rule", (next) => this.#store.replace(next, 0));
    change("replaced by a rule that begins at 1", (next) => this.#store.replace(next, 1));
    change("removed", (next) => this.#store.remove(next));
  }

  #repeatPause(world: World): void {
    const { schedule, pause } = world;
    const isSent = this.#settings.rules.repeatedPause === "pauses" || schedule.fence === pause.fence;
    // Otherwise it finds the fence one higher, and takes that for its own doing.
    if (isSent) {
      this.#store.pause(world);
      if (!pause.wasCommitted) world.changes--;
    } else if (schedule.fence === pause.fence + 1 && !schedule.isPaused) {
      this.#store.flaw = "a pause was told to have happened, and has not";
    }
    world.pause = { isUnknown: false, fence: 0, wasCommitted: false };
  }

  #ofOlder(world: World): void {
    const { older, schedule, hasOlder, time } = world;
    if (older.isAtWork) {
      this.#move(Kind.work, "the older version commits", NOBODY, (next) => this.#store.commitOlder(next));
      if (world.crashes > 0) {
        this.#move(Kind.chance, "the older version crashes", NOBODY, (next) => {
          next.crashes--;
          next.older = { isAtWork: false, fence: 0, fireTime: 0 };
        });
      }
    }
    const { exists, isPaused, nextFireTime, lastFireTime } = schedule;
    const isDue = exists && !isPaused && nextFireTime > 0 && nextFireTime <= time;
    if (
      !hasOlder ||
      !isDue ||
      nextFireTime <= lastFireTime ||
      schedule.leasedUntil > time ||
      time > this.#settings.chanceUntil
    )
      return;
    this.#move(Kind.chance, "the older version leases", NOBODY, (next) => {
      next.hasOlder = false;
      next.schedule.fence++;
      next.schedule.leasedUntil = time + LEASE;
      next.schedule.stampBy = -1;
      next.schedule.stampStep = 0;
      next.older = { isAtWork: true, fence: next.schedule.fence, fireTime: Math.min(time, this.#settings.fires) };
    });
  }

  // ---- the network and time

  #ofMessages({ messages }: World): void {
    for (const [index, message] of messages.entries()) {
      if (message.kind === MessageKind.none) continue;
      const { by, firstStep } = message;
      this.#move(Kind.late, `'s lost ${nameOfMessage(message)} arrives`, by, (next) => {
        const [arrived] = next.messages.splice(index, 1, noMessage());
        if (arrived === undefined) return;
        if (message.kind === MessageKind.surrender) this.#store.surrender(next, by, firstStep);
        else if (message.kind === MessageKind.extension) this.#store.extend(next, arrived);
        else this.#store.step(next, { ...arrived, releases: arrived.fences, isFirst: false });
      });
    }
  }

  #ofTime({ time, jobs, schedule }: World): void {
    const { chanceUntil } = this.#settings;
    // The last lease ends now, for a clock that is 1 behind.
    const timeMax = chanceUntil + 1 + LEASE + 1;
    const isWaiting = jobs.some(({ state }) => state === JobState.leased) || schedule.leasedUntil > time - 1;
    if (time < chanceUntil || (isWaiting && time < timeMax)) {
      this.#move(Kind.time, "time passes", NOBODY, (next) => {
        next.time++;
      });
    }
  }
}

interface Send {
  readonly by: number;
  readonly now: number;
  readonly hasPlan: boolean;
  readonly releases: boolean;
  readonly recovers: boolean;
}

function nameOf({ hasPlan, releases, recovers }: Send): string {
  return (hasPlan ? ", plan" : "") + (releases ? ", releases" : "") + (recovers ? ", recovery" : "");
}

function nameOfMessage({ kind }: Message): string {
  return kind === MessageKind.step ? "step" : kind === MessageKind.extension ? "extension" : "surrender";
}

function start(world: World, by: number): void {
  const scheduler = at(world.schedulers, by);
  scheduler.firstStep = nextStep(world, by);
  scheduler.phase = Phase.starting;
}

function crash(world: World, by: number): void {
  world.crashes--;
  const scheduler = at(world.schedulers, by);
  scheduler.phase = Phase.down;
  forget(scheduler);
  scheduler.holds.fill(Hold.none);
  scheduler.fences.fill(0);
}

function forget(scheduler: Scheduler): void {
  scheduler.step = 0;
  scheduler.plan = NO_PLAN;
  scheduler.releases.fill(0);
  scheduler.truth = Truth.notCommitted;
}

/** A request goes astray: it may arrive at any time, or never. */
function stray(world: World, message: Message): void {
  world.faults--;
  const free = world.messages.findIndex(({ kind }) => kind === MessageKind.none);
  if (free < 0) throw new RangeError("no room for another lost message");
  world.messages[free] = message;
}

/** Whether a lease of this incarnation runs nowhere and is not of the step under way. */
function isOrphaned({ jobs, schedulers }: World, by: number): boolean {
  const { firstStep, step, holds } = at(schedulers, by);
  return jobs.some(
    (job, index) =>
      job.state === JobState.leased &&
      job.by === by &&
      job.step >= firstStep &&
      job.step !== step &&
      holds[index] === Hold.none,
  );
}

/** What is wrong with a state, or null. */
function findFlaw({ schedule, jobs, schedulers, time }: World, settings: Settings): string | null {
  const processed = schedule.nextFireTime === 0 ? settings.fires + 1 : schedule.nextFireTime;
  if (schedule.exists) {
    for (let fire = 1; fire < processed; fire++) {
      if (schedule.fates[fire - 1] === Fate.open) return "the schedule moved on without its job";
    }
  }
  const live = jobs.filter(({ state, until }) => state === JobState.leased && until > time).length;
  if (settings.maxRunningJobs !== null && live > settings.maxRunningJobs) return "more jobs than maxRunningJobs run";
  for (const { holds, fences, releases } of schedulers) {
    let held = 0;
    for (let index = 0; index < JOBS; index++) {
      const hold = holds[index];
      if (hold === Hold.none) continue;
      held++;
      const { state, fence } = at(jobs, index);
      const isEnded = state === JobState.done && fence === fences[index];
      if (hold === Hold.held && isEnded && releases[index] === 0) return "a job was ended by another while it ran";
    }
    if (held > settings.capacity) return "a scheduler got more jobs than it asked for";
  }
  return null;
}
