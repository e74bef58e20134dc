import process from "node:process";
import { Temporal } from "../../core/temporal.ts";
import { VERSION } from "../../core/version.ts";
import type { SchedulerClient, SchedulerHealth } from "../../mod.ts";
import { type CommandCall, hasOption, refuseOptions } from "../command.ts";
import { EXIT } from "../failure.ts";
import { type Style, styled } from "../output.ts";
import { spanText } from "../times.ts";
import { staleZones } from "../zone-facts.ts";

type Verdict = "ok" | "warn" | "fail";

/** One line of the report. */
interface Check {
  readonly verdict: Verdict;
  readonly name: string;
  readonly message: string;
}

const STYLES: Readonly<Record<Verdict, Style>> = { ok: "green", warn: "yellow", fail: "red" };
/** What is later than this waits for a scheduler, in milliseconds. */
const LATE_MS = 60_000;
/** A run that was due longer ago may hang, whatever waits behind it, in milliseconds. */
const LONG_MS = 600_000;

/** `escapement doctor`: what is wrong with this runtime, the store, and the schedulers on it. */
export async function run(call: CommandCall): Promise<number> {
  const { out } = call;
  const checks: Check[] = [runtimeCheck(), zonesCheck()];
  let exitCode = EXIT.fine;
  if (hasOption(call, "runtime")) refuseOptions(call, ["store", "url", "token", "config"], "--runtime");
  else {
    const { client } = await call.target();
    const health = await client.health();
    if (!health.isStoreReached) {
      const { message = "it did not answer" } = health.storeError ?? {};
      checks.push({ verdict: "fail", name: "store", message });
      exitCode = EXIT.unreachable;
    } else {
      checks.push(...(await runChecks(client, health)), ...healthChecks(health), ...(await taskChecks(client, health)));
    }
  }
  if (out.isJson) out.json({ checks });
  else {
    const width = Math.max(...checks.map(({ name }) => [...name].length));
    for (const { verdict, name, message } of checks) {
      out.prose(width + 8, styled(STYLES[verdict], verdict.padEnd(6)), name.padEnd(width + 2), message);
    }
  }
  if (exitCode !== EXIT.fine) return exitCode;
  return checks.some(({ verdict }) => verdict !== "ok") ? EXIT.found : EXIT.fine;
}

function runtimeCheck(): Check {
  const { bun, deno, node } = process.versions as Readonly<Record<string, string | undefined>>;
  const name = bun !== undefined ? `Bun ${bun}` : deno !== undefined ? `Deno ${deno}` : `Node ${node}`;
  const hasTemporal = "Temporal" in globalThis;
  const message = `${name}, escapement ${VERSION}, Temporal ${hasTemporal ? "built in" : "polyfilled"}`;
  return { verdict: "ok", name: "runtime", message };
}

function zonesCheck(): Check {
  const { tz } = process.versions as Readonly<Record<string, string | undefined>>;
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC";
  const data = `data ${tz ?? "of an unknown version"}`;
  const machine = `this machine is in ${zone}`;
  // The version is not asked: runtimes patch their data, take that of the system, or do not tell it.
  const stale = staleZones(offsetAt);
  if (stale.length === 0) return { verdict: "ok", name: "time zones", message: `${data}, ${machine}` };
  const wrong = stale.map(({ fact: { timeZone, instant, offset }, found }) => {
    const here = found === null ? "unknown" : `at ${found}`;
    return `${timeZone} is at ${offset} on ${instant.slice(0, 10)}, and here ${here}`;
  });
  const release = stale.at(-1)?.fact.release;
  const advice = `rules in such zones fire at a wrong hour; a newer release of the runtime has the data of ${release}`;
  return { verdict: "warn", name: "time zones", message: `${data} is old, ${machine}: ${wrong.join("; ")}: ${advice}` };
}

function offsetAt(timeZone: string, instant: string): string | null {
  try {
    return Temporal.Instant.from(instant).toZonedDateTimeISO(timeZone).offset;
  } catch {
    return null;
  }
}

function healthChecks(health: SchedulerHealth): Check[] {
  const { latencyMs, storeWarnings, schedulers, oldestDueJob, oldestDueSchedule, overdueCount, pausedTasks } = health;
  const checks: Check[] = [
    { verdict: "ok", name: "store", message: `answered within ${Math.ceil(latencyMs ?? 0)} ms` },
  ];
  for (const { message } of storeWarnings) checks.push({ verdict: "warn", name: "store", message });
  const resident = schedulers.filter(({ isResident }) => isResident);
  const names = schedulers
    .map(({ identity }) => identity)
    .slice(0, 5)
    .join(", ");
  checks.push(
    schedulers.length === 0
      ? { verdict: "warn", name: "schedulers", message: "none is alive: nothing fires until one starts or ticks" }
      : {
          verdict: "ok",
          name: "schedulers",
          message: `${schedulers.length} alive, ${resident.length} of them resident: ${names}`,
        },
  );
  for (const due of [oldestDueSchedule, oldestDueJob]) {
    if (due === null || due.lateMs <= LATE_MS) continue;
    const what = due === oldestDueJob ? "job" : "schedule";
    const message = `the oldest due ${what} waits for ${spanText(due.lateMs)}: ${due.id}`;
    checks.push({ verdict: "fail", name: due.taskId, message });
  }
  if (overdueCount.count > 0) {
    checks.push({
      verdict: "fail",
      name: "overdue",
      message: `${overdueCount.count} runs have not started or ended in time`,
    });
  }
  for (const { taskId, key, reason } of pausedTasks.slice(0, 20)) {
    const about = key === null ? "" : ` for ${key}`;
    checks.push({ verdict: "warn", name: taskId, message: `paused${about}${reason === null ? "" : `: ${reason}`}` });
  }
  for (const { scheduleId, unfinished } of health.backloggedSchedules) {
    checks.push({ verdict: "warn", name: scheduleId, message: `${unfinished.count} unfinished jobs pile up` });
  }
  return checks;
}

/** Runs that may hang: long ones, and those without a timeout or progress behind which others wait. What waits is often
 *  named below, and adding workers does not help it. */
async function runChecks(client: SchedulerClient, { checkedAt, backlog }: SchedulerHealth): Promise<Check[]> {
  const { items } = await client.getJobs({ state: "running", sort: "runAt", limit: 100 });
  const due = items.map((job) => ({ job, forMs: checkedAt.epochMilliseconds - job.runAt.epochMilliseconds }));
  const long = due.filter(({ forMs }) => forMs > LATE_MS).slice(0, 20);
  if (long.length === 0) return [];
  const timeouts = new Map((await client.getTasks()).map(({ id, timeout }) => [id, timeout]));
  const checks: Check[] = [];
  for (const { job, forMs } of long) {
    const { id, taskId, scheduleId, acquiredBy, progress } = job;
    const hasTimeout = (timeouts.get(taskId) ?? null) !== null;
    const waiting = backlog.find((work) => work.taskId === taskId)?.waiting;
    const schedule = scheduleId === null ? null : await client.getSchedule(scheduleId).catch(() => null);
    const keepsBack = (waiting?.count ?? 0) > 0 || (schedule !== null && schedule.overlap !== "queue");
    if (forMs < LONG_MS && (hasTimeout || progress !== null || !keepsBack)) continue;
    const behind = waiting === undefined || waiting.count === 0 ? "" : `, jobs that wait for it: ${waiting.count}`;
    const advice = hasTimeout ? "a shorter timeout would end it" : "give the task a timeout";
    const message =
      `job ${id} was due ${spanText(forMs)} ago and still runs on ${acquiredBy}${behind}; ` +
      `if it hangs, ${advice}; more workers do not help`;
    checks.push({ verdict: "warn", name: taskId, message });
  }
  return checks;
}

/** Tasks whose schedules nobody can run. */
async function taskChecks(client: SchedulerClient, { schedulers, unhandledTasks }: SchedulerHealth): Promise<Check[]> {
  const workers = schedulers.filter(({ role }) => role !== "scheduler");
  const handled = new Set(workers.flatMap(({ tasks }) => tasks));
  const counts = new Map<string, number>();
  for await (const { taskId } of client.getSchedules({ state: "active", limit: 1000 })) {
    if (!handled.has(taskId)) counts.set(taskId, (counts.get(taskId) ?? 0) + 1);
  }
  const checks: Check[] = [];
  for (const [name, count] of schedulers.length === 0 ? [] : [...counts].slice(0, 50)) {
    const message = `${count} ${count === 1 ? "schedule" : "schedules"}, no live scheduler has its handler`;
    checks.push({ verdict: "fail", name, message });
  }
  for (const name of unhandledTasks) {
    if (!counts.has(name))
      checks.push({ verdict: "fail", name, message: "jobs wait, no live scheduler has its handler" });
  }
  return checks;
}
