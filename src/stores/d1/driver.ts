import { cloudflareAdviceFor, cloudflareFailureKind } from "../cloudflare-sqlite/failures.ts";
import { refuseTooLarge, TooLargeValue } from "../cloudflare-sqlite/sizes.ts";
import type { FailureKind, Row, SqlDriver, SqlStatement } from "../sqlite/mod.ts";
import type { D1Binding, D1Statement } from "./database.ts";

/** Runs statements on a D1 binding. A batch of D1 is a transaction. There is nothing to open or to close. */
export class D1Driver implements SqlDriver {
  readonly isLocal: boolean = false;
  readonly adviceFor: (error: unknown) => string = cloudflareAdviceFor;
  readonly #database: D1Binding;

  constructor(database: D1Binding) {
    this.#database = database;
  }

  async execute(statement: SqlStatement): Promise<Row[]> {
    const { results } = await this.#prepare(statement).all();
    return [...results];
  }

  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    const answers = await this.#database.batch(statements.map((statement) => this.#prepare(statement)));
    return answers.map(({ results }) => [...results]);
  }

  failureKind(error: unknown): FailureKind {
    return error instanceof TooLargeValue ? "tooLarge" : failureKind(error);
  }

  #prepare(statement: SqlStatement): D1Statement {
    refuseTooLarge(statement);
    return this.#database.prepare(statement.sql).bind(...statement.args);
  }
}

function failureKind(error: unknown): FailureKind {
  const kind = cloudflareFailureKind(error);
  // The binding is a client of an HTTP server within Cloudflare.
  return kind === "unavailable" && error instanceof TypeError ? "connection" : kind;
}
