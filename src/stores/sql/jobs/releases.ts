import type { JobResultRecord } from "../../../records/job-result.ts";
import { countsAsFailure, isFailure } from "../../../records/policies.ts";
import { failureOf } from "../../../records/schedule-failure.ts";
import type { CommitRequest, JobRelease, ReleaseStatus } from "../../data-store.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { FlowMode } from "../flow-control/key-limiters.ts";
import { type HistoryStatements, type LedgerSwitch, runEntries } from "../history/history-writes.ts";
import { countingEnds, type StatsStatements } from "../history/stats.ts";
import type { ScheduleStatements } from "../schedules/schedule-statements.ts";
import { instantKey, memberParameters, rowParameters } from "../sql-and-json.ts";
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
