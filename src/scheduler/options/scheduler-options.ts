import type { EventBroker } from "../../brokers/event-broker.ts";
import type { Clock } from "../../core/clock.ts";
import type { Duration } from "../../core/duration.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { LogLevel } from "../../core/leveled-logger.ts";
import type { Logger } from "../../core/logger.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import type { LeaseExtender } from "../../executors/lease-extender.ts";
import type { DataStore } from "../../stores/data-store.ts";
import type { NoticeChannel } from "./notice-channel.ts";
import type { ScheduleDefaults, TaskSettings } from "./options.ts";

/** Options of a `Scheduler`. */
export interface SchedulerOptions {
  /** Where tasks, schedules, jobs and results are kept. Default: a new `MemoryDataStore`. The last scheduler of this
   *  process that uses the store closes the store when that scheduler stops. */
  dataStore?: DataStore | undefined;
  /** How schedulers hear of each other's changes. Default: the `LocalEventBroker` of the data store object, which all
   *  schedulers of this process share that share this object. Closed in the same way as the store. */
  eventBroker?: EventBroker | undefined;
  /** Executors by name. Default: `{ inline: new InlineExecutor() }`; the name `inline` always exists. Executors are
   *  closed in the same way as the store. */
  executors?: Record<string, JobExecutor> | undefined;
  /** Whether this scheduler turns schedules into jobs (`"scheduler"`), runs jobs (`"worker"`), or does both. Default:
   *  `"both"`. */
  role?: "both" | "scheduler" | "worker" | undefined;
  /** Name of this scheduler in leases and events, unique among the schedulers that run on the store. On start, the
   *  scheduler gives up leases that dead processes left under the same name: those that stopped, or that have said for
   *  `leaseDuration` nothing. It takes nothing from a living one, and warns of it. Default, also for undefined: host
   *  name, process id and a random part, such as `"web-1-4711-k3f9x2"`. */
  identity?: string | undefined;
  /** Most jobs that this scheduler runs at once. When all of them wait for other jobs (see `runJob`), it runs one more,
   *  so that they can go on. Default: 100. */
  maxConcurrentJobs?: number | undefined;
  /** Settings that tasks inherit, for example `{ timeout: { minutes: 5 } }`. Default: `{}`. */
  taskDefaults?: Omit<TaskSettings, "concurrencyKey"> | undefined;
  /** Settings that the schedules inherit which this scheduler adds, for example `{ coalesce: "all" }`. What tasks and
   *  schedules both have, such as `misfireGraceTime`, belongs to `taskDefaults`. Default: `{}`. */
  scheduleDefaults?: ScheduleDefaults | undefined;
  /** Where to tell of changes of state: a schedule that begins to fail, or works again; what is overdue; pauses. See
   *  `webhook` and `ping` of `escapement/notices`. Each change is told once, whichever scheduler of the store makes it
   *  or runs the job that sends it. Needs a store with a ledger. Default: none. */
  notices?: readonly NoticeChannel[] | undefined;
  /** The time zone in which `addSchedule`, `schedule` and `updateSchedule` read crontab text: an IANA name, or
   *  `"local"` for the host's. It is resolved when the schedule is added, and stored with it. Triggers that are built
   *  have a zone of their own. Default: `"UTC"`. */
  timeZone?: string | undefined;
  /** How long a job stays leased to a scheduler that gives no heartbeat; then others may take the job. A living
   *  scheduler extends its leases every third of this time. Default: 60 s; at least 100 ms. */
  leaseDuration?: Duration | undefined;
  /** Keeps the leases while the event loop is blocked: a `LeaseThread` of `escapement/worker`. Without one, a loop that
   *  is blocked for longer than `leaseDuration` loses its jobs to other schedulers. Default: none. */
  leaseThread?: LeaseExtender | undefined;
  /** Pause between clean-ups, which remove expired results and ended schedules; null for no clean-ups. Default: 15
   *  minutes. Ticks ask as often whether results have expired, and make one commit of at most 1000 if so. */
  cleanupInterval?: Duration | null | undefined;
  /** Longest time that this scheduler sleeps before it looks into the store without an event. On a file, changes by
   *  other processes end the sleep too. A server without a broker is asked this often. Default: 10 s where other
   *  processes may write to the store, else a minute. */
  maxIdle?: Duration | undefined;
  /** What to do at the start with next fire times that a runtime with other time zone data computed. Each runtime
   *  brings its own data, and its version of them tells little: two with the same version may disagree. So the data
   *  that a store sees for the first time count as the newest. `"auto"`: computes next fire times anew by the data of
   *  this runtime, unless they are older than those that were used; then the log says so. `"adopt"`: declares the data
   *  of this runtime to be the newest, for one start after the others were wrong. `"keep"`: computes nothing anew.
   *  Default: `"auto"`. */
  zoneRules?: "auto" | "adopt" | "keep" | undefined;
  /** Version of the program, 0 or more, for example the number of its build. The settings of a task that a program of a
   *  higher version declared are never replaced by those of a lower one, or of one without a version: while a deploy is
   *  under way, and old processes still start, the newest settings stay. Default: none. */
  version?: number | undefined;
  /** Where the scheduler tells what it does, and what goes wrong. Default: `console`. */
  logger?: Logger | undefined;
  /** What the logger gets. Jobs that fail for good, are given up or cannot be read, and schedules that are paused
   *  because they are broken are of the level `"error"`; retries, recovered jobs, missed deadlines, outages and stuck
   *  work `"warn"`; start, stop, pause, resume and signals `"info"`; each attempt `"debug"`. Default: `"info"` for
   *  `console`, because it is a line or two in the life of a process, and says under which name and with which tasks
   *  the scheduler runs; everything for another logger, which has a level of its own. An error that `runJob` throws
   *  here is told at `"debug"`, because its caller has it. */
  logLevel?: LogLevel | undefined;
  /** Where the scheduler gets the time and its sleeps from; a `VirtualClock` in tests. Default: `systemClock`. */
  clock?: Clock | undefined;
  /** Returns random numbers, uniform in [0, 1), for ids, jitter and backoff. Default: `Math.random`. */
  random?: RandomSource | undefined;
}
