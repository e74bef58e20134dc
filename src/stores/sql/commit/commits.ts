import type { JobRecord } from "../../../records/job.ts";
import type { CommitReport, CommitRequest, LookReport, LookRequest } from "../../data-store.ts";
import type { Statements } from "../all-statements.ts";
import type { Schema, SqlTexts } from "../dialect.ts";
import type { Connection } from "../driver/connection.ts";
import { type Answers, Batch, type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { Admission } from "../flow-control/admission.ts";
import type { FlowMode, FlowState } from "../flow-control/key-limiters.ts";
import { OverdueChecks, OverdueOfCommit } from "../history/overdue-occurrences.ts";
import { acquisitionName, queueParameters } from "../jobs/acquisition.ts";
import { type AdditionStamp, Additions } from "../jobs/additions.ts";
import { resolved, resolving } from "../jobs/dependencies.ts";
import { inOrder, type JobRow, toJob } from "../jobs/job-rows.ts";
import { heartbeatStatements } from "../jobs/leases-and-heartbeats.ts";
import {
  endingMissed,
  leaseMoves,
  missedResults,
  recovery,
  recoveryReport,
} from "../jobs/recovery-and-cancellation.ts";
import { Releases } from "../jobs/releases.ts";
import { ACQUIRED_BYTES_MAX, CHAINED_COMMITS_MAX, RECOVERIES_PER_COMMIT_MAX } from "../limits.ts";
import {
  comparableSchedules,
  comparableTasks,
  hasEndedDependencies,
  Looks,
  openOverdueCount,
} from "../look/look-for-work.ts";
import { Plans } from "../schedules/plan-commits.ts";
import { type ScheduleRow, toSchedule } from "../schedules/schedule-rows.ts";
import { jsonArray, numberOrNull } from "../sql-and-json.ts";
import type { CleanUp } from "./clean-up.ts";
import { endedPausesOf, endingPausesOf, pausedSchedulesOf, pausingFailing } from "./pause-ends.ts";

interface CommitParts {
  readonly statements: Statements;
  readonly lookStatement: SqlTexts["lookStatement"];
  readonly flow: FlowState;
  readonly cleanUp: CleanUp;
}

/** The looks and commits of schedulers in a `SqlDataStore`: one read, and one write. */
export class SqlCommits {
  readonly #connection: Connection;
  readonly #schema: Schema;
  readonly #context: Omit<CommitContext, "boundsBytes">;
  readonly #flow: FlowState;
  /** Whether the last commit leased jobs of many bytes. Commits of a local database pay for a bound only then. */
  #isHeavy = false;
  /** In how many more commits jobs that end may have children. A commit that does not expect children takes a second
   *  write for them, and one that does has a few more statements. */
  #chainedCommits = 0;
  readonly #overdueChecks = new OverdueChecks();

  constructor(connection: Connection, schema: Schema, { statements, lookStatement, flow, cleanUp }: CommitParts) {
    this.#connection = connection;
    this.#schema = schema;
    this.#flow = flow;
    this.#context = {
      statements,
      looks: new Looks(lookStatement, statements.keepsLedger),
      cleanUp,
      isLocal: connection.isLocal,
    };
  }

  /** A schedule was changed. */
  schedulesChanged(): void {
    this.#context.looks.changed();
  }

  async look(request: LookRequest): Promise<LookReport> {
    const { looks } = this.#context;
    // Nothing is known before the first look. It has flow control, because a second one would cost a request more.
    const flow = this.#flow.isKnown ? this.#flow.flow : "on";
    const [tasks, others] = comparableTasks(request.tasks ?? []);
    const expiredForMs = request.asksForExpired === true ? (request.expiredForMs ?? 0) : null;
    const { zoneRules, uptimeAfter: asked } = request;
    const uptimeAfter = this.#context.statements.keepsLedger ? asked : undefined;
    const declared = comparableSchedules(request.declared);
    const asksForNow = request.asksForNow === true && !this.#context.isLocal;
    const shown = {
      asksForNow,
      expiredForMs,
      zoneRules,
      declared,
      uptimeAfter,
      flow,
      ...(request.tasks === null ? {} : { tasks }),
    };
    const statement = looks.statement(request, shown);
    try {
      const answer = statement === null ? [] : await this.#schema.readFresh(statement);
      const rows = answer ?? [];
      if (this.#needsFlow(rows, flow)) return this.look(request);
      const stale = answer === null ? tasks.map(({ id }) => id) : jsonArray<string>(rows, "stale_task_ids");
      const staleTaskIds = [...stale, ...others.map(({ id }) => id)];
      if (hasEndedDependencies(rows)) this.#chainedCommits = CHAINED_COMMITS_MAX;
      const hasExpired = numberOrNull(rows, "has_expired") === 1;
      const texts = zoneRules === undefined ? {} : { zoneRules: jsonArray<string>(rows, "zone_rules") };
      const unchanged =
        request.declared === undefined ? {} : { unchanged: jsonArray<ScheduleRow>(rows, "unchanged").map(toSchedule) };
      const uptime = uptimeAfter === undefined ? {} : { hasUptimeAfter: numberOrNull(rows, "has_uptime") === 1 };
      const storeNow = numberOrNull(rows, "store_now");
      const clock = storeNow === null ? {} : { storeNow };
      return { ...looks.seen(request, rows), staleTaskIds, hasExpired, ...clock, ...uptime, ...texts, ...unchanged };
    } catch (error) {
      if (declared !== undefined && this.#connection.failureKind(error) === "tooLarge") {
        return this.look({ ...request, declared: [] });
      }
      if (this.#connection.failureKind(error) === "tooLarge" && looks.shrink(request)) return this.look(request);
      throw error;
    }
  }

  async commit(request: CommitRequest): Promise<CommitReport> {
    try {
      return await this.#commit(request);
    } catch (error) {
      const kind = this.#connection.failureKind(error);
      const { jobs } = request;
      // The answer would have been larger than the server sends, so nothing was written. Ask for less.
      const hasFewerSchedules = kind === "tooLarge" && this.#context.looks.shrink(request);
      if (kind === "tooLarge" && jobs !== null && jobs.limit > 1) {
        return this.commit({ ...request, jobs: { ...jobs, limit: Math.ceil(jobs.limit / 4) } });
      }
      if (hasFewerSchedules) return this.commit(request);
      throw error;
    }
  }

  /** Nearly always all releases count. The first batch assumes so, with guards that undo the batch if a release does
   *  not count. Then a second batch looks at each release. This halves the statements of the usual commit. */
  async #commit(request: CommitRequest): Promise<CommitReport> {
    if (request.inOneTrip === true) return this.#write(request, true);
    try {
      return await this.#write(request, request.isRepetition);
    } catch (error) {
      if (this.#connection.failureKind(error) !== "guard") throw error;
    }
    const report = await this.#write(request, true);
    // If all releases count, then what undid the first batch was a job with children.
    if (report.releases.every((status) => status === "released")) this.#chainedCommits = CHAINED_COMMITS_MAX;
    return report;
  }

  async #write(request: CommitRequest, isExact: boolean): Promise<CommitReport> {
    const context = { ...this.#context, boundsBytes: this.#isHeavy || !this.#context.isLocal };
    const { flow, hasAccounts } = this.#flow;
    const overdueLeftOut = request.overdue === true ? this.#overdueChecks.next() : 0;
    const make = (isRepetition: boolean): CommitTry => {
      const exactly = isExact || isRepetition;
      return new CommitTry(context, request, {
        isExact: exactly,
        isRepetition,
        flow,
        hasAccounts,
        resolves: exactly || this.#chainedCommits > 0,
        overdueLeftOut,
      });
    };
    let batch = make(request.isRepetition);
    const write = this.#connection.write((isRepetition) => {
      if (isRepetition) batch = make(true);
      return batch.statements;
    });
    const results = await write.catch(async (error: unknown) => {
      throw await batch.refusal(this.#connection, error);
    });
    if (this.#chainedCommits > 0) this.#chainedCommits--;
    if (batch.leavesDependencies(results)) this.#chainedCommits = CHAINED_COMMITS_MAX;
    this.#isHeavy = batch.acquiredLength(results) > ACQUIRED_BYTES_MAX / 2;
    const report = batch.report(results);
    if (!this.#needsFlow(batch.look(results), batch.flow)) return report;
    // The commit left out the jobs that need flow control. A repetition does what is left of a commit.
    const { cleanup: _cleanup, ...again } = request;
    const rest = { ...again, releases: [], additions: [], plans: [], isRepetition: true };
    const { releases: _, additions: __, plans: ___, ...seen } = await this.#write(rest, true);
    const admitted = [...(report.admitted ?? []), ...(seen.admitted ?? [])];
    return {
      ...report,
      ...seen,
      ...(admitted.length === 0 ? {} : { admitted }),
      recovered: [...report.recovered, ...seen.recovered],
      ended: [...report.ended, ...seen.ended],
    };
  }

  /** Keeps in mind what the answer of a look tells about flow control. Whether the look was without it and needs it. */
  #needsFlow(rows: readonly Row[], applied: FlowMode): boolean {
    this.#overdueChecks.found(openOverdueCount(rows));
    const flow = this.#context.looks.flow(rows);
    if (flow === null) return false;
    this.#flow.flow = flow;
    this.#flow.hasAccounts = numberOrNull(rows, "has_accounts") === 1;
    this.#flow.isKnown = true;
    return applied === "off" && flow === "on";
  }
}

/** How the batch of a commit is made. */
interface CommitForm {
  /** Whether the batch checks its releases one by one. Otherwise guards undo the whole batch when one release does not
   *  count. */
  readonly isExact: boolean;
  /** Whether an earlier try may have been committed. */
  readonly isRepetition: boolean;
  /** What the database needs, as far as the store knows. */
  readonly flow: FlowMode;
  readonly hasAccounts: boolean;
  /** Whether the batch resolves dependencies. Otherwise guards undo the whole batch when a job that ends has
   *  children. */
  readonly resolves: boolean;
  /** How many open overdue occurrences the commit leaves out. */
  readonly overdueLeftOut: number;
}

export interface CommitContext {
  readonly statements: Statements;
  readonly looks: Looks;
  readonly cleanUp: CleanUp;
  /** Whether no answer can get lost. */
  readonly isLocal: boolean;
  /** Whether the jobs that a commit leases are bounded by their bytes, which costs half an acquisition more. */
  readonly boundsBytes: boolean;
}

/** One try of a commit, as statements. */
class CommitTry {
  readonly #request: CommitRequest;
  readonly #looks: Looks;
  readonly #cleanUp: CleanUp;
  readonly #batch = new Batch();
  readonly #isExact: boolean;
  readonly #isRepetition: boolean;
  readonly #releases: Releases;
  readonly #additions: Additions;
  readonly #plans: Plans;
  readonly #answers: Readonly<
    Record<
      | (
          | "releases"
          | "raising"
          | "recovery"
          | "missed"
          | "failing"
          | "pauses"
          | "existing"
          | "confirmation"
          | "resolution"
        )
      | ("children" | "resolvedOverdue" | "cleanup" | "look"),
      Answers
    >
  >;

  readonly #admission: Admission;
  readonly #overdue: OverdueOfCommit;
  /** A batch that checks its releases, or that resolves dependencies, has flow control in any case. */
  readonly flow: FlowMode;

  /** @throws {RangeError} when the request has more plans or fires than one commit may have
   *  @throws {StoreRefusedError} for additions that would wait for each other */
  constructor(
    context: CommitContext,
    request: CommitRequest,
    { isExact, isRepetition, flow, hasAccounts, resolves, overdueLeftOut }: CommitForm,
  ) {
    const { statements } = context;
    const endsMissed = request.endsMissed === true;
    const hasParents = resolves || endsMissed;
    this.flow = isExact || hasParents || request.additions.some(hasKey) ? "on" : flow;
    this.#request = request;
    this.#looks = context.looks;
    this.#cleanUp = context.cleanUp;
    this.#isExact = isExact;
    this.#isRepetition = isRepetition;
    this.#releases = new Releases(statements, request, this.flow);
    this.#additions = new Additions(statements, request.additions, {
      stamp: context.isLocal ? null : stampOf(request),
      isPlain: this.flow === "off",
      freesKeys: isExact,
    });
    this.#plans = new Plans(statements, request, this.flow);
    this.#admission = new Admission(statements, request, isExact || hasAccounts);
    this.#overdue = new OverdueOfCommit(statements, request, isRepetition, overdueLeftOut);
    const batch = this.#batch;
    const { heartbeat, schedulerId, now } = request;
    if (heartbeat !== undefined) batch.add(heartbeatStatements(statements, { ...heartbeat, schedulerId, now }));
    const releases = batch.add(isExact ? this.#releases.exactly(isRepetition) : this.#releases.hopefully(hasParents));
    // A job that has just ended is not overdue, but one that recovery ends is.
    const raising = batch.add(this.#overdue.raising());
    if (request.recover && request.leaseEnds !== undefined) batch.add(leaseMoves(statements, request.leaseEnds, now));
    const recovered = batch.add(this.#recovery(statements, hasParents));
    const missed = batch.add(endsMissed ? endingMissed(statements, now) : []);
    const mayLose = request.recover || this.#releases.hasPutBacks;
    const mayFail = this.#releases.countsEnds || mayLose || endsMissed;
    const failing = batch.add(mayFail ? pausingFailing(statements, request) : []);
    const pauses = batch.add(request.endsPauses === true ? endingPausesOf(statements, request) : []);
    batch.add(this.#additions.insertions());
    const existing = batch.add(this.#additions.search());
    batch.add(this.#plans.commits(hasParents));
    const confirmation = batch.add(this.#plans.confirmation());
    const { children } = this.#additions;
    const resolution = batch.add(hasParents || !children.isEmpty ? resolving(statements, now) : []);
    const acquisition = acquire(context, request, this.flow);
    if (this.flow === "on") this.#admission.addTo(batch, acquisition);
    else batch.add([...(request.jobs === null ? [] : [statement(statements.readyDue, now)]), ...acquisition]);
    const found = batch.add(children.search());
    const resolvedOverdue = batch.add(this.#overdue.resolving());
    const { cleanup: wanted } = request;
    const cleanup = batch.add(wanted === undefined ? [] : this.#cleanUp.statements({ now, limit: wanted.limit }));
    const look = context.looks.statement(request, { commitId: request.commitId, flow: this.flow });
    this.#answers = {
      releases,
      raising,
      recovery: recovered,
      missed,
      failing,
      pauses,
      existing,
      confirmation,
      resolution,
      children: found,
      resolvedOverdue,
      cleanup,
      look: batch.add(look === null ? [] : [look]),
    };
  }

  get statements(): SqlStatement[] {
    return this.#batch.statements;
  }

  report(results: readonly Row[][]): CommitReport {
    const { releases, recovery, missed, existing, confirmation, resolution, children, cleanup } = this.#answers;
    const changed = this.#overdue.report(this.#answers.raising.of(results), this.#answers.resolvedOverdue.of(results));
    const { now } = this.#request;
    const cleaned = cleanup.of(results);
    const seen = this.look(results);
    const recovered = recoveryReport(recovery.of(results), now);
    const { released, ended: cancelled } = resolved(resolution.of(results), now, this.#admission.stillBlocked(results));
    const ended = [...missedResults(missed.of(results), now), ...cancelled];
    const admitted = [...released, ...this.#admission.admitted(results, recovered)];
    const pausedSchedules = pausedSchedulesOf(this.#answers.failing.of(results));
    const endedPauses = endedPausesOf(this.#answers.pauses.of(results));
    const additions = this.#additions.answers(existing.of(results), this.#admission.blockedAdditions(results));
    return {
      ...this.#looks.seen(this.#request, seen),
      recovered: recovered.recovered,
      ended: ended.length === 0 ? recovered.ended : [...recovered.ended, ...ended],
      ...(admitted.length === 0 ? {} : { admitted }),
      ...(pausedSchedules === undefined ? {} : { pausedSchedules }),
      ...(endedPauses === undefined ? {} : { endedPauses }),
      ...(changed === undefined ? {} : { changedOverdue: changed }),
      ...(cleaned.length === 0 ? {} : { cleanup: this.#cleanUp.report(cleaned) }),
      releases: this.#releases.statuses(this.#isExact ? releases.of(results) : null),
      additions: this.#additions.children.answers(additions, children.of(results)),
      plans: this.#plans.reports(confirmation.of(results), this.#isRepetition),
      acquired: inOrder(jsonArray<JobRow>(seen, "acquired")).map(toJob),
    };
  }

  /** Whether the next commit has to resolve dependencies that this commit has left. */
  leavesDependencies(results: readonly Row[][]): boolean {
    return hasEndedDependencies(this.look(results));
  }

  /** The error of the batch, if it failed. */
  refusal(connection: Connection, error: unknown): Promise<unknown> {
    return this.#additions.children.refusal(connection, error);
  }

  /** The answer of the look that ends the commit. */
  look(results: readonly Row[][]): readonly Row[] {
    return this.#answers.look.of(results)[0] ?? [];
  }

  /** The length of the text that holds the leased jobs. */
  acquiredLength(results: readonly Row[][]): number {
    return String(this.look(results)[0]?.acquired ?? "").length;
  }

  #recovery(statements: Statements, hasParents: boolean): SqlStatement[] {
    const { now, recover, commitId } = this.#request;
    if (!recover && !this.#releases.hasPutBacks) return [];
    const putBackBy = recover ? null : commitId;
    return recovery(statements, {
      now,
      endedBy: now,
      holder: null,
      putBackBy,
      spares: null,
      commitId,
      hasParents,
      limit: RECOVERIES_PER_COMMIT_MAX,
    });
  }
}

/** The statement that leases jobs, if the commit is to lease any. */
function acquire({ statements, boundsBytes }: CommitContext, request: CommitRequest, flow: FlowMode): SqlStatement[] {
  const { now, schedulerId, until, commitId, jobs } = request;
  if (jobs === null || jobs.limit <= 0) return [];
  const { form, args } = queueParameters(jobs);
  const sql = statements.acquire[acquisitionName(flow, boundsBytes, form)] ?? "";
  return [statement(sql, now, jobs.limit, ...args, schedulerId, until, commitId)];
}

function hasKey({ concurrencyKey }: JobRecord): boolean {
  return concurrencyKey !== undefined;
}

/** The stamp of a commit's additions. A commit that was refused is sent in parts, which all have the id of the commit.
 *  Therefore the stamp has the id of the first job too, which tells the parts apart. */
function stampOf({ commitId, additions, now }: CommitRequest): AdditionStamp {
  return { id: `${commitId} ${additions[0]?.id ?? ""}`, now };
}
