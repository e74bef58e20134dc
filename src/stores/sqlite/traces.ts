import type { TableNames } from "./schema.ts";

/** What tells that a job was added, whatever became of it since: SQL conditions on its id, which is SQL too. */
export interface Traces {
  /** It is unfinished. */
  readonly isJob: (id: string) => string;
  /** It has ended, and its result is kept. */
  readonly hasResult: (id: string) => string;
  /** Its addition, or the batch that added it, left a stamp. */
  readonly isStamped: (id: string) => string;
}

export function tracesOf({ jobs, results, steps }: TableNames): Traces {
  return {
    isJob: (id) => `EXISTS (SELECT 1 FROM ${jobs} WHERE id = ${id})`,
    hasResult: (id) => `EXISTS (SELECT 1 FROM ${results} WHERE job_id = ${id})`,
    isStamped: (id) => `EXISTS (SELECT 1 FROM ${steps} WHERE id = ${id})`,
  };
}
