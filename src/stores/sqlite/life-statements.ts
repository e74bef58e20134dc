import { LIVES_PER_ANSWER_MAX } from "../../core/limits.ts";
import { lazily } from "./lazily.ts";
import { rowAsJson, validJson } from "./rows.ts";
import type { TableNames } from "./schema.ts";

/** The statements about the lives of schedulers. A comment before each statement lists its arguments. */
export interface LifeStatements {
  readonly extendLife: string;
  readonly getLives: string;
  readonly removeLives: string;
}

export function lifeStatements({ lives, schedulers }: TableNames): LifeStatements {
  const columns = ["CAST(identity AS TEXT)", "CAST(role AS TEXT)", "resident = 1", "since + 0", "until + 0"];
  return lazily<LifeStatements>({
    // Follows keepAlive. ?1 identity, ?2 now, ?3 aliveUntil, ?4 role, ?5 whether it is resident, ?6 task ids, ?7 how
    // long ago the last life may have ended that goes on, if it was one of ticks. The lives of an identity do not
    // overlap, so that the last to begin is the last to end. It ends with the last of the runs, and earlier than it
    // seemed if that run signs off.
    extendLife: () =>
      `INSERT INTO ${lives} (identity, since, until, role, resident, tasks) SELECT ?1, coalesce(since, ?2), ` +
      "max(coalesce(since, ?2), ?2, " +
      `coalesce((SELECT max(alive_until) FROM ${schedulers} WHERE identity = ?1), ?3)), ` +
      "?4, ?5, ?6 FROM (SELECT (SELECT " +
      "CASE WHEN until >= ?2 - CASE WHEN resident = 0 AND ?3 > ?2 THEN ?7 ELSE 0 END THEN since END " +
      `FROM ${lives} WHERE identity = ?1 ORDER BY since DESC LIMIT 1) AS since) WHERE since IS NOT NULL OR ?3 > ?2 ` +
      "ON CONFLICT (identity, since) DO UPDATE SET until = excluded.until, role = excluded.role, " +
      "resident = excluded.resident, tasks = excluded.tasks",
    // ?1 from, ?2 until
    getLives: () =>
      `SELECT ${rowAsJson(null, columns, [validJson("tasks", "[]")])} AS record FROM (SELECT * FROM ${lives} ` +
      `WHERE until >= ?1 AND since <= ?2 ORDER BY since DESC, identity DESC LIMIT ${LIVES_PER_ANSWER_MAX}) ` +
      "ORDER BY since, identity",
    // ?1 the instant before which lives ended long ago, ?2 limit
    removeLives: () =>
      `DELETE FROM ${lives} WHERE (identity, since) IN (SELECT identity, since FROM ${lives} WHERE until < ?1 ` +
      "ORDER BY until LIMIT +?2)",
  });
}
