// A loop that stays, on Deno, with the permissions that it needs and no other:
//
//     deno run --allow-env=DATABASE_URL --allow-net=127.0.0.1:8080 examples/deno/script.ts
import { Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql/http";
import { addSchedules, tasks } from "../tasks.ts";

const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: Deno.env.get("DATABASE_URL") ?? "" }) });
scheduler.use(tasks);
await addSchedules(scheduler);
await scheduler.runUntilStopped();
