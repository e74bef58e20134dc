import type { JobRecord } from "../../records/job.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { CommitReport, DataStore, TaskPauseRequest } from "../../stores/data-store.ts";
import { isTrue } from "./assert.ts";
import { type CommitFields, finish, idsOf, makeJob, makeTask, T0, take } from "./makers.ts";

// Makers for the cases about concurrency keys, rates, turns and pauses.

/** A job with a concurrency key. */
export function keyed(id: string, concurrencyKey: string, fields: Partial<JobRecord> = {}): JobRecord {
  return makeJob({ id, concurrencyKey, ...fields });
}

/** Puts the task of the cases with these settings. */
export async function putTask(store: DataStore, fields: Partial<TaskRecord>): Promise<void> {
  await store.putTasks([makeTask(fields)]);
}

/** A rate with one start every 100 milliseconds. */
export function tenASecond(burst = 1): Partial<TaskRecord> {
  return { rateLimit: { limit: 10, perMs: 1000, burst } };
}

/** The ids of the jobs that a commit acquires. */
export async function takenIds(store: DataStore, fields: CommitFields = {}): Promise<string[]> {
  return idsOf((await take(store, fields)).acquired);
}

/** What the report of a commit says about later commits. */
export function outlook({ acquired, hasReady, nextRunAt }: CommitReport): unknown {
  return { acquired: idsOf(acquired), hasReady, nextRunAt };
}

/** The ids of the unfinished jobs that a limit or a parent holds. */
export async function blockedIds(store: DataStore): Promise<string[]> {
  const { items } = await store.getJobs({ limit: 1000, cursor: null });
  return idsOf(items.filter(({ blockedBy }) => blockedBy !== undefined));
}

/** Pauses the task of the cases, or a key of it. */
export function pause(store: DataStore, fields: Partial<TaskPauseRequest> = {}): Promise<boolean> {
  return store.pauseTask({ taskId: "task", key: null, paused: true, now: T0, ...fields });
}

/** Lets the task of the cases, or a key of it, go on. */
export function unpause(store: DataStore, fields: Partial<TaskPauseRequest> = {}): Promise<boolean> {
  return pause(store, { paused: false, ...fields });
}

/**
 * Acquires and finishes jobs, commit by commit, until a commit acquires nothing and says that nothing is ready. Returns
 * the jobs in the order of acquisition.
 * @param stepsMax most steps: a store that promises more work and never has any fails the case
 */
export async function drainQueue(store: DataStore, fields: CommitFields = {}, stepsMax = 1000): Promise<JobRecord[]> {
  const all: JobRecord[] = [];
  let held: readonly JobRecord[] = [];
  for (let commits = 0; ; commits++) {
    isTrue(commits < stepsMax, `after ${stepsMax} commits, ${all.length} jobs were acquired, and no more are ready`);
    const { acquired, hasReady } = await take(store, {
      ...fields,
      releases: held.map((job) => finish(job, { expiresAt: T0 })),
    });
    all.push(...acquired);
    held = acquired;
    if (acquired.length === 0 && !hasReady) return all;
  }
}
