import type { AbortSignal } from "../core/abort-signal.ts";
import { systemClock } from "../core/clock.ts";
import { ConflictingIdError } from "../core/errors.ts";
import type { Mutable } from "../core/mutable.ts";
import { withoutUndefined } from "../core/without-undefined.ts";
import type { OccurrenceRecord } from "../records/ledger.ts";
import { PAGE_SIZE_MAX } from "../scheduler/options/limits.ts";
import { SCHEDULES_PER_COMMIT_MAX } from "../scheduler/verbs/limits.ts";
import type { DataStore, RestoredHistory } from "../stores/data-store.ts";
import { BLACKOUTS_MAX } from "../stores/shared/limits.ts";
import {
  type TransferHeader,
  type TransferKind,
  TransferReader,
  type TransferRecord,
  type TransferRecords,
} from "./format.ts";
import { NOT_IMPORTED_LISTED_MAX, TRANSFER_COMMIT_LENGTH_MAX } from "./limits.ts";
import { TransferText } from "./line-reader.ts";
import { opened } from "./opened.ts";
import { checkImport, type ImportOptions, type ImportPolicy, type TransferLines } from "./options.ts";
import type { ImportCounts, ImportReport, NotImportedJob } from "./report.ts";

/**
 * Puts what {@link exportStore} gave into a store. The whole text is checked first: its version, each record and
 * trigger, the order, the end, and that the store's serializer reads each payload. If anything is wrong, nothing is
 * imported. Then records are written, up to 200 of them a commit; so an import that fails in the middle, or is aborted,
 * can be repeated with `conflictPolicy: "doNothing"`.
 *
 * Schedules keep their next fire time: what has passed since is made up for, as after a downtime. Jobs that ran during
 * the export are not imported, nor are jobs that wait for them: `notImported` lists them. A store that is not open is
 * opened, and closed at the end.
 * @param lines the text: a string, an iterable of its pieces, or a function that opens it, which is the best for much
 * text, because it is read twice
 * @returns what the import did; with `dryRun`, what it would do
 * @throws {OptionsError} for unknown or invalid options, and for more than 64,000,000 characters that can be read once
 * @throws {TransferError} for a text that does not fit, with the number of each line
 * @throws {ConflictingIdError} when ids are in use and `conflictPolicy` is `error`
 * @throws {StoreUnavailableError} when the store fails
 * @example
 * const lines = () => createReadStream("store.jsonl");
 * console.log(await importStore(dataStore, lines, { dryRun: true }));
 */
export async function importStore(
  dataStore: DataStore,
  lines: TransferLines,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { dryRun, conflictPolicy, signal } = checkImport(dataStore, lines, options);
  signal?.throwIfAborted();
  const text = new TransferText(lines, dryRun, signal);
  const close = await opened(dataStore);
  try {
    const found = new Import(dataStore, conflictPolicy, false);
    const checked = await found.run(text, signal);
    if (dryRun) return { ...checked, dryRun };
    found.assertNoConflict();
    return { ...(await new Import(dataStore, conflictPolicy, true).run(text, signal)), dryRun };
  } finally {
    await close();
  }
}

/** Records of one kind that follow each other. */
type BatchOfRecords = { [K in TransferKind]: readonly Extract<TransferRecord, { kind: K }>[] }[TransferKind];

/** One pass over the text: it checks, and finds out what an import would do, or it writes. */
class Import {
  readonly #dataStore: DataStore;
  readonly #policy: ImportPolicy;
  readonly #writes: boolean;
  readonly #counts: Record<CountedKind, Mutable<ImportCounts>> = {
    task: { added: 0, replaced: 0, kept: 0 },
    schedule: { added: 0, replaced: 0, kept: 0 },
    blackout: { added: 0, replaced: 0, kept: 0 },
    job: { added: 0, replaced: 0, kept: 0 },
    result: { added: 0, replaced: 0, kept: 0 },
  };
  #occurrences = 0;
  #taskPauses = 0;
  /** The tasks of the store and of the text; and whether the text decides about them. */
  readonly #tasks = new Map<string, boolean>();
  /** The ids of the blackouts of the store and of the text; null before the first of the text. */
  #blackouts: Set<string> | null = null;
  /** The jobs that are not imported, and why. */
  readonly #notImported = new Map<string, NotImportedJob>();
  /** The first record whose id is in use, and how many there are. */
  #conflict: { readonly kind: string; readonly id: string } | null = null;
  #conflictCount = 0;

  constructor(dataStore: DataStore, policy: ImportPolicy, writes: boolean) {
    this.#dataStore = dataStore;
    this.#policy = policy;
    this.#writes = writes;
  }

  async run(text: TransferText, signal: AbortSignal | undefined): Promise<Omit<ImportReport, "dryRun">> {
    for (const { id } of await this.#dataStore.getTasks()) this.#tasks.set(id, false);
    const reader = new TransferReader(this.#dataStore.serializer);
    for await (const batch of batches(text, reader)) {
      signal?.throwIfAborted();
      await this.#take(batch, reader);
    }
    reader.finish();
    return this.#report(reader.header);
  }

  /** @throws {ConflictingIdError} when ids are in use that must not be */
  assertNoConflict(): void {
    if (this.#policy !== "error" || this.#conflict === null) return;
    const { kind, id } = this.#conflict;
    const others = this.#conflictCount === 1 ? "" : ` (and ${this.#conflictCount - 1} other ids)`;
    const advice = 'pass conflictPolicy "doNothing" or "replace"';
    throw new ConflictingIdError(`importStore(): the store has a ${kind} "${id}"${others}; ${advice}`, id);
  }

  #report({ exportedAt }: TransferHeader): Omit<ImportReport, "dryRun"> {
    const { task: tasks, schedule: schedules, blackout: blackouts, job: jobs, result: results } = this.#counts;
    const notImported = [...this.#notImported.values()].slice(0, NOT_IMPORTED_LISTED_MAX);
    const counts = { tasks, schedules, blackouts, jobs, results, occurrences: this.#occurrences };
    return { exportedAt, ...counts, taskPauses: this.#taskPauses, notImported };
  }

  async #take(batch: BatchOfRecords, reader: TransferReader): Promise<void> {
    switch (batch[0]?.kind) {
      case undefined:
        return;
      case "task":
        return this.#takeTasks(recordsOf(batch, "task"));
      case "taskPause":
        return this.#takePauses(batch as Extract<BatchOfRecords, readonly { kind: "taskPause" }[]>, reader);
      case "blackout":
        return this.#takeBlackouts(batch as Extract<BatchOfRecords, readonly { kind: "blackout" }[]>, reader);
      case "schedule":
        return this.#takeSchedules(batch as Extract<BatchOfRecords, readonly { kind: "schedule" }[]>, reader);
      case "runningJob":
        for (const { id, taskId, scheduleId } of recordsOf(batch, "runningJob")) {
          this.#notImported.set(id, { jobId: id, taskId, scheduleId, reason: "running" });
        }
        return;
      case "job":
        return this.#takeJobs(recordsOf(batch, "job"));
      case "result":
        return this.#takeResults(recordsOf(batch, "result"));
      case "history":
        return this.#restore(recordsOf(batch, "history").map((history) => ({ ...history, entries: [] })));
      case "run":
        return this.#takeEntries(
          recordsOf(batch, "run").map(({ scheduleId, ...run }) => [scheduleId, { kind: "run", ...run }]),
        );
      case "skip":
        return this.#takeEntries(
          recordsOf(batch, "skip").map(({ scheduleId, ...skip }) => [scheduleId, { kind: "skip", ...skip }]),
        );
    }
  }

  async #takeTasks(tasks: readonly TransferRecords["task"][]): Promise<void> {
    for (const { paused: _, ...task } of tasks) {
      const isStored = this.#tasks.get(task.id) === false;
      this.#count("task", task.id, isStored);
      if (isStored && this.#policy !== "replace") continue;
      this.#tasks.set(task.id, true);
      if (!this.#writes) continue;
      // A declaration that is stored already keeps the stored settings, so the settings follow as an edit.
      await this.#dataStore.putTasks([task]);
      const { declaration, version: __, ...edit } = task;
      if (isStored && declaration !== undefined) await this.#dataStore.putTasks([edit]);
    }
  }

  async #takePauses(
    pauses: readonly Extract<TransferRecord, { kind: "taskPause" }>[],
    reader: TransferReader,
  ): Promise<void> {
    for (const { record, line } of pauses) {
      const { taskId, key, pausedUntil: until, pauseReason: reason, pausedBy: by } = record;
      if (!this.#tasks.has(taskId)) {
        reader.refuse(line, unknownTask("taskPause", taskId));
        continue;
      }
      this.#taskPauses++;
      if (!this.#writes || this.#tasks.get(taskId) !== true) continue;
      const said = withoutUndefined({ until, reason, by });
      await this.#dataStore.pauseTask({ taskId, key, paused: true, now: systemClock.now(), ...said });
    }
  }

  async #takeBlackouts(
    batch: readonly Extract<TransferRecord, { kind: "blackout" }>[],
    reader: TransferReader,
  ): Promise<void> {
    if (this.#blackouts === null) {
      const { items } = await this.#dataStore.getBlackouts();
      this.#blackouts = new Set(items.map(({ id }) => id));
    }
    for (const { record: blackout, line } of batch) {
      const { id } = blackout;
      const isStored = this.#blackouts.has(id);
      this.#count("blackout", id, isStored);
      this.#blackouts.add(id);
      if (this.#blackouts.size > BLACKOUTS_MAX) {
        reader.refuse(line, `blackout: the store would have more than ${BLACKOUTS_MAX} blackouts`);
      } else if (this.#writes) {
        const conflictPolicy = this.#policy;
        const { change } = await this.#dataStore.addBlackout({ blackout, conflictPolicy });
        if (change !== "conflict") continue;
        this.#noteConflict("blackout", id);
        this.assertNoConflict();
      }
    }
  }

  async #takeSchedules(
    batch: readonly Extract<TransferRecord, { kind: "schedule" }>[],
    reader: TransferReader,
  ): Promise<void> {
    for (const { record, line } of batch) {
      if (!this.#tasks.has(record.taskId)) reader.refuse(line, unknownTask("schedule", record.taskId));
    }
    const schedules = batch.map(({ record }) => record);
    if (!this.#writes) {
      const stored = await this.#storedSchedules(schedules.map(({ id }) => id));
      for (const { id } of schedules) this.#count("schedule", id, stored.has(id));
      return;
    }
    const conflictPolicy = this.#policy;
    const additions = schedules.map((schedule) => ({ schedule, conflictPolicy, setsPaused: true }));
    const answer = await this.#dataStore.addSchedules(additions, { at: systemClock.now(), by: BY });
    if (answer.conflicts !== null) {
      for (const place of answer.conflicts) this.#count("schedule", schedules[place]?.id ?? "", true);
      return this.assertNoConflict();
    }
    for (const { change, schedule } of answer.results) this.#count("schedule", schedule.id, change !== "added");
  }

  async #storedSchedules(ids: readonly string[]): Promise<Set<string>> {
    const stored = new Set<string>();
    let cursor: string | null = null;
    do {
      const page = await this.#dataStore.getSchedules({ ids, limit: PAGE_SIZE_MAX, cursor });
      for (const { id } of page.items) stored.add(id);
      cursor = page.cursor;
    } while (cursor !== null);
    return stored;
  }

  async #takeJobs(given: readonly TransferRecords["job"][]): Promise<void> {
    const jobs: TransferRecords["job"][] = [];
    for (const job of given) {
      const waits = job.after?.some((id) => this.#notImported.has(id)) === true;
      const { id: jobId, taskId, scheduleId } = job;
      if (waits) this.#notImported.set(jobId, { jobId, taskId, scheduleId, reason: "waitsForRunning" });
      else jobs.push(job);
    }
    const named = jobs.flatMap(({ id, after = [], retryOf }) => [
      id,
      ...after,
      ...(retryOf === undefined ? [] : [retryOf]),
    ]);
    const unknown = await this.#unknownJobs([...new Set(named)]);
    if (!this.#writes) {
      for (const { id } of jobs) this.#count("job", id, !unknown.has(id));
      return;
    }
    const own = new Set(jobs.map(({ id }) => id));
    const isKnown = (id: string): boolean => own.has(id) || !unknown.has(id);
    // A parent that nobody knows has ended, and its result is gone. The same holds for a job that was repeated.
    const added = jobs.map(({ after = [], retryOf, ...job }) => {
      const parents = after.filter(isKnown);
      return {
        ...job,
        ...(parents.length === 0 ? {} : { after: parents }),
        ...(retryOf === undefined || !isKnown(retryOf) ? {} : { retryOf }),
      };
    });
    for (const [index, { isNew }] of (await this.#dataStore.addJobs(added)).entries()) {
      const id = added[index]?.id ?? "";
      this.#count("job", id, !(isNew && unknown.has(id)));
    }
    return this.assertNoConflict();
  }

  async #takeResults(results: readonly TransferRecords["result"][]): Promise<void> {
    const unknown = await this.#unknownJobs(results.map(({ jobId }) => jobId));
    for (const { jobId } of results) this.#count("result", jobId, !unknown.has(jobId));
    if (this.#writes) await this.#dataStore.restore({ results, histories: [] });
  }

  async #takeEntries(entries: readonly [scheduleId: string, entry: OccurrenceRecord][]): Promise<void> {
    this.#occurrences += entries.length;
    await this.#restore(entries.map(([scheduleId, entry]) => ({ scheduleId, since: null, entries: [entry] })));
  }

  async #restore(histories: readonly RestoredHistory[]): Promise<void> {
    if (this.#writes) await this.#dataStore.restore({ results: [], histories });
  }

  async #unknownJobs(ids: readonly string[]): Promise<Set<string>> {
    const unknown = new Set<string>();
    for (let start = 0; start < ids.length; start += PAGE_SIZE_MAX) {
      const part = ids.slice(start, start + PAGE_SIZE_MAX);
      for (const id of await this.#dataStore.getUnknownJobIds(part, systemClock.now())) unknown.add(id);
    }
    return unknown;
  }

  #count(kind: CountedKind, id: string, isStored: boolean): void {
    const counts = this.#counts[kind];
    if (!isStored) counts.added++;
    else if (this.#policy === "replace" && kind !== "job" && kind !== "result") counts.replaced++;
    else counts.kept++;
    // Results are no work: those that are there stay.
    if (isStored && kind !== "result") this.#noteConflict(kind, id);
  }

  #noteConflict(kind: CountedKind, id: string): void {
    this.#conflict ??= { kind, id };
    this.#conflictCount++;
  }
}

type CountedKind = "task" | "schedule" | "blackout" | "job" | "result";

/** Who changes what an import changes, for the ledger. */
const BY = "importStore";

function unknownTask(kind: string, taskId: string): string {
  return `${kind}.taskId: neither the text nor the store has the task ${JSON.stringify(taskId)}`;
}

function recordsOf<K extends TransferKind>(batch: BatchOfRecords, _kind: K): TransferRecords[K][] {
  return batch.map(({ record }) => record as TransferRecords[K]);
}

/** The records of a text in batches, each of which one commit can take. */
async function* batches(text: TransferText, reader: TransferReader): AsyncGenerator<BatchOfRecords> {
  let batch: TransferRecord[] = [];
  let length = 0;
  for await (const line of text.lines()) {
    const found = reader.read(line);
    if (found === null) continue;
    const isFull = batch.length >= SCHEDULES_PER_COMMIT_MAX || length + found.length > TRANSFER_COMMIT_LENGTH_MAX;
    if (batch.length > 0 && (isFull || batch[0]?.kind !== found.kind)) {
      yield batch as unknown as BatchOfRecords;
      [batch, length] = [[], 0];
    }
    batch.push(found);
    length += found.length;
  }
  if (batch.length > 0) yield batch as unknown as BatchOfRecords;
}
