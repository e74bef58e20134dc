import { createClient } from "@libsql/client/web";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { IntervalTrigger, Scheduler, type SchedulerOptions, type Task } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { sharedSqld } from "../support/shared-sqld.ts";

// Runs on Node and inside workerd.

let server: Awaited<ReturnType<typeof sharedSqld>>;
const used: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  server = await sharedSqld();
});
afterEach(async () => {
  for (const scheduler of used.splice(0)) await scheduler.stop();
});
afterAll(() => server?.stop());

/** What an invocation of a platform may fetch, and what its database did. */
class Subrequests {
  count = 0;
  rowsWritten = 0;
  readonly #max: number;

  constructor(max: number = Number.POSITIVE_INFINITY) {
    this.#max = max;
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    this.use();
    const response = await fetch(request);
    const text = await response.clone().text();
    for (const [, rows] of text.matchAll(/"rows_written":(\d+)/g)) this.rowsWritten += Number(rows);
    return response;
  };

  /** As Workers refuse a subrequest beyond their limit. */
  use(): void {
    if (++this.count > this.#max) throw new Error("Too many subrequests.");
  }

  reset(): void {
    this.count = 0;
    this.rowsWritten = 0;
  }
}

/** A scheduler as a new isolate has it. */
function isolate(database: string, requests: Subrequests, options: SchedulerOptions = {}): Scheduler {
  const client = createClient({ url: server.url, fetch: requests.fetch });
  const dataStore = new LibsqlDataStore({ client }, { tablePrefix: `${database}_` });
  const scheduler = new Scheduler({ dataStore, logLevel: "error", ...options });
  used.push(scheduler);
  return scheduler;
}

describe("requests of a tick to the database", () => {
  test("of an idle tick: one, which writes no row, in a new isolate and in an old one", async () => {
    const requests = new Subrequests();
    const first = isolate("idle", requests);
    first.task("t", () => {});
    await first.addSchedule("t", new IntervalTrigger({ hours: 1, firstRun: "afterInterval" }), { id: "s" });
    await first.tick();
    const scheduler = isolate("idle", requests);
    scheduler.task("t", () => {});
    for (let times = 0; times < 2; times++) {
      requests.reset();
      const report = await scheduler.tick();
      expect([report.roundTrips, requests.count, requests.rowsWritten]).toEqual([1, 1, 0]);
    }
    requests.reset();
    await isolate("idle", requests).nextWakeAt();
    expect([requests.count, requests.rowsWritten]).toEqual([1, 0]);
  });

  test("of a tick that fires: three", async () => {
    const requests = new Subrequests();
    const clock = new VirtualClock("2030-01-01T00:00:00Z");
    const first = isolate("fires", requests, { clock });
    first.task("t", () => {});
    await first.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "s" });
    await first.tick();
    const scheduler = isolate("fires", requests, { clock });
    scheduler.task("t", () => {});
    for (let times = 0; times < 2; times++) {
      await clock.advance({ hours: 1 });
      requests.reset();
      expect(await scheduler.tick()).toMatchObject({ jobsRun: 1, roundTrips: 3 });
      expect(requests.count).toBe(3);
    }
  });

  test("of a tick that runs twenty jobs of one task: 22", async () => {
    const requests = new Subrequests();
    const scheduler = isolate("twenty", requests);
    const task = scheduler.task("t", { maxRunningJobs: 1 }, () => {});
    await scheduler.addJobs(Array.from({ length: 20 }, () => ({ task })));
    requests.reset();
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 20, roundTrips: 22 });
    expect(requests.count).toBe(22);
  });
});

describe("a platform that refuses the 51st request of an invocation", () => {
  for (const [name, perJob, maxRoundTrips] of [
    ["runs no job twice", 0, 50],
    ["runs no job twice, also where its handlers fetch, and room is left for them", 1, 25],
  ] as const) {
    test(name, async () => {
      const database = `limit${perJob}`;
      const runs = new Map<string, number>();
      let requests = new Subrequests();
      const register = (scheduler: Scheduler): Task =>
        scheduler.task("t", (_, { job }) => {
          runs.set(job.id, (runs.get(job.id) ?? 0) + 1);
          for (let left = perJob; left > 0; left--) requests.use();
        });
      const first = isolate(database, requests);
      const task = register(first);
      await first.addJobs(Array.from({ length: 100 }, () => ({ task })));
      const trips: number[] = [];
      for (let exhausted = true; exhausted; ) {
        requests = new Subrequests(50);
        const scheduler = isolate(database, requests);
        register(scheduler);
        const report = await scheduler.tick({ maxRoundTrips });
        expect(report.roundTrips + perJob * report.jobsRun).toBe(requests.count);
        trips.push(report.roundTrips);
        exhausted = report.exhausted;
      }
      expect(Math.max(...trips)).toBeLessThanOrEqual(maxRoundTrips);
      expect([runs.size, Math.max(...runs.values())]).toEqual([100, 1]);
      const outcomes: string[] = [];
      for await (const { outcome } of first.getJobResults()) outcomes.push(outcome);
      expect(outcomes).toEqual(Array.from({ length: 100 }, () => "success"));
    });
  }
});
