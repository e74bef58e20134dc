// Bounds of D1 and of the SQLite of Durable Objects, with units (developers.cloudflare.com/d1/platform/limits and
// /durable-objects/platform/limits).

/** Largest record that the store sends, in bytes. A row may have 2,000,000. A job that is read again has more to it
 *  than what was sent: its lease, its progress, and up to 20 attempts with their errors. What can be written must never
 *  be too large to be read, because a job that cannot be read would hold up its queue. */
export const RECORD_BYTES_MAX = 1_800_000;
