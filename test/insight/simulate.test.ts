import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SimulatedOccurrence, SimulateOptions, SimulationFault } from "../../src/insight/mod.ts";
import { simulate } from "../../src/insight/simulate.ts";
import {
  CronTrigger,
  IntervalTrigger,
  MemoryDataStore,
  type NewSchedule,
  Scheduler,
  type TaskSettings,
  Temporal,
} from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { setUp } from "../scheduler/support.ts";

const FROM = "2030-01-01T00:00:00Z";
const day = { from: FROM, until: "2030-01-02T00:00:00Z" };
const at = (minutes: number): string => Temporal.Instant.from(FROM).add({ minutes }).toString();
const hourly = { id: "report", task: "report", trigger: "0 * * * *" } as const;

describe("a simulation", () => {
  test("says what fires, and when it starts", async () => {
    const { occurrences, counts, text } = await simulate({ schedules: [hourly], from: FROM, until: at(121) });
    expect(JSON.parse(JSON.stringify(occurrences))).toEqual(
      [0, 60, 120].map((minutes) => ({
        scheduleId: "report",
        fireTime: at(minutes),
        verdict: "success",
        startedAt: at(minutes),
      })),
    );
    expect(counts).toEqual({ success: 3 });
    expect(text).toBe(
      "From 2030-01-01T00:00:00Z to 2030-01-01T02:01:00Z: 3 fire times.\n3 ran to their end.\nAll runs began in time.",
    );
  });

  test("says what an outage does, with the policies of the schedules", async () => {
    const { counts, text, occurrences } = await simulate({
      schedules: [hourly, { id: "strict", task: "strict", trigger: "30 2 * * *", misfireGraceTime: "5m" }],
      ...day,
      faults: [{ kind: "down", from: at(120), until: at(290) }],
    });
    // 02:00 and 03:00 are made up for by 04:00, which starts when all is up again.
    expect(counts).toEqual({ success: 22, misfired: 1, coalesced: 2 });
    expect(occurrences.find(({ fireTime }) => fireTime.toString() === at(240))?.startedAt?.toString()).toBe(at(290));
    expect(text.split("\n")).toEqual([
      "From 2030-01-01T00:00:00Z to 2030-01-02T00:00:00Z: 25 fire times.",
      "All schedulers are down from 2030-01-01T02:00:00Z to 2030-01-01T04:50:00Z.",
      "22 ran to their end.",
      "1 was too late to start (misfireGraceTime).",
      "2 were missed and made up for by another one (coalesce).",
      "1 began late, the latest:",
      "  report, due at 2030-01-01T04:00:00Z, began 50 min late",
    ]);
  });

  test("says what long runs do, with limits and overlap", async () => {
    const runTimes = { report: "90m" };
    const skipping = await simulate({ schedules: [{ ...hourly, overlap: "skip" }], ...day, runTimes });
    expect(skipping.counts).toEqual({ success: 12, overlapSkipped: 12 });
    const queueing = await simulate({ schedules: [hourly], ...day, runTimes });
    expect(queueing.counts).toEqual({ success: 15, waiting: 9 });
    const tasks = { report: { maxRunningJobs: 2 } };
    expect((await simulate({ schedules: [hourly], ...day, runTimes, tasks })).counts).toMatchObject({ success: 23 });
  });

  test("says what slow runs do for a while", async () => {
    const { counts } = await simulate({
      schedules: [{ ...hourly, overlap: "skip" }],
      ...day,
      faults: [{ kind: "slow", from: at(60), until: at(61), factor: 4 }],
      runTimes: { report: "30m" },
    });
    expect(counts).toEqual({ success: 23, overlapSkipped: 1 });
  });

  test("says what a blackout leaves out", async () => {
    const faults: SimulationFault[] = [{ kind: "blackout", from: at(120), until: at(240) }];
    const { counts, text } = await simulate({ schedules: [hourly], ...day, faults });
    expect(counts).toEqual({ success: 22, blackedOut: 2 });
    expect(text).toContain("A blackout is from 2030-01-01T02:00:00Z to 2030-01-01T04:00:00Z.\n");
  });

  test("has the blackouts and the pauses of a scheduler, and their ends", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", "0 * * * *", { id: "a", labels: { team: "billing" } });
    await scheduler.addSchedule("t", "0 * * * *", { id: "b" });
    await scheduler.pauseSchedule("b", { until: at(150) });
    await scheduler.addBlackout("night", { trigger: "0 2 * * *", duration: "2h", labels: { team: "billing" } });
    const { counts } = await simulate({ scheduler, ...day });
    // At the end of its pause, "b" makes up for the fire times within it, by the one of 02:00.
    expect(counts).toEqual({ success: 44, coalesced: 2, blackedOut: 2 });
  });

  test("knows changes of clocks", async () => {
    const { occurrences } = await simulate({
      schedules: [{ id: "nightly", task: "t", trigger: "30 2 * * *" }],
      timeZone: "Europe/Berlin",
      from: "2027-03-27T00:00:00+01:00",
      until: "2027-03-30T00:00:00+02:00",
    });
    expect(occurrences.map(({ fireTime }) => fireTime.toString())).toEqual([
      "2027-03-27T01:30:00Z",
      "2027-03-28T01:00:00Z",
      "2027-03-29T00:30:00Z",
    ]);
  });

  test("reads a scheduler, with the settings of its tasks, and changes nothing in its store", async () => {
    const { scheduler } = setUp();
    scheduler.task("report", { overlap: "skip" }, () => {});
    await scheduler.addSchedule("report", CronTrigger.fromCrontab("0 * * * *"), { id: "a", payload: { secret: 1 } });
    await scheduler.addSchedule("report", "30 * * * *", { id: "b", paused: true });
    const before = JSON.stringify(await scheduler.getSchedules());
    const { counts } = await simulate({ scheduler, ...day, runTimes: { report: "90m" } });
    expect(counts).toEqual({ success: 12, overlapSkipped: 12, paused: 24 });
    expect(JSON.stringify(await scheduler.getSchedules())).toBe(before);
    expect((await scheduler.getJobs()).items).toEqual([]);
    const { items } = await scheduler.getSchedules();
    expect((await simulate({ schedules: items, ...day })).counts).toEqual({ success: 24, paused: 24 });
  });

  test.each([
    [{ schedules: [hourly], from: FROM, until: FROM }, /until must be later than from/],
    [{ ...day }, /takes schedules, or a scheduler/],
    [{ schedules: [hourly], ...day, fault: [] }, /fault is no option; did you mean "faults"/],
    [{ schedules: [hourly], ...day, faults: [{ kind: "off", ...day }] }, /faults\.0\.kind must be/],
    [{ schedules: [hourly], ...day, faults: [{ kind: "down", from: FROM, until: FROM }] }, /faults\.0\.until must be/],
    [{ schedules: [hourly], ...day, faults: [{ kind: "slow", ...day, factor: 0.5 }] }, /a number of 1 or more/],
    [{ schedules: [hourly], ...day, runTimes: { report: "soon" } }, /runTimes\.report/],
    [{ schedules: [{ ...hourly, trigger: "* * * * * *" }], from: FROM, until: "2030-03-01T00:00:00Z" }, /100000 fire/],
    [{ schedules: [{ ...hourly, trigger: "0 25 * * *" }], ...day }, /hour "25" is outside/],
  ])("refuses %j", async (options, message) => {
    await expect(simulate(options as never)).rejects.toThrow(message);
  });

  test("ends when its signal is aborted", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(simulate({ schedules: [hourly], ...day, signal })).rejects.toThrow("enough");
  });
});

/** The same world, driven by hand: another stride, another way to read what became of each fire time. */
async function drivenByHand(
  schedules: readonly NewSchedule[],
  tasks: Readonly<Record<string, TaskSettings>>,
  [down, up, until]: readonly [number, number, number],
  runMinutes: number,
): Promise<string[]> {
  const clock = new VirtualClock(FROM);
  const dataStore = new MemoryDataStore();
  const make = (identity: string): Scheduler => {
    const made = new Scheduler({ dataStore, clock, identity, random: () => 0, logger: quiet });
    for (const [id, settings] of Object.entries(tasks)) {
      made.task(id, settings, async (_: unknown, { signal }) => {
        await clock.sleep(clock.now() + runMinutes * 60_000, signal);
        signal.throwIfAborted();
      });
    }
    return made;
  };
  const scheduler = make("hand");
  await scheduler.addSchedules(schedules);
  await scheduler.start();
  for (let minute = 0; minute < until; minute++) {
    if (minute === up) await scheduler.start();
    // One millisecond before the whole minute, so that what fires at the edge belongs to the next round.
    await clock.advanceTo(Temporal.Instant.from(at(minute + 1)).subtract({ milliseconds: minute + 1 === up ? 0 : 1 }));
    if (minute + 1 === down) await scheduler.stop({ drainTimeout: "0s" });
  }
  const reader = make("reader");
  const found: string[] = [];
  for (const { id } of (await reader.getSchedules()).items) {
    for await (const { fireTime, verdict, run } of reader.getOccurrences(id)) {
      found.push(`${fireTime.toInstant()} ${id} ${verdict} ${run?.startedAt ?? null}`);
    }
  }
  await scheduler.stop({ drainTimeout: "0s" });
  await reader.stop();
  return found.sort();
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** Many more of them: `SIMULATED_STORES=1000 npx vitest run test/insight/simulate`. */
const STORES = Number((globalThis as { process?: NodeJS.Process }).process?.env.SIMULATED_STORES ?? 20);

/** A world of random schedules, an outage and runs of some length, in which a simulation and a scheduler that is driven
 *  by hand must find the same.
 *  What a mutant makes of the options or of the report, they must not. */
function agreement({ options: changed = (given) => given, report = (found) => found }: Mutant = {}) {
  const schedule = fc.record({
    trigger: fc.oneof(
      fc.constantFrom("*/7 * * * *", "0,20 * * * *", "*/30 * * * *"),
      fc.integer({ min: 5, max: 40 }).map((minutes) => new IntervalTrigger({ minutes })),
    ),
    overlap: fc.constantFrom("queue", "skip", "replaceQueued", "cancelRunning"),
    coalesce: fc.constantFrom("latest", "earliest", "all"),
    misfireGraceTime: fc.constantFrom(null, "10m", "1h"),
    paused: fc.boolean(),
  });
  const world = fc.record({
    schedules: fc.array(schedule, { minLength: 1, maxLength: 3 }),
    maxRunningJobs: fc.constantFrom(1, 2, null),
    down: fc.integer({ min: 1, max: 120 }),
    length: fc.integer({ min: 1, max: 90 }),
    runMinutes: fc.integer({ min: 1, max: 50 }),
  });
  return fc.asyncProperty(world, async ({ schedules: given, maxRunningJobs, down, length, runMinutes }) => {
    const until = 240;
    const schedules = given.map((one, index) => ({ id: `s${index}`, task: "t", ...one }) as const);
    const tasks = { t: { maxRunningJobs } };
    const faults: SimulationFault[] = [{ kind: "down", from: at(down), until: at(down + length) }];
    const runTimes = { t: { minutes: runMinutes } };
    const options = { schedules, tasks, from: FROM, until: at(until), faults, runTimes };
    const { occurrences } = await simulate(changed(options));
    const simulated = report(occurrences).map(
      ({ scheduleId, fireTime, verdict, startedAt }) => `${fireTime} ${scheduleId} ${verdict} ${startedAt}`,
    );
    const byHand = await drivenByHand(schedules, tasks, [down, down + length, until], runMinutes);
    expect(simulated.sort()).toEqual(byHand);
  });
}

interface Mutant {
  readonly options?: (given: SimulateOptions) => SimulateOptions;
  readonly report?: (found: readonly SimulatedOccurrence[]) => readonly SimulatedOccurrence[];
}

/** In tests of 50, because each test has a bound of its own on how long it may take. */
const PART = 50;
const PARTS = Array.from({ length: Math.ceil(STORES / PART) }, (_, part) => part);

test.each(PARTS)("agrees with a scheduler in the same outage, for random stores (part %i)", async (part) => {
  await fc.assert(agreement(), { numRuns: Math.min(PART, STORES - part * PART) });
});

test.each<[string, Mutant]>([
  ["without the outage", { options: (given) => ({ ...given, faults: [] }) }],
  ["whose runs take no time", { options: ({ runTimes: _, ...given }) => given }],
  ["that leaves out the last occurrence", { report: (found) => found.slice(0, -1) }],
  [
    "that calls what was missed a success",
    { report: (found) => found.map((one) => (one.verdict === "coalesced" ? { ...one, verdict: "success" } : one)) },
  ],
  [
    "that says another start",
    {
      report: (found) => found.map((one) => ({ ...one, startedAt: one.startedAt?.add({ milliseconds: 1 }) ?? null })),
    },
  ],
])("a simulation %s does not agree", async (_, mutant) => {
  const { failed } = await fc.check(agreement(mutant), { numRuns: 50, seed: 7, endOnFailure: true });
  expect(failed).toBe(true);
});
