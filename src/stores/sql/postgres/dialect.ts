import type { SqlDialect } from "../dialect.ts";
import { makeStatements } from "./all-statements.ts";
import { lookStatement } from "./look/look-for-work.ts";
import { postgresNames } from "./schema/names.ts";
import { PostgresSchema } from "./schema/schema-check.ts";
import { NEWEST } from "./schema/tables.ts";

/** PostgreSQL's SQL. The prefix of its tables is the name of a schema. All triggers are made together with the
 *  tables. */
export const postgres: SqlDialect = {
  schemaVersion: NEWEST,
  forTables: (schema) => {
    const names = postgresNames(schema);
    return {
      names,
      makeStatements: (keepsLedger) => makeStatements(names, keepsLedger),
      lookStatement: (form) => lookStatement(names, form),
      labelTriggers: [],
      logTriggers: [],
      schema: (connection, now) => new PostgresSchema(connection, schema, now),
    };
  },
};
