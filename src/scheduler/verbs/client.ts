import type { RecordPage } from "../../stores/data-store.ts";
import type { Page } from "../options/scheduler-options.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import type { WorkerEnvironment } from "../environment.ts";

/** What the verbs of the facade share. */
export interface Client {
  readonly env: WorkerEnvironment;
  readonly tasks: TaskRegistry;
  /** Makes sure that the store is open and knows the tasks. @throws {SchedulerStateError} once stopped for good */
  readonly ready: () => Promise<void>;
  readonly closing: Closing;
}

/** Tells whoever waits that the scheduler has stopped. No `AbortSignal`, on which Node warns of more than ten listeners. */
export class Closing {
  readonly #listeners = new Set<() => void>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(listener: () => void): void {
    this.#listeners.add(listener);
  }

  delete(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    for (const listener of this.#listeners) listener();
  }
}

/** A page of records as a page of what they are to the caller. */
export function mapPage<A, B>(page: RecordPage<A>, convert: (item: A) => B): Page<B> {
  return { items: page.items.map(convert), cursor: page.cursor };
}
