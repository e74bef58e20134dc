// Two programs on one database, which wake each other over Redis: a job that the second one adds starts in the first
// one within milliseconds. Without the broker, the first one would look into the database every 10 seconds.
//
//     REDIS_URL=redis://127.0.0.1:6379 npm start -- brokers/redis worker       Node
//     REDIS_URL=redis://127.0.0.1:6379 npm start -- brokers/redis greet Ada
//
// The same with `deno run -A examples/brokers/redis.ts` and `bun run examples/brokers/redis.ts`. Stop Redis while they
// run: both go on, and find each other again when it is back.
import process from "node:process";
import { defineTasks, Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql";
import { RedisEventBroker } from "escapement/redis";

const { REDIS_URL = "redis://127.0.0.1:6379", DATABASE_URL = "file:jobs.db" } = process.env;
const [, , role = "worker", name = "Ada"] = process.argv;

const tasks = defineTasks({
  greet: { handler: (guest: string) => `Hello, ${guest}, from process ${process.pid}!` },
});

await using scheduler = new Scheduler({
  dataStore: new LibsqlDataStore({ url: DATABASE_URL }),
  // Stores that share a Redis server, such as those of tests and of production, each get a namespace of their own.
  eventBroker: new RedisEventBroker({ url: REDIS_URL, namespace: "greetings" }),
});

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
