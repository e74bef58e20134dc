import type { AbortSignal } from "../core/abort-signal.ts";
import { systemClock } from "../core/clock.ts";
import { INSTANT_MS_MAX } from "../core/temporal.ts";
import { compareTexts } from "../core/text.ts";
import { type JobRecord, NEVER_RUN } from "../records/job.ts";
import type { OccurrenceRecord } from "../records/ledger.ts";
import { PAGE_SIZE_MAX } from "../scheduler/options/limits.ts";
import type { DataStore, RecordPage } from "../stores/data-store.ts";
import { endLine, headerLine, recordLine } from "./format.ts";
import { opened } from "./opened.ts";
import { checkExport, type ExportOptions, type TransferPart } from "./options.ts";
import type { RunLine, SkipLine } from "./record-schemas.ts";

/**
 * Gives tasks, schedules, pauses and blackouts of a store as text, line by line; and unfinished jobs, results and the
 * ledger, if they are asked for. The text is JSON lines, of which the first has a version. It has **payloads and
 * metadata as they are**: keep it as safe as the store itself.
 *
 * The store may be in use. Each record is as it was at one instant, but not all of them at the same one. A store that
 * is not open is opened, and closed at the end. Pages of 1,000 records are read, so memory stays bounded.
 * @returns lines, each with its line break. The loop over them rejects with `StoreUnavailableError` when the store
 * fails, and with the reason of `options.signal`
 * @throws {OptionsError} for unknown or invalid options
 * @example
 * await pipeline(exportStore(dataStore, { include: ["jobs"] }), createWriteStream("store.jsonl"));
 */
export function exportStore(dataStore: DataStore, options: ExportOptions = {}): AsyncGenerator<string, void, void> {
  const { include, signal } = checkExport(dataStore, options);
  return exported(dataStore, new Set(include), signal);
}

async function* exported(
  dataStore: DataStore,
  parts: ReadonlySet<TransferPart>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, void> {
  signal?.throwIfAborted();
  const close = await opened(dataStore);
  try {
    yield headerLine(new Date(systemClock.now()).toISOString());
    for (const task of await dataStore.getTasks()) yield recordLine("task", task);
    signal?.throwIfAborted();
    for (const pause of await dataStore.getTaskPauses()) yield recordLine("taskPause", pause);
    for (const blackout of (await dataStore.getBlackouts()).items) yield recordLine("blackout", blackout);
    for await (const schedule of all((cursor) => dataStore.getSchedules({ limit: PAGE_SIZE_MAX, cursor }), signal)) {
      yield recordLine("schedule", schedule);
    }
    if (parts.has("jobs")) yield* jobLines(dataStore, signal);
    if (parts.has("results")) {
      const now = systemClock.now();
      const page = { order: "oldest", limit: PAGE_SIZE_MAX } as const;
      for await (const result of all((cursor) => dataStore.getJobResults({ ...page, cursor }, now), signal)) {
        yield recordLine("result", result);
      }
    }
    if (parts.has("ledger")) yield* ledgerLines(dataStore, signal);
    yield endLine();
  } finally {
    await close();
  }
}

async function* all<T>(
  page: (cursor: string | null) => Promise<RecordPage<T>>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  let cursor: string | null = null;
  do {
    signal?.throwIfAborted();
    const read: RecordPage<T> = await page(cursor);
    yield* read.items;
    cursor = read.cursor;
  } while (cursor !== null);
}

/** What became of the fire times of the schedules that are there. */
async function* ledgerLines(dataStore: DataStore, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const { ledger } = dataStore;
  if (!ledger) return;
  const always = { from: -INSTANT_MS_MAX, until: INSTANT_MS_MAX, order: "oldest", limit: PAGE_SIZE_MAX } as const;
  for await (const { id: scheduleId } of all(
    (cursor) => dataStore.getSchedules({ limit: PAGE_SIZE_MAX, cursor }),
    signal,
  )) {
    const since = await ledger.getLedgerStart(scheduleId);
    if (since !== null) yield recordLine("history", { scheduleId, since });
    for await (const entry of all(
      async (cursor) =>
        ledger.getOccurrences({ scheduleId, ...always, cursor }) as Promise<RecordPage<OccurrenceRecord>>,
      signal,
    )) {
      const { kind, ...facts } = entry;
      if (kind === "run") yield recordLine("run", { scheduleId, ...facts } as RunLine);
      else yield recordLine("skip", { scheduleId, ...facts } as SkipLine);
    }
  }
}

/** Jobs come after their parents, so that an import knows of each parent what became of it. */
async function* jobLines(dataStore: DataStore, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const lineOf = async (job: JobRecord): Promise<string> => jobLine(job, await hasBegun(dataStore, job));
  /** Jobs whose parents are still to come, by id; each with the id up to which they come. */
  const waiting = new Map<string, { readonly job: JobRecord; until: string }>();
  const due = async function* (reached: string | null): AsyncGenerator<string> {
    for (let hasMore = true; hasMore; ) {
      hasMore = false;
      for (const [id, entry] of waiting) {
        if (reached !== null && compareTexts(entry.until, reached) > 0) continue;
        const parent = entry.job.after?.find((one) => waiting.has(one));
        if (parent !== undefined) {
          if (reached !== null) entry.until = waiting.get(parent)?.until ?? entry.until;
          continue;
        }
        waiting.delete(id);
        hasMore = true;
        yield await lineOf(entry.job);
      }
    }
  };
  for await (const job of all((cursor) => dataStore.getJobs({ limit: PAGE_SIZE_MAX, cursor }), signal)) {
    if (waiting.size > 0) yield* due(job.id);
    const until = lastOf(job.after ?? []);
    const isEarly = until !== null && (compareTexts(until, job.id) > 0 || job.after?.some((id) => waiting.has(id)));
    if (isEarly) waiting.set(job.id, { job, until });
    else yield await lineOf(job);
  }
  yield* due(null);
}

function lastOf(ids: readonly string[]): string | null {
  return ids.reduce<string | null>((last, id) => (last === null || compareTexts(id, last) > 0 ? id : last), null);
}

/** Whether a copy of a job would do again what the job has done. Its recorded steps stay in its store. */
async function hasBegun(dataStore: DataStore, job: JobRecord): Promise<boolean> {
  if (job.acquiredBy !== null || job.sleep !== undefined) return true;
  if (job.fence === 0 && job.retryOf === undefined) return false;
  return (await dataStore.getJobSteps(job.id, systemClock.now())).length > 0;
}

function jobLine(job: JobRecord, isRunning: boolean): string {
  const { id, taskId, scheduleId } = job;
  if (isRunning) return recordLine("runningJob", { id, taskId, scheduleId });
  // What tells of a lease, of attempts and of what holds the job is of this store alone.
  const { blockedBy: _, progress: __, attemptHistory: ___, ...kept } = job;
  const { failedAttempts, recoveries, fence } = job;
  return recordLine("job", { ...kept, ...NEVER_RUN, failedAttempts, recoveries, fence });
}
