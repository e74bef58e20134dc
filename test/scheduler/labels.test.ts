import { describe, expect, test } from "vitest";
import { defineTasks, type Labels, OptionsError, type Scheduler } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { everySecond, rejectionOf, setUp } from "./support.ts";

const BILLING = { team: "billing" };

function withTasks() {
  const setup = setUp();
  setup.scheduler.task("invoice", { labels: { team: "billing", tier: "gold" }, maxRunningJobs: null }, () => {});
  setup.scheduler.task("mail", () => {});
  return setup;
}

async function ids(list: PromiseLike<{ readonly items: readonly { readonly id: string }[] }>): Promise<string[]> {
  return (await list).items.map(({ id }) => id);
}

describe("labels", () => {
  test("go from the task to its schedules and jobs, label by label, and to results", async () => {
    const { scheduler, clock } = withTasks();
    const schedule = await scheduler.addSchedule("invoice", everySecond(), { id: "s", labels: { region: "eu" } });
    expect(schedule.labels).toEqual({ region: "eu", team: "billing", tier: "gold" });
    const job = await scheduler.addJob("invoice", { labels: { tier: "free" } });
    expect(job.labels).toEqual({ team: "billing", tier: "free" });
    expect((await scheduler.addJob("mail")).labels).toEqual({});
    expect((await scheduler.runScheduleNow("s")).labels).toEqual(schedule.labels);
    await clock.advance({ seconds: 1 });
    await drain(scheduler);
    const results = await scheduler.getJobResults({ labels: { team: "billing" } });
    expect(results.items.map(({ scheduledFireTime, labels }) => [scheduledFireTime !== null, labels])).toEqual(
      expect.arrayContaining([
        [true, schedule.labels],
        [false, schedule.labels],
        [false, job.labels],
      ]),
    );
    expect((await scheduler.retryJob(job.id)).labels).toEqual(job.labels);
    expect((await scheduler.getJob(results.items[0]?.jobId ?? "")).labels).toEqual(results.items[0]?.labels);
  });

  test("come from taskDefaults too, and from the settings of schedule() and of defined tasks", async () => {
    const { scheduler } = setUp({ taskDefaults: { labels: { app: "shop" } } });
    const tasks = defineTasks({ report: { settings: { labels: BILLING }, handler: () => {} } });
    scheduler.use(tasks);
    expect((await scheduler.addJob(tasks.report)).labels).toEqual({ app: "shop", team: "billing" });
    await scheduler.schedule("nightly", everySecond(), { labels: { time: "night" } }, () => {});
    expect((await scheduler.getSchedule("nightly")).labels).toEqual({ app: "shop", time: "night" });
    expect((await scheduler.getTasks({ labels: BILLING })).map(({ id, labels }) => [id, labels])).toEqual([
      ["report", { app: "shop", team: "billing" }],
    ]);
  });

  test("are in the handler's job", async () => {
    const { scheduler } = setUp();
    const seen: unknown[] = [];
    scheduler.task("look", { labels: BILLING }, (_, { job }) => {
      seen.push(job.labels);
    });
    await scheduler.addJob("look");
    await drain(scheduler);
    expect(seen).toEqual([BILLING]);
  });

  test("find tasks, schedules, jobs and results", async () => {
    const { scheduler } = withTasks();
    await scheduler.addSchedule("invoice", "0 9 * * *", { id: "a" });
    await scheduler.addSchedule("mail", "0 9 * * *", { id: "b", labels: { team: "mail" } });
    const job = await scheduler.addJob("invoice", { delay: "1h" });
    await scheduler.addJob("mail", { delay: "1h" });
    expect((await scheduler.getTasks({ labels: BILLING })).map(({ id }) => id)).toEqual(["invoice"]);
    expect(await ids(scheduler.getSchedules({ labels: BILLING }))).toEqual(["a"]);
    expect(await ids(scheduler.getJobs({ labels: BILLING }))).toEqual([job.id]);
    expect(await ids(scheduler.getJobs({ labels: { ...BILLING, tier: "free" } }))).toEqual([]);
  });

  test("select what calls about many are about", async () => {
    const { scheduler } = withTasks();
    await scheduler.addSchedule("invoice", "0 9 * * *", { id: "a" });
    await scheduler.addSchedule("mail", "0 9 * * *", { id: "b" });
    expect(await scheduler.pauseSchedules({ labels: BILLING })).toMatchObject({ paused: 1 });
    expect(await scheduler.unpauseSchedules({ labels: BILLING })).toMatchObject({ unpaused: 1 });
    expect(await scheduler.removeSchedules({ labels: BILLING })).toMatchObject({ removed: 1 });
    expect(await ids(scheduler.getSchedules())).toEqual(["b"]);
    await scheduler.addJobs([{ task: "invoice", delay: "1h" }, { task: "mail", delay: "1h" }, { task: "mail" }]);
    expect(await scheduler.cancelJobs({ labels: BILLING })).toMatchObject({ cancelled: 1 });
    expect((await scheduler.getJobs()).items).toHaveLength(2);
    const retried = await scheduler.retryJobs({ labels: BILLING, outcome: "cancelled" });
    expect(retried).toMatchObject({ retried: 1, skipped: 0 });
    expect((await scheduler.getJobs({ labels: BILLING })).items).toHaveLength(1);
    await drain(scheduler);
    expect(await scheduler.removeJobResults({ labels: BILLING })).toEqual({ removed: 2 });
    expect((await scheduler.getJobResults()).items.map(({ taskId }) => taskId)).toEqual(["mail"]);
  });

  test("of a schedule change for the jobs to come, over those of its task, and are told by its changes", async () => {
    const { scheduler, clock } = withTasks();
    const trigger = everySecond();
    await scheduler.addSchedule("invoice", trigger, { id: "s", labels: { region: "eu" } });
    await clock.advance({ seconds: 1 });
    await scheduler.tick({ maxJobs: 1 });
    const [before] = (await scheduler.getJobResults()).items;
    const changed = await scheduler.updateSchedule("s", { labels: { region: "us" } });
    expect(changed.labels).toEqual({ region: "us", team: "billing", tier: "gold" });
    expect((await scheduler.updateSchedule("s", { labels: {} })).labels).toEqual({ team: "billing", tier: "gold" });
    expect((await scheduler.updateSchedule("s", { priority: 2 })).labels).toEqual({ team: "billing", tier: "gold" });
    expect(before?.labels.region).toBe("eu");
    const changes = (await scheduler.getScheduleChanges("s")).items.map((change) => change.changed);
    expect(changes).toEqual([["priority"], ["labels"], ["labels"], []]);
  });

  test("are part of what a program declares, in whatever order they are written", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const declare = (labels: Record<string, string>) => scheduler.addSchedule("t", "0 9 * * *", { id: "s", labels });
    const { revision } = await declare({ a: "1", b: "2" });
    expect((await declare({ b: "2", a: "1" })).revision).toBe(revision);
    expect((await declare({ b: "2", a: "2" })).labels).toEqual({ a: "2", b: "2" });
    expect((await scheduler.addSchedule("t", "0 9 * * *", { id: "s" })).labels).toEqual({});
  });

  test.each<[what: string, labels: unknown, message: string]>([
    ["a list", ["a"], 'labels must be an object of names and values; got a list of 1: write { team: "billing" }'],
    ["text", "team:billing", 'labels must be an object of names and values; got "team:billing": write'],
    [
      "a number",
      { tier: 1 },
      'labels must be an object with text of 1 to 256 characters as the value of "tier"; got 1',
    ],
    [
      "no text",
      { tier: "" },
      'labels must be an object with text of 1 to 256 characters as the value of "tier"; got ""',
    ],
    ["long text", { tier: "x".repeat(257) }, "labels must be an object with text of 1 to 256 characters"],
    ["half an emoji", { tier: "\ud83d" }, "labels must hold text without NUL characters"],
    ["a NUL", { tier: "\0" }, "labels must hold text without NUL characters"],
    ["a colon in a name", { "a:b": "c" }, "labels must be an object with names of 1 to 64 letters and digits of ASCII"],
    ["no name", { "": "c" }, "labels must be an object with names of 1 to 64 letters and digits of ASCII"],
    ["a long name", { ["n".repeat(65)]: "c" }, "labels must be an object with names of 1 to 64 letters"],
    ["a prototype", JSON.parse('{"__proto__":"c"}'), "labels must be an object with names of 1 to 64 letters"],
    ["too many", named(17), "labels must have at most 16 labels; got 17"],
  ])("are refused: %s", async (_what, labels, message) => {
    const { scheduler } = withTasks();
    const calls = [
      () => scheduler.addJob("mail", { labels: labels as Labels }),
      () => scheduler.addSchedule("mail", "0 9 * * *", { labels: labels as Labels }),
      () => scheduler.getJobs({ labels: labels as Labels }),
      () => scheduler.cancelJobs({ labels: labels as Labels }),
    ];
    for (const call of calls) {
      const error = await rejectionOf((async () => call())());
      expect(error).toBeInstanceOf(OptionsError);
      expect((error as Error).message).toContain(message);
    }
    expect(() => scheduler.task("other", { labels: labels as Labels }, () => {})).toThrow(message);
  });

  test("are refused where they are too many with those of the task", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", { labels: named(10) }, () => {});
    expect((await scheduler.addJob("t", { labels: named(16) })).labels).toEqual(named(16));
    const error = await rejectionOf(scheduler.addJob("t", { labels: named(7, "other") }));
    expect((error as Error).message).toBe(
      "the job: labels must have at most 16 labels; got 17, with those of the task",
    );
  });

  test("of a filter are at least one, because none would mean everything", async () => {
    const { scheduler } = setUp();
    for (const call of [
      (one: Scheduler) => one.cancelJobs({ labels: {} }),
      (one: Scheduler) => one.removeSchedules({ labels: {} }),
      (one: Scheduler) => one.getTasks({ labels: {} }),
    ]) {
      const error = await rejectionOf(call(scheduler));
      expect((error as Error).message).toContain("labels must name a label at least; leave it out for all");
    }
  });
});

function named(count: number, prefix = "name"): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${prefix}${String(index).padStart(2, "0")}`, "value"]),
  );
}
