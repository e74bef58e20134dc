import { INSTANT_MS_MAX } from "../../core/temporal.ts";
import type { JobResultRecord, KeptJob } from "../../records/job-result.ts";
import type { Run } from "../../records/ledger.ts";
import { statement } from "./batch.ts";
import type { SqlStatement } from "./driver.ts";
import { runVerdict } from "./entries.ts";
import { instantKey, memberParameters, rowParameters } from "./parameters.ts";
import type { Statements } from "./statements.ts";

/** A job that ends, as a scheduler releases it. */
interface FinishedJob {
  readonly jobId: string;
  readonly fence: number;
  readonly result: JobResultRecord;
}

/**
 * The statements that enter the runs of jobs into the ledger; none when no fire time made any of the jobs. They precede
 * those that remove the jobs.
 * @param isPlain whether the releases count for sure, of jobs without a concurrency key
 */
export function runEntries(
  { keepsLedger, enterRuns, enterHeldRuns }: Statements,
  finished: readonly FinishedJob[],
  schedulerId: string,
  isPlain: boolean,
): SqlStatement[] {
  if (!keepsLedger) return [];
  const fired = finished.filter(isFired);
  if (fired.length === 0) return [];
  if (!isPlain || !fired.every(isWhole)) {
    const rows = fired.map(({ jobId, fence, result: { outcome, startedAt, finishedAt, attempts } }) => [
      ...[jobId, fence, runVerdict(outcome), startedAt, finishedAt, attempts],
    ]);
    return rowParameters(rows).map(({ text }) => statement(enterHeldRuns, text, schedulerId));
  }
  // Nearly always the jobs end alike.
  return [...new Set(fired.map(({ result }) => result.outcome))].flatMap((outcome) => {
    const rows = fired.flatMap(({ result }) => (result.outcome === outcome ? [memberOf(result)] : []));
    return memberParameters(rows).map(({ text }) => statement(enterRuns, text, runVerdict(outcome)));
  });
}

interface WholeJob extends FinishedJob {
  readonly result: JobResultRecord & { readonly job: KeptJob & { readonly fireTime: number } };
}

/** Whether a fire time made the job, as far as the result tells. */
function isFired({ result: { scheduleId, scheduledFireTime, job } }: FinishedJob): boolean {
  return scheduleId !== null && (scheduledFireTime !== null || (job?.fireTime ?? null) !== null);
}

/** Whether the result has all that a run needs. */
function isWhole(finished: FinishedJob): finished is WholeJob {
  const { job } = finished.result;
  return job !== undefined && job.fireTime !== null;
}

function memberOf(result: WholeJob["result"]): readonly [key: string, json: string] {
  return [instantKey(result.job.fireTime, runText(result)), JSON.stringify(result.scheduleId)];
}

/** The column `run`: the jitter, when the job was made, its start and its end, its attempts, whether it was keyed, and
 *  its id after a slash. The first two instants are differences to the fire time, the others to when the job was made;
 *  a hyphen stands for none. This costs a third less than a column for each. */
function runText({ jobId, scheduledFireTime, startedAt, finishedAt, attempts, job }: WholeJob["result"]): string {
  const { fireTime, createdAt } = job;
  const jitter = scheduledFireTime === null ? 0 : scheduledFireTime - fireTime;
  const started = startedAt === null ? "-" : startedAt - createdAt;
  return `${jitter} ${createdAt - fireTime} ${started} ${finishedAt - createdAt} ${attempts} 0 /${jobId}`;
}

/** What the column `run` of a fire time tells. */
export function readRun(text: string, fireTime: number): Omit<Run, "fireTime" | "outcome"> {
  const slash = text.indexOf("/");
  const [jitter, created, started, finished, attempts, keyed] = text.slice(0, Math.max(slash, 0)).split(" ");
  const createdAt = instantAfter(fireTime, created);
  return {
    scheduledFireTime: instantAfter(fireTime, jitter),
    jobId: text.slice(slash + 1),
    createdAt,
    startedAt: started === "-" ? null : instantAfter(createdAt, started),
    finishedAt: instantAfter(createdAt, finished),
    attempts: numberOf(attempts),
    isKeyed: keyed === "1",
  };
}

/** In a damaged row the instant itself, where the sum would be none. */
function instantAfter(instant: number, difference: string | undefined): number {
  const sum = instant + numberOf(difference);
  return Math.abs(sum) <= INSTANT_MS_MAX ? sum : instant;
}

/** 0 in a damaged row. */
function numberOf(text: string | undefined): number {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : 0;
}
