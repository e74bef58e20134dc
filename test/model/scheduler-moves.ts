import { Kind } from "./explore.ts";
import { isValid, planOf } from "./plan.ts";
import { NOBODY, type Stage } from "./stage.ts";
import { hasDeadLease } from "./store.ts";
import {
  at,
  Hold,
  JOBS,
  JobState,
  type Message,
  MessageKind,
  NO_PLAN,
  nextCommit,
  noMessage,
  Phase,
  type Scheduler,
  Truth,
  type World,
} from "./world.ts";

/** What a scheduler may do in a state: look, plan, commit, repeat, extend its leases, crash and start again. */
export class SchedulerMoves {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Emits its moves from a state. */
  from(world: World, by: number): void {
    const scheduler = at(world.schedulers, by);
    const now = world.time + scheduler.skew;
    const canStray = world.faults > 0 && world.time <= this.#stage.settings.chanceUntil;
    switch (scheduler.phase) {
      case Phase.down: {
        // It may stay dead while others live: they must manage without it.
        const isAlone = world.schedulers.every(({ phase }) => phase === Phase.down);
        this.#stage.move(isAlone ? Kind.work : Kind.chance, "starts", by, (next) => start(next, by));
        return;
      }
      case Phase.starting:
        this.#stage.move(Kind.work, "gives up old leases", by, (next) => {
          this.#stage.store.surrender(next, by, at(next.schedulers, by).firstCommit);
          at(next.schedulers, by).phase = Phase.idle;
        });
        if (world.jobs.some((job) => job.state === JobState.leased && job.by === by)) {
          // For a while nobody can tell a run that has died from one that lives.
          this.#stage.move(Kind.work, "leaves its old leases, whose run seems alive", by, (next) => {
            at(next.schedulers, by).phase = Phase.idle;
          });
        }
        if (canStray) {
          this.#stage.move(Kind.chance, "loses: give up old leases", by, (next) => {
            const { firstCommit } = at(next.schedulers, by);
            stray(next, { ...noMessage(), kind: MessageKind.surrender, by, firstCommit });
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
        this.#stage.move(Kind.work, "gets the answer", by, (next) => this.#receive(next, by));
        break;
      default:
        scheduler.phase satisfies never;
    }
    this.#extends(world, by, now, canStray);
    if (world.time > this.#stage.settings.chanceUntil) return;
    if (world.crashes > 0) this.#stage.move(Kind.chance, "crashes", by, (next) => crash(next, by));
    if (world.jumps > 0 && scheduler.skew > -1) {
      this.#stage.move(Kind.chance, "'s clock is set back", by, (next) => {
        at(next.schedulers, by).skew = -1;
        next.jumps--;
      });
    }
  }

  #looks({ schedule, schedulers, time }: World, by: number, now: number): void {
    const { exists, isPaused, nextFireTime, leasedUntil, preferredScheduler } = schedule;
    const dueBy = this.#stage.settings.looksAhead ? now + 1 : now;
    if (!exists || isPaused || nextFireTime === 0 || nextFireTime > dueBy || leasedUntil > now) return;
    const isTurnOfPreferred = this.#stage.settings.rules.preferredScheduler === "forEver" || time <= nextFireTime;
    const isAlive = preferredScheduler !== NOBODY && at(schedulers, preferredScheduler).phase !== Phase.down;
    const isLeft = preferredScheduler !== NOBODY && preferredScheduler !== by && isTurnOfPreferred;
    if (isLeft && (isAlive || this.#stage.settings.rules.preferredScheduler === "forEver")) return;
    this.#stage.move(Kind.work, "looks and plans", by, (next) => {
      const { fence, lastFireTime } = next.schedule;
      const asOf = Math.max(now, nextFireTime);
      const scheduler = at(next.schedulers, by);
      scheduler.phase = Phase.planned;
      scheduler.plan = {
        fence,
        expected: nextFireTime,
        last: lastFireTime,
        asOf: Math.min(asOf, this.#stage.settings.fires),
        version: next.changes,
      };
    });
  }

  /** A commit with the plan or without one, with the jobs that have ended or not yet, with or without recovery. */
  #steps(world: World, by: number, now: number, canStray: boolean): void {
    const { plan, holds, phase } = at(world.schedulers, by);
    const isDead = hasDeadLease(world, now);
    const isHolding = holds.some((hold) => hold !== Hold.none);
    const recovers = isDead && this.#stage.settings.rules.recovers;
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
    const { capacity, maxRunningJobs, runsJobs, rules } = this.#stage.settings;
    if (!runsJobs || countHeld(at(schedulers, by)) >= capacity) return false;
    let live = 0;
    let ready = 0;
    for (const { state, until } of jobs) {
      if (state === JobState.ready) ready++;
      else if (state === JobState.leased && (until > now || !rules.acquiresBesideDead)) live++;
    }
    return ready > 0 && (maxRunningJobs === null || live < maxRunningJobs);
  }

  #sends(send: Send, canStray: boolean, kind: Kind = Kind.work): void {
    const { by, now } = send;
    const name = nameOf(send);
    this.#stage.move(kind, `commits${name}`, by, (next) => {
      if (this.#prepare(next, send)) this.#execute(next, by, now, true, send.recovers);
    });
    if (canStray) {
      this.#stage.move(Kind.chance, `loses: commit${name}`, by, (next) => {
        if (!this.#prepare(next, send)) return;
        stray(next, this.#tryOf(next, by, now, send.recovers));
      });
    }
  }

  /** Makes the commit that is then tried; false when its plan has to be made anew, and cannot be sent again. */
  #prepare(world: World, { by, now, hasPlan, releases }: Send): boolean {
    const scheduler = at(world.schedulers, by);
    if (hasPlan && !isValid(this.#stage.settings, planOf(this.#stage.settings, scheduler.plan), now)) {
      scheduler.plan = { ...scheduler.plan, asOf: Math.min(now, this.#stage.settings.fires) };
      if (!isValid(this.#stage.settings, planOf(this.#stage.settings, scheduler.plan), now)) return false;
    }
    if (!hasPlan) scheduler.plan = NO_PLAN;
    scheduler.commit = nextCommit(world, by);
    if (releases) {
      scheduler.releases = scheduler.holds.map((hold, index) => (hold === Hold.none ? 0 : at(scheduler.fences, index)));
    }
    scheduler.phase = Phase.unknown;
    scheduler.truth = Truth.notCommitted;
    return true;
  }

  #tryOf({ schedulers }: World, by: number, now: number, recovers: boolean): Message {
    const { commit, plan, releases, holds } = at(schedulers, by);
    const running = holds.filter((hold, index) => hold !== Hold.none && at(releases, index) === 0).length;
    const limit = this.#stage.settings.runsJobs ? this.#stage.settings.capacity - running : 0;
    return {
      kind: MessageKind.commit,
      by,
      commit,
      firstCommit: commit,
      plan,
      fences: releases.slice(),
      recovers,
      limit: Math.max(0, limit),
      now,
    };
  }

  #execute(world: World, by: number, now: number, isFirst: boolean, recovers: boolean): void {
    const request = this.#tryOf(world, by, now, recovers);
    this.#stage.store.commit(world, request, isFirst);
    const scheduler = at(world.schedulers, by);
    const { commit, plan, truth } = scheduler;
    if (plan.expected !== 0) {
      const isCommitted = this.#stage.store.confirms(world, by, commit, plan);
      if (isCommitted && truth === Truth.notCommitted)
        this.#stage.store.flaw ??= "a plan was told to be committed, and was not";
      if (!isCommitted && truth === Truth.committed)
        this.#stage.store.flaw ??= "a plan was told not to be committed, and was";
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
      if (job.state !== JobState.leased || job.by !== by || job.commit !== commit) continue;
      scheduler.holds[index] = Hold.granted;
      scheduler.fences[index] = job.fence;
    }
    // Nothing can come between unless leases are extended.
    if (!this.#stage.settings.runsJobs) this.#receive(world, by);
  }

  #receive(world: World, by: number): void {
    const scheduler = at(world.schedulers, by);
    scheduler.phase = Phase.idle;
    scheduler.commit = 0;
    scheduler.releases.fill(0);
    for (let index = 0; index < JOBS; index++) {
      if (scheduler.holds[index] === Hold.granted) scheduler.holds[index] = Hold.held;
      else if (scheduler.holds[index] === Hold.grantedAndLost) scheduler.holds[index] = Hold.lost;
    }
  }

  #repeats(by: number, now: number, canStray: boolean): void {
    const { keepsCommitId } = this.#stage.settings.rules;
    const renew = (next: World): void => {
      if (!keepsCommitId) at(next.schedulers, by).commit = nextCommit(next, by);
    };
    this.#stage.move(Kind.work, "repeats its commit", by, (next) => {
      renew(next);
      this.#execute(next, by, now, false, hasDeadLease(next, now) && this.#stage.settings.rules.recovers);
    });
    if (canStray) {
      this.#stage.move(Kind.chance, "loses: repeat its commit", by, (next) => {
        renew(next);
        stray(next, this.#tryOf(next, by, now, false));
      });
    }
  }

  #extends(world: World, by: number, now: number, canStray: boolean): void {
    if (!this.#stage.settings.runsJobs) return;
    const { firstCommit, holds } = at(world.schedulers, by);
    const isOurs = (index: number): boolean => {
      const job = at(world.jobs, index);
      return job.state === JobState.leased && job.by === by && job.commit >= firstCommit;
    };
    const hasOrphan = holds.some((hold, index) => hold === Hold.none && isOurs(index));
    const hasLease = holds.some((hold) => hold !== Hold.none);
    // Later, work comes to its end without.
    if (!hasOrphan && !(hasLease && world.time <= this.#stage.settings.chanceUntil)) return;
    this.#stage.move(Kind.upkeep, "extends its leases", by, (next) => {
      const request = this.#extensionOf(next, by, now);
      const lost = this.#stage.store.extend(next, request);
      const scheduler = at(next.schedulers, by);
      for (let index = 0; index < JOBS; index++) {
        if (!lost[index] || at(scheduler.releases, index) !== 0) continue;
        scheduler.holds[index] = Hold.none;
        scheduler.fences[index] = 0;
      }
      if (isOrphaned(next, by))
        this.#stage.store.flaw ??= "an orphaned lease is left after its holder has extended its leases";
    });
    if (canStray) {
      this.#stage.move(Kind.chance, "loses: extend its leases", by, (next) => {
        stray(next, { ...noMessage(), ...this.#extensionOf(next, by, now), kind: MessageKind.extension });
      });
    }
  }

  #extensionOf(
    world: World,
    by: number,
    now: number,
  ): Pick<Message, "by" | "now" | "firstCommit" | "commit" | "fences"> {
    const { orphans, namesReleases } = this.#stage.settings.rules;
    const { firstCommit, commit, holds, fences, releases } = at(world.schedulers, by);
    // A scheduler does not know of what was granted until it has the answer.
    const known = fences.map((fence, index) => {
      const isKnown = holds[index] === Hold.held || holds[index] === Hold.lost;
      return isKnown && (namesReleases || releases[index] === 0) ? fence : 0;
    });
    const pending = commit > 0 || orphans !== "settled" ? commit : nextCommit(world, by);
    return { by, now, firstCommit, commit: pending, fences: known };
  }
}

interface Send {
  readonly by: number;
  readonly now: number;
  readonly hasPlan: boolean;
  readonly releases: boolean;
  readonly recovers: boolean;
}

function countHeld({ holds }: Scheduler): number {
  let count = 0;
  for (const hold of holds) if (hold !== Hold.none) count++;
  return count;
}

function nameOf({ hasPlan, releases, recovers }: Send): string {
  return (hasPlan ? ", plan" : "") + (releases ? ", releases" : "") + (recovers ? ", recovery" : "");
}

function start(world: World, by: number): void {
  const scheduler = at(world.schedulers, by);
  scheduler.firstCommit = nextCommit(world, by);
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
  scheduler.commit = 0;
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

/** Whether a lease of this instance runs nowhere and is not of the commit under way. */
function isOrphaned({ jobs, schedulers }: World, by: number): boolean {
  const { firstCommit, commit, holds } = at(schedulers, by);
  return jobs.some(
    (job, index) =>
      job.state === JobState.leased &&
      job.by === by &&
      job.commit >= firstCommit &&
      job.commit !== commit &&
      holds[index] === Hold.none,
  );
}
