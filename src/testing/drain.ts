import type { TickReport } from "../scheduler/driving/tick.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";

/** Most ticks of one {@link drain}: a handler that keeps adding jobs would never end it. */
const TICKS_MAX = 10_000;

/**
 * Runs everything that is due now on a scheduler that was not started, until nothing is, and returns the reports of
 * its ticks. With a `VirtualClock` this tests what a schedule does without a loop or a sleep.
 *
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
