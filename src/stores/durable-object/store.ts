import { cloudflareAdviceFor, cloudflareFailureKind } from "../cloudflare-sqlite/failures.ts";
import { refuseTooLarge } from "../cloudflare-sqlite/largest-record.ts";
import type { FailureKind, Row, SqlDriver, SqlStatement } from "../sql/driver/driver-and-failures.ts";
import { SqlDataStore } from "../sql/sqlite/store.ts";
import { checkOptions, checkStorage, type DurableObjectStoreOptions } from "./options.ts";
import type { DurableObjectSqlStorage } from "./storage.ts";

/**
 * Keeps everything in the SQLite of the Durable Object in which it lives. Nobody but this object can reach the data, so
 * each object has schedules and jobs of its own. Other tables of the object stay as they are.
 *
 * ```ts
 * const scheduler = new Scheduler({ dataStore: new DurableObjectDataStore(ctx.storage) });
 * ```
 *
 * Cloudflare sends no answer of the object before what the object wrote is safe. An object that loses its storage
 * ends: then methods reject with `StoreUnavailableError`, and the next request or alarm gets a new object. What is
 * larger than a row may be (2 MB) is refused with `StoreRefusedError`.
 */
export class DurableObjectDataStore extends SqlDataStore {
  /** @throws {OptionsError} when the storage is none of a Durable Object with SQLite, or an option is unknown, of a
   *  wrong type or out of range */
  constructor(storage: DurableObjectSqlStorage, options: DurableObjectStoreOptions = {}) {
    super(new DurableObjectDriver(checkStorage(storage)), {
      where: "the storage of the Durable Object",
      sharedByProcesses: false,
      ...checkOptions(options),
    });
  }
}

/** Runs statements on the storage of the Durable Object in which it lives. There is nothing to open or to close. */
export class DurableObjectDriver implements SqlDriver {
  readonly isLocal: boolean = true;
  readonly refuseTooLarge: (statements: readonly SqlStatement[]) => void = refuseTooLarge;
  readonly #storage: DurableObjectSqlStorage;

  constructor(storage: DurableObjectSqlStorage) {
    this.#storage = storage;
  }

  async execute(statement: SqlStatement): Promise<Row[]> {
    this.refuseTooLarge([statement]);
    return this.#run(statement);
  }

  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    this.refuseTooLarge(statements);
    const [only] = statements;
    // One statement is a transaction by itself, as most single additions are.
    if (only !== undefined && statements.length === 1) return [this.#run(only)];
    return this.#storage.transactionSync(() => statements.map((statement) => this.#run(statement)));
  }

  /** An object that lost its storage has ended: what it repeats fails again, and only the next request gets a new
   *  object. So nothing is worth repeating. */
  failureKind(error: unknown): FailureKind {
    const kind = cloudflareFailureKind(error);
    return kind === "connection" ? "unavailable" : kind;
  }

  adviceFor(error: unknown): string {
    if (cloudflareFailureKind(error) === "connection") return "the next request or alarm gets a new object";
    return cloudflareAdviceFor(error);
  }

  #run({ sql, args }: SqlStatement): Row[] {
    return this.#storage.sql.exec(sql, ...args).toArray();
  }
}
