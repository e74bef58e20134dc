import type { RecordPage } from "../stores/data-store.ts";
import type { Page } from "./scheduler-options.ts";
import type { TaskRegistry } from "./task-registry.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

/** What the verbs of the facade share. */
export interface Client {
  readonly env: WorkerEnvironment;
  readonly tasks: TaskRegistry;
  /** Makes sure that the store is open and knows the tasks. @throws {SchedulerStateError} once stopped for good */
  readonly ready: () => Promise<void>;
  /** Aborted when the scheduler has stopped. */
  readonly closed: AbortSignal;
}

/** A page of records as a page of what they are to the caller. */
export function mapPage<A, B>(page: RecordPage<A>, convert: (item: A) => B): Page<B> {
  return { items: page.items.map(convert), cursor: page.cursor };
}
