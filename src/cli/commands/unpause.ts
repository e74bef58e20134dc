import { type CommandCall, hasOption, textOption } from "../command.ts";
import { EXIT } from "../failure.ts";

/** `escapement unpause`: schedules, or with `--task` tasks. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  const { client, by } = await call.target();
  const resumeFrom = textOption(call, "from");
  const options = { ...by, ...(resumeFrom === undefined ? {} : { resumeFrom }) };
  const unpaused = [];
  for (const id of args) {
    unpaused.push(
      hasOption(call, "task") ? await client.unpauseTask(id, by) : await client.unpauseSchedule(id, options),
    );
    if (!out.isJson) out.line(`${id}: goes on`);
  }
  if (out.isJson) out.json({ items: unpaused });
  return EXIT.fine;
}
