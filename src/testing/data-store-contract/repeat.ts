import type { CommitReport, DataStore } from "../../stores/data-store.ts";
import { type CommitFields, commit, T0 } from "./makers.ts";

export const COMMIT_ID: string = "scheduler-a 1#twice";

/** A commit whose answer is lost, and its repetition. */
export async function twice(
  store: DataStore,
  fields: CommitFields,
): Promise<[lost: CommitReport, answer: CommitReport]> {
  const lost = await commit(store, { commitId: COMMIT_ID, ...fields });
  return [lost, await again(store, fields)];
}

/** The repetition of a commit. Its clock has moved on. */
export function again(store: DataStore, fields: CommitFields): Promise<CommitReport> {
  const now = (fields.now ?? T0) + 7;
  return commit(store, { commitId: COMMIT_ID, ...fields, now, isRepetition: true });
}
