import type { TaskRecord } from "../../../records/task.ts";
import type { LookedSchedule, LookRequest, ScheduleWindow, Seen, View } from "../../data-store.ts";
import type { Row, SqlStatement, SqlValue } from "../driver/driver.ts";
import { fits } from "../driver/parameters.ts";
import { type FlowControl, flowOf } from "../flow/awareness.ts";
import { queueParameters } from "../jobs/acquisition.ts";
import { ALARMS_UNASKED_MS_MAX, FAR_PAST_MS } from "../limits.ts";
import { jsonArray, numberOrNull, taskRow } from "../rows.ts";
import { type LookedScheduleRow, toLookedSchedule } from "../schedules/schedule-rows.ts";
import type { TableNames } from "../schema/schema.ts";
import { type LookForm, lookStatement } from "./look-statements.ts";

/** What a look shows in addition to the parts that its view asks for. */
export interface LookExtras {
  /** The step whose leased jobs the look shows. */
  readonly stepId?: string;
  /** Tasks that the look compares with their stored rows. */
  readonly tasks?: readonly TaskRecord[];
  /** The look finds out if results have expired for so long, in milliseconds; null if it does not. */
  readonly expiredForMs?: number | null;
  /** See {@link LookRequest.zoneRules}. */
  readonly zoneRules?: LookRequest["zoneRules"] | undefined;
  /** What the look heeds of flow control. */
  readonly flow: FlowControl;
}

/** Makes the statements of looks, and keeps their texts for later looks. */
export class Looks {
  readonly #names: TableNames;
  readonly #keepsLedger: boolean;
  readonly #texts = new Map<string, string>();
  readonly #pages = new DuePages();
  /** Whether something may be overdue some time, as far as the store knows. Most databases expect nothing, and a client
   *  that prepares each statement anew would spend a quarter of a look on the question. */
  #mayAlarm = false;
  /** When a look last asked that, in epoch milliseconds. */
  #askedAt = Number.NEGATIVE_INFINITY;

  /** @param keepsLedger whether the store trims histories, and reports overdue occurrences */
  constructor(names: TableNames, keepsLedger: boolean) {
    this.#names = names;
    this.#keepsLedger = keepsLedger;
  }

  /** The statement of a look; null when there is nothing to show. Read the answer with {@link seen}. */
  statement(
    { now, schedulerId, jobs, schedules }: View,
    { stepId, tasks, expiredForMs = null, zoneRules, flow }: LookExtras,
  ): SqlStatement | null {
    const args: SqlValue[] = [now];
    const queues = jobs === null ? null : queueParameters(jobs);
    const showsAcquired = queues !== null && stepId !== undefined;
    if (jobs !== null && queues !== null) args.push(jobs.limit, ...queues.args);
    if (showsAcquired) args.push(schedulerId, stepId);
    if (schedules !== null) {
      args.push(...this.#pages.parameters(schedules));
    }
    if (tasks !== undefined) args.push(JSON.stringify(tasks.map(taskRow)));
    if (expiredForMs !== null) args.push(now - expiredForMs);
    if (zoneRules !== undefined) args.push(zoneRules.after, zoneRules.limit);
    if (args.length === 1) return null;
    const form = {
      queues: queues?.form ?? null,
      acquired: showsAcquired,
      schedules: schedules !== null,
      tasks: tasks !== undefined,
      expired: expiredForMs !== null,
      ledger: this.#keepsLedger,
      zoneRules: zoneRules !== undefined,
      alarms: this.#keepsLedger && (this.#mayAlarm || Math.abs(now - this.#askedAt) >= ALARMS_UNASKED_MS_MAX),
      flow,
    };
    return { sql: this.#text(form), args };
  }

  /** What the answer shows. No rows are the answer of a look at nothing. */
  seen({ now, schedules }: View, rows: readonly Row[]): Seen {
    const due = jsonArray<LookedScheduleRow>(rows, "due").map(toLookedSchedule);
    const nextFireAt = numberOrNull(rows, "next_fire_at");
    const nextAt = numberOrNull(rows, "overdue_at");
    const isOpen = openAlarms(rows) > 0;
    if (rows[0]?.open_overdue !== undefined) {
      this.#askedAt = now;
      this.#mayAlarm = nextAt !== null || isOpen;
    }
    return {
      ...(schedules === null ? { due, nextFireAt } : this.#pages.page(due, schedules, nextFireAt)),
      nextRunAt: numberOrNull(rows, "next_run_at"),
      nextMissAt: numberOrNull(rows, "next_miss_at"),
      leaseEndsAt: numberOrNull(rows, "next_lease_end"),
      // A step is needed to settle links too.
      hasReady: numberOrNull(rows, "has_ready") === 1 || hasSettledLinks(rows),
      ...(nextAt === null && !isOpen ? {} : { alarms: { nextAt, isOpen } }),
    };
  }

  /** A schedule was changed: the next look asks for alarms. */
  changed(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /** The flow control that the database needs, as a look tells; null for a look that shows nothing of jobs. */
  flow(rows: readonly Row[]): FlowControl | null {
    const hasFlow = numberOrNull(rows, "has_flow");
    return hasFlow === null ? null : flowOf(hasFlow);
  }

  /** The answer was larger than the database sends: the next answer has fewer schedules. False when it cannot have
   *  fewer. */
  shrink({ schedules }: View): boolean {
    return schedules !== null && this.#pages.shrink(schedules);
  }

  #text(form: LookForm): string {
    const { queues, acquired, schedules, tasks, expired, zoneRules, alarms, flow } = form;
    const key = [queues, acquired, schedules, tasks, expired, zoneRules, alarms, flow].join();
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = lookStatement(this.#names, form);
      this.#texts.set(key, text);
    }
    return text;
  }
}

/** Whether a look found jobs that wait although what they wait for has ended. Only a step frees or cancels them. */
export function hasSettledLinks(rows: readonly Row[]): boolean {
  return numberOrNull(rows, "has_settled_links") === 1;
}

/** How many alarms a look found to be open. */
export function openAlarms(rows: readonly Row[]): number {
  return numberOrNull(rows, "open_overdue") ?? 0;
}

/** Splits tasks into those whose rows fit into one parameter, and the others. */
export function comparableTasks(tasks: readonly TaskRecord[]): [fitting: TaskRecord[], others: TaskRecord[]] {
  let count = tasks.length;
  while (count > 0 && !fits(JSON.stringify(tasks.slice(0, count).map(taskRow)))) count = Math.floor(count / 2);
  return [tasks.slice(0, count), tasks.slice(count)];
}

/** What a page of schedules shows. */
export type DuePage = Pick<Seen, "due" | "nextFireAt">;

/**
 * Pages of due schedules. A page ends where its bytes reach their limit. A statement that stopped reading at that place
 * would cost more to prepare than the rest of a look. Therefore the statement reads all rows up to the limit of rows.
 * When these rows were too large, the next statements read about as many rows as fitted.
 */
export class DuePages {
  #rowsMax = Number.POSITIVE_INFINITY;

  /** The parameters of a page: dueBy, limit, and the time and id of `after`. The limit has one row more than the page,
   *  because that row tells what comes next. */
  parameters({ dueBy, limit, after }: ScheduleWindow): SqlValue[] {
    return [dueBy, this.#rowsOf(limit) + 1, ...(after ?? [FAR_PAST_MS, ""])];
  }

  /** Cuts the rows that were read to the page. `nextFireAt` is the earliest fire time that is not due. */
  page(rows: readonly LookedSchedule[], { limit, bytesMax }: ScheduleWindow, nextFireAt: number | null): DuePage {
    let bytes = 0;
    const fitting = rows.findIndex((row, place) => {
      bytes += row.bytes;
      return place > 0 && bytes > bytesMax;
    });
    const rowsMax = this.#rowsOf(limit);
    const count = Math.min(fitting === -1 ? rows.length : fitting, rowsMax);
    if (count < rowsMax && count < rows.length) this.#rowsMax = 2 * count;
    else if (rows.length > rowsMax) this.#rowsMax *= 2;
    return { due: rows.slice(0, count), nextFireAt: rows[count]?.nextFireTime ?? nextFireAt };
  }

  /** The answer was larger than the database sends: from now on, fewer rows are read. False when the answer had one row
   *  only. */
  shrink({ limit }: ScheduleWindow): boolean {
    const rowsMax = this.#rowsOf(limit);
    this.#rowsMax = Math.max(1, Math.ceil(rowsMax / 4));
    return rowsMax > 1;
  }

  #rowsOf(limit: number): number {
    return Math.min(limit, this.#rowsMax);
  }
}
