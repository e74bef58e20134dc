import type { EventBroker } from "../../brokers/event-broker.ts";
import type { Clock } from "../../core/clock.ts";
import type { Duration } from "../../core/duration.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { Logger } from "../../core/logger.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import type { DataStore } from "../../stores/data-store.ts";
import type { TaskSettings } from "./options.ts";

/** Options of a `Scheduler`. */
export interface SchedulerOptions {
  /** Where everything is kept. Default: a new `MemoryDataStore`. Closed with the last scheduler of this process that
   *  uses it. */
  dataStore?: DataStore;
  /** How schedulers hear of each other's changes. Default: a `LocalEventBroker` of the data
   *  store, which all schedulers of this process that share the store object share too. Closed as the store is. */
  eventBroker?: EventBroker;
  /** Executors by name. Default: `{ inline: new InlineExecutor() }`; `inline` is always there. Closed as the store
   *  is. */
  executors?: Record<string, JobExecutor>;
  /** Whether it turns schedules into jobs (`"scheduler"`), runs jobs (`"worker"`) or does both. Default: `"both"`. */
  role?: "both" | "scheduler" | "worker";
  /** Name of this scheduler in leases, unique among those that run on the store. On start it gives up leases that an
   *  earlier process left under the same name. Default: a new UUID. */
  identity?: string;
  /** Most jobs that it runs at once. Default: 100. */
  maxConcurrentJobs?: number;
  /** Settings that tasks inherit. */
  taskDefaults?: TaskSettings;
  /** How long a job or schedule stays with a scheduler that gives no sign of life. Extended every third of it. Default:
   *  60 s; at least 100 ms. */
  leaseDuration?: Duration;
  /** Pause between clean-ups, which remove expired results and schedules that have ended; null for none. Default: 15
   *  minutes. */
  cleanupInterval?: Duration | null;
  /** Longest sleep before it looks into the store by itself. Default: 10 s where other processes may write to the
   *  store, else a minute. */
  maxIdle?: Duration;
  /** Default: `console`, for warnings and errors. */
  logger?: Logger;
  /** Default: `systemClock`. */
  clock?: Clock;
  /** Uniform in [0, 1): ids, jitter, backoff. Default: `Math.random`. */
  random?: RandomSource;
}
