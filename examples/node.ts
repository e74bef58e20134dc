// A loop that stays, on Node. Ctrl-C lets running jobs end.
//
//     DATABASE_URL=http://127.0.0.1:8080 npm start -- node
import process from "node:process";
import { Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql/http";
import { addSchedules, tasks } from "./tasks.ts";

// Of sqld, or of Turso: libsql://NAME.turso.io?authToken=TOKEN
const url = process.env.DATABASE_URL ?? "";

const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url }) });
scheduler.use(tasks);
await addSchedules(scheduler);
await scheduler.runUntilStopped();
