import { JobLookupError, SchedulerStateError } from "../../core/errors.ts";
import { RESULT_POLL_MS_MAX, RESULT_POLL_MS_MIN } from "../../core/limits.ts";
import { Wakeup } from "../../core/wakeup.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { VerbContext } from "./verb-context.ts";

/**
 * Waits until a job has ended, and returns its result. The job's event ends the wait. The function also looks into the
 * store by itself, at growing intervals, because the event may be lost.
 *
 * @throws {JobLookupError} when there is neither a job nor a result
 * @throws {SchedulerStateError} when the scheduler stops before the job ends
 * @throws the signal's reason when the signal is aborted
 */
export async function waitForResult(
  { env, closing }: VerbContext,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<JobResultRecord> {
  const { store, clock, events } = env;
  const wakeup = new Wakeup(clock);
  const wake = (): void => wakeup.call();
  signal?.addEventListener("abort", wake, { once: true });
  closing.add(wake);
  const subscription = events.subscribe("jobReleased", (event) => {
    if (event.jobId === jobId) wakeup.call();
  });
  try {
    for (let pauseMs = RESULT_POLL_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, RESULT_POLL_MS_MAX)) {
      signal?.throwIfAborted();
      if (closing.isClosed) throw new SchedulerStateError(`the scheduler stopped before job "${jobId}" ended`);
      // First the job, then the result: in the other order, a job that ends between the two look-ups would seem not to
      // exist.
      const job = await store.getJob(jobId);
      const result = await store.getJobResult(jobId, clock.now());
      if (result !== null) return result;
      if (job === null) throw noResult(jobId);
      await wakeup.wait(clock.now() + pauseMs);
    }
  } finally {
    subscription.unsubscribe();
    signal?.removeEventListener("abort", wake);
    closing.delete(wake);
  }
}

function noResult(jobId: string): JobLookupError {
  return new JobLookupError(
    `there is no job "${jobId}" and no result of it: it never existed, its result expired, or none was to be kept`,
    jobId,
  );
}
