import { OptionsError, PayloadError, SerializationError } from "../../core/errors.ts";
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
    const where = `${call}, job ${index}`;
    const options = checkNewJob(job, where);
    try {
      const one = make(options.task, options, where);
      made.push(one instanceof Promise ? await one : one);
    } catch (error) {
      throw saysWhere(error, where);
    }
  }
  return made;
}

/** An error about one job of many that does not say which job. */
function saysWhere(error: unknown, where: string): unknown {
  if (error instanceof PayloadError) return new PayloadError(`${where}: ${error.message}`, error.issues);
  const isAboutKey = error instanceof OptionsError && error.issues[0]?.path === "concurrencyKey";
  if (isAboutKey && !error.message.startsWith(where)) {
    return new OptionsError(`${where}: ${error.message}`, error.issues, { cause: error.cause });
  }
  if (!(error instanceof SerializationError)) return error;
  return new SerializationError(`${where}: ${error.message}`, { cause: error.cause });
}
