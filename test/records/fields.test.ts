import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { namesOf } from "../../src/core/check.ts";
import * as bodies from "../../src/hono/schemas.ts";
import { isNullable, WORDS } from "../../src/records/fields/field.ts";
import { JOB_FIELDS, JOB_RESULT_FIELDS } from "../../src/records/fields/job.ts";
import { SCHEDULE_FIELDS, SETTINGS } from "../../src/records/fields/schedule.ts";
import { TASK_FIELDS } from "../../src/records/fields/task.ts";
import {
  scheduleChangesSchema,
  scheduleOptionsSchema,
  taskSettingsSchema,
} from "../../src/scheduler/options/option-schemas.ts";
import { Job } from "../../src/scheduler/views/job.ts";
import { JobResult } from "../../src/scheduler/views/job-result.ts";
import { Schedule } from "../../src/scheduler/views/schedule.ts";
import { TaskView } from "../../src/scheduler/views/task-view.ts";

/** The fields that a class shows by getters. */
function gettersOf({ prototype }: { prototype: object }): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([name, { get }]) =>
    get === undefined ? [] : [name],
  );
}

/** What a list has of a schedule only where it was asked for. */
const INCLUDED: readonly string[] = ["next", "runs", "stats"];

test.each([
  ["schedule", Schedule, SCHEDULE_FIELDS, ["id", "taskId", "paused"]],
  ["job", Job, JOB_FIELDS, ["id", "taskId", "scheduleId"]],
  ["result", JobResult, JOB_RESULT_FIELDS, ["jobId", "taskId", "scheduleId", "outcome"]],
  ["task", TaskView, TASK_FIELDS, []],
] as const)("a %s shows what its table names, and nothing else", (_, view, fields, own) => {
  const getters = gettersOf(view).filter((name) => !INCLUDED.includes(name));
  expect([...own, ...getters].sort()).toEqual(Object.keys(fields).sort());
});

describe("what callers set of a schedule", () => {
  const names = SETTINGS.map(({ name }) => name);
  const schemas = {
    "addSchedule()": [
      scheduleOptionsSchema(),
      ["id", "conflictPolicy", "paused", "spread", "by", "ifRevision", "requestHash"],
    ],
    "updateSchedule()": [scheduleChangesSchema(), ["trigger", "nextFireTime"]],
    "POST /schedules": [
      bodies.newScheduleBody(),
      ["id", "conflictPolicy", "paused", "spread", "by", "taskId", "trigger"],
    ],
    "PATCH /schedules/:id": [bodies.scheduleChangesBody(), ["trigger", "nextFireTime", "by"]],
  } as const;

  test.each(Object.entries(schemas))("%s takes, besides what only the call has", (_, [schema, own]) => {
    expect([...namesOf(schema)].sort()).toEqual([...names, ...own].sort());
  });

  test.each(Object.entries(schemas))("%s takes as null where null means something", (_, [schema]) => {
    const entries = Object.entries((schema as unknown as { entries: Record<string, v.GenericSchema> }).entries);
    const nullable = entries.filter(([name, entry]) => names.includes(name) && v.is(entry, null)).map(([name]) => name);
    const isAnyValue = (kind: string) => kind === "value";
    const expected = SETTINGS.filter((field) => isNullable(field) || isAnyValue(field.kind)).map(({ name }) => name);
    expect(nullable.sort()).toEqual(expected.sort());
  });

  test("inherits only what tasks have", () => {
    const inherited = SETTINGS.filter(({ inherits }) => inherits).map(({ name }) => name);
    expect(Object.keys(TASK_FIELDS)).toEqual(expect.arrayContaining(inherited));
  });
});

test("the settings of a task are fields of it, besides what a program alone has", () => {
  const ofPauses = ["isPaused", "pausedUntil", "pauseReason", "pausedBy"];
  const fields = Object.keys(TASK_FIELDS).filter((name) => name !== "id" && !ofPauses.includes(name));
  expect([...namesOf(taskSettingsSchema())].sort()).toEqual([...fields, "concurrencyKey", "schema"].sort());
});

test("the words of a kind are different", () => {
  for (const words of Object.values(WORDS)) expect(new Set(words).size).toBe(words.length);
});
