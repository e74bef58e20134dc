// One of the processes of postgres.local.test.ts that hammer the tasks of one store. Its input has a verb a line: "add"
// adds the jobs of all tasks, each under a key that every process uses; "start" runs jobs, and prints a line for the end
// of each. A table counts how many run at once, in whatever process.
import process from "node:process";
import { createInterface } from "node:readline";
import postgres from "postgres";
import { Scheduler } from "../../src/mod.ts";
import { PostgresDataStore } from "../../src/postgres.ts";

const [url = "", schema = "", limits = "{}", count = "0"] = process.argv.slice(2);
const sql = postgres(url, { max: 4, onnotice: () => {} });
const scheduler = new Scheduler({ dataStore: new PostgresDataStore({ url }, { schema }), logLevel: "error" });
const changed = (task: string, by: number): Promise<unknown> =>
  sql`UPDATE hammered.running SET n = n + ${by}, most = greatest(most, n + ${by}) WHERE task = ${task}`;
const tasks = Object.entries(JSON.parse(limits) as Record<string, number>).map(([id, maxRunningJobs]) =>
  scheduler.task<number>(id, { maxRunningJobs }, async (place) => {
    await changed(id, 1);
    await sql`INSERT INTO hammered.runs AS r (task, place) VALUES (${id}, ${place})
      ON CONFLICT (task, place) DO UPDATE SET times = r.times + 1`;
    await changed(id, -1);
    console.log("ran");
  }),
);

console.log("ready");
for await (const verb of createInterface({ input: process.stdin })) {
  if (verb === "start") await scheduler.start();
  else {
    const places = Array.from({ length: Number(count) }, (_, place) => place);
    // One call a job, so that the calls of all processes mix.
    const added = tasks.flatMap((task) =>
      places.map((payload) => scheduler.addJob(task, { payload, idempotencyKey: String(payload) })),
    );
    await Promise.all(added);
    console.log("added");
  }
}
await scheduler.stop();
await sql.end();
