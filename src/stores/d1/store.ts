import { cloudflareAdviceFor, cloudflareFailureKind } from "../cloudflare-sqlite/failures.ts";
import { refuseTooLarge } from "../cloudflare-sqlite/largest-record.ts";
import type { Row, SqlDriver, SqlStatement } from "../sql/driver/driver-and-failures.ts";
import { SqlDataStore } from "../sql/sqlite/store.ts";
import type { D1Binding, D1Statement } from "./binding.ts";
import { checkBinding, checkOptions, type D1StoreOptions } from "./options.ts";

/**
 * Keeps everything in a D1 database, through the binding that a Worker has for it. Many schedulers, in many Workers,
 * may share a database. Each look and each commit of a scheduler is one request to D1.
 *
 * ```ts
 * const scheduler = new Scheduler({ dataStore: new D1DataStore(env.DB) });
 * ```
 *
 * The store reads from the primary database: pass the binding itself, and not a session of it, because a session may
 * read from a copy that lacks what other Workers wrote. After a passing failure (a lost connection, a database that was
 * moved) the store tries again, for some seconds (`retry`), before a method rejects with `StoreUnavailableError`. What
 * is larger than a row of D1 may be (2 MB) is refused with `StoreRefusedError`.
 */
export class D1DataStore extends SqlDataStore {
  /** @throws {OptionsError} when the binding is none of D1, or an option is unknown, of a wrong type or out of range */
  constructor(binding: D1Binding, options: D1StoreOptions = {}) {
    const checked = checkOptions(options, "new D1DataStore(binding, options)");
    super(new D1Driver(checkBinding(binding)), { where: "the D1 database", ...checked });
  }
}

/** Runs statements on a D1 binding. A batch of D1 is a transaction. There is nothing to open or to close. */
class D1Driver implements SqlDriver {
  readonly isLocal: boolean = false;
  readonly failureKind: SqlDriver["failureKind"] = cloudflareFailureKind;
  readonly adviceFor: (error: unknown) => string = cloudflareAdviceFor;
  readonly refuseTooLarge: (statements: readonly SqlStatement[]) => void = refuseTooLarge;
  readonly #database: D1Binding;

  constructor(database: D1Binding) {
    this.#database = database;
  }

  async execute(statement: SqlStatement): Promise<Row[]> {
    this.refuseTooLarge([statement]);
    const { results } = await this.#prepare(statement).all();
    return [...results];
  }

  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    this.refuseTooLarge(statements);
    const answers = await this.#database.batch(statements.map((statement) => this.#prepare(statement)));
    return answers.map(({ results }) => [...results]);
  }

  #prepare({ sql, args }: SqlStatement): D1Statement {
    return this.#database.prepare(sql).bind(...args);
  }
}
