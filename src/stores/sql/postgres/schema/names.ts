import { type TableNames, tableNames } from "../../schema/tables.ts";

/** The names of what a store has in a database. */
export interface PostgresNames extends TableNames {
  /** The quoted name of the schema, with a dot. */
  readonly inSchema: string;
}

/** @param schema the name as it is, without quotes */
export function postgresNames(schema: string): PostgresNames {
  const inSchema = `${quoted(schema)}.`;
  return { ...tableNames(inSchema), inSchema };
}

/** A name as SQL, so that capitals count. */
export function quoted(name: string): string {
  return `"${name}"`;
}

/** SQL that fails when a condition does not hold, and so undoes the whole batch, because a batch has no other way to
 *  branch. A row that a caller waits for passes `text`, the message of the error. */
export function guardSql({ inSchema }: PostgresNames, condition: string, text = "escapement guard"): string {
  return `${inSchema}guard((${condition})::boolean, '${text}')`;
}
