import type { Job, Schedule, Scheduler, SchedulerClient } from "../../mod.ts";
import { type CommandCall, hasOption, refuseOptions, textOption } from "../command.ts";
import { isoIn } from "../engine.ts";
import { CliError, EXIT } from "../failure.ts";
import { readText } from "../files.ts";
import {
  firstMsOf,
  type Imported,
  type ImportedJob,
  type ImportedQueue,
  type ImportedSchedule,
  type ImportProblem,
  type ImportSettings,
} from "../import/imported.ts";
import { styled } from "../output.ts";
import { crontabZone, systemOption } from "../rules.ts";
import { readableTime } from "../times.ts";

const QUEUES = ["pgboss", "bullmq", "agenda", "apscheduler3", "apscheduler4"] as const;
const SYSTEMS = ["crontab", "kubernetes", "github", "systemd", ...QUEUES, "export"] as const;
type System = (typeof SYSTEMS)[number];
type Queue = (typeof QUEUES)[number];

/** The servers that are read in place of a file. */
const SERVERS = /^(?:(postgres(?:ql)?)|rediss?):\/\//i;
/** What a string of an export may have at most. */
const EXPORT_BYTES_MAX = 64_000_000;
/** Schedules that are printed before a signal is looked at. */
const SHOWN_AT_ONCE = 200;
/** Jobs that go into one commit. */
const JOBS_AT_ONCE = 1000;
/** For so long a job is not added again, also if it has ended. */
const UNIQUE_FOR = "30d";
/** Lines about what stays behind; --json has all of them. */
const LEFT_SHOWN = 50;

/** `escapement import`: schedules of other systems, or an export of this one. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const [path = ""] = args;
  // Windows writes a mark of the byte order first.
  const text = SERVERS.test(path) ? path : (await readText(io, path, EXPORT_BYTES_MAX)).replace(/^\ufeff/, "");
  const system = systemOf(call, path, text);
  if (system !== "crontab") refuseOptions(call, ["system", "user"], "anything but a crontab");
  if (system === "export") {
    refuseOptions(call, ["tz", "task"], "an export, whose schedules have both");
    return importExport(call, text);
  }
  const found = await read(system, text, {
    nowMs: io.clock.now(),
    clock: io.clock,
    timeZone: crontabZone(textOption(call, "tz")),
    taskId: textOption(call, "task"),
    system: systemOption(call, path),
  });
  if (!hasOption(call, "dryRun")) return add(call, found);
  if (out.isJson) {
    const schedules = found.schedules.map((one) => jsonOf(one, io.clock.now()));
    out.json({ from: system, schedules, problems: found.problems, ...found.queue });
  } else await show(call, found);
  return exitCodeOf(found);
}

/** Whether anything of the other system cannot be read, or stays behind. */
function exitCodeOf({ problems, queue }: Imported): number {
  if (problems.length > 0) return EXIT.usage;
  return (queue?.left.length ?? 0) > 0 ? EXIT.found : EXIT.fine;
}

/** Adds what was read. The ids stay the same, so that the next import of the same text changes nothing. */
async function add(call: CommandCall, found: Imported): Promise<number> {
  const { out } = call;
  const { schedules, problems, queue } = found;
  if (schedules.length === 0 && problems.length > 0) {
    if (out.isJson) out.json({ schedules, problems });
    else {
      showProblems(call, problems);
      out.error("nothing was added");
    }
    return exitCodeOf(found);
  }
  const { client, by, dataStore } = await call.target({ creates: true });
  await declare(client, [...schedules, ...(queue?.jobs ?? [])], dataStore !== null);
  // Before anything of them could start.
  for (const id of queue?.pausedTaskIds ?? []) await client.pauseTask(id, by);
  const added = [];
  const progress = out.progress("schedules");
  for (const one of schedules) {
    added.push(await addOne(client, one, by, call.io.clock.now()));
    progress.at(added.length, schedules.length);
  }
  progress.end();
  if (queue === undefined) {
    if (out.isJson) out.json({ schedules: added, problems });
    else {
      out.line(`${added.length} ${added.length === 1 ? "schedule is" : "schedules are"} there now`);
      showProblems(call, problems);
    }
    return exitCodeOf(found);
  }
  const jobs = await addJobs(client, queue.jobs);
  if (out.isJson) out.json({ schedules: added, problems, jobs, left: queue.left });
  else {
    out.line(`${counted(added.length, "schedule")} and ${counted(jobs.length, "job")} are there now`);
    showLeft(call, queue);
  }
  return exitCodeOf(found);
}

/** Adds a schedule. One whose start is past does not fire before its first fire time from now on is known. */
async function addOne(
  client: SchedulerClient,
  one: ImportedSchedule,
  by: { readonly by?: string },
  nowMs: number,
): Promise<Schedule> {
  const { id, taskId, trigger, settings } = one;
  const firstMs = firstMsOf(one, nowMs);
  const isMoved =
    firstMs !== null &&
    firstMs !== trigger.firstMs(nowMs) &&
    (await client.getSchedules({ ids: [id] }).then(({ items }) => items.length === 0));
  const schedule = await client.addSchedule(taskId, trigger, {
    id,
    ...settings,
    ...(isMoved ? { paused: true } : {}),
    ...by,
  });
  if (!isMoved) return schedule;
  const moved = await client.updateSchedule(id, { nextFireTime: isoIn(firstMs, "UTC") }, by);
  return settings.paused === true ? moved : client.unpauseSchedule(id, by);
}

/** Adds jobs, in their order. One that was added before is not added again. */
async function addJobs(client: SchedulerClient, jobs: readonly ImportedJob[]): Promise<Job[]> {
  const added: Job[] = [];
  for (let from = 0; from < jobs.length; from += JOBS_AT_ONCE) {
    const part = jobs.slice(from, from + JOBS_AT_ONCE);
    added.push(
      ...(await client.addJobs(
        part.map(({ taskId, settings }) => ({ task: taskId, uniqueFor: UNIQUE_FOR, ...settings })),
      )),
    );
  }
  return added;
}

/** Makes tasks known that the store does not know yet. Their handlers are the program's, which says their settings. */
async function declare(
  client: SchedulerClient,
  schedules: readonly { readonly taskId: string }[],
  hasStore: boolean,
): Promise<void> {
  const known = new Set((await client.getTasks()).map(({ id }) => id));
  const unknown = [...new Set(schedules.map(({ taskId }) => taskId))].filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  if (!hasStore) {
    const lines = [
      `  ${unknown.slice(0, 20).join(", ")}`,
      "  start the program that has them first, or name one by --task",
    ];
    throw new CliError("the scheduler does not know these tasks:", { lines, exitCode: EXIT.found, code: "taskLookup" });
  }
  for (const id of unknown) (client as Scheduler).task(id, () => {});
}

async function importExport(call: CommandCall, text: string): Promise<number> {
  const { io, out } = call;
  const { dataStore } = await call.target({ creates: true });
  if (dataStore === null) throw new CliError("an export is imported into a store: give --store");
  const { importStore } = await import("../../transfer/mod.ts");
  const dryRun = hasOption(call, "dryRun");
  const options = { conflictPolicy: "doNothing", dryRun, signal: io.signals.first } as const;
  const report = await out.progress("import").during(importStore(dataStore, text, options));
  if (out.isJson) out.json(report);
  else {
    for (const kind of ["tasks", "schedules", "jobs", "results"] as const) {
      const { added, kept } = report[kind];
      out.line(`${kind.padEnd(10)} ${added} ${dryRun ? "would be added" : "added"}, ${kept} kept`);
    }
    const left = report.notImported.map(({ jobId, taskId, reason }) => {
      const why = reason === "running" ? "it ran, slept or had recorded steps" : "it waits for a job that stays behind";
      return { where: `job ${jobId} of task ${taskId}`, message: why };
    });
    showLeft(call, { left });
  }
  return EXIT.fine;
}

function systemOf(call: CommandCall, path: string, text: string): System {
  const given = textOption(call, "from");
  if (given !== undefined) {
    const known = SYSTEMS.find((system) => system === given);
    if (known !== undefined) return checkServer(known, path);
    throw new CliError(`--from is one of ${SYSTEMS.join(", ")}; got ${JSON.stringify(given)}`);
  }
  const server = SERVERS.exec(path);
  if (server !== null) return server[1] === undefined ? "bullmq" : "pgboss";
  const version = /^\s*\{\s*"apscheduler":\s*([34])\b/.exec(text)?.[1];
  if (version !== undefined) return version === "3" ? "apscheduler3" : "apscheduler4";
  if (text.startsWith('{"escapement":')) return "export";
  if (/\.timer$/.test(path) || /^\s*(\[Timer\]|OnCalendar=)/m.test(text)) return "systemd";
  if (/(^|[{,])[-\s]*["']?kind["']?:\s*["']?(CronJob|List)/m.test(text)) return "kubernetes";
  if (/^\s*(\{|\[\s*[{\]])/.test(text))
    throw new CliError("the file is JSON of one of several systems: say which by --from");
  return /^\s*-?\s*["']?cron["']?:/m.test(text) || /\.ya?ml$/.test(path) ? "github" : "crontab";
}

/** @throws {CliError} for the address of a server that the system is not on */
function checkServer(system: System, path: string): System {
  const server = SERVERS.exec(path);
  const fits = server === null || system === (server[1] === undefined ? "bullmq" : "pgboss");
  if (!fits) throw new CliError(`--from ${system} takes a file; an address is that of pgboss or bullmq`);
  return system;
}

async function read(system: Exclude<System, "export">, text: string, settings: ImportSettings): Promise<Imported> {
  const queue = QUEUES.find((one) => one === system);
  if (queue !== undefined) return readQueue(queue, text, settings);
  if (system === "kubernetes") return (await import("../import/kubernetes.ts")).importKubernetes(text, settings);
  if (system === "github") return (await import("../import/github.ts")).importGithub(text, settings);
  if (system === "systemd") return (await import("../import/systemd.ts")).importSystemd(text, settings);
  return (await import("../import/crontab.ts")).importCrontab(text, settings);
}

/** @param text of a file, or an address */
async function readQueue(system: Queue, text: string, settings: ImportSettings): Promise<Imported> {
  const isServer = SERVERS.test(text);
  const file = async (): Promise<unknown> => (await import("../import/json-text.ts")).readJson(text);
  if (system === "pgboss") {
    const value = await (isServer ? (await import("../import/pg-boss-tables.ts")).readPgBoss(text) : file());
    return (await import("../import/pg-boss.ts")).importPgBoss(value, settings);
  }
  if (system === "bullmq") {
    const value = await (isServer ? (await import("../import/bullmq-keys.ts")).readBullmq(text) : file());
    return (await import("../import/bullmq.ts")).importBullmq(value, settings);
  }
  if (system === "agenda") return (await import("../import/agenda.ts")).importAgenda(await file(), settings);
  const version = system === "apscheduler3" ? 3 : 4;
  return (await import("../import/apscheduler.ts")).importAPScheduler(await file(), version, settings);
}

function jsonOf(one: ImportedSchedule, nowMs: number): object {
  const { where, id, taskId, written, trigger, settings, notes } = one;
  const next = firstMsOf(one, nowMs);
  return {
    ...{ where, id, taskId, written, trigger: trigger.toJSON(), description: trigger.describe(), settings, notes },
    next: next === null ? null : isoIn(next, trigger.timeZone),
  };
}

async function show(call: CommandCall, { schedules, problems, queue }: Imported): Promise<void> {
  const { io, out } = call;
  const now = io.clock.now();
  let count = 0;
  for (const one of schedules) {
    const { where, id, taskId, written, trigger, settings, notes } = one;
    out.line(styled("bold", id), styled("dim", `  ${where}: ${written}`));
    out.line(`  ${trigger.describe()}`);
    const next = firstMsOf(one, now);
    const time = next === null ? "never" : readableTime(isoIn(next, trigger.timeZone), next % 60_000 !== 0);
    const more = Object.entries(settings).map(([name, value]) => `, ${name} ${shownValue(value)}`);
    out.prose(4, `  task ${taskId}, next ${time}${more.join("")}`);
    for (const note of notes) out.prose(4, styled("dim", `  ${note}`));
    if (++count % SHOWN_AT_ONCE === 0) await io.clock.yield();
    io.signals.first.throwIfAborted();
  }
  showProblems(call, problems);
  if (queue !== undefined) showJobs(call, queue);
  const jobs = queue === undefined ? "" : ` and ${counted(queue.jobs.length, "job")}`;
  const all = `${counted(schedules.length, "schedule")}${jobs}`;
  out.error(styled("dim", `${all} would be added${problems.length > 0 ? `, ${problems.length} cannot be read` : ""}`));
}

function showJobs(call: CommandCall, queue: ImportedQueue): void {
  const { out } = call;
  for (const taskId of new Set(queue.jobs.map((job) => job.taskId))) {
    const jobs = queue.jobs.filter((job) => job.taskId === taskId);
    const later = jobs.filter(({ settings }) => settings.runAt !== undefined).length;
    out.line(styled("bold", taskId), `  ${counted(jobs.length, "job")}, ${later} of them not yet due`);
  }
  for (const taskId of queue.pausedTaskIds) out.line(styled("bold", taskId), "  is paused, and stays paused");
  for (const note of queue.notes) out.prose(2, styled("dim", `note: ${note}`));
  showLeft(call, queue);
}

function showProblems({ out }: CommandCall, problems: readonly ImportProblem[]): void {
  for (const problem of problems) out.error(styled("red", "error:"), ` ${problemText(problem)}`);
}

function showLeft({ out }: CommandCall, { left }: Pick<ImportedQueue, "left">): void {
  for (const problem of left.slice(0, LEFT_SHOWN)) {
    out.error(styled("yellow", "stays behind:"), ` ${problemText(problem)}`);
  }
  const more = left.length - LEFT_SHOWN;
  if (more > 0) out.error(styled("dim", `and ${more} more, which --json lists`));
}

/** A payload may be long: a line shows where it begins. */
function shownValue(value: unknown): string {
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function problemText({ where, message }: ImportProblem): string {
  return `${where}: ${message}`;
}
