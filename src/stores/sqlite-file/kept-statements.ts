import type { FileDatabase, FileStatement } from "./database.ts";

/** Most statements that a connection keeps prepared. The store itself has fewer texts; migrations add more. */
export const KEPT_STATEMENTS_MAX = 384;

/** Prepared statements by their text, because preparing a statement costs several times as much as running it. */
export class KeptStatements {
  readonly #database: FileDatabase;
  /** In the order of their last use. */
  readonly #bySql = new Map<string, FileStatement>();

  constructor(database: FileDatabase) {
    this.#database = database;
  }

  get(sql: string): FileStatement {
    let statement = this.#bySql.get(sql);
    if (statement === undefined) statement = this.#database.prepare(sql);
    else this.#bySql.delete(sql);
    this.#bySql.set(sql, statement);
    for (const [oldest, unused] of this.#bySql) {
      if (this.#bySql.size <= KEPT_STATEMENTS_MAX) break;
      this.#bySql.delete(oldest);
      unused.finalize?.();
    }
    return statement;
  }

  /** Frees all statements. A statement that is left would keep the file open. */
  clear(): void {
    for (const statement of this.#bySql.values()) statement.finalize?.();
    this.#bySql.clear();
  }
}
