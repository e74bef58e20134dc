import type { CallTexts, JobCall } from "escapement/contracts";
import { silentLogger } from "../../src/core/logger.ts";
import { AbortState } from "../../src/scheduler/running/abort-state.ts";
import { makeJob } from "../../src/testing/data-store-contract/makers.ts";

const job = makeJob({ taskId: "echo" });

/** A call as the scheduler makes it: its signal is made when it is read. */
export function jobCall(payload: unknown): JobCall {
  return new BenchCall(payload);
}

class BenchCall implements JobCall {
  readonly #abort = new AbortState();
  readonly job = job;
  readonly attempt = 1;
  readonly fence = job.fence;
  readonly idempotencyKey = job.id;
  readonly logger = silentLogger;
  readonly payload: unknown;

  constructor(payload: unknown) {
    this.payload = payload;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  onAbort(listener: (reason: unknown, graceMs: number) => void): () => void {
    this.#abort.listen(listener);
    return () => this.#abort.listen(null);
  }

  /** The scheduler has the texts. Here the values are needed, for they are compared. */
  get texts(): CallTexts {
    return { payload: () => JSON.stringify(this.payload), returned: JSON.parse, refused: () => {} };
  }

  progress(): void {}

  invoke = (): unknown => this.payload;
}
