import { NINE, type Row, running } from "../explain-world.ts";
import { heldHandler } from "../support.ts";

export const waits: readonly Row[] = [
  {
    name: "a cluster that was dead",
    at: "2030-01-03T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T08:00:00Z");
      await world.scheduler.stop();
      await world.to("2030-01-03T11:30:00Z");
      await world.scheduler.start();
      await world.to("2030-01-03T12:00:00Z");
    },
    verdict: "success",
    cause: {
      ...{ kind: "nobodyUp", lacks: "scheduler" },
      ...{ from: "2030-01-03T08:00:00Z", until: "2030-01-03T11:30:00Z" },
    },
    says: [
      "2 h 30 min late",
      "Cause: no scheduler that fires schedules was up from Thu 2030-01-03 08:00 UTC until Thu 2030-01-03 11:30 UTC.",
      "Advice: Keep two schedulers up",
    ],
  },
  {
    name: "a dead cluster, and a job that may not be so late",
    at: "2030-01-03T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE, { misfireGraceTime: "1h" });
      await world.to("2030-01-03T08:00:00Z");
      await world.scheduler.stop();
      await world.to("2030-01-03T11:30:00Z");
      await world.scheduler.start();
      await world.to("2030-01-03T12:00:00Z");
    },
    verdict: "misfired",
    cause: {
      ...{ kind: "nobodyUp", lacks: "scheduler" },
      ...{ from: "2030-01-03T08:00:00Z", until: "2030-01-03T11:30:00Z" },
    },
    says: ["Verdict: misfired", "never started", "A longer misfireGraceTime lets it start later."],
  },
  {
    name: "a cluster that is dead",
    at: "2030-01-03T09:00:00Z",
    start: "2030-01-03T06:00:00Z",
    happens: async (world) => {
      const other = world.another({ identity: "w-2" });
      other.task("t", () => {});
      await other.addSchedule("t", NINE, { id: "s" });
      await other.start();
      await world.to("2030-01-03T08:00:00Z");
      await other.stop();
      await world.to("2030-01-03T12:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "nobodyUp", lacks: "scheduler", from: "2030-01-03T08:00:00Z", until: null },
    says: [
      "waiting: nobody has processed it yet.",
      "until now.",
      'Start a scheduler whose role is "both" or "scheduler".',
    ],
  },
  {
    name: "workers alone",
    at: "2030-01-01T09:00:00Z",
    options: { role: "worker" },
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "nobodyUp", lacks: "scheduler", from: null, until: null },
    says: ["no scheduler that fires schedules was up until now."],
  },
  {
    name: "schedulers that run no jobs",
    at: "2030-01-01T09:00:00Z",
    options: { role: "scheduler" },
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "nobodyUp", lacks: "worker", from: null, until: null },
    says: ["no scheduler that runs jobs was up until now."],
  },
  {
    name: "no handler anywhere",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const declaring = world.another({ identity: "declaring" });
      declaring.task("t", () => {});
      await declaring.addSchedule("t", NINE, { id: "s" });
      world.scheduler.task("other", () => {});
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "noHandler", taskId: "t" },
    says: ['none had a handler for task "t".', 'scheduler.task("t", handler)'],
  },
  {
    name: "a slot that is taken",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.addJob("t");
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "unfinishedRun", fireTime: null, jobId: "01b8dac5-b400-7400-a000-800000800000" },
    says: [
      "was unfinished.",
      "If it hangs, give its task a timeout, because more workers do not help",
      "else a higher maxRunningJobs, or more schedulers, give the job a place.",
    ],
  },
  {
    name: "a slot that was taken",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler, held } = heldHandler();
      world.scheduler.task("t", handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.addJob("t");
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
      held[0]?.finish("done");
      await world.to("2030-01-01T10:05:00Z");
      held[1]?.finish("done");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "success",
    cause: { kind: "noSlot", taskId: "t" },
    says: ["1 h late, took 5 min, 1 attempt."],
  },
  {
    name: "a slot that was taken for too long",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler, held } = heldHandler();
      world.scheduler.task("t", { misfireGraceTime: "10m" }, handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.addJob("t");
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
      held[0]?.finish("done");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "misfired",
    cause: { kind: "noSlot", taskId: "t" },
    says: [
      "Verdict: misfired: it could not start within misfireGraceTime.",
      "Advice: If another run hangs, give its task a timeout; else a higher maxRunningJobs, or more schedulers, give the",
    ],
  },
  {
    name: "a run that is under way",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: null,
    says: ["Verdict: running: job ", ", by w-1."],
  },
  {
    name: "a scheduler that is paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world);
      world.scheduler.pause();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: null,
    says: ["waiting: nobody has processed it yet."],
  },
  {
    name: "a key that is held",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", { maxRunningPerKey: 1 }, handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s", concurrencyKey: "tenant 7" });
      await world.scheduler.addJob("t", { concurrencyKey: "tenant 7" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "blocked", concurrencyKey: "tenant 7" },
    says: ['blocked the job, whose concurrency key is "tenant 7".'],
  },
  {
    name: "a key that was held",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler, held } = heldHandler();
      world.scheduler.task("t", { maxRunningPerKey: 1 }, handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s", concurrencyKey: "tenant 7" });
      await world.scheduler.addJob("t", { concurrencyKey: "tenant 7" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:00:00Z");
      held[0]?.finish("done");
      await world.to("2030-01-01T10:05:00Z");
      held[1]?.finish("done");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "success",
    cause: { kind: "blocked", concurrencyKey: "tenant 7" },
    says: ["1 h late"],
  },
  {
    name: "a rate that was used up",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      world.scheduler.task("t", { rateLimit: { limit: 1, per: "1h" } }, () => {});
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T08:45:00Z");
      await world.scheduler.addJob("t");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "success",
    cause: { kind: "blocked", concurrencyKey: null },
    says: ["45 min late", "Cause: the limits of the task blocked the job."],
  },
  {
    name: "a task that is paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-01T08:00:00Z");
      await world.scheduler.pauseTask("t", { by: "ada" });
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "taskPaused", key: null, by: "ada", at: "2030-01-01T08:00:00Z", reason: null, until: null },
    says: ["the task was paused by ada at Tue 2030-01-01 08:00 UTC.", 'unpauseTask("t") lets it go on.'],
  },
  {
    name: "a task that was paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-01T08:00:00Z");
      await world.scheduler.pauseTask("t", { by: "ada" });
      await world.to("2030-01-01T10:00:00Z");
      await world.scheduler.unpauseTask("t");
      await world.to("2030-01-01T11:00:00Z");
    },
    verdict: "success",
    cause: { kind: "taskPaused", key: null, by: "ada", at: "2030-01-01T08:00:00Z", reason: null, until: null },
    says: ["1 h late"],
  },
  {
    name: "a key that is paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      world.scheduler.task("t", { maxRunningPerKey: 1 }, () => {});
      await world.scheduler.addSchedule("t", NINE, { id: "s", concurrencyKey: "tenant 7" });
      await world.scheduler.start();
      await world.to("2030-01-01T08:00:00Z");
      await world.scheduler.pauseTask("t", { key: "tenant 7", by: "ada" });
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "taskPaused", key: "tenant 7", by: "ada", at: "2030-01-01T08:00:00Z", reason: null, until: null },
    says: ['the key "tenant 7" of the task was paused', 'unpauseTask("t", { key: "tenant 7" })'],
  },
  {
    name: "a fire time to come of a task that is paused",
    at: "2030-01-02T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.scheduler.pauseTask("t");
    },
    verdict: "upcoming",
    cause: { kind: "taskPaused", key: null, by: "w-1", at: "2030-01-01T00:00:00Z", reason: null, until: null },
    says: ["upcoming, but nothing will run if all stays as it is.", "the task was paused by w-1"],
  },
  {
    name: "one of two schedulers that died",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const other = world.another({ identity: "w-2" });
      other.task("t", () => {});
      await other.start();
      await running(world);
      await world.to("2030-01-01T08:00:00Z");
      await other.stop();
      await world.to("2030-01-01T10:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["on time"],
  },
];
