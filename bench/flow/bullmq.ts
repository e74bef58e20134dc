import { BULLMQ_CONCURRENCY, connectBullMQ } from "../lib/bullmq-connection.ts";
import type { FlowContestant } from "./contestant.ts";

/** Groups with limits of their own are part of BullMQ Pro, which costs money. */
export const BULLMQ: FlowContestant = {
  name: "BullMQ",
  runtime: "node",
  server: "redis",
  configuration: `Redis with appendonly everysec, worker concurrency ${BULLMQ_CONCURRENCY}, limiter { max, duration: 1000 } for a rate`,
  packages: ["bullmq"],
  kinds: ["none", "rate"],
  open: async (address, name, limit) => {
    const limiter = limit.kind === "rate" ? { limiter: { max: limit.perSecond, duration: 1000 } } : {};
    const queue = await connectBullMQ(address, name, false, limiter);
    return { ...queue, addMany: (jobs) => queue.addMany(jobs.map(({ payload }) => payload)) };
  },
};
