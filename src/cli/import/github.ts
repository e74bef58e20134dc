import { readExpression } from "../engine.ts";
import {
  type Imported,
  type ImportedSchedule,
  type ImportProblem,
  type ImportSettings,
  idPart,
  UniqueIds,
} from "./imported.ts";
import { isObject, plainYaml, textOf } from "./yaml.ts";

const FIVE_MINUTES_MS = 300_000;

/** The schedules of a workflow file of GitHub Actions. They are in UTC. */
export function importGithub(text: string, { taskId }: ImportSettings): Imported {
  const schedules: ImportedSchedule[] = [];
  const problems: ImportProblem[] = [];
  const ids = new UniqueIds();
  for (const { where, value, error } of plainYaml(text)) {
    if (error !== null) problems.push({ where, message: error });
    if (!isObject(value)) continue;
    const name = textOf(value.name) ?? "workflow";
    const list = isObject(value.on) ? value.on.schedule : undefined;
    if (!Array.isArray(list)) {
      problems.push({ where: name, message: "has no on.schedule" });
      continue;
    }
    for (const [index, item] of list.entries()) {
      const place = `${name}, schedule ${index + 1}`;
      const written = isObject(item) ? textOf(item.cron) : null;
      if (written === null || !isObject(item)) {
        problems.push({ where: place, message: "has no cron" });
        continue;
      }
      const id = ids.of(idPart(name));
      const { trigger, error: unreadable } = readExpression(written, textOf(item.timezone) ?? "UTC", id);
      if (trigger === null) {
        problems.push({ where: place, message: `${written}: ${unreadable.message}` });
        continue;
      }
      const [first = 0, second = FIVE_MINUTES_MS] = trigger.expand({ from: "2030-01-01T00:00:00Z", limit: 2 });
      const notes = second - first < FIVE_MINUTES_MS ? ["GitHub runs it every 5 minutes at most"] : [];
      schedules.push({
        where: place,
        id,
        taskId: taskId ?? idPart(name),
        written,
        trigger,
        settings: { name: name.slice(0, 256) },
        notes,
      });
    }
  }
  return { schedules, problems };
}
