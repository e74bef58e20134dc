import { type CommandCall, textOption } from "../command.ts";
import { isoIn } from "../engine.ts";
import { CliError, EXIT } from "../failure.ts";
import { readText } from "../files.ts";
import type { Imported, ImportedSchedule, ImportSettings } from "../import/imported.ts";
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
  if (system === "export") throw new CliError("an export is imported into a store", { code: "options" });
  const found = await read(system, text, {
    timeZone: crontabZone(textOption(call, "tz")),
    taskId: textOption(call, "task"),
    system: call.options.system === true || /^\/etc\/cron/.test(path) ? true : undefined,
  });
  if (call.options.dryRun !== true) throw new CliError("add --dry-run: there is no store to add to");
  if (out.isJson)
    out.json({
      from: system,
      schedules: found.schedules.map((one) => jsonOf(one, io.clock.now())),
      problems: found.problems,
    });
  else show(call, found);
  return found.problems.length > 0 ? EXIT.usage : EXIT.fine;
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
  for (const { where, message } of problems) out.error(styled("red", "error:"), ` ${where}: ${message}`);
  const count = `${schedules.length} ${schedules.length === 1 ? "schedule" : "schedules"}`;
  out.error(
    styled("dim", `${count} would be added${problems.length > 0 ? `, ${problems.length} cannot be read` : ""}`),
  );
}
