import { Miniflare } from "miniflare";
import { expect, test } from "vitest";
import { tableNames } from "../../src/stores/sql/schema/tables.ts";
import { makeStatements } from "../../src/stores/sql/sqlite/all-statements.ts";
import { MIGRATIONS } from "../../src/stores/sql/sqlite/schema/tables.ts";

/** Every text of SQL in an object of objects, with its path. */
function textsOf(value: unknown, path: string): readonly (readonly [path: string, sql: string])[] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => textsOf(part, `${path} ${name}`));
}

test("D1 takes each statement, with its limits on how deep an expression is and on arguments", async () => {
  const miniflare = new Miniflare({
    modules: true,
    script: "export default { fetch() { return new Response(); } };",
    d1Databases: ["DB"],
  });
  try {
    const database = await miniflare.getD1Database("DB");
    const names = tableNames("escapement_");
    for (const { statements } of MIGRATIONS) {
      for (const sql of statements(names)) await database.prepare(sql).run();
    }
    const refused: string[] = [];
    const texts = textsOf(makeStatements(names), "");
    for (const [path, sql] of texts) {
      const count = Math.max(0, ...[...sql.matchAll(/\?(\d+)/g)].map((match) => Number(match[1])));
      const statement = database.prepare(`EXPLAIN ${sql}`).bind(...Array.from({ length: count }, () => null));
      await statement.all().catch((error: unknown) => refused.push(`${path}: ${String(error)}`));
    }
    expect(refused).toEqual([]);
    expect(texts.length).toBeGreaterThan(200);
  } finally {
    await miniflare.dispose();
  }
});
