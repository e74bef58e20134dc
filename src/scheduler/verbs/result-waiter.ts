import { JobLookupError, SchedulerStateError, StoreUnavailableError } from "../../core/errors.ts";
import { Wakeup } from "../../core/wakeup.ts";
import type { EventRecord } from "../../records/events.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { NO_WORKER_MS, RESULT_POLL_MS_MAX, RESULT_POLL_MS_MIN } from "./limits.ts";
import type { VerbContext } from "./verb-context.ts";

/** A job whose result somebody waits for. */
export interface AwaitedJob {
  readonly jobId: string;
  /** Whether the job had not ended when the wait began, so that an event will tell of its end. */
  readonly isUnfinished: boolean;
  /** Whether its result will be kept long enough to be read. If not, the event is all that tells how it ended. */
  readonly keepsResult: boolean;
}

/** What the scheduler that waits knows of a job. */
export interface HereAndNow {
  /** Whether the job runs in this scheduler, whose own events are not lost. */
  readonly isRunning: (jobId: string) => boolean;
  /** Whether a handler of this scheduler waits in vain: unless the job has ended, nobody is left to run it. */
  readonly isLost: (jobId: string) => boolean;
  /** Somebody has waited for a job for a while. Never rejects. */
  readonly waitsLong: (jobId: string) => Promise<void>;
  /** Ends that handler's attempt. Returns the reason. */
  readonly giveUp: (jobId: string) => SchedulerStateError;
}

/**
 * Waits until a job has ended, and returns its result. The job's event ends the wait, so that the usual case costs one
 * read. The function also looks into the store by itself, at growing intervals, because the event may be lost.
 *
 * @param begin names the job, and may add it. Events are heard from before this call on
 * @throws {JobLookupError} when there is neither a job nor a result
 * @throws {SchedulerStateError} when the scheduler stops before the job ends; in a handler, as soon as nobody is left
 *   to run the job
 * @throws the signal's reason when the signal is aborted
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
  /** Jobs that have ended, as an event said: all such jobs until the awaited job is known, then only that
   *  job. */
  const ended = new Map<string, EventRecord<"jobReleased"> | null>();
  let awaitedId: string | null = null;
  const listener = (event: EventRecord<"jobReleased">): void => {
    const { jobId } = event;
    if (awaitedId !== null && jobId !== awaitedId) return;
    ended.set(jobId, event);
    wakeup.call();
  };
  // The event may have come and gone in a gap: then the store is asked.
  const subscription = events.subscribe("jobReleased", listener, { onGap: wake });
  try {
    const { jobId, isUnfinished, keepsResult } = await begin();
    awaitedId = jobId;
    if (!isUnfinished) ended.set(jobId, null);
    let longAt = clock.now() + NO_WORKER_MS;
    for (let pauseMs = RESULT_POLL_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, RESULT_POLL_MS_MAX)) {
      if (!ended.has(jobId)) await wakeup.wait(clock.now() + pauseMs);
      signal?.throwIfAborted();
      if (closing.isClosed) throw stoppedBefore(jobId);
      const event = ended.get(jobId) ?? null;
      const hasEnded = ended.delete(jobId);
      if (event !== null && !keepsResult) return resultFromEvent(event);
      if (!hasEnded && here.isRunning(jobId)) continue;
      // Before the store is asked, because an outcome that waits is recorded meanwhile.
      const isLost = here.isLost(jobId);
      const result = hasEnded ? await store.getJobResult(jobId, clock.now()) : null;
      if (result !== null) return result;
      const found = await resultUnlessUnfinished(store, jobId, clock.now(), event);
      if (found !== null) return found;
      if (isLost) throw here.giveUp(jobId);
      if (clock.now() < longAt) continue;
      longAt = Number.POSITIVE_INFINITY;
      await here.waitsLong(jobId);
    }
  } catch (error) {
    // A stop closes the store in the middle of a read.
    if (awaitedId !== null && closing.isClosed && error instanceof StoreUnavailableError)
      throw stoppedBefore(awaitedId);
    throw error;
  } finally {
    subscription.unsubscribe();
    signal?.removeEventListener("abort", wake);
    closing.delete(wake);
  }
}

function stoppedBefore(jobId: string): SchedulerStateError {
  return new SchedulerStateError(`the scheduler stopped before job "${jobId}" ended`);
}

/** What an event tells of a result that is not kept: all but the return value and the number of attempts. */
function resultFromEvent(event: EventRecord<"jobReleased">): JobResultRecord {
  const { jobId, taskId, scheduleId, outcome, error, timestampMs } = event;
  return {
    jobId,
    taskId,
    scheduleId,
    scheduledFireTime: event.scheduledFireTimeMs,
    outcome,
    startedAt: event.startedAtMs,
    finishedAt: timestampMs,
    attempts: 1,
    returnValue: null,
    error,
    expiresAt: timestampMs,
  };
}

/** The result of a job; null while the job is unfinished. The job is read before the result: in the other order, a job
 *  that ends between the two reads would seem not to exist. @param event that of the job's end, which is all that
 *  is left when no result is kept; or null @throws {JobLookupError} when there is nothing */
async function resultUnlessUnfinished(
  store: DataStore,
  jobId: string,
  now: number,
  event: EventRecord<"jobReleased"> | null,
): Promise<JobResultRecord | null> {
  if ((await store.getJob(jobId)) !== null) return null;
  const result = await store.getJobResult(jobId, now);
  if (result !== null) return result;
  if (event !== null) return resultFromEvent(event);
  throw unknownJob(jobId);
}

export function unknownJob(id: string): JobLookupError {
  const why = "another one took its place (overlap, coalesce), its result expired, or none was to be kept";
  return new JobLookupError(`there is no job "${id}" and no result of it: it never existed, ${why}`, id);
}
