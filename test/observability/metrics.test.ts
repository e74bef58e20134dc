import parsePrometheusTextFormat from "parse-prometheus-text-format";
import { describe, expect, test } from "vitest";
import type { DataStore } from "../../src/contracts.ts";
import { type JobContext, LocalEventBroker, MemoryDataStore, OptionsError } from "../../src/mod.ts";
import { Metrics } from "../../src/observability/metrics/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, heldHandler, leaseAndDie, START, START_MS, secondsOf } from "../scheduler/support.ts";
import { samples, setUpWatched } from "./support.ts";

describe("the metrics of a scheduler", () => {
  test("count fires, the jobs that end by outcome, and the attempts that fail", async () => {
    const { scheduler, clock, metrics } = setUpWatched();
    const retry = { maxAttempts: 2, backoff: { jitter: "none" } } as const;
    scheduler.task("report", () => {});
    scheduler.task("pay", { retry }, () => {
      throw new Error("no such account");
    });
    await scheduler.addSchedule("report", everySecond(), { id: "s" });
    await scheduler.addJob("pay");
    await scheduler.start();
    await clock.advance("PT2S");
    await scheduler.runScheduleNow("s");
    await clock.advance("PT0.5S");
    expect(samples(await metrics.text(), "fires_total", "jobs_finished", "attempts_failed")).toEqual({
      'fires_total{task="report"}': 3,
      'jobs_finished_total{task="report",outcome="success"}': 4,
      'jobs_finished_total{task="pay",outcome="error"}': 1,
      'attempts_failed_total{task="pay"}': 2,
    });
  });

  test("tell how late fires and starts were, how long jobs waited, and how long attempts took", async () => {
    const { scheduler, clock, metrics } = setUpWatched({ maxConcurrentJobs: 1 });
    const { handler, held } = heldHandler();
    scheduler.task("slow", handler);
    await scheduler.addSchedule("slow", everySecond(), { id: "s", catchUp: { maxCount: 1 } });
    await clock.advance("PT3S");
    await scheduler.start();
    await clock.advance("PT0.5S");
    held[0]?.finish("done");
    await scheduler.pauseSchedule("s");
    await clock.advance("PT1S");
    const names = ["fire_delay", "start_lateness", "queue_wait", "job_duration"];
    const text = await metrics.text();
    expect(samples(text, "fires_total", ...names)).toEqual({
      'fires_total{task="slow"}': 1,
      'fire_delay_seconds_sum{task="slow"}': 0,
      'fire_delay_seconds_count{task="slow"}': 1,
      'start_lateness_seconds_sum{task="slow"}': 0,
      'start_lateness_seconds_count{task="slow"}': 1,
      'queue_wait_seconds_sum{task="slow"}': 0,
      'queue_wait_seconds_count{task="slow"}': 1,
      'job_duration_seconds_sum{task="slow"}': 0.5,
      'job_duration_seconds_count{task="slow"}': 1,
    });
  });

  test("count the fire times that made no job of their own, by reason", async () => {
    const { scheduler, clock, metrics } = setUpWatched();
    const { handler } = heldHandler();
    scheduler.task("slow", { overlap: "skip" }, handler);
    scheduler.task("late", () => {});
    await scheduler.addSchedule("late", everySecond(), { id: "late", coalesce: "latest" });
    await clock.advance("PT4S");
    await scheduler.addSchedule("slow", everySecond(), { id: "slow" });
    await scheduler.start();
    await clock.advance("PT2S");
    expect(samples(await metrics.text(), "occurrences_skipped")).toEqual({
      'occurrences_skipped_total{task="late",reason="coalesced"}': 4,
      'occurrences_skipped_total{task="slow",reason="coalesced"}': 4,
      'occurrences_skipped_total{task="slow",reason="overlap"}': 2,
    });
  });

  test("count the fire times that catching up leaves out, by reason", async () => {
    const { scheduler, clock, metrics } = setUpWatched();
    scheduler.task("t", () => {});
    const catchUp = { maxAge: "5s", maxCount: 2 };
    await scheduler.addSchedule("t", everySecond(), { id: "s", coalesce: "all", catchUp });
    const skipped: unknown[] = [];
    scheduler.subscribe("occurrenceSkipped", ({ fireTime, count, reason, jobId }) => {
      skipped.push([secondsOf(fireTime), count, reason, jobId]);
    });
    await clock.advance("PT10S");
    await scheduler.start();
    await clock.advance("PT0.5S");
    expect(samples(await metrics.text(), "occurrences_skipped")).toEqual({
      'occurrences_skipped_total{task="t",reason="tooOld"}': 5,
      'occurrences_skipped_total{task="t",reason="overCount"}': 4,
    });
    expect(skipped).toEqual([
      [4, 5, "tooOld", null],
      [8, 4, "overCount", null],
    ]);
  });

  test("count jobs that are recovered and leases that are lost", async () => {
    const dataStore = new MemoryDataStore();
    const { scheduler, clock, metrics } = setUpWatched({ dataStore, leaseDuration: "30s" });
    const untilAborted = (_: unknown, { signal }: JobContext): Promise<never> =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    scheduler.task("t", { maxRunningJobs: null }, untilAborted);
    await scheduler.addJob("t");
    await leaseAndDie(dataStore, START_MS);
    await scheduler.start();
    await clock.advance("PT2M");
    const { id } = await scheduler.addJob("t");
    await clock.advance("PT1S");
    // Somebody takes the lease away, as a scheduler does that finds the lease ended.
    await dataStore.giveUpLeases({
      now: clock.now(),
      schedulerId: scheduler.identity,
      instanceId: "another",
      aliveUntil: null,
      isAlone: true,
    });
    await clock.advance("PT1M");
    expect(id).toBeTypeOf("string");
    expect(samples(await metrics.text(), "jobs_recovered", "leases_lost")).toEqual({
      'jobs_recovered_total{task="t"}': 1,
      'leases_lost_total{task="t"}': 2,
    });
  });

  test("of processes on one store add up to what happened, although each hears of everything", async () => {
    const shared = { dataStore: new MemoryDataStore(), eventBroker: new LocalEventBroker() };
    const clock = new VirtualClock(START);
    const a = setUpWatched({ ...shared, clock, maxConcurrentJobs: 1 });
    const b = setUpWatched({ ...shared, clock, maxConcurrentJobs: 1 });
    for (const { scheduler } of [a, b]) scheduler.task("t", { maxRunningJobs: null }, () => {});
    await a.scheduler.addJobs(Array.from({ length: 20 }, () => ({ task: "t" })));
    await Promise.all([a.scheduler.start(), b.scheduler.start()]);
    await clock.advance("PT1S");
    const ended = await Promise.all([a, b].map(async ({ metrics }) => samples(await metrics.text(), "jobs_finished")));
    const counts = ended.map((sample) => sample['jobs_finished_total{task="t",outcome="success"}'] ?? 0);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
  });

  test("of several schedulers on one store object are counted by one object", async () => {
    const metrics = new Metrics();
    const options = { metrics, dataStore: new MemoryDataStore(), clock: new VirtualClock(START) };
    const first = setUpWatched({ ...options, role: "scheduler" });
    const second = setUpWatched(options);
    for (const { scheduler } of [first, second]) scheduler.task("t", () => {});
    await Promise.all([first.scheduler.start(), second.scheduler.start()]);
    await first.scheduler.addJob("t");
    await options.clock.advance("PT1S");
    expect(samples(await metrics.text(), "jobs_finished")).toEqual({
      'jobs_finished_total{task="t",outcome="success"}': 1,
    });
  });

  test("label the first 200 tasks, and put the rest together", async () => {
    const { scheduler, metrics } = setUpWatched();
    const ids = Array.from({ length: 203 }, (_, index) => `t${index}`);
    for (const id of ids) scheduler.task(id, () => {});
    await scheduler.addJobs(ids.map((task) => ({ task })));
    await drain(scheduler);
    const finished = samples(await metrics.text(), "jobs_finished");
    expect(Object.keys(finished)).toHaveLength(201);
    expect(finished['jobs_finished_total{task="other",outcome="success"}']).toBe(3);
  });

  test("time the calls of the store by method", async () => {
    const { scheduler, metrics } = setUpWatched();
    scheduler.task("t", () => {});
    await scheduler.addJob("t");
    await scheduler.getJobs();
    await scheduler.getJobs();
    const requests = samples(await metrics.text(), "store_request");
    expect(requests).toMatchObject({
      'store_request_seconds_count{operation="getJobs"}': 2,
      'store_request_seconds_count{operation="open"}': 1,
    });
  });
});

describe("the gauges of a scheduler", () => {
  test("tell of the store: jobs and schedules by state, what is overdue, and that it answers", async () => {
    const { scheduler, clock, metrics } = setUpWatched({ maxConcurrentJobs: 1 });
    const { handler } = heldHandler();
    scheduler.task("t", { maxRunningJobs: 1 }, handler);
    scheduler.task("keyed", { maxRunningPerKey: 1, maxRunningJobs: null }, handler);
    await scheduler.addJobs([{ task: "t" }, { task: "t" }, { task: "t" }]);
    await scheduler.start();
    await clock.advance("PT1S");
    await scheduler.addJobs([1, 2].map(() => ({ task: "keyed", concurrencyKey: "k" })));
    await scheduler.addSchedule("t", "0 9 * * *", { id: "a" });
    await scheduler.addSchedule("t", "0 9 * * *", { id: "b", paused: true });
    await clock.advance("PT1.5S");
    expect(samples(await metrics.text(), "jobs{", "schedules", "oldest", "store_up")).toEqual({
      store_up: 1,
      'jobs{task="keyed",state="queued"}': 1,
      'jobs{task="keyed",state="blocked"}': 1,
      'jobs{task="keyed",state="running"}': 0,
      'jobs{task="t",state="queued"}': 2,
      'jobs{task="t",state="blocked"}': 0,
      'jobs{task="t",state="running"}': 1,
      oldest_due_job_seconds: 2.5,
      'schedules{state="active"}': 1,
      'schedules{state="paused"}': 1,
      'schedules{state="ended"}': 0,
      schedules_overdue: 0,
    });
  });

  test("tell of what is overdue, and count what was", async () => {
    const { scheduler, clock, metrics } = setUpWatched({ role: "worker" });
    scheduler.task("t", () => {});
    await scheduler.start();
    await scheduler.addSchedule("t", "0 * * * *", { id: "s", expectStartWithin: "1m" });
    await clock.advance("PT1H2M");
    expect(samples(await metrics.text(), "occurrences_overdue", "occurrence_alarms")).toEqual({
      'occurrence_alarms_total{task="t",kind="start"}': 1,
      occurrences_overdue: 1,
    });
  });

  test("are left out before a scheduler has opened the store, and once the last has closed it", async () => {
    const { scheduler, metrics } = setUpWatched();
    expect(samples(await metrics.text(), "store_up", "jobs{")).toEqual({});
    await scheduler.getJobs();
    expect(samples(await metrics.text(), "store_up")).toEqual({ store_up: 1 });
    await scheduler.stop();
    expect(samples(await metrics.text(), "store_up", "jobs{")).toEqual({});
  });

  test("say of a store that fails, or does not answer for 5 s, that it is down", async () => {
    const dataStore = new MemoryDataStore();
    const { scheduler, clock, metrics } = setUpWatched({ dataStore });
    await scheduler.getJobs();
    const { inspect } = MemoryDataStore.prototype;
    dataStore.inspect = () => Promise.reject(new Error("gone"));
    expect(samples(await metrics.text(), "store_up", "jobs{", "schedules")).toEqual({ store_up: 0 });
    dataStore.inspect = () => new Promise(() => {});
    const text = metrics.text();
    await clock.advance("PT5S");
    expect(samples(await text, "store_up")).toEqual({ store_up: 0 });
    dataStore.inspect = inspect;
    expect(samples(await metrics.text(), "store_up")).toEqual({ store_up: 1 });
  });
});

describe("the text of metrics", () => {
  test("is read by a parser of others, whatever the names of tasks", async () => {
    const { scheduler, clock, metrics } = setUpWatched();
    const names = ['a "quoted" name', "back\\slash", "two\nlines", "ключ", "plain"];
    for (const name of names) scheduler.task(name, () => {});
    await scheduler.addSchedule("plain", everySecond(), { id: "s" });
    await scheduler.addJobs(names.map((task) => ({ task })));
    await scheduler.start();
    await clock.advance("PT1S");
    const families = parsePrometheusTextFormat(await metrics.text());
    expect(families.map(({ name, type }) => `${type} ${name}`)).toEqual([
      "COUNTER escapement_fires_total",
      "COUNTER escapement_occurrences_skipped_total",
      "COUNTER escapement_occurrence_alarms_total",
      "COUNTER escapement_jobs_finished_total",
      "COUNTER escapement_attempts_failed_total",
      "COUNTER escapement_jobs_recovered_total",
      "COUNTER escapement_steps_finished_total",
      "COUNTER escapement_jobs_slept_total",
      "COUNTER escapement_leases_lost_total",
      "HISTOGRAM escapement_fire_delay_seconds",
      "HISTOGRAM escapement_queue_wait_seconds",
      "HISTOGRAM escapement_start_lateness_seconds",
      "HISTOGRAM escapement_job_duration_seconds",
      "HISTOGRAM escapement_store_request_seconds",
      "GAUGE escapement_store_up",
      "GAUGE escapement_jobs",
      "GAUGE escapement_oldest_due_job_seconds",
      "GAUGE escapement_occurrences_overdue",
      "GAUGE escapement_counts_capped",
      "GAUGE escapement_schedules",
      "GAUGE escapement_schedules_overdue",
    ]);
    const finished = families.find(({ name }) => name === "escapement_jobs_finished_total")?.metrics ?? [];
    expect(finished.map(({ labels }) => labels?.task).sort()).toEqual([...names].sort());
  });

  test("puts each duration into every bucket whose bound is not below it", async () => {
    const { scheduler, clock, metrics } = setUpWatched();
    scheduler.task("t", () => {});
    await scheduler.addJobs([{ task: "t" }, { task: "t", runAt: at(7000) }]);
    await clock.advance("PT0.025S");
    await drain(scheduler);
    await clock.advance("PT10H");
    await drain(scheduler);
    // Without the comments, which have the types, because the parser puts the histograms of all labels together.
    const untyped = (await metrics.text()).replaceAll(/^#.*\n/gm, "");
    const families = parsePrometheusTextFormat(untyped).filter(({ name }) => name.startsWith("escapement_queue_wait"));
    const told = families.map(({ name, metrics: series }) => [
      name.replace("escapement_queue_wait_seconds_", ""),
      ...series.map(({ labels, value }) => `${labels?.task} ${labels?.le ?? ""} ${value}`),
    ]);
    const bounds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200];
    expect(told).toEqual([
      ["bucket", "t 0.005 0", "t 0.01 0", ...bounds.map((bound) => `t ${bound} 1`), "t +Inf 2"],
      ["sum", "t  29000.05"],
      ["count", "t  2"],
    ]);
  });

  test("has its media type beside it", () => {
    expect(new Metrics().contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  });
});

describe("watch", () => {
  test("takes a store that is a frozen object, and leaves absent what the store lacks", async () => {
    const memory = new MemoryDataStore();
    const own = { serializer: memory.serializer, getTasks: () => memory.getTasks() };
    const { dataStore } = new Metrics().watch({ dataStore: Object.freeze(own) as unknown as DataStore });
    expect(await dataStore.getTasks()).toEqual([]);
    expect(["getTasks" in dataStore, "prepareAddition" in dataStore]).toEqual([true, false]);
    expect([dataStore.serializer, dataStore.prepareAddition]).toEqual([memory.serializer, undefined]);
  });

  test("refuses to watch no store, and to watch a second one", () => {
    const metrics = new Metrics();
    expect(() => metrics.watch({} as { dataStore: DataStore })).toThrow(
      refusal(
        "must be given, because the store is what is watched; where there is no database, pass new MemoryDataStore()",
      ),
    );
    const watched = metrics.watch({ dataStore: new MemoryDataStore() });
    expect(metrics.watch(watched)).toEqual(watched);
    expect(() => metrics.watch({ dataStore: new MemoryDataStore() })).toThrow(
      refusal("must be that of the earlier call; make a Metrics for each store"),
    );
  });
});

function refusal(message: string): OptionsError {
  return new OptionsError(`watch(): dataStore ${message}`, [{ path: "dataStore", message }]);
}
