import type { CommandCall } from "../command.ts";
import { EXIT } from "../failure.ts";
import { styled } from "../output.ts";
import { valueText } from "../records.ts";

const STYLES = { debug: "dim", info: "dim", warn: "yellow", error: "red" } as const;

/** `escapement logs`: the lines that are kept of a job, attempt by attempt. */
export async function run({ out, args, target }: CommandCall): Promise<number> {
  const { client } = await target();
  const [id = ""] = args;
  const logs = await client.getJobLogs(id);
  if (out.isJson) {
    out.json({ items: logs });
    return EXIT.fine;
  }
  if (logs.length === 0)
    out.error(styled("dim", "no line is kept of this job; keepLogs of its task says how many are"));
  for (const { attempt, lines, dropped } of logs) {
    if (logs.length > 1) out.line(styled("bold", `attempt ${attempt}`));
    for (const { at, level, message, fields } of lines) {
      const more = fields === null || Object.keys(fields).length === 0 ? "" : ` ${valueText(fields)}`;
      out.prose(
        String(at).length + 7,
        styled("dim", String(at)),
        " ",
        styled(STYLES[level], level.padEnd(5)),
        ` ${message}`,
        styled("dim", more),
      );
    }
    if (dropped > 0) out.line(styled("dim", `${dropped} more lines were not kept`));
  }
  return EXIT.fine;
}
