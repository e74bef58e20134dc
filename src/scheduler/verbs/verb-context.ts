import type { JobRecord } from "../../records/job.ts";
import type { JobAddition } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import type { Closing } from "./closing.ts";

/** What the verbs of the facade share. */
export interface VerbContext {
  readonly env: Environment;
  readonly tasks: TaskRegistry;
  /** Makes sure that the store is open and knows the tasks. @throws {SchedulerStateError} once stopped for good */
  readonly ready: () => Promise<void>;
  readonly closing: Closing;
  /** Adds jobs, with the next step where this scheduler works, else at once, and tells listeners.
   *  @throws {StoreUnavailableError} */
  readonly addJobs: (jobs: readonly JobRecord[]) => Promise<readonly JobAddition[]>;
}
