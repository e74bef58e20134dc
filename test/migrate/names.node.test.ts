import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sourceFiles } from "../architecture/sources.ts";
import { ROOT } from "../package/stage.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { NO_APSCHEDULER, pythonWithAPScheduler, runOriginal } from "./originals.ts";

const BULLMQ = "bullmq/dist/esm";
/** The types of other libraries of which a page has every name. */
const TYPES = [
  ["node-cron", "node-cron/dist/node-cron.d.ts", ["TaskOptions", "ScheduledTask", "NodeCron"]],
  ["croner", "croner/dist/croner.d.ts", ["CronOptions", "Cron"]],
  ["bullmq", `${BULLMQ}/interfaces/worker-options.d.ts`, ["WorkerOptions"]],
  ["bullmq", `${BULLMQ}/interfaces/queue-options.d.ts`, ["QueueOptions", "QueueBaseOptions"]],
  ["bullmq", `${BULLMQ}/interfaces/base-job-options.d.ts`, ["DefaultJobOptions", "BaseJobOptions"]],
  ["bullmq", `${BULLMQ}/interfaces/repeat-options.d.ts`, ["RepeatOptions"]],
  ["bullmq", `${BULLMQ}/types/job-options.d.ts`, ["CompressableJobOptions"]],
  ["bullmq", `${BULLMQ}/classes/queue.d.ts`, ["Queue", "QueueListener"]],
  ["bullmq", `${BULLMQ}/classes/worker.d.ts`, ["Worker", "WorkerListener"]],
  ["bullmq", `${BULLMQ}/classes/job.d.ts`, ["Job"]],
  ["bullmq", `${BULLMQ}/classes/queue-getters.d.ts`, ["QueueGetters"]],
  ["bullmq", `${BULLMQ}/classes/queue-events.d.ts`, ["QueueEventsListener"]],
  ["pg-boss", "pg-boss/dist/index.d.ts", ["PgBoss"]],
  [
    "pg-boss",
    "pg-boss/dist/types.d.ts",
    ["QueueOptions", "Queue", "JobOptions", "JobFetchOptions", "JobPollingOptions"],
  ],
  ["pg-boss", "pg-boss/dist/types.d.ts", ["WorkConcurrencyOptions", "SchedulingOptions", "MaintenanceOptions"]],
  [
    "pg-boss",
    "pg-boss/dist/types.d.ts",
    ["DatabaseOptions", "ConstructorOptions", "StopOptions", "PreviewScheduleOptions"],
  ],
  ["agenda", "agenda/dist/index.d.ts", ["AgendaOptions", "Agenda"]],
  ["agenda", "agenda/dist/Job.d.ts", ["Job"]],
  ["agenda", "agenda/dist/types/JobDefinition.d.ts", ["JobDefinition"]],
] as const;

/** What they have for themselves, or by a base class of Node's. */
const INTERNAL = new Set([
  ...["prevMillis", "token", "jobsOpts", "emit", "off", "toJSON", "asJSON", "asJSONSandbox", "toFlowEntry"],
  ...["__test__enableSpies", "runForkedJob", "logJobEvent", "publishJobNotification", "publishJobStateNotification"],
  ...["gotTimerToExecute", "filePath", "fn"],
]);

function pageOf(name: string): string {
  return readFileSync(join(ROOT, "docs/migrate", `${name}.md`), "utf8");
}

/** The public names of a type of a declaration file. */
function membersOf(file: string, type: string): string[] {
  const text = readFileSync(join(ROOT, "node_modules", file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  const body = new RegExp(`(?:interface|class|type) ${type}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(text)?.[1] ?? "";
  const members = [
    ...body.matchAll(/^ {4}(?!private|protected|static|get |set |constructor)(?:readonly )?(\w+)\??[(:<]/gm),
  ];
  return [...new Set(members.map(([, name = ""]) => name))];
}

function has(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(text);
}

test.each(TYPES)("docs/migrate/%s.md has every name of %s", (page, file, types) => {
  const text = pageOf(page);
  for (const type of types) {
    const names = membersOf(file, type);
    expect(names.length, type).toBeGreaterThan(1);
    expect(names.filter((name) => !INTERNAL.has(name) && !has(text, name), type)).toEqual([]);
  }
});

test("docs/migrate/apscheduler-3.md has every name of its scheduler, its jobs and its events", async ({ skip }) => {
  if (pythonWithAPScheduler() === null) return skip(NO_APSCHEDULER);
  const code = `
from inspect import signature
from apscheduler import events
from apscheduler.job import Job
from apscheduler.schedulers.base import BaseScheduler
names = [*dir(BaseScheduler), *Job.__slots__, *dir(Job), *signature(BaseScheduler.add_job).parameters]
print(*[name for name in names if not name.startswith("_") and name != "self"])
print(*[name for name in dir(events) if name.startswith("EVENT_")])
`;
  const folder = await temporaryFolder();
  const names = (await runOriginal(folder.path, { language: "python", code }, {})).trim().split(/\s+/);
  await folder.remove();
  const text = pageOf("apscheduler-3");
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !has(text, name))).toEqual([]);
});

describe("the tables of docs/migrate", () => {
  const words = new Set(sourceFiles.flatMap(([, text]) => text.match(/[a-z_]\w*/gi) ?? []));

  test.each(readdirSync(join(ROOT, "docs/migrate")))("%s names on its right what is in the sources", (page) => {
    const rows = pageOf(page.replace(/\.md$/, ""))
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .map((line) => line.split("|").slice(1, -1));
    expect(rows.length).toBeGreaterThan(5);
    const ours = rows.flatMap((cells) => cells.slice(cells.length >= 4 ? 2 : 1));
    const code = ours.flatMap((cell) => [...cell.matchAll(/`([^`]*)`/g)].map(([, text = ""]) => text));
    // Texts within quotes are of programs, and zones are none of the library's.
    const names = code.flatMap((text) => text.replace(/"[^"]*"|\w+\/\S+/g, "").match(/[a-z_]\w{2,}/gi) ?? []);
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  });
});
