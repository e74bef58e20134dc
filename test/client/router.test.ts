import { describe, expect, test } from "vitest";
import {
  ConflictingIdError,
  CronSyntaxError,
  CronTrigger,
  DateTrigger,
  defineTasks,
  ExcludingTrigger,
  IntervalTrigger,
  JobCancelledError,
  JobLookupError,
  OptionsError,
  PayloadError,
  RetryAfter,
  ScheduleLookupError,
  type Scheduler,
  type SchedulerClient,
  SerializationError,
  SkipRun,
  type StandardSchemaV1,
  StoreRefusedError,
  TaskLookupError,
  Temporal,
} from "../../src/mod.ts";
import { drain, type VirtualClock } from "../../src/testing/mod.ts";
import { at, rejectionOf, setUp } from "../scheduler/support.ts";
import { setUpBehindRouter } from "./support.ts";

/** A scheduler, and a client of it: the scheduler itself, or one behind a router. */
interface Side {
  readonly client: SchedulerClient;
  readonly scheduler: Scheduler;
  readonly clock: VirtualClock;
}

/** A failure whose lines are the same each time: Bun may write them by the sources at one time, and by the built text at
 *  another. */
const FAILURE = new RangeError("no", { cause: Object.assign(new Error("why"), { stack: "Error: why" }) });
FAILURE.stack = "RangeError: no";

/** Does the same with a scheduler in this process, and with one behind a router, and compares what was returned. */
async function expectSame(script: (side: Side) => Promise<unknown>): Promise<void> {
  const near = setUp();
  const far = setUpBehindRouter();
  const asJSON = async (side: Side): Promise<unknown> => withoutIdentity(await script(side), side.scheduler.identity);
  expect(await asJSON(far)).toEqual(await asJSON({ ...near, client: near.scheduler }));
}

/** A value as JSON, without the name of the scheduler behind it. */
function withoutIdentity(value: unknown, identity: string): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(identity, "IDENTITY"));
}

/** What went wrong, as a value. */
async function refusal(promise: Promise<unknown>): Promise<unknown> {
  const error = (await rejectionOf(promise)) as Error & { issues?: unknown; id?: unknown };
  const { name, message, issues, id } = error;
  return { class: error.constructor.name, name, message, issues, id, own: { ...error } };
}

describe("a client behind a router does what a scheduler does:", () => {
  test("schedules are changed, replaced and removed only while they have the revision that was read", async () => {
    await expectSame(async ({ client, scheduler, clock }) => {
      scheduler.task("report", () => {});
      const first = await client.addSchedule("report", "0 9 * * *", { id: "s" });
      await clock.advance({ hours: 10 });
      await scheduler.tick();
      const { revision, lastFireTime } = await first.refresh();
      const second = await first.update({ priority: 1 }, { ifRevision: revision });
      const late = { ifRevision: revision };
      const replace = { id: "s", conflictPolicy: "replace", priority: 2 } as const;
      return [
        [revision === first.revision, lastFireTime !== null, second],
        await refusal(client.updateSchedule("s", { priority: 3 }, late)),
        await refusal(client.addSchedule("report", "0 9 * * *", { ...replace, ...late })),
        await refusal(client.addSchedule("report", "0 9 * * *", { id: "s", ...late })),
        await refusal(client.removeSchedule("s", late)),
        await client.addSchedule("report", "0 8 * * *", { ...replace, ifRevision: second.revision }),
        await (await client.getSchedule("s")).pause(),
        await client.removeSchedule("s", { ifRevision: second.revision + 2 }),
        await refusal(client.removeSchedule("s", late)),
      ];
    });
  });

  test("schedules are added, read, changed, paused, run, previewed and removed", async () => {
    await expectSame(async ({ client, scheduler }) => {
      scheduler.task("report", () => {});
      const said: unknown[] = [
        await client.addSchedule("report", "0 9 * * mon-fri", {
          ...{ id: "a/b.c %é", name: "Weekdays", payload: { a: [1, null] }, coalesce: "all", misfireGraceTime: "5m" },
          ...{
            maxJitter: { seconds: 1 },
            catchUp: { maxAge: "1h", maxCount: 3, pace: null },
            overlap: "skip",
            metadata: { owner: "x" },
            priority: 2,
          },
          ...{ resultExpirationTime: "PT1H", concurrencyKey: "k", executor: "inline", conflictPolicy: "error" },
          ...{ expectStartWithin: { minutes: 5 }, expectFinishWithin: "PT1H" },
        }),
        await client.addSchedule("report", new IntervalTrigger({ minutes: 5 }), { id: "i", paused: true }),
        await client.addSchedule("report", new DateTrigger(at(9)), { id: "d" }),
      ];
      said.push(await client.getSchedule("a/b.c %é"));
      said.push(await client.getSchedules({ limit: 2 }), await client.getSchedules({ paused: true, taskId: "report" }));
      said.push(await client.updateSchedule("i", { trigger: "*/5 * * * *", payload: null, misfireGraceTime: null }));
      said.push(await client.updateSchedule("d", { nextFireTime: at(12), concurrencyKey: null, metadata: { b: 1 } }));
      said.push(await client.pauseSchedule("d"), await client.unpauseSchedule("d", { resumeFrom: "now" }));
      said.push(await client.unpauseSchedule("i", { resumeFrom: at(5) }), await client.unpauseSchedule("i"));
      said.push((await client.previewSchedule("a/b.c %é", { limit: 3 })).map(String));
      said.push((await client.previewSchedule("i", { limit: 2, from: at(3600) })).map(String));
      said.push(
        await client.previewSchedule("i", { limit: 0 }),
        await client.runScheduleNow("i", { idempotencyKey: "j" }),
      );
      said.push(await client.runScheduleNow("i", { idempotencyKey: "k", uniqueFor: "1h" }));
      said.push(await client.runScheduleNow("i", { idempotencyKey: "k" }));
      said.push(await client.getSchedules({ search: "WEEK", state: "active", sort: "nextFireTime" }));
      said.push(
        await client.pauseSchedules({ ids: ["d", "missing"] }),
        await client.pauseSchedules({ taskId: "none" }),
      );
      said.push(await client.unpauseSchedules({ all: true }, { resumeFrom: at(5) }));
      said.push(await client.removeSchedules({ ids: ["d", "missing"] }), await client.removeSchedule("i"));
      const lines: string[] = [];
      await client.printSchedules({ write: (line) => lines.push(line) });
      const all: string[] = [];
      for await (const { id } of client.getSchedules({ limit: 1 })) all.push(id);
      return [...said, lines, all];
    });
  });

  test("jobs are added, read, cancelled, run, retried and removed", async () => {
    await expectSame(async ({ client, scheduler, clock }) => {
      scheduler.task("add", { maxRunningJobs: null }, (list: number[]) => list.reduce((sum, n) => sum + n, 0));
      scheduler.task("fail", () => Promise.reject(FAILURE));
      const said: unknown[] = [
        await client.addJob("add", {
          ...{ payload: [1, 2], idempotencyKey: "k1", metadata: { a: 1 }, priority: 3, resultExpirationTime: "PT1H" },
          ...{ startDeadline: at(60), runAt: at(1), concurrencyKey: "c", executor: "inline", uniqueFor: "1h" },
        }),
        await client.addJob("add", {
          payload: [4],
          ...{ delay: { minutes: 5 }, idempotencyKey: "k0", retry: { backoff: { max: "1m" } } },
        }),
        await client.addJob("add", { payload: [5], debounce: { key: "d", wait: "5s", maxWait: "1m" } }),
        await client.addJob("add", { payload: [6], throttle: { key: "t", per: { minutes: 1 } } }),
        await client.addJob("add", { payload: [7], throttle: { key: "t", per: { minutes: 1 } } }),
      ];
      const many = await client.addJobs([
        { task: "add", payload: [3, 4], idempotencyKey: "k2" },
        { task: "fail", idempotencyKey: "k3" },
      ]);
      const { jobs, then } = await client.addBatch([{ task: "fail", idempotencyKey: "k4" }], {
        then: { task: "add", payload: [8], onParentFailure: "run", idempotencyKey: "k5", after: [many[0]] },
      });
      said.push(many, jobs, then, await client.getJobs({ taskId: "fail", limit: 1 }), await client.getJob(then.id));
      said.push(await client.cancelJob(many[0].id), await client.cancelJob(many[0].id), await then.refresh());
      said.push(await client.getJobResult(then.id), await client.addJobs([]));
      said.push(await client.getJobs({ search: "k1", state: "queued", from: at(1), until: at(2) }));
      said.push((await client.getJobs({ order: "newest" })).items.map(({ id }) => id));
      await clock.advance("PT1M");
      await scheduler.tick();
      await scheduler.tick();
      said.push(await client.getJobResults({ search: "RangeError" }));
      said.push(await client.getJobResults(), await client.getJobResults({ outcome: "error", order: "oldest" }));
      said.push(await client.getJobResults({ from: at(60), until: at(61), taskId: "add" }));
      said.push(await client.getRuns(), await client.getRuns({ outcome: ["error", "cancelled"], minRunTime: "0s" }));
      said.push(await client.getRuns({ state: ["queued", "ended"], minAttempts: 1, from: at(1) }));
      said.push(await client.getRun(then.id), await refusal(client.getRun("none")));
      const { groups, seen } = await client.getFailures({ from: at(0) });
      said.push(
        groups,
        seen,
        (await client.getFailures({ groupBy: "task" })).groups.map((group) => group.toRow()),
      );
      const include = { total: true, facets: true };
      said.push(await client.getRuns({ include, limit: 1, outcome: "error" }), await client.getJobs({ include }));
      said.push(await client.getSchedules({ include: { ...include, next: 1 }, limit: 1, state: "paused" }));
      said.push(
        await client.getJobs({ include: { total: true } }),
        await client.getRuns({ include: { facets: true } }),
      );
      said.push(await client.getTask("fail"), await refusal(client.getTask("none")));
      const stats = { from: at(0), until: at(7200), bucket: { hours: 2 } };
      said.push(await client.getStats({ ...stats, by: "task" }), await client.getStats({ taskId: "fail" }));
      said.push(await client.getStats({ by: "schedule" }), await refusal(client.getStats({ ...stats, bucket: "1m" })));
      said.push((await client.getSchedules({ include: { stats: true, next: 1 } })).items.map(({ stats: one }) => one));
      said.push(await client.getJobResult(many[0].id), await refusal(Promise.resolve(jobs[0]?.wait())));
      said.push(await client.retryJob(many[1].id), await client.retryJobs({ failureKey: groups[0]?.key ?? "" }));
      said.push(await client.cancelJobs({ taskId: "fail" }), await client.cancelJobs({ all: true }));
      const purge = { outcome: ["error", "success"], minAttempts: 1, maxRunTime: "5m", labels: { a: "b" } } as const;
      said.push(await client.removeJobResults({ ...purge, dryRun: true }), await client.removeJobResults(purge));
      said.push(await client.removeJobResults({ search: "RANGE", dryRun: true }));
      said.push(await client.removeJobResults({ ids: [many[0].id, "none"], dryRun: true }));
      said.push(await client.removeJobResults({ ids: [many[0].id, "none"] }));
      said.push(await client.removeJobResults({ outcome: "cancelled" }), await client.getJobResult("missing"));
      await client.cleanup();
      return said;
    });
  });

  test("schedules are listed by ids, with fire times to come and runs", async () => {
    await expectSame(async ({ client, scheduler, clock }) => {
      scheduler.task("t", () => {});
      for (const id of ["a", "b", "c,d"]) await client.addSchedule("t", "* * * * *", { id });
      await clock.advance("PT1M");
      await scheduler.tick();
      const { items } = await client.getSchedules({ ids: ["c,d", "a"], include: { next: 3, runs: 2 } });
      return [items, items.map(({ next, runs }) => [next?.map(String), runs?.map((run) => run.toRow())])];
    });
  });

  test("steps are shown, sleeps explained, and jobs begun anew", async () => {
    await expectSame(async ({ client, scheduler, clock }) => {
      let isBroken = true;
      scheduler.task("steps", async (_: undefined, { step }) => {
        await step.run(
          "load",
          { retry: { maxAttempts: 2, backoff: { initial: "PT0S" } } },
          async ({ cursor, save }) => {
            await save({ page: 1 });
            if (cursor === undefined) throw new Error("no");
            return [1, "two", null];
          },
        );
        await step.sleep("settle", "1d");
        if (isBroken) throw new Error("broken");
      });
      scheduler.task("poll", { maxSnoozes: 1 }, () => {
        throw new RetryAfter("1m");
      });
      await client.addSchedule("steps", new DateTrigger(at(1)), { id: "s" });
      await client.addSchedule("poll", new DateTrigger(at(1)), { id: "p" });
      await clock.advance("PT1S");
      await drain(scheduler);
      const [job] = (await client.getJobs({ taskId: "steps" })).items;
      const id = job?.id ?? "";
      const said: unknown[] = [(await client.getJobs()).items.map(({ sleepsIn, snoozes }) => [sleepsIn, snoozes])];
      said.push(
        await job?.steps(),
        (await client.getTasks()).map(({ maxSnoozes }) => maxSnoozes),
      );
      said.push(await client.explain("s", at(1)), await client.explain("p", at(1)));
      await clock.advance("P1D");
      await drain(scheduler);
      isBroken = false;
      said.push(await client.getJobSteps(id), await client.getJobSteps((await client.retryJob(id)).id));
      await drain(scheduler);
      said.push(await client.getJobResult(`${id}~1`), await client.retryJob(`${id}~1`, { restart: true }));
      said.push(await client.getJobSteps(`${id}~2`), await refusal(client.getJobSteps("none")));
      return said;
    });
  });

  test("occurrences are listed and explained, and changes told with who made them", async () => {
    await expectSame(async ({ client, scheduler, clock }) => {
      let runs = 0;
      scheduler.task("report", () => {
        if (++runs === 2) throw new RangeError("no paper");
      });
      const rule = CronTrigger.fromCrontab("0 * * * *", { timeZone: "Europe/Berlin" });
      await client.addSchedule("report", rule, { id: "s", by: "ada" });
      for (let hour = 1; hour <= 5; hour++) {
        await clock.advance(hour === 1 ? "PT1H1S" : "PT1H");
        if (hour === 3) await client.pauseSchedule("s", { by: "bob" });
        if (hour === 4) await client.unpauseSchedule("s", { resumeFrom: "now", by: "cy" });
        await scheduler.tick();
      }
      await client.updateSchedule("s", { priority: 2, trigger: "*/5 * * * *" }, { by: "dee" });
      await client.pauseTask("report", { by: "eve" });
      const said: unknown[] = [
        await client.getOccurrences("s"),
        await client.getOccurrences("s", { verdict: "paused", from: at(2 * 3600), until: at(4 * 3600) }),
        await client.getOccurrences("s", { verdict: ["error", "success"], order: "oldest", limit: 2 }),
        await client.getScheduleChanges("s", { order: "oldest", limit: 2 }),
      ];
      for (const asked of [
        ...[at(3600), at(7200).toZonedDateTimeISO("Asia/Tokyo"), "2030-01-01T02:00:00Z", "2030-01-01 03:00"],
        ...[Temporal.PlainDateTime.from("2030-01-01T05:00"), Temporal.PlainDate.from("2030-01-02"), "2030-01-01T05"],
        ...["2029-12-31", at(0.5), new Date("2030-01-01T03:00:00Z")],
      ]) {
        said.push(await client.explain("s", asked));
      }
      const all: unknown[] = [];
      for await (const { verdict, run } of client.getOccurrences("s", { limit: 1 })) {
        all.push([verdict, String(run?.lateness)]);
      }
      for await (const { by, kind } of client.getScheduleChanges("s", { limit: 1 })) all.push([by, kind]);
      await client.removeSchedule("s", { by: "fay" });
      return withoutIdentity([...said, all, await client.getScheduleChanges("s", { limit: 1 })], scheduler.identity);
    });
  });

  test("tasks are read, paused and removed, and the health is told", async () => {
    await expectSame(async ({ client, scheduler }) => {
      const settings = {
        ...{ maxRunningPerKey: 2, rateLimit: { limit: 14, per: "1s" }, fair: true, timeout: "30s" },
        ...{ retry: { maxAttempts: 3, backoff: { initial: "2s" } }, metadata: { a: 1 }, misfireGraceTime: "1m" },
      } as const;
      scheduler.task("mail", { ...settings, concurrencyKey: () => "k" }, () => {});
      scheduler.task("other", () => {});
      const said: unknown[] = [await client.getTasks()];
      said.push(await client.pauseTask("mail", { key: "tenant 7" }), await client.pauseTask("other"));
      said.push(await client.getTasks(), (await client.health()).pausedTasks);
      said.push(await client.unpauseTask("mail", { key: "tenant 7" }), await client.unpauseTask("other"));
      await client.removeTask("other");
      const { pausedTasks, backlog, isStoreReached, schedulers, oldestDueJob, checkedAt } = await client.health();
      return [
        ...said,
        await client.getTasks(),
        { pausedTasks, backlog, isStoreReached, schedulers, oldestDueJob, checkedAt },
      ];
    });
  });

  test("what is refused, is refused by the same errors", async () => {
    await expectSame(async ({ client, scheduler }) => {
      scheduler.task("t", () => {});
      const schema: StandardSchemaV1 = {
        "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "is bad", path: ["a"] }] }) },
      };
      scheduler.task("strict", { schema }, () => {});
      // The key of one of many jobs is told here by a function that fails.
      const { keyed } = defineTasks({
        keyed: { settings: { concurrencyKey: () => 7 as unknown as string }, handler: () => {} },
      });
      scheduler.use({ keyed });
      await client.addSchedule("t", "0 9 * * *", { id: "s" });
      const job = await client.addJob("t", { idempotencyKey: "k" });
      const done = await client.addJob("t", { idempotencyKey: "done" });
      await client.cancelJob(done.id);
      const retried = await client.retryJob(done.id);
      await client.cancelJob(retried.id);
      return Promise.all(
        [
          client.getSchedule("none"),
          client.updateSchedule("none", { priority: 1 }),
          client.removeSchedule("none"),
          client.runScheduleNow("none"),
          client.previewSchedule("none", { limit: 1 }),
          client.explain("none", "2030-01-01"),
          client.explain("s", "soon"),
          client.explain("s", "2030-02-30"),
          client.explain("", "2030-01-01"),
          Promise.resolve(client.getOccurrences("none")),
          Promise.resolve(client.getOccurrences("s", { verdict: "ran" as "success" })),
          Promise.resolve(client.getOccurrences("s", { verdict: [] })),
          Promise.resolve(client.getOccurrences("s", { from: "soon" })),
          Promise.resolve(client.getScheduleChanges("none")),
          Promise.resolve(client.getScheduleChanges("s", { limit: 1001 })),
          client.pauseSchedule("s", { by: "" }),
          client.updateSchedule("s", { priority: 1 }, { by: "x".repeat(201) }),
          client.removeSchedule("s", { who: "ada" } as object),
          client.pauseTask("t", { by: 7 } as object),
          client.getJob("none"),
          client.getJobResult("none", { wait: true }),
          client.retryJob("none"),
          client.retryJob(job.id),
          client.retryJob(done.id),
          client.removeTask("none"),
          client.removeTask("t"),
          client.pauseTask("none"),
          client.addJob("none"),
          client.addSchedule("none", "0 9 * * *"),
          client.addSchedule("t", "0 9 * * *", { id: "s", conflictPolicy: "error" }),
          client.addSchedule("t", "0 25 * * *"),
          client.addSchedule("t", new CronTrigger({ hour: 9 }), { priorty: 1 } as object),
          client.updateSchedule("s", { paused: true } as object),
          client.addJob("strict", { payload: 1 }),
          client.addJob("t", { payload: new Date(0) }),
          client.addJob("t", { priority: "high" } as object),
          client.addJobs([{ task: "t" }, { task: "t", payload: Number.NaN }]),
          client.addJobs([{ task: "t", priority: 0.5 }]),
          client.addJobs([{ task: "t" }, { task: keyed }]),
          client.addJob("t", { after: ["none"] }).catch(({ name }) => Promise.reject(new Error(name))),
          client.cancelJobs({}),
          Promise.resolve(client.getSchedules({ limit: 0 })),
          Promise.resolve(client.getJobs({ cursor: "\0" })),
          client.removeSchedules({}),
        ].map(refusal),
      );
    });
  });
});

describe("a client behind a router", () => {
  test("gets instants, zones and durations as Temporal has them", async () => {
    const { client, scheduler, clock } = setUpBehindRouter();
    scheduler.task("t", () => {});
    const rule = CronTrigger.fromCrontab("30 2 * * *", {
      timeZone: "Europe/Berlin",
      startTime: "2030-03-31T00:00:00Z",
    });
    await client.addSchedule("t", rule, { id: "s" });
    await clock.advanceTo("2030-03-31T01:00:02Z");
    await scheduler.tick();
    const {
      items: [occurrence],
    } = await client.getOccurrences("s");
    expect([
      String(occurrence?.fireTime),
      String(occurrence?.run?.lateness),
      String(occurrence?.run?.startedAt),
    ]).toEqual(["2030-03-31T03:00:00+02:00[Europe/Berlin]", "PT2S", "2030-03-31T01:00:02Z"]);
    const { verdict, clockChanges, after } = await client.explain("s", "2030-03-31 02:30");
    expect([verdict, String(after), clockChanges.map(({ from, to }) => [String(from), String(to)])]).toEqual([
      ...["success", "2030-04-01T02:30:00+02:00[Europe/Berlin]"],
      [["2030-03-31T02:00:00", "2030-03-31T03:00:00"]],
    ]);
    expect(clockChanges[0]?.from).toBeInstanceOf(Temporal.PlainDateTime);
  });

  test("sees the last failure of a schedule, and may send back what it read", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("t", () => {
      throw new Error("broken");
    });
    await client.addSchedule("t", new DateTrigger(at(0)), { id: "s", failureExpirationTime: "2d" });
    await scheduler.tick();
    const there = await scheduler.getSchedule("s");
    const here = await client.getSchedule("s");
    expect(here.toJSON()).toEqual(there.toJSON());
    expect(here.lastFailure).toMatchObject({
      outcome: "error",
      error: { name: "Error", message: "broken", code: null },
    });
    expect(String(here.failureExpirationTime)).toBe("PT48H");
  });

  test("hears of a run that its handler skipped, which is no failure", async () => {
    const { client, scheduler, clock } = setUpBehindRouter();
    scheduler.task("t", () => {
      throw new SkipRun("nothing to do");
    });
    await scheduler.start();
    await client.addSchedule("t", new DateTrigger(at(0)), { id: "s" });
    await clock.advance("PT1S");
    const { items } = await client.getJobResults({ outcome: "skipped" });
    expect(items).toMatchObject([{ outcome: "skipped", error: { cause: { message: "nothing to do" } } }]);
    expect(await rejectionOf(Promise.resolve().then(() => items[0]?.unwrap()))).toMatchObject({ code: "jobSkipped" });
    expect(await client.retryJobs({ all: true })).toMatchObject({ retried: 0 });
    expect((await client.getRuns({ outcome: "skipped" })).items.map(({ outcome }) => outcome)).toEqual(["skipped"]);
    const [occurrence] = (await client.getOccurrences("s", { verdict: "declined" })).items;
    expect(occurrence?.verdict).toBe("declined");
    const { cause } = await client.explain("s", at(0));
    expect(cause).toEqual({ kind: "declined", reason: "nothing to do" });
    await scheduler.stop();
  });

  test("hears from which excluded date a fire time was moved", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("t", () => {});
    const days = CronTrigger.fromCrontab("0 9 4 1 *", { timeZone: "Europe/Berlin" });
    await client.addSchedule("t", new ExcludingTrigger(days, ["2030-01-04"], { shift: "after" }), { id: "s" });
    const [fire] = await client.previewSchedule("s", { limit: 1 });
    const [there] = await scheduler.previewSchedule("s", { limit: 1 });
    expect(fire?.toJSON()).toEqual(there?.toJSON());
    expect(String(fire?.shiftedFrom)).toBe("2030-01-04T09:00:00+01:00[Europe/Berlin]");
    const { shiftedFrom } = await client.explain("s", "2030-01-05 09:00");
    expect(String(shiftedFrom)).toBe("2030-01-04T09:00:00+01:00[Europe/Berlin]");
  });

  test("may not say who it is where its token does", async () => {
    const tokens = [{ token: "a-token-of-the-deploys", scope: "write", name: "deploys" }] as const;
    const { client, scheduler } = setUpBehindRouter({ token: tokens[0].token }, { auth: { tokens } });
    scheduler.task("t", () => {});
    await client.addSchedule("t", "0 9 * * *", { id: "s" });
    expect(await rejectionOf(client.pauseSchedule("s", { by: "ada" }))).toBeInstanceOf(OptionsError);
    const { items } = await client.getScheduleChanges("s");
    expect(items.map(({ by, kind }) => [by, kind])).toEqual([["deploys", "added"]]);
  });

  test("tells what its token may do, and whose it is", async () => {
    const tokens = [{ token: "a-token-of-the-deploys", scope: "read", name: "deploys" }] as const;
    const { client } = setUpBehindRouter({ token: tokens[0].token }, { auth: { tokens } });
    expect(await client.session()).toEqual({ scope: "read", name: "deploys", expiresAt: null });
    const stranger = setUpBehindRouter({ token: "another" }, { auth: { tokens } });
    expect(await rejectionOf(stranger.client.session())).toMatchObject({ code: "unauthorized", status: 401 });
  });

  test("waits for a job, and gets the value or the error of its handler", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("add", { resultExpirationTime: { seconds: 0 } }, (list: number[]) => list[0]);
    scheduler.task("fail", () => Promise.reject(new RangeError("no")));
    await scheduler.start();
    expect(await client.runJob("add", { payload: [7] })).toBe(7);
    expect(await rejectionOf(client.runJob("fail"))).toMatchObject({ name: "RangeError", message: "no" });
    const job = await client.addJob("fail", { runAt: at(3600) });
    const wait = rejectionOf(job.wait());
    expect(await job.cancel()).toBe("delivered");
    expect(await wait).toBeInstanceOf(JobCancelledError);
  });

  test("waits over several requests", async () => {
    const { client, scheduler, clock } = setUpBehindRouter();
    scheduler.task("late", () => "at last");
    await scheduler.start();
    const job = await client.addJob("late", { runAt: at(90) });
    const [value] = await Promise.all([job.wait(), clock.advance("PT2M")]);
    expect(value).toBe("at last");
  });

  test("adds jobs of shared tasks, checked before they travel, and with their key", async () => {
    const { client, scheduler } = setUpBehindRouter();
    const schema: StandardSchemaV1<{ tenant: string }> = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) =>
          typeof (value as { tenant?: unknown })?.tenant === "string"
            ? { value: value as { tenant: string } }
            : { issues: [{ message: "is missing", path: ["tenant"] }] },
      },
    };
    const tasks = defineTasks({
      sync: { schema, settings: { concurrencyKey: ({ tenant }) => tenant, maxRunningPerKey: 1 } },
    });
    scheduler.task("sync", { maxRunningPerKey: 1, concurrencyKey: () => null }, () => {});
    const job = await client.addJob(tasks.sync, { payload: { tenant: "seven" } });
    expect(job.concurrencyKey).toBe("seven");
    expect(await rejectionOf(client.addJob(tasks.sync, { payload: {} as { tenant: string } }))).toBeInstanceOf(
      PayloadError,
    );
  });

  test("takes a function for the task of its name", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("greet", () => {});
    function greet(): void {}
    expect((await client.addJob(greet)).taskId).toBe("greet");
    expect(await rejectionOf(client.addJob(() => {}))).toBeInstanceOf(OptionsError);
  });

  test("refuses what has no form over HTTP", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("t", () => {});
    await client.addSchedule("t", "0 9 * * *", { id: "s", payload: 1 });
    const error = await rejectionOf(client.updateSchedule("s", { payload: undefined }));
    expect(error).toBeInstanceOf(OptionsError);
    expect((error as Error).message).toBe(
      "updateSchedule(): payload must be a value over HTTP, which has no undefined; pass null, or leave payload out " +
        "to keep it",
    );
  });

  test("adds one job, however often its answer is lost", async () => {
    const { router, scheduler, clock } = setUpBehindRouter();
    scheduler.task("t", { maxRunningJobs: null }, () => {});
    let lost = 0;
    const { client } = setUpBehindRouter({
      clock,
      fetch: async (request) => {
        const answer = await router.fetch(request);
        // The job has run and ended before the client asks again.
        await scheduler.tick();
        if (lost++ < 2) throw new TypeError("connection reset");
        return answer;
      },
    });
    const [job] = await Promise.all([client.addJob("t"), clock.advance("PT1M")]);
    expect(job.state).toBe("ended");
    expect((await scheduler.getJobResults()).items.map(({ jobId }) => jobId)).toEqual([job.id]);
  });
});

/** So that the errors above are those that tests of a scheduler expect. */
test("the errors are those of the library", async () => {
  const { client, scheduler } = setUpBehindRouter();
  scheduler.task("t", () => {});
  await client.addSchedule("t", "0 9 * * *", { id: "s" });
  const rejections: [() => Promise<unknown>, abstract new (...given: never[]) => Error][] = [
    [() => client.getSchedule("none"), ScheduleLookupError],
    [() => client.getJob("none"), JobLookupError],
    [() => client.addJob("none"), TaskLookupError],
    [() => client.addSchedule("t", "0 9 * * *", { id: "s", conflictPolicy: "error" }), ConflictingIdError],
    [() => client.addSchedule("t", "0 25 * * *"), CronSyntaxError],
    [() => client.addJob("t", { payload: new Map() }), SerializationError],
    [() => client.addJob("t", { after: ["none"] }), StoreRefusedError],
  ];
  for (const [call, ErrorClass] of rejections) expect(await rejectionOf(call())).toBeInstanceOf(ErrorClass);
});

describe("the events of a router", () => {
  test("reach a client that listens, also those of what the client does", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("t", () => {});
    const added = client.nextEvent("jobAdded");
    const job = await client.addJob("t");
    const here = scheduler.nextEvent("taskPaused");
    const there = client.nextEvent("taskPaused");
    await client.pauseTask("t");
    expect((await added).jobId).toBe(job.id);
    expect({ ...(await there) }).toEqual({ ...(await here) });
  });

  test("go on after a stream has ended, without a loss", async () => {
    const { client, scheduler, clock, clientLog } = setUpBehindRouter();
    scheduler.task("t", () => {});
    const events = client.events("jobAdded");
    const ids = [(await client.addJob("t")).id];
    const heard = [(await events.next()).value.jobId];
    // The router ends streams after ten minutes.
    await clock.advance("PT9M59S");
    for (let count = 0; count < 5; count++) {
      ids.push((await client.addJob("t")).id);
      await clock.advance("PT1S");
    }
    while (heard.length < ids.length) heard.push((await events.next()).value.jobId);
    expect([heard, clientLog]).toEqual([ids, []]);
  });
});
