// A backfill of 3,000 fire times in a file, in a process that a test kills before or after any of its commits. Its
// handler writes each run down at once, so that nothing of it is lost with the process.
import { appendFileSync } from "node:fs";
import process from "node:process";
import { Scheduler } from "../../../src/mod.ts";
import type { JobRecord } from "../../../src/records/job.ts";
import type { BackfillCommit } from "../../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../../src/stores/libsql/mod.ts";

const [, , folder = "", killAt = "0", when = "before"] = process.argv;

class DeadlyStore extends LibsqlDataStore {
  #commits = 0;

  override async commitBackfill(commit: BackfillCommit): Promise<readonly JobRecord[] | null> {
    const isLast = ++this.#commits === Number(killAt);
    if (isLast && when === "before") process.kill(process.pid, "SIGKILL");
    const answer = await super.commitBackfill(commit);
    if (isLast) process.kill(process.pid, "SIGKILL");
    return answer;
  }
}

const dataStore = new DeadlyStore({ url: `file:${folder}/jobs.db` }, { durability: "normal" });
const options = {
  dataStore,
  leaseDuration: { seconds: 2 },
  maxIdle: { milliseconds: 300 },
  logLevel: "silent",
} as const;
const scheduler = new Scheduler(options);
scheduler.task("hourly", { maxRunningJobs: null, maxRecoveries: 1000 }, (_payload: unknown, { job }) => {
  appendFileSync(`${folder}/journal`, `${job.fireTime} ${job.id}\n`);
});
await scheduler.addSchedule("hourly", "0 * * * *", { id: "hourly", conflictPolicy: "doNothing" });
await scheduler.start();
const range = { from: "2020-01-01T00:00:00Z", until: "2020-05-05T00:00:00Z" };
const answer = await scheduler.backfill("hourly", { ...range, includeRan: true, includeUnrecorded: true });
while ((await scheduler.getJobs({ backfillId: answer.backfillId ?? "", limit: 1 })).items.length > 0) {
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await scheduler.stop();
console.log(`answer: ${JSON.stringify(answer)}`);
