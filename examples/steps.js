// An import of 100,000 rows that survives `kill -9`: start it, end it in the middle, and start it again.
// node steps.js [database]
import { createClient } from "@libsql/client";
import { Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql";

const ROWS = Number(process.env.ROWS ?? 100_000);
const BATCH = 500;
const url = `file:${process.argv[2] ?? "import.db"}`;

const db = createClient({ url });
await db.execute("CREATE TABLE IF NOT EXISTS people (id INTEGER PRIMARY KEY, name TEXT NOT NULL)");
const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ client: db }), leaseDuration: "5s" });

const people = scheduler.task(
  "import",
  { retry: { maxAttempts: 5 }, maxRecoveries: 1000 },
  async (_payload, { step }) => {
    await step.run("rows", async ({ cursor = 0, save, signal }) => {
      console.log(`begins at row ${cursor}`);
      for (let from = cursor; from < ROWS; from += BATCH) {
        signal.throwIfAborted();
        const rows = Array.from({ length: Math.min(BATCH, ROWS - from) }, (_, i) => from + i);
        // A row that the last attempt wrote after its last save is not written twice: its id is its place.
        const sql = "INSERT OR IGNORE INTO people (id, name) VALUES (?, ?)";
        await db.batch(
          rows.map((id) => ({ sql, args: [id, `person ${id}`] })),
          "write",
        );
        await save(from + rows.length);
        if ((from + BATCH) % 10_000 === 0) console.log(`row ${from + BATCH}`);
      }
    });
    // The count and the record of the step are one commit.
    return step.run("count", async ({ prepare }) => {
      const { rows } = await db.execute("SELECT count(*) AS people FROM people");
      const done = await prepare(Number(rows[0].people));
      await db.batch(
        [{ sql: "CREATE TABLE IF NOT EXISTS imports (people INTEGER)", args: [] }, ...done.statements],
        "write",
      );
      return done.value;
    });
  },
);

await scheduler.start();
// One job, however often the program is started.
const job = await scheduler.addJob(people, { idempotencyKey: "import" });
console.log(`imported ${await job.wait()} rows`);
await scheduler.stop();
db.close();
