import type { TaskRecord } from "../../../records/task.ts";
import type { LookedSchedule, LookRequest, ScheduleDeclaration, ScheduleWindow, Seen, View } from "../../data-store.ts";
import type { Row, SqlStatement, SqlValue } from "../driver/driver-and-failures.ts";
import type { FlowMode } from "../flow-control/key-limiters.ts";
import { taskRow } from "../flow-control/tasks.ts";
import { type QueueForm, queueParameters } from "../jobs/acquisition.ts";
import { FAR_PAST_MS, OVERDUE_UNASKED_MS_MAX } from "../limits.ts";
import { type LookedScheduleRow, toLookedSchedule } from "../schedules/schedule-rows.ts";
import { fits, jsonArray, numberOrNull } from "../sql-and-json.ts";

/** What a look shows in addition to the parts that its view asks for. */
export interface LookExtras {
  /** The commit whose leased jobs the look shows. */
  readonly commitId?: string;
  /** Tasks that the look compares with their stored rows. */
  readonly tasks?: readonly TaskRecord[];
  /** The look finds out if results have expired for so long, in milliseconds; null if it does not. */
  readonly expiredForMs?: number | null;
  /** See {@link LookRequest.zoneRules}. */
  readonly zoneRules?: LookRequest["zoneRules"] | undefined;
  /** See {@link LookRequest.asksForNow}. */
  readonly asksForNow?: boolean;
  /** See {@link LookRequest.uptimeAfter}. */
  readonly uptimeAfter?: number | undefined;
  /** See {@link LookRequest.declared}. */
  readonly declared?: readonly ScheduleDeclaration[] | undefined;
  readonly flow: FlowMode;
}

/** Makes the statements of looks, and keeps their texts for later looks. */
export class Looks {
  readonly #lookStatement: (form: LookForm) => string;
  readonly #keepsLedger: boolean;
  readonly #texts = new Map<string, string>();
  readonly #pages = new DuePages();
  /** Whether something may be overdue some time, as far as the store knows. Most databases expect nothing, and a client
   *  that prepares each statement anew would spend a quarter of a look on the question. */
  #mayBeOverdue = false;
  /** When a look last asked that, in epoch milliseconds. */
  #askedAt = Number.NEGATIVE_INFINITY;

  /** @param keepsLedger whether the store trims histories, and reports overdue occurrences */
  constructor(lookStatement: (form: LookForm) => string, keepsLedger: boolean) {
    this.#lookStatement = lookStatement;
    this.#keepsLedger = keepsLedger;
  }

  /** The statement of a look; null when there is nothing to show. Read the answer with {@link seen}. */
  statement(
    { now, schedulerId, jobs, schedules }: View,
    { commitId, tasks, expiredForMs = null, zoneRules, declared, asksForNow = false, uptimeAfter, flow }: LookExtras,
  ): SqlStatement | null {
    const args: SqlValue[] = [now];
    const queues = jobs === null ? null : queueParameters(jobs);
    const showsAcquired = queues !== null && commitId !== undefined;
    if (jobs !== null && queues !== null) args.push(jobs.limit, ...queues.args);
    if (showsAcquired) args.push(schedulerId, commitId);
    if (schedules !== null) {
      args.push(...this.#pages.parameters(schedules));
    }
    if (tasks !== undefined) args.push(JSON.stringify(tasks.map(taskRow)));
    if (expiredForMs !== null) args.push(now - expiredForMs);
    if (zoneRules !== undefined) args.push(zoneRules.after, zoneRules.limit);
    if (declared !== undefined) args.push(declaredRows(declared));
    if (uptimeAfter !== undefined) args.push(uptimeAfter);
    if (args.length === 1) {
      if (!asksForNow) return null;
      // Nothing else is asked, which needs no arguments.
      args.pop();
    }
    const form = {
      queues: queues?.form ?? null,
      acquired: showsAcquired,
      schedules: schedules !== null,
      tasks: tasks !== undefined,
      expired: expiredForMs !== null,
      ledger: this.#keepsLedger,
      zoneRules: zoneRules !== undefined,
      declared: declared !== undefined,
      uptime: uptimeAfter !== undefined,
      now: asksForNow,
      overdue: this.#keepsLedger && (this.#mayBeOverdue || Math.abs(now - this.#askedAt) >= OVERDUE_UNASKED_MS_MAX),
      flow,
    };
    return { sql: this.#text(form), args };
  }

  /** What the answer shows. No rows are the answer of a look at nothing. */
  seen({ now, schedules }: View, rows: readonly Row[]): Seen {
    const due = jsonArray<LookedScheduleRow>(rows, "due").map(toLookedSchedule);
    const nextFireAt = numberOrNull(rows, "next_fire_at");
    const nextAt = numberOrNull(rows, "overdue_at");
    const isOpen = openOverdueCount(rows) > 0;
    const pauseEndsAt = numberOrNull(rows, "pause_ends_at");
    const blackouts = numberOrNull(rows, "blackouts");
    if (rows[0]?.open_overdue !== undefined) {
      this.#askedAt = now;
      this.#mayBeOverdue = nextAt !== null || isOpen;
    }
    return {
      ...(schedules === null ? { due, nextFireAt } : this.#pages.page(due, schedules, nextFireAt)),
      nextRunAt: numberOrNull(rows, "next_run_at"),
      nextMissAt: numberOrNull(rows, "next_miss_at"),
      leaseEndsAt: numberOrNull(rows, "next_lease_end"),
      // A commit is needed to resolve dependencies, too.
      hasReady: numberOrNull(rows, "has_ready") === 1 || hasEndedDependencies(rows),
      ...(blackouts === null ? {} : { blackouts }),
      ...(pauseEndsAt === null ? {} : { pauseEndsAt }),
      ...(nextAt === null && !isOpen ? {} : { overdue: { nextAt, isOpen } }),
    };
  }

  /** A schedule was changed: the next look asks for overdue occurrences. */
  changed(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /** Whether the database needs flow control, as a look tells; null for a look that shows nothing of jobs. */
  flow(rows: readonly Row[]): FlowMode | null {
    const hasFlow = numberOrNull(rows, "has_flow");
    return hasFlow === null ? null : hasFlow === 1 ? "on" : "off";
  }

  /** The answer was larger than the database sends: the next answer has fewer schedules. False when it cannot have
   *  fewer. */
  shrink({ schedules }: View): boolean {
    return schedules !== null && this.#pages.shrink(schedules);
  }

  #text(form: LookForm): string {
    const { queues, acquired, schedules, tasks, expired, zoneRules, declared, uptime, now, overdue, flow } = form;
    const key = [queues, acquired, schedules, tasks, expired, zoneRules, declared, uptime, now, overdue, flow].join();
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = this.#lookStatement(form);
      this.#texts.set(key, text);
    }
    return text;
  }
}

/** Whether a look found jobs that wait although the jobs that they wait for have ended. Only a commit resolves these
 *  dependencies. */
export function hasEndedDependencies(rows: readonly Row[]): boolean {
  return numberOrNull(rows, "has_ended_dependencies") === 1;
}

/** How many overdue occurrences a look found to be open. */
export function openOverdueCount(rows: readonly Row[]): number {
  return numberOrNull(rows, "open_overdue") ?? 0;
}

function declaredRows(declared: readonly ScheduleDeclaration[]): string {
  return JSON.stringify(declared.map(({ id, declaration, version }) => [id, declaration ?? null, version ?? null]));
}

/** As many of the declared schedules as fit into one parameter; undefined for none. */
export function comparableSchedules(
  declared: readonly ScheduleDeclaration[] | undefined,
): readonly ScheduleDeclaration[] | undefined {
  let fitting = declared ?? [];
  while (fitting.length > 0 && !fits(declaredRows(fitting))) fitting = fitting.slice(0, fitting.length / 2);
  return fitting.length === 0 ? undefined : fitting;
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

/** What a look shows. */
export interface LookForm {
  /** How the queues travel; null for a look that shows nothing of jobs. */
  readonly queues: QueueForm | null;
  /** Whether the look ends a commit. The commit has made due jobs ready, and the look shows the jobs that it
   *  acquired. */
  readonly acquired: boolean;
  readonly schedules: boolean;
  readonly tasks: boolean;
  readonly expired: boolean;
  /** Whether the store trims histories. */
  readonly ledger: boolean;
  readonly zoneRules: boolean;
  readonly declared: boolean;
  /** Whether the look tells of uptimes that end after an instant. */
  readonly uptime: boolean;
  /** Whether the look tells what the store's clock says. */
  readonly now: boolean;
  /** Whether the look reports overdue occurrences. */
  readonly overdue: boolean;
  readonly flow: FlowMode;
}
