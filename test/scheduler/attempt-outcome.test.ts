import { describe, expect, test } from "vitest";
import {
  JobCancelledError,
  JobTimeoutError,
  LeaseLostError,
  NonRetryableError,
  SchedulerStateError,
} from "../../src/core/errors.ts";
import { type JobRecord, NEVER_RUN } from "../../src/records/job.ts";
import { FAILURE_KEPT_MS } from "../../src/records/limits.ts";
import { type AttemptEnding, attemptOutcome, type OutcomeInput } from "../../src/scheduler/running/attempt-outcome.ts";
import { keptFacts } from "../../src/testing/data-store-contract/makers.ts";

const NOW = 1_000_000;

const job: JobRecord = {
  id: "j",
  taskId: "t",
  scheduleId: "s",
  executor: "inline",
  payload: null,
  priority: 0,
  runAt: 0,
  createdAt: 0,
  fireTime: 10,
  scheduledFireTime: 20,
  startDeadline: null,
  missedCount: 0,
  firstMissedTime: null,
  lastMissedTime: null,
  resultExpirationMs: 500,
  maxRecoveries: 3,
  metadata: {},
  idempotencyKey: null,
  ...NEVER_RUN,
  fence: 7,
};

/** The second of three attempts, 100 ms after its start. */
const facts: OutcomeInput = {
  job: { ...job, failedAttempts: 1 },
  isShared: false,
  number: 2,
  startedAt: NOW - 100,
  now: NOW,
  progress: null,
  retry: { maxAttempts: 3, backoff: { initialMs: 1000, factor: 2, maxMs: 60_000, jitter: "full" } },
  maxSnoozes: 100,
  hasRecorded: false,
  random: () => 0.5,
};

const result = {
  jobId: "j",
  taskId: "t",
  scheduleId: "s",
  scheduledFireTime: 20,
  outcome: "success",
  startedAt: NOW - 100,
  finishedAt: NOW,
  attempts: 2,
  returnValue: null,
  error: null,
  expiresAt: NOW + 500,
};

const lease = { jobId: "j", fence: 7 };
const boom = new Error("boom");
const boomRecord = { name: "Error", message: "boom", stack: boom.stack };
const finished = (changes: object) => ({
  ...lease,
  kind: "finish",
  result: { ...result, ...keptFacts(job), ...changes },
});
/** A failure is kept longer than a success, with what it needs to be tried again as it was. */
const failedFor = (changes: object) =>
  finished({ ...keptFacts(job, true), expiresAt: NOW + FAILURE_KEPT_MS, ...changes });
const attempt = { number: 2, startedAt: NOW - 100, finishedAt: NOW };
const retried = {
  ...{ ...lease, kind: "retry", runAt: NOW + 1000, failedAttempts: 2 },
  attemptHistory: [expect.objectContaining(attempt)],
};
const earlier = { number: 1, startedAt: 1, finishedAt: 2, error: { name: "Error", message: "early" } };
const threw = (error: unknown, isFinal = false): AttemptEnding => ({ kind: "threw", error, isFinal });
const aborted = (reason: Extract<AttemptEnding, { kind: "aborted" }>["reason"]): AttemptEnding => ({
  kind: "aborted",
  reason,
});

describe("from how an attempt ended to what the store is told", () => {
  test.each<[string, AttemptEnding, Partial<OutcomeInput>, object | null]>([
    ["a return value is a success", { kind: "returned", returnValue: "1" }, {}, finished({ returnValue: "1" })],
    ["no return value is a success", { kind: "returned", returnValue: null }, {}, finished({})],
    [
      "a passed start deadline is a miss, which was no attempt",
      { kind: "late" },
      { number: 1, startedAt: null },
      failedFor({ outcome: "missedStartDeadline", startedAt: null, attempts: 0 }),
    ],
    [
      "an unreadable payload ends the job",
      { kind: "unreadable", error: boom },
      { startedAt: null },
      failedFor({ outcome: "deserializationFailed", startedAt: null, attempts: 1, error: boomRecord }),
    ],
    ["an error is tried again, after the backoff's pause", threw(boom), {}, retried],
    [
      "an error of the last attempt ends the job",
      threw(boom),
      { job: { ...job, failedAttempts: 2 }, number: 3 },
      failedFor({ outcome: "error", attempts: 3, error: boomRecord }),
    ],
    ["a final error ends the job", threw(boom, true), {}, failedFor({ outcome: "error", error: boomRecord })],
    [
      "an error that says so is final",
      threw(new NonRetryableError("boom")),
      {},
      failedFor({ outcome: "error", error: expect.objectContaining({ code: "nonRetryable" }) }),
    ],
    ["a timeout is an error like any other", aborted(new JobTimeoutError("too long")), {}, retried],
    ["a cancelled job ends", aborted(new JobCancelledError("stop")), {}, finished({ outcome: "cancelled" })],
    ["a lost lease tells nothing", aborted(new LeaseLostError("lost")), {}, null],
    [
      "a scheduler that stops gives the job up",
      aborted(new SchedulerStateError("stops")),
      {},
      { ...lease, kind: "giveUp", hasStarted: true },
    ],
    [
      "a scheduler that stops gives up a job that has not started",
      aborted(new SchedulerStateError("stops")),
      { startedAt: null },
      { ...lease, kind: "giveUp", hasStarted: false },
    ],
    [
      "a result that is not to be kept expires at once",
      { kind: "returned", returnValue: null },
      { job: { ...job, fireTime: null, resultExpirationMs: 0 } },
      { ...lease, kind: "finish", result: { ...result, expiresAt: NOW } },
    ],
    [
      "a failed attempt comes after those before it",
      threw(boom),
      { job: { ...job, failedAttempts: 1, attemptHistory: [earlier] } },
      { ...retried, attemptHistory: [earlier, expect.objectContaining(attempt)] },
    ],
    [
      "the result keeps the failed attempts, and the progress that the handler told last",
      { kind: "returned", returnValue: null },
      {
        job: { ...job, attemptHistory: [earlier], progress: { fraction: 0, note: "old" } },
        progress: { fraction: 1, note: "new" },
      },
      finished({ attemptHistory: [earlier], progress: { fraction: 1, note: "new" } }),
    ],
    [
      "the result keeps the progress of an earlier attempt, when the last one told none",
      { kind: "returned", returnValue: null },
      { job: { ...job, progress: { fraction: 0, note: "old" } } },
      finished({ progress: { fraction: 0, note: "old" } }),
    ],
  ])("%s", (_, ending, changes, release) => {
    expect(attemptOutcome({ ...facts, ...changes }, ending).release).toEqual(release);
  });

  test("listeners hear of the error that is kept, and of the one that is tried again", () => {
    expect(attemptOutcome(facts, threw(boom)).error).toEqual(boomRecord);
    expect(attemptOutcome(facts, threw(boom, true)).error).toEqual(boomRecord);
    expect(attemptOutcome(facts, { kind: "returned", returnValue: null }).error).toBeNull();
    expect(attemptOutcome(facts, aborted(new LeaseLostError("lost"))).error).toBeNull();
  });
});
