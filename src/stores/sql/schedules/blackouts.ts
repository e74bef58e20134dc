import type { BlackoutRecord } from "../../../records/blackout.ts";
import type { BlackoutAddition, BlackoutAdditionReport, BlackoutList } from "../../contract/blackout-types.ts";
import { blackoutChange, blackoutRule } from "../../shared/blackouts.ts";
import { BLACKOUT_KEPT_MS } from "../../shared/limits.ts";
import type { Connection } from "../driver/connection.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { numberOrNull } from "../sql-and-json.ts";

/** The blackouts of a `SqlDataStore`. */
export class SqlBlackouts {
  readonly #connection: Connection;
  readonly #statements: BlackoutStatements;

  constructor(connection: Connection, statements: BlackoutStatements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async list(): Promise<BlackoutList> {
    const rows = await this.#connection.read(statement(this.#statements.getBlackouts));
    const version = numberOrNull(rows, "version") ?? 0;
    return { version, items: rows.flatMap(blackoutsOf) };
  }

  async add(addition: BlackoutAddition): Promise<BlackoutAdditionReport> {
    const { blackout, conflictPolicy } = addition;
    const { getBlackout, replaceBlackout, insertBlackout } = this.#statements;
    const { id, until } = blackout;
    const replaces = conflictPolicy === "replace" || conflictPolicy === "update" ? 1 : 0;
    const rule = blackoutRule(blackout);
    const answers = await this.#connection.write(() => [
      statement(getBlackout, id),
      statement(replaceBlackout, id, rule, replaces),
      statement(insertBlackout, id, until, rule, JSON.stringify(blackout)),
      statement(getBlackout, id),
    ]);
    const [before] = (answers[0] ?? []).flatMap(blackoutsOf);
    const [stored] = (answers[3] ?? []).flatMap(blackoutsOf);
    if (stored === undefined) return { change: "full", blackout };
    return { change: before === undefined ? "added" : blackoutChange(before, addition), blackout: stored };
  }

  async remove(id: string): Promise<BlackoutRecord | null> {
    const { getBlackout, markRemoval, removeBlackout, forgetRemovals } = this.#statements;
    const [rows] = await this.#connection.write(() => [
      statement(getBlackout, id),
      statement(markRemoval, id),
      statement(removeBlackout, id),
      statement(forgetRemovals),
    ]);
    return (rows ?? []).flatMap(blackoutsOf)[0] ?? null;
  }
}

/** The statements that remove the blackouts that ended long ago, and do not recur. */
export function cleaningBlackouts(
  { markOldBlackouts, removeOldBlackouts, forgetRemovals }: BlackoutStatements,
  now: number,
): SqlStatement[] {
  const before = now - BLACKOUT_KEPT_MS;
  return [statement(markOldBlackouts, before), statement(removeOldBlackouts, before), statement(forgetRemovals)];
}

/** The blackout of a row; none for a row that marks a removal, or that is damaged. */
function blackoutsOf({ id, details }: Row): BlackoutRecord[] {
  if (typeof id !== "string" || typeof details !== "string") return [];
  try {
    const record: unknown = JSON.parse(details);
    return typeof record === "object" && record !== null ? [{ ...(record as BlackoutRecord), id }] : [];
  } catch {
    return [];
  }
}

/** A comment before each statement lists its arguments. */
export interface BlackoutStatements {
  readonly getBlackouts: string;
  readonly getBlackout: string;
  readonly replaceBlackout: string;
  readonly insertBlackout: string;
  readonly markRemoval: string;
  readonly removeBlackout: string;
  readonly forgetRemovals: string;
  readonly markOldBlackouts: string;
  readonly removeOldBlackouts: string;
}
