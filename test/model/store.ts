import { nextFire, planOf } from "./plan.ts";
import type { Settings } from "./settings.ts";
import {
  at,
  Fate,
  FENCES_PER_LIFE,
  Hold,
  JOBS,
  JobState,
  LEASE,
  type Message,
  Phase,
  type Plan,
  Truth,
  type World,
} from "./world.ts";

/** The rows and what the store does with them, as `src/stores/data-store.ts` has it. Every method is one commit, and
 *  notes in `flaw` what must never happen. */
export class Store {
  flaw: string | null = null;
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** One commit: releases, recovery, plan, acquisition. */
  commit(world: World, request: Message, isFirst: boolean): void {
    this.#release(world, request);
    if (request.recovers) this.#recover(world, request.now);
    if (request.plan.expected !== 0) this.#commit(world, request, isFirst);
    this.#acquire(world, request);
  }

  /** What the commit's answer says of its plan. */
  confirms({ schedule }: World, by: number, commit: number, plan: Plan): boolean {
    if (!schedule.exists || schedule.fence !== plan.fence + 1) return false;
    if (this.#settings.rules.confirmsBy === "fence") return true;
    return schedule.stampBy === by && schedule.stampCommit === commit;
  }

  /** Extends the leases that are named by fence, gives up orphans, and answers which leases are lost. */
  extend(
    world: World,
    request: { by: number; now: number; firstCommit: number; commit: number; fences: readonly number[] },
  ): boolean[] {
    const { orphans, onlyLengthens } = this.#settings.rules;
    return world.jobs.map((job, index) => {
      const fence = at(request.fences, index);
      const isOurs = job.state === JobState.leased && job.by === request.by;
      const isNamed = isOurs && job.fence === fence;
      const until = request.now + LEASE;
      if (isNamed && until < job.until && !onlyLengthens) this.flaw = "a late extension made a lease shorter";
      if (isNamed) job.until = Math.max(job.until, until);
      else if (isOurs && job.commit >= request.firstCommit && orphans !== "none") {
        const isSettled = job.commit < request.commit;
        const isPending = job.commit === request.commit;
        if (orphans === "all" || (orphans === "settled" ? isSettled : !isPending)) putBack(job);
      }
      return fence !== 0 && !isNamed;
    });
  }

  /** Gives up what dead instances hold. */
  surrender({ jobs, schedulers }: World, by: number, firstCommit: number): void {
    const { surrenderSparesOwn, surrenderSparesLiving } = this.#settings.rules;
    for (const job of jobs) {
      if (job.state !== JobState.leased) continue;
      if (job.by === by) {
        if (job.commit < firstCommit || !surrenderSparesOwn) putBack(job);
      } else if (this.#settings.areTwins) {
        const { phase, firstCommit: first } = at(schedulers, job.by);
        const isLiving = phase !== Phase.down && job.commit >= first;
        if (!isLiving || !surrenderSparesLiving) putBack(job);
      }
    }
  }

  pause(world: World): void {
    world.schedule.isPaused = true;
    this.#change(world, this.#settings.rules.pauseRaisesFence);
  }

  /** @param resumesAt the next fire time, or 0 to keep it: fire times before it are skipped */
  unpause(world: World, resumesAt: number): void {
    world.schedule.isPaused = false;
    if (resumesAt > 0) this.#skipUntil(world, resumesAt);
    this.#change(world, this.#settings.rules.pauseRaisesFence);
  }

  update(world: World): void {
    this.#change(world, this.#settings.rules.updateRaisesFence);
  }

  /** @param nextFireTime of the new trigger, or 0 for a trigger that is the same rule */
  replace(world: World, nextFireTime: number): void {
    if (nextFireTime > 0) world.schedule.nextFireTime = nextFireTime;
    world.schedule.isPaused = false;
    this.#change(world, this.#settings.rules.replaceRaisesFence);
  }

  remove(world: World): void {
    world.schedule.exists = false;
    this.#change(world, false);
  }

  add({ schedule }: World): void {
    const life = Math.floor(schedule.fence / FENCES_PER_LIFE) + 1;
    schedule.exists = true;
    schedule.isPaused = false;
    schedule.fence = this.#settings.rules.beginsAtFreshFence ? life * FENCES_PER_LIFE : 0;
    schedule.nextFireTime = 1;
    schedule.lastFireTime = 0;
    schedule.fates.fill(Fate.open);
  }

  #change(world: World, raisesFence: boolean): void {
    const { schedule } = world;
    if (raisesFence) schedule.fence++;
    schedule.stampBy = -1;
    schedule.stampCommit = 0;
    schedule.preferredScheduler = -1;
    schedule.leasedUntil = 0;
    movedOn(world);
  }

  #skipUntil({ schedule }: World, fireTime: number): void {
    for (let fire = schedule.nextFireTime; fire > 0 && fire < fireTime && fire <= this.#settings.fires; fire++) {
      if (schedule.fates[fire - 1] === Fate.open) schedule.fates[fire - 1] = Fate.skipped;
    }
    schedule.nextFireTime = fireTime > this.#settings.fires ? 0 : fireTime;
  }

  #release({ jobs }: World, { by, fences }: Message): void {
    for (let index = 0; index < JOBS; index++) {
      const fence = at(fences, index);
      const job = at(jobs, index);
      if (fence === 0 || job.state !== JobState.leased) continue;
      const isOurs = job.by === by && job.fence === fence;
      if (!isOurs && this.#settings.rules.comparesLease) continue;
      if (!isOurs) this.flaw = "a release counted for the lease of another";
      job.state = JobState.done;
      endLease(job);
    }
  }

  #recover(world: World, now: number): void {
    for (let index = 0; index < JOBS; index++) {
      const job = at(world.jobs, index);
      if (job.state !== JobState.leased) continue;
      if (job.until <= now) loseHolds(world, index);
      else if (this.#settings.rules.recoversEndedOnly) continue;
      putBack(job);
    }
  }

  #commit(world: World, { by, commit, plan, now }: Message, isFirst: boolean): void {
    const { schedule } = world;
    const planned = planOf(this.#settings, plan);
    const { addsJobsFirst, commitRaisesFence } = this.#settings.rules;
    const counts = this.#counts(world, plan, now);
    if (!counts) return;
    if (schedule.isPaused) this.flaw = "a paused schedule made a job";
    else if (plan.version !== world.changes) this.flaw = "a plan counted that was made before the schedule changed";
    else if (isFirst && planned.fires.some((fire) => fire > now)) this.flaw = "a job was made before its time";
    else if (
      isFirst &&
      !planned.isCut &&
      planned.nextFireTime > 0 &&
      planned.nextFireTime <= now &&
      !planned.isPaused
    ) {
      if (planned.fires.length > 0) this.flaw = "a plan counted that leaves a fire time out which is due";
    }
    if (addsJobsFirst) for (const fire of planned.fires) this.#addJob(world, fire);
    movedOn(world);
    if (commitRaisesFence) schedule.fence++;
    schedule.nextFireTime = planned.nextFireTime;
    schedule.lastFireTime = planned.lastFireTime;
    schedule.isPaused = planned.isPaused;
    schedule.stampBy = by;
    schedule.stampCommit = commit;
    schedule.preferredScheduler = this.#settings.hasPreferred ? by : -1;
    schedule.leasedUntil = 0;
    // Coalescing: the job of the last one stands for all.
    if (schedule.fates[planned.lastFireTime - 1] === Fate.added) skipOpen(world, planned.first, planned.lastFireTime);
    const scheduler = at(world.schedulers, by);
    if (scheduler.commit === commit && scheduler.phase === Phase.unknown) scheduler.truth = Truth.committed;
  }

  #counts({ schedule }: World, plan: Plan, now: number): boolean {
    const { comparesFence, comparesNextFireTime, comparesPaused, comparesNow } = this.#settings.rules;
    return (
      schedule.exists &&
      schedule.nextFireTime !== 0 &&
      (!comparesFence || schedule.fence === plan.fence) &&
      (!comparesNextFireTime || schedule.nextFireTime === plan.expected) &&
      (!comparesNow || plan.expected <= now) &&
      (!comparesPaused || !schedule.isPaused) &&
      schedule.leasedUntil <= now
    );
  }

  /** The job of an occurrence; one that an unfinished job from before the schedule's removal has already is left out. */
  #addJob({ schedule, jobs }: World, fire: number): void {
    const job = at(jobs, fire - 1);
    if (schedule.fates[fire - 1] === Fate.added) this.flaw = "an occurrence was added twice";
    schedule.fates[fire - 1] = Fate.added;
    if (job.state === JobState.ready || job.state === JobState.leased) return;
    job.state = this.#settings.runsJobs ? JobState.ready : JobState.done;
    job.fence++;
  }

  /** What an older version does before it plans. */
  leaseToOlder(world: World, now: number): void {
    const { schedule } = world;
    this.#change(world, true);
    schedule.leasedUntil = now + LEASE;
    world.older = { isAtWork: true, fence: schedule.fence, fireTime: Math.min(now, this.#settings.fires) };
  }

  /** What an older version does at the end of its lease: it moves the schedule on, and does not raise the fence. */
  commitOlder(world: World): void {
    const { schedule, older } = world;
    if (schedule.exists && schedule.fence === older.fence) {
      this.#addJob(world, older.fireTime);
      skipOpen(world, schedule.nextFireTime, older.fireTime);
      schedule.nextFireTime = nextFire(this.#settings, older.fireTime);
      schedule.lastFireTime = older.fireTime;
      schedule.leasedUntil = 0;
      schedule.stampBy = -1;
      schedule.stampCommit = 0;
      movedOn(world);
    }
    older.isAtWork = false;
    older.fence = 0;
    older.fireTime = 0;
  }

  #acquire(world: World, { by, commit, limit, now }: Message): void {
    const { acquiresBesideDead, topsUp, raisesJobFence } = this.#settings.rules;
    if (!acquiresBesideDead && hasDeadLease(world, now)) return;
    const maxRunningJobs = this.#settings.maxRunningJobs ?? JOBS;
    let live = 0;
    let left = limit;
    for (const job of world.jobs) {
      if (job.state !== JobState.leased) continue;
      if (job.until > now) live++;
      if (topsUp && job.by === by && job.commit === commit) left--;
    }
    for (let index = 0; index < JOBS && left > 0 && live < maxRunningJobs; index++) {
      const job = at(world.jobs, index);
      if (job.state !== JobState.ready) continue;
      if (isBlocked(world, index)) this.flaw = "a job was leased to another before the lease on it ended";
      job.state = JobState.leased;
      if (raisesJobFence) job.fence++;
      job.by = by;
      job.commit = commit;
      job.until = now + LEASE;
      left--;
      live++;
    }
  }
}

/** Whether a lease waits for recovery. */
export function hasDeadLease({ jobs }: World, now: number): boolean {
  return jobs.some((job) => job.state === JobState.leased && job.until <= now);
}

/** Whether a scheduler believes with good reason that it holds a job. */
function isBlocked({ schedulers, jobs }: World, index: number): boolean {
  const { fence } = at(jobs, index);
  return schedulers.some(
    ({ holds, fences }) => fences[index] === fence && (holds[index] === Hold.held || holds[index] === Hold.granted),
  );
}

function skipOpen({ schedule }: World, first: number, last: number): void {
  for (let fire = first; fire > 0 && fire <= last; fire++) {
    if (schedule.fates[fire - 1] === Fate.open) schedule.fates[fire - 1] = Fate.skipped;
  }
}

function movedOn({ schedulers }: World): void {
  for (const scheduler of schedulers) {
    if (scheduler.truth === Truth.committed) scheduler.truth = Truth.committedAndMovedOn;
  }
}

function loseHolds({ schedulers, jobs }: World, index: number): void {
  for (const { holds, fences } of schedulers) {
    if (fences[index] !== at(jobs, index).fence) continue;
    if (holds[index] === Hold.held) holds[index] = Hold.lost;
    else if (holds[index] === Hold.granted) holds[index] = Hold.grantedAndLost;
  }
}

type Job = World["jobs"][number];

function putBack(job: Job): void {
  job.state = JobState.ready;
  endLease(job);
}

function endLease(job: Job): void {
  job.by = 0;
  job.commit = 0;
  job.until = 0;
}
