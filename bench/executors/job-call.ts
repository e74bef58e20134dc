import type { JobCall } from "escapement/contracts";
import { silentLogger } from "../../src/core/logger.ts";
import { makeJob } from "../../src/testing/data-store-contract/makers.ts";

const job = makeJob({ taskId: "echo" });

/** A call as the scheduler makes it: with a signal of its own. */
export function jobCall(payload: unknown): JobCall {
  return {
    job,
    payload,
    signal: new AbortController().signal,
    attempt: 1,
    fence: job.fence,
    idempotencyKey: job.id,
    logger: silentLogger,
    progress: () => {},
    invoke: () => payload,
  };
}
