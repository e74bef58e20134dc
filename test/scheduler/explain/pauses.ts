import { registerTrigger, Trigger, type TriggerJSON } from "../../../src/mod.ts";
import { NINE, type Row, running } from "../explain-world.ts";

/** Fails from an instant on. */
class FailingTrigger extends Trigger {
  nextMs(afterMs: number): number {
    const nextMs = (Math.floor(afterMs / 86_400_000) + 1) * 86_400_000;
    if (afterMs >= Date.parse("2030-01-03T00:00:00Z")) throw new Error("no calendar for this year");
    return nextMs;
  }
  previousMs(beforeMs: number): number {
    return (Math.ceil(beforeMs / 86_400_000) - 1) * 86_400_000;
  }
  toJSON(): TriggerJSON {
    return { type: "test:failing", version: 1 };
  }
  describe(): string {
    return "Every day";
  }
}
registerTrigger("test:failing", { version: 1, fromJSON: () => new FailingTrigger() });

export const pauses: readonly Row[] = [
  {
    name: "a week in which the schedule was paused",
    at: "2030-01-05T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.pauseSchedule("s", { by: "ada" });
      await world.to("2030-01-10T12:00:00Z");
      await world.scheduler.unpauseSchedule("s", { resumeFrom: "now", by: "bob" });
      await world.to("2030-01-12T12:00:00Z");
    },
    verdict: "paused",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-03T12:00:00Z", reason: null, until: null },
    says: [
      "Verdict: paused: the schedule was paused, and went on after it.",
      "Cause: the schedule was paused by ada at Thu 2030-01-03 12:00 UTC.",
      "Advice: unpauseSchedule(id) without resumeFrom makes up",
    ],
  },
  {
    name: "the day after that week",
    at: "2030-01-11T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.pauseSchedule("s");
      await world.to("2030-01-10T12:00:00Z");
      await world.scheduler.unpauseSchedule("s", { resumeFrom: "now" });
      await world.to("2030-01-12T12:00:00Z");
    },
    verdict: "success",
    cause: null,
    says: ["on time"],
  },
  {
    name: "a schedule that is paused",
    at: "2030-01-05T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.pauseSchedule("s", { by: "ada" });
      await world.to("2030-01-06T12:00:00Z");
    },
    verdict: "paused",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-03T12:00:00Z", reason: null, until: null },
    says: ["no job is made of it while the schedule is paused.", 'unpauseSchedule("s") lets it go on.'],
  },
  {
    name: "a fire time to come of a schedule that is paused",
    at: "2030-01-05T09:00:00Z",
    happens: async (world) => {
      await running(world);
      await world.scheduler.pauseSchedule("s", { by: "ada" });
    },
    verdict: "upcoming",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-01T00:00:00Z", reason: null, until: null },
    says: ["nothing will run if all stays as it is"],
  },
  {
    name: "a schedule that was added paused",
    at: "2030-01-01T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE, { paused: true, by: "deploy" });
      await world.to("2030-01-01T12:00:00Z");
    },
    verdict: "paused",
    cause: { kind: "schedulePaused", by: "deploy", at: "2030-01-01T00:00:00Z", reason: null, until: null },
    says: ["by deploy"],
  },
  {
    name: "a pause that was made up for",
    at: "2030-01-02T09:00:00Z",
    happens: async (world) => {
      await running(world, NINE, { coalesce: "all" });
      await world.scheduler.pauseSchedule("s", { by: "ada" });
      await world.to("2030-01-03T12:00:00Z");
      await world.scheduler.unpauseSchedule("s");
      await world.to("2030-01-03T13:00:00Z");
    },
    verdict: "success",
    cause: { kind: "schedulePaused", by: "ada", at: "2030-01-01T00:00:00Z", reason: null, until: null },
    says: ["1 d 3 h late", "paused by ada"],
  },
  {
    name: "a trigger that fails",
    at: "2030-01-03T00:00:00Z",
    happens: async (world) => {
      await running(world, new FailingTrigger());
      await world.to("2030-01-04T12:00:00Z");
    },
    verdict: "paused",
    cause: { kind: "triggerFailed", at: "2030-01-03T00:00:00Z" },
    says: ["the trigger of the schedule failed", 'Mend the trigger, then unpauseSchedule("s").'],
  },
];
