import { cron, NINE, type Row, running } from "../explain-world.ts";
import { heldHandler, leaseAndDie } from "../support.ts";

export const ends: readonly Row[] = [
  {
    name: "an earlier run that was unfinished",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      const { handler, held } = heldHandler();
      world.scheduler.task("t", { overlap: "skip" }, handler);
      await world.scheduler.addSchedule("t", cron("0 9-10 * * *"), { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:30:00Z");
      held[0]?.finish("done");
      await world.to("2030-01-01T12:00:00Z");
    },
    verdict: "overlapSkipped",
    cause: { kind: "unfinishedRun", fireTime: "2030-01-01T09:00:00Z", jobId: "01b8dcb4-1680-7400-a000-800000800000" },
    says: [
      'skipped: an earlier run of the schedule was unfinished (overlap "skip").',
      "of Tue 2030-01-01 09:00 UTC, was unfinished.",
    ],
  },
  {
    name: "an earlier run that is unfinished",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", { overlap: "skip" }, handler);
      await world.scheduler.addSchedule("t", cron("0 9-10 * * *"), { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:30:00Z");
    },
    verdict: "overlapSkipped",
    cause: { kind: "unfinishedRun", fireTime: "2030-01-01T09:00:00Z", jobId: "01b8dcb4-1680-7400-a000-800000800000" },
    says: ['or overlap: "queue" lets them wait.'],
  },
  {
    name: "a waiting job that gave way",
    at: "2030-01-01T10:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", { overlap: "replaceQueued" }, handler);
      await world.scheduler.addSchedule("t", cron("0 9-11 * * *"), { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T11:30:00Z");
    },
    verdict: "replaced",
    cause: { kind: "unfinishedRun", fireTime: "2030-01-01T09:00:00Z", jobId: "01b8dcb4-1680-7400-a000-800000800000" },
    says: [
      "replaced: its waiting job gave way to that of Tue 2030-01-01 11:00 UTC.",
      "of Tue 2030-01-01 09:00 UTC, was unfinished.",
      "If it hangs, give its task a timeout, because more workers do not help",
    ],
  },
  {
    name: "a run that the next one cancelled",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const wait = async (_: unknown, { signal }: { signal: AbortSignal }): Promise<void> => {
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      };
      world.scheduler.task("t", { overlap: "cancelRunning" }, wait);
      await world.scheduler.addSchedule("t", cron("0 9-10 * * *"), { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T10:30:00Z");
    },
    verdict: "cancelled",
    cause: { kind: "policy", option: "overlap" },
    says: ["Verdict: cancelled by the next fire time."],
  },
  {
    name: "a job that somebody cancelled",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE);
      await world.scheduler.pauseTask("t");
      await world.to("2030-01-01T09:30:00Z");
      await world.scheduler.cancelJobs({ scheduleId: "s" });
    },
    verdict: "cancelled",
    cause: null,
    says: ["Verdict: cancelled. Job ", "never started"],
  },
  {
    name: "a job that was retried",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const retry = { maxAttempts: 3, backoff: { initial: "5m", jitter: "none" } } as const;
      world.scheduler.task("t", { retry }, (_, { attempt }) => {
        if (attempt === 1) throw new Error("busy");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "success",
    cause: { kind: "retried", attempts: 2 },
    says: ["it took 2 attempts; the last one began at 09:05."],
  },
  {
    name: "a job that will be retried",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const retry = { maxAttempts: 3, backoff: { initial: "5m", jitter: "none" } } as const;
      world.scheduler.task("t", { retry }, () => {
        throw new Error("busy");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:01:00Z");
    },
    verdict: "waiting",
    cause: { kind: "retried", attempts: 1 },
    says: ["1 attempt failed, and the next one is to come at Tue 2030-01-01 09:05 UTC."],
  },
  {
    name: "a job that failed",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      world.scheduler.task("t", () => {
        throw new RangeError("no such report");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "error",
    cause: { kind: "error", name: "RangeError", message: "no such report", code: null },
    says: ["Verdict: ran and failed.", "Cause: RangeError: no such report", 'retryJob("'],
  },
  {
    name: "a job that failed, and whose result is gone",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      world.scheduler.task("t", { resultExpirationTime: "0s" }, () => {
        throw new RangeError("no such report");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "error",
    cause: { kind: "error", name: null, message: null, code: null },
    says: ["the error is not kept any more.", "A longer failureExpirationTime keeps errors for longer."],
  },
  {
    name: "a job that failed and was repeated",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      let isBroken = true;
      world.scheduler.task("t", () => {
        if (isBroken) throw new RangeError("no such report");
      });
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:00:05Z");
      isBroken = false;
      await world.scheduler.retryJobs({ scheduleId: "s" });
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["Verdict: ran. Job ", "~1, "],
  },
  {
    name: "a job that took too long",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      const { handler } = heldHandler();
      world.scheduler.task("t", { timeout: "5m", abandonAfter: "0s" }, handler);
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "error",
    cause: {
      ...{ kind: "error", name: "JobTimeoutError", code: "jobTimeout" },
      message: 'job 01b8dcb4-1680-7400-a000-800000800000 of task "t" ran longer than 300000 ms',
    },
    says: ["took 5 min", "JobTimeoutError"],
  },
  {
    name: "a payload that cannot be read",
    at: "2030-01-01T09:00:00Z",
    store: {
      serializer: {
        serialize: (value: unknown) => JSON.stringify(value),
        deserialize: (): unknown => {
          throw new SyntaxError("not our text");
        },
      },
    },
    happens: async (world) => {
      await running(world, NINE, { payload: 1 });
      await world.to("2030-01-01T09:30:00Z");
    },
    verdict: "deserializationFailed",
    cause: {
      ...{ kind: "error", name: "DeserializationError", message: "the payload cannot be read" },
      code: "deserialization",
    },
    says: ["failed: its payload could not be read."],
  },
  {
    name: "a job that ends its processes",
    at: "2030-01-01T09:00:00Z",
    options: { role: "scheduler" },
    happens: async (world) => {
      world.scheduler.task("t", { maxRecoveries: 1 }, () => {});
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:00:01Z");
      for (let lost = 0; lost < 3; lost++) {
        await leaseAndDie(world.store, world.clock.now(), { schedulerId: `dead-${lost}` });
        await world.clock.advance("2m");
      }
    },
    verdict: "abandoned",
    cause: { kind: "lost", attempts: 2, message: null },
    says: ["it was lost with its process too often.", "Cause: its process was lost, in each of 2 attempts."],
  },
  {
    name: "a job that lost its process just now",
    at: "2030-01-01T09:00:00Z",
    options: { role: "scheduler" },
    happens: async (world) => {
      world.scheduler.task("t", () => {});
      await world.scheduler.addSchedule("t", NINE, { id: "s" });
      await world.scheduler.start();
      await world.to("2030-01-01T09:00:01Z");
      await leaseAndDie(world.store, world.clock.now());
      await world.scheduler.stop();
      await world.clock.advance("2m");
      await world.scheduler.tick();
    },
    verdict: "waiting",
    cause: { kind: "lost", attempts: 1, message: null },
    says: ["lost its process.", "Cause: its process was lost."],
  },
];
