import type { CommitRequest, OverlapReport, PlanReport, SchedulePlan } from "../../data-store.ts";
import { FIRES_PER_COMMIT_MAX, PLANS_PER_COMMIT_MAX } from "../../shared/limits.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { FlowMode } from "../flow-control/key-limiters.ts";
import type { LedgerSwitch } from "../history/history-writes.ts";
import { jsonArray, numberOrNull, rowParameters } from "../sql-and-json.ts";

type StatementsOfPlans = PlanStatements & LedgerSwitch;

/** The plans of one commit, as statements. */
export class Plans {
  readonly #statements: StatementsOfPlans;
  readonly #request: CommitRequest;
  readonly #flow: FlowMode;
  /** The first plan of each schedule: a second one does not count. */
  readonly #counted: readonly SchedulePlan[];
  readonly #jobIds: readonly string[];
  /** Plans that depend on the unfinished jobs of their schedules. */
  readonly #apart: readonly PlanApart[];
  /** Those of them whose schedules' jobs miss their turn. */
  readonly #missing: readonly PlanApart[];

  /** @throws {RangeError} when there are more plans or fires than one commit may have */
  constructor(statements: StatementsOfPlans, request: CommitRequest, flow: FlowMode) {
    this.#statements = statements;
    this.#request = request;
    this.#flow = flow;
    this.#counted = [...new Map(request.plans.toReversed().map((plan) => [plan.scheduleId, plan])).values()].reverse();
    this.#jobIds = this.#counted.flatMap(({ fires }) => fires.map(({ jobId }) => jobId));
    this.#apart = this.#counted.filter(isApart);
    this.#missing = this.#apart.filter(coalesces);
    refuseMoreThan(PLANS_PER_COMMIT_MAX, request.plans.length, "plans");
    refuseMoreThan(FIRES_PER_COMMIT_MAX, this.#jobIds.length, "jobs of plans");
  }

  /** @param hasParents whether jobs that are replaced may have children. If not, and one has, the batch is undone */
  commits(hasParents: boolean): SqlStatement[] {
    if (this.#counted.length === 0) return [];
    const { now, schedulerId, commitId } = this.#request;
    const { insertFires, commitPlans, recordFailures, notePauses, setZoneRulesOfPlans, keepsLedger } = this.#statements;
    const fireRows = this.#counted.filter((plan) => plan.fires.length > 0 && !isApart(plan)).map(this.#row(fireRow));
    const pausing = this.#counted.filter(({ paused }) => paused);
    const failures = keepsLedger ? pausing.map(this.#row(failureRow)) : [];
    return [
      ...this.#insertions(insertFires, fireRows),
      // A skip leaves out the fire times of unfinished jobs, also of those that leave now.
      ...this.#skips(),
      ...this.#makingWay(hasParents),
      ...this.#coalescing(),
      ...rowParameters(failures).map(({ text }) => statement(recordFailures, text, now, schedulerId)),
      ...rowParameters(this.#counted.filter(setsZoneRules).map(this.#row(zoneRulesRow))).map(({ text }) =>
        statement(setZoneRulesOfPlans, text, now),
      ),
      ...rowParameters(pausing.filter(hasReason).map(this.#row(failureRow))).map(({ text }) =>
        statement(notePauses, text, now, schedulerId),
      ),
      statement(commitPlans, JSON.stringify(this.#counted.map(this.#row(planRow))), now, commitId, schedulerId),
    ];
  }

  /** The statements of plans whose schedules' runs may not overlap. */
  #makingWay(hasParents: boolean): SqlStatement[] {
    if (this.#apart.length === 0) return [];
    const { now } = this.#request;
    const { noteOverlaps, noteMissed, markReplaced, endReplaced, removeReplaced } = this.#statements;
    const { cancelOverlapped, insertUnskipped, keepsLedger, skipOverlapped } = this.#statements;
    const textOf = (plans: readonly PlanApart[]): string => JSON.stringify(plans.map(this.#row(overlapRow)));
    const rows = textOf(this.#apart);
    const has = (...policies: string[]): boolean =>
      this.#apart.some(({ overlap }) => policies.includes(overlap.policy));
    const overlapping = this.#apart.filter((plan) => !coalesces(plan));
    const own = textOf(overlapping);
    const missing = this.#missing.length === 0 ? [] : [statement(noteMissed, textOf(this.#missing), now)];
    const replacing = [
      statement(markReplaced, rows, now),
      ...(hasParents ? [statement(endReplaced, rows, now)] : []),
      statement(removeReplaced, rows, now, hasParents ? 1 : 0),
    ];
    return [
      ...(overlapping.length === 0 ? [] : [statement(noteOverlaps, own, now)]),
      ...missing,
      ...(has("replaceQueued", "cancelRunning", "latest", "earliest") ? replacing : []),
      ...(keepsLedger && overlapping.length > 0 ? [statement(skipOverlapped, own, now)] : []),
      ...(has("cancelRunning") ? [statement(cancelOverlapped, rows, now)] : []),
      ...this.#insertions(insertUnskipped, this.#apart.map(this.#row(fireRow))),
    ];
  }

  /** The statements of jobs that stand for others of their schedules. They follow those of all other skips, because
   *  what a fire stood for goes to the job that stands for the fire. */
  #coalescing(): SqlStatement[] {
    if (this.#missing.length === 0) return [];
    const rows = JSON.stringify(this.#missing.map(this.#row(overlapRow)));
    const { standForMissed, forgetCoalesced, enterCoalesced, keepsLedger } = this.#statements;
    const { now } = this.#request;
    const entries = keepsLedger ? [forgetCoalesced, enterCoalesced] : [];
    return [standForMissed, ...entries].map((sql) => statement(sql, rows, now));
  }

  /** The rows of plans with what {@link planStatements} compares. */
  #row<P extends SchedulePlan>(row: (plan: P) => unknown[]): (plan: P) => unknown[] {
    const { blackouts = 0 } = this.#request;
    if (blackouts === 0) return row;
    return (plan) => row(plan).map((value, place) => (place === 1 ? plan.fence + blackouts : value));
  }

  #insertions(sql: string, fireRows: readonly unknown[][]): SqlStatement[] {
    const { now } = this.#request;
    return rowParameters(fireRows).map(({ text }) => statement(sql, text, now, this.#flow === "on" ? 1 : 0));
  }

  /** The statements that enter the skips of the plans into the ledger. */
  #skips(): SqlStatement[] {
    const { keepsLedger, enterSkips } = this.#statements;
    if (!keepsLedger) return [];
    const rows = this.#counted.filter(({ skips = [] }) => skips.length > 0).map(this.#row(skipRow));
    return rowParameters(rows).map(({ text }) => statement(enterSkips, text, this.#request.now));
  }

  /** The statements whose answers {@link reports} reads. They follow the {@link commits}. */
  confirmation(): SqlStatement[] {
    if (this.#counted.length === 0) return [];
    const { confirmPlans, readOverlaps } = this.#statements;
    const { commitId } = this.#request;
    const fences = (plans: readonly SchedulePlan[]): string =>
      JSON.stringify(plans.map(({ scheduleId, fence }) => [scheduleId, fence]));
    return [
      statement(confirmPlans, fences(this.#counted), JSON.stringify(this.#jobIds), commitId),
      ...(this.#apart.length === 0 ? [] : [statement(readOverlaps, fences(this.#apart), commitId)]),
    ];
  }

  /** What became of each plan; `answers` are those of the {@link confirmation}. */
  reports([confirmation, overlaps]: readonly Row[][], isRepetition: boolean): PlanReport[] {
    // If this try committed nothing, the schedules can still carry the stamp of another try, but that counts only in a
    // repetition.
    const counts = isRepetition || numberOrNull(confirmation, "changes") !== 0;
    const places = counts ? jsonArray<number>(confirmation, "committed") : [];
    const committed = new Set(places.map((place) => this.#counted[place]));
    const existing = new Set(jsonArray<number>(confirmation, "existing").map((place) => this.#jobIds[place]));
    const counted = new Set(this.#counted);
    const notes = new Map(
      jsonArray<[place: number, note: OverlapNote | null]>(overlaps, "overlaps").map(([place, note]) => [
        this.#apart[place] as SchedulePlan | undefined,
        note,
      ]),
    );
    return this.#request.plans.map((plan) => {
      const isCommitted = committed.has(plan);
      const note = isCommitted ? notes.get(plan) : undefined;
      return {
        committed: isCommitted,
        addedJobIds: counted.has(plan) ? plan.fires.map(({ jobId }) => jobId).filter((id) => existing.has(id)) : [],
        ...(note === undefined || note === null ? {} : { overlap: overlapOf(note) }),
      };
    });
  }
}

type PlanApart = SchedulePlan & Required<Pick<SchedulePlan, "overlap">>;

function isApart(plan: SchedulePlan): plan is PlanApart {
  return plan.overlap !== undefined;
}

/** What `noteOverlaps` notes. */
interface OverlapNote {
  readonly isSkipped?: number;
  readonly replaced?: readonly [jobId: string, fireTime: number][];
  readonly cancelRequested?: readonly string[];
}

function overlapOf({ isSkipped, replaced, cancelRequested }: OverlapNote): OverlapReport {
  return {
    isSkipped: isSkipped === 1,
    replaced: (replaced ?? []).map(([jobId, fireTime]) => ({ jobId, fireTime })),
    cancelRequested: cancelRequested ?? [],
  };
}

function overlapRow({ scheduleId, fence, expected, overlap, fires: [fire] }: PlanApart): unknown[] {
  const {
    fireTime = null,
    missedCount = null,
    firstMissedTime = null,
    lastMissedTime = null,
    runAt = null,
  } = fire ?? {};
  const of = [scheduleId, fence, expected, overlap.passed, overlap.policy, fireTime];
  return coalesces({ overlap }) ? [...of, missedCount, firstMissedTime, lastMissedTime, runAt] : of;
}

/** Whether a job of the schedule may come to stand for others. */
function coalesces({ overlap: { policy } }: Pick<PlanApart, "overlap">): boolean {
  return policy === "latest" || policy === "earliest";
}

function skipRow({ scheduleId, fence, expected, skips = [] }: SchedulePlan): unknown[] {
  const rows = skips.map(({ from, until, verdict, count, into }) => [from, until, verdict, count, into]);
  return [scheduleId, fence, expected, rows];
}

function planRow(plan: SchedulePlan): unknown[] {
  const { scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isPreferred, paceUntil = null } = plan;
  return [scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isPreferred, paceUntil];
}

function hasReason({ pauseReason }: SchedulePlan): boolean {
  return pauseReason !== undefined;
}

function failureRow({ scheduleId, fence, expected, nextFireTime, pauseReason }: SchedulePlan): unknown[] {
  return [scheduleId, fence, expected, nextFireTime, pauseReason ?? null];
}

function setsZoneRules({ zoneRules }: SchedulePlan): boolean {
  return zoneRules !== undefined;
}

function zoneRulesRow({ scheduleId, fence, expected, zoneRules }: SchedulePlan): unknown[] {
  return [scheduleId, fence, expected, zoneRules];
}

function fireRow({ scheduleId, fence, expected, fires, isCatchUp = false }: SchedulePlan): unknown[] {
  const rows = fires.map((fire) => [
    fire.jobId,
    fire.createdAt,
    fire.fireTime,
    fire.scheduledFireTime,
    fire.runAt,
    fire.startDeadline,
    fire.missedCount,
    fire.firstMissedTime,
    fire.lastMissedTime,
    isCatchUp ? 0.5 : 0,
  ]);
  return [scheduleId, fence, expected, rows];
}

function refuseMoreThan(most: number, count: number, what: string): void {
  if (count > most)
    throw new RangeError(`a commit has ${count} ${what}, and may have ${most}: send them in several commits`);
}

/** The statements that commit plans. A comment before each statement lists its arguments. */
export interface PlanStatements {
  readonly insertFires: string;
  readonly noteOverlaps: string;
  readonly noteMissed: string;
  readonly skipOverlapped: string;
  readonly markReplaced: string;
  readonly endReplaced: string;
  readonly removeReplaced: string;
  readonly cancelOverlapped: string;
  readonly enterSkips: string;
  readonly insertUnskipped: string;
  readonly standForMissed: string;
  readonly forgetCoalesced: string;
  readonly enterCoalesced: string;
  readonly recordFailures: string;
  readonly notePauses: string;
  readonly setZoneRulesOfPlans: string;
  readonly commitPlans: string;
  readonly confirmPlans: string;
  readonly readOverlaps: string;
}
