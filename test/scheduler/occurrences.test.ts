import { describe, expect, test } from "vitest";
import { IntervalTrigger, MemoryDataStore, type Occurrence, OptionsError, ScheduleLookupError } from "../../src/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { cron, type World, worldAt } from "./explain-world.ts";
import { heldHandler, rejectionOf } from "./support.ts";

const HOURLY = "0 * * * *";

/** Occurrences as `09:00 verdict`. */
function lines(items: readonly Occurrence[]): string[] {
  return items.map(
    ({ fireTime, verdict }) => `${fireTime.toPlainTime().toString({ smallestUnit: "minute" })} ${verdict}`,
  );
}

async function allOf(listing: AsyncIterable<Occurrence>): Promise<string[]> {
  const items: Occurrence[] = [];
  for await (const item of listing) items.push(item);
  return lines(items);
}

/** Hourly from 01:00 on: runs, a pause from 02:30 to 05:30, an outage from 06:30 to 09:30, and a pause since 11:30. */
async function eventfulDay(options: object = {}): Promise<World> {
  const world = worldAt();
  world.scheduler.task("t", () => {});
  await world.scheduler.addSchedule("t", HOURLY, { id: "s", ...options });
  await world.scheduler.start();
  await world.to("2030-01-01T02:30:00Z");
  await world.scheduler.pauseSchedule("s", { by: "ada" });
  await world.to("2030-01-01T05:30:00Z");
  await world.scheduler.unpauseSchedule("s", { resumeFrom: "now" });
  await world.to("2030-01-01T06:30:00Z");
  await world.scheduler.stop();
  await world.to("2030-01-01T09:30:00Z");
  await world.scheduler.start();
  await world.to("2030-01-01T11:30:00Z");
  await world.scheduler.pauseSchedule("s");
  await world.to("2030-01-01T13:30:00Z");
  return world;
}

const DAY = [
  ...["00:00 success", "01:00 success", "02:00 success", "03:00 paused", "04:00 paused", "05:00 paused"],
  ...["06:00 success", "07:00 coalesced", "08:00 coalesced", "09:00 success", "10:00 success", "11:00 success"],
  ...["12:00 paused", "13:00 paused"],
];

describe("getOccurrences", () => {
  test("lists what became of each fire time, the newest first", async () => {
    const { scheduler } = await eventfulDay();
    const { items, cursor } = await scheduler.getOccurrences("s");
    expect([lines(items), cursor]).toEqual([[...DAY].reverse(), null]);
  });

  test("lists a fire time once whose job waits, when a new rule begins with it", async () => {
    const world = worldAt();
    const held = heldHandler();
    world.scheduler.task("t", held.handler);
    const { id } = await world.scheduler.addSchedule("t", HOURLY, { id: "s" });
    await world.scheduler.start();
    await world.to("2030-01-01T01:00:00Z");
    await world.scheduler.updateSchedule(id, { trigger: new IntervalTrigger({ minutes: 30 }) });
    expect(lines((await world.scheduler.getOccurrences(id)).items)).toEqual(["01:00 waiting", "00:00 waiting"]);
  });

  test.each(["oldest", "newest"] as const)(
    "lists each fire time once while plans commit, the %s first",
    async (order) => {
      for (const limit of [1, 2, 3, 4, 5, 100]) {
        for (const coalesce of ["all", "latest"] as const) {
          const world = worldAt();
          world.scheduler.task("t", () => {});
          await world.scheduler.addSchedule("t", HOURLY, { id: "s", coalesce });
          await world.to("2030-01-01T05:30:00Z");
          // Once a page has read the jobs, and before it reads the ledger, all that is due is run.
          const getJobs = world.store.getJobs.bind(world.store);
          world.store.getJobs = async (filter) => {
            const page = await getJobs(filter);
            await world.scheduler.tick();
            return page;
          };
          const hours = (await allOf(world.scheduler.getOccurrences("s", { order, limit }))).map((line) =>
            line.slice(0, 5),
          );
          const expected = ["00:00", "01:00", "02:00", "03:00", "04:00", "05:00"];
          expect(hours, `${coalesce}, ${limit} a page`).toEqual(order === "oldest" ? expected : expected.reverse());
        }
      }
    },
  );

  test("tells what the ledger has of a fire time that became something in the meantime", async () => {
    const world = worldAt();
    world.scheduler.task("t", () => {});
    await world.scheduler.addSchedule("t", HOURLY, { id: "s" });
    await world.to("2030-01-01T02:30:00Z");
    const getJobs = world.store.getJobs.bind(world.store);
    world.store.getJobs = async (filter) => {
      const page = await getJobs(filter);
      await world.scheduler.tick();
      return page;
    };
    const { items } = await world.scheduler.getOccurrences("s", { order: "oldest" });
    expect(lines(items)).toEqual(["00:00 coalesced", "01:00 coalesced", "02:00 success"]);
  });

  test.each(["oldest", "newest"] as const)("has the same in pages of any size, the %s first", async (order) => {
    const { scheduler } = await eventfulDay();
    const expected = order === "oldest" ? DAY : [...DAY].reverse();
    for (const limit of [1, 2, 3, 5, 100]) {
      expect(await allOf(scheduler.getOccurrences("s", { order, limit }))).toEqual(expected);
    }
  });

  test("keeps to the time that is asked for", async () => {
    const { scheduler } = await eventfulDay();
    const filter = { from: "2030-01-01T04:00:00Z", until: "2030-01-01T07:00:00Z", order: "oldest" } as const;
    expect(await allOf(scheduler.getOccurrences("s", filter))).toEqual(DAY.slice(4, 7));
  });

  test("keeps to the verdicts that are asked for", async () => {
    const { scheduler } = await eventfulDay();
    expect(await allOf(scheduler.getOccurrences("s", { verdict: "coalesced" }))).toEqual([
      "08:00 coalesced",
      "07:00 coalesced",
    ]);
    expect(
      await allOf(scheduler.getOccurrences("s", { verdict: ["paused", "misfired"], order: "oldest", limit: 2 })),
    ).toEqual(DAY.filter((line) => line.endsWith("paused")));
    expect(await allOf(scheduler.getOccurrences("s", { verdict: "waiting" }))).toEqual([]);
  });

  test.each(["oldest", "newest"] as const)(
    "lists fire times from before a removal as what they became, whatever is asked for, the %s first",
    async (order) => {
      for (const paused of [true, false]) {
        const world = worldAt();
        const held = heldHandler();
        let ends = true;
        world.scheduler.task("t", (payload, context) => (ends ? "done" : held.handler(payload, context)));
        await world.scheduler.addSchedule("t", HOURLY, { id: "s" });
        await world.scheduler.start();
        await world.to("2030-01-01T02:30:00Z");
        ends = false;
        await world.to("2030-01-01T03:00:00Z");
        world.scheduler.pause();
        await world.scheduler.removeSchedule("s");
        const trigger = new IntervalTrigger({ minutes: 30, startTime: "2030-01-01T00:30:00Z" });
        await world.scheduler.addSchedule("t", trigger, { id: "s", paused });
        const verdict = paused ? "paused" : "waiting";
        const others = ["00:30", "01:30", "02:30"].map((time) => `${time} ${verdict}`);
        const expected = paused ? others : [...others, "03:00 waiting"];
        for (const limit of [1, 2, 100]) {
          const listed = await allOf(world.scheduler.getOccurrences("s", { verdict: [verdict], order, limit }));
          expect(listed, `${verdict}, ${limit} a page`).toEqual(
            order === "oldest" ? expected : [...expected].reverse(),
          );
        }
      }
    },
  );

  test("has the jobs that wait, and what nobody has processed", async () => {
    const world = worldAt();
    const { handler } = heldHandler();
    world.scheduler.task("t", handler);
    await world.scheduler.addSchedule("t", HOURLY, { id: "s" });
    await world.scheduler.start();
    await world.to("2030-01-01T02:30:00Z");
    world.scheduler.pause();
    await world.to("2030-01-01T04:30:00Z");
    const expected = ["00:00 waiting", "01:00 waiting", "02:00 waiting", "03:00 waiting", "04:00 waiting"];
    expect(await allOf(world.scheduler.getOccurrences("s", { order: "oldest", limit: 2 }))).toEqual(expected);
    expect(await allOf(world.scheduler.getOccurrences("s", { verdict: "waiting" }))).toEqual([...expected].reverse());
    const { items } = await world.scheduler.getOccurrences("s", { order: "oldest" });
    expect(items.map(({ run }) => run?.attempts ?? null)).toEqual([1, 0, 0, null, null]);
  });

  test("opens up a pause of a week of seconds only as far as a page needs", async () => {
    const world = worldAt();
    world.scheduler.task("t", () => {});
    await world.scheduler.addSchedule("t", new IntervalTrigger({ seconds: 1 }), { id: "s", paused: true });
    await world.clock.advance({ days: 7 });
    await world.scheduler.unpauseSchedule("s", { resumeFrom: "now" });
    const last = await world.scheduler.getOccurrences("s", { limit: 3, until: "2030-01-08T00:00:00Z" });
    expect(last.items.map(({ fireTime, verdict }) => `${fireTime.toInstant()} ${verdict}`)).toEqual([
      "2030-01-07T23:59:59Z paused",
      "2030-01-07T23:59:58Z paused",
      "2030-01-07T23:59:57Z paused",
    ]);
    const first = await world.scheduler.getOccurrences("s", { limit: 1000, order: "oldest" });
    expect([first.items.length, String(first.items.at(-1)?.fireTime.toInstant())]).toEqual([
      1000,
      "2030-01-01T00:16:39Z",
    ]);
    const { cursor } = first;
    const second = await world.scheduler.getOccurrences("s", { limit: 1, order: "oldest", cursor });
    expect(String(second.items[0]?.fireTime.toInstant())).toBe("2030-01-01T00:16:40Z");
  });

  test("reads at most eight times for a page", async () => {
    const { scheduler, store } = await eventfulDay();
    const count = countReads(store);
    await scheduler.getOccurrences("s", { limit: 2 });
    expect([2, 3, 4, 5, 6, 7, 8]).toContain(count());
  });

  test("shows runs as plain data, and as rows of a table", async () => {
    const { scheduler } = await eventfulDay();
    const { items } = await scheduler.getOccurrences("s", { verdict: "success", limit: 1 });
    const jobId = items[0]?.run?.jobId;
    expect(JSON.parse(JSON.stringify(items))).toEqual([
      {
        scheduleId: "s",
        timeZone: "UTC",
        fireTime: "2030-01-01T11:00:00Z",
        verdict: "success",
        into: null,
        run: {
          jobId,
          scheduledFireTime: "2030-01-01T11:00:00Z",
          createdAt: "2030-01-01T11:00:00Z",
          startedAt: "2030-01-01T11:00:00Z",
          finishedAt: "2030-01-01T11:00:00Z",
          lateness: "PT0S",
          runTime: "PT0S",
          attempts: 1,
        },
      },
    ]);
    const row = { fireTime: "2030-01-01 11:00:00+00:00 UTC", verdict: "success", lateMs: 0, runMs: 0, jobId };
    expect(items[0]?.toRow()).toEqual(row);
    const coalesced = await scheduler.getOccurrences("s", { verdict: "coalesced", limit: 1 });
    expect([String(coalesced.items[0]?.into), Object.isFrozen(coalesced.items[0])]).toEqual([
      "2030-01-01T09:00:00Z",
      true,
    ]);
  });

  test("tells of a schedule that was removed", async () => {
    const { scheduler } = await eventfulDay();
    await scheduler.removeSchedule("s");
    expect(await allOf(scheduler.getOccurrences("s", { order: "oldest" }))).toEqual(DAY);
  });

  test.each([
    [{ verdict: "coalesed" }, 'verdict must be "success"'],
    [{ verdict: "coalesed" }, 'did you mean "coalesced"?'],
    [{ verdict: [] }, "verdict must name a verdict at least; leave it out for all"],
    [{ outcome: "success" }, 'outcome is no option; did you mean "verdict"?'],
    [{ cursor: "at:!" }, "cursor must be the cursor of a page of this list"],
    [{ limit: 0 }, "limit must be a whole number from 1 to 1000; got 0"],
    [{ order: "new" }, 'order must be "newest" or "oldest"; got "new"'],
  ])("refuses %j", async (filter, message) => {
    const { scheduler } = await eventfulDay();
    const error = await rejectionOf(scheduler.getOccurrences("s", filter as object));
    expect(error).toBeInstanceOf(OptionsError);
    expect(error).toHaveProperty("message", expect.stringContaining(message));
  });

  test("refuses an unknown id", async () => {
    const { scheduler } = worldAt();
    expect(await rejectionOf(scheduler.getOccurrences("s"))).toBeInstanceOf(ScheduleLookupError);
  });
});

describe("getScheduleChanges", () => {
  test("tells who changed what", async () => {
    const { scheduler, to } = worldAt();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", cron("0 9 * * *"), { id: "s", by: "deploy" });
    await to("2030-01-01T01:00:00Z");
    await scheduler.updateSchedule("s", { priority: 5, misfireGraceTime: "1h", payload: 1 }, { by: "ada" });
    await scheduler.updateSchedule("s", { trigger: cron("0 17 * * *", "Europe/Berlin") });
    await scheduler.pauseSchedule("s", { by: "bob" });
    await scheduler.unpauseSchedule("s", { by: "bob" });
    await scheduler.removeSchedule("s", { by: "carol" });
    const { items, cursor } = await scheduler.getScheduleChanges("s");
    expect(cursor).toBeNull();
    expect(items.map(({ by, kind, changed }) => [by, kind, changed])).toEqual([
      ["carol", "removed", []],
      ["bob", "unpaused", []],
      ["bob", "paused", []],
      ["w-1", "changed", ["trigger"]],
      ["ada", "changed", ["payload", "priority", "misfireGraceTime"]],
      ["deploy", "added", []],
    ]);
    expect(JSON.parse(JSON.stringify(items[3]))).toEqual({
      seq: 3,
      scheduleId: "s",
      at: "2030-01-01T01:00:00Z",
      by: "w-1",
      kind: "changed",
      changed: ["trigger"],
      before: {
        rule: "At 09:00, in UTC",
        timeZone: "UTC",
        paused: false,
        pausedUntil: null,
        pauseReason: null,
        nextFireTimes: ["2030-01-01T09:00:00Z", "2030-01-02T09:00:00Z", "2030-01-03T09:00:00Z"],
      },
      after: {
        rule: "At 17:00, in Europe/Berlin",
        timeZone: "Europe/Berlin",
        paused: false,
        pausedUntil: null,
        pauseReason: null,
        nextFireTimes: ["2030-01-01T16:00:00Z", "2030-01-02T16:00:00Z", "2030-01-03T16:00:00Z"],
      },
    });
  });

  test("names what changed as updateSchedule does", async () => {
    const { scheduler } = worldAt();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", HOURLY, { id: "s" });
    const changes = {
      name: "n",
      coalesce: "all",
      misfireGraceTime: "1h",
      maxJitter: "1s",
      resultExpirationTime: "1h",
      failureExpirationTime: "2d",
      overlap: "skip",
      concurrencyKey: "k",
      priority: 5,
      catchUp: { maxCount: 3 },
      metadata: { a: 1 },
      expectStartWithin: "1m",
      expectFinishWithin: "2m",
    } as const;
    await scheduler.updateSchedule("s", changes);
    const { items } = await scheduler.getScheduleChanges("s", { limit: 1 });
    expect([...(items[0]?.changed ?? [])].sort()).toEqual(Object.keys(changes).sort());
  });

  test("comes in pages of either order", async () => {
    const { scheduler } = worldAt();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", HOURLY, { id: "s" });
    for (const priority of [1, 2, 3]) await scheduler.updateSchedule("s", { priority });
    for (const order of ["oldest", "newest"] as const) {
      const seqs: number[] = [];
      for await (const { seq } of scheduler.getScheduleChanges("s", { order, limit: 2 })) seqs.push(seq);
      expect(seqs).toEqual(order === "oldest" ? [1, 2, 3, 4] : [4, 3, 2, 1]);
    }
  });

  test("is empty where the store keeps no ledger", async () => {
    const { scheduler } = worldAt(undefined, {}, new MemoryDataStore({ ledger: false }));
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", HOURLY, { id: "s" });
    expect(await scheduler.getScheduleChanges("s")).toEqual({ items: [], cursor: null });
  });

  test("refuses unknown ids, and cursors of others", async () => {
    const { scheduler } = worldAt();
    expect(await rejectionOf(scheduler.getScheduleChanges("s"))).toBeInstanceOf(ScheduleLookupError);
    scheduler.task("t", () => {});
    for (const id of ["s", "r"]) await scheduler.addSchedule("t", HOURLY, { id });
    for (const id of ["s", "r"]) await scheduler.pauseSchedule(id);
    const { cursor } = await scheduler.getScheduleChanges("s", { limit: 1 });
    expect((await scheduler.getScheduleChanges("s", { cursor })).items.map(({ kind }) => kind)).toEqual(["added"]);
    for (const [id, filter] of [
      ["s", { cursor: "x" }],
      ["s", { cursor, order: "oldest" }],
      ["r", { cursor }],
    ] as const) {
      const error = await rejectionOf(scheduler.getScheduleChanges(id, filter));
      expect(error).toHaveProperty("message", expect.stringContaining("cursor must be the cursor of a page of this"));
    }
  });
});

describe("who changes something", () => {
  test("is text of 1 to 200 characters", async () => {
    const { scheduler } = worldAt();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", HOURLY, { id: "s" });
    const long = "a".repeat(201);
    const calls = [
      () => scheduler.addSchedule("t", HOURLY, { id: "u", by: long }),
      () => scheduler.updateSchedule("s", { priority: 1 }, { by: long }),
      () => scheduler.pauseSchedule("s", { by: long }),
      () => scheduler.unpauseSchedule("s", { by: long }),
      () => scheduler.removeSchedule("s", { by: long }),
      () => scheduler.pauseTask("t", { by: long }),
      () => scheduler.unpauseTask("t", { by: long }),
    ];
    for (const call of calls) {
      expect(await rejectionOf(call())).toHaveProperty(
        "message",
        expect.stringContaining("by must be text of 1 to 200 characters"),
      );
    }
  });

  test("stands apart from the changes", async () => {
    const { scheduler } = worldAt();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", HOURLY, { id: "s" });
    const update = scheduler.updateSchedule("s", { by: "ada" } as object);
    const message =
      "updateSchedule(): by is no option here; it stands apart from the changes: updateSchedule(id, changes, { by })";
    expect(await rejectionOf(update)).toMatchObject({ message });
    const pause = scheduler.pauseSchedule("s", "ada" as never);
    expect(await rejectionOf(pause)).toHaveProperty("message", expect.stringContaining('write { reason: "ada" }'));
    const remove = scheduler.removeSchedule("s", "ada" as never);
    expect(await rejectionOf(remove)).toHaveProperty("message", expect.stringContaining('write { by: "ada" }'));
  });
});

describe("explain", () => {
  test("refuses unknown ids, and what is no instant", async () => {
    const { scheduler } = worldAt();
    expect(await rejectionOf(scheduler.explain("s", "2030-01-01"))).toBeInstanceOf(ScheduleLookupError);
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", HOURLY, { id: "s" });
    for (const at of ["soon", "2030-02-30", 5, undefined]) {
      const error = await rejectionOf(scheduler.explain("s", at as string));
      expect(error).toHaveProperty("message", expect.stringMatching(/^explain\(\): at must be /));
    }
  });

  test("refuses what clocks show beyond the range of instants", async () => {
    const { scheduler } = await eventfulDay();
    const { Temporal } = await import("../../src/mod.ts");
    const error = await rejectionOf(scheduler.explain("s", Temporal.PlainDateTime.from("-271821-04-19T00:00:01")));
    expect(error).toBeInstanceOf(OptionsError);
    expect(error).toHaveProperty("message", expect.stringContaining("at must be a time within the range of instants"));
  });

  test("says that an entry was removed, also where the addition of the schedule is known no more", async () => {
    const store = new MemoryDataStore({ ledger: { maxCount: 3, maxAge: { days: 1 } } });
    const { scheduler, to } = worldAt(undefined, {}, store);
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", HOURLY, { id: "s" });
    await scheduler.start();
    await to("2030-01-02T00:30:00Z");
    await scheduler.updateSchedule("s", { priority: 5 });
    await to("2030-01-03T00:15:00Z");
    await scheduler.cleanup();
    expect((await scheduler.getScheduleChanges("s")).items.map(({ kind }) => kind)).toEqual(["changed"]);
    const { verdict, cause } = await scheduler.explain("s", "2030-01-02T12:00:00Z");
    expect([verdict, cause]).toEqual(["unrecorded", { kind: "ledger", reason: "removed" }]);
  });

  test("takes Temporal objects and Dates", async () => {
    const { scheduler } = await eventfulDay();
    const { Temporal } = await import("../../src/mod.ts");
    for (const at of [
      Temporal.Instant.from("2030-01-01T02:00:00Z"),
      Temporal.ZonedDateTime.from("2030-01-01T03:00:00[Europe/Berlin]"),
      Temporal.PlainDateTime.from("2030-01-01T02:00:00"),
      new Date("2030-01-01T02:00:00Z"),
    ]) {
      expect((await scheduler.explain("s", at)).verdict).toBe("success");
    }
  });

  test("reads at most eight times", async () => {
    const { scheduler, store } = await eventfulDay({ overlap: "queue" });
    for (const hour of DAY.keys()) {
      const count = countReads(store);
      await scheduler.explain("s", `2030-01-01 ${String(hour).padStart(2, "0")}:00`);
      expect([2, 3, 4, 5, 6, 7, 8]).toContain(count());
    }
  });

  test("prints as its JSON, and its text as text", async () => {
    const { scheduler } = await eventfulDay();
    const explanation = await scheduler.explain("s", "2030-01-01T07:00:00Z");
    expect(String(explanation)).toBe(explanation.text);
    expect(JSON.parse(JSON.stringify(explanation))).toEqual({
      scheduleId: "s",
      timeZone: "UTC",
      at: "2030-01-01T07:00:00Z",
      fireTime: "2030-01-01T07:00:00Z",
      verdict: "coalesced",
      cause: {
        kind: "nobodyUp",
        lacks: "scheduler",
        from: "2030-01-01T06:30:00Z",
        until: "2030-01-01T09:30:00Z",
      },
      occurrence: {
        scheduleId: "s",
        timeZone: "UTC",
        fireTime: "2030-01-01T07:00:00Z",
        verdict: "coalesced",
        into: "2030-01-01T09:00:00Z",
        run: null,
      },
      shiftedFrom: null,
      before: "2030-01-01T06:00:00Z",
      after: "2030-01-01T08:00:00Z",
      clockChanges: [],
      advice:
        "Keep two schedulers up; expectStartWithin tells you at once when none is. " +
        'coalesce: "all" makes a job for each fire time.',
      text: explanation.text,
    });
  });

  test("shows instants and clock changes as Temporal objects", async () => {
    const { scheduler } = worldAt("2027-03-26T12:00:00Z");
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", cron("30 2 * * *", "Europe/Berlin"), { id: "s" });
    const { at, fireTime, before, after, clockChanges } = await scheduler.explain("s", "2027-03-28 02:30");
    expect([at, fireTime, before, after].map(String)).toEqual([
      "2027-03-28T03:30:00+02:00[Europe/Berlin]",
      "2027-03-28T03:00:00+02:00[Europe/Berlin]",
      "2027-03-27T02:30:00+01:00[Europe/Berlin]",
      "2027-03-29T02:30:00+02:00[Europe/Berlin]",
    ]);
    expect(clockChanges.map(({ timeZone, ...change }) => [timeZone, ...Object.values(change).map(String)])).toEqual([
      ["Europe/Berlin", "2027-03-28T01:00:00Z", "2027-03-28T02:00:00", "2027-03-28T03:00:00"],
    ]);
  });
});

/** How many requests a store has got since, by its own methods and those of its ledger. */
function countReads(store: DataStore): () => number {
  let reads = 0;
  const watch = <T extends object>(target: T, names: readonly (keyof T)[]): void => {
    for (const name of names) {
      const method = target[name];
      if (typeof method !== "function") continue;
      Object.defineProperty(target, name, {
        configurable: true,
        writable: true,
        value: (...given: unknown[]): unknown => {
          reads++;
          return Reflect.apply(method, target, given);
        },
      });
    }
  };
  const { ledger } = store;
  watch(store, ["getSchedule", "getJobs", "getJob", "getJobResult", "getTaskPauses", "getJobResults"]);
  if (ledger !== null && ledger !== undefined) {
    watch(ledger, ["getLedgerStart", "getOccurrences", "getJobOfFireTime", "getScheduleChanges"]);
    watch(ledger, ["getTaskPauseHistory", "getUptimes"]);
  }
  return () => reads;
}
