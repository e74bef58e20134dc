import type { Scheduler, SchedulerClient } from "../../mod.ts";
import { type CommandCall, hasOption, textOption } from "../command.ts";
import { isoIn } from "../engine.ts";
import { CliError, EXIT } from "../failure.ts";
import { readText } from "../files.ts";
import type { Imported, ImportedSchedule, ImportProblem, ImportSettings } from "../import/imported.ts";
import { styled } from "../output.ts";
import { crontabZone } from "../rules.ts";
import { readableTime } from "../times.ts";

const SYSTEMS = ["crontab", "kubernetes", "github", "systemd", "export"] as const;
type System = (typeof SYSTEMS)[number];

/** `escapement import`: schedules of other systems, or an export of this one. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const [path = ""] = args;
  const text = await readText(io, path);
  const system = systemOf(call, path, text);
  if (system === "export") return importExport(call, text);
  const found = await read(system, text, {
    timeZone: crontabZone(textOption(call, "tz")),
    taskId: textOption(call, "task"),
    system: call.options.system === true || /^\/etc\/cron/.test(path) ? true : undefined,
  });
  if (!hasOption(call, "dryRun")) {
    if (found.problems.length > 0) throw new CliError("nothing was added", { lines: found.problems.map(problemText) });
    return add(call, found);
  }
  if (out.isJson) {
    const schedules = found.schedules.map((one) => jsonOf(one, io.clock.now()));
    out.json({ from: system, schedules, problems: found.problems });
  } else show(call, found);
  return found.problems.length > 0 ? EXIT.usage : EXIT.fine;
}

/** Adds what was read. The ids stay the same, so that the next import of the same text changes nothing. */
async function add(call: CommandCall, { schedules }: Imported): Promise<number> {
  const { out } = call;
  const { client, by, dataStore } = await call.target({ creates: true });
  await declare(client, schedules, dataStore !== null);
  const added = [];
  for (const [index, { id, taskId, trigger, settings }] of schedules.entries()) {
    added.push(await client.addSchedule(taskId, trigger, { id, ...settings, ...by }));
    out.progress(index + 1, schedules.length, "schedules");
  }
  if (out.isJson) out.json({ schedules: added });
  else out.line(`${added.length} ${added.length === 1 ? "schedule is" : "schedules are"} there now`);
  return EXIT.fine;
}

/** Makes tasks known that the store does not know yet. Their handlers are the program's, which says their settings. */
async function declare(
  client: SchedulerClient,
  schedules: readonly ImportedSchedule[],
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
  const report = await importStore(dataStore, text, options);
  if (out.isJson) out.json(report);
  else {
    for (const kind of ["tasks", "schedules", "jobs", "results"] as const) {
      const { added, kept } = report[kind];
      out.line(`${kind.padEnd(10)} ${added} ${dryRun ? "would be added" : "added"}, ${kept} kept`);
    }
  }
  return EXIT.fine;
}

function systemOf(call: CommandCall, path: string, text: string): System {
  const given = textOption(call, "from");
  if (given !== undefined) {
    const known = SYSTEMS.find((system) => system === given);
    if (known !== undefined) return known;
    throw new CliError(`--from is one of ${SYSTEMS.join(", ")}; got ${JSON.stringify(given)}`);
  }
  if (text.startsWith('{"')) return "export";
  if (/\.timer$/.test(path) || /^\s*(\[Timer\]|OnCalendar=)/m.test(text)) return "systemd";
  if (/^\s*["']?kind["']?:\s*["']?(CronJob|List)/m.test(text)) return "kubernetes";
  return /^\s*-?\s*["']?cron["']?:/m.test(text) || /\.ya?ml$/.test(path) ? "github" : "crontab";
}

async function read(system: Exclude<System, "export">, text: string, settings: ImportSettings): Promise<Imported> {
  if (system === "kubernetes") return (await import("../import/kubernetes.ts")).importKubernetes(text, settings);
  if (system === "github") return (await import("../import/github.ts")).importGithub(text, settings);
  if (system === "systemd") return (await import("../import/systemd.ts")).importSystemd(text, settings);
  return (await import("../import/crontab.ts")).importCrontab(text, settings);
}

function jsonOf({ where, id, taskId, written, trigger, settings, notes }: ImportedSchedule, nowMs: number): object {
  const next = trigger.nextMs(nowMs - 1);
  return {
    ...{ where, id, taskId, written, trigger: trigger.toJSON(), description: trigger.describe(), settings, notes },
    next: next === null ? null : isoIn(next, trigger.timeZone),
  };
}

function show({ io, out }: CommandCall, { schedules, problems }: Imported): void {
  const now = io.clock.now();
  for (const { where, id, taskId, written, trigger, settings, notes } of schedules) {
    out.line(styled("bold", id), styled("dim", `  ${where}: ${written}`));
    out.line(`  ${trigger.describe()}`);
    const next = trigger.startingAtMs(now).nextMs(now - 1);
    const time = next === null ? "never" : readableTime(isoIn(next, trigger.timeZone), next % 60_000 !== 0);
    const more = Object.entries(settings).map(([name, value]) => `, ${name} ${value}`);
    out.line(`  task ${taskId}, next ${time}${more.join("")}`);
    for (const note of notes) out.line(styled("dim", `  ${note}`));
  }
  for (const problem of problems) out.error(styled("red", "error:"), ` ${problemText(problem)}`);
  const count = `${schedules.length} ${schedules.length === 1 ? "schedule" : "schedules"}`;
  out.error(
    styled("dim", `${count} would be added${problems.length > 0 ? `, ${problems.length} cannot be read` : ""}`),
  );
}

function problemText({ where, message }: ImportProblem): string {
  return `${where}: ${message}`;
}
