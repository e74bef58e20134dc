import * as v from "valibot";
import { describe, expectTypeOf, test } from "vitest";
import type { NamedFunction } from "../../src/scheduler/scheduler-client.ts";
import type { JobClient } from "../../src/scheduler/views/job.ts";
import type { ScheduleClient } from "../../src/scheduler/views/schedule.ts";
import type { SqlStatement } from "../../src/stores/libsql/mod.ts";
import {
  type DefinedTask,
  defineTasks,
  everyTrigger,
  type Job,
  type JobContext,
  type JobResult,
  type Listing,
  type NewJob,
  type NewSchedule,
  type Page,
  type Schedule,
  Scheduler,
  type SchedulerClient,
  type SchedulerEvent,
  type StandardSchemaV1,
  type Task,
  type TaskSettings,
  type Temporal,
} from "./names.ts";

const scheduler = new Scheduler();
const person = v.object({ name: v.string(), born: v.pipe(v.string(), v.transform(Number)) });

/** Checked by the compiler alone: never called. */
function typesOnly(_work: (job?: Job) => unknown): void {}

describe("types", () => {
  test("flow from the schema to the handler and to what may be passed", () => {
    const greet = scheduler.task("greet", { schema: person }, (payload, context) => {
      expectTypeOf(payload).toEqualTypeOf<{ name: string; born: number }>();
      expectTypeOf(context).toEqualTypeOf<JobContext>();
      return payload.born > 1900;
    });
    expectTypeOf(greet).toEqualTypeOf<Task<{ name: string; born: string }, boolean>>();
    typesOnly(() => scheduler.addJob(greet, { payload: { name: "Ada", born: "1815" } }));
    // @ts-expect-error what is passed is the schema's input, text
    typesOnly(() => scheduler.addJob(greet, { payload: { name: "Ada", born: 1815 } }));
    // @ts-expect-error a property is missing
    typesOnly(() => scheduler.addSchedule(greet, everyTrigger, { payload: { name: "Ada" } }));
    // @ts-expect-error the same for runJob
    typesOnly(() => scheduler.runJob(greet, { payload: "Ada" }));
  });

  test("flow from any Standard Schema", () => {
    const schema = {} as StandardSchemaV1<string, Date>;
    typesOnly(() => {
      const task = scheduler.task("t", { schema, maxRunningJobs: 2 }, (day) => {
        expectTypeOf(day).toEqualTypeOf<Date>();
      });
      expectTypeOf(task).toEqualTypeOf<Task<string, void>>();
    });
  });

  test("flow from the handler where there is no schema", () => {
    const add = scheduler.task("add", ([a, b]: [number, number]) => a + b);
    expectTypeOf(add).toEqualTypeOf<Task<[number, number], number>>();
    const wait = scheduler.task("wait", { timeout: "PT1S" }, async (ms: number) => `${ms}`);
    expectTypeOf(wait).toExtend<Task<number, string | Promise<string>>>();
    typesOnly(async () => {
      expectTypeOf(await scheduler.runJob(add, { payload: [1, 2] })).toEqualTypeOf<number>();
      expectTypeOf(await scheduler.runJob(wait, { payload: 5 })).toEqualTypeOf<string>();
    });
    // @ts-expect-error the payload is a pair
    typesOnly(() => scheduler.addJob(add, { payload: [1] }));
  });

  test("flow from the schema, or from what is said, where an executor has the handler", () => {
    const executor = "threads";
    typesOnly(() => {
      const greet = scheduler.task("greet", { executor, schema: person });
      expectTypeOf(greet).toEqualTypeOf<Task<{ name: string; born: string }, unknown>>();
      expectTypeOf(scheduler.task<number, string>("double", { executor })).toEqualTypeOf<Task<number, string>>();
      expectTypeOf(scheduler.task("any", { executor })).toEqualTypeOf<Task<unknown, unknown>>();
      // @ts-expect-error a task without an executor of its own needs a handler
      scheduler.task("none", { timeout: "PT1S" });
    });
  });

  test("flow to the function that tells the concurrency key", () => {
    scheduler.task("greet", { schema: person, concurrencyKey: ({ name }) => name }, () => {});
    scheduler.task("sync", { concurrencyKey: (payload) => payload.tenant }, (_payload: { tenant: string }) => {});
    const sync = scheduler.task("sync", { concurrencyKey: ({ tenant }: { tenant: string }) => tenant }, () => {});
    expectTypeOf(sync).toEqualTypeOf<Task<{ tenant: string }, void>>();
    defineTasks({ greet: { schema: person, settings: { concurrencyKey: ({ born }) => `${born + 1}` } } });
    typesOnly(() => scheduler.schedule("greet", "* * * * *", { concurrencyKey: () => null }, () => {}));
    typesOnly(() => [
      scheduler.addJob("sync", { concurrencyKey: "a" }),
      scheduler.addJob("sync", { concurrencyKey: null }),
    ]);
    // @ts-expect-error a key is text
    typesOnly(() => scheduler.task("greet", { schema: person, concurrencyKey: ({ born }) => born }, () => {}));
    // @ts-expect-error a payload has no such property
    typesOnly(() => scheduler.task("greet", { schema: person, concurrencyKey: (it) => it.tenant }, () => {}));
    // @ts-expect-error `per` is missing
    typesOnly(() => scheduler.task("sync", { rateLimit: { limit: 14 } }, () => {}));
    const settings: TaskSettings = { maxRunningPerKey: 2 };
    typesOnly(() => scheduler.task("sync", settings, (_name: string) => {}));
  });

  test("of a burst, a throttle and a window are told in full", () => {
    const sync = scheduler.task("sync", () => 1);
    typesOnly(() => scheduler.addJob(sync, { debounce: { key: "k", wait: "5s", maxWait: { minutes: 1 } } }));
    typesOnly(() => scheduler.runJob(sync, { throttle: { key: "k", per: "1m" } }));
    typesOnly(() => scheduler.addJobs([{ task: sync, idempotencyKey: "k", uniqueFor: "1d" }]));
    // @ts-expect-error `wait` is missing
    typesOnly(() => scheduler.addJob(sync, { debounce: { key: "k" } }));
    // @ts-expect-error a time needs a unit
    typesOnly(() => scheduler.addJob(sync, { throttle: { key: "k", per: 60 } }));
    // @ts-expect-error schedules have `coalesce` and `overlap`
    typesOnly(() => scheduler.addSchedule(sync, everyTrigger, { throttle: { key: "k", per: "1m" } }));
    typesOnly(async () => {
      expectTypeOf((await scheduler.addJob(sync)).state).toEqualTypeOf<"queued" | "blocked" | "running" | "ended">();
    });
  });

  test("a task without a payload takes none", () => {
    const tidy = scheduler.task("tidy", () => {});
    expectTypeOf(tidy).toEqualTypeOf<Task<undefined, void>>();
    typesOnly(() => scheduler.addJob(tidy));
    // @ts-expect-error there is nothing to pass
    typesOnly(() => scheduler.addJob(tidy, { payload: 1 }));
  });

  test("flow through named functions; an id takes anything", () => {
    async function double(value: number): Promise<number> {
      return 2 * value;
    }
    expectTypeOf(double).toExtend<NamedFunction>();
    typesOnly(async () => {
      expectTypeOf(await scheduler.runJob(double, { payload: 2 })).toEqualTypeOf<number>();
      expectTypeOf(await scheduler.runJob("double", { payload: 2 })).toEqualTypeOf<unknown>();
    });
    // @ts-expect-error a number is asked for
    typesOnly(() => scheduler.addJob(double, { payload: "2" }));
  });

  test("a payload that a task needs may not be left out", () => {
    const greet = scheduler.task("greet", { schema: person }, () => {});
    const double = (value: number): number => 2 * value;
    const maybe = scheduler.task("maybe", (_name: string | undefined) => {});
    // @ts-expect-error no options at all
    typesOnly(() => scheduler.addJob(greet));
    // @ts-expect-error other options
    typesOnly(() => scheduler.addJob(greet, { priority: 1 }));
    // @ts-expect-error undefined is no payload of this task
    typesOnly(() => scheduler.addJob(greet, { payload: undefined }));
    // @ts-expect-error the same for runJob
    typesOnly(() => scheduler.runJob(greet));
    // @ts-expect-error the same for schedules
    typesOnly(() => scheduler.addSchedule(greet, everyTrigger, { id: "s" }));
    // @ts-expect-error the same for named functions
    typesOnly(() => scheduler.addJob(double));
    // @ts-expect-error the same for a list
    typesOnly(() => scheduler.addJobs([{ task: greet }]));
    // @ts-expect-error and for one entry of it
    typesOnly((): NewJob<typeof greet> => ({ task: greet, priority: 1 }));
    typesOnly(() => [scheduler.addJob(maybe), scheduler.addJob("greet"), scheduler.addJob(maybe, { payload: "Ada" })]);
  });

  test("a job and its result carry the type of what the handler returns", () => {
    const count = scheduler.task("count", async (text: string) => text.length);
    typesOnly(async () => {
      const job = await scheduler.addJob(count, { payload: "Ada" });
      expectTypeOf(job).toEqualTypeOf<Job<number>>();
      expectTypeOf(await job.wait()).toEqualTypeOf<number>();
      expectTypeOf(await job.result()).toEqualTypeOf<JobResult<number> | null>();
      expectTypeOf((await scheduler.addJob("count")).wait).returns.resolves.toEqualTypeOf<unknown>();
    });
  });

  test("a list of jobs may mix tasks", () => {
    const add = scheduler.task("add", ([a, b]: [number, number]) => a + b);
    const tidy = scheduler.task("tidy", () => "tidied");
    async function double(value: number): Promise<number> {
      return 2 * value;
    }
    typesOnly(async () => {
      const jobs = await scheduler.addJobs([
        { task: add, payload: [1, 2], priority: 1 },
        { task: tidy },
        { task: double, payload: 2 },
        { task: "other", payload: { any: "thing" } },
      ]);
      expectTypeOf(jobs).toEqualTypeOf<[Job<number>, Job<string>, Job<number>, Job<unknown>]>();
      const many = await scheduler.addJobs([1, 2].map((payload) => ({ task: double, payload })));
      expectTypeOf(many).toEqualTypeOf<Job<number>[]>();
    });
    // @ts-expect-error the second payload is of the wrong type
    typesOnly(() => scheduler.addJobs([{ task: tidy }, { task: double, payload: "2" }]));
    // @ts-expect-error an unknown option
    typesOnly(() => scheduler.addJobs([{ task: tidy, prority: 2 }]));
    // @ts-expect-error each payload is of the wrong type
    typesOnly(() => scheduler.addJobs(["1"].map((payload) => ({ task: double, payload }))));
  });

  test("a list of schedules may mix tasks, and each entry takes the payload of its own", () => {
    const tasks = defineTasks({ mail: { schema: person }, tidy: { handler: () => {} } });
    const add = scheduler.task("add", ([a, b]: [number, number]) => a + b);
    typesOnly(async () => {
      const schedules = await scheduler.addSchedules([
        { task: tasks.mail, id: "mail", trigger: "0 9 * * *", payload: { name: "Ada", born: "1815" } },
        { task: tasks.tidy, trigger: everyTrigger },
        { task: add, trigger: everyTrigger, payload: [1, 2], priority: 1 },
        { task: "other", trigger: "@daily", payload: { any: "thing" } },
      ]);
      expectTypeOf(schedules).toEqualTypeOf<Schedule[]>();
      const kept: NewSchedule[] = [{ task: add, trigger: everyTrigger, payload: [1, 2] }];
      await scheduler.addSchedules(kept);
      await scheduler.addSchedules(["a", "b"].map((id) => ({ task: tasks.tidy, id, trigger: everyTrigger })));
    });
    // @ts-expect-error what is passed is the schema's input, text
    typesOnly(() => scheduler.addSchedules([{ task: tasks.mail, trigger: "@daily", payload: { name: "A", born: 1 } }]));
    // @ts-expect-error the payload is missing
    typesOnly(() => scheduler.addSchedules([{ task: tasks.mail, trigger: "@daily" }]));
    // @ts-expect-error and for one entry of the list
    typesOnly((): NewSchedule<typeof add> => ({ task: add, trigger: "@daily", payload: ["1", 2] }));
    // @ts-expect-error an unknown option
    typesOnly(() => scheduler.addSchedules([{ task: tasks.tidy, trigger: "@daily", prority: 1 }]));
    // @ts-expect-error the revision stands apart from the changes
    typesOnly(() => scheduler.updateSchedule("a", { priority: 1, ifRevision: 1 }));
  });

  test("flow through addBatch()", () => {
    const scheduler = new Scheduler();
    const add = scheduler.task("add", ([a, b]: [number, number]) => a + b);
    const total = scheduler.task("total", (title: string) => title.length > 0);
    typesOnly(async () => {
      const { jobs, then } = await scheduler.addBatch(
        [
          { task: add, payload: [1, 2] },
          { task: "other", payload: 1 },
        ],
        {
          then: {
            task: total,
            payload: "sum",
            after: [await scheduler.addJob("first"), "an id"],
            onParentFailure: "run",
          },
        },
      );
      expectTypeOf(jobs).toEqualTypeOf<[Job<number>, Job<unknown>]>();
      expectTypeOf(then).toEqualTypeOf<Job<boolean>>();
      const many = await scheduler.addBatch(
        [1, 2].map(() => ({ task: total, payload: "one" })),
        { then: { task: "other" } },
      );
      expectTypeOf(many.jobs).toEqualTypeOf<Job<boolean>[]>();
      expectTypeOf(many.then).toEqualTypeOf<Job<unknown>>();
    });
    // @ts-expect-error the payload of the last job is of the wrong type
    typesOnly(() => scheduler.addBatch([{ task: "other" }], { then: { task: total, payload: 1 } }));
    // @ts-expect-error the last job lacks its payload
    typesOnly(() => scheduler.addBatch([{ task: "other" }], { then: { task: total } }));
    // @ts-expect-error a task is no job
    typesOnly(() => scheduler.addJob("other", { after: [total] }));
    // @ts-expect-error a schedule is no job
    typesOnly(async () => scheduler.addJob("other", { after: [await scheduler.getSchedule("schedule")] }));
  });

  test("flow through schedule()", () => {
    typesOnly(() => [
      scheduler.schedule("a", "@daily", () => {}),
      scheduler.schedule("b", everyTrigger, { priority: 1, timeout: "5m" }, () => {}),
      scheduler.schedule("c", everyTrigger, { payload: "Ada" }, (name: string) => name),
      scheduler.schedule("d", everyTrigger, { schema: person, payload: { name: "Ada", born: "1815" } }, (payload) => {
        expectTypeOf(payload).toEqualTypeOf<{ name: string; born: number }>();
      }),
    ]);
    // @ts-expect-error the handler needs a payload
    typesOnly(() => scheduler.schedule("e", "@daily", (name: string) => name));
    // @ts-expect-error the handler needs a payload, and there are options
    typesOnly(() => scheduler.schedule("f", "@daily", { priority: 1 }, (name: string) => name));
    // @ts-expect-error the payload is of the wrong type
    typesOnly(() => scheduler.schedule("g", "@daily", { payload: 1 }, (name: string) => name));
    // @ts-expect-error the schema needs a payload
    typesOnly(() => scheduler.schedule("h", "@daily", { schema: person }, () => {}));
    // @ts-expect-error the id comes first
    typesOnly(() => scheduler.schedule("i", "@daily", { id: "i" }, () => {}));
  });

  test("flow through defineTasks", () => {
    const tasks = defineTasks({
      greet: {
        schema: person,
        settings: { timeout: "5m" },
        handler: async (payload, context) => {
          expectTypeOf(payload).toEqualTypeOf<{ name: string; born: number }>();
          expectTypeOf(context).toEqualTypeOf<JobContext>();
          return payload.born;
        },
      },
      double: { handler: (value: number) => 2 * value },
      tidy: { handler: () => {} },
      attempt: { handler: (_none, { attempt }) => attempt },
      elsewhere: { schema: person },
    });
    expectTypeOf(tasks.greet).toEqualTypeOf<DefinedTask<{ name: string; born: string }, number>>();
    expectTypeOf(tasks.double).toEqualTypeOf<DefinedTask<number, number>>();
    expectTypeOf(tasks.tidy).toEqualTypeOf<DefinedTask<undefined, void>>();
    expectTypeOf(tasks.attempt).toEqualTypeOf<DefinedTask<undefined, number>>();
    expectTypeOf(tasks.elsewhere).toEqualTypeOf<DefinedTask<{ name: string; born: string }, unknown>>();
    typesOnly(async () => {
      scheduler.use(tasks, { executor: "threads" });
      const number = await scheduler.runJob(tasks.greet, { payload: { name: "Ada", born: "1815" } });
      expectTypeOf(number).toEqualTypeOf<number>();
      await scheduler.addJob(tasks.tidy);
    });
    // @ts-expect-error what is passed is the schema's input
    typesOnly(() => scheduler.addJob(tasks.greet, { payload: { name: "Ada", born: 1815 } }));
    // @ts-expect-error the payload is needed
    typesOnly(() => scheduler.addSchedule(tasks.elsewhere, "@daily"));
    // @ts-expect-error the handler does not fit the schema
    typesOnly(() => defineTasks({ greet: { schema: person, handler: (name: string) => name } }));
    // @ts-expect-error an unknown part
    typesOnly(() => defineTasks({ greet: { schema: person, timeout: "5m" } }));
  });

  test("events are told apart by their type", () => {
    typesOnly(() =>
      scheduler.subscribe("jobReleased", (event) => {
        expectTypeOf(event).toEqualTypeOf<SchedulerEvent<"jobReleased">>();
        expectTypeOf(event.scheduledFireTime).toEqualTypeOf<Temporal.Instant | null>();
      }),
    );
    typesOnly(() =>
      scheduler.subscribe(["jobAdded", "scheduleAdded"], (event) => {
        if (event.type === "jobAdded") expectTypeOf(event.jobId).toEqualTypeOf<string>();
        else expectTypeOf(event.nextFireTime).toEqualTypeOf<Temporal.Instant | null>();
      }),
    );
    // @ts-expect-error there is no such type
    typesOnly(() => scheduler.subscribe("jobDone", () => {}));
    expectTypeOf<ReturnType<typeof scheduler.nextEvent<"taskAdded">>>().resolves.toEqualTypeOf<
      SchedulerEvent<"taskAdded">
    >();
  });

  test("what was read carries the type of the value that its handler returns", () => {
    expectTypeOf<Job<number>["wait"]>().returns.resolves.toEqualTypeOf<number>();
    expectTypeOf<Job<number>["result"]>().returns.resolves.toEqualTypeOf<JobResult<number> | null>();
    expectTypeOf<JobResult<number>["returnValue"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<JobResult<number>["unwrap"]>().returns.toEqualTypeOf<number>();
    expectTypeOf<Job["wait"]>().returns.resolves.toEqualTypeOf<unknown>();
    typesOnly(async () => {
      const wait = scheduler.task("wait", async (ms: number) => `${ms}`);
      const { job, statements } = await scheduler.prepareJob(wait, { payload: 5 });
      expectTypeOf(job).toEqualTypeOf<Job<string>>();
      expectTypeOf(statements).toEqualTypeOf<SqlStatement[]>();
      // @ts-expect-error the payload is a number
      await scheduler.prepareJob(wait, { payload: "5" });
    });
  });

  test("a view takes any client", () => {
    expectTypeOf<SchedulerClient>().toExtend<ScheduleClient>();
    expectTypeOf<SchedulerClient>().toExtend<JobClient>();
  });

  test("verbs answer with records that cannot be written to", () => {
    expectTypeOf(scheduler.getJobs).returns.resolves.toEqualTypeOf<Page<Job>>();
    expectTypeOf(scheduler.getJobs).returns.toEqualTypeOf<Listing<Job>>();
    typesOnly(async () => {
      for await (const result of scheduler.getJobResults()) expectTypeOf(result).toEqualTypeOf<JobResult>();
    });
    expectTypeOf(scheduler.getSchedules).returns.resolves.toEqualTypeOf<Page<Schedule>>();
    expectTypeOf(scheduler.getJobResult).returns.resolves.toEqualTypeOf<JobResult | null>();
    typesOnly((job?: Job) => {
      // @ts-expect-error read-only
      if (job !== undefined) job.id = "other";
    });
    // @ts-expect-error a bare number has no unit
    typesOnly(() => new Scheduler({ leaseDuration: 60_000 }));
  });
});
