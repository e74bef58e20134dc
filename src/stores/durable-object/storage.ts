import type { Row, SqlValue } from "../sql/driver/driver-and-failures.ts";

/** What the store needs of the storage of a Durable Object, which is `ctx.storage` within the object. */
export interface DurableObjectSqlStorage {
  readonly sql: {
    /** Runs one statement. */
    exec(sql: string, ...values: SqlValue[]): { toArray(): Row[] };
  };
  /** Runs a function in a transaction, which an error of the function undoes. */
  transactionSync<T>(run: () => T): T;
}
