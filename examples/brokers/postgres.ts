// Two programs on one database, which wake each other over PostgreSQL: a job that the second one adds starts in the
// first one within milliseconds. Without the broker, the first one would look into the database every 10 seconds.
//
//     DATABASE_URL=postgres://app@127.0.0.1/app npm start -- brokers/postgres worker       Node
//     DATABASE_URL=postgres://app@127.0.0.1/app npm start -- brokers/postgres greet Ada
//
// The same with `deno run -A examples/brokers/postgres.ts` and `bun run examples/brokers/postgres.ts`. The broker goes
// over the client that the program uses for its own data. Stop PostgreSQL while they run: both go on, and find each
// other again when it is back.
import process from "node:process";
import { defineTasks, Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql";
import { PostgresEventBroker } from "escapement/postgres";
import postgres from "postgres";

const { DATABASE_URL = "postgres://127.0.0.1/postgres", JOBS_URL = "file:jobs.db" } = process.env;
const [, , role = "worker", name = "Ada"] = process.argv;

const sql = postgres(DATABASE_URL, { max: 5 });

const tasks = defineTasks({
  greet: {
    async handler(guest: string): Promise<string> {
      const [row] = await sql`select ${`Hello, ${guest}, from process ${process.pid}!`}::text as greeting`;
      return String(row?.greeting);
    },
  },
});

const scheduler = new Scheduler({
  dataStore: new LibsqlDataStore({ url: JOBS_URL }),
  eventBroker: new PostgresEventBroker({ client: sql, namespace: "greetings" }),
});

try {
  if (role === "worker") {
    scheduler.use(tasks);
    scheduler.subscribe("jobAcquired", ({ jobId }) => console.log(`running ${jobId}`));
    await scheduler.start();
    console.log("waiting for jobs; Ctrl-C ends it");
    await scheduler.runUntilStopped();
  } else {
    const askedAt = performance.now();
    console.log(await scheduler.runJob(tasks.greet, { payload: name }));
    console.log(`after ${Math.round(performance.now() - askedAt)} ms`);
  }
} finally {
  await scheduler.stop();
  // The client is the program's, hence the broker leaves it open.
  await sql.end({ timeout: 5 });
}
