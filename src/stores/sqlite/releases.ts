import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobRelease, ReleaseStatus, StepRequest } from "../data-store.ts";
import { statement } from "./batch.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { instantKey, memberParameters, rowParameters } from "./parameters.ts";
import { resultDetails, resultRow } from "./rows.ts";
import { runEntries } from "./runs.ts";
import type { Statements } from "./statements.ts";

type Finish = JobRelease & { kind: "finish" };

/** The releases of one step, as statements. */
export class Releases {
  readonly #statements: Statements;
  readonly #request: StepRequest;
  readonly #isAware: boolean;
  readonly #finished: Finish[] = [];
  readonly #putBack: JobRelease[] = [];
  readonly #started: JobRelease[] = [];
  /** The first release of each job: a second one does not count. */
  readonly #first = new Map<string, JobRelease>();

  /** @param isAware whether the step heeds flow control. If not, the guards fail for jobs that need it. */
  constructor(statements: Statements, request: StepRequest, isAware: boolean) {
    this.#statements = statements;
    this.#request = request;
    this.#isAware = isAware;
    for (const release of request.releases) {
      if (this.#first.has(release.jobId)) continue;
      this.#first.set(release.jobId, release);
      if (release.kind === "finish") this.#finished.push(release);
      else if (release.kind === "start") this.#started.push(release);
      else this.#putBack.push(release);
    }
  }

  /** Whether the step puts a job back. Recovery may have to end that job, or to take it back. */
  get hasPutBacks(): boolean {
    return this.#putBack.length > 0;
  }

  /** The statements for releases that all count. Guards undo the batch when one does not count.
   *  @param hasParents whether jobs that end may have children. If not, and one has, a guard undoes the batch too */
  hopefully(hasParents: boolean): SqlStatement[] {
    const { guardChanges } = this.#statements;
    return [
      ...this.#keeping(this.#kept().map(({ result }) => result)),
      ...this.#entries(!this.#isAware),
      ...this.#wakes(),
      ...(hasParents ? this.#notes() : []),
      ...[...this.#removals(hasParents), ...this.#puttingsBack(), ...this.#marks()].flatMap(({ count, ...one }) => [
        one,
        statement(guardChanges, count),
      ]),
    ];
  }

  /** The statements for releases of which some may not count. {@link statuses} tells which do. They heed flow control,
   *  whatever the jobs are. */
  exactly(isRepetition: boolean): SqlStatement[] {
    const { schedulerId, stepId } = this.#request;
    const { releaseStatuses, keepHeldResults } = this.#statements;
    const kept = rowParameters(this.#kept().map((release) => [...resultRow(release.result), release.fence]));
    return [
      ...this.#jobRows(this.#request.releases).map(({ text }) =>
        statement(releaseStatuses, text, schedulerId, isRepetition ? 1 : 0, stepId),
      ),
      ...kept.map(({ text }) => statement(keepHeldResults, text, schedulerId)),
      ...this.#entries(false),
      ...this.#wakes(),
      ...this.#notes(),
      ...this.#removals(true).map(({ sql, args }) => ({ sql, args })),
      ...this.#puttingsBack().map(({ sql, args }) => ({ sql, args })),
      ...this.#marks().map(({ sql, args }) => ({ sql, args })),
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

  #kept(): Finish[] {
    return this.#finished.filter((release) => release.result.expiresAt > this.#request.now);
  }

  #entries(isPlain: boolean): SqlStatement[] {
    return runEntries(this.#statements, this.#finished, this.#request.schedulerId, isPlain);
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

  /** Tells the children of the jobs that end. */
  #notes(): SqlStatement[] {
    const rows = this.#finished.map(({ jobId, fence, result }) => [jobId, fence, result.outcome]);
    const { schedulerId } = this.#request;
    return rowParameters(rows).map(({ text }) => statement(this.#statements.noteFinished, text, schedulerId));
  }

  /** Whatever becomes of the jobs, their keys may have room afterwards. */
  #wakes(): SqlStatement[] {
    if (!this.#isAware) return [];
    const { schedulerId, now } = this.#request;
    return this.#jobRows([...this.#finished, ...this.#putBack]).map(({ text }) =>
      statement(this.#statements.wakeReleased, text, schedulerId, now),
    );
  }

  #removals(hasParents: boolean): Counted[] {
    const { removeHeld, removeHeldAware, removeHeldParents } = this.#statements;
    const aware = hasParents ? removeHeldParents : removeHeldAware;
    const rows = this.#finished.map(({ jobId, fence }) => [jobId, fence] as const);
    return memberParameters(rows).map(({ text, count }) => ({
      count,
      ...statement(this.#isAware ? aware : removeHeld, text, this.#request.schedulerId),
    }));
  }

  #puttingsBack(): Counted[] {
    const { schedulerId, now, stepId } = this.#request;
    const putBack = this.#isAware ? this.#statements.putBackAware : this.#statements.putBack;
    const rows = this.#putBack.map((release) =>
      release.kind === "retry"
        ? [
            release.jobId,
            release.fence,
            release.runAt,
            release.failedAttempts,
            false,
            jsonOrNull(release.attemptHistory),
          ]
        : [release.jobId, release.fence, null, null, ...lossOf(release)],
    );
    return rowParameters(rows).map(({ text, count }) => ({
      count,
      ...statement(putBack, text, schedulerId, now, stepId),
    }));
  }

  #marks(): Counted[] {
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
interface Counted extends SqlStatement {
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
