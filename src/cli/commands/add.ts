import { DateTrigger, IntervalTrigger, type Trigger } from "../../cron.ts";
import { type CommandCall, hasOption, refuseOptions, textOption } from "../command.ts";
import { durationOption } from "../durations.ts";
import { CliError, EXIT } from "../failure.ts";
import { jsonOption } from "../json-option.ts";
import { labelsOption } from "../labels.ts";
import { dialectOption, triggerOfText } from "../rules.ts";
import { instantOption, zonedText } from "../times.ts";

/** `escapement add`: a schedule of a task. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  const [task = "", ...rule] = args;
  const trigger = triggerOf(call, rule.join(" "));
  const { client, by } = await call.target({ creates: true });
  const payload = textOption(call, "payload");
  const name = textOption(call, "name");
  const schedule = await client.addSchedule(task, trigger, {
    ...{ id: textOption(call, "id") ?? task, conflictPolicy: "replace", ...labelsOption(call), ...by },
    ...(payload === undefined ? {} : { payload: jsonOption(payload, "payload") }),
    ...(name === undefined ? {} : { name }),
    ...(hasOption(call, "paused") ? { paused: true } : {}),
  });
  if (out.isJson) out.json(schedule);
  else {
    const { id, nextFireTime } = schedule;
    const next = nextFireTime === null ? "never" : zonedText(nextFireTime.toZonedDateTimeISO(trigger.timeZone));
    out.line(`${id}: ${trigger.describe()}; next ${next}`);
  }
  return EXIT.fine;
}

function triggerOf(call: CommandCall, rule: string): Trigger {
  const every = textOption(call, "every");
  const at = textOption(call, "at");
  if ([rule === "" ? undefined : rule, every, at].filter((given) => given !== undefined).length !== 1) {
    throw new CliError("add takes a rule, --every or --at, and one of them");
  }
  if (every !== undefined) refuseOptions(call, ["tz", "dialect"], "--every", "a rule has it");
  if (at !== undefined) refuseOptions(call, ["dialect"], "--at", "a rule has it");
  if (every !== undefined) return new IntervalTrigger({ milliseconds: durationOption(every, "every", 0) });
  if (at !== undefined) return new DateTrigger(new Date(instantOption(at, "at", call.io, textOption(call, "tz"))));
  return triggerOfText(rule, textOption(call, "tz") ?? "UTC", dialectOption(call));
}
