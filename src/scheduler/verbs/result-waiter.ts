import { JobLookupError, SchedulerStateError } from "../../core/errors.ts";
import { RESULT_POLL_MS_MAX, RESULT_POLL_MS_MIN } from "../../core/limits.ts";
import { Wakeup } from "../../core/wakeup.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { DataStore } from "../../stores/data-store.ts";
import type { VerbContext } from "./verb-context.ts";

/** A job whose result somebody waits for. */
export interface AwaitedJob {
  readonly jobId: string;
  /** Whether it had not ended when the wait began, so that an event will tell of its end. */
  readonly isUnfinished: boolean;
}

/** What the scheduler that waits knows of a job. */
export interface HereAndNow {
  /** Whether the job runs in this scheduler, whose own events are not lost. */
  readonly isRunning: (jobId: string) => boolean;
  /** Whether a handler of this scheduler waits in vain: unless the job has ended, nobody is left to run it. */
  readonly isLost: (jobId: string) => boolean;
  /** Ends that handler's attempt. Returns the reason. */
  readonly giveUp: (jobId: string) => SchedulerStateError;
}

/**
 * Waits until a job has ended and returns its result. It waits for the job's event first, from before `begin` on, which
 * names the job and may add it; so the usual case costs one read. It also looks by itself, at growing intervals, since
 * the event may be lost or come from nowhere.
 *
 * @throws {JobLookupError} when there is neither a job nor a result
 * @throws {SchedulerStateError} when the scheduler stops first; in a handler, as soon as nobody is left to run the job
 * @throws the signal's reason when that is aborted
 */
export async function waitForResult(
  { env, closing }: VerbContext,
  here: HereAndNow,
  signal: AbortSignal | undefined,
  begin: () => Promise<AwaitedJob>,
): Promise<JobResultRecord> {
  const { store, clock, events } = env;
  const wakeup = new Wakeup(clock);
  const wake = (): void => wakeup.call();
  signal?.addEventListener("abort", wake, { once: true });
  closing.add(wake);
  /** Jobs that were told to have ended: all of them until the awaited one is known, then only that. */
  const ended = new Set<string>();
  let awaitedId: string | null = null;
  const subscription = events.subscribe("jobReleased", ({ jobId }) => {
    if (awaitedId !== null && jobId !== awaitedId) return;
    ended.add(jobId);
    wakeup.call();
  });
  try {
    const { jobId, isUnfinished } = await begin();
    awaitedId = jobId;
    if (!isUnfinished) ended.add(jobId);
    for (let pauseMs = RESULT_POLL_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, RESULT_POLL_MS_MAX)) {
      if (!ended.has(jobId)) await wakeup.wait(clock.now() + pauseMs);
      signal?.throwIfAborted();
      if (closing.isClosed) throw new SchedulerStateError(`the scheduler stopped before job "${jobId}" ended`);
      const isTold = ended.delete(jobId);
      if (!isTold && here.isRunning(jobId)) continue;
      // Before the store is asked, because an outcome that waits is recorded meanwhile.
      const isLost = here.isLost(jobId);
      const result = isTold ? await store.getJobResult(jobId, clock.now()) : null;
      if (result !== null) return result;
      const found = await resultUnlessUnfinished(store, jobId, clock.now());
      if (found !== null) return found;
      if (isLost) throw here.giveUp(jobId);
    }
  } finally {
    subscription.unsubscribe();
    signal?.removeEventListener("abort", wake);
    closing.delete(wake);
  }
}

/** In this order: a job that ends between the two look-ups is found. */
async function resultUnlessUnfinished(store: DataStore, jobId: string, now: number): Promise<JobResultRecord | null> {
  if ((await store.getJob(jobId)) !== null) return null;
  const result = await store.getJobResult(jobId, now);
  if (result !== null) return result;
  throw new JobLookupError(
    `there is no job "${jobId}" and no result of it: it never existed, its result expired, or none was to be kept`,
    jobId,
  );
}
