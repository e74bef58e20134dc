import type { TaskRecord } from "../../records/task.ts";
import type { Seen, View } from "../data-store.ts";
import type { Row, SqlStatement, SqlValue } from "./driver.ts";
import { FAR_PAST_MS } from "./limits.ts";
import { type LookForm, lookStatement } from "./look-statements.ts";
import { fits } from "./parameters.ts";
import { queueParameters } from "./queues.ts";
import { jsonArray, numberOrNull, taskRow } from "./rows.ts";
import { type LookedScheduleRow, toLookedSchedule } from "./schedule-rows.ts";
import type { TableNames } from "./schema.ts";

/** What a look shows besides what its view asks for. */
export interface LookExtras {
  /** The step whose leases it shows. */
  readonly stepId?: string;
  /** Tasks whose stored rows it compares. */
  readonly tasks?: readonly TaskRecord[];
}

/** Makes the statements of looks, and keeps their texts. */
export class Looks {
  readonly #names: TableNames;
  readonly #texts = new Map<string, string>();

  constructor(names: TableNames) {
    this.#names = names;
  }

  /** Null when there is nothing to show. Read the answer with {@link seenIn}. */
  statement({ now, schedulerId, jobs, schedules }: View, { stepId, tasks }: LookExtras): SqlStatement | null {
    const args: SqlValue[] = [now];
    const queues = jobs === null ? null : queueParameters(jobs.queues);
    const showsAcquired = queues !== null && stepId !== undefined;
    if (jobs !== null && queues !== null) args.push(jobs.limit, ...queues.args);
    if (showsAcquired) args.push(schedulerId, stepId);
    if (schedules !== null) {
      const [afterTime, afterId] = schedules.after ?? [FAR_PAST_MS, ""];
      args.push(schedules.dueBy, schedules.limit, schedules.bytesMax, afterTime, afterId);
    }
    if (tasks !== undefined) args.push(JSON.stringify(tasks.map(taskRow)));
    if (args.length === 1) return null;
    const form = {
      queues: queues?.form ?? null,
      acquired: showsAcquired,
      schedules: schedules !== null,
      tasks: tasks !== undefined,
    };
    return { sql: this.#text(form), args };
  }

  #text(form: LookForm): string {
    const key = [form.queues, form.acquired, form.schedules, form.tasks].join();
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = lookStatement(this.#names, form);
      this.#texts.set(key, text);
    }
    return text;
  }
}

/** What the answer of a look shows; `row` is undefined for a look at nothing. */
export function seenIn(row: Row | undefined): Seen {
  const rows = row === undefined ? [] : [row];
  const leaseEnds = ["next_lease_end", "free_at"].map((column) => numberOrNull(rows, column));
  return {
    due: jsonArray<LookedScheduleRow>(rows, "due").map(toLookedSchedule),
    nextFireAt: numberOrNull(rows, "next_fire_at"),
    nextRunAt: numberOrNull(rows, "next_run_at"),
    leaseEndsAt: earliest(leaseEnds),
    hasReady: numberOrNull(rows, "has_ready") === 1,
  };
}

/** Splits tasks into those whose rows fit into one parameter, and the others. */
export function comparableTasks(tasks: readonly TaskRecord[]): [fitting: TaskRecord[], others: TaskRecord[]] {
  let count = tasks.length;
  while (count > 0 && !fits(JSON.stringify(tasks.slice(0, count).map(taskRow)))) count = Math.floor(count / 2);
  return [tasks.slice(0, count), tasks.slice(count)];
}

function earliest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
}
