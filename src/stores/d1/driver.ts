import { cloudflareAdviceFor, cloudflareFailureKind } from "../cloudflare-sqlite/failures.ts";
import { refuseTooLarge } from "../cloudflare-sqlite/sizes.ts";
import type { Row, SqlDriver, SqlStatement } from "../sqlite/mod.ts";
import type { D1Binding, D1Statement } from "./database.ts";

/** Runs statements on a D1 binding. A batch of D1 is a transaction. There is nothing to open or to close. */
export class D1Driver implements SqlDriver {
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
