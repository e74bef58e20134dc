import { Findings, instantOf, isoOfMs, StaysBehind } from "./findings.ts";
import { robfigTrigger } from "./foreign-cron.ts";
import { type Imported, type ImportedSchedule, type ImportSettings, idPart, UniqueIds } from "./imported.ts";
import { isObject, plainYaml, textOf, type YamlObject } from "./yaml.ts";

const OVERLAPS = { Allow: "queue", Forbid: "skip", Replace: "cancelRunning" } as const;

/** The CronJobs of Kubernetes manifests. Their zone is that of the controller, which is UTC nearly everywhere. */
export async function importKubernetes(text: string, settings: ImportSettings): Promise<Imported> {
  const found = new Findings(settings);
  const ids = new UniqueIds();
  for (const { where, value, error } of plainYaml(text)) {
    if (error !== null) found.left(where, error);
    for (const item of cronJobsOf(value, new Set())) {
      const metadata = isObject(item.metadata) ? item.metadata : {};
      const name = textOf(metadata.name) ?? "cronjob";
      const namespace = textOf(metadata.namespace);
      const id = ids.of(namespace === null ? idPart(name) : `${idPart(namespace)}/${idPart(name)}`);
      const place = `CronJob ${name}`;
      found.item(place, item, () => {
        const spec = isObject(item.spec) ? item.spec : {};
        const written = textOf(spec.schedule);
        if (written === null) throw new StaysBehind("has no spec.schedule");
        if (/^(CRON_)?TZ=/.test(written) && textOf(spec.timeZone) !== null) {
          throw new StaysBehind("has spec.timeZone, and another time zone in its schedule, which Kubernetes refuses");
        }
        const trigger = robfigTrigger({
          ...{ text: written, system: "Kubernetes", timeZone: textOf(spec.timeZone) ?? "UTC", seed: id },
          ...startOf(item, metadata),
          nowMs: settings.nowMs,
        });
        const taskId = idPart(name);
        found.schedule({
          where: place,
          id,
          taskId,
          written,
          trigger,
          settings: settingsOf(spec),
          notes: notesOf(spec),
        });
      });
    }
  }
  return found.importedFile();
}

/** The CronJobs of a value. @param seen by an alias, a list of YAML may be within itself */
function cronJobsOf(value: unknown, seen: Set<YamlObject>, kind?: "CronJob"): YamlObject[] {
  if (!isObject(value) || seen.has(value)) return [];
  seen.add(value);
  if ((value.kind ?? kind) === "CronJob") return [value];
  // The server leaves the kind out in a list of one kind.
  const inner = value.kind === "CronJobList" ? "CronJob" : undefined;
  return Array.isArray(value.items) ? value.items.flatMap((item) => cronJobsOf(item, seen, inner)) : [];
}

/** From where `@every` counts, if the cluster wrote it: the last run, or the birth of the CronJob. */
function startOf({ status }: YamlObject, metadata: YamlObject): { readonly startTime?: string } {
  const last = isObject(status) ? instantOf(status, "lastScheduleTime") : null;
  const start = last ?? instantOf(metadata, "creationTimestamp");
  return start === null ? {} : { startTime: isoOfMs(start) };
}

function settingsOf(spec: YamlObject): ImportedSchedule["settings"] {
  const overlap = OVERLAPS[textOf(spec.concurrencyPolicy) as keyof typeof OVERLAPS];
  const deadline = Number(spec.startingDeadlineSeconds ?? Number.NaN);
  return {
    ...(spec.suspend === true ? { paused: true } : {}),
    ...(overlap === undefined ? {} : { overlap }),
    ...(Number.isInteger(deadline) && deadline > 0 ? { misfireGraceTime: `${deadline}s` } : {}),
  };
}

function notesOf(spec: YamlObject): string[] {
  const template = isObject(spec.jobTemplate) ? spec.jobTemplate : {};
  const job = isObject(template.spec) ? template.spec : {};
  const notes: string[] = [];
  if (spec.startingDeadlineSeconds === 0) notes.push("startingDeadlineSeconds 0 is not taken over");
  if (job.activeDeadlineSeconds !== undefined) notes.push(`activeDeadlineSeconds is the task's timeout`);
  if (job.backoffLimit !== undefined) notes.push(`backoffLimit is the task's retry.maxAttempts - 1`);
  return notes;
}
