import { PostgresDataStore } from "../../src/postgres.ts";
import { Scheduler } from "../../src/scheduler.ts";
import { connectSql, loadGraphile, openBoss, type Sql } from "./contestants.ts";
import { serverCpuSeconds } from "./server-cpu.ts";

const INSTANCES = 4;
/** So that what a start costs is over. */
const SETTLE_MS = 15_000;
const MEASURED_MS = Number(process.env.IDLE_SECONDS ?? 90) * 1000;
const A_DAY_MS = 86_400_000;
/** Once a year. */
const CRON = "0 0 1 1 *";

export interface IdleCost {
  /** Milliseconds of the server's CPU a second, for all instances together. */
  readonly cpuMs: number;
  /** Transactions a second. */
  readonly transactions: number;
}

/** Starts the instances, with so many schedules of which none comes due. */
type Start = (address: string, schema: string, schedules: number, sql: Sql) => Promise<void>;

/** None of them has anything to do. */
export const IDLE: Readonly<Record<string, Start>> = {
  Escapement: async (address, schema, count, sql) => {
    const schedulers = Array.from({ length: INSTANCES }, () => {
      return new Scheduler({ dataStore: new PostgresDataStore({ url: address }, { schema }), logLevel: "error" });
    });
    const [first] = schedulers;
    const task = first?.task("noop", async () => {});
    await first?.addSchedule(task ?? "noop", CRON, { id: "schedule 0" });
    await copyRows(sql, `"${schema}".schedules`, count, {
      id: "'schedule ' || i",
      next_fire_time: `next_fire_time + ${A_DAY_MS} + i`,
    });
    await copyRows(sql, `"${schema}".histories`, count, { schedule_id: "'schedule ' || i" });
    for (const scheduler of schedulers) {
      scheduler.task("noop", async () => {});
      await scheduler.start();
    }
  },
  "graphile-worker, no schedules": async (address, schema) => {
    const { Logger, run } = await loadGraphile();
    for (let index = 0; index < INSTANCES; index++) {
      const taskList = { noop: async (): Promise<void> => {} };
      const logger = new Logger(() => () => {});
      await run({ connectionString: address, schema, logger, noHandleSignals: true, taskList });
    }
  },
  "pg-boss 12": async (address, schema, count, sql) => {
    for (let index = 0; index < INSTANCES; index++) {
      const boss = await openBoss({ connectionString: address, schema });
      await boss.createQueue("noop");
      if (index === 0) {
        await boss.schedule("noop", CRON, null, { key: "0" });
        await copyRows(sql, `${schema}.schedule`, count, { key: "i::text" });
      }
      await boss.work("noop", {}, async () => {});
    }
  },
};

/** Adds rows like the only one of a table, so that it has `count`. */
async function copyRows(
  sql: Sql,
  table: string,
  count: number,
  others: Readonly<Record<string, string>>,
): Promise<void> {
  const columns = await sql.unsafe<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0 AND attidentity = ''`,
  );
  const names = columns.map(({ name }) => name);
  await sql.unsafe(
    `INSERT INTO ${table} (${names.join(", ")}) SELECT ${names.map((name) => others[name] ?? name).join(", ")} ` +
      `FROM ${table}, generate_series(1, ${count - 1}) i`,
  );
  await sql.unsafe(`VACUUM ANALYZE ${table}`);
}

export async function measureIdle(name: string, address: string, schema: string, count: number): Promise<IdleCost> {
  const sql = await connectSql(address);
  await IDLE[name]?.(address, schema, count, sql);
  await sleep(SETTLE_MS);
  const before = { cpu: await serverCpuSeconds(sql), transactions: await transactions(sql) };
  await sleep(MEASURED_MS);
  const seconds = MEASURED_MS / 1000;
  return {
    cpuMs: ((await serverCpuSeconds(sql)) - before.cpu) * (1000 / seconds),
    transactions: ((await transactions(sql)) - before.transactions) / seconds,
  };
}

async function transactions(sql: Sql): Promise<number> {
  const [row] = await sql.unsafe<{ n: string }>(
    "SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()",
  );
  return Number(row?.n);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
