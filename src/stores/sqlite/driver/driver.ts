import type { StoreUnavailableError } from "../../../core/errors.ts";
import { WAL_CHECKPOINT_PAGES } from "../bounds.ts";

/** A value that travels to the database. */
export type SqlValue = string | number | null;

/** A statement in SQLite's SQL. */
export interface SqlStatement {
  readonly sql: string;
  /** The values of `?1`, `?2` and so on. */
  readonly args: SqlValue[];
}

/** One row of a statement's answer: its values by the names of their columns. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * What a failure means for the next step. Nothing was written; only with `connection` that is unknown.
 * - `busy`: others hold the lock; worth repeating.
 * - `connection`: the answer is lost, and it is unknown whether the statements took effect; worth repeating.
 * - `unavailable`: the database itself does not work (a full disk, no permission, damage, a wrong token). Repeating at
 *   once does not help, and the statement is not at fault.
 * - `refused`: the database will never take this statement with these values.
 * - `tooLarge`: the statement or its answer is larger than the database allows. A smaller statement may pass.
 * - `guard`: a statement of the batch undid the batch on purpose (SQLite says "escapement guard").
 */
export type FailureKind = "busy" | "connection" | "unavailable" | "refused" | "tooLarge" | "guard";

/**
 * What the store needs of a database that speaks SQLite's SQL (3.38 or later, with `RETURNING` and JSON). The store
 * runs writes one after the other, repeats operations that failed for a passing reason, and makes every write safe to
 * repeat. A driver does none of this.
 */
export interface SqlDriver {
  /** Whether the database is in this process (a file, or memory), so that no answer can get lost or be late. Known once
   *  the driver is open. */
  readonly isLocal: boolean;
  /** Opens the connection. Called before any other method, and again when it failed for a passing reason. */
  open?(): Promise<void>;
  /** Runs one statement. */
  execute(statement: SqlStatement): Promise<Row[]>;
  /** Runs the statements in one write transaction, which counts as a whole or not at all, in one round trip. */
  batch(statements: readonly SqlStatement[]): Promise<Row[][]>;
  /** Throws for statements that write more than the database could give back. A driver that has this method asks it
   *  before it runs anything. The store calls it for statements that others run. */
  refuseTooLarge?(statements: readonly SqlStatement[]): void;
  /** Fetches what others wrote, for a database that reads a copy. Called before a scheduler looks for work. */
  synchronize?(): Promise<void>;
  /** A number that is another one after somebody else has committed a change to the database, as `PRAGMA data_version`
   *  is; null where only a costly question would tell. Called 25 times a second. A driver without this method has no
   *  such number. */
  dataVersion?(): Promise<number | null>;
  /** Why the database is not the one any more that was opened, such as a file that was deleted; null while it is. Asked
   *  before each operation, which is then rejected with this error. */
  readonly loss?: StoreUnavailableError | null;
  /** What an error that `open`, `execute` or `batch` rejected with means. Drivers may ask `sqliteFailureKind`. */
  failureKind(error: unknown): FailureKind;
  /** What users should do about a failure that is not SQLite's own; empty where the advice is unknown. */
  adviceFor?(error: unknown): string;
  /** Opens the connection anew. Called before the next operation when a local database was `busy`, or when a remote
   *  database did not answer in time. */
  reopen?(): Promise<void>;
  /** Closes what `open` opened. `open` may follow. */
  close?(): Promise<void> | void;
}

/** A statement with a plain `?` for each parameter, in the order of the text, because not every client of a database
 *  takes numbered parameters. The text must have no `?` but those of `?1`, `?2` and so on. */
export function positional({ sql, args }: SqlStatement): SqlStatement {
  const inOrder: SqlValue[] = [];
  const text = sql.replace(/\?(\d+)/g, (_, number: string) => {
    inOrder.push(args[Number(number) - 1] ?? null);
    return "?";
  });
  return { sql: text, args: inOrder };
}

/** The statement that prepares a new database file. The journal mode belongs to the file, and stays with the file. */
export const FILE_MODE = "PRAGMA journal_mode = WAL";

/** The statements that set up each connection to a database file. */
export function connectionSettings(durability: "full" | "normal"): string[] {
  return [
    `PRAGMA synchronous = ${durability.toUpperCase()}`,
    `PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES}`,
    // Otherwise the data that a statement of many rows needs to undo itself goes to a temporary file.
    "PRAGMA temp_store = MEMORY",
  ];
}
