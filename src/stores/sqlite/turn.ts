import type { JobQueue, JobRelease, RecoveryReport, ReleaseStatus, TurnReport, TurnRequest } from "../data-store.ts";
import type { Connection } from "./connection.ts";
import type { Row, SqlStatement, SqlValue } from "./driver.ts";
import { recoveryReport, recoveryStatements } from "./jobs.ts";
import { ACQUISITION_ARMS_MAX } from "./limits.ts";
import { type JobRow, jsonArray, numberOrNull, resultRow, toJob } from "./rows.ts";
import type { Statements } from "./statements.ts";

const NO_RECOVERY: RecoveryReport = Object.freeze({ recovered: [], ended: [] });

/**
 * A worker's turn. Nearly always all of its releases count and no lease has ended, so the first batch takes that for
 * granted, with a guard that undoes it where it is wrong, and leases nothing while a lease waits for recovery. Then a
 * second batch, which looks closer, does what is left. That halves the statements of the usual turn.
 */
export class SqliteTurns {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async turn(request: TurnRequest): Promise<TurnReport> {
    const { acquisition } = request;
    try {
      return await this.#turn(request);
    } catch (error) {
      // The answer would have been above what the server sends, so nothing was written: with fewer jobs it is not.
      const isTooLarge = this.#connection.failureKind(error) === "tooLarge";
      if (!isTooLarge || acquisition === null || acquisition.limit <= 1) throw error;
      return this.turn({ ...request, acquisition: { ...acquisition, limit: Math.ceil(acquisition.limit / 4) } });
    }
  }

  async #turn(request: TurnRequest): Promise<TurnReport> {
    const { now } = request;
    const releases = new Releases(this.#statements, request);
    const acquisition = acquisitionStatements(this.#statements, request);
    let statuses: ReleaseStatus[] | null = null;
    let recovery = NO_RECOVERY;
    let look: readonly Row[] | undefined;
    try {
      let isRepeated = false;
      const results = await this.#connection.write((isRepetition) => {
        isRepeated = isRepetition;
        return [...(isRepetition ? releases.exactly(true) : releases.hopefully()), ...acquisition];
      });
      statuses = isRepeated ? releases.statuses(results[0]) : releases.allReleased();
      look = results.at(-1);
    } catch (error) {
      if (this.#connection.failureKind(error) !== "guard") throw error;
    }
    if (statuses === null || hasLostLease(look, now)) {
      const open = statuses === null ? releases : null;
      const results = await this.#connection.write((isRepetition) => [
        ...(open?.exactly(isRepetition) ?? []),
        ...recoveryStatements(this.#statements, now, null, now),
        ...acquisition,
      ]);
      statuses ??= releases.statuses(results[0]);
      recovery = recoveryReport(results.slice(-acquisition.length - 3), now);
      look = results.at(-1);
    }
    return { releases: statuses, ...recovery, ...lookReport(look) };
  }
}

function hasLostLease(look: readonly Row[] | undefined, now: number): boolean {
  const earliestLeaseEnd = numberOrNull(look, "next_lease_end");
  return earliestLeaseEnd !== null && earliestLeaseEnd <= now;
}

function lookReport(look: readonly Row[] | undefined): Pick<TurnReport, "acquired" | "nextDueAt" | "hasMore"> {
  const instants = [numberOrNull(look, "next_run_at"), numberOrNull(look, "next_lease_end")].filter(
    (instant) => instant !== null,
  );
  return {
    acquired: jsonArray<JobRow>(look, "records").map(toJob),
    nextDueAt: instants.length === 0 ? null : Math.min(...instants),
    hasMore: numberOrNull(look, "has_more") === 1,
  };
}

/** Makes ready what is due, leases jobs, and looks at what there is; the answer of the last one is the look. */
function acquisitionStatements(statements: Statements, { now, schedulerId, acquisition }: TurnRequest): SqlStatement[] {
  const promotion = { sql: statements.promote, args: [now] };
  if (acquisition === null) return [promotion, { sql: statements.lookIdle, args: [] }];
  const { acquisitionId, limit, until } = acquisition;
  const queues = withoutRepetitions(acquisition.queues);
  const args: SqlValue[] = [null, now, limit, schedulerId, until, acquisitionId];
  let form = queues.length - 1;
  if (isFew(queues)) {
    for (const { taskId, executor } of queues) args.push(taskId, executor);
  } else {
    args[0] = JSON.stringify(queues.map(({ executor, taskId }) => [executor, taskId]));
    form = -1;
  }
  return [
    promotion,
    { sql: statements.acquireFew[form] ?? statements.acquireMany, args },
    { sql: statements.lookFew[form] ?? statements.lookMany, args },
  ];
}

/** Whether the statements for few queues fit. They count the free slots per queue, so no task may come twice. */
function isFew(queues: readonly JobQueue[]): boolean {
  if (queues.length === 0 || queues.length > ACQUISITION_ARMS_MAX) return false;
  return new Set(queues.map(({ taskId }) => taskId)).size === queues.length;
}

function withoutRepetitions(queues: readonly JobQueue[]): JobQueue[] {
  const byKey = new Map(queues.map((queue) => [JSON.stringify([queue.executor, queue.taskId]), queue]));
  return [...byKey.values()];
}

/** The releases of one turn, as statements. */
class Releases {
  readonly #statements: Statements;
  readonly #request: TurnRequest;
  readonly #finished: (JobRelease & { kind: "finish" })[] = [];
  readonly #putBack: JobRelease[] = [];
  /** Whether a job is released twice, which only the first time counts. */
  readonly #isRepetition: boolean[] = [];

  constructor(statements: Statements, request: TurnRequest) {
    this.#statements = statements;
    this.#request = request;
    const seen = new Set<string>();
    for (const release of request.releases) {
      const isRepetition = seen.has(release.jobId);
      this.#isRepetition.push(isRepetition);
      if (isRepetition) continue;
      seen.add(release.jobId);
      if (release.kind === "finish") this.#finished.push(release);
      else this.#putBack.push(release);
    }
  }

  /** For releases that all count, which the guards make sure of. */
  hopefully(): SqlStatement[] {
    const statements: SqlStatement[] = [];
    const results = this.#kept().map((release) => resultRow(release.result));
    if (results.length > 0) {
      statements.push({ sql: this.#statements.keepResults, args: [JSON.stringify(results)] });
    }
    if (this.#finished.length > 0) statements.push(this.#removal(), this.#guard(this.#finished.length));
    if (this.#putBack.length > 0) statements.push(this.#puttingBack(), this.#guard(this.#putBack.length));
    return statements;
  }

  /** For releases of which some may not count; the first statement answers which do. */
  exactly(isRepetition: boolean): SqlStatement[] {
    const { schedulerId, releases } = this.#request;
    if (releases.length === 0) return [];
    const rows = JSON.stringify(releases.map(({ jobId, fence }) => [jobId, fence]));
    const statements: SqlStatement[] = [
      { sql: this.#statements.releaseStatuses, args: [rows, schedulerId, isRepetition ? 1 : 0] },
    ];
    const results = this.#kept().map((release) => [...resultRow(release.result), release.fence]);
    if (results.length > 0) {
      statements.push({ sql: this.#statements.keepHeldResults, args: [JSON.stringify(results), schedulerId] });
    }
    if (this.#finished.length > 0) statements.push(this.#removal());
    if (this.#putBack.length > 0) statements.push(this.#puttingBack());
    return statements;
  }

  allReleased(): ReleaseStatus[] {
    return this.#request.releases.map((_, index) => this.#corrected("released", index));
  }

  /** Reads the answer of the first statement of {@link exactly}. */
  statuses(rows: readonly Row[] | undefined): ReleaseStatus[] {
    const letters = this.#request.releases.length === 0 ? "" : String(rows?.[0]?.letters ?? "");
    return Array.from(letters, (letter, index) =>
      this.#corrected(letter === "r" ? "released" : letter === "f" ? "fenced" : "missing", index),
    );
  }

  #corrected(status: ReleaseStatus, index: number): ReleaseStatus {
    if (this.#isRepetition[index] !== true || status !== "released") return status;
    const { jobId } = this.#request.releases[index] ?? {};
    return this.#finished.some((release) => release.jobId === jobId) ? "missing" : "fenced";
  }

  #kept(): (JobRelease & { kind: "finish" })[] {
    return this.#finished.filter((release) => release.result.expiresAt > this.#request.now);
  }

  #removal(): SqlStatement {
    const rows = JSON.stringify(this.#finished.map(({ jobId, fence }) => [jobId, fence]));
    return { sql: this.#statements.removeHeld, args: [rows, this.#request.schedulerId] };
  }

  #puttingBack(): SqlStatement {
    const rows = this.#putBack.map((release) =>
      release.kind === "retry"
        ? [release.jobId, release.fence, release.runAt, release.failedAttempts]
        : [release.jobId, release.fence, null, null, release.kind === "giveUp" && release.hasStarted === true],
    );
    return {
      sql: this.#statements.putBack,
      args: [JSON.stringify(rows), this.#request.schedulerId, this.#request.now],
    };
  }

  #guard(changes: number): SqlStatement {
    return { sql: this.#statements.guardChanges, args: [changes] };
  }
}
