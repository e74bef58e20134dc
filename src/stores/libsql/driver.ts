import type { StoreUnavailableError } from "../../core/errors.ts";
import { EMPTY_LOG, type Row, type SqlDriver, type SqlStatement } from "../sql/driver/driver-and-failures.ts";
import { connectionSettings, FILE_MODE } from "../sql/sqlite/driver/driver-and-failures.ts";
import type { FileVersion } from "../sqlite-file/file-version.ts";
import { type DatabaseKind, databaseKind } from "./address.ts";
import type { LibsqlClient } from "./client.ts";
import type { LibsqlConnection, LibsqlUrlConnection } from "./connection-options.ts";
import { adviceFor, failureKind } from "./failures.ts";

/** Settings of a connection that the maker of the client may have changed. A new connection would not have them. */
const KEPT_SETTINGS = [
  ...["synchronous", "wal_autocheckpoint", "journal_size_limit", "temp_store", "cache_size", "foreign_keys"],
  "query_only",
];

export interface LibsqlDriverOptions {
  readonly durability: "full" | "normal";
  readonly timeoutMs: number;
  /** Makes the client of a url. A driver that is only ever given clients needs none, nor the package that it loads. */
  readonly openClient?: (connection: LibsqlUrlConnection, timeoutMs: number) => Promise<LibsqlClient>;
  /** Makes what tells of changes by others. A driver that has no files needs none. */
  readonly makeVersion?: (execute: SqlDriver["execute"]) => FileVersion;
}

/**
 * Runs statements on a client of `@libsql/client`: either a client that the driver opens and closes, or a client of the
 * caller's.
 *
 * A `BEGIN IMMEDIATE` that finds a file locked stays an active statement of the native client until the garbage
 * collector takes the statement. Until then the snapshot of the next read stays open too, so that later reads are stale
 * and writes fail with SQLITE_BUSY_SNAPSHOT, however often they are repeated. Therefore a file that was busy is opened
 * anew before the next statement.
 */
export class LibsqlDriver implements SqlDriver {
  readonly failureKind: SqlDriver["failureKind"] = failureKind;
  readonly adviceFor: (error: unknown) => string = adviceFor;
  readonly #connection: LibsqlConnection;
  readonly #options: LibsqlDriverOptions;
  /** The kind of the database at the url; null for a client of the caller's. */
  readonly #kind: DatabaseKind | null;
  readonly #version: FileVersion | null;
  #client: LibsqlClient | null;
  /** Whether the file is a copy of a database elsewhere. Writes go to that other database. */
  #isReplica: boolean;
  /** The statements that set up each connection to a file; null where no file can be opened anew. */
  #settings: readonly string[] | null = null;

  constructor(connection: LibsqlConnection, options: LibsqlDriverOptions) {
    this.#connection = { ...connection };
    this.#options = options;
    this.#version = options.makeVersion?.((statement) => this.execute(statement)) ?? null;
    this.#client = "client" in connection ? connection.client : null;
    this.#kind = "client" in connection ? null : databaseKind(connection);
    this.#isReplica = this.#kind === "replica";
  }

  get isLocal(): boolean {
    if (this.#isReplica) return false;
    return this.#kind === null ? this.#client?.protocol === "file" : this.#kind !== "remote";
  }

  async open(): Promise<void> {
    if (this.#client === null && "url" in this.#connection) {
      this.#client = (await this.#options.openClient?.(this.#connection, this.#options.timeoutMs)) ?? null;
    }
    const client = this.#opened;
    if (this.#kind === null) {
      this.#isReplica = await isReplica(client);
      if (!this.#isReplica) this.#settings = await keptSettings(client);
    }
    if (this.#kind === "file") {
      this.#settings = connectionSettings(this.#options.durability);
      await run(client, [FILE_MODE, ...this.#settings]);
    }
    if (this.isLocal) await this.#version?.opened();
    // A new replica is empty: without this call its tables would seem to be missing.
    if (this.#kind === "replica") await client.sync?.();
  }

  async synchronize(): Promise<void> {
    if (this.#isReplica) await this.#opened.sync?.();
  }

  async execute(statement: SqlStatement): Promise<Row[]> {
    const { rows } = await this.#opened.execute(statement);
    return [...rows];
  }

  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    const [only] = statements;
    // One statement is a transaction by itself, as most single additions are. The client would prepare a BEGIN and a
    // COMMIT anew.
    if (only !== undefined && statements.length === 1 && this.isLocal) return [await this.execute(only)];
    const results = await this.#opened.batch([...statements], "write");
    return results.map(({ rows }) => [...rows]);
  }

  get loss(): StoreUnavailableError | null {
    return this.#version?.loss ?? null;
  }

  get logBytes(): number {
    return this.#version?.logBytes ?? 0;
  }

  async dataVersion(): Promise<number | null> {
    return this.#version === null || !this.isLocal ? null : this.#version.read();
  }

  async reopen(): Promise<void> {
    const client = this.#opened;
    // Opened anew, a database in memory would lose its data, and a replica would begin from nothing.
    if ((this.isLocal || this.#isReplica) && this.#settings === null) return;
    await client.reconnect?.();
    this.#version?.reconnected();
    await run(client, this.#settings ?? []);
  }

  async close(): Promise<void> {
    // What is no longer at its path is no place to write to. After a failure, the log has all that was written.
    if (this.#kind === "file" && this.loss === null && this.#client !== null) {
      await run(this.#client, [EMPTY_LOG]).catch(() => {});
    }
    this.#version?.closed();
    if (this.#kind === null) return;
    this.#client?.close();
    this.#client = null;
  }

  get #opened(): LibsqlClient {
    if (this.#client === null) throw new Error("the client is not open");
    return this.#client;
  }
}

/** Whether a client of the caller's has a copy of a database elsewhere. A client of any other database refuses to
 *  synchronize. */
async function isReplica(client: LibsqlClient): Promise<boolean> {
  if (client.protocol !== "file" || client.sync === undefined) return false;
  try {
    await client.sync();
    return true;
  } catch {
    return false;
  }
}

/** The settings of a client's connection to a file. Null when the client has no file, or cannot be opened anew. */
async function keptSettings(client: LibsqlClient): Promise<string[] | null> {
  if (client.protocol !== "file" || client.reconnect === undefined) return null;
  const sql = "SELECT file FROM pragma_database_list WHERE name = 'main'";
  const databases = await client.execute({ sql, args: [] });
  if (!databases.rows[0]?.file) return null;
  const settings: string[] = [];
  for (const setting of KEPT_SETTINGS) {
    const { rows } = await client.execute({ sql: `PRAGMA ${setting}`, args: [] });
    settings.push(`PRAGMA ${setting} = ${Number(rows[0]?.[setting])}`);
  }
  return settings;
}

async function run(client: LibsqlClient, statements: readonly string[]): Promise<void> {
  for (const sql of statements) await client.execute({ sql, args: [] });
}
