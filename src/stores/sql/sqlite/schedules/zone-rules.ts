import type { ZoneRulesStatements } from "../../schedules/zone-rules.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { readableColumn, sizeInBytes } from "../sql-and-json.ts";

/** A comment before each statement lists its arguments; `value` is a row of a JSON parameter. */
export function zoneRulesStatements({ schedules, zoneRules }: TableNames): ZoneRulesStatements {
  const top = `(SELECT max(z.seen_at) FROM ${zoneRules} z WHERE z.zone = r.value->>0)`;
  // Later rows of one call outrank earlier ones.
  const note =
    `INSERT INTO ${zoneRules} (zone, fingerprint, seen_at) ` +
    `SELECT r.value->>0, r.value->>1, max(?2, coalesce(${top} + 1, ?2)) + r.key FROM json_each(?1) r WHERE true `;
  const columns = ["id", "trigger_json", "next_fire_time", "last_fire_time", "created_at", "fence"];
  return lazily<ZoneRulesStatements>({
    // ?1 rows [zone, fingerprint], ?2 now
    noteZoneRules: () => `${note}ON CONFLICT DO NOTHING`,
    // the same arguments
    adoptZoneRules: () =>
      `${note}ON CONFLICT DO UPDATE SET seen_at = excluded.seen_at ` +
      `WHERE seen_at < (SELECT max(z.seen_at) FROM ${zoneRules} z WHERE z.zone = excluded.zone)`,
    // ?1 rows [zone, ...]. Yields rows [zone, fingerprint, rank].
    getZoneRules: () =>
      "SELECT json_group_array(json_array(zone, fingerprint, seen_at)) AS known FROM (SELECT zone, fingerprint, " +
      `seen_at FROM ${zoneRules} WHERE zone IN (SELECT value->>0 FROM json_each(?1)) ORDER BY zone, seen_at)`,
    // ?1 the text of zone rules, ?2 after which id, ?3 limit, ?4 most bytes. `found` counts those that the page could
    // have without a bound of bytes.
    getZonedSchedules: () =>
      `SELECT '[' || group_concat(CASE WHEN number = 1 OR bytes <= ?4 THEN row END) || ']' AS schedules, ` +
      "count(*) AS found FROM (SELECT " +
      `json_array(${columns.map((column) => readableColumn("s", column)).join(", ")}) AS row, ` +
      "row_number() OVER (ORDER BY s.id) AS number, " +
      `sum(${sizeInBytes("s.trigger_json")}) OVER (ORDER BY s.id ROWS UNBOUNDED PRECEDING) AS bytes ` +
      `FROM (SELECT * FROM ${schedules} WHERE zone_rules = ?1 AND id > ?2 ORDER BY id LIMIT +?3) s)`,
    // ?1 rows [id, fence, zoneRules]
    confirmZoneRules: () =>
      `UPDATE ${schedules} AS s SET zone_rules = r.value->>2 FROM json_each(?1) r ` +
      "WHERE s.id = r.value->>0 AND s.fence = r.value->>1",
  });
}

/** SQL of a JSON array: the first `limit` texts of zone rules beside schedules that come after `after`, in order. It
 *  leaps from text to text in the index, however many schedules have one. What is no text in a damaged row is passed
 *  by. */
export function zoneRulesTexts({ schedules }: TableNames, after: string, limit: string): string {
  const next = (than: string): string =>
    `(SELECT min(zone_rules) FROM ${schedules} WHERE zone_rules > ${than} AND zone_rules < x'')`;
  return (
    `WITH RECURSIVE known(text) AS (SELECT ${next(after)} UNION ALL ` +
    `SELECT ${next("known.text")} FROM known WHERE text IS NOT NULL LIMIT +${limit}) ` +
    "SELECT json_group_array(text) FROM known WHERE text IS NOT NULL"
  );
}
