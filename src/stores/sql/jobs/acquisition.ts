import type { JobCapacity, JobQueue } from "../../data-store.ts";
import type { SqlValue } from "../driver/driver-and-failures.ts";
import type { FlowMode } from "../flow-control/key-limiters.ts";
import { ACQUISITION_ARMS_MAX } from "../limits.ts";

/** How queues travel. Up to `ACQUISITION_ARMS_MAX` queues have two parameters each (the form is their number). More
 *  queues, or queues with a task that comes twice, travel as one list (`many`), and queues of executors with bounds
 *  too (`bounded`). */
export type QueueForm = number | "many" | "bounded";

/** The queues of a view, as parameters of statements. */
export interface QueueParameters {
  readonly form: QueueForm;
  readonly args: readonly SqlValue[];
}

export function queueParameters({ queues, bounds }: JobCapacity): QueueParameters {
  const unique = withoutRepetitions(queues);
  if (bounds !== undefined) {
    const rows = unique.map(({ executor, taskId }) => [executor, taskId, bounds.get(executor) ?? null]);
    return { form: "bounded", args: [JSON.stringify(rows)] };
  }
  if (isFew(unique)) {
    return { form: unique.length, args: unique.flatMap(({ taskId, executor }) => [taskId, executor]) };
  }
  return { form: "many", args: [queueList(unique)] };
}

/** Queues as one parameter: rows [executor, taskId]. */
export function queueList(queues: readonly JobQueue[]): string {
  return JSON.stringify(queues.map(({ executor, taskId }) => [executor, taskId]));
}

/** How many parameters a form has. */
export function queueParameterCount(form: QueueForm): number {
  return typeof form === "number" ? 2 * form : 1;
}

/** Whether the statements for few queues can be used. These statements count the free slots of each queue separately,
 *  so no task may come twice. */
function isFew(queues: readonly JobQueue[]): boolean {
  if (queues.length === 0 || queues.length > ACQUISITION_ARMS_MAX) return false;
  return new Set(queues.map(({ taskId }) => taskId)).size === queues.length;
}

function withoutRepetitions(queues: readonly JobQueue[]): JobQueue[] {
  const byKey = new Map(queues.map((queue) => [JSON.stringify([queue.executor, queue.taskId]), queue]));
  return [...byKey.values()];
}

/** The number of the first parameter that holds queues, because ?1 is now and ?2 is the limit. */
export const FIRST_QUEUE_PARAMETER = 3;

/** Statements that make due jobs ready, and lease jobs. */
export interface AcquisitionStatements {
  readonly readyDue: string;
  /** By {@link acquisitionName}. */
  readonly acquire: Readonly<Record<string, string>>;
}

/**
 * Names a statement that leases jobs.
 *
 * @param boundsBytes whether the jobs have at most `ACQUIRED_BYTES_MAX` bytes together
 */
export function acquisitionName(flow: FlowMode, boundsBytes: boolean, form: QueueForm): string {
  return [flow, boundsBytes, form].join();
}
