import { readExpression } from "../engine.ts";
import { Findings, StaysBehind } from "./findings.ts";
import { type Imported, type ImportSettings, idPart, UniqueIds } from "./imported.ts";
import { isObject, plainYaml, textOf } from "./yaml.ts";

const FIVE_MINUTES_MS = 300_000;

/** The schedules of a workflow file of GitHub Actions. They are in UTC. */
export async function importGithub(text: string, settings: ImportSettings): Promise<Imported> {
  const found = new Findings(settings);
  const ids = new UniqueIds();
  for (const { where, value, error } of plainYaml(text)) {
    if (error !== null) found.left(where, error);
    if (!isObject(value)) continue;
    const name = textOf(value.name) ?? "workflow";
    const list = isObject(value.on) ? value.on.schedule : undefined;
    if (!Array.isArray(list)) {
      found.left(name, "has no on.schedule");
      continue;
    }
    for (const [index, item] of list.entries()) {
      const place = `${name}, schedule ${index + 1}`;
      const id = ids.of(idPart(name));
      found.item(place, item, ({ cron, timezone }) => {
        const written = textOf(cron);
        if (written === null) throw new StaysBehind("has no cron");
        const { trigger, error: unreadable } = readExpression(written, textOf(timezone) ?? "UTC", id);
        if (trigger === null) throw new StaysBehind(`${written}: ${unreadable.message}`);
        const [first = 0, second = FIVE_MINUTES_MS] = trigger.expand({ from: "2030-01-01T00:00:00Z", limit: 2 });
        const notes = second - first < FIVE_MINUTES_MS ? ["GitHub runs it every 5 minutes at most"] : [];
        const taskId = idPart(name);
        found.schedule({ where: place, id, taskId, written, trigger, settings: { name: name.slice(0, 256) }, notes });
      });
    }
  }
  return found.importedFile();
}
