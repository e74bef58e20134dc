import type { JobRecord } from "../../records/job.ts";
import type { StepRequest } from "../data-store.ts";
import type { JobEntry } from "./gate.ts";

// What it means for a job that its lease is lost.

/** A job that was lost before starts only after the store was told so. */
export function mayHaveStarted({ recoveries, startedFence, fence }: JobRecord): boolean {
  return recoveries === 0 || startedFence === fence;
}

/** Whether a job ends when its lease is lost. */
export function isLastLoss(record: JobRecord): boolean {
  return record.cancelRequested || (mayHaveStarted(record) && record.recoveries >= record.maxRecoveries);
}

/** Whether the releases or the recovery of a step end a job, and leave no result. */
export function vanishesIn({ now, schedulerId, recover, releases }: StepRequest, { record }: JobEntry): boolean {
  if (record.acquiredBy === null) return false;
  const isOurs = record.acquiredBy === schedulerId;
  const release = isOurs
    ? releases.find(({ jobId, fence }) => jobId === record.id && fence === record.fence)
    : undefined;
  if (release?.kind === "finish") return release.result.expiresAt <= now;
  const isLost = recover && (record.acquiredUntil ?? 0) <= now;
  const hasStarted = release?.kind === "start" || (release?.kind === "giveUp" && release.hasStarted === true);
  const goesBack = release !== undefined && release.kind !== "start";
  const isTakenBack = goesBack ? record.cancelRequested || hasStarted : isLost;
  const { startedFence, fence, resultExpirationMs } = record;
  const before = { ...record, startedFence: hasStarted ? fence : startedFence };
  return isTakenBack && resultExpirationMs <= 0 && isLastLoss(before);
}
