import type { DurableObjectSqlStorage } from "../../stores/durable-object/mod.ts";

// What a Durable Object gets from its platform, by shape: the types of Cloudflare's own package fit, and none is
// needed.

/** The alarm of an object: the one instant at which the platform calls its `alarm()`. Instants are epoch
 *  milliseconds. */
export interface AlarmStorage {
  /** When the alarm is set to go off; null when none is set. */
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
  deleteAlarm(): Promise<void>;
}

/** The storage of an object, with its SQL and its alarm. */
export interface ObjectStorage extends DurableObjectSqlStorage, AlarmStorage {
  /** Resolves when what was written is safe. */
  sync(): Promise<void>;
}

/** What `attachScheduler` needs of an object's context, which is `ctx` within the object. */
export interface ObjectContext {
  readonly storage: ObjectStorage;
  /** Lets nothing else reach the object until the promise has settled. If it rejects, the platform begins the object
   *  anew. */
  blockConcurrencyWhile<T>(run: () => Promise<T>): Promise<T>;
}
