import type { JobRecord } from "../../records/job.ts";
import type { OccurrenceRecord, OccurrenceRunRecord, Skip } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { type OccurrenceVerdict, verdictOfOutcome } from "../options/occurrence-verdicts.ts";
import type { OccurrenceRunFacts } from "../views/occurrence.ts";

/** What the store knows of one fire time. */
export interface FireTimeFacts {
  readonly now: number;
  readonly fireTime: number;
  /** As it is now; null when it was removed. */
  readonly schedule: ScheduleRecord | null;
  /** The entry of the ledger that has the fire time; null for none. */
  readonly entry: OccurrenceRecord | null;
  /** The unfinished job of the fire time; null for none. */
  readonly job: JobRecord | null;
}

/** The verdict on a fire time, and what it stands on. */
export interface Finding {
  readonly fireTime: number;
  readonly verdict: OccurrenceVerdict | "upcoming" | "unrecorded";
  readonly run: OccurrenceRunRecord | null;
  readonly skip: Skip | null;
  readonly job: JobRecord | null;
}

/** The verdict on a fire time. */
export function findingOf({ now, fireTime, schedule, entry, job }: FireTimeFacts): Finding {
  const none = { fireTime, run: null, skip: null, job: null };
  if (entry?.kind === "run") return { ...none, verdict: verdictOfOutcome(entry.outcome), run: entry };
  if (entry?.kind === "skip") return { ...none, verdict: entry.verdict, skip: entry };
  if (job !== null) return { ...none, verdict: "waiting", job };
  if (fireTime > now) return { ...none, verdict: "upcoming" };
  const from = unprocessedFrom(schedule);
  if (schedule === null || from === null || fireTime < from) return { ...none, verdict: "unrecorded" };
  return { ...none, verdict: schedule.paused ? "paused" : "waiting" };
}

/** From when on nobody has processed fire times; null for a schedule that has no more of them. The next fire time of a
 *  new rule may lie behind the last one that was processed, and a schedule never goes back. */
export function unprocessedFrom(schedule: ScheduleRecord | null): number | null {
  if (schedule === null || schedule.nextFireTime === null) return null;
  const { nextFireTime, lastFireTime } = schedule;
  return lastFireTime === null ? nextFireTime : Math.max(nextFireTime, lastFireTime + 1);
}

/** What is shown of the job of a fire time. */
export function runFactsOf({ run, job }: Pick<Finding, "run" | "job">): OccurrenceRunFacts | null {
  if (run !== null) {
    const { jobId, scheduledFireTime, createdAt, startedAt, finishedAt, attempts } = run;
    return { jobId, scheduledFireTime, createdAt, startedAt, finishedAt, attempts };
  }
  if (job === null) return null;
  const attempts = job.failedAttempts + job.recoveries + (isRunning(job) ? 1 : 0);
  const scheduledFireTime = job.scheduledFireTime ?? job.runAt;
  return { jobId: job.id, scheduledFireTime, createdAt: job.createdAt, startedAt: null, finishedAt: null, attempts };
}

/** Whether somebody has a job under a lease. */
export function isRunning({ acquiredUntil }: JobRecord): boolean {
  return acquiredUntil !== null;
}
