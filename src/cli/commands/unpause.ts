import { type CommandCall, hasOption, refuseOptions, textOption } from "../command.ts";
import { EXIT } from "../failure.ts";
import { zoneOfSchedule } from "../records.ts";
import { isWallTime, sinceOption } from "../times.ts";

/** `escapement unpause`: schedules, or with `--task` tasks. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  if (hasOption(call, "task")) refuseOptions(call, ["from"], "--task", "escapement unpause ID of a schedule has it");
  const { client, by } = await call.target();
  const resumeFrom = textOption(call, "from");
  const unpaused = [];
  for (const id of args) {
    const timeZone = isWallTime(resumeFrom) && !hasOption(call, "task") ? await zoneOfSchedule(client, id) : undefined;
    const from = resumeFrom === "now" ? resumeFrom : sinceOption(resumeFrom, "from", call.io, timeZone);
    const options = { ...by, ...(from === undefined ? {} : { resumeFrom: from }) };
    unpaused.push(
      hasOption(call, "task") ? await client.unpauseTask(id, by) : await client.unpauseSchedule(id, options),
    );
    if (!out.isJson) out.line(`${id}: goes on`);
  }
  if (out.isJson) out.json({ items: unpaused });
  return EXIT.fine;
}
