import { FIRES_PER_STEP_MAX, PLANS_PER_STEP_MAX } from "../../../core/limits.ts";
import type { OverlapReport, PlanReport, SchedulePlan, StepRequest } from "../../data-store.ts";
import type { Row, SqlStatement } from "../driver/driver.ts";
import { rowParameters, statement } from "../driver/parameters.ts";
import { jsonArray, numberOrNull } from "../rows.ts";
import type { Statements } from "../statements.ts";

/** The plans of one step, as statements. */
export class Plans {
  readonly #statements: Statements;
  readonly #request: StepRequest;
  readonly #isAware: boolean;
  /** The first plan of each schedule: a second one does not count. */
  readonly #counted: readonly SchedulePlan[];
  readonly #jobIds: readonly string[];
  /** Those of schedules whose runs may not overlap. */
  readonly #apart: readonly PlanApart[];

  /** @param isAware whether the step heeds flow control
   *  @throws {RangeError} when there are more plans or fires than one step may have */
  constructor(statements: Statements, request: StepRequest, isAware: boolean) {
    this.#statements = statements;
    this.#request = request;
    this.#isAware = isAware;
    this.#counted = [...new Map(request.plans.toReversed().map((plan) => [plan.scheduleId, plan])).values()].reverse();
    this.#jobIds = this.#counted.flatMap(({ fires }) => fires.map(({ jobId }) => jobId));
    this.#apart = this.#counted.filter(isApart);
    refuseMoreThan(PLANS_PER_STEP_MAX, request.plans.length, "plans");
    refuseMoreThan(FIRES_PER_STEP_MAX, this.#jobIds.length, "jobs of plans");
  }

  /** @param hasParents whether jobs that are replaced may have children. If not, and one has, the batch is undone */
  commits(hasParents: boolean): SqlStatement[] {
    if (this.#counted.length === 0) return [];
    const { now, schedulerId, stepId } = this.#request;
    const { insertFires, insertFiresPlainly, commitPlans, noteFailures, keepsLedger } = this.#statements;
    const { noteZoneRulesOfPlans } = this.#statements;
    const insert = this.#isAware ? insertFires : insertFiresPlainly;
    const fireRows = this.#counted.filter((plan) => plan.fires.length > 0 && !isApart(plan)).map(fireRow);
    const failures = keepsLedger ? this.#counted.filter(({ paused }) => paused).map(planRow) : [];
    return [
      ...rowParameters(fireRows).map(({ text }) => statement(insert, text, now)),
      ...this.#makingWay(hasParents),
      ...this.#skips(),
      ...rowParameters(failures).map(({ text }) => statement(noteFailures, text, now, schedulerId)),
      ...rowParameters(this.#counted.flatMap(zoneRulesRow)).map(({ text }) =>
        statement(noteZoneRulesOfPlans, text, now),
      ),
      statement(commitPlans, JSON.stringify(this.#counted.map(planRow)), now, stepId, schedulerId),
    ];
  }

  /** The statements of plans whose schedules' runs may not overlap. */
  #makingWay(hasParents: boolean): SqlStatement[] {
    if (this.#apart.length === 0) return [];
    const { now } = this.#request;
    const { noteOverlaps, wakeReplaced, removeReplaced, removeReplacedParents, noteReplaced } = this.#statements;
    const { cancelOverlapped, insertUnskipped, insertUnskippedPlainly } = this.#statements;
    const { keepsLedger, skipOverlapped } = this.#statements;
    const insert = this.#isAware ? insertUnskipped : insertUnskippedPlainly;
    const removing = hasParents ? [wakeReplaced, noteReplaced, removeReplacedParents] : [wakeReplaced, removeReplaced];
    const rows = JSON.stringify(this.#apart.map(overlapRow));
    const has = (...policies: string[]): boolean =>
      this.#apart.some(({ overlap }) => policies.includes(overlap.policy));
    return [
      statement(noteOverlaps, rows, now),
      ...(has("replaceQueued", "cancelRunning") ? removing.map((sql) => statement(sql, rows, now)) : []),
      ...(keepsLedger ? [statement(skipOverlapped, rows, now)] : []),
      ...(has("cancelRunning") ? [statement(cancelOverlapped, rows, now)] : []),
      ...rowParameters(this.#apart.map(fireRow)).map(({ text }) => statement(insert, text, now)),
    ];
  }

  /** The statements that enter the skips of the plans into the ledger. */
  #skips(): SqlStatement[] {
    const { keepsLedger, enterSkips } = this.#statements;
    if (!keepsLedger) return [];
    const rows = this.#counted.filter(({ skips = [] }) => skips.length > 0).map(skipRow);
    return rowParameters(rows).map(({ text }) => statement(enterSkips, text, this.#request.now));
  }

  /** The statements whose answers {@link reports} reads. They follow the {@link commits}. */
  confirmation(): SqlStatement[] {
    if (this.#counted.length === 0) return [];
    const { confirmPlans, readOverlaps } = this.#statements;
    const { stepId } = this.#request;
    const fences = (plans: readonly SchedulePlan[]): string =>
      JSON.stringify(plans.map(({ scheduleId, fence }) => [scheduleId, fence]));
    return [
      statement(confirmPlans, fences(this.#counted), JSON.stringify(this.#jobIds), stepId),
      ...(this.#apart.length === 0 ? [] : [statement(readOverlaps, fences(this.#apart), stepId)]),
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

function overlapRow({ scheduleId, fence, expected, overlap, fires }: PlanApart): unknown[] {
  return [scheduleId, fence, expected, overlap.passed, overlap.policy, fires[0]?.fireTime ?? null];
}

function skipRow({ scheduleId, fence, expected, skips = [] }: SchedulePlan): unknown[] {
  const rows = skips.map(({ from, until, verdict, count, into }) => [from, until, verdict, count, into]);
  return [scheduleId, fence, expected, rows];
}

function planRow(plan: SchedulePlan): unknown[] {
  const { scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isFavourite, paceUntil = null } = plan;
  return [scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isFavourite, paceUntil];
}

function zoneRulesRow({ scheduleId, fence, expected, zoneRules }: SchedulePlan): unknown[][] {
  return zoneRules === undefined ? [] : [[scheduleId, fence, expected, zoneRules]];
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
    throw new RangeError(`a step has ${count} ${what}, and may have ${most}: send them in several steps`);
}
