import type { JobResultRecord } from "../../../records/job-result.ts";
import { countsAsFailure, isFailure } from "../../../records/policies.ts";
import { failureOf } from "../../../records/schedule-failure.ts";
import type { CommitRequest, JobRelease, ReleaseStatus } from "../../data-store.ts";
import { guardSql, type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { type FlowMode, markDirty } from "../flow-control/key-limiters.ts";
import { type HistoryStatements, type LedgerSwitch, runEntries } from "../ledger/history-writes.ts";
import { countingEnds, type StatsStatements } from "../ledger/stats.ts";
import type { ScheduleStatements } from "../schedules/schedule-statements.ts";
import { JOB_STATE, type TableNames } from "../schema/tables.ts";
import { instantKey, KEY_ID, KEY_INSTANT, lazily, memberParameters, rowParameters } from "../sql-and-json.ts";
import type { DependencyStatements } from "./dependencies.ts";
import { type LogStatements, logsOfLeased } from "./logs-of-jobs.ts";
import { resultDetails, resultRow } from "./results.ts";

type StatementsOfReleases = Pick<ScheduleStatements, "countEnds"> &
  ReleaseStatements &
  LogStatements &
  DependencyStatements &
  HistoryStatements &
  StatsStatements &
  LedgerSwitch;

type Finish = JobRelease & { kind: "finish" };

/** The releases of one commit, as statements. */
export class Releases {
  readonly #statements: StatementsOfReleases;
  readonly #request: CommitRequest;
  readonly #flow: FlowMode;
  readonly #finished: Finish[] = [];
  readonly #putBack: JobRelease[] = [];
  readonly #started: JobRelease[] = [];
  /** The first release of each job: a second one does not count. */
  readonly #first = new Map<string, JobRelease>();

  /** @param flow without flow control, a guard undoes the batch for a job that has a concurrency key */
  constructor(statements: StatementsOfReleases, request: CommitRequest, flow: FlowMode) {
    this.#statements = statements;
    this.#request = request;
    this.#flow = flow;
    for (const release of request.releases) {
      if (this.#first.has(release.jobId)) continue;
      this.#first.set(release.jobId, release);
      if (release.kind === "finish") this.#finished.push(release);
      else if (release.kind === "start") this.#started.push(release);
      else this.#putBack.push(release);
    }
  }

  /** Whether the commit puts a job back. Recovery may have to end that job, or to take it back. */
  get hasPutBacks(): boolean {
    return this.#putBack.length > 0;
  }

  /** The statements for releases that all count. Guards undo the batch when one does not count.
   *  @param hasParents whether jobs that end may have children. If not, and one has, a guard undoes the batch too */
  hopefully(hasParents: boolean): SqlStatement[] {
    const { guardChanges } = this.#statements;
    return [
      ...this.#logs(),
      ...this.#counting(),
      ...this.#keeping(this.#kept().map(({ result }) => result)),
      ...this.#entries(this.#flow === "off"),
      ...this.#counts(true),
      ...this.#failures(),
      ...this.#dirtyLimiters(),
      ...(hasParents ? this.#ends() : []),
      ...[...this.#removals(hasParents), ...this.#puttingsBack(), ...this.#starts()].flatMap(({ count, ...one }) => [
        one,
        statement(guardChanges, count),
      ]),
    ];
  }

  /** The statements for releases of which some may not count. {@link statuses} tells which do. The commit has flow
   *  control. */
  exactly(isRepetition: boolean): SqlStatement[] {
    const { schedulerId, commitId } = this.#request;
    const { releaseStatuses, keepResultsOfLeased } = this.#statements;
    const kept = rowParameters(this.#kept().map((release) => [...resultRow(release.result), release.fence]));
    return [
      ...this.#jobRows(this.#request.releases).map(({ text }) =>
        statement(releaseStatuses, text, schedulerId, isRepetition ? 1 : 0, commitId),
      ),
      ...this.#logs(),
      ...this.#counting(),
      ...kept.map(({ text }) => statement(keepResultsOfLeased, text, schedulerId)),
      ...this.#entries(false),
      ...this.#counts(false),
      ...this.#failures(),
      ...this.#dirtyLimiters(),
      ...this.#ends(),
      ...[...this.#removals(true), ...this.#puttingsBack(), ...this.#starts()].map(({ count: _, ...one }) => one),
    ];
  }

  /** What became of each release. `answers` are the answers to {@link exactly}, or null when all releases counted. */
  statuses(answers: readonly Row[][] | null): ReleaseStatus[] {
    const letters = answers?.map((rows) => rows[0]?.letters ?? "").join("");
    return this.#request.releases.map((release, index) => {
      const letter = letters === undefined ? "r" : letters[index];
      if (letter !== "r") return letter === "f" ? "fenced" : "missing";
      const first = this.#first.get(release.jobId);
      if (first === release) return "released";
      return first?.kind === "finish" ? "missing" : "fenced";
    });
  }

  #logs(): SqlStatement[] {
    return logsOfLeased(this.#statements, [...this.#first.values()], this.#request.schedulerId);
  }

  /** Whether an end counts for the failures of its schedule. */
  get countsEnds(): boolean {
    return this.#finished.some(({ countsFor }) => countsFor !== undefined);
  }

  #counting(): SqlStatement[] {
    if (!this.countsEnds) return [];
    const rows = this.#finished.flatMap(({ jobId, fence, countsFor, result }) => {
      const hasFailed = countsAsFailure(result.outcome);
      return countsFor === undefined || hasFailed === null ? [] : [[jobId, fence, countsFor, hasFailed ? 1 : 0]];
    });
    return rowParameters(rows).map(({ text }) =>
      statement(this.#statements.countEnds, text, this.#request.schedulerId),
    );
  }

  #kept(): Finish[] {
    return this.#finished.filter((release) => release.result.expiresAt > this.#request.now);
  }

  #entries(isPlain: boolean): SqlStatement[] {
    return runEntries(this.#statements, this.#finished, this.#request.schedulerId, isPlain);
  }

  #counts(isSure: boolean): SqlStatement[] {
    return countingEnds(this.#statements, this.#finished, this.#request.schedulerId, isSure);
  }

  /** What schedules keep of the jobs that failed. Nearly always there is none. */
  #failures(): SqlStatement[] {
    const failed = this.#finished.filter(({ result }) => result.scheduleId !== null && isFailure(result.outcome));
    const rows = failed.map(({ jobId, fence, result }) => [
      ...[jobId, fence, result.finishedAt, JSON.stringify(failureOf(result))],
    ]);
    return rowParameters(rows).map(({ text }) =>
      statement(this.#statements.recordFailed, text, this.#request.schedulerId),
    );
  }

  /** Nearly always the results are those of one task and of one outcome. Then the values that they share travel once,
   *  which costs SQLite half of it. */
  #keeping(results: readonly JobResultRecord[]): SqlStatement[] {
    const [first] = results;
    const { keepResults, keepAlikeResults } = this.#statements;
    if (first === undefined || !results.every((result) => isAlike(result, first))) {
      return rowParameters(results.map(resultRow)).map(({ text }) => statement(keepResults, text));
    }
    const { taskId, scheduleId, outcome } = first;
    const rows = results.map((result) => [instantKey(result.finishedAt, result.jobId), resultDetails(result)] as const);
    return memberParameters(rows).map(({ text }) =>
      statement(keepAlikeResults, text, taskId, scheduleId, outcome, keptFor(first)),
    );
  }

  /** The statements that write the outcomes of the jobs into the dependencies of their children. */
  #ends(): SqlStatement[] {
    const rows = this.#finished.map(({ jobId, fence, result }) => [jobId, fence, result.outcome]);
    const { schedulerId } = this.#request;
    return rowParameters(rows).map(({ text }) => statement(this.#statements.endFinished, text, schedulerId));
  }

  /** Whatever becomes of the jobs, their key limiters may have room afterwards. */
  #dirtyLimiters(): SqlStatement[] {
    if (this.#flow === "off") return [];
    const { schedulerId, now } = this.#request;
    return this.#jobRows([...this.#finished, ...this.#putBack]).map(({ text }) =>
      statement(this.#statements.markReleased, text, schedulerId, now),
    );
  }

  #removals(hasParents: boolean): CountedStatement[] {
    const rows = this.#finished.map(({ jobId, fence }) => [jobId, fence] as const);
    const [withKey, withChildren] = [this.#flow === "on" ? 1 : 0, hasParents ? 1 : 0];
    return memberParameters(rows).map(({ text, count }) => ({
      count,
      ...statement(this.#statements.removeFinished, text, this.#request.schedulerId, withKey, withChildren),
    }));
  }

  #puttingsBack(): CountedStatement[] {
    const { schedulerId, now, commitId } = this.#request;
    const withKey = this.#flow === "on" ? 1 : 0;
    const rows = this.#putBack.map((release) =>
      release.kind === "retry"
        ? [
            release.jobId,
            release.fence,
            release.runAt,
            release.failedAttempts,
            false,
            jsonOrNull(release.attemptHistory),
            jsonOrNull(release.sleep),
          ]
        : [release.jobId, release.fence, null, null, ...lossOf(release)],
    );
    return rowParameters(rows).map(({ text, count }) => ({
      count,
      ...statement(this.#statements.putBack, text, schedulerId, now, commitId, withKey),
    }));
  }

  #starts(): CountedStatement[] {
    return this.#jobRows(this.#started).map(({ text, count }) => ({
      count,
      ...statement(this.#statements.markStarted, text, this.#request.schedulerId),
    }));
  }

  #jobRows(releases: readonly JobRelease[]): { readonly text: string; readonly count: number }[] {
    return rowParameters(releases.map(({ jobId, fence, kind }) => [jobId, fence, KIND_NUMBERS[kind]]));
  }
}

function isAlike(result: JobResultRecord, other: JobResultRecord): boolean {
  return (
    result.taskId === other.taskId &&
    result.scheduleId === other.scheduleId &&
    result.outcome === other.outcome &&
    keptFor(result) === keptFor(other)
  );
}

function keptFor({ finishedAt, expiresAt }: JobResultRecord): number {
  return expiresAt - finishedAt;
}

/** The kinds of releases as `releaseStatuses` reads them. */
const KIND_NUMBERS: Readonly<Record<JobRelease["kind"], number>> = { finish: 0, retry: 1, giveUp: 1, start: 2 };

/** A statement, and how many rows it is to change. */
interface CountedStatement extends SqlStatement {
  readonly count: number;
}

/** Whether a job that is given up may have started, and its attempts. */
function lossOf(release: JobRelease): readonly unknown[] {
  if (release.kind !== "giveUp" || release.hasStarted !== true) return [false];
  return release.attemptHistory === undefined ? [true] : [true, JSON.stringify(release.attemptHistory)];
}

function jsonOrNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

const { delayed, ready, leased, blocked } = JOB_STATE;

/** The statements that release jobs. A comment before each statement lists its arguments; `value` is a row of a JSON
 *  parameter. */
export interface ReleaseStatements {
  readonly releaseStatuses: string;
  readonly keepResults: string;
  readonly keepAlikeResults: string;
  readonly keepResultsOfLeased: string;
  readonly removeFinished: string;
  readonly putBack: string;
  readonly markReleased: string;
  readonly markStarted: string;
  readonly recordFailed: string;
  readonly guardChanges: string;
}

export function releaseStatements(names: TableNames): ReleaseStatements {
  const { jobs, results } = names;
  const columns = "job_id, task_id, schedule_id, outcome, expires_at, finished_at, details";
  const intoResults = `INSERT OR REPLACE INTO ${results} (${columns})`;
  const resultRows = "SELECT r.value->>0, r.value->>1, r.value->>2, r.value->>3, r.value->>4, r.value->>5, r.value->>6";
  const alikeValues = `${KEY_ID}, ?2, ?3, ?4, ${KEY_INSTANT} + ?5, ${KEY_INSTANT}, value`;
  const isLost = "(cancel_requested OR coalesce(r.value->>4, 0))";
  // A job that this commit put back carries the commit's id. If the commit leased the job again, its fence is higher by
  // one.
  const wasPutBack = "j.acquisition_id = ?4 AND j.fence - (r.value->>1) IN (0, 1)";

  return lazily<ReleaseStatements>({
    // ?1 rows [jobId, fence, 0 for an end, 1 for a put-back or 2 for a start], ?2 schedulerId, ?3 whether this may be a
    // repetition, ?4 commitId.
    // Column: `letters`, one letter per row: r (released), f (fenced) or m (missing).
    releaseStatuses: () =>
      "SELECT group_concat(CASE WHEN j.fence = r.value->>1 AND j.acquired_by = ?2 THEN 'r' " +
      `WHEN ?3 AND r.value->>2 = 1 AND ${wasPutBack} THEN 'r' WHEN j.id IS NOT NULL THEN 'f' ` +
      `WHEN ?3 AND r.value->>2 < 2 AND EXISTS (SELECT 1 FROM ${results} WHERE job_id = r.value->>0) THEN 'r' ` +
      `ELSE 'm' END, '') AS letters FROM json_each(?1) r LEFT JOIN ${jobs} j ON j.id = r.value->>0`,
    // ?1 rows of resultRow
    keepResults: () => `${intoResults} ${resultRows} FROM json_each(?1) r`,
    // ?1 members: finishedAt and jobId, then the details; the values that all rows share: ?2 taskId, ?3 scheduleId,
    // ?4 outcome, ?5 for how many milliseconds the results are kept
    keepAlikeResults: () => `${intoResults} SELECT ${alikeValues} FROM json_each(?1)`,
    // ?1 rows of resultRow, each with the fence at its end, ?2 schedulerId
    keepResultsOfLeased: () =>
      `${intoResults} ${resultRows} FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
      "WHERE j.fence = r.value->>7 AND j.acquired_by = ?2",
    // ?1 members jobId: fence, ?2 schedulerId, ?3 whether to remove jobs with a key, ?4 whether to remove jobs that
    // have children. A guard notices a job that was left.
    removeFinished: () =>
      `DELETE FROM ${jobs} WHERE seq IN (SELECT j.seq FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.key ` +
      "WHERE j.fence = r.value AND j.acquired_by = ?2 AND (?3 OR j.concurrency_key IS NULL) " +
      "AND (?4 OR j.has_children = 0))",
    // ?1 rows [jobId, fence, runAt or null, failedAttempts or null, whether the job started, attemptHistory as JSON or
    // null, sleep as JSON or nothing], ?2 schedulerId, ?3 now, ?4 commitId, ?5 whether to put jobs with
    // a key back. A job that is to be cancelled, or that had started, gets a lease that has ended, so that
    // recovery, which follows, ends the job or takes it back.
    putBack: () =>
      `UPDATE ${jobs} SET state = CASE WHEN ${isLost} THEN ${leased} ` +
      `WHEN coalesce(r.value->>2 > ?3, 0) THEN ${delayed} WHEN concurrency_key IS NULL THEN ${ready} ` +
      `ELSE ${blocked} END, run_at = coalesce(r.value->>2, run_at), virtual_time = NULL, ` +
      // The result of a job that ends here counts its last attempt as one without an end.
      "failed_attempts = CASE WHEN cancel_requested THEN failed_attempts " +
      "ELSE coalesce(r.value->>3, failed_attempts) END, " +
      "attempt_history = coalesce(r.value->>5, attempt_history), " +
      "started_fence = CASE WHEN r.value->>4 OR r.value->>6 IS NOT NULL THEN fence ELSE started_fence END, " +
      "details = CASE WHEN r.value->>6 IS NOT NULL AND json_valid(details) " +
      "THEN json_set(details, '$.sleep', json(r.value->>6)) ELSE details END, " +
      `acquired_by = CASE WHEN ${isLost} THEN acquired_by END, ` +
      `acquired_until = CASE WHEN ${isLost} THEN ?3 END, acquisition_id = ?4 ` +
      `FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 AND ${jobs}.fence = r.value->>1 ` +
      `AND ${jobs}.acquired_by = ?2 AND (?5 OR concurrency_key IS NULL)`,
    // ?1 rows [jobId, fence, ...], ?2 schedulerId, ?3 now. Precedes the statements that remove jobs or put them back.
    markReleased: () =>
      markDirty(
        names,
        "SELECT DISTINCT j.task_id, j.concurrency_key, CAST(?3 AS INTEGER) FROM json_each(?1) r " +
          `CROSS JOIN ${jobs} j ON j.id = r.value->>0 WHERE j.fence = r.value->>1 AND j.acquired_by = ?2 ` +
          "AND j.concurrency_key IS NOT NULL",
      ),
    // ?1 rows [jobId, fence], ?2 schedulerId
    markStarted: () =>
      `UPDATE ${jobs} SET started_fence = fence FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 ` +
      `AND ${jobs}.fence = r.value->>1 AND ${jobs}.acquired_by = ?2`,
    // ?1 rows [jobId, fence, finishedAt, ScheduleFailure as JSON], ?2 schedulerId. Precedes the statements that remove
    // the jobs. SQLite takes the failure of the row with the last end.
    recordFailed: () =>
      `UPDATE ${names.schedules} SET last_failure = f.failure FROM (SELECT j.schedule_id AS schedule, ` +
      `max(r.value->>2), r.value->>3 AS failure FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
      "WHERE j.fence = r.value->>1 AND j.acquired_by = ?2 AND j.schedule_id IS NOT NULL GROUP BY j.schedule_id) f " +
      `WHERE ${names.schedules}.id = f.schedule`,
    // ?1 how many rows the statement before this one must have changed
    guardChanges: () => `SELECT ${guardSql("changes() = ?1")} AS guard`,
  });
}
