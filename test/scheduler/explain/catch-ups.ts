import { NINE, type Row, running, type World } from "../explain-world.ts";
import { heldHandler } from "../support.ts";

const HOURLY = "0 * * * *";

/** An hourly schedule from 08:00 on, whose scheduler is down from 08:30 to 12:30. */
async function outage(world: World, options: object): Promise<void> {
  await world.to("2030-01-01T07:30:00Z");
  await running(world, HOURLY, options);
  await world.to("2030-01-01T08:30:00Z");
  await world.scheduler.stop();
  await world.to("2030-01-01T12:30:00Z");
  await world.scheduler.start();
  await world.to("2030-01-01T12:31:00Z");
}

const DOWN = {
  ...{ kind: "nobodyUp", lacks: "scheduler" },
  ...{ from: "2030-01-01T08:30:00Z", until: "2030-01-01T12:30:00Z" },
};

export const catchUps: readonly Row[] = [
  {
    name: "fire times of an outage, of which the latest stands for all",
    at: "2030-01-01T10:00:00Z",
    happens: (world) => outage(world, { coalesce: "latest" }),
    verdict: "coalesced",
    cause: DOWN,
    says: [
      "coalesced: several fire times came before any started, and one job, of Tue 2030-01-01 12:00 UTC, stands for them.",
      'coalesce: "all" makes a job for each fire time.',
    ],
  },
  {
    name: "the one that stands for all",
    at: "2030-01-01T12:00:00Z",
    happens: (world) => outage(world, { coalesce: "latest" }),
    verdict: "success",
    cause: { ...DOWN },
    says: ["30 min late"],
  },
  {
    name: "fire times of an outage, of which the earliest stands for all",
    at: "2030-01-01T11:00:00Z",
    happens: (world) => outage(world, { coalesce: "earliest" }),
    verdict: "coalesced",
    cause: DOWN,
    says: ["one job, of Tue 2030-01-01 09:00 UTC, stands for them."],
  },
  {
    name: "fire times of a pause that one job stands for",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      await running(world, HOURLY);
      await world.to("2030-01-01T08:30:00Z");
      await world.scheduler.pauseSchedule("s", { by: "ada" });
      await world.to("2030-01-01T12:30:00Z");
      await world.scheduler.unpauseSchedule("s");
      await world.to("2030-01-01T12:31:00Z");
    },
    verdict: "coalesced",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-01T08:30:00Z", reason: null, until: null },
    says: ["Cause: the schedule was paused by ada"],
  },
  {
    name: "fire times of a time in which the scheduler was paused",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      await running(world, HOURLY);
      await world.to("2030-01-01T08:30:00Z");
      world.scheduler.pause();
      await world.to("2030-01-01T12:30:00Z");
      world.scheduler.resume();
      await world.to("2030-01-01T12:31:00Z");
    },
    verdict: "coalesced",
    cause: { kind: "policy", option: "coalesce" },
    says: ["Cause: the schedule's coalesce decided so."],
  },
  ...(["latest", "earliest"] as const).map(
    (coalesce): Row => ({
      name: `fire times of a time in which the only worker was away, of which the ${coalesce} stands for all`,
      at: "2030-01-01T10:00:00Z",
      happens: async (world) => {
        const planner = world.another({ role: "scheduler", identity: "w-2" });
        await planner.start();
        await outage(world, { coalesce });
      },
      verdict: "coalesced",
      cause: {
        ...{ kind: "nobodyUp", lacks: "worker" },
        from: "2030-01-01T08:30:00Z",
        until: coalesce === "latest" ? "2030-01-01T12:00:00Z" : "2030-01-01T10:00:00Z",
      },
      says: [`of Tue 2030-01-01 ${coalesce === "latest" ? "12:00" : "09:00"} UTC, stands for them.`],
    }),
  ),
  {
    name: "fire times of a pause of the task that one job stands for",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      await running(world, HOURLY);
      await world.to("2030-01-01T08:30:00Z");
      await world.scheduler.pauseTask("t", { by: "ada" });
      await world.to("2030-01-01T12:30:00Z");
      await world.scheduler.unpauseTask("t", { by: "ada" });
      await world.to("2030-01-01T12:31:00Z");
    },
    verdict: "coalesced",
    cause: { kind: "taskPaused", key: null, by: "ada", at: "2030-01-01T08:30:00Z", reason: null, until: null },
    says: ["Cause: the task was paused by ada"],
  },
  {
    name: "fire times of a time in which others took all room",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      const { handler, held } = heldHandler();
      world.scheduler.task("t", handler);
      await world.to("2030-01-01T08:30:00Z");
      await world.scheduler.addSchedule("t", HOURLY, { id: "s" });
      await world.scheduler.addJob("t");
      await world.scheduler.start();
      await world.to("2030-01-01T12:30:00Z");
      held[0]?.finish("done");
      held[1]?.finish("done");
      await world.to("2030-01-01T12:31:00Z");
    },
    verdict: "coalesced",
    cause: { kind: "noSlot", taskId: "t" },
    says: ["stands for them."],
  },
  {
    name: "a fire time that was too old to be made up for",
    at: "2030-01-01T09:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { maxAge: "2h" } }),
    verdict: "tooOld",
    cause: DOWN,
    says: ["it was due for longer than catchUp.maxAge", "A longer catchUp.maxAge"],
  },
  {
    name: "a fire time that was too old, when others were too many",
    at: "2030-01-01T09:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { maxAge: "2h", maxCount: 1 } }),
    verdict: "tooOld",
    cause: DOWN,
    says: ["it was due for longer than catchUp.maxAge"],
  },
  {
    name: "a fire time that was young enough",
    at: "2030-01-01T11:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { maxAge: "2h" } }),
    verdict: "success",
    cause: DOWN,
    says: ["1 h 30 min late"],
  },
  {
    name: "a fire time beyond the number that is made up for",
    at: "2030-01-01T10:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { maxCount: 2 } }),
    verdict: "overCount",
    cause: DOWN,
    says: ["more fire times were due than catchUp.maxCount makes up for."],
  },
  {
    name: "a job that waits for its turn in catching up",
    at: "2030-01-01T12:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", catchUp: { pace: "10m" } }),
    verdict: "waiting",
    cause: { kind: "policy", option: "catchUp.pace" },
    says: ["the schedule's catchUp.pace decided so."],
  },
  {
    name: "fire times whose runs would have overlapped",
    at: "2030-01-01T10:00:00Z",
    happens: (world) => outage(world, { coalesce: "all", overlap: "skip" }),
    verdict: "overlapSkipped",
    cause: { kind: "unfinishedRun", fireTime: "2030-01-01T09:00:00Z", jobId: "01b8dd74-5940-7400-a000-800000800000" },
    says: ["of Tue 2030-01-01 09:00 UTC, was unfinished."],
  },
  {
    name: "a backup that returned after a month",
    at: "2030-01-15T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE, { coalesce: "all", catchUp: { maxAge: "2d" } });
      await world.to("2030-01-01T12:00:00Z");
      await world.scheduler.stop();
      await world.to("2030-02-01T12:00:00Z");
      await world.scheduler.start();
      await world.to("2030-02-01T12:01:00Z");
    },
    verdict: "tooOld",
    cause: {
      ...{ kind: "nobodyUp", lacks: "scheduler" },
      ...{ from: null, until: "2030-02-01T12:00:00Z" },
    },
    says: ["no scheduler that fires schedules was up until Fri 2030-02-01 12:00 UTC."],
  },
];
