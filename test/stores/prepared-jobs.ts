import { expect } from "vitest";
import type { Scheduler } from "../../src/mod.ts";
import { SERIALIZED_LENGTH_MAX } from "../../src/records/limits.ts";
import type { SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";
import type { Application } from "./application.ts";

/** What holds for prepared jobs, however the application writes. Each case gets a database of its own tables. */
export const PREPARED_JOB_CASES: readonly {
  readonly name: string;
  run(application: Application, scheduler: Scheduler): Promise<void>;
}[] = [
  {
    name: "a commit adds exactly one job, which runs",
    async run(application, scheduler) {
      const seen: unknown[] = [];
      const ship = scheduler.task("ship", (order: string) => void seen.push(order));
      const { job, statements } = await scheduler.prepareJob(ship, { payload: "order-1", priority: 3 });
      expect((await scheduler.getJobs()).items).toEqual([]);
      await application.commit([order("order-1"), ...statements]);
      const { items } = await scheduler.getJobs();
      expect(items.map((one) => one.toJSON())).toEqual([job.toJSON()]);
      await scheduler.tick();
      expect([seen, await application.read("SELECT id FROM orders")]).toEqual([["order-1"], ["order-1"]]);
    },
  },
  {
    name: "a rollback leaves neither the row nor the job",
    async run(application, scheduler) {
      const { statements } = await scheduler.prepareJob(scheduler.task("ship", () => {}));
      await application.rollBack([order("order-1"), ...statements]);
      expect((await scheduler.getJobs()).items).toEqual([]);
      expect(await application.read("SELECT id FROM orders")).toEqual([]);
    },
  },
  {
    name: "a transaction that is repeated adds no job twice, even after the job has run",
    async run(application, scheduler) {
      let runs = 0;
      scheduler.task("ship", () => void runs++);
      const kept = await scheduler.prepareJob("ship");
      const notKept = await scheduler.prepareJob("ship", { resultExpirationTime: { seconds: 0 } });
      for (const { statements } of [kept, kept, notKept, notKept]) await application.commit(statements);
      expect((await scheduler.getJobs()).items.length).toBe(2);
      await scheduler.tick();
      for (const { statements } of [kept, notKept]) await application.commit(statements);
      expect((await scheduler.getJobs()).items).toEqual([]);
      await scheduler.tick();
      expect(runs).toBe(2);
    },
  },
  {
    name: "an unfinished job with the same key stays, and nothing is raised",
    async run(application, scheduler) {
      scheduler.task("ship", () => {});
      const first = await scheduler.addJob("ship", { idempotencyKey: "k" });
      const second = await scheduler.prepareJob("ship", { idempotencyKey: "k" });
      await application.commit([order("order-1"), ...second.statements]);
      await second.committed();
      expect((await scheduler.getJobs()).items.map(({ id }) => id)).toEqual([first.id]);
      expect(await application.read("SELECT id FROM orders")).toEqual(["order-1"]);
    },
  },
  {
    name: "additions of a burst make one job, the last one counts, and a repeated transaction changes nothing",
    async run(application, scheduler) {
      const seen: unknown[] = [];
      scheduler.task("ship", (order: string) => void seen.push(order));
      const debounce = { key: "k", wait: { milliseconds: 1 } };
      const prepared = [];
      for (const payload of ["1", "2", "3"]) prepared.push(await scheduler.prepareJob("ship", { payload, debounce }));
      for (const { statements } of prepared) {
        for (const { sql, args } of statements) expectPortable(sql, args);
        await application.commit(statements);
      }
      for (const { statements, committed } of prepared) {
        await application.commit(statements);
        await committed();
      }
      const { items } = await scheduler.getJobs();
      expect(items.map(({ id, payload }) => [id, payload])).toEqual([[prepared[0]?.job.id, "3"]]);
      await scheduler.start();
      await prepared[0]?.job.wait();
      for (const { statements } of prepared) await application.commit(statements);
      expect([seen, (await scheduler.getJobs()).items]).toEqual([["3"], []]);
    },
  },
  {
    name: "of additions that are throttled the first is made, and a repeated transaction changes nothing",
    async run(application, scheduler) {
      let runs = 0;
      scheduler.task("ship", () => void runs++);
      const options = { throttle: { key: "k", per: "1h" }, resultExpirationTime: { seconds: 0 } };
      const first = await scheduler.prepareJob("ship", options);
      const second = await scheduler.prepareJob("ship", options);
      for (const { statements } of [first, second, first]) {
        for (const { sql, args } of statements) expectPortable(sql, args);
        await application.commit(statements);
      }
      expect((await scheduler.getJobs()).items.map(({ id }) => id)).toEqual([first.job.id]);
      await scheduler.tick();
      for (const { statements } of [first, second]) await application.commit(statements);
      await scheduler.tick();
      expect([runs, (await scheduler.addJob("ship", options)).id]).toEqual([1, first.job.id]);
    },
  },
  {
    name: "what the job is told travels as it is: payload up to the limit, metadata, times and quotes",
    async run(application, scheduler) {
      const text = `?1 '"\\ü\u{1F600}\ufdd00022`;
      const filler = "x".repeat(SERIALIZED_LENGTH_MAX - JSON.stringify(text).length);
      let seen: unknown = null;
      scheduler.task("ship", (payload: unknown) => {
        seen = payload;
      });
      const { job, statements } = await scheduler.prepareJob("ship", {
        payload: text + filler,
        metadata: { note: text, nested: { flag: true, none: null } },
        runAt: "2020-01-01T00:00:00.123Z",
        startDeadline: "2999-01-01T00:00:00Z",
        idempotencyKey: text,
      });
      for (const { sql, args } of statements) expectPortable(sql, args);
      await application.commit(statements);
      expect((await job.refresh()).toJSON()).toEqual(job.toJSON());
      await scheduler.tick();
      expect(seen === text + filler).toBe(true);
    },
  },
  {
    name: "a step is recorded with the application's rows, once, whatever the process does afterwards",
    async run(application, scheduler) {
      let attempts = 0;
      const retry = { maxAttempts: 3, backoff: { initial: "PT0S" } } as const;
      scheduler.task("book", { retry }, async (_: undefined, { step }) => {
        const value = await step.run("book", async ({ prepare }) => {
          const done = await prepare({ booked: 1 });
          for (const { sql, args } of done.statements) expectPortable(sql, args);
          await application.commit([order("order-1"), ...done.statements]);
          // The process could end here: the step is there.
          if (++attempts === 1) throw new Error("no");
          return done.value;
        });
        return [value, attempts];
      });
      const { id } = await scheduler.addJob("book");
      await scheduler.tick();
      await scheduler.tick();
      expect((await scheduler.getJobResult(id))?.returnValue).toEqual([{ booked: 1 }, 1]);
      expect(await application.read("SELECT id FROM orders")).toEqual(["order-1"]);
    },
  },
  {
    name: "a running scheduler starts the job when it is told of the commit",
    async run(application, scheduler) {
      const task = scheduler.task("ship", (order: string) => `${order} shipped`);
      await scheduler.start();
      const { job, statements, committed } = await scheduler.prepareJob(task, { payload: "order-1" });
      const added = scheduler.nextEvent("jobAdded");
      await application.commit(statements);
      await committed();
      expect((await added).jobId).toBe(job.id);
      expect(await job.wait()).toBe("order-1 shipped");
    },
  },
];

function order(id: string): SqlStatement {
  return { sql: "INSERT INTO orders VALUES (?)", args: [id] };
}

/** What D1 and Durable Objects take: plain parameters, at most 100, and statements of 100 KB. PostgreSQL's parameters
 *  have numbers. */
export function expectPortable(sql: string, args: readonly unknown[]): void {
  const numbers = [...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
  if (numbers.length > 0) expect(Math.max(...numbers)).toBe(args.length);
  else {
    expect(sql.match(/\?/g)?.length).toBe(args.length);
    expect(sql).not.toMatch(/\?\d|[:@$]\w/);
  }
  expect(args.length).toBeLessThanOrEqual(100);
  expect(sql.length).toBeLessThan(100_000);
  for (const arg of args) expect(arg === null || ["string", "number"].includes(typeof arg)).toBe(true);
}
