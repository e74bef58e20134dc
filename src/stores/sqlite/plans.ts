import { FIRES_PER_STEP_MAX, PLANS_PER_STEP_MAX } from "../../core/limits.ts";
import type { PlanReport, SchedulePlan, StepRequest } from "../data-store.ts";
import { statement } from "./batch.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { rowParameters } from "./parameters.ts";
import { jsonArray, numberOrNull } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** The plans of one step, as statements. */
export class Plans {
  readonly #statements: Statements;
  readonly #request: StepRequest;
  /** The first plan of each schedule: a second one does not count. */
  readonly #counted: readonly SchedulePlan[];
  readonly #jobIds: readonly string[];

  /** @throws {RangeError} when there are more plans or fires than one step may have */
  constructor(statements: Statements, request: StepRequest) {
    this.#statements = statements;
    this.#request = request;
    this.#counted = [...new Map(request.plans.toReversed().map((plan) => [plan.scheduleId, plan])).values()].reverse();
    this.#jobIds = this.#counted.flatMap(({ fires }) => fires.map(({ jobId }) => jobId));
    refuseMoreThan(PLANS_PER_STEP_MAX, request.plans.length, "plans");
    refuseMoreThan(FIRES_PER_STEP_MAX, this.#jobIds.length, "jobs of plans");
  }

  commits(): SqlStatement[] {
    if (this.#counted.length === 0) return [];
    const { now, schedulerId, stepId } = this.#request;
    const { insertFires, commitPlans } = this.#statements;
    const fireRows = this.#counted.filter(({ fires }) => fires.length > 0).map(fireRow);
    return [
      ...rowParameters(fireRows).map(({ text }) => statement(insertFires, text, now)),
      statement(commitPlans, JSON.stringify(this.#counted.map(planRow)), now, stepId, schedulerId),
    ];
  }

  /** The statement whose answer {@link reports} reads. It follows the {@link commits}. */
  confirmation(): SqlStatement[] {
    if (this.#counted.length === 0) return [];
    const plans = JSON.stringify(this.#counted.map(({ scheduleId, fence }) => [scheduleId, fence]));
    return [statement(this.#statements.confirmPlans, plans, JSON.stringify(this.#jobIds), this.#request.stepId)];
  }

  /** What became of each plan; `answers` are those of the {@link confirmation}. */
  reports([confirmation]: readonly Row[][], isRepetition: boolean): PlanReport[] {
    // If this try committed nothing, the schedules can still carry the stamp of another try, but that counts only in a
    // repetition.
    const counts = isRepetition || numberOrNull(confirmation, "changes") !== 0;
    const places = counts ? jsonArray<number>(confirmation, "committed") : [];
    const committed = new Set(places.map((place) => this.#counted[place]));
    const existing = new Set(jsonArray<number>(confirmation, "existing").map((place) => this.#jobIds[place]));
    const counted = new Set(this.#counted);
    return this.#request.plans.map((plan) => ({
      committed: committed.has(plan),
      addedJobIds: counted.has(plan) ? plan.fires.map(({ jobId }) => jobId).filter((id) => existing.has(id)) : [],
    }));
  }
}

function planRow(plan: SchedulePlan): unknown[] {
  const { scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isFavourite } = plan;
  return [scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isFavourite];
}

function fireRow({ scheduleId, fence, expected, fires }: SchedulePlan): unknown[] {
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
  ]);
  return [scheduleId, fence, expected, rows];
}

function refuseMoreThan(most: number, count: number, what: string): void {
  if (count > most)
    throw new RangeError(`a step has ${count} ${what}, and may have ${most}: send them in several steps`);
}
