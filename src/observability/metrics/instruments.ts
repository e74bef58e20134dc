import { Counter, type Family, Histogram } from "./families.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** From an exact timer to a schedule that waited for a process over night. */
const DELAY_BOUNDS_MS: readonly number[] = [
  ...[5, 10, 25, 50, 100, 250, 500, SECOND, 2.5 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND],
  ...[MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE],
];
/** From the memory store to a database that is as good as gone. */
const REQUEST_BOUNDS_MS: readonly number[] = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, SECOND, 2.5 * SECOND, 10 * SECOND];

/** Everything that is counted and timed in this process. */
export class Instruments {
  readonly fires: Counter = new Counter("escapement_fires_total", "Jobs that fire times of schedules made.");
  readonly occurrencesSkipped: Counter = new Counter(
    "escapement_occurrences_skipped_total",
    "Fire times that made no job of their own: the earlier run was unfinished (overlap, replaced), or one job stands " +
      "for several of them (coalesced).",
  );
  readonly occurrenceAlarms: Counter = new Counter(
    "escapement_occurrence_alarms_total",
    "Occurrences that this process found overdue, because they have not started or not ended in time, by kind.",
  );
  readonly jobsFinished: Counter = new Counter("escapement_jobs_finished_total", "Jobs that ended, by outcome.");
  readonly attemptsFailed: Counter = new Counter(
    "escapement_attempts_failed_total",
    "Attempts that failed, those that are tried again included.",
  );
  readonly jobsRecovered: Counter = new Counter(
    "escapement_jobs_recovered_total",
    "Jobs that went back to the queue because they were lost with their process, or given back by a stop.",
  );
  readonly stepsFinished: Counter = new Counter(
    "escapement_steps_finished_total",
    "Steps of jobs (context.step) that were recorded as ended.",
  );
  readonly jobsSlept: Counter = new Counter(
    "escapement_jobs_slept_total",
    "Attempts that ended without a failure, because the job sleeps in a step or its handler threw RetryAfter.",
  );
  readonly leasesLost: Counter = new Counter(
    "escapement_leases_lost_total",
    "Attempts of this process whose outcome does not count, because their lease was lost.",
  );
  readonly fireDelay: Histogram = new Histogram(
    "escapement_fire_delay_seconds",
    "From a fire time to the commit of its job.",
    DELAY_BOUNDS_MS,
  );
  readonly queueWait: Histogram = new Histogram(
    "escapement_queue_wait_seconds",
    "From the moment from which on a job may run to the beginning of an attempt.",
    DELAY_BOUNDS_MS,
  );
  readonly startLateness: Histogram = new Histogram(
    "escapement_start_lateness_seconds",
    "From a fire time to the beginning of the first attempt of its job.",
    DELAY_BOUNDS_MS,
  );
  readonly jobDuration: Histogram = new Histogram(
    "escapement_job_duration_seconds",
    "Run time of an attempt.",
    DELAY_BOUNDS_MS,
  );
  readonly storeRequest: Histogram = new Histogram(
    "escapement_store_request_seconds",
    "Time that the data store took for a call, by method.",
    REQUEST_BOUNDS_MS,
  );

  text(): string {
    const families: readonly Family[] = [
      this.fires,
      this.occurrencesSkipped,
      this.occurrenceAlarms,
      this.jobsFinished,
      this.attemptsFailed,
      this.jobsRecovered,
      this.stepsFinished,
      this.jobsSlept,
      this.leasesLost,
      this.fireDelay,
      this.queueWait,
      this.startLateness,
      this.jobDuration,
      this.storeRequest,
    ];
    return families.map((family) => family.text()).join("");
  }
}
