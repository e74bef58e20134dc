import { parseCrontab, readExpression } from "../engine.ts";
import { Findings, StaysBehind } from "./findings.ts";
import type { Imported, ImportSettings } from "./imported.ts";

/** The schedules of a crontab. */
export async function importCrontab(text: string, settings: ImportSettings): Promise<Imported> {
  const found = new Findings(settings);
  const { entries, problems } = parseCrontab(text, { system: settings.system });
  for (const { line, text: written, message, severity } of problems) {
    if (severity === "error") found.left(`line ${line}`, `${written}: ${message}`);
  }
  for (const entry of entries) found.item(`line ${entry.line}`, entry, () => readEntry(found, entry));
  return found.importedFile();
}

type Entry = ReturnType<typeof parseCrontab>["entries"][number];

function readEntry(found: Findings, { line, id, expression, command, input, user, timeZone }: Entry): void {
  if (expression.toLowerCase() === "@reboot") {
    throw new StaysBehind("@reboot has no fire times; call the task when the program starts");
  }
  const zone = timeZone ?? found.settings.timeZone;
  const notes = [`runs: ${command}`];
  if (user !== null) notes.push(`as the user ${user}`);
  if (input !== null) notes.push("reads text from its standard input (after the %)");
  let { trigger } = readExpression(expression, zone, id, "vixie");
  if (trigger === null) {
    const own = readExpression(expression, zone, id);
    if (own.trigger === null) throw new StaysBehind(`${expression}: ${own.error.message}`);
    trigger = own.trigger;
    notes.push("cron itself does not take this rule: it is read as escapement crontab does");
  }
  const taskId = id.replace(/-[0-9a-f]{8}(-\d+)?$/, "");
  found.schedule({ where: `line ${line}`, id, taskId, written: expression, trigger, settings: {}, notes });
}
