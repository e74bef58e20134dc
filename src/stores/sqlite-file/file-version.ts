import { StoreUnavailableError } from "../../core/errors.ts";
import { fileIdentity, fileMark } from "../../core/host.ts";
import { timerHost } from "../../core/timer-host.ts";
import type { Row, SqlStatement } from "../sql/driver/driver-and-failures.ts";
import { CHANGE_SIGN_MS, FILE_CHECK_MS, VERSION_UNASKED_MS_MAX } from "../sql/sqlite/limits.ts";

const PATH: SqlStatement = { sql: "SELECT file FROM pragma_database_list WHERE name = 'main'", args: [] };
const VERSION: SqlStatement = { sql: "PRAGMA data_version", args: [] };

/** More than any version of a connection, which has 32 bits. */
const VERSIONS_PER_CONNECTION = 2 ** 32;

/**
 * The version of the data in a file, as one connection sees it: it changes when another connection commits. SQLite is
 * asked only while the file system shows that somebody writes, because the question costs 10 times as much as a look at
 * the file's time and size. Also tells when the file is not the one any more that the connection has open.
 */
export class FileVersion {
  readonly #execute: (statement: SqlStatement) => Promise<Row[]>;
  /** The path of the database; empty for a database without a file; null while it is unknown. */
  #path: string | null = null;
  #mark: string | null = null;
  /** When the mark was seen to change, and when SQLite was asked, in milliseconds of `elapsed()`. */
  #signAt = 0;
  #askedAt = 0;
  #version = 0;
  #connections = 0;
  /** The file and its log that the connection has open; null while that is unknown. */
  #file: string | null = null;
  #log: string | null = null;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #loss: StoreUnavailableError | null = null;

  constructor(execute: (statement: SqlStatement) => Promise<Row[]>) {
    this.#execute = execute;
  }

  /** Says that a database was opened. */
  async opened(): Promise<void> {
    this.reconnected();
    this.#path = String((await this.#execute(PATH))[0]?.file ?? "");
    this.#file = this.#path === "" ? null : fileIdentity(this.#path) || null;
  }

  /** Says that there is a new connection to the database: its versions have nothing to do with those of the connection
   *  before, and it may have a new log. */
  reconnected(): void {
    this.#connections++;
    this.#mark = null;
    this.#log = null;
  }

  closed(): void {
    this.#path = null;
    this.#loss = null;
  }

  /** What has become of the file; null while it is there. It costs nothing nearly always, and is up to `FILE_CHECK_MS`
   *  late. The same loss is the same error. */
  get loss(): StoreUnavailableError | null {
    if (this.#path === null || this.#path === "") return null;
    const elapsedMs = timerHost.elapsed();
    if (elapsedMs - this.#checkedAt < FILE_CHECK_MS) return this.#loss;
    this.#checkedAt = elapsedMs;
    const lost = this.#lost(this.#path);
    if (lost === null) this.#loss = null;
    else if (this.#loss?.message !== lost) this.#loss = new StoreUnavailableError(lost);
    return this.#loss;
  }

  #lost(path: string): string | null {
    const file = fileIdentity(path);
    if (file !== null && this.#file !== null && file !== this.#file) return lossOf(path, file);
    const logPath = `${path}-wal`;
    const log = fileIdentity(logPath);
    // Both are made with the first write at the latest. The log stays until the last connection is closed.
    this.#file ??= file || null;
    this.#log ??= log || null;
    return log !== null && this.#log !== null && log !== this.#log ? lossOf(logPath, log) : null;
  }

  /** How long the log is, in bytes. */
  get logBytes(): number {
    const mark = this.#path ? fileMark(`${this.#path}-wal`) : null;
    return Number(mark?.split(" ")[1] ?? 0);
  }

  /** The version; null for a database without a file. */
  async read(): Promise<number | null> {
    if (this.#path === null || this.#path === "") return null;
    if (this.#mayHaveChanged(this.#path)) {
      const [row] = await this.#execute(VERSION);
      this.#version = this.#connections * VERSIONS_PER_CONNECTION + Number(row?.data_version);
    }
    return this.#version;
  }

  #mayHaveChanged(path: string): boolean {
    // Without a log, whoever writes changes the database file itself.
    const logMark = fileMark(`${path}-wal`);
    const mark = logMark === "" ? fileMark(path) : logMark;
    if (mark === null) return true;
    const elapsedMs = timerHost.elapsed();
    if (mark !== this.#mark) this.#signAt = elapsedMs;
    this.#mark = mark;
    const isDue = elapsedMs - this.#signAt < CHANGE_SIGN_MS || elapsedMs - this.#askedAt >= VERSION_UNASKED_MS_MAX;
    if (isDue) this.#askedAt = elapsedMs;
    return isDue;
  }
}

function lossOf(path: string, identity: string): string {
  const what = identity === "" ? "deleted or moved away" : "replaced by another file";
  return (
    `${path} was ${what} while it was open, so that what is written here would be lost: stop all processes that use ` +
    "the database, put its files back (or a backup in their place), and start the processes again"
  );
}
