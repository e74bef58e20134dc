import { type Row, running } from "../explain-world.ts";

export const memories: readonly Row[] = [
  {
    name: "a store without a ledger",
    at: "2030-01-02T09:00:00Z",
    store: { ledger: false },
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "unrecorded",
    cause: { kind: "ledger", reason: "notKept" },
    says: [
      "At 09:00, in UTC (the rule of now).",
      "kept no ledger of that time.",
      "Turn the ledger option of the store on.",
    ],
  },
  {
    name: "a store without a ledger, and an instant that is no fire time now",
    at: "2030-01-02T10:00:00Z",
    store: { ledger: false },
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "unrecorded",
    cause: { kind: "ledger", reason: "notKept" },
    fireTime: null,
    says: ["is no fire time of: At 09:00, in UTC (the rule of now)."],
  },
  {
    name: "a store without a ledger, and a job that waits",
    at: "2030-01-02T09:00:00Z",
    store: { ledger: false },
    happens: async (world) => {
      await running(world);
      await world.scheduler.pauseTask("t");
      await world.to("2030-01-03T00:00:00Z");
    },
    verdict: "waiting",
    cause: { kind: "taskPaused", key: null, by: "w-1", at: null, reason: null, until: null },
    says: ["the task was paused by w-1."],
  },
  {
    name: "a store without a ledger, and a fire time to come",
    at: "2030-01-09T09:00:00Z",
    store: { ledger: false },
    happens: (world) => running(world),
    verdict: "upcoming",
    cause: null,
    says: ["it will fire in 8 d 9 h."],
  },
  {
    name: "an entry that the clean-up removed",
    at: "2030-01-02T09:00:00Z",
    store: { ledger: { maxCount: 2 } },
    happens: async (world) => {
      await running(world);
      await world.to("2030-01-08T12:00:00Z");
      await world.scheduler.cleanup();
    },
    verdict: "unrecorded",
    cause: { kind: "ledger", reason: "removed" },
    says: ["the clean-up has removed the entry.", "The ledger option of the store says how many entries are kept."],
  },
];
