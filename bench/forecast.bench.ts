// What does a forecast of 100,000 schedules and a day of minutes cost, by how many rules they share? Aim: 50 ms. Method
// and last results: README.md. Run by run.mjs.
import { type ForecastedSchedule, forecast } from "../src/insight/mod.ts";
import { CronTrigger } from "../src/triggers/cron.ts";
import { NOW } from "./lib/instants.ts";
import { printTable } from "./lib/table.ts";

const COUNT = 100_000;
/** The first of them compile the code, and their times do not count. */
const WARM_UP = 2;
const ROUNDS = 7;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"];

const rows = [];
for (const [name, ruleOf] of [
  ["1,440 daily rules", (n: number) => `${n % 60} ${Math.floor(n / 60) % 24} * * *`],
  ["60 hourly rules", (n: number) => `${n % 60} * * * *`],
  ["100 rules, every minute to every month", (n: number) => ["* * * * *", "*/5 * * * *", "0 9 1 * *"][n % 3] ?? ""],
  ["100,000 rules, a daily one each", (n: number) => `${n % 60} ${Math.floor(n / 60) % 60} ${n % 24} * * *`],
] as const) {
  const schedules: ForecastedSchedule[] = Array.from({ length: COUNT }, (_, n) => {
    const trigger = CronTrigger.fromCrontab(ruleOf(n), { timeZone: ZONES[n % ZONES.length] ?? "UTC" });
    return { id: `s${n}`, taskId: `t${n % 20}`, trigger };
  });
  const times: number[] = [];
  let total = 0;
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const start = process.cpuUsage();
    ({ total } = await forecast(schedules, { from: new Date(NOW), until: new Date(NOW + 86_400_000) }));
    const { user, system } = process.cpuUsage(start);
    if (round >= WARM_UP) times.push((user + system) / 1000);
  }
  times.sort((a, b) => a - b);
  rows.push([name, String(total), `${(times[ROUNDS >> 1] ?? 0).toFixed(0)} ms`, `${(times[0] ?? 0).toFixed(0)} ms`]);
}
printTable(`A forecast of ${COUNT} schedules, a day of minutes: CPU time`, ["rules", "fires", "median", "best"], rows);
