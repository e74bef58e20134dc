import { silentLogger } from "../../src/core/logger.ts";
import type { JobCall } from "../../src/executors/job-executor.ts";
import type { JobRecord } from "../../src/records/job.ts";
import { makeJob } from "../../src/testing/data-store-contract/makers.ts";

/** A call of a task for tests of executors. */
export function makeCall(
  taskId: string,
  payload: unknown = null,
  facts: Partial<Omit<JobCall, "job">> & { readonly job?: Partial<JobRecord> } = {},
): JobCall {
  const job = makeJob({ taskId, payload: JSON.stringify(payload), ...facts.job });
  return {
    payload,
    signal: new AbortController().signal,
    attempt: 1,
    fence: job.fence,
    idempotencyKey: job.id,
    logger: silentLogger,
    progress: () => {},
    invoke: () => {
      throw new Error("the handlers are elsewhere");
    },
    ...facts,
    job,
  };
}

/** How a promise settled: its value, or the error with its class, code and message. */
export async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work };
  } catch (error) {
    if (!(error instanceof Error)) return { thrown: error };
    const { code } = error as { code?: unknown };
    return { error: error.name, class: error.constructor.name, ...(code === undefined ? {} : { code }) };
  }
}
