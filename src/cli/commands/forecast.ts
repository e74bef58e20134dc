import { type ForecastedSchedule, forecast } from "../../insight/mod.ts";
import { type CommandCall, refuseOptions, textOption } from "../command.ts";
import { durationOption } from "../durations.ts";
import { type CrontabEntry, parseCrontab, readExpression } from "../engine.ts";
import { CliError, EXIT } from "../failure.ts";
import { readText } from "../files.ts";
import { styled } from "../output.ts";
import { crontabZone, systemOption } from "../rules.ts";
import { instantOption, instantText } from "../times.ts";
import { unhurried } from "../unhurried.ts";

const HOUR_MS = 3_600_000;
/** Most hours that are listed. */
const HOURS_MAX = 48;
const BAR_WIDTH = 40;

/** `escapement forecast`: the load to come. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const spanMs = durationOption(textOption(call, "for"), "for", 24 * HOUR_MS);
  if (args.length === 0) refuseOptions(call, ["system", "user"], "a scheduler", "escapement forecast FILE has it");
  else refuseOptions(call, ["store", "url", "token", "config"], "a file");
  const timeZone = args.length === 0 ? (textOption(call, "tz") ?? "UTC") : crontabZone(textOption(call, "tz"));
  const fromMs = Math.floor(instantOption(textOption(call, "from"), "from", io, timeZone) / 60_000) * 60_000;
  const [path] = args;
  const source = path === undefined ? (await call.target()).client : await schedulesOf(call, path);
  // A week of minutes is shown by minutes, and more by hours.
  const bucket = spanMs <= 14 * 24 * HOUR_MS ? "1m" : "1h";
  const range = { from: instantText(fromMs), until: instantText(fromMs + spanMs), bucket };
  const found = await forecast(source, range);
  if (out.isJson) {
    out.json(found.toJSON());
    return EXIT.fine;
  }
  out.prose(0, styled("bold", found.text));
  const hours = new Map<number, number>();
  for (const { from, fires } of found.buckets) {
    const hour = Math.floor(from.epochMilliseconds / HOUR_MS);
    hours.set(hour, (hours.get(hour) ?? 0) + fires);
  }
  const most = Math.max(...hours.values());
  if (hours.size > HOURS_MAX || most === 0) return EXIT.fine;
  const rows = [...hours].map(([hour, fires]) => {
    const bar = "#".repeat(Math.ceil((fires / most) * BAR_WIDTH));
    return [
      instantText(hour * HOUR_MS)
        .slice(0, 16)
        .replace("T", " "),
      String(fires).padStart(String(most).length),
      bar,
    ];
  });
  out.table(null, rows, { indent: "  " });
  return EXIT.fine;
}

async function schedulesOf(call: CommandCall, path: string): Promise<ForecastedSchedule[]> {
  const { entries, problems } = parseCrontab(await readText(call.io, path), { system: systemOption(call, path) });
  const refused = problems.find(({ rule, severity }) => rule === "user" && severity === "error");
  if (refused !== undefined) {
    throw new CliError(`${path}:${refused.line}: ${refused.text}: ${refused.message}`, { code: "cronSyntax" });
  }
  return unhurried(call, forecasted(call, path, entries), entries.length, "lines");
}

/** The lines of a crontab as schedules, in steps of one. */
function* forecasted(
  call: CommandCall,
  path: string,
  entries: readonly CrontabEntry[],
): Generator<void, ForecastedSchedule[]> {
  const timeZone = crontabZone(textOption(call, "tz"));
  const schedules: ForecastedSchedule[] = [];
  for (const { expression, id, line, ...entry } of entries) {
    if (expression.toLowerCase() === "@reboot") continue;
    const { trigger, error } = readExpression(expression, entry.timeZone ?? timeZone, id);
    if (trigger === null) throw new CliError(`${path}:${line}: ${error.message}`, { code: "cronSyntax" });
    // Of one task, because a load of its own for each line would take memory and time.
    schedules.push({ id, taskId: "crontab", trigger });
    yield;
  }
  return schedules;
}
