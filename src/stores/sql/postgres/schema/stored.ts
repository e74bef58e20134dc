import type { PostgresNames } from "./names.ts";

/** A statement that the database keeps as a function, so that a connection plans it once: the plans of a function
 *  outlive transactions, behind a pool that lends connections for one transaction, too. */
export interface Stored {
  /** The statement that makes the function. */
  readonly create: string;
  /** SQL of a call. */
  call(...args: readonly string[]): string;
  /** A call as a statement with the parameters `?1` and so on. */
  readonly statement: string;
}

/** What a stored statement is. `sql` has its parameters as `?1` and so on, of which `types` has the types. */
export interface StoredParts {
  readonly name: string;
  readonly types: readonly string[];
  readonly sql: string;
}

/** How functions begin that have statements. The setting keeps who may write into another schema from putting an
 *  operator or a function of his own in the place of one that is meant. None has more rights than its caller. */
export const PLPGSQL = "LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp";

/** An expression that reads. It sees what the statement sees that calls it, so that all columns of a look see the
 *  same. */
export function storedRead(names: PostgresNames, { name, types, sql }: StoredParts, returns: string): Stored {
  return stored(names, name, types, `RETURNS ${returns} STABLE ${PLPGSQL} AS $$ BEGIN RETURN (${inBody(sql)}); END $$`);
}

/** An INSERT, UPDATE or DELETE that yields nothing. What it changed is counted where `isCounted`, see `CHANGES`. */
export function storedWrite(names: PostgresNames, { name, types, sql }: StoredParts, isCounted = false): Stored {
  const count = "GET DIAGNOSTICS n = ROW_COUNT; PERFORM set_config('escapement.changes', n::text, true);";
  const body = `DECLARE n bigint; BEGIN ${inBody(sql)}; ${isCounted ? count : ""} END`;
  return stored(names, name, types, `RETURNS void ${PLPGSQL} AS $$ ${body} $$`);
}

/** Statements that yield nothing, with variables of theirs. */
export function storedBlock(
  names: PostgresNames,
  { name, types, sql }: StoredParts,
  variables: Readonly<Record<string, string>>,
): Stored {
  const declared = Object.entries(variables).map(([variable, type]) => `${variable} ${type};`);
  const body = `DECLARE ${declared.join(" ")} BEGIN ${inBody(sql)} END`;
  return stored(names, name, types, `RETURNS void ${PLPGSQL} AS $$ ${body} $$`);
}

function stored({ inSchema }: PostgresNames, name: string, types: readonly string[], rest: string): Stored {
  const call = (...args: readonly string[]): string => `${inSchema}${name}(${args.join(", ")})`;
  // The driver looks for parameters of JSON.
  const parameters = types.map((type, index) => `?${index + 1}${type === "json" ? "::json" : ""}`);
  return {
    create: `CREATE OR REPLACE FUNCTION ${inSchema}${name}(${types.join(", ")}) ${rest}`,
    call,
    statement: `SELECT ${call(...parameters)} AS done`,
  };
}

function inBody(sql: string): string {
  return sql.replace(/\?(\d+)/g, "$$$1");
}
