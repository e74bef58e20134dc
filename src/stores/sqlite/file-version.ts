import { fileMark } from "../../core/host.ts";
import { timerHost } from "../../core/timer-host.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { CHANGE_SIGN_MS, VERSION_UNASKED_MS_MAX } from "./limits.ts";

const PATH: SqlStatement = { sql: "SELECT file FROM pragma_database_list WHERE name = 'main'", args: [] };
const VERSION: SqlStatement = { sql: "PRAGMA data_version", args: [] };

/** More than any version of a connection, which has 32 bits. */
const VERSIONS_PER_CONNECTION = 2 ** 32;

/**
 * The version of the data in a file, as one connection sees it: it changes when another connection commits. SQLite is
 * asked only while the file system shows that somebody writes, because the question costs 10 times as much as a look at
 * the file's time and size.
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

  constructor(execute: (statement: SqlStatement) => Promise<Row[]>) {
    this.#execute = execute;
  }

  /** Says that there is a new connection: its versions have nothing to do with those of the connection before. */
  reconnected(): void {
    this.#connections++;
    this.#mark = null;
  }

  /** The version; null for a database without a file. */
  async read(): Promise<number | null> {
    this.#path ??= String((await this.#execute(PATH))[0]?.file ?? "");
    if (this.#path === "") return null;
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
