import { appendFileSync, readFileSync } from "node:fs";

/** One line of the ledger of runs, which handlers keep outside the store. */
export interface LedgerEntry {
  /** `failed`: for good, because it was told to. */
  readonly event: "start" | "end" | "failed";
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  /** Epoch milliseconds, or null for a job that no schedule made. */
  readonly fireTime: number | null;
  /** What the controller called a job that it added itself. */
  readonly name: string | null;
  /** Its concurrency key, or null. */
  readonly key: string | null;
  /** The present by the commit that acquired it, and when the line was written, in epoch milliseconds. */
  readonly acquiredMs: number;
  readonly atMs: number;
  readonly fence: number;
  readonly worker: string;
}

/** Appends a line. One small write to a file opened for appending is atomic, also between processes and before a kill.
 *  */
export function writeLedger(file: string, entry: LedgerEntry): void {
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
}

export function readLedger(file: string): LedgerEntry[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LedgerEntry);
}
