import { BASE } from "./api.ts";

type ScheduleFields = Readonly<Record<string, unknown>>;

/** The call that does what the form does. @param id of the schedule that is edited; null for a new one */
export function codeOf({ taskId, trigger, ...options }: ScheduleFields, id: string | null): string {
  const rule = triggerCode(trigger);
  const imports = `import { ${rule.name === "" ? "" : `${rule.name}, `}Scheduler } from "escapement";\n\n`;
  if (id !== null) {
    const changes = [...(trigger === undefined ? [] : [`trigger: ${rule.code}`]), ...entries(options)];
    return `${imports}await scheduler.updateSchedule(${JSON.stringify(id)}, { ${changes.join(", ")} });\n`;
  }
  const given = entries(options);
  const settings = given.length === 0 ? "" : `, {\n  ${given.join(",\n  ")},\n}`;
  return `${imports}await scheduler.addSchedule(${JSON.stringify(taskId)}, ${rule.code}${settings});\n`;
}

function entries(options: ScheduleFields): string[] {
  return Object.entries(options).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
}

function triggerCode(trigger: unknown): { name: string; code: string } {
  const { cron, every, at, timeZone } = Object(trigger) as Readonly<Record<string, string | undefined>>;
  const zone = timeZone === undefined ? "" : `, { timeZone: ${JSON.stringify(timeZone)} }`;
  if (cron !== undefined)
    return { name: "CronTrigger", code: `CronTrigger.fromCrontab(${JSON.stringify(cron)}${zone})` };
  if (every !== undefined) return { name: "", code: JSON.stringify({ every }) };
  if (at !== undefined) return { name: "DateTrigger", code: `new DateTrigger(${JSON.stringify(at)}${zone})` };
  return { name: "triggerFromJSON", code: `triggerFromJSON(${JSON.stringify(trigger)})` };
}

/** The same for a shell. The token stays a variable, because a clipboard keeps what it gets. */
export function curlOf(body: ScheduleFields, id: string | null): string {
  const url = new URL(id === null ? "schedules" : `schedules/${encodeURIComponent(id)}`, BASE);
  const method = id === null ? "" : " -X PATCH";
  const json = JSON.stringify(body).replaceAll("'", "'\\''");
  const lines = [
    `curl${method} '${url}'`,
    '-H "authorization: Bearer $ESCAPEMENT_TOKEN"',
    "-H 'content-type: application/json'",
    `-d '${json}'`,
  ];
  return `${lines.join(" \\\n  ")}\n`;
}
