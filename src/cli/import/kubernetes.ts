import { readExpression } from "../engine.ts";
import {
  type Imported,
  type ImportedSchedule,
  type ImportProblem,
  type ImportSettings,
  idPart,
  UniqueIds,
} from "./imported.ts";
import { isObject, type Plain, plainYaml, textOf } from "./yaml.ts";

const OVERLAPS = { Allow: "queue", Forbid: "skip", Replace: "cancelRunning" } as const;

/** The CronJobs of Kubernetes manifests. Their zone is that of the controller, which is UTC nearly everywhere. */
export function importKubernetes(text: string, { taskId }: ImportSettings): Imported {
  const schedules: ImportedSchedule[] = [];
  const problems: ImportProblem[] = [];
  const ids = new UniqueIds();
  for (const { where, value, error } of plainYaml(text)) {
    if (error !== null) problems.push({ where, message: error });
    for (const item of cronJobsOf(value, new Set())) {
      const metadata = isObject(item.metadata) ? item.metadata : {};
      const spec = isObject(item.spec) ? item.spec : {};
      const name = textOf(metadata.name) ?? "cronjob";
      const namespace = textOf(metadata.namespace);
      const place = `CronJob ${name}`;
      const written = textOf(spec.schedule);
      if (written === null) {
        problems.push({ where: place, message: "has no spec.schedule" });
        continue;
      }
      const id = ids.of(namespace === null ? idPart(name) : `${idPart(namespace)}/${idPart(name)}`);
      const { trigger, error: unreadable } = readExpression(written, textOf(spec.timeZone) ?? "UTC", id);
      if (trigger === null) problems.push({ where: place, message: `${written}: ${unreadable.message}` });
      else {
        const settings = settingsOf(spec);
        schedules.push({
          where: place,
          id,
          taskId: taskId ?? idPart(name),
          written,
          trigger,
          settings,
          notes: notesOf(spec),
        });
      }
    }
  }
  return { schedules, problems };
}

/** The CronJobs of a value. @param seen by an alias, a list of YAML may be within itself */
function cronJobsOf(value: unknown, seen: Set<Plain>): Plain[] {
  if (!isObject(value) || seen.has(value)) return [];
  seen.add(value);
  if (value.kind === "CronJob") return [value];
  return Array.isArray(value.items) ? value.items.slice(0, 10_000).flatMap((item) => cronJobsOf(item, seen)) : [];
}

function settingsOf(spec: Plain): ImportedSchedule["settings"] {
  const overlap = OVERLAPS[textOf(spec.concurrencyPolicy) as keyof typeof OVERLAPS];
  const deadline = Number(spec.startingDeadlineSeconds ?? Number.NaN);
  return {
    ...(spec.suspend === true ? { paused: true } : {}),
    ...(overlap === undefined ? {} : { overlap }),
    ...(Number.isInteger(deadline) && deadline > 0 ? { misfireGraceTime: `${deadline}s` } : {}),
  };
}

function notesOf(spec: Plain): string[] {
  const template = isObject(spec.jobTemplate) ? spec.jobTemplate : {};
  const job = isObject(template.spec) ? template.spec : {};
  const notes: string[] = [];
  if (job.activeDeadlineSeconds !== undefined) notes.push(`activeDeadlineSeconds is the task's timeout`);
  if (job.backoffLimit !== undefined) notes.push(`backoffLimit is the task's retry.maxAttempts - 1`);
  return notes;
}
