import { StoreRefusedError, StoreUnavailableError } from "../../../core/errors.ts";

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

/** Where the answers of some statements of a batch are. */
export interface Answers {
  /** The answers, in order, once the batch has run. */
  of(results: readonly Row[][]): readonly Row[][];
}

/** The statements of one write transaction, part by part. */
export class Batch {
  readonly statements: SqlStatement[] = [];

  add(part: readonly SqlStatement[]): Answers {
    const start = this.statements.length;
    this.statements.push(...part);
    const end = this.statements.length;
    return { of: (results) => results.slice(start, end) };
  }
}

/** A statement with its values. */
export function statement(sql: string, ...args: SqlValue[]): SqlStatement {
  return { sql, args };
}

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
  /** A statement as other clients of the database take it. Default: {@link positional} */
  readonly prepared?: (statement: SqlStatement) => SqlStatement;
  /** Fetches what others wrote, for a database that reads a copy. Called before a scheduler looks for work. */
  synchronize?(): Promise<void>;
  /** A number that is another one after somebody else has committed a change to the database, as `PRAGMA data_version`
   *  is; null where only a costly question would tell. Called 25 times a second. A driver without this method has no
   *  such number. */
  dataVersion?(): Promise<number | null>;
  /** How long the log of a database file is, in bytes. */
  readonly logBytes?: number;
  /** Why the database is not the one any more that was opened, such as a file that was deleted; null while it is. Asked
   *  before each operation, which is then rejected with this error. */
  readonly loss?: StoreUnavailableError | null;
  /** What an error that `open`, `execute` or `batch` rejected with means. Drivers may ask `sqliteFailureKind`. */
  failureKind(error: unknown): FailureKind;
  /** What users should do about a failure (`error`) that is not SQLite's own; empty where the advice is unknown. */
  adviceFor?(error: unknown): string;
  /** Opens the connection anew. Called before the next operation when a local database was `busy`, or when a remote
   *  database did not answer in time. */
  reopen?(): Promise<void>;
  /** Closes what `open` opened. `open` may follow. */
  close?(): Promise<void> | void;
}

/**
 * What a failure means for what to do next. Nothing was written; only with `connection` that is unknown.
 * - `busy`: others hold the lock; worth repeating.
 * - `connection`: the answer is lost, and it is unknown whether the statements took effect; worth repeating.
 * - `unavailable`: the database itself does not work (a full disk, no permission, damage, a wrong token). Repeating at
 *   once does not help, and the statement is not at fault.
 * - `refused`: the database will never take this statement with these values.
 * - `tooLarge`: the statement or its answer is larger than the database allows. A smaller statement may pass.
 * - `guard`: a statement of the batch undid the batch on purpose (SQLite says "escapement guard").
 */
export type FailureKind = "busy" | "connection" | "unavailable" | "refused" | "tooLarge" | "guard";

/** Brings the log of a file into it, and empties the log, as far as others let it. Also the last statement of a
 *  connection, because the libraries of Bun and libSQL close one only when the garbage collector has taken its
 *  statements, or never. */
export const EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)";

/** SQLite's result codes (sqlite.org/rescode.html) that mean something to the store. Some clients give only the number
 *  of a code. */
const RESULT_CODES: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  18: "SQLITE_TOOBIG",
  19: "SQLITE_CONSTRAINT",
  20: "SQLITE_MISMATCH",
  26: "SQLITE_NOTADB",
  522: "SQLITE_IOERR_SHORT_READ",
};

/** Text in SQLite's error when a job has a parent that the store does not know. */
export const PARENTS_GUARD = "escapement: a job in `after` is unknown";

/** Text in SQLite's error when an application's transaction writes a step of a job whose lease is lost. */
export const LEASE_GUARD = "escapement: the lease of the job was lost";

/** Most errors in a chain of causes that are looked at. */
const CAUSES_MAX = 5;

/** Whether an error, or its cause, says that a parent is unknown. */
export function isAboutParents(error: unknown): boolean {
  return causesOf(error).some(({ message }) => typeof message === "string" && message.includes(PARENTS_GUARD));
}

/** The error that users get. It says what happened, and what to do. */
export function storeError(
  kind: FailureKind,
  doing: string,
  where: string,
  error: unknown,
  driverAdvice = "",
): StoreUnavailableError | StoreRefusedError {
  const shown = adviceFor(error) || driverAdvice;
  const message = `${doing} ${where} failed: ${messageOf(error)}${shown === "" ? "" : `; ${shown}`}`;
  const isRefused = kind === "refused" || kind === "tooLarge";
  return isRefused
    ? new StoreRefusedError(message, { cause: error })
    : new StoreUnavailableError(message, { cause: error });
}

/** The first `code` in an error or its causes that is text. */
export function codeOf(error: unknown): string {
  for (const { code } of causesOf(error)) if (typeof code === "string") return code;
  return "";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function adviceFor(error: unknown): string {
  const code = resultCode(error);
  if (code.startsWith("SQLITE_NOTADB")) return "the file is not an SQLite database; name another file";
  if (code.startsWith("SQLITE_CORRUPT")) return "the database is damaged; restore it from a backup";
  if (code.startsWith("SQLITE_READONLY")) {
    return "the database cannot be written; give this process write permission to the file and to its folder";
  }
  if (code.startsWith("SQLITE_FULL")) return "the disk or the database's quota is full; free space and try again";
  // SQLite reports a full disk so when it cannot grow the files beside the database.
  if (code.startsWith("SQLITE_IOERR")) return "the disk is full, or fails; free space, and check it";
  if (code.startsWith("SQLITE_CANTOPEN") || /unable to open/i.test(messageOf(error))) {
    // The message does not tell whether it means the file itself or a file that a statement needs beside it.
    return (
      "create the folder first if it is missing; where the database or the files beside the database (-wal, -shm) " +
      "cannot be made, give this process write permission to its folder"
    );
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return "another process holds the database's lock all the time; look for a transaction that stays open";
  }
  return code.startsWith("SQLITE_TOOBIG") ? "add less in one call" : "";
}

/** SQLite's name for what went wrong (`SQLITE_BUSY`), or empty. The name of an extended code begins with the name of
 *  its primary code. */
export function resultCode(error: unknown): string {
  for (const { code, errcode, message } of causesOf(error)) {
    if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
    if (typeof errcode === "number") return RESULT_CODES[errcode] ?? RESULT_CODES[errcode % 256] ?? "";
    if (message === "database is locked") return "SQLITE_BUSY";
    const named = typeof message === "string" && /\bSQLITE_[A-Z]+(_[A-Z]+)*/.exec(message);
    if (named) return named[0];
  }
  return "";
}

type DriverError = Partial<Record<"code" | "errcode" | "message", unknown>>;

function causesOf(error: unknown): DriverError[] {
  const causes: DriverError[] = [];
  for (let current = error; causes.length < CAUSES_MAX && typeof current === "object" && current !== null; ) {
    causes.push(current);
    current = "cause" in current ? current.cause : null;
  }
  return causes;
}
