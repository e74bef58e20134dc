// How many fire times a second does a simulation have, beside the same schedules asked for their fire times alone? Method
// and last results: README.md. Run by run.mjs.
import { simulate } from "../src/insight/mod.ts";
import { CronTrigger } from "../src/triggers/cron.ts";
import { printTable } from "./lib/table.ts";

const FROM = "2030-01-01T00:00:00Z";
const rows = [];
for (const [name, count, trigger, until] of [
  ["20 schedules, hourly, a week", 20, "0 * * * *", "2030-01-08T00:00:00Z"],
  ["20 schedules, hourly and spread by H, a week", 20, "H * * * *", "2030-01-08T00:00:00Z"],
  ["1 schedule, each minute, two days", 1, "* * * * *", "2030-01-03T00:00:00Z"],
] as const) {
  const schedules = Array.from({ length: count }, (_, n) => ({ id: `s${n}`, task: "t", trigger }));
  const tasks = { t: { maxRunningJobs: null } };
  const start = performance.now();
  const cpu = process.cpuUsage();
  const { occurrences } = await simulate({ schedules, tasks, from: FROM, until });
  const simulatedMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const asked = performance.now();
  let total = 0;
  for (const { id } of schedules) {
    const rule = CronTrigger.fromCrontab(trigger, { seed: id });
    for (let at = rule.nextMs(Date.parse(FROM) - 1); at !== null && at < Date.parse(until); at = rule.nextMs(at))
      total++;
  }
  const askedMs = performance.now() - asked;
  if (total !== occurrences.length) throw new Error(`${occurrences.length} occurrences for ${total} fire times`);
  const rate = Math.round((total / simulatedMs) * 1000);
  const cpuMs = ((user + system) / 1000 / total).toFixed(2);
  rows.push([name, String(total), `${rate}/s`, `${cpuMs} ms`, `${(simulatedMs / askedMs).toFixed(0)} times`]);
}
printTable(
  "A simulation",
  ["schedules", "fire times", "simulated", "CPU a fire time", "the time of their rules alone"],
  rows,
);
