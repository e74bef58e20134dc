import { cloudflareAdviceFor, cloudflareFailureKind } from "../cloudflare-sqlite/failures.ts";
import { refuseTooLarge } from "../cloudflare-sqlite/sizes.ts";
import type { FailureKind, Row, SqlDriver, SqlStatement } from "../sqlite/mod.ts";
import type { DurableObjectSqlStorage } from "./storage.ts";

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
