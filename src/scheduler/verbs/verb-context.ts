import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobAddition } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import type { ScheduleDefaults } from "../options/options.ts";
import type { LocalSchedulerClient } from "../scheduler-client.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import type { Closing } from "./closing.ts";

/** By scheduler, for what is a door of its own and works with the store. */
const contexts = new WeakMap<object, VerbContext>();

/** @internal */
export function giveContext(context: VerbContext): void {
  contexts.set(context.client, context);
}

/** What a scheduler of this process works with; undefined for other clients. @internal */
export function contextOf(client: object): VerbContext | undefined {
  return contexts.get(client);
}

/** What `TaskVerbs`, `ScheduleVerbs` and `JobVerbs` share. */
export interface VerbContext {
  readonly env: Environment;
  /** What schedules inherit that are added here; `timeZone` is that of crontab text. */
  readonly inherited: { readonly timeZone: string; readonly scheduleDefaults: ScheduleDefaults };
  readonly tasks: TaskRegistry;
  /** The scheduler itself, for the verbs of schedules and jobs. */
  readonly client: LocalSchedulerClient;
  /** Makes sure that the store is open. @throws {SchedulerStateError} once the scheduler has stopped */
  readonly opened: () => Promise<void>;
  /** Makes sure that the store is open and has the tasks. @throws {SchedulerStateError} once the scheduler has
   *  stopped */
  readonly ready: () => Promise<void>;
  /** Whether `ready` has nothing to do. */
  readonly isReady: () => boolean;
  /** Hears of each schedule that was added, or found as it is declared. */
  readonly scheduled: (taskId: string, scheduleId: string) => void;
  /** Of the present run of the scheduler. */
  readonly closing: Closing;
  /** Whether a job that waits in the queue may still be begun, by this scheduler or by another one. */
  readonly mayBegin: () => boolean;
  /** Tells listeners of jobs that a write of their own has added. */
  readonly announceJobs: (jobs: readonly JobRecord[]) => void;
  /** Adds jobs and tells listeners. Where this scheduler runs jobs in its loop, the next commit adds them; elsewhere a
   *  write of their own does. @throws {StoreUnavailableError} */
  readonly addJobs: (jobs: readonly NewJobRecord[]) => Promise<readonly JobAddition[]>;
}
