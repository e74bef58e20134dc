import { BLACKOUTS_MAX } from "../../../shared/limits.ts";
import type { BlackoutStatements } from "../../schedules/blackouts.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";

export function blackoutStatements(names: TableNames): BlackoutStatements {
  const { blackouts } = names;
  const columns = "CAST(id AS TEXT) AS id, CAST(details AS TEXT) AS details";
  return lazily<BlackoutStatements>({
    getBlackouts: () =>
      `SELECT (${blackoutsVersion(names)}) AS version, ${columns} FROM ${blackouts} WHERE seq > 0 ORDER BY id`,
    // ?1 id
    getBlackout: () => `SELECT ${columns} FROM ${blackouts} WHERE id = ?1`,
    // ?1 id, ?2 what it says, ?3 whether to replace what says something else. Makes room for insertBlackout.
    replaceBlackout: () => `DELETE FROM ${blackouts} WHERE id = ?1 AND ?3 AND rule IS NOT ?2`,
    // ?1 id, ?2 until, ?3 what it says, ?4 the record as JSON. Writes nothing where the id is in use.
    insertBlackout: () =>
      `INSERT INTO ${blackouts} (id, until, rule, details) SELECT ?1, ?2, ?3, ?4 ` +
      `WHERE NOT EXISTS (SELECT 1 FROM ${blackouts} WHERE id = ?1) ` +
      `AND (SELECT count(*) FROM ${blackouts} WHERE id > '') < ${BLACKOUTS_MAX}`,
    // ?1 id. A row without an id keeps the number of a removal, so that the version grows.
    markRemoval: () => `INSERT INTO ${blackouts} (rule, details) SELECT '', '' FROM ${blackouts} WHERE id = ?1`,
    removeBlackout: () => `DELETE FROM ${blackouts} WHERE id = ?1`,
    forgetRemovals: () => `DELETE FROM ${blackouts} WHERE id IS NULL AND seq < (${blackoutsVersion(names)})`,
    // ?1 the end of those that are old
    markOldBlackouts: () =>
      `INSERT INTO ${blackouts} (rule, details) SELECT '', '' ` +
      `WHERE EXISTS (SELECT 1 FROM ${blackouts} WHERE until <= ?1)`,
    removeOldBlackouts: () => `DELETE FROM ${blackouts} WHERE until <= ?1`,
  });
}

/** SQL of the version of the blackouts; NULL while there was none. */
export function blackoutsVersion({ blackouts }: TableNames): string {
  return `SELECT max(seq) FROM ${blackouts}`;
}
