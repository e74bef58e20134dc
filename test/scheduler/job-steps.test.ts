import { describe, expect, test } from "vitest";
import {
  DateTrigger,
  IntervalTrigger,
  JobSleepError,
  LeaseLostError,
  MemoryDataStore,
  NonRetryableError,
  RetryAfter,
  SerializationError,
  type StepContext,
  StepError,
  type Steps,
} from "../../src/mod.ts";
import { take } from "../../src/testing/data-store-contract/makers.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, recordEvents, rejectionOf, START_MS, secondsOf, setUp } from "./support.ts";

const RETRY = { retry: { maxAttempts: 9, backoff: { initial: "PT0S" } } } as const;

describe("a step", () => {
  test("that ended is not called again in a later attempt, which gets its value", async () => {
    const { scheduler } = setUp();
    const calls: string[] = [];
    const task = scheduler.task("t", RETRY, async (_: undefined, { step, attempt }) => {
      const a = await step.run("a", () => {
        calls.push("a");
        return { list: [1, "ü", null] };
      });
      const b = await step.run("b", async () => void calls.push("b"));
      calls.push("between");
      if (attempt === 1) throw new Error("no");
      return [a, b ?? "nothing", attempt];
    });
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect(calls).toEqual(["a", "b", "between", "between"]);
    const result = await scheduler.getJobResult(id);
    expect(result).toMatchObject({
      outcome: "success",
      attempts: 2,
      returnValue: [{ list: [1, "ü", null] }, "nothing", 2],
    });
  });

  test("that failed runs again in the next attempt, from its cursor", async () => {
    const { scheduler } = setUp();
    const seen: unknown[] = [];
    const task = scheduler.task("t", RETRY, ({ step }: { step?: never }, context) =>
      context.step.run("post", async ({ cursor = 0, save, key }: StepContext<number>) => {
        for (let i = cursor; i < 5; i++) {
          seen.push([i, key]);
          await save(i + 1);
          if (i === 2 && context.attempt === 1) throw new Error("no");
        }
        return step ?? seen.length;
      }),
    );
    const { id } = await scheduler.addJob(task, { payload: {} });
    await drain(scheduler);
    expect(seen).toEqual([0, 1, 2, 3, 4].map((i) => [i, `${id}:post`]));
    expect((await scheduler.getJobResult(id))?.returnValue).toBe(5);
  });

  test("may have any storable name, which is no other step's", async () => {
    const { scheduler } = setUp();
    const names = ["__proto__", "constructor", "e\u0301", "\u00e9", "👍".repeat(100), " ", "a\nb", "'?1;--", '"', "%_"];
    const seen: unknown[] = [];
    const task = scheduler.task("t", RETRY, async (_: undefined, { step, attempt }) => {
      for (const name of names) seen.push(await step.run(name, () => `${attempt} ${name}`));
      if (attempt === 1) throw new Error("no");
    });
    const job = await scheduler.addJob(task);
    await drain(scheduler);
    expect(seen).toEqual([...names, ...names].map((name) => `1 ${name}`));
    expect(new Set((await job.steps()).map(({ name }) => name))).toEqual(new Set(names));
  });

  test("whose value or cursor no serializer reads fails with its path, and leaves nothing", async () => {
    const { scheduler } = setUp();
    const cycle: { own?: unknown } = {};
    cycle.own = cycle;
    const values = [cycle, 1n, [Number.NaN], { at: new Date(0) }, [undefined], { a: Symbol("s") }, () => 1];
    const said: string[] = [];
    const note = (error: unknown): void => void said.push((error as Error).name);
    const task = scheduler.task("t", async (_: undefined, { step }) => {
      for (const [index, value] of values.entries()) {
        await step.run(`value ${index}`, () => value).catch(note);
        await step.run(`cursor ${index}`, ({ save }) => save(value)).catch(note);
      }
    });
    const job = await scheduler.addJob(task);
    await drain(scheduler);
    expect(said).toEqual(Array.from({ length: 2 * values.length }, () => "SerializationError"));
    expect([(await job.result())?.outcome, await job.steps()]).toEqual(["success", []]);
  });

  test("may run beside others, and the slowest does not hold up the records of the others", async () => {
    const { scheduler, clock } = setUp();
    let calls = 0;
    const task = scheduler.task("t", RETRY, async (_: undefined, { step, attempt }) => {
      const one = (name: string, seconds: number) =>
        step.run(name, async () => {
          calls++;
          if (attempt === 1 && name === "c") throw new Error("no");
          await clock.sleep(clock.now() + seconds * 1000);
          return name;
        });
      return Promise.all([one("a", 0), one("b", 0), one("c", 1)]);
    });
    const { id } = await scheduler.addJob(task);
    const ticking = drain(scheduler);
    for (let second = 0; second < 5; second++) await clock.advance("PT1S");
    await ticking;
    expect((await scheduler.getJobResult(id))?.returnValue).toEqual(["a", "b", "c"]);
    expect(calls).toBe(4);
  });

  test("shows its name, state, times, attempts, value and cursor", async () => {
    const { scheduler, clock } = setUp({ version: 3 });
    const task = scheduler.task("t", async (_: undefined, { step }) => {
      await step.run("a", () => "value");
      await step.run("b", { retry: { maxAttempts: 2, backoff: { initial: "PT0S" } } }, async ({ save, cursor }) => {
        await save({ page: 7 });
        if (cursor === undefined) throw new Error("no");
      });
      await step.sleep("settle", "2d");
    });
    const job = await scheduler.addJob(task);
    await drain(scheduler);
    const shown = (await job.steps()).map((one) => one.toJSON());
    const times = { startedAt: "2030-01-01T00:00:00Z", endedAt: "2030-01-01T00:00:00Z", wakeAt: null, version: 3 };
    expect(shown).toEqual([
      { name: "a", state: "ended", ...times, attempts: 1, value: "value" },
      { name: "b", state: "ended", ...times, attempts: 2 },
      { name: "settle", state: "sleeping", ...times, endedAt: null, wakeAt: "2030-01-03T00:00:00Z", attempts: 0 },
    ]);
    await clock.advance("P2D");
    expect((await scheduler.getJobSteps(job.id)).map(({ state }) => state)).toEqual(["ended", "ended", "ended"]);
    await drain(scheduler);
    expect((await job.steps()).length).toBe(3);
    await clock.advance("P2D");
    expect(await rejectionOf(job.steps())).toMatchObject({ code: "jobLookup" });
  });

  test("costs a job that has none nothing", async () => {
    const { scheduler, store } = setUp();
    const calls: string[] = [];
    for (const name of ["saveJobStep", "getJobSteps"] as const) {
      const original = store[name].bind(store) as (...given: never[]) => never;
      Object.assign(store, {
        [name]: (...given: never[]) => {
          calls.push(name);
          return original(...given);
        },
      });
    }
    const task = scheduler.task("t", RETRY, (_: undefined, { attempt }) => {
      if (attempt === 1) throw new Error("no");
    });
    await scheduler.addJob(task);
    await drain(scheduler);
    expect(calls).toEqual([]);
    const other = scheduler.task("u", async (_: undefined, { step }) => void (await step.run("a", () => 1)));
    await scheduler.addJob(other);
    await drain(scheduler);
    expect(calls).toEqual(["saveJobStep"]);
  });

  const WRONG: readonly [string, RegExp, (step: Steps) => Promise<unknown>][] = [
    [
      "whose name came before",
      /step "a" .* came before .*in a loop, write "name:" \+ id/,
      async (step) => {
        await step.run("a", () => 1);
        await step.run("a", () => 2);
      },
    ],
    [
      "within another one",
      /step "b" .* began within another step/,
      (step) => step.run("a", () => step.run("b", () => 2)),
    ],
    [
      "with a value that is too large",
      /the value of step "a" is too large: 262147 characters, at most 262144/,
      (step) => step.run("a", () => "x".repeat(262_145)),
    ],
  ];
  for (const [which, message, use] of WRONG) {
    test(`${which} fails with what to do`, async () => {
      const { scheduler } = setUp();
      const task = scheduler.task("t", (_: undefined, { step }) => use(step));
      const { id } = await scheduler.addJob(task);
      await drain(scheduler);
      const error = (await scheduler.getJobResult(id))?.error;
      expect(error?.name).toBe(StepError.errorName);
      expect(error?.message).toMatch(message);
    });
  }

  test("beyond 1,000 of a job, or 4 MB, fails with what to do", async () => {
    const { scheduler } = setUp();
    const value = "x".repeat(250_000);
    const many = scheduler.task("many", async (_: undefined, { step }) => {
      for (let index = 0; index < 1001; index++) await step.run(`${index}`, () => index);
    });
    const large = scheduler.task("large", async (_: undefined, { step }) => {
      for (let index = 0; index < 17; index++) await step.run(`${index}`, () => value);
    });
    const jobs = [await scheduler.addJob(many), await scheduler.addJob(large)];
    await drain(scheduler);
    const messages = [];
    for (const job of jobs) messages.push((await job.result())?.error?.message);
    expect(messages).toEqual([
      expect.stringMatching(/step "1000" .* is one too many: a job has 1000 steps at most; use a cursor/),
      expect.stringMatching(/step "16" .* makes the steps of the job too large: 4250034 characters, at most 4194304/),
    ]);
    expect((await jobs[1]?.steps())?.length).toBe(16);
  });

  test("with a value that the serializer refuses fails with its path", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (_: undefined, { step }) =>
      step.run("a", () => ({ list: [{ when: new Date(0) }] })),
    );
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    const error = (await scheduler.getJobResult(id))?.error;
    expect(error?.name).toBe(SerializationError.errorName);
    expect(error?.message).toMatch(/the value of step "a" cannot be stored: .*list\[0\]\.when/);
  });

  test("cannot begin after the handler has ended", async () => {
    const { scheduler, clock } = setUp();
    let late: Promise<unknown> = Promise.resolve();
    const task = scheduler.task("t", (_: undefined, { step }) => {
      late = clock.sleep(clock.now() + 1000).then(() => rejectionOf(step.run("a", () => 1)));
    });
    await scheduler.addJob(task);
    await drain(scheduler);
    await clock.advance("PT1S");
    expect(await late).toMatchObject({ code: "step", message: expect.stringMatching(/after the handler had ended/) });
  });

  test("has options whose mistakes are named", async () => {
    const { scheduler } = setUp();
    const messages: string[] = [];
    const task = scheduler.task("t", async (_: undefined, { step }) => {
      const wrong = [
        { retires: 1 },
        { retry: { maxAttempts: 0 } },
        { timeout: 5 },
        { retry: { backoff: { jitter: 1 } } },
      ];
      for (const options of wrong) {
        const failure = await rejectionOf((async () => step.run("a", options as never, () => 1))());
        messages.push((failure as Error).message);
      }
      for (const name of ["", "x".repeat(201), 5, "\ud800"]) {
        messages.push(((await rejectionOf((async () => step.run(name as never, () => 1))())) as Error).message);
      }
    });
    await scheduler.addJob(task);
    await drain(scheduler);
    expect(messages).toEqual([
      expect.stringMatching(/retires is unknown; there are retry and timeout/),
      expect.stringMatching(/retry\.maxAttempts must be a whole number from 1/),
      expect.stringMatching(/timeout/),
      expect.stringMatching(/retry\.backoff\.jitter must be "full" or "none"/),
      ...Array.from({ length: 4 }, () => expect.stringMatching(/name must be text of 1 to 200 characters/)),
    ]);
  });
});

describe("a job that resumes", () => {
  test("writes nothing for a job that another scheduler has by now: its signal is aborted", async () => {
    const { scheduler, store, clock } = setUp();
    const seen: unknown[] = [];
    const task = scheduler.task("t", (_: undefined, { step, signal, job }) =>
      step.run("a", async ({ save }) => {
        await save("first");
        const queues = [{ executor: "inline", taskId: "t" }];
        await take(store, { now: clock.now() + 600_000, by: "other", queues });
        seen.push(await rejectionOf(save("zombie")), signal.aborted, (await scheduler.getJob(job.id)).acquiredBy);
        return "zombie";
      }),
    );
    const { id } = await scheduler.addJob(task);
    await scheduler.tick();
    expect(seen).toEqual([expect.any(LeaseLostError), true, "other"]);
    expect(await scheduler.getJobSteps(id)).toMatchObject([{ name: "a", state: "open", cursor: "first" }]);
  });

  test("is repeated from its steps by retryJob, and from its beginning with restart", async () => {
    const { scheduler } = setUp();
    const calls: string[] = [];
    let isBroken = true;
    const task = scheduler.task("t", async (_: undefined, { step }) => {
      await step.run("a", ({ key }) => void calls.push(key));
      if (isBroken) throw new Error("no");
    });
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    const again = await scheduler.retryJob(id);
    await drain(scheduler);
    expect(calls).toEqual([`${id}:a`]);
    expect((await again.steps()).length).toBe(1);
    isBroken = false;
    await scheduler.retryJob(again.id, { restart: true });
    await drain(scheduler);
    expect(calls).toEqual([`${id}:a`, `${id}:a`]);
  });

  test("warns once when another version goes on with it", async () => {
    const store = new MemoryDataStore();
    const first = setUp({ dataStore: store, version: 2 });
    const { clock } = first;
    let isFirst = true;
    const handler =
      (names: string[]) =>
      async (_: undefined, { step }: { step: Steps }) => {
        for (const name of names) await step.run(name, () => 1);
        if (isFirst) await step.sleep("settle", "PT1H");
      };
    first.scheduler.task("t", handler(["a", "b"]) as never);
    await first.scheduler.addJob("t");
    await drain(first.scheduler);
    await clock.advance("PT1H");
    isFirst = false;
    const newer = setUp({ dataStore: store, clock, version: 3 });
    newer.scheduler.task("t", handler(["a", "c"]) as never);
    await drain(newer.scheduler);
    expect(newer.log.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /version 3 of task "t" never asked for recorded steps .*\("b", "settle"\), which version 2 began/,
      ),
    ]);
  });

  test("warns once when an older version goes on with it", async () => {
    const store = new MemoryDataStore();
    const newer = setUp({ dataStore: store, version: 3 });
    const { clock } = newer;
    const handler = async (_: undefined, { step }: { step: Steps }) => {
      await step.sleep("settle", "PT1H");
    };
    newer.scheduler.task("t", handler as never);
    await newer.scheduler.addJob("t");
    await drain(newer.scheduler);
    await clock.advance("PT1H");
    const older = setUp({ dataStore: store, clock, version: 2 });
    older.scheduler.task("t", handler as never);
    await drain(older.scheduler);
    expect(older.log.map(({ message }) => message).filter((text) => text.includes("steps"))).toEqual([
      expect.stringMatching(/has steps of version 3 of task "t", and goes on with version 2, which is older/),
    ]);
  });
});

describe("saves of a cursor", () => {
  test("share a write while one is under way, and the last one counts", async () => {
    const { scheduler, store } = setUp();
    const cursors: unknown[] = [];
    const original = store.saveJobStep.bind(store);
    store.saveJobStep = async (save) => {
      cursors.push(save.step.cursor);
      return original(save);
    };
    const task = scheduler.task("t", (_: undefined, { step }) =>
      step.run("a", async ({ save }) => {
        await Promise.all([1, 2, 3, 4].map((cursor) => save(cursor)));
        void save(5);
        void save(6);
      }),
    );
    await scheduler.addJob(task);
    await drain(scheduler);
    expect(cursors).toEqual(["1", "4", "5", "6", null]);
  });

  test("extend the lease", async () => {
    const { scheduler, clock } = setUp();
    const ends: (number | null)[] = [];
    const task = scheduler.task("t", (_: undefined, { step, job }) =>
      step.run("a", async ({ save }) => {
        await clock.sleep(clock.now() + 10_000);
        await save(1);
        ends.push(secondsOf((await scheduler.getJob(job.id)).acquiredUntil));
      }),
    );
    await scheduler.addJob(task);
    const ticking = scheduler.tick();
    await clock.advance("PT10S");
    await ticking;
    expect(ends).toEqual([70]);
  });
});

describe("retry and timeout of a step", () => {
  test("run the body again within the attempt, and spend none of the job's attempts", async () => {
    const { scheduler } = setUp();
    let calls = 0;
    const options = { retry: { maxAttempts: 3, backoff: { initial: "PT0S" } } } as const;
    const task = scheduler.task("t", (_: undefined, { step }) =>
      step.run("a", options, () => {
        if (++calls < 3) throw new Error("no");
        return calls;
      }),
    );
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 1, returnValue: 3 });
    expect((await scheduler.getJobSteps(id))[0]?.attempts).toBe(3);
  });

  test("end at a NonRetryableError, which ends the job", async () => {
    const { scheduler } = setUp();
    let calls = 0;
    const task = scheduler.task("t", RETRY, (_: undefined, { step }) =>
      step.run("a", { retry: { maxAttempts: 3 } }, () => {
        calls++;
        throw new NonRetryableError("never");
      }),
    );
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "error", attempts: 1 });
    expect(calls).toBe(1);
  });

  test("abort the body that runs too long, and refuse its later writes", async () => {
    const { scheduler, clock } = setUp();
    const seen: unknown[] = [];
    const task = scheduler.task("t", (_: undefined, { step }) =>
      step.run("a", { timeout: "PT10S", retry: { maxAttempts: 2, backoff: { initial: "PT0S" } } }, async (body) => {
        const { signal, save } = body;
        await clock.sleep(clock.now() + 60_000, signal);
        seen.push(signal.reason);
        await clock.sleep(clock.now() + 1);
        seen.push(await rejectionOf(save(1)));
      }),
    );
    const { id } = await scheduler.addJob(task);
    const ticking = scheduler.tick();
    for (let second = 0; second < 25; second++) await clock.advance("PT1S");
    await ticking;
    const timeout = {
      code: "jobTimeout",
      message: expect.stringMatching(/step "a" of job .* ran longer than 10000 ms/),
    };
    const late = { code: "step", message: expect.stringMatching(/came after its end/) };
    expect(seen).toMatchObject([timeout, late, timeout, late]);
    expect((await scheduler.getJobResult(id))?.error).toMatchObject(timeout);
  });
});

describe("a sleep", () => {
  test("ends the attempt, spends none, and returns in a later one", async () => {
    const { scheduler, clock } = setUp();
    const events = recordEvents(scheduler);
    const seen: unknown[] = [];
    const task = scheduler.task("t", { maxRunningJobs: 1 }, async (_: undefined, { step, attempt, fence }) => {
      seen.push([attempt, fence]);
      await step.sleep("settle", "2d");
      return clock.now() - START_MS;
    });
    const job = await scheduler.addJob(task);
    await drain(scheduler);
    const asleep = await job.refresh();
    expect(asleep).toMatchObject({ state: "queued", sleepsIn: "settle", failedAttempts: 0, recoveries: 0, snoozes: 0 });
    expect([secondsOf(asleep.runAt), asleep.acquiredBy]).toEqual([172_800, null]);
    const other = await scheduler.addJob(task);
    await drain(scheduler);
    expect((await other.refresh()).sleepsIn).toBe("settle");
    await clock.advance("P2D");
    await drain(scheduler);
    expect(await job.result()).toMatchObject({ outcome: "success", attempts: 1, returnValue: 172_800_000 });
    expect(seen).toEqual([
      [1, 1],
      [1, 1],
      [1, 2],
      [1, 2],
    ]);
    expect(events.filter((text) => text.startsWith("jobS"))).toEqual(["jobSleeps", "jobSleeps"]);
  });

  test("until an instant that has passed returns at once", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (_: undefined, { step }) => step.sleepUntil("a", at(-1)));
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 1 });
  });

  test("beside others lets the steps that run end first, and wakes with the first of the sleeps", async () => {
    const { scheduler, clock } = setUp();
    const seen: unknown[] = [];
    const task = scheduler.task("t", async (_: undefined, { step }) => {
      const body = async () => {
        await clock.sleep(clock.now() + 1000);
        seen.push("ran");
      };
      await Promise.all([
        step.sleep("long", "PT1H").then(() => seen.push(["long", clock.now() - START_MS])),
        step.sleep("short", "PT1M").then(() => seen.push(["short", clock.now() - START_MS])),
        step.run("work", body),
      ]);
    });
    const { id } = await scheduler.addJob(task);
    const ticking = drain(scheduler);
    await clock.advance("PT1S");
    await ticking;
    expect(secondsOf((await scheduler.getJob(id)).runAt)).toBe(60);
    await clock.advance("PT59S");
    await drain(scheduler);
    await clock.advance("PT1H");
    await drain(scheduler);
    expect(seen).toEqual(["ran", ["short", 60_000], ["short", 3_660_000], ["long", 3_660_000]]);
    expect((await scheduler.getJobResult(id))?.outcome).toBe("success");
  });

  test("is no failure even where the handler catches its error", async () => {
    const { scheduler, clock } = setUp();
    const caught: unknown[] = [];
    const task = scheduler.task("t", async (_: undefined, { step }) => {
      try {
        await step.sleep("a", "PT1H");
        return "slept";
      } catch (error) {
        caught.push(error, await rejectionOf(step.run("b", () => 1)));
        return "caught";
      }
    });
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect(caught).toEqual([expect.any(JobSleepError), caught[0]]);
    await clock.advance("PT1H");
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.returnValue).toBe("slept");
  });

  test("is no failure where the handler gives its error another form", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", async (_: undefined, { step }) => {
      try {
        await step.sleep("a", "PT1H");
      } catch (error) {
        throw new Error("the handler failed", { cause: new Error("within", { cause: error }) });
      }
    });
    const job = await scheduler.addJob(task);
    await drain(scheduler);
    expect(await job.refresh()).toMatchObject({ state: "queued", sleepsIn: "a", failedAttempts: 0 });
  });

  test("of a job that is cancelled ends at once", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (_: undefined, { step }) => step.sleep("a", "PT1H"));
    const job = await scheduler.addJob(task);
    await drain(scheduler);
    expect(await job.cancel()).toBe("delivered");
    expect(await job.result()).toMatchObject({ outcome: "cancelled" });
  });

  test("keeps no place of its key, takes a token where it goes on, and keeps the next fire from making a job", async () => {
    const { scheduler, clock } = setUp();
    const begun: unknown[] = [];
    const keyed = { maxRunningPerKey: 1, concurrencyKey: () => "k" };
    const task = scheduler.task("keyed", keyed, async (name: string, { step }) => {
      begun.push(name);
      if (name === "a") await step.sleep("settle", "PT1H");
    });
    await scheduler.addJobs(["a", "b"].map((payload) => ({ task, payload })));
    await drain(scheduler);
    expect(begun).toEqual(["a", "b"]);
    const starts: number[] = [];
    const rated = scheduler.task("rated", { rateLimit: { limit: 1, per: "PT10M", burst: 1 } }, async (_, { step }) => {
      starts.push((clock.now() - START_MS) / 60_000);
      await step.sleep("settle", "PT1M");
    });
    await scheduler.addJob(rated);
    const handler = (_: undefined, { step }: { readonly step: Steps }) => step.sleep("settle", "PT50M");
    scheduler.task("fired", { overlap: "skip", maxRunningJobs: null }, handler as never);
    await scheduler.addSchedule("fired", new IntervalTrigger({ minutes: 20, startTime: at(0) }), { id: "s" });
    for (let minute = 0; minute < 59; minute++) {
      await drain(scheduler);
      await clock.advance("PT1M");
    }
    expect(starts).toEqual([0, 10]);
    const fires = (await scheduler.getOccurrences("s", { order: "oldest" })).items.map(({ verdict }) => verdict);
    expect(fires).toEqual(["success", "overlapSkipped", "overlapSkipped"]);
  });

  test("is explained", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", (_: undefined, { step }) => step.sleep("settle", "2d"));
    await scheduler.addSchedule("t", new DateTrigger(at(60)), { id: "s" });
    await clock.advance("PT1M");
    await drain(scheduler);
    const { verdict, cause, text } = await scheduler.explain("s", at(60));
    expect([verdict, cause]).toEqual(["waiting", { kind: "sleeps", step: "settle", until: at(172_860) }]);
    expect(text).toMatch(/the job sleeps in step "settle" until /);
  });

  test("does not let the job miss its start", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", (_: undefined, { step }) => step.sleep("a", "PT1H"));
    const job = await scheduler.addJob(task, { startDeadline: at(10) });
    await drain(scheduler);
    await clock.advance("PT1H");
    await drain(scheduler);
    expect((await job.result())?.outcome).toBe("success");
  });
});

describe("a RetryAfter", () => {
  test("runs the job again later, without a failure", async () => {
    const { scheduler, clock } = setUp();
    const times: number[] = [];
    const task = scheduler.task("t", (_: undefined, { attempt, job }) => {
      times.push((clock.now() - START_MS) / 1000, attempt, job.snoozes);
      if (times.length < 6) throw new RetryAfter("90s");
      if (times.length < 9) throw new RetryAfter(at(600));
    });
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    const waiting = await scheduler.getJob(id);
    expect(waiting).toMatchObject({ state: "queued", sleepsIn: null, snoozes: 1, failedAttempts: 0 });
    for (let minute = 0; minute < 20; minute++) {
      await clock.advance("PT30S");
      await drain(scheduler);
    }
    expect(times).toEqual([0, 1, 0, 90, 1, 1, 600, 1, 2]);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 1, attemptHistory: [{}] });
  });

  test("counts as a failure beyond maxSnoozes", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", { maxSnoozes: 2 }, () => {
      throw new RetryAfter("1s");
    });
    const { id } = await scheduler.addJob(task);
    for (let second = 0; second < 4; second++) {
      await drain(scheduler);
      await clock.advance("PT1S");
    }
    const result = await scheduler.getJobResult(id);
    expect(result).toMatchObject({ outcome: "error", attempts: 1 });
    expect(result?.error?.message).toMatch(/because the job was put off 2 times \(see maxSnoozes\)/);
  });

  test("thrown in a step ends the attempt, whatever the retry of the step is", async () => {
    const { scheduler, clock } = setUp();
    let calls = 0;
    const task = scheduler.task("t", (_: undefined, { step }) =>
      step.run("a", { retry: { maxAttempts: 5 } }, () => {
        if (++calls === 1) throw new RetryAfter({ minutes: 5 });
      }),
    );
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect([calls, secondsOf((await scheduler.getJob(id)).runAt)]).toEqual([1, 300]);
    await clock.advance("PT5M");
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.outcome).toBe("success");
  });

  test("takes no number and no nonsense", () => {
    for (const after of [90, "soon", null, {}]) {
      expect(() => new RetryAfter(after as never)).toThrow(/after must be/);
    }
  });
});

describe("a job that is given back", () => {
  test("spends a recovery only if this attempt recorded nothing", async () => {
    const { scheduler, clock } = setUp();
    const handler = async (steps: number, context: { step: Steps; signal: AbortSignal }) => {
      for (let index = 0; index < steps; index++) await context.step.run(`${index}`, () => index);
      await clock.sleep(clock.now() + 600_000, context.signal);
      context.signal.throwIfAborted();
    };
    scheduler.task("t", { maxRunningJobs: null }, handler as never);
    const jobs = [];
    for (const steps of [0, 2]) jobs.push(await scheduler.addJob("t", { payload: steps }));
    const ticking = scheduler.tick({ maxDuration: "PT10S" });
    for (let second = 0; second < 20; second++) await clock.advance("PT1S");
    await ticking;
    const recoveries = [];
    for (const job of jobs) recoveries.push((await job.refresh()).recoveries);
    expect(recoveries).toEqual([1, 0]);
  });

  test("goes on in the next tick: 100 steps over 20 ticks, none recorded twice", async () => {
    const { scheduler, clock } = setUp();
    const calls: number[] = [];
    const task = scheduler.task("t", { maxRecoveries: 0 }, async (_: undefined, { step, signal }) => {
      for (let index = 0; index < 100; index++) {
        await step.run(`${index}`, async () => {
          await clock.sleep(clock.now() + 1900, signal);
          signal.throwIfAborted();
          calls.push(index);
        });
      }
      return "done";
    });
    const { id } = await scheduler.addJob(task);
    let ticks = 0;
    for (; ticks < 60 && (await scheduler.getJobResult(id)) === null; ticks++) {
      const ticking = scheduler.tick({ maxDuration: "PT10S" });
      for (let second = 0; second < 12; second++) await clock.advance("PT1S");
      await ticking;
    }
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", returnValue: "done", attempts: 1 });
    expect(calls).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(ticks).toBe(20);
  });
});
