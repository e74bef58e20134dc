import { StoreRefusedError } from "../../core/errors.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";

/** Whether a job waits for other jobs when it is added. */
export function hasParents({ after }: JobRecord): boolean {
  return after !== undefined && after.length > 0;
}

/** Refuses jobs that would wait for each other for ever. Only jobs of one call can do so, because all other parents
 *  were there before. @throws {StoreRefusedError} */
export function refuseCircles(jobs: readonly NewJobRecord[]): void {
  const children = jobs.filter(hasParents);
  if (children.length === 0) return;
  const standing = standingJobs(jobs);
  const isSettled = new Map<string, boolean>();
  for (const child of children) {
    // A job that is not added waits for nothing.
    if (standing.get(child.id)?.id !== child.id) continue;
    // No recursion, because a chain may be longer than the stack.
    const path: { readonly job: JobRecord; next: number }[] = [{ job: child, next: 0 }];
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const { job } = last;
      isSettled.set(job.id, isSettled.get(job.id) ?? false);
      const parent = isSettled.get(job.id) === true ? undefined : (job.after ?? [])[last.next++];
      if (parent === undefined) {
        isSettled.set(job.id, true);
        path.pop();
        continue;
      }
      const next = standing.get(parent);
      if (next === undefined || isSettled.get(next.id) === true) continue;
      if (isSettled.has(next.id)) throw circle(path.map(({ job: { id } }) => id).slice(indexIn(path, next.id)));
      path.push({ job: next, next: 0 });
    }
  }
}

/** By the id of each job: the job itself, or the earlier job of the same call that stands for it, because of a key that
 *  both have. */
function standingJobs(jobs: readonly NewJobRecord[]): ReadonlyMap<string, NewJobRecord> {
  const standing = new Map<string, NewJobRecord>();
  const byKey = new Map<string, NewJobRecord>();
  for (const job of jobs) {
    if (standing.has(job.id)) continue;
    const keys = keysOf(job);
    const other = keys.map((key) => byKey.get(key)).find((found) => found !== undefined);
    standing.set(job.id, other ?? job);
    if (other === undefined) for (const key of keys) byKey.set(key, job);
  }
  return standing;
}

function keysOf({ taskId, idempotencyKey, once, debounce }: NewJobRecord): string[] {
  const keys = [
    ["idempotency", idempotencyKey],
    [once?.kind, once?.key],
    ["debounce", debounce?.key],
  ];
  return keys.flatMap(([kind, key]) => (typeof key === "string" ? [JSON.stringify([kind, taskId, key])] : []));
}

function indexIn(path: readonly { readonly job: JobRecord }[], id: string): number {
  return path.findIndex(({ job }) => job.id === id);
}

function circle(ids: readonly string[]): StoreRefusedError {
  const names = [...ids, ids[0]].map((id) => `"${id}"`);
  const shown = names.length > SHOWN_MAX ? [...names.slice(0, SHOWN_MAX), "..."] : names;
  return new StoreRefusedError(
    `the jobs wait for each other: ${shown.join(" after ")}; leave out one of these parents in \`after\``,
  );
}

/** The parents that an error is about. */
const UNKNOWN = new WeakMap<object, readonly string[]>();

/** The parents that the store does not know, if that is what an error says. */
export function unknownParentsIn(error: StoreRefusedError): readonly string[] {
  return UNKNOWN.get(error) ?? [];
}

/** The error about parents that a store does not know. */
export function unknownParents(ids: readonly string[]): StoreRefusedError {
  const names = ids.slice(0, SHOWN_MAX).map((id) => `"${id}"`);
  const more = ids.length > SHOWN_MAX ? ` and ${ids.length - SHOWN_MAX} more` : "";
  const error = new StoreRefusedError(
    `\`after\` names jobs that the store does not know: ${names.join(", ")}${more}. A parent is a job that has not ` +
      "ended, or whose result is kept; keep the parent's result longer (resultExpirationTime), or add the job " +
      "without this parent",
  );
  UNKNOWN.set(error, ids);
  return error;
}

/** Most unknown parents that an error names, so that it stays readable. */
const SHOWN_MAX = 10;
