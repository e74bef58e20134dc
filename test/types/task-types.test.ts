import * as v from "valibot";
import { describe, expectTypeOf, test } from "vitest";
import {
  everyTrigger,
  type Job,
  type JobClient,
  type JobContext,
  type JobResult,
  type Listing,
  type NamedFunction,
  type Page,
  type Schedule,
  type ScheduleClient,
  Scheduler,
  type SchedulerClient,
  type SchedulerEvent,
  type SqlStatement,
  type StandardSchemaV1,
  type Task,
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
