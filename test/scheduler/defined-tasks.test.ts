import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineTasks, MemoryDataStore } from "../../src/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { rejectionOf, START, setUp } from "./support.ts";

const tasks = defineTasks({
  mail: {
    schema: v.object({ to: v.string() }),
    settings: { resultExpirationTime: "2h", metadata: { owner: "post" }, maxRecoveries: 1 },
    handler: ({ to }) => `sent to ${to}`,
  },
  tidy: { settings: { maxRunningJobs: 2 }, handler: () => "tidied" },
  elsewhere: { schema: v.number() },
});

/** A worker that uses the tasks and a client that does not, on one store. */
function workerAndClient() {
  const clock = new VirtualClock(START);
  const dataStore = new MemoryDataStore();
  const { scheduler: client } = setUp({ clock, dataStore });
  return { client, startWorker: () => setUp({ clock, dataStore }).scheduler };
}

describe("defineTasks", () => {
  test("returns frozen references whose ids are the keys", () => {
    expect(Object.entries(tasks).map(([key, { id }]) => [key, id])).toEqual([
      ["mail", "mail"],
      ["tidy", "tidy"],
      ["elsewhere", "elsewhere"],
    ]);
    expect([Object.isFrozen(tasks), Object.isFrozen(tasks.mail), Object.isFrozen(tasks.mail.settings)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test.each<[definitions: unknown, message: string]>([
    [[], "defineTasks() must be an object of definitions by id, such as { mail: { handler } }; got a list of 0"],
    [JSON.parse('{"__proto__":{}}'), "defineTasks(): __proto__ is no id: code that copies it would set a prototype"],
    [{ "": {} }, 'task id must be text of 1 to 256 characters; got ""'],
    [
      { mail: () => {} },
      "defineTasks(): mail must be { schema?, settings?, handler? }; got the function mail: write { handler }",
    ],
    [
      { mail: { timeout: "5m" } },
      "defineTasks(): mail.timeout is no part of a definition, which is { schema?, settings?, handler? }: " +
        "write settings: { timeout }",
    ],
    [
      { mail: { settings: { timeout: 5 } } },
      'defineTasks(), task "mail": timeout must be a duration such as "5m" or { minutes: 5 }; got 5: ' +
        "a bare number has no unit; write { seconds: 5 } or { milliseconds: 5 }",
    ],
    [{ mail: { handler: 5 } }, "defineTasks(): mail.handler must be a function; got 5"],
    [{ mail: { handler: null } }, "defineTasks(): mail.handler must be a function; got null"],
    [
      { mail: { handler: undefined } },
      "defineTasks(): mail.handler must be a function; got undefined: leave it out where another program has it",
    ],
  ])("refuses %o", (definitions, message) => {
    expect(() => defineTasks(definitions as Record<string, object>)).toThrow(
      expect.objectContaining({ code: "options", message }),
    );
  });
});

describe("use", () => {
  test("registers the tasks that have a handler, with settings over their own", async () => {
    const { scheduler } = setUp({ taskDefaults: { maxRecoveries: 9 } });
    scheduler.use(tasks, { resultExpirationTime: "5m" });
    const known = await scheduler.getTasks();
    expect(known.map(({ id, maxRunningJobs, maxRecoveries }) => [id, maxRunningJobs, maxRecoveries])).toEqual([
      ["mail", 1, 1],
      ["tidy", 2, 9],
    ]);
    expect(known.map(({ resultExpirationTime }) => String(resultExpirationTime))).toEqual(["PT5M", "PT5M"]);
    await drain(scheduler);
    const mail = await scheduler.addJob(tasks.mail, { payload: { to: "Ada" } });
    await drain(scheduler);
    expect((await mail.result())?.returnValue).toBe("sent to Ada");
  });

  test("may be called again, but not for an id that has another handler", () => {
    const { scheduler } = setUp();
    scheduler.use(tasks);
    scheduler.use(tasks);
    expect(() => scheduler.use(defineTasks({ tidy: { handler: () => {} } }))).toThrow(
      'use(): tidy must be a new id, because a task "tidy" with another handler is registered here already',
    );
  });

  test.each<[tasks: unknown, message: string]>([
    [undefined, "use(): tasks must be what defineTasks() returned; got undefined"],
    [{ mail: { handler: () => {} } }, "use(): tasks must be what defineTasks() returned; got { mail: {…} }"],
    [tasks.mail, "use(): tasks must be what defineTasks() returned; got a DefinedTask: write use({ mail })"],
    [
      { elsewhere: tasks.elsewhere },
      'use(): tasks have no handler ("elsewhere"), so that there is nothing to run: write defineTasks({ ' +
        "id: { handler } })",
    ],
  ])("refuses %o", (given, message) => {
    const { scheduler } = setUp();
    expect(() => scheduler.use(given as typeof tasks)).toThrow(expect.objectContaining({ code: "options", message }));
  });
});

describe("a client that only has references", () => {
  test("adds jobs before a worker ever started, with the settings of the reference", async () => {
    const { client, startWorker } = workerAndClient();
    const job = await client.addJob(tasks.mail, { payload: { to: "Ada" } });
    expect(job.metadata).toEqual({ owner: "post" });
    expect(await client.getTasks()).toEqual([]);
    const worker = startWorker();
    worker.use(tasks);
    await drain(worker);
    expect((await job.result())?.returnValue).toBe("sent to Ada");
  });

  test("follows what the worker declared, and never overwrites it", async () => {
    const { client, startWorker } = workerAndClient();
    const worker = startWorker();
    worker.use(tasks, { metadata: { owner: "worker" } });
    await drain(worker);
    const job = await client.addJob(tasks.mail, { payload: { to: "Ada" } });
    expect(job.metadata).toEqual({ owner: "worker" });
    const schedule = await client.addSchedule(tasks.mail, "@daily", { payload: { to: "Ada" } });
    expect(schedule.metadata).toEqual({ owner: "worker" });
    const stored = await client.getTasks();
    expect(stored.map(({ id, metadata }) => [id, metadata])).toEqual([
      ["mail", { owner: "worker" }],
      ["tidy", { owner: "worker" }],
    ]);
  });

  test("has its payloads checked by the schema", async () => {
    const { client } = workerAndClient();
    const wrong = { payload: { to: 5 as unknown as string } };
    expect(await rejectionOf(client.addJob(tasks.mail, wrong))).toMatchObject({ code: "payload" });
    const many = client.addJobs([{ task: tasks.elsewhere, payload: "x" as unknown as number }]);
    expect(await rejectionOf(many)).toMatchObject({ code: "payload" });
  });
});
