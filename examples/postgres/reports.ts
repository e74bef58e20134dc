// A schedule and jobs in PostgreSQL. A program of your own adds an order and the job that ships it in one transaction.
//
//     sh examples/postgres/local-server.sh 5433                                               Debian's PostgreSQL, no Docker
//     DATABASE_URL=postgres://postgres@127.0.0.1:5433/postgres npm start -- postgres/reports worker
//     DATABASE_URL=postgres://postgres@127.0.0.1:5433/postgres npm start -- postgres/reports order 7
//
// At Neon and Supabase, DATABASE_URL is the address that they show, also that of their pool for transactions (Neon's host
// with `-pooler`, Supabase's port 6543). DIRECT_URL is the other one, by which processes wake each other; without it they
// look every 10 seconds.
import process from "node:process";
import { defineTasks, Scheduler } from "escapement";
import { PostgresDataStore, PostgresEventBroker } from "escapement/postgres";
import postgres from "postgres";

const { DATABASE_URL = "postgres://127.0.0.1:5432/postgres", DIRECT_URL } = process.env;
const [, , role = "worker", number = "1"] = process.argv;

// A pool for transactions keeps no prepared statements.
const sql = postgres(DATABASE_URL, { max: 5, prepare: false, onnotice: () => {} });

const tasks = defineTasks({
  ship: { handler: (order: number) => `order ${order} shipped` },
  report: { handler: () => console.log("orders were reported") },
});

const scheduler = new Scheduler({
  dataStore: new PostgresDataStore({ client: sql }),
  ...(DIRECT_URL === undefined ? {} : { eventBroker: new PostgresEventBroker({ url: DIRECT_URL }) }),
});

try {
  if (role === "worker") {
    scheduler.use(tasks);
    await scheduler.addSchedule(tasks.report, "0 9 * * *", { id: "report", conflictPolicy: "update" });
    await scheduler.start();
    console.log("waiting for jobs; Ctrl-C ends it");
    await scheduler.runUntilStopped();
  } else {
    await sql`CREATE TABLE IF NOT EXISTS orders (id integer PRIMARY KEY)`;
    const { job, statements, committed } = await scheduler.prepareJob(tasks.ship, { payload: Number(number) });
    await sql.begin(async (tx) => {
      await tx`INSERT INTO orders VALUES (${Number(number)}) ON CONFLICT DO NOTHING`;
      for (const statement of statements) await tx.unsafe(statement.sql, statement.args);
    });
    await committed();
    console.log(await job.wait());
  }
} finally {
  await scheduler.stop();
  // The client is the program's, hence the store leaves it open.
  await sql.end({ timeout: 5 });
}
