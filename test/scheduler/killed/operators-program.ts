// What operators do, in a process that a test kills before or after one of its commits: schedules are paused for a while
// by their labels, a blackout leaves out fire times, and runs fail and succeed in turns. Each process has a minute of its
// own. What is sent and what runs is written down at once, so that nothing of it is lost with the process.
import { appendFileSync } from "node:fs";
import process from "node:process";
import { IntervalTrigger, Scheduler } from "../../../src/mod.ts";
import type { NoticeChannel } from "../../../src/notices/mod.ts";
import type { CommitReport, CommitRequest } from "../../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../../src/stores/libsql/mod.ts";
import { VirtualClock } from "../../../src/testing/mod.ts";

const [, , folder = "", minute = "0", killAt = "0", when = "before"] = process.argv;

class DeadlyStore extends LibsqlDataStore {
  #steps = 0;

  override async commit(request: CommitRequest): Promise<CommitReport> {
    const isLast = ++this.#steps === Number(killAt);
    if (isLast && when === "before") process.kill(process.pid, "SIGKILL");
    const report = await super.commit(request);
    if (isLast) process.kill(process.pid, "SIGKILL");
    return report;
  }
}

const note = (line: string): void => appendFileSync(`${folder}/journal`, `${line}\n`);
const channel: NoticeChannel = {
  name: "watched",
  on: ["failed", "recovered", "paused"],
  async send({ job }) {
    const { type, jobId = null, scheduleId, at } = job.metadata;
    note(JSON.stringify({ notice: job.id, type, change: jobId ?? `${scheduleId} ${at}` }));
  },
};
const labels = { team: "billing" };
const clock = new VirtualClock(new Date(Date.parse("2030-01-01T00:00:00Z") + Number(minute) * 60_000));
const dataStore = new DeadlyStore({ url: `file:${folder}/jobs.db` }, { durability: "normal" });
const leaseDuration = { seconds: 2 };
const scheduler = new Scheduler({
  dataStore,
  clock,
  leaseDuration,
  identity: "one",
  logLevel: "silent",
  notices: [channel],
});
let runs = 0;
scheduler.task("work", { maxRecoveries: 1000, labels }, (_payload: unknown, { job }) => {
  note(JSON.stringify({ run: job.id, fireTime: String(job.fireTime) }));
  if (Math.floor(runs++ / 2) % 2 === 0) throw new Error("down");
});
await scheduler.addSchedule("work", new IntervalTrigger({ seconds: 5, startTime: "2030-01-01T00:00:00Z" }), {
  id: "s",
});
await scheduler.start();
const after = (seconds: number): Date => new Date(clock.now() + seconds * 1000);
const window = { from: after(30), until: after(42) };
await scheduler.addBlackout(`minute ${minute}`, window);
note(JSON.stringify({ from: window.from, until: window.until }));
await scheduler.pauseSchedules({ labels }, { until: after(13), by: "ada" });
await clock.advance({ seconds: 59 });
const { items } = await scheduler.getScheduleChanges("s", { order: "oldest" });
const { paused } = await scheduler.getSchedule("s");
console.log(`answer: ${JSON.stringify({ paused, changes: items.map(({ kind }) => kind) })}`);
await scheduler.stop();
