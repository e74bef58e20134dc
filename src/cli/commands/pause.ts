import { type CommandCall, hasOption, textOption } from "../command.ts";
import { EXIT } from "../failure.ts";
import { ruleText, zoneOfSchedule } from "../records.ts";
import { aheadOption, isWallTime, zonedText } from "../times.ts";

/** `escapement pause`: schedules, or with `--task` tasks. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  const { client, by } = await call.target();
  const until = textOption(call, "until");
  const reason = textOption(call, "reason");
  const isTask = hasOption(call, "task");
  const paused = [];
  for (const id of args) {
    // A task has no zone, and is told in UTC.
    const timeZone = isTask || !isWallTime(until) ? "UTC" : await zoneOfSchedule(client, id);
    const end = aheadOption(until, "until", call.io, timeZone);
    const options = {
      ...by,
      ...(end === undefined ? {} : { until: end }),
      ...(reason === undefined ? {} : { reason }),
    };
    const one = isTask ? await client.pauseTask(id, options) : await client.pauseSchedule(id, options);
    paused.push(one);
    const { pausedUntil } = one;
    const zone = "trigger" in one ? ruleText(one).timeZone : "UTC";
    const shown = pausedUntil === null ? "" : ` until ${zonedText(pausedUntil.toZonedDateTimeISO(zone))}`;
    if (!out.isJson) out.line(`${id}: paused${shown}`);
  }
  if (out.isJson) out.json({ items: paused });
  return EXIT.fine;
}
