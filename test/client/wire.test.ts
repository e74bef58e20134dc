import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { serializer } from "../../src/client/calls/task-reference.ts";
import { eventOf } from "../../src/client/wire/event.ts";
import { explanationSchema } from "../../src/client/wire/explanation.ts";
import { healthSchema } from "../../src/client/wire/health.ts";
import { jobResultSchema, jobSchema, runSchema } from "../../src/client/wire/job.ts";
import { occurrenceSchema } from "../../src/client/wire/occurrence.ts";
import { scheduleSchema } from "../../src/client/wire/schedule.ts";
import { scheduleChangeSchema } from "../../src/client/wire/schedule-change.ts";
import { taskSchema } from "../../src/client/wire/task.ts";
import { durationMs, instantMs } from "../../src/client/wire/values.ts";
import { durationText } from "../../src/core/duration.ts";
import { instantText } from "../../src/core/temporal.ts";
import { Explanation } from "../../src/scheduler/views/explanation.ts";
import { SchedulerHealth } from "../../src/scheduler/views/health.ts";
import { Job } from "../../src/scheduler/views/job.ts";
import { JobResult } from "../../src/scheduler/views/job-result.ts";
import { Occurrence } from "../../src/scheduler/views/occurrence.ts";
import { Run, runOfJob, runOfResult } from "../../src/scheduler/views/run.ts";
import { Schedule } from "../../src/scheduler/views/schedule.ts";
import { ScheduleChange } from "../../src/scheduler/views/schedule-change.ts";
import { TaskView } from "../../src/scheduler/views/task-view.ts";
import {
  changes,
  explanations,
  jobs,
  occurrences,
  results,
  schedulerFacts,
  schedules,
  storeFacts,
  tasks,
} from "./records.ts";

/** No test calls it. */
const client = {} as ConstructorParameters<typeof Schedule>[2] & ConstructorParameters<typeof Job>[2];
const runs = { numRuns: 300 };

/** The text that travels. */
function sent(view: { toJSON(): unknown }): string {
  return JSON.stringify(view);
}

/** What the schema reads from a text that travelled. */
function read<T>(schema: v.GenericSchema<unknown, T>, text: string): T {
  return v.parse(schema, JSON.parse(text));
}

describe("what travels as JSON is the same view at the other end:", () => {
  test("a schedule", () => {
    fc.assert(
      fc.property(schedules, (record) => {
        const text = sent(new Schedule(record, serializer, client));
        expect(sent(new Schedule(read(scheduleSchema(), text), serializer, client))).toBe(text);
      }),
      runs,
    );
  });

  test("a job", () => {
    fc.assert(
      fc.property(jobs, fc.boolean(), (record, hasEnded) => {
        const text = sent(new Job(record, serializer, client, hasEnded));
        const there = read(jobSchema(), text);
        expect(sent(new Job(there.record, serializer, client, there.hasEnded))).toBe(text);
      }),
      runs,
    );
  });

  test("a result", () => {
    fc.assert(
      fc.property(results, (record) => {
        const text = sent(new JobResult(record, serializer));
        expect(sent(new JobResult(read(jobResultSchema(), text), serializer))).toBe(text);
      }),
      runs,
    );
  });

  test.each([
    ["a run that is unfinished", jobs.map(runOfJob)],
    ["a run that has ended", results.map(runOfResult)],
  ])("%s, with its error", (_, facts) => {
    fc.assert(
      fc.property(facts, (one) => {
        const here = new Run(one, serializer);
        const there = new Run(read(runSchema(), sent(here)), serializer);
        expect([sent(there), there.toRow(), there.error]).toEqual([sent(here), here.toRow(), here.error]);
      }),
      runs,
    );
  });

  test("a result's error, with its class and its causes", () => {
    fc.assert(
      fc.property(results, (record) => {
        const here = new JobResult(record, serializer);
        const there = new JobResult(read(jobResultSchema(), sent(here)), serializer);
        expect(there.error).toEqual(here.error);
        expect(there.error?.constructor).toBe(here.error?.constructor);
      }),
      runs,
    );
  });

  test("a task", () => {
    fc.assert(
      fc.property(tasks, (record) => {
        const text = sent(new TaskView(record));
        expect(sent(new TaskView(read(taskSchema(), text)))).toBe(text);
      }),
      runs,
    );
  });

  test("an occurrence", () => {
    fc.assert(
      fc.property(occurrences, (facts) => {
        const text = sent(new Occurrence(facts));
        const there = new Occurrence(read(occurrenceSchema(), text));
        expect([sent(there), there.toRow()]).toEqual([text, new Occurrence(facts).toRow()]);
      }),
      runs,
    );
  });

  test("an explanation, with its cause", () => {
    fc.assert(
      fc.property(explanations, (facts) => {
        const here = new Explanation(facts);
        const there = new Explanation(read(explanationSchema(), sent(here)));
        expect(sent(there)).toBe(sent(here));
        expect([there.cause, there.clockChanges]).toEqual([here.cause, here.clockChanges]);
      }),
      runs,
    );
  });

  test("a change", () => {
    fc.assert(
      fc.property(changes, (facts) => {
        const text = sent(new ScheduleChange(facts));
        expect(sent(new ScheduleChange(read(scheduleChangeSchema(), text)))).toBe(text);
      }),
      runs,
    );
  });

  test("the health", () => {
    fc.assert(
      fc.property(fc.string(), storeFacts, schedulerFacts, (identity, store, about) => {
        const failure = store === null ? { name: "StoreUnavailableError", message: "gone" } : null;
        const text = sent(new SchedulerHealth(identity, 4e12, store, failure, about));
        expect(sent(read(healthSchema(), text))).toBe(text);
      }),
      runs,
    );
  });
});

describe("the text of", () => {
  test("every instant is read as what it was", () => {
    fc.assert(
      fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (ms) => {
        expect(instantMs(instantText(ms))).toBe(ms);
      }),
    );
  });

  test("every duration is read as what it was", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 31_557_600_000_000 }), (ms) => {
        expect(durationMs(durationText(ms))).toBe(ms);
      }),
    );
  });

  test.each(["", "soon", "2030-01-31", "2030-01-31T09:00:00", "2030-13-31T09:00:00Z", "2030-01-31T09:00:00.1234Z"])(
    "the instant %j is none",
    (text) => {
      expect(instantMs(text)).toBeNaN();
    },
  );

  test.each(["", "P", "PT", "soon", "P1M", "PT-5M"])("the duration %j is none", (text) => {
    expect(durationMs(text)).toBeNaN();
  });
});

describe("an event", () => {
  const event = {
    ...{ type: "jobReleased", timestamp: "2030-01-01T00:00:00.5Z", jobId: "j", taskId: "t", scheduleId: null },
    ...{ schedulerId: "s", outcome: "error", error: { name: "Error", message: "no" }, scheduledFireTime: null },
    startedAt: "2030-01-01T00:00:00Z",
  };

  test("is read with its instants as milliseconds", () => {
    const { timestamp: _timestamp, startedAt: _startedAt, scheduledFireTime: _fireTime, ...same } = event;
    expect(eventOf(JSON.stringify(event), expect.unreachable)).toEqual({
      ...same,
      timestampMs: Date.UTC(2030, 0, 1, 0, 0, 0, 500),
      startedAtMs: Date.UTC(2030, 0, 1),
      scheduledFireTimeMs: null,
    });
  });

  test.each([
    ["not JSON", "{"],
    ["no object", "7"],
    ["of a type that only a newer version knows", JSON.stringify({ ...event, type: "jobSold" })],
    ["without an instant", JSON.stringify({ ...event, timestamp: "soon" })],
  ])("that is %s is passed over, with a reason", (_, text) => {
    const reasons: string[] = [];
    expect(eventOf(text, (reason) => reasons.push(reason))).toBeNull();
    expect(reasons).toHaveLength(1);
  });
});
