import { IS_BLOCKED_OR_DEPENDENT, JOB_STATE } from "../schema/schema.ts";

const { delayed, ready, leased } = JOB_STATE;

/** SQL condition of the unfinished jobs of a task. Each state has an index, because one index of all jobs by task would
 *  make an addition a fifth dearer. `task` is the SQL of the task's id. All leased jobs are read, because they are
 *  few. */
export function isJobOfTask(task: string): string {
  const states = [
    `state = ${ready}`,
    `state = ${delayed}`,
    IS_BLOCKED_OR_DEPENDENT,
    `state = ${leased} AND acquired_until > 0`,
  ];
  return `(${states.map((state) => `${state} AND task_id = ${task}`).join(" OR ")})`;
}
