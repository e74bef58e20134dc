import { parseCrontab, readExpression } from "../engine.ts";
import type { Imported, ImportedSchedule, ImportProblem, ImportSettings } from "./imported.ts";

/** The schedules of a crontab. */
export function importCrontab(text: string, { timeZone, taskId, system }: ImportSettings): Imported {
  const { entries, problems } = parseCrontab(text, { system });
  const schedules: ImportedSchedule[] = [];
  const found: ImportProblem[] = problems
    .filter(({ severity }) => severity === "error")
    .map(({ line, text, message }) => ({ where: `line ${line}`, message: `${text}: ${message}` }));
  for (const entry of entries) {
    const { line, id, expression, command, input, user } = entry;
    const where = `line ${line}`;
    if (expression.toLowerCase() === "@reboot") {
      found.push({ where, message: "@reboot has no fire times; call the task when the program starts" });
      continue;
    }
    const { trigger, error } = readExpression(expression, entry.timeZone ?? timeZone, id);
    if (trigger === null) {
      found.push({ where, message: `${expression}: ${error.message}` });
      continue;
    }
    const notes = [`runs: ${command}`];
    if (user !== null) notes.push(`as the user ${user}`);
    if (input !== null) notes.push("reads text from its standard input (after the %)");
    const own = id.replace(/-[0-9a-f]{8}(-\d+)?$/, "");
    schedules.push({ where, id, taskId: taskId ?? own, written: expression, trigger, settings: {}, notes });
  }
  return { schedules, problems: found };
}
