import { type CommandCall, hasOption, textOption } from "../command.ts";
import { EXIT } from "../failure.ts";
import { aheadOption, utcText } from "../times.ts";

/** `escapement pause`: schedules, or with `--task` tasks. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  const { client, by } = await call.target();
  const until = aheadOption(textOption(call, "until"), "until", call.io);
  const reason = textOption(call, "reason");
  const options = { ...by, ...(until === undefined ? {} : { until }), ...(reason === undefined ? {} : { reason }) };
  const paused = [];
  for (const id of args) {
    const one = hasOption(call, "task") ? await client.pauseTask(id, options) : await client.pauseSchedule(id, options);
    paused.push(one);
    const { pausedUntil } = one;
    if (!out.isJson) out.line(`${id}: paused${pausedUntil === null ? "" : ` until ${utcText(pausedUntil)}`}`);
  }
  if (out.isJson) out.json({ items: paused });
  return EXIT.fine;
}
