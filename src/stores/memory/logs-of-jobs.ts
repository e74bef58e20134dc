import type { JobLogRecord } from "../../records/job-log.ts";
import { JOB_LOGS_MAX } from "../shared/limits.ts";
import { frozenCopy } from "./frozen-copies.ts";

/** The logs of the jobs of a memory store, by job and fence. */
export class JobLogs {
  readonly #ofJobs = new Map<string, Map<number, JobLogRecord>>();

  put(jobId: string, fence: number, log: JobLogRecord): void {
    let logs = this.#ofJobs.get(jobId);
    if (logs === undefined) {
      logs = new Map();
      this.#ofJobs.set(jobId, logs);
    }
    logs.set(fence, frozenCopy(log));
    // Fences grow, so that the first ones are the oldest.
    for (const old of logs.keys()) if (old <= fence - JOB_LOGS_MAX) logs.delete(old);
  }

  get(jobId: string): JobLogRecord[] {
    return [...(this.#ofJobs.get(jobId)?.values() ?? [])];
  }

  remove(jobId: string): void {
    this.#ofJobs.delete(jobId);
  }
}
