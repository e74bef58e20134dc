import { EscapementError, SchedulerStateError, StoreUnavailableError } from "../../core/errors.ts";
import { checkNewJob } from "./check-options.ts";
import type { CheckedJobOptions, CheckedNewJob } from "./checked-options.ts";

/**
 * What a function makes of each job of a list, one after the other. An error says which job it is about.
 * @param call the call that got the list, such as `addJobs()`
 */
export async function eachNewJob<T>(
  jobs: readonly unknown[],
  call: string,
  make: (task: CheckedNewJob["task"], options: CheckedJobOptions, where: string) => T | Promise<T>,
): Promise<T[]> {
  const made: T[] = [];
  for (const [index, job] of jobs.entries()) {
    const where = `${call}[${index}]`;
    const options = checkNewJob(job, where);
    try {
      const one = make(options.task, options, where);
      made.push(one instanceof Promise ? await one : one);
    } catch (error) {
      throw sayingWhere(error, call, where);
    }
  }
  return made;
}

/** An error of one item of a list, whose message says which item it is about. What is wrong with the store or the
 *  scheduler is about no item. @param call the call that got the list @param where the item */
export function sayingWhere(error: unknown, call: string, where: string): unknown {
  const isAboutItem =
    error instanceof EscapementError &&
    !(error instanceof StoreUnavailableError || error instanceof SchedulerStateError);
  if (!isAboutItem || error.message.startsWith(call)) return error;
  // Engines write the message into the stack when the error is made, or when its stack is read for the first time.
  const { message, stack } = error;
  error.message = `${where}: ${message}`;
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
  return error;
}
