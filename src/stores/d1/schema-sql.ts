import { tableNames } from "../sql/schema/tables.ts";
import { schemaScript } from "../sql/sqlite/schema/migrations.ts";
import { checkOptions } from "./options.ts";

/**
 * The statements that make the tables of a `D1DataStore`, for `wrangler d1 execute --file`. The store makes its tables
 * by itself; where a plan bounds the queries of an invocation, they are better made before.
 *
 * @param options the `tablePrefix` of the store, if it has one
 * @throws {OptionsError} for a prefix that the store would refuse
 * @example
 * writeFileSync("schema.sql", schemaSql());
 */
export function schemaSql(options: { readonly tablePrefix?: string | undefined } = {}): string {
  return schemaScript(tableNames(checkOptions(options, "schemaSql()").tablePrefix));
}
