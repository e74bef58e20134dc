/**
 * How a page of a list is read: a walk along the rows of an index, in the order of the list, from the end of the page
 * before. The filter takes some of the rows. A walk ends after a number of rows, because a filter may take few of very
 * many.
 */
export interface Walk {
  /** A select of the rows of the walk, in order, without the limit. Its columns are `seq`, the key of the row, and the
   *  columns of the place. */
  readonly rows: string;
  /** The columns that make up the place of a row in the order. */
  readonly place: readonly string[];
  /** Whether the order is descending. */
  readonly isBackwards?: boolean;
}

/** A list of which pages are read. */
export interface WalkedTable {
  readonly table: string;
  /** The name of the key of its rows. */
  readonly key: string;
  /** SQL of a record, and of whether the filter takes it. The table's alias is `t`. */
  readonly record: string;
  readonly isTaken: string;
}

/**
 * SQL that reads a page. ?1 and ?2 are the most records to take and the most rows to walk along; the others belong to
 * the walk and to the filter. The column `record` has the records. If the walk ended because of ?2, there is one more
 * row, the last one, without a record: its `place` has the place in which the walk ended, as a JSON array of texts.
 */
export function walkStatement({ table, key, record, isTaken }: WalkedTable, walk: Walk): string {
  const { rows, place, isBackwards = false } = walk;
  const ordered = (alias: string, backwards: boolean): string =>
    place.map((column) => `${alias}.${column} ${backwards ? "DESC" : "ASC"}`).join(", ");
  return (
    `WITH walked AS MATERIALIZED (${rows} LIMIT +?2) ` +
    `SELECT * FROM (SELECT ${record} AS record, NULL AS place FROM walked w CROSS JOIN ${table} t ` +
    `ON t.${key} = w.seq WHERE ${isTaken} ORDER BY ${ordered("w", isBackwards)} LIMIT +?1) ` +
    `UNION ALL SELECT * FROM (SELECT NULL, json_array(${place.map((column) => `CAST(w.${column} AS TEXT)`).join(", ")}) ` +
    `FROM walked w WHERE (SELECT count(*) FROM walked) >= ?2 ORDER BY ${ordered("w", !isBackwards)} LIMIT 1)`
  );
}

/** SQL of whether one of the expressions has the text of a parameter somewhere. Both sides are folded by one function,
 *  because a database may have a `lower` that knows more letters than A to Z. The parameter is null for any text. */
export function foundIn(parameter: string, expressions: readonly string[]): string {
  const found = expressions.map((expression) => `instr(lower(${expression}), lower(${parameter})) > 0`);
  return `(${parameter} IS NULL OR ${found.join(" OR ")})`;
}
