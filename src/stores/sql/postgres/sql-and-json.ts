// How the SQL texts of PostgreSQL come about. The columns that hold JSON are of the type `json`, which keeps a text
// as it
// was written, and lets no damaged text in.

/** SQL of the rows of a JSON parameter, for FROM: arrays, of which each value has a name and a type. The column
 *  `key` is
 *  the place of the row.
 *  @param columns such as `"id text, fence bigint"`; a value of the type json stays JSON */
export function rowsOf(parameter: string, alias: string, columns: string): string {
  const values = columns.split(", ").map((column, place) => {
    const [name = "", type = ""] = column.split(" ");
    if (type === "json") return `v->${place} AS ${name}`;
    return `${type === "text" ? `v->>${place}` : `(v->>${place})::${type}`} AS ${name}`;
  });
  return (
    `(SELECT (o - 1)::integer AS key, ${values.join(", ")} ` +
    `FROM json_array_elements(${parameter}::json) WITH ORDINALITY AS e(v, o)) ${alias}`
  );
}

/** SQL of a JSON list of texts, for FROM: the columns `value` and `key`, its place. */
export function textsOf(parameter: string, alias: string): string {
  return (
    `(SELECT v AS value, (o - 1)::integer AS key ` +
    `FROM json_array_elements_text(${parameter}::json) WITH ORDINALITY AS e(v, o)) ${alias}`
  );
}

/** SQL of a JSON list of texts, for IN. */
export function textList(parameter: string): string {
  return `SELECT json_array_elements_text(${parameter}::json)`;
}

/** SQL of the members of a JSON object whose keys `instantKey` has made, for FROM: the columns `instant`, `id`, `value`
 *  (as JSON) and `key`, their place. */
export function instantMembers(parameter: string, alias: string): string {
  return (
    `(SELECT rtrim(left(k, 20))::bigint AS instant, substr(k, 21) AS id, v AS value, o AS key ` +
    `FROM json_each(${parameter}::json) WITH ORDINALITY AS e(k, v, o)) ${alias}`
  );
}

/** SQL of one field of a row's details as text; NULL where the details have no such field. */
export function detail(name: string, table: string): string {
  return `(${table}.details->>'${name}')`;
}

/** SQL of a field that is a number. */
export function detailNumber(name: string, table: string): string {
  return `(${table}.details->>'${name}')::bigint`;
}

/** SQL of the size of a column in bytes. */
export function sizeInBytes(column: string): string {
  return `coalesce(octet_length(${column}::text), 0)`;
}

/** SQL of a JSON text as the store keeps it, see `stand-ins.ts`. @param text SQL of it, out of a row of a parameter */
export function keptJson({ inSchema }: InSchema, text: string): string {
  return `${inSchema}kept(${text})`;
}

/** SQL of JSON that is kept, as it was given. */
export function shownJson({ inSchema }: InSchema, json: string): string {
  return `${inSchema}shown(${json})`;
}

interface InSchema {
  readonly inSchema: string;
}

/** SQL that changes rows, and yields them in the order of their keys.
 *  @param change an UPDATE or DELETE without RETURNING @param row the alias of a changed row */
export function inOrderOfKeys(change: string, row: string, columns: string): string {
  const changed = `${change} RETURNING ${row}.seq AS nth, ${columns}`;
  return `WITH changed AS (${changed}) SELECT * FROM changed ORDER BY changed.nth`;
}

/** SQL of a JSON array as text. */
export function arrayOf(...items: readonly string[]): string {
  return `json_build_array(${items.join(", ")})::text`;
}

/** SQL of what the clock of the server says. */
export const STORE_NOW = "round(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** SQL of a JSON array of the texts of an aggregate's rows, each of which is JSON; NULL for no rows. */
export function joinedJson(text: string, order = ""): string {
  return `'[' || string_agg(${text}, ','${order === "" ? "" : ` ORDER BY ${order}`}) || ']'`;
}

/**
 * SQL that changes rows, and keeps in mind how many, until the transaction ends: {@link CHANGES} is that count.
 * Yields a
 * row without meaning.
 * @param change an INSERT, UPDATE or DELETE without RETURNING
 */
export function counted(change: string): string {
  return (
    `WITH changed AS (${change} RETURNING 1) ` +
    "SELECT set_config('escapement.changes', count(*)::text, true) AS counted FROM changed"
  );
}

/** SQL of how many rows the last statement of {@link counted} in this transaction changed. */
export const CHANGES = "current_setting('escapement.changes')::integer";
