import type { Kind } from "./explore.ts";
import type { Settings } from "./settings.ts";
import { Store } from "./store.ts";
import { at, Fate, Hold, JOBS, JobState, type World } from "./world.ts";

/** Where the moves of one state go. */
export interface Outlet {
  /** The state, each time a new copy. */
  fresh(): World;
  /** Takes a move to a state. */
  readonly emit: (kind: Kind, name: string, by: number, flaw: string | null, world: World) => void;
}

/** Who moves when it is no scheduler. */
export const NOBODY = -1;

/** Makes moves: each changes a new copy of the state, which is then checked. */
export class Stage {
  readonly settings: Settings;
  readonly store: Store;
  readonly #outlet: Outlet;

  constructor(settings: Settings, outlet: Outlet) {
    this.settings = settings;
    this.store = new Store(settings);
    this.#outlet = outlet;
  }

  /** @param by the scheduler that moves, or {@link NOBODY} */
  move(kind: Kind, name: string, by: number, change: (world: World) => void): void {
    const world = this.#outlet.fresh();
    const { exists, fence } = world.schedule;
    this.store.flaw = null;
    change(world);
    if (exists && world.schedule.fence < fence) this.store.flaw = "a fence went back";
    this.#outlet.emit(kind, name, by, this.store.flaw ?? findFlaw(world, this.settings), world);
  }
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
