import type { JobRecord } from "../../../records/job.ts";
import type { StepReport, StepRequest } from "../../data-store.ts";
import type { Connection } from "../driver/connection.ts";
import type { Row, SqlStatement } from "../driver/driver.ts";
import { type Answers, Batch, statement } from "../driver/parameters.ts";
import { Admission } from "../flow/admission.ts";
import type { FlowControl } from "../flow/awareness.ts";
import { acquisitionName, queueParameters } from "../jobs/acquisition.ts";
import { type AdditionStamp, Additions } from "../jobs/additions.ts";
import { settlement, settling } from "../jobs/chains.ts";
import { endingMissed, leaseMoves, missedResults, recovery, recoveryReport, signOfLife } from "../jobs/leases.ts";
import { Releases } from "../jobs/releases.ts";
import { StepAlarms } from "../ledger/overdue.ts";
import { RECOVERIES_PER_STEP_MAX } from "../limits.ts";
import { inOrder, type JobRow, jsonArray, toJob } from "../rows.ts";
import { Plans } from "../schedules/plans.ts";
import type { Statements } from "../statements.ts";
import type { CleanUp } from "./clean-up.ts";
import { hasSettledLinks, type Looks } from "./looks.ts";

/** How sure a batch may be that its releases count. */
export interface StepCertainty {
  /** Whether the batch looks at each release. Otherwise guards undo the whole batch when one release does not count. */
  readonly isExact: boolean;
  /** Whether an earlier try may have been committed. */
  readonly isRepetition: boolean;
  /** What the step has to heed of flow control, as far as the store knows, see `Awareness`. */
  readonly flow: FlowControl;
  /** Whether the batch frees and cancels the children of jobs that end. Otherwise guards undo the whole batch when a
   *  job that ends has children. */
  readonly settles: boolean;
  /** How many open alarms the step leaves out. */
  readonly alarmsLeftOut: number;
}

export interface StepContext {
  readonly statements: Statements;
  readonly looks: Looks;
  readonly cleanUp: CleanUp;
  /** Whether no answer can get lost. */
  readonly isLocal: boolean;
  /** Whether the jobs that a step leases are bounded by their bytes, which costs half an acquisition more. */
  readonly boundsBytes: boolean;
}

/** One try of a step, as statements. */
export class StepBatch {
  readonly #request: StepRequest;
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
      | ("releases" | "raising" | "recovery" | "missed" | "rivals" | "confirmation" | "settled" | "children")
      | ("resolving" | "cleanup" | "look"),
      Answers
    >
  >;

  readonly #admission: Admission;
  readonly #alarms: StepAlarms;
  /** What the step heeds of flow control. A batch that looks at each release, or settles, heeds it in any case. */
  readonly flow: FlowControl;

  /** @throws {RangeError} when the request has more plans or fires than one step may have
   *  @throws {StoreRefusedError} for additions that would wait for each other */
  constructor(
    context: StepContext,
    request: StepRequest,
    { isExact, isRepetition, flow, settles, alarmsLeftOut }: StepCertainty,
  ) {
    const { statements } = context;
    const endsMissed = request.endsMissed === true;
    const settlesAll = settles || endsMissed;
    const mayNeedFlow = isExact || settlesAll || request.additions.some(hasKey);
    this.flow = flow === "none" && mayNeedFlow ? "all" : flow;
    this.#request = request;
    this.#looks = context.looks;
    this.#cleanUp = context.cleanUp;
    this.#isExact = isExact;
    this.#isRepetition = isRepetition;
    this.#releases = new Releases(statements, request, this.#isAware);
    this.#additions = new Additions(statements, request.additions, {
      stamp: context.isLocal ? null : stampOf(request),
      isPlain: !this.#isAware,
      freesKeys: isExact,
    });
    this.#plans = new Plans(statements, request, this.#isAware);
    this.#admission = new Admission(statements, request, { isRepetition, flow: this.flow });
    this.#alarms = new StepAlarms(statements, request, isRepetition, alarmsLeftOut);
    const batch = this.#batch;
    const { sign, schedulerId, now } = request;
    if (sign !== undefined) batch.add(signOfLife(statements, { ...sign, schedulerId, now }));
    const releases = batch.add(isExact ? this.#releases.exactly(isRepetition) : this.#releases.hopefully(settlesAll));
    // A job that has just ended is not overdue, but one that recovery ends is.
    const raising = batch.add(this.#alarms.raising());
    if (request.recover && request.leaseEnds !== undefined) batch.add(leaseMoves(statements, request.leaseEnds, now));
    const recovered = batch.add(this.#recovery(statements, settlesAll));
    const missed = batch.add(endsMissed ? endingMissed(statements, now) : []);
    batch.add(this.#additions.insertions());
    const rivals = batch.add(this.#additions.search());
    batch.add(this.#plans.commits(settlesAll));
    const confirmation = batch.add(this.#plans.confirmation());
    const { children } = this.#additions;
    const settled = batch.add(settlesAll || !children.isEmpty ? settling(statements, request.now) : []);
    const acquisition = acquire(context, request, this.flow);
    if (this.#isAware) this.#admission.addTo(batch, acquisition);
    else batch.add([...(request.jobs === null ? [] : [statement(statements.promote, request.now)]), ...acquisition]);
    const found = batch.add(children.search());
    const resolving = batch.add(this.#alarms.resolving());
    const { cleanup: wanted } = request;
    const cleanup = batch.add(wanted === undefined ? [] : this.#cleanUp.statements({ now, limit: wanted.limit }));
    const look = context.looks.statement(request, { stepId: request.stepId, flow: this.flow });
    this.#answers = {
      releases,
      raising,
      recovery: recovered,
      missed,
      rivals,
      confirmation,
      settled,
      children: found,
      resolving,
      cleanup,
      look: batch.add(look === null ? [] : [look]),
    };
  }

  get #isAware(): boolean {
    return this.flow !== "none";
  }

  get statements(): SqlStatement[] {
    return this.#batch.statements;
  }

  report(results: readonly Row[][]): StepReport {
    const { releases, recovery, missed, rivals, confirmation, settled, children, cleanup } = this.#answers;
    const alarms = this.#alarms.report(this.#answers.raising.of(results), this.#answers.resolving.of(results));
    const { now } = this.#request;
    const cleaned = cleanup.of(results);
    const seen = this.look(results);
    const recovered = recoveryReport(recovery.of(results), now);
    const settlements = settlement(settled.of(results), now, this.#admission.stillHeld(results));
    const { promoted: freed } = settlements;
    const ended = [...missedResults(missed.of(results), now), ...settlements.ended];
    const promoted = [...freed, ...this.#admission.promoted(results, recovered)];
    const additions = this.#additions.answers(rivals.of(results), this.#admission.heldAdditions(results));
    return {
      ...this.#looks.seen(this.#request, seen),
      recovered: recovered.recovered,
      ended: ended.length === 0 ? recovered.ended : [...recovered.ended, ...ended],
      ...(promoted.length === 0 ? {} : { promoted }),
      ...(alarms === undefined ? {} : { changedAlarms: alarms }),
      ...(cleaned.length === 0 ? {} : { cleanup: this.#cleanUp.report(cleaned) }),
      releases: this.#releases.statuses(this.#isExact ? releases.of(results) : null),
      additions: this.#additions.children.answers(additions, children.of(results)),
      plans: this.#plans.reports(confirmation.of(results), this.#isRepetition),
      acquired: inOrder(jsonArray<JobRow>(seen, "acquired")).map(toJob),
    };
  }

  /** Whether the next step has to settle links that this step has left. */
  leavesLinks(results: readonly Row[][]): boolean {
    return hasSettledLinks(this.look(results));
  }

  /** The error of the batch, if it failed. */
  refusal(connection: Connection, error: unknown): Promise<unknown> {
    return this.#additions.children.refusal(connection, error);
  }

  /** The answer of the look that ends the step. */
  look(results: readonly Row[][]): readonly Row[] {
    return this.#answers.look.of(results)[0] ?? [];
  }

  /** The length of the text that holds the leased jobs. */
  acquiredLength(results: readonly Row[][]): number {
    return String(this.look(results)[0]?.acquired ?? "").length;
  }

  #recovery(statements: Statements, hasParents: boolean): SqlStatement[] {
    const { now, recover, stepId } = this.#request;
    if (!recover && !this.#releases.hasPutBacks) return [];
    const putBackBy = recover ? null : stepId;
    return recovery(statements, {
      now,
      endedBy: now,
      holder: null,
      putBackBy,
      spares: null,
      stepId,
      hasParents,
      limit: RECOVERIES_PER_STEP_MAX,
      isAware: this.#isAware,
    });
  }
}

/** The statement that leases jobs, if the step is to lease any. */
function acquire({ statements, boundsBytes }: StepContext, request: StepRequest, flow: FlowControl): SqlStatement[] {
  const { now, schedulerId, until, stepId, jobs } = request;
  if (jobs === null || jobs.limit <= 0) return [];
  const { form, args } = queueParameters(jobs);
  const sql = statements.acquire[acquisitionName(flow, boundsBytes, form)] ?? "";
  return [statement(sql, now, jobs.limit, ...args, schedulerId, until, stepId)];
}

function hasKey({ concurrencyKey }: JobRecord): boolean {
  return concurrencyKey !== undefined;
}

/** The stamp of a step's additions. A step that was refused is sent in parts, which all have the id of the step.
 *  Therefore the stamp has the id of the first job too, which tells the parts apart. */
function stampOf({ stepId, additions, now }: StepRequest): AdditionStamp {
  return { id: `${stepId} ${additions[0]?.id ?? ""}`, now };
}
