import type { ChangeNote } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { ScheduleAddition, ScheduleChanges, TaskPauseRequest } from "../data-store.ts";
import { statement } from "./batch.ts";
import type { SqlStatement } from "./driver.ts";
import { rowParameters } from "./parameters.ts";
import type { Statements } from "./statements.ts";

/** The statements of a batch that tell the ledger of a change: those that come before the change, and those after. */
export interface NotedChange {
  readonly before: readonly SqlStatement[];
  readonly after: readonly SqlStatement[];
}

const NOTHING: NotedChange = Object.freeze({ before: Object.freeze([]), after: Object.freeze([]) });

/** Notes additions, no two of which have the same id; without a note, nothing.
 *  @param inserts schedules that leave a stored schedule as it is */
export function noteAdditions(
  statements: Statements,
  inserts: readonly ScheduleRecord[],
  replacements: readonly ScheduleAddition[],
  note: ChangeNote | undefined,
): NotedChange {
  if (note === undefined || !statements.keepsLedger) return NOTHING;
  const rows: (string | null)[][] = inserts.map(({ id }) => [id, "doNothing"]);
  for (const { schedule, conflictPolicy } of replacements) {
    rows.push([schedule.id, conflictPolicy, schedule.declaration ?? null]);
  }
  let before = 0;
  const noted = rowParameters(rows).map(({ text, count }) => {
    before += count;
    return statement(statements.noteAdditions, text, note.at, note.by, before - count);
  });
  const mayMove = replacements.length > 0;
  return { before: noted, after: after(statements, { mayMove, mayBeUnchanged: mayMove, mayCut: true }) };
}

/** Notes a change. `stamp` is that of the statement that makes it. */
export function noteUpdate(
  statements: Statements,
  change: {
    readonly id: string;
    readonly changes: ScheduleChanges;
    readonly expectedFence: number | undefined;
    readonly stamp: string;
  },
  note: ChangeNote | undefined,
): NotedChange {
  if (note === undefined || !statements.keepsLedger) return NOTHING;
  const { id, changes, expectedFence, stamp } = change;
  const mayMove = changes.nextFireTime !== undefined;
  const mayCut = mayMove || changes.trigger !== undefined;
  return {
    before: [statement(statements.noteUpdate, id, note.at, note.by, expectedFence ?? null, stamp)],
    after: after(statements, { mayMove, mayBeUnchanged: true, mayCut }),
  };
}

/** Notes a removal. All of it comes before the schedule goes. */
export function noteRemoval(statements: Statements, id: string, note: ChangeNote | undefined): SqlStatement[] {
  if (note === undefined || !statements.keepsLedger) return [];
  return [
    statement(statements.noteRemoval, id, note.at, note.by),
    ...after(statements, { mayMove: true, mayBeUnchanged: false, mayCut: true }),
  ];
}

function after(
  { dropUnchanged, cutSkips, removeCutSkips, skipUnprocessed, completeChanges }: Statements,
  {
    mayMove,
    mayBeUnchanged,
    mayCut,
  }: { readonly mayMove: boolean; readonly mayBeUnchanged: boolean; readonly mayCut: boolean },
): SqlStatement[] {
  return [
    ...(mayBeUnchanged ? [dropUnchanged] : []),
    ...(mayCut ? [cutSkips, removeCutSkips] : []),
    ...(mayMove ? [skipUnprocessed] : []),
    completeChanges,
  ].map((sql) => statement(sql));
}

/** Notes that a task, or a key of a task, is to be paused or to go on. Comes before that happens. */
export function notePause(
  { noteTaskPause, noteKeyPause, keepsLedger }: Statements,
  { taskId, key, paused, now, by }: TaskPauseRequest,
): SqlStatement[] {
  if (by === undefined || !keepsLedger) return [];
  const args = [taskId, paused ? 1 : 0, now, by] as const;
  return [key === null ? statement(noteTaskPause, ...args) : statement(noteKeyPause, ...args, key)];
}
