import { readExpression } from "../engine.ts";
import { Findings, StaysBehind } from "./findings.ts";
import { type Imported, type ImportSettings, idPart, UniqueIds } from "./imported.ts";
import { isObject, plainYaml, textOf } from "./yaml.ts";

const FIVE_MINUTES_MS = 300_000;
/** Numbers and names: GitHub has no nicknames, and no letters such as L. */
const FIELD = /^([\d*,/-]|[a-z]{3})+$/i;

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
        const words = written.trim().split(/ +/);
        if (words.length !== 5 || !words.every((word) => FIELD.test(word)) || /(^|[,-])0*7/.test(words[4] ?? "")) {
          throw new StaysBehind(
            `${written} cannot be read as GitHub does; it takes 5 fields, of which the weekday is 0 to 6`,
          );
        }
        const [first = 0, second = FIVE_MINUTES_MS] = trigger.expand({ from: "2030-01-01T00:00:00Z", limit: 2 });
        const notes = second - first < FIVE_MINUTES_MS ? ["GitHub runs it every 5 minutes at most"] : [];
        if (words[2] !== "*" && words[4] !== "*" && [words[2], words[4]].some((word) => word?.startsWith("*"))) {
          notes.push("GitHub does not say whether a step beside another day field is either or both: here it is both");
        }
        const taskId = idPart(name);
        found.schedule({ where: place, id, taskId, written, trigger, settings: { name: name.slice(0, 256) }, notes });
      });
    }
  }
  return found.importedFile();
}
