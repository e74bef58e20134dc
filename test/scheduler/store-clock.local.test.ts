import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import {
  IntervalTrigger,
  MemoryDataStore,
  Scheduler,
  type SchedulerOptions,
  StoreUnavailableError,
} from "../../src/mod.ts";
import { PostgresDataStore } from "../../src/postgres.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { Sqld } from "../support/sqld.ts";
import { gate, heldHandler, recordingLogger, rejectionOf } from "./support.ts";

const YEAR = 365 * 24 * 3_600_000;

/** The clock of a host, which may be set. */
class HostClock implements Clock {
  aheadMs = 0;
  readonly every = systemClock.every;
  readonly yield = systemClock.yield;

  now(): number {
    return systemClock.now() + this.aheadMs;
  }

  sleep(untilMs: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(untilMs - this.aheadMs, signal);
  }
}

let postgres: PostgresServer;
let pool: pg.Pool;
let sqld: Sqld;
beforeAll(async () => {
  [postgres, sqld] = await Promise.all([PostgresServer.start(), Sqld.start()]);
  pool = new pg.Pool({ connectionString: postgres.url });
});
afterAll(async () => {
  await pool?.end();
  await Promise.all([postgres?.stop(), sqld?.stop()]);
});

let count = 0;
const STORES: readonly (readonly [string, (place: string) => DataStore])[] = [
  ["PostgreSQL", (schema) => new PostgresDataStore({ client: pool }, { schema })],
  ["sqld", (tablePrefix) => new LibsqlDataStore({ url: sqld.httpUrl }, { tablePrefix: `${tablePrefix}_` })],
];

describe.each(STORES)("on %s", (_name, openStore) => {
  /** Hosts on a store of their own. */
  function hosts() {
    const place = `clock_${++count}`;
    const host = (more: Partial<SchedulerOptions> = {}) => {
      const clock = new HostClock();
      const dataStore = openStore(place);
      const { logger, entries } = recordingLogger();
      const scheduler = new Scheduler({
        ...{ clock, dataStore, logger, maxIdle: { milliseconds: 100 }, leaseDuration: { seconds: 10 } },
        ...more,
      });
      const ran: string[] = [];
      scheduler.task("t", (_payload, { job }) => {
        ran.push(job.id);
      });
      onTestFinished(() => scheduler.stop({ drainTimeout: "PT0S" }));
      const next = (type: "schedulerPaused" | "schedulerResumed" | "jobReleased") =>
        new Promise<unknown>((resolve) => scheduler.subscribe([type], resolve));
      /** Resolves when the host has looked so many times. */
      const looks = async (times: number) => {
        const seen = gate();
        const look = dataStore.look.bind(dataStore);
        let left = times;
        dataStore.look = async (request) => {
          const report = await look(request);
          if (--left === 0) seen.pass();
          return report;
        };
        await seen.passed;
      };
      return { clock, scheduler, ran, log: entries, next, looks };
    };
    return { host };
  }

  test.each([
    ["five years ahead", () => 5 * YEAR, /is \d+ s ahead of the store's/],
    ["in 1970", () => -systemClock.now(), /is \d+ s behind the store's/],
    ["a minute ahead", () => 60_000, /is \d+ s ahead of/],
    ["a minute behind", () => -60_000, /is \d+ s behind/],
  ])("a host that is %s begins nothing, and goes on when its clock is set", async (_case, aheadMs, text) => {
    const { host } = hosts();
    const right = host({ role: "scheduler" });
    await right.scheduler.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "hourly" });
    await right.scheduler.addSchedule("t", new IntervalTrigger({ milliseconds: 200 }), { id: "due" });
    await right.scheduler.addJob("t");
    const wrong = host();
    wrong.clock.aheadMs = aheadMs();
    const paused = wrong.next("schedulerPaused");
    const before = (await right.scheduler.getSchedules()).items.map(({ nextFireTime }) => String(nextFireTime));
    await wrong.scheduler.start();
    expect(await paused).toMatchObject({ type: "schedulerPaused", reason: expect.stringMatching(text) });
    await wrong.looks(4);
    expect((await right.scheduler.getSchedules()).items.map(({ nextFireTime }) => String(nextFireTime))).toEqual(
      before,
    );
    expect(wrong.ran).toEqual([]);
    const warned = () => wrong.log.filter(({ message }) => text.test(message));
    expect(warned().map(({ level }) => level)).toEqual(["warn"]);
    const health = await wrong.scheduler.health();
    expect(health.storeWarnings.find(({ code }) => code === "clockSkew")?.message).toMatch(text);
    const past = { from: new Date(0), until: new Date(1) };
    for (const refused of [
      () => wrong.scheduler.backfill("due", past),
      () => wrong.scheduler.cleanup(),
      () => wrong.scheduler.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "new" }),
    ]) {
      const error = await rejectionOf(refused());
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(String(error)).toMatch(text);
    }
    const resumed = wrong.next("schedulerResumed");
    const released = wrong.next("jobReleased");
    wrong.clock.aheadMs = 0;
    await resumed;
    await released;
    expect(wrong.ran.length).toBeGreaterThan(0);
  });

  test("a host whose clock is set while it works tells of what ends, and moves nothing", async () => {
    const { host } = hosts();
    const { scheduler, clock, next, log } = host();
    const { handler, held } = heldHandler();
    scheduler.task("held", handler);
    await scheduler.addSchedule("t", new IntervalTrigger({ milliseconds: 200 }), { id: "due" });
    const fired = next("jobReleased");
    await scheduler.start();
    const { id } = await scheduler.addJob("held");
    await fired;
    while (held.length === 0) await systemClock.yield();
    const paused = next("schedulerPaused");
    clock.aheadMs = 10 * YEAR;
    await paused;
    const { nextFireTime } = await scheduler.getSchedule("due");
    expect(Number(nextFireTime?.epochMilliseconds)).toBeLessThan(clock.now() - 9 * YEAR);
    const ended = scheduler.getJobResult(id, { wait: true });
    held[0]?.finish("done");
    expect(await ended).toMatchObject({ outcome: "success" });
    const resumed = next("schedulerResumed");
    clock.aheadMs = 0;
    await resumed;
    await next("jobReleased");
    expect(log.filter(({ message }) => message.includes("agrees with the store's again"))).toHaveLength(1);
  });

  test("a tick on a host that is years ahead fires nothing, and the next one of a right clock does", async () => {
    const { host } = hosts();
    const right = host();
    await right.scheduler.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "hourly" });
    const { nextFireTime } = await right.scheduler.getSchedule("hourly");
    await right.scheduler.addJob("t");
    const wrong = host();
    wrong.clock.aheadMs = 9 * YEAR;
    expect(String(await rejectionOf(wrong.scheduler.tick()))).toMatch(/ahead of the store's.*NTP/);
    expect(wrong.ran).toEqual([]);
    expect(String((await right.scheduler.getSchedule("hourly")).nextFireTime)).toBe(String(nextFireTime));
    wrong.clock.aheadMs = 0;
    expect(await wrong.scheduler.tick()).toMatchObject({ jobsRun: 2 });
  });
});

test("without a server a lone host is believed", async () => {
  const clock = new HostClock();
  clock.aheadMs = YEAR;
  await using scheduler = new Scheduler({ clock, dataStore: new MemoryDataStore(), logLevel: "silent" });
  scheduler.task("t", () => {});
  await scheduler.addJob("t");
  expect(await scheduler.tick()).toMatchObject({ jobsRun: 1 });
});
