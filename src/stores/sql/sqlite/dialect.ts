import type { SqlDialect } from "../dialect.ts";
import { tableNames } from "../schema/tables.ts";
import { makeStatements } from "./all-statements.ts";
import { logTriggers } from "./jobs/logs-of-jobs.ts";
import { labelTriggers } from "./lists/label-index.ts";
import { lookStatement } from "./look/look-for-work.ts";
import { NEWEST, SchemaCheck } from "./schema/migrations.ts";

/** SQLite's SQL. */
export const sqlite: SqlDialect = {
  schemaVersion: NEWEST,
  forTables: (prefix) => {
    const names = tableNames(prefix);
    return {
      names,
      makeStatements: (keepsLedger) => makeStatements(names, keepsLedger),
      lookStatement: (form) => lookStatement(names, form),
      labelTriggers: labelTriggers(names),
      logTriggers: logTriggers(names),
      schema: (connection, now) => new SchemaCheck(connection, names, now),
    };
  },
};
