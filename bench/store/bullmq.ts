import { BULLMQ_CONCURRENCY, connectBullMQ } from "../lib/bullmq-connection.ts";
import type { Contestant } from "./contestant.ts";

export const BULLMQ: Contestant = {
  name: "BullMQ",
  runtime: "node",
  server: "redis",
  keeps: "either",
  configuration: `Redis with appendonly everysec, worker concurrency ${BULLMQ_CONCURRENCY}, addBulk, completed events subscribed`,
  packages: ["bullmq"],
  open: async ({ address, name, isKept }) => {
    const queue = await connectBullMQ(address, name, isKept);
    return { ...queue, process: (count, onRun) => queue.process(count, async (payload) => onRun(payload)) };
  },
};
