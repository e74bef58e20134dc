import { BLACKOUTS_MAX } from "../../../shared/limits.ts";
import type { BlackoutStatements } from "../../schedules/blackouts.ts";
import type { ZoneRulesStatements } from "../../schedules/zone-rules.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { joinedJson, rowsOf, sizeInBytes } from "../sql-and-json.ts";

// The arguments of all statements are those of the statements on SQLite's SQL.

export function blackoutStatements(names: TableNames): BlackoutStatements {
  const { blackouts } = names;
  return lazily<BlackoutStatements>({
    getBlackouts: () =>
      `SELECT (${blackoutsVersion(names)}) AS version, id, details FROM ${blackouts} ORDER BY id NULLS FIRST`,
    getBlackout: () => `SELECT id, details FROM ${blackouts} WHERE id = ?1`,
    replaceBlackout: () => `DELETE FROM ${blackouts} WHERE id = ?1 AND ?3 = 1 AND rule <> ?2`,
    insertBlackout: () =>
      `INSERT INTO ${blackouts} (id, until, rule, details) SELECT ?1, ?2::bigint, ?3, ?4 ` +
      `WHERE NOT EXISTS (SELECT 1 FROM ${blackouts} WHERE id = ?1) ` +
      `AND (SELECT count(*) FROM ${blackouts} WHERE id IS NOT NULL) < ${BLACKOUTS_MAX}`,
    markRemoval: () => `INSERT INTO ${blackouts} (rule, details) SELECT '', '' FROM ${blackouts} WHERE id = ?1`,
    removeBlackout: () => `DELETE FROM ${blackouts} WHERE id = ?1`,
    forgetRemovals: () => `DELETE FROM ${blackouts} WHERE id IS NULL AND seq < (${blackoutsVersion(names)})`,
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

export function zoneRulesStatements({ schedules, zoneRules }: TableNames): ZoneRulesStatements {
  const top = (zone: string): string => `(SELECT max(t.seen_at) FROM ${zoneRules} t WHERE t.zone = ${zone})`;
  // Later rows of one call outrank earlier ones.
  const note =
    `INSERT INTO ${zoneRules} AS z (zone, fingerprint, seen_at) SELECT r.zone, r.fingerprint, ` +
    `greatest(?2, coalesce(${top("r.zone")} + 1, ?2)) + r.key ` +
    `FROM (SELECT DISTINCT ON (d.zone, d.fingerprint) d.* FROM ${rowsOf("?1", "d", "zone text, fingerprint text")} ` +
    "ORDER BY d.zone, d.fingerprint, d.key) r ORDER BY r.key ";
  const columns = ["id", "trigger_json", "next_fire_time", "last_fire_time", "created_at", "fence"];
  return lazily<ZoneRulesStatements>({
    noteZoneRules: () => `${note}ON CONFLICT DO NOTHING`,
    adoptZoneRules: () =>
      `${note}ON CONFLICT (zone, fingerprint) DO UPDATE SET seen_at = excluded.seen_at ` +
      `WHERE z.seen_at < ${top("excluded.zone")}`,
    getZoneRules: () =>
      "SELECT json_agg(json_build_array(z.zone, z.fingerprint, z.seen_at) ORDER BY z.zone, z.seen_at)::text AS known " +
      `FROM ${zoneRules} z WHERE z.zone IN (SELECT r.zone FROM ${rowsOf("?1", "r", "zone text")})`,
    getZonedSchedules: () =>
      `SELECT ${joinedJson("CASE WHEN w.number = 1 OR w.bytes <= ?4 THEN w.item END", "w.number")} AS schedules, ` +
      "count(*) AS found FROM (SELECT " +
      `json_build_array(${columns.map((column) => `s.${column}`).join(", ")})::text AS item, ` +
      "row_number() OVER (ORDER BY s.id) AS number, " +
      `sum(${sizeInBytes("s.trigger_json")}) OVER (ORDER BY s.id ROWS UNBOUNDED PRECEDING) AS bytes ` +
      `FROM (SELECT * FROM ${schedules} WHERE zone_rules = ?1 AND id > ?2 ORDER BY id LIMIT ?3) s) w`,
    confirmZoneRules: () =>
      `UPDATE ${schedules} AS s SET zone_rules = r.zone_rules ` +
      `FROM ${rowsOf("?1", "r", "id text, fence bigint, zone_rules text")} WHERE s.id = r.id AND s.fence = r.fence`,
  });
}

/** SQL of a JSON array: the first `limit` texts of zone rules beside schedules that come after `after`, in order. It
 *  leaps from text to text in the index, however many schedules have one. */
export function zoneRulesTexts({ schedules }: TableNames, after: string, limit: string): string {
  const next = (than: string): string => `(SELECT min(s.zone_rules) FROM ${schedules} s WHERE s.zone_rules > ${than})`;
  return (
    `WITH RECURSIVE known (rules) AS (SELECT ${next(after)} UNION ALL ` +
    `SELECT ${next("known.rules")} FROM known WHERE known.rules IS NOT NULL) ` +
    `SELECT json_agg(k.rules)::text FROM (SELECT rules FROM known WHERE rules IS NOT NULL LIMIT ${limit}) k`
  );
}
