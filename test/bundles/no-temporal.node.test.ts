import { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stagePackage } from "../package/stage.ts";
import { bundleWorker } from "./bundle.ts";

const WORKER = `
import { CronTrigger, IntervalTrigger, MemoryDataStore } from "escapement";
import { Scheduler } from "escapement/scheduler";

function fireTimes(trigger, count, fromMs) {
  const times = [];
  for (let ms = fromMs; times.length < count; times.push(new Date(ms).toISOString())) ms = trigger.nextMs(ms);
  return times;
}

async function ticks() {
  let nowMs = Date.parse("2030-03-30T07:00:00Z");
  const clock = { now: () => nowMs, sleep: async () => {}, yield: async () => {} };
  const logged = [];
  const note = (...parts) => logged.push(String(parts[0]));
  const logger = { debug: note, info: note, warn: note, error: note };
  const dataStore = new MemoryDataStore();
  const scheduler = new Scheduler({ dataStore, clock, logger, timeZone: "Europe/Berlin", leaseDuration: { minutes: 1 } });
  const runs = [];
  const noteFire = (_, { job }) => void runs.push(JSON.parse(JSON.stringify(job)).fireTime);
  await scheduler.schedule("daily", "0 9 * * *", { misfireGraceTime: "1h" }, noteFire);
  const every = new IntervalTrigger({ days: 1, startTime: "2030-03-30T07:00:00Z" });
  await scheduler.schedule("failing", every, { resultExpirationTime: "7d" }, () => { throw new Error("on purpose"); });
  for (let day = 0; day < 3; day++) {
    const report = await scheduler.tick();
    runs.push([report.schedulesProcessed, report.jobsRun, report.outcomes.error]);
    nowMs += 86_400_000;
  }
  const { items } = await scheduler.getSchedules();
  const schedules = items.map((schedule) => JSON.parse(JSON.stringify(schedule)));
  const health = JSON.parse(JSON.stringify(await scheduler.health()));
  const failed = (await scheduler.getJobResults()).items.map((result) => result.toJSON().finishedAt).sort();
  await scheduler.stop();
  const next = Object.fromEntries(schedules.map(({ id, nextFireTime }) => [id, nextFireTime]));
  return { runs, next, checkedAt: health.checkedAt, failed, logged: logged.filter((line) => /Temporal/.test(line)) };
}

export default {
  async fetch() {
    const from = Date.parse("2030-03-29T12:00:00Z");
    const utc = CronTrigger.fromCrontab("0 9 * * *");
    const berlin = CronTrigger.fromCrontab("30 2 * * *", { timeZone: "europe/berlin", startTime: "2030-03-01T00:00:00Z" });
    let missing;
    try {
      berlin.next();
    } catch (error) {
      missing = [error.name, error.code, error.message.split(":")[0]];
    }
    return Response.json({
      utc: fireTimes(utc, 2, from),
      berlin: fireTimes(berlin, 3, from),
      json: berlin.toJSON(),
      ticks: await ticks(),
      missing,
    });
  },
};
`;

let stage: Awaited<ReturnType<typeof stagePackage>> | undefined;
let worker: Miniflare | undefined;
beforeAll(async () => {
  stage = await stagePackage();
  const { code, wasm } = await bundleWorker(WORKER, { stage: stage.path, isMinified: false, withoutTemporal: true });
  worker = new Miniflare({
    compatibilityDate: "2026-04-26",
    modules: [
      { type: "ESModule", path: "worker.js", contents: code },
      ...[...wasm].map(([path, contents]) => ({
        type: "CompiledWasm" as const,
        path,
        contents: Uint8Array.from(contents),
      })),
    ],
  });
});
afterAll(async () => {
  await worker?.dispose();
  await stage?.[Symbol.asyncDispose]();
});

test("a Worker without temporal-polyfill fires in UTC and Berlin, ticks, and says what needs Temporal", async () => {
  const answer = await worker?.dispatchFetch("http://worker/");
  const body = (await answer?.text()) ?? "";
  if (!body.startsWith("{")) throw new Error(body);
  const report: unknown = JSON.parse(body);
  expect(report).toEqual({
    utc: ["2030-03-30T09:00:00.000Z", "2030-03-31T09:00:00.000Z"],
    // On the 31st the clock goes from 02:00 to 03:00.
    berlin: ["2030-03-30T01:30:00.000Z", "2030-03-31T01:00:00.000Z", "2030-04-01T00:30:00.000Z"],
    json: {
      type: "cron",
      version: 1,
      expression: "30 2 * * *",
      timeZone: "Europe/Berlin",
      startTime: "2030-03-01T00:00:00Z",
    },
    ticks: {
      runs: [[1, 1, 1], "2030-03-31T07:00:00Z", [2, 2, 1], "2030-04-01T07:00:00Z", [2, 2, 1]],
      next: { daily: "2030-04-02T07:00:00Z", failing: "2030-04-02T07:00:00Z" },
      checkedAt: "2030-04-02T07:00:00Z",
      failed: ["2030-03-30T07:00:00Z", "2030-03-31T07:00:00Z", "2030-04-01T07:00:00Z"],
      logged: [],
    },
    missing: [
      "TemporalMissingError",
      "temporalMissing",
      'Temporal.ZonedDateTime is needed here, and the import "temporal-polyfill" is missing',
    ],
  });
});
