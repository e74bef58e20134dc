import { expect } from "vitest";
import { CronTrigger, IntervalTrigger } from "../../src/cron.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import {
  idsOf,
  makeJob,
  makeResult,
  makeSchedule,
  makeTask,
  release,
  T0,
  take,
} from "../../src/testing/data-store-contract/makers.ts";
import { type ExportOptions, exportStore, importStore } from "../../src/transfer/mod.ts";
import { ruleKey } from "../../src/triggers/trigger.ts";

/** A schedule whose trigger can be read, which those of the contract's makers cannot. */
export function readableSchedule(fields: Parameters<typeof makeSchedule>[0] = {}): ReturnType<typeof makeSchedule> {
  const trigger = new IntervalTrigger({ hours: 1, startTime: new Date(T0) });
  return makeSchedule({ trigger: JSON.stringify(trigger), triggerRule: ruleKey(trigger), ...fields });
}

/** Fills a store with records of every kind that have every field. */
export async function fill(store: DataStore): Promise<void> {
  const cron = new CronTrigger("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
  await store.putTasks([
    makeTask({ id: "plain" }),
    makeTask({
      ...{ id: "limited", executor: "worker", maxRunningJobs: 3, misfireGraceMs: 5, timeoutMs: 7, overlap: "skip" },
      ...{ metadata: { owner: "a 😀", none: null }, maxRunningPerKey: 2, fair: true, declaration: "hash", version: 4 },
      rateLimit: { limit: 5, perMs: 1000, burst: 2 },
    }),
    makeTask({ id: "running" }),
  ]);
  await store.pauseTask({ taskId: "plain", key: null, paused: true, now: T0 });
  const until = T0 + 1e12;
  await store.pauseTask({
    taskId: "limited",
    key: "a key",
    paused: true,
    now: T0,
    until,
    reason: "a reason",
    by: "ada",
  });
  const christmas = {
    id: "christmas",
    from: T0 + 9,
    until: T0 + 99,
    missed: "runOnce",
    labels: { team: "a" },
  } as const;
  const sundays = { id: "sundays", trigger: JSON.stringify(cron), durationMs: 7_200_000, taskIds: ["plain"] };
  for (const blackout of [christmas, { ...sundays, missed: "skip", reason: "upgrades", by: "ada 😀" } as const]) {
    const none = { from: null, until: null, trigger: null, durationMs: null, labels: null, taskIds: null };
    await store.addBlackout({
      blackout: { ...none, reason: null, by: null, createdAt: T0, ...blackout },
      conflictPolicy: "error",
    });
  }
  await store.addSchedules(
    [
      readableSchedule({ id: "a", taskId: "plain", payload: '{"n":1}' }),
      readableSchedule({
        ...{ id: "b", taskId: "limited", name: "A name", executor: "worker", priority: -3, coalesce: "all" },
        ...{ trigger: JSON.stringify(cron), triggerRule: ruleKey(cron), zoneRules: "Europe/Berlin 2026 abc" },
        ...{ misfireGraceMs: 1, maxJitterMs: 2, catchUp: { maxAgeMs: null, maxCount: 3, paceMs: 4 }, overlap: "skip" },
        ...{ metadata: { deep: [{ a: 1 }] }, concurrencyKey: "key", expectStartMs: 5, expectFinishMs: 6 },
        ...{ paused: true, pausedUntil: T0 + 1e12, pauseReason: "2 failures in a row", pausedBy: "scheduler" },
        ...{ pauseAfterFailures: 2, failures: 1, labels: { team: "a" } },
        ...{ nextFireTime: null, lastFireTime: T0, paceUntil: T0 + 1, fence: 77, skippedCount: 9 },
        ...{ declaration: "hash", version: 2 },
      }),
      readableSchedule({ id: "😀", taskId: "plain" }),
    ].map((schedule) => ({ schedule, conflictPolicy: "error" as const })),
  );
  await store.addJobs([
    makeJob({ id: "1 waits for 3", taskId: "plain", after: ["3 waits for 5"], onParentFailure: "run" }),
    makeJob({ id: "2", taskId: "limited", payload: "[1,2]", concurrencyKey: "a key", idempotencyKey: "once" }),
    makeJob({ id: "3 waits for 5", taskId: "plain", after: ["5"] }),
    makeJob({
      ...{ id: "4", taskId: "plain", scheduleId: "a", fireTime: T0, scheduledFireTime: T0 + 1, priority: 1.5 },
      ...{ runAt: T0 + 5, startDeadline: T0 + 9, missedCount: 1, firstMissedTime: T0 - 2, lastMissedTime: T0 - 2 },
      ...{ metadata: { a: "b" }, failedAttempts: 1, recoveries: 2, fence: 3, retry: makeTask().retry },
    }),
    makeJob({ id: "5", taskId: "plain" }),
    makeJob({ id: "6 runs", taskId: "running" }),
    makeJob({ id: "7 waits for 6", taskId: "plain", after: ["6 runs"] }),
    makeJob({ id: "8 waits for 7", taskId: "plain", after: ["7 waits for 6"] }),
  ]);
  await store.addJobs([makeJob({ id: "9 sleeps", taskId: "running", priority: -1 })]);
  await store.addJobs([makeJob({ id: "9 has steps", taskId: "running", priority: -2 })]);
  const queues = [{ executor: "inline", taskId: "running" }];
  const { acquired } = await take(store, { queues });
  expect(idsOf(acquired)).toEqual(["6 runs", "9 sleeps", "9 has steps"]);
  const sleep = { step: "wait", snoozes: 0 };
  const { fence = 0 } = acquired[1] ?? {};
  const slept = { kind: "retry", jobId: "9 sleeps", fence, runAt: T0 + 9, failedAttempts: 0, sleep } as const;
  const step = { name: "a", startedAt: T0, endedAt: T0, wakeAt: null, attempts: 1, version: null, cursor: null };
  const lease = {
    now: T0,
    schedulerId: "scheduler-a",
    jobId: "9 has steps",
    fence: acquired[2]?.fence ?? 0,
    until: T0,
  };
  const saved = await store.saveJobStep({ ...lease, number: 1, isFirst: true, step: { ...step, value: "1" } });
  expect(saved.isSaved).toBe(true);
  const { jobId, fence: stepsFence } = lease;
  const failed = { kind: "retry", jobId, fence: stepsFence, runAt: T0 + 9, failedAttempts: 1 } as const;
  expect((await release(store, [slept, failed])).releases).toEqual(["released", "released"]);
  const error = { name: "E", message: "m", cause: { name: "C", message: "c" }, properties: { status: 5 } };
  const kept = { concurrencyKey: "key", after: ["5"], retry: makeTask().retry, payload: "7", metadata: { a: null } };
  const expiresAt = T0 + 1e12;
  await store.restore({
    results: [
      makeResult(makeJob({ id: "done", scheduleId: "a", fireTime: T0 - 9, ...kept }), { expiresAt }),
      makeResult(makeJob({ id: "failed" }), {
        ...{ expiresAt, outcome: "error", error, returnValue: null, startedAt: null, scheduledFireTime: null },
        attemptHistory: [{ number: 1, startedAt: null, finishedAt: T0, error }],
        progress: { fraction: 0.5, note: "half" },
      }),
    ],
    histories: [
      {
        ...{ scheduleId: "a", since: T0 - 100 },
        entries: [
          { kind: "skip", from: T0 - 50, until: T0 - 20, verdict: "paused", count: null, into: null },
          {
            ...{ kind: "run", fireTime: T0 - 9, scheduledFireTime: T0 - 8, jobId: "done", outcome: "success" },
            ...{ createdAt: T0 - 8, startedAt: T0 - 7, finishedAt: T0 - 6, attempts: 2, isKeyed: true },
          },
        ],
      },
    ],
  });
}

/** The text of a store, with all that an export can have unless asked otherwise. */
export async function linesOf(
  store: DataStore,
  options: ExportOptions = { include: ["jobs", "results", "ledger"] },
): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportStore(store, options)) lines.push(line);
  return lines;
}

/** The text of a store, without its first line, which has the time of the export. */
export async function textOf(store: DataStore, options?: ExportOptions): Promise<string[]> {
  return (await linesOf(store, options)).slice(1);
}

/** Exports a full store, imports the text into an empty one, and compares their texts. */
export async function expectRoundTrip(from: DataStore, to: DataStore): Promise<void> {
  await fill(from);
  const lines = await linesOf(from);
  const report = await importStore(to, lines);
  const waiting = { taskId: "plain", scheduleId: null, reason: "waitsForRunning" };
  expect(report).toEqual({
    dryRun: false,
    exportedAt: JSON.parse(lines[0] ?? "").exportedAt,
    tasks: { added: 3, replaced: 0, kept: 0 },
    schedules: { added: 3, replaced: 0, kept: 0 },
    blackouts: { added: 2, replaced: 0, kept: 0 },
    jobs: { added: 5, replaced: 0, kept: 0 },
    results: { added: 2, replaced: 0, kept: 0 },
    occurrences: 2,
    taskPauses: 2,
    notImported: [
      { jobId: "6 runs", taskId: "running", scheduleId: null, reason: "running" },
      { jobId: "7 waits for 6", ...waiting },
      { jobId: "8 waits for 7", ...waiting },
      { jobId: "9 has steps", taskId: "running", scheduleId: null, reason: "running" },
      { jobId: "9 sleeps", taskId: "running", scheduleId: null, reason: "running" },
    ],
  });
  const notThere = /"id":"(6 runs|7 waits for 6|8 waits for 7|9 sleeps|9 has steps)"/;
  const parsed = (text: readonly string[]): unknown[] => text.map((line) => JSON.parse(line));
  expect(parsed(await textOf(to))).toEqual(parsed(lines.slice(1).filter((line) => !notThere.test(line))));
  // The text of the copy says the same as that of the store.
  expect(await importStore(to, lines, { conflictPolicy: "doNothing", dryRun: true })).toMatchObject({
    ...{ tasks: { added: 0, kept: 3 }, schedules: { added: 0, kept: 3 }, jobs: { added: 0, kept: 5 } },
    blackouts: { added: 0, kept: 2 },
  });
}
