/** Programs of other libraries that leave schedules and jobs in their servers, or write them to `left.json`. */
export const MAKERS = {
  bullmq: `
import { Queue } from "bullmq";
const connection = { url: process.env.REDIS_URL };
const queue = new Queue("mail", { connection, prefix: "moved" });
const opts = { attempts: 3, backoff: { type: "exponential", delay: 1000 }, priority: 2 };
const template = { name: "report", data: { to: "Ada" }, opts };
await queue.upsertJobScheduler("nightly", { pattern: "0 30 2 * * *", tz: "Europe/Berlin" }, template);
await queue.upsertJobScheduler("poll", { every: 90_000, startDate: new Date("2040-01-01T00:00:10Z") });
await queue.upsertJobScheduler("few", { every: 60_000, limit: 5 });
await queue.add("first", { n: 1 });
await queue.add("urgent", [3], { priority: 5, deduplication: { id: "d" } });
await queue.add("later", { n: 4 }, { delay: 3_600_000, attempts: 2, backoff: 500, jobId: "a:b:c" });
await queue.add("second", "text");
await queue.pause();
await queue.close();
`,
  pgboss: `
import { PgBoss } from "pg-boss";
const options = { connectionString: process.env.DATABASE_URL, schema: "moved", supervise: false, schedule: false };
const boss = await new PgBoss(options).start();
await boss.createQueue("mail", { retryLimit: 3, retryDelay: 5, retryBackoff: true });
await boss.createQueue("flow");
await boss.schedule("mail", "30 2 * * *", { to: "Ada" }, { tz: "Europe/Berlin", priority: 2 });
await boss.schedule("mail", "*/5 * * * *", null, { key: "often", missed: "once" });
await boss.schedule("flow", "FREQ=WEEKLY;BYDAY=FR;BYHOUR=17", null, { tz: "Europe/Berlin" });
await boss.send("mail", { n: 1 }, { priority: 5, singletonKey: "k" });
await boss.send("mail", { n: 2 }, { startAfter: "2040-01-01T00:00:00Z" });
await boss.flow([{ ref: "a", name: "flow" }, { ref: "b", name: "flow", dependsOn: ["a"] }]);
await boss.send("mail", { n: 3 });
await boss.fetch("mail", { batchSize: 1 });
await boss.stop({ graceful: false });
`,
  agenda: `
import { writeFileSync } from "node:fs";
import { RedisBackend } from "@agendajs/redis-backend";
import { Agenda } from "agenda";
const backend = new RedisBackend({ connectionString: process.env.REDIS_URL, keyPrefix: "left-agenda:" });
const agenda = new Agenda({ backend });
await agenda.ready;
await agenda.every("30 2 * * *", "report", { to: "Ada" }, { timezone: "Europe/Berlin" });
await agenda.every(90_000, "tick");
await agenda.create("extra").repeatEvery("1 hour and 20 minutes", { skipImmediate: true }).save();
await agenda.create("daily").repeatAt("3:30pm").save();
await agenda.schedule(new Date("2040-01-01T00:00:00Z"), "mail", { n: 1 });
await agenda.now("mail", { n: 2 });
await agenda.disable({ name: "tick" });
writeFileSync("left.json", JSON.stringify(await agenda.queryJobs({ sort: { name: "asc" } })));
process.exit();
`,
  apscheduler3: `
import sys
from datetime import datetime
from decimal import Decimal
sys.path.append(sys.argv[1])
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger
from export import export_jobs

def send(to="Ada"):
    pass

scheduler = BackgroundScheduler(timezone="Europe/Berlin")
scheduler.start(paused=True)
scheduler.add_job(send, "cron", day_of_week="0-4", hour=9, id="weekdays", kwargs={"to": "Ada"}, misfire_grace_time=60)
scheduler.add_job(send, CronTrigger.from_crontab("30 2 * * 6", timezone="UTC"), id="sundays", coalesce=False)
scheduler.add_job(send, "interval", minutes=1.5, start_date="2026-01-01 00:00:30", id="poll", jitter=5, max_instances=3)
scheduler.add_job(send, "date", run_date=datetime(2040, 1, 1, 9), id="once", args=["Alan"])
first = CronTrigger(day="last", hour=8, timezone="Europe/Berlin")
second = IntervalTrigger(hours=1, start_date="2030-01-01 00:00:00", timezone="UTC")
scheduler.add_job(send, OrTrigger([first, second]), id="both")
scheduler.add_job(send, "interval", hours=1, start_date="2030-01-01 00:00:00", id="decimal", args=[Decimal(1)])
scheduler.pause_job("sundays")
export_jobs(scheduler, "left.json")
`,
};
