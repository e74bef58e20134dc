import type { Scheduler } from "../scheduler/scheduler.ts";
import type { TickReport } from "../scheduler/views/tick-report.ts";

/** Most ticks of one {@link drain}, because a handler that keeps adding jobs would let it run for ever. */
const TICKS_MAX = 10_000;

/**
 * Ticks a scheduler that was not started until nothing is due any more. Returns the reports of the ticks that did
 * something. With a `VirtualClock`, a test sees what a schedule does without a loop or a sleep.
 *
 * @example
 * await clock.advance({ hours: 1 });
 * const reports = await drain(scheduler);
 * @throws {SchedulerStateError} when the scheduler was started or stopped
 * @throws {StoreUnavailableError} when the store cannot be reached
 * @throws {Error} when there is still something due after 10,000 ticks
 */
export async function drain(scheduler: Scheduler): Promise<TickReport[]> {
  const reports: TickReport[] = [];
  while (reports.length < TICKS_MAX) {
    const report = await scheduler.tick();
    if (report.jobsRun === 0 && report.schedulesProcessed === 0 && !report.exhausted) return reports;
    reports.push(report);
  }
  throw new Error(`drain(): there is still work after ${TICKS_MAX} ticks; does a handler add a job for every job?`);
}
