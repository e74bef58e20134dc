import type { SqlStatement } from "../sql/driver/driver-and-failures.ts";
import { bytesOf } from "../sql/sql-and-json.ts";

/** A record that is larger than a row may be. Nothing was sent. */
export class TooLargeRecord extends Error {
  constructor(bytes: number) {
    super(
      `a record of ${bytes} bytes, at most ${RECORD_BYTES_MAX} fit into a row of this database; keep what is large ` +
        "elsewhere, and pass its key",
    );
    this.name = "TooLargeRecord";
  }
}

/** @throws {TooLargeRecord} */
export function refuseTooLarge(statements: readonly SqlStatement[]): void {
  for (const { args } of statements) {
    for (const arg of args) {
      // A UTF-16 unit takes three bytes at most.
      if (typeof arg !== "string" || arg.length * 3 <= RECORD_BYTES_MAX) continue;
      const bytes = bytesOf(arg);
      if (bytes > RECORD_BYTES_MAX) throw new TooLargeRecord(bytes);
    }
  }
}

// Bounds of D1 and of the SQLite of Durable Objects, with units (developers.cloudflare.com/d1/platform/limits and
// /durable-objects/platform/limits).

/** Largest record that the store sends, in bytes. A row may have 2,000,000. A job that is read again has more to it
 *  than what was sent: its lease, its progress, and up to 20 attempts with their errors. What can be written must never
 *  be too large to be read, because a job that cannot be read would hold up its queue. */
const RECORD_BYTES_MAX = 1_800_000;
