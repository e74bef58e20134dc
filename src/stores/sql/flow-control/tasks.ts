import type { TaskRecord } from "../../../records/task.ts";
import type { TaskChange, TaskPause, TaskPauseRequest, TaskPut } from "../../data-store.ts";
import { putTask, withoutPause } from "../../shared/declarations.ts";
import { type PauseFacts, pauseFacts } from "../../shared/pauses.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/driver-and-failures.ts";
import { type ChangeStatements, recordPause } from "../history/audit-of-changes.ts";
import type { LedgerSwitch } from "../history/history-writes.ts";
import { type noticeTriggers, triggersFor } from "../history/notice-triggers.ts";
import { fieldsOf, jsonRecords, numberOrNull, rowParameters } from "../sql-and-json.ts";
import type { FlowState } from "./key-limiters.ts";

type StatementsOfTasks = TaskStatements & ChangeStatements & LedgerSwitch;

/** The tasks of a `SqlDataStore`. */
export class SqlTasks {
  readonly #connection: Connection;
  readonly #statements: StatementsOfTasks;
  readonly #flow: FlowState;

  constructor(connection: Connection, statements: StatementsOfTasks, flow: FlowState) {
    this.#connection = connection;
    this.#statements = statements;
    this.#flow = flow;
  }

  async put(tasks: readonly TaskPut[]): Promise<TaskChange[]> {
    if (tasks.length === 0) return [];
    if (tasks.some(hasFlowControl)) Object.assign(this.#flow, { flow: "on", hasAccounts: true });
    const { getTasksById, putTasks, makeLimitersOfTasks, changeLimiters, rekeyJobs, blockJobs, forgetFormer } =
      this.#statements;
    const ids = JSON.stringify(tasks.map((task) => task.id));
    const { makeNoticeTriggers, keepsLedger } = this.#statements;
    const triggers = keepsLedger ? triggersFor(tasks, makeNoticeTriggers) : [];
    const comparing = tasks.some(({ replaces }) => replaces !== undefined) ? [getTasksById] : [];
    const answers = await this.#connection.write(() => [
      statement(getTasksById, ids),
      ...rowParameters(tasks.map(taskRow)).map(({ text }) => statement(putTasks, text)),
      ...[makeLimitersOfTasks, changeLimiters, rekeyJobs, blockJobs, forgetFormer].map((sql) => statement(sql, ids)),
      ...triggers.map((sql) => statement(sql)),
      ...comparing.map((sql) => statement(sql, ids)),
    ]);
    const known = tasksById(answers[0]);
    const after = comparing.length === 0 ? known : tasksById(answers.at(-1));
    return tasks.map((given) => {
      const { task, change } = putTask(known.get(given.id), given);
      known.set(given.id, task);
      // Where writers share the database, another one may have come between the two reads.
      const isOther = given.replaces !== undefined && after.get(given.id)?.declaration !== given.declaration;
      return isOther && change !== "outdated" ? "conflict" : change;
    });
  }

  async getAll(): Promise<TaskRecord[]> {
    return jsonRecords<TaskRow>(await this.#connection.read(statement(this.#statements.getTasks, ""))).map(toTask);
  }

  async get(id: string): Promise<TaskRecord | null> {
    const [row] = jsonRecords<TaskRow>(await this.#connection.read(statement(this.#statements.getTask, id)));
    return row === undefined ? null : toTask(row);
  }

  async remove(id: string): Promise<"removed" | "inUse" | "missing"> {
    const [inUse, removed] = await this.#connection.write(() => [
      statement(this.#statements.isTaskInUse, id),
      statement(this.#statements.removeTask, id),
      statement(this.#statements.unpauseRemoved, id),
    ]);
    if (numberOrNull(inUse, "in_use") === 1) return "inUse";
    return removed?.length === 1 ? "removed" : "missing";
  }

  async pause(request: TaskPauseRequest): Promise<boolean> {
    const { taskId, key, paused, until = null, reason = null, by = null } = request;
    this.#flow.flow = "on";
    const { pauseTask, makeLimiterOfTask, pauseLimiters, pauseKey, blockPaused } = this.#statements;
    const isPaused = paused ? 1 : 0;
    const said = paused ? [until, reason, by] : [null, null, null];
    const recorded = recordPause(this.#statements, request);
    const answers = await this.#connection.write(() =>
      key === null
        ? [
            ...recorded,
            statement(pauseTask, taskId, isPaused, ...said),
            statement(makeLimiterOfTask, taskId),
            statement(pauseLimiters, taskId, isPaused),
          ]
        : [...recorded, statement(pauseKey, taskId, isPaused, key, ...said), statement(blockPaused, taskId, key)],
    );
    return answers[recorded.length]?.length === 1;
  }

  async getPauses(): Promise<TaskPause[]> {
    const rows = await this.#connection.read(statement(this.#statements.getTaskPauses));
    return rows.map(({ task_id: taskId, key, paused_until: until, pause_reason: reason, paused_by: by }) => ({
      taskId: String(taskId),
      key: textOrNull(key),
      ...pauseFacts({
        pausedUntil: typeof until === "number" ? until : null,
        pauseReason: textOrNull(reason),
        pausedBy: textOrNull(by),
      }),
    }));
  }
}

function tasksById(rows: Parameters<typeof jsonRecords>[0]): Map<string, TaskRecord> {
  return new Map(jsonRecords<TaskRow>(rows).map((row) => [row[0][0], toTask(row)]));
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The statements about tasks, their limits and their pauses. A comment before each statement lists its arguments. */
export interface TaskStatements {
  readonly getTasksById: string;
  readonly putTasks: string;
  readonly makeLimitersOfTasks: string;
  readonly changeLimiters: string;
  readonly rekeyJobs: string;
  readonly blockJobs: string;
  readonly forgetFormer: string;
  readonly getTasks: string;
  readonly getTask: string;
  readonly isTaskInUse: string;
  readonly removeTask: string;
  readonly unpauseRemoved: string;
  readonly pauseTask: string;
  readonly makeLimiterOfTask: string;
  readonly pauseLimiters: string;
  readonly pauseKey: string;
  readonly blockPaused: string;
  readonly reopenLimiters: string;
  readonly endTaskPauses: string;
  readonly endKeyPauses: string;
  readonly getTaskPauses: string;
  readonly makeNoticeTriggers: ReturnType<typeof noticeTriggers>;
}

type TaskRow = [
  [
    id: string,
    maxRunningJobs: number | null,
    declaration: string | null,
    version: number | null,
    paused: number,
    pausedUntil: number | null,
    pauseReason: string | null,
    pausedBy: string | null,
  ],
  Omit<TaskRecord, "id" | "maxRunningJobs" | "declaration" | "version" | "paused" | keyof PauseFacts>,
];

/** The columns of a task as `putTasks` and looks read them. Those of flow control are left out where there is none. */
export function taskRow({ replaces, ...task }: TaskPut): (string | number | null)[] {
  const row = [task.id, task.maxRunningJobs, taskDetails(task), task.declaration ?? null, task.version ?? null];
  row.push(replaces === undefined || task.declaration === undefined ? null : (replaces ?? ""));
  if (!hasFlowControl(task)) return row;
  const { maxRunningPerKey = null, rateLimit, fair = false } = task;
  const isAdmitted = rateLimit !== undefined || fair;
  const rate = [rateLimit?.limit ?? null, rateLimit?.perMs ?? null, rateLimit?.burst ?? null];
  return [...row, 1, maxRunningPerKey, ...rate, fair ? 1 : 0, isAdmitted ? "" : null];
}

function taskDetails(task: TaskRecord): string {
  const { id: _id, maxRunningJobs: _max, declaration: _hash, version: _version, ...details } = withoutPause(task);
  return JSON.stringify(details);
}

function hasFlowControl({ maxRunningPerKey, rateLimit, fair = false }: TaskRecord): boolean {
  return maxRunningPerKey !== undefined || rateLimit !== undefined || fair;
}

/** The settings of a task whose stored details are damaged. */
const DAMAGED_TASK: TaskRow[1] = {
  executor: "",
  misfireGraceMs: null,
  maxRecoveries: 0,
  timeoutMs: null,
  resultExpirationMs: 0,
  retry: { maxAttempts: 1, backoff: { initialMs: 0, factor: 1, maxMs: 0, jitter: "none" } },
  overlap: "queue",
  metadata: {},
};

function toTask([columns, stored]: TaskRow): TaskRecord {
  const [id, maxRunningJobs, declaration, version, paused, pausedUntil, pauseReason, pausedBy] = columns;
  return {
    ...DAMAGED_TASK,
    ...fieldsOf(stored, {}),
    id,
    maxRunningJobs,
    ...(paused === 1 ? { paused: true, ...pauseFacts({ pausedUntil, pauseReason, pausedBy }) } : {}),
    ...(declaration === null ? {} : { declaration }),
    ...(version === null ? {} : { version }),
  };
}
