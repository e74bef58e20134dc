import { CliError, codeOf } from "../failure.ts";
import { addressOf, Bounds, JOBS_MAX, openByFirst, SQL_CLIENTS, unreachable } from "./sources.ts";

/** Reads the tables of pg-boss, in the form that `importPgBoss` takes. Nothing is changed. @param text
 *  `postgres://host/database`, with `?schema=jobs` for another schema than `pgboss` */
export async function readPgBoss(text: string): Promise<unknown> {
  const { address, value: schema } = addressOf(text, "schema", "pgboss");
  const tables = `"${schema.replaceAll('"', '""')}"`;
  try {
    const connection = await openByFirst("PostgreSQL", SQL_CLIENTS, address);
    try {
      // As JSON, so that versions may have columns more or less.
      const rows = async (what: string): Promise<unknown[]> => {
        const found = await connection.texts(`select row_to_json(one)::text from (${what}) one`);
        for (const row of found) bounds.add(row);
        return found.map((row) => JSON.parse(row));
      };
      const bounds = new Bounds();
      const schedules = await rows(`select * from ${tables}.schedule order by name`);
      const waiting = "state::text in ('created', 'retry')";
      const jobs = await rows(`select * from ${tables}.job where ${waiting} order by id limit ${JOBS_MAX + 1}`);
      const [active] = await connection.texts(`select count(*)::text from ${tables}.job where state::text = 'active'`);
      return { schedules, jobs: jobs.sort(byAge), active: Number(active) };
    } finally {
      await connection.close().catch(() => {});
    }
  } catch (error) {
    // There is no such schema, or table.
    if (codeOf(error) !== "42P01" && codeOf(error) !== "3F000") throw unreachable(text, error);
    throw new CliError(`there are no tables of pg-boss in the schema ${schema}`, {
      lines: ["  name another one at the end of the address: ?schema=jobs"],
    });
  }
}

function byAge(a: unknown, b: unknown): number {
  const [left, right] = [addedAt(a), addedAt(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function addedAt(job: unknown): string {
  const { created_on, createdon } = Object(job) as { readonly created_on?: unknown; readonly createdon?: unknown };
  return String(created_on ?? createdon);
}
