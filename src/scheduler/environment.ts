import type { Clock } from "../core/clock.ts";
import type { IdGenerator, RandomSource } from "../core/ids.ts";
import type { LeveledLogger } from "../core/leveled-logger.ts";
import type { DataStore } from "../stores/data-store.ts";
import type { EventHub } from "./events/event-hub.ts";

/** What all parts of a scheduler share. */
export interface Environment {
  readonly store: DataStore;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly ids: IdGenerator;
  readonly events: EventHub;
  readonly logger: LeveledLogger;
  readonly identity: string;
  /** The id of this run of the scheduler, which differs from the ids of other runs under the same identity. */
  readonly instanceId: string;
  readonly leaseMs: number;
}
