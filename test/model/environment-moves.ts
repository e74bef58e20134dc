import { Kind } from "./explore.ts";
import { NOBODY, type Stage } from "./stage.ts";
import { JobState, LEASE, type Message, MessageKind, noMessage, type World } from "./world.ts";

/** What happens around the schedulers: clients change the schedule, an older version commits, lost requests arrive, and
 *  time passes. */
export class EnvironmentMoves {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Emits these moves from a state. */
  from(world: World): void {
    this.#ofClient(world);
    this.#ofOlder(world);
    this.#ofMessages(world);
    this.#ofTime(world);
  }

  #ofClient(world: World): void {
    const { schedule, changes, pause, time, faults } = world;
    if (pause.isUnknown) {
      this.#stage.move(Kind.work, "the client repeats its pause", NOBODY, (next) => this.#repeatPause(next));
      return;
    }
    if (time > this.#stage.settings.chanceUntil) return;
    const change = (name: string, apply: (next: World) => void, cost = 1): void => {
      if (changes < cost) return;
      this.#stage.move(Kind.chance, name, NOBODY, (next) => {
        next.changes -= cost;
        apply(next);
      });
    };
    // Adding again and unpausing need a removal or a pause before, which has been counted.
    if (!schedule.exists) {
      if (this.#stage.settings.fires > 0) change("added again", (next) => this.#stage.store.add(next), 0);
      return;
    }
    if (schedule.isPaused) {
      change("unpaused", (next) => this.#stage.store.unpause(next, 0), 0);
      if (schedule.nextFireTime > 0 && schedule.nextFireTime < time) {
        change("unpaused from now on", (next) => this.#stage.store.unpause(next, time), 0);
      }
    } else if (changes > 0) {
      change("paused", (next) => this.#stage.store.pause(next));
      if (faults > 0) {
        for (const wasCommitted of [true, false]) {
          const apply = (next: World): void => {
            next.faults--;
            next.pause = { isUnknown: true, fence: next.schedule.fence, wasCommitted };
            if (wasCommitted) this.#stage.store.pause(next);
          };
          change(`pause ${wasCommitted ? "committed" : "lost"} without an answer`, apply, wasCommitted ? 1 : 0);
        }
      }
    }
    change("updated", (next) => this.#stage.store.update(next));
    change("replaced by the same rule", (next) => this.#stage.store.replace(next, 0));
    change("replaced by a rule that begins at 1", (next) => this.#stage.store.replace(next, 1));
    change("removed", (next) => this.#stage.store.remove(next));
  }

  #repeatPause(world: World): void {
    const { schedule, pause } = world;
    const isSent = this.#stage.settings.rules.repeatedPause === "pauses" || schedule.fence === pause.fence;
    // Otherwise it finds the fence one higher, and takes that for its own doing.
    if (isSent) {
      this.#stage.store.pause(world);
      if (!pause.wasCommitted) world.changes--;
    } else if (schedule.fence === pause.fence + 1 && !schedule.isPaused) {
      this.#stage.store.flaw = "a pause was told to have happened, and has not";
    }
    world.pause = { isUnknown: false, fence: 0, wasCommitted: false };
  }

  #ofOlder(world: World): void {
    const { older, schedule, hasOlder, time } = world;
    if (older.isAtWork) {
      this.#stage.move(Kind.work, "the older version commits", NOBODY, (next) => this.#stage.store.commitOlder(next));
      if (world.crashes > 0) {
        this.#stage.move(Kind.chance, "the older version crashes", NOBODY, (next) => {
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
      time > this.#stage.settings.chanceUntil
    )
      return;
    this.#stage.move(Kind.chance, "the older version leases", NOBODY, (next) => {
      next.hasOlder = false;
      this.#stage.store.leaseToOlder(next, time);
    });
  }

  #ofMessages({ messages }: World): void {
    for (const [index, message] of messages.entries()) {
      if (message.kind === MessageKind.none) continue;
      const { by, firstCommit } = message;
      this.#stage.move(Kind.late, `'s lost ${nameOfMessage(message)} arrives`, by, (next) => {
        const [arrived] = next.messages.splice(index, 1, noMessage());
        if (arrived === undefined) return;
        if (message.kind === MessageKind.surrender) this.#stage.store.surrender(next, by, firstCommit);
        else if (message.kind === MessageKind.extension) this.#stage.store.extend(next, arrived);
        else this.#stage.store.commit(next, arrived, false);
      });
    }
  }

  #ofTime({ time, jobs, schedule }: World): void {
    const { chanceUntil } = this.#stage.settings;
    // The last lease ends now, for a clock that is 1 behind.
    const timeMax = chanceUntil + 1 + LEASE + 1;
    const isWaiting = jobs.some(({ state }) => state === JobState.leased) || schedule.leasedUntil > time - 1;
    if (time < chanceUntil || (isWaiting && time < timeMax)) {
      this.#stage.move(Kind.time, "time passes", NOBODY, (next) => {
        next.time++;
      });
    }
  }
}

function nameOfMessage({ kind }: Message): string {
  return kind === MessageKind.commit ? "commit" : kind === MessageKind.extension ? "extension" : "surrender";
}
