import { ConflictingIdError, JobLookupError } from "../../core/errors.ts";
import { FAILURES, failureKeyOf } from "../../records/failure.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobResultFilter, RecordPage } from "../../stores/data-store.ts";
import type { BulkCommands, SkippedJobs } from "../commands/commands.ts";
import type { CheckedBulk, JobSelection, ResultSelection, RetrySelection } from "../options/checked-options.ts";
import { CLEANUP_BATCH } from "../options/limits.ts";
import type { Job } from "../views/job.ts";
import type { JobVerbs } from "./job-verbs.ts";
import { BULK_COMMIT_MAX } from "./limits.ts";
import { repeatableJobOf, retriedJob, retryIdOf, withKey } from "./retried-job.ts";
import { resultSelectionOf } from "./run-verbs.ts";
import { partsOf, Skips } from "./skips.ts";
import type { VerbContext } from "./verb-context.ts";

/** By what a store removes results itself. */
const SELECTED: readonly string[] = ["taskId", "scheduleId", "outcome", "from", "until", "labels"];

/** What a scheduler does with jobs that have ended, and with many jobs at once. */
export class BulkVerbs implements BulkCommands {
  readonly #context: VerbContext;
  readonly #jobs: JobVerbs;

  constructor(context: VerbContext, jobs: JobVerbs) {
    this.#context = context;
    this.#jobs = jobs;
  }

  async retry(id: string, { restart }: { readonly restart: boolean }): Promise<Job> {
    const { env, tasks, ready } = this.#context;
    await ready();
    const now = env.clock.now();
    const result = await env.store.getJobResult(id, now);
    if (result === null) throw noResult(id, (await env.store.getJob(id)) !== null);
    const record = retriedJob(result, repeatableJobOf(result), now, !restart);
    await tasks.settingsOf(result.taskId);
    if ((await env.store.getJobResult(record.id, now)) !== null) {
      throw new ConflictingIdError(
        `job "${id}" was retried as job "${record.id}", which has ended too; retry that one`,
        record.id,
      );
    }
    const added = await env.store.getJob(record.id);
    if (added !== null) return this.#jobs.viewOf(added);
    const [addition] = await this.#context.addJobs([await withKey(this.#context, record)]);
    if (addition?.isOutdated === true) throw resultWent(id);
    return this.#jobs.viewOf(addition?.job ?? record, addition?.hasEnded);
  }

  async retryMany(filter: CheckedBulk<RetrySelection>): Promise<{ retried: number } & SkippedJobs> {
    const { env, ready } = this.#context;
    const { ids, all: _all, signal, ...selection } = filter;
    await ready();
    const start = env.clock.now();
    const skips = new Skips();
    let retried = 0;
    const parts = ids === undefined ? this.#allEnded(start, selection, signal) : this.#endedOf(ids, start, signal);
    for await (const part of parts) retried += await this.#retryPart(part, start, skips);
    return { retried, ...skips.report() };
  }

  async cancelMany(filter: CheckedBulk<JobSelection>): Promise<{ cancelled: number } & SkippedJobs> {
    const { env, ready } = this.#context;
    const { ids, all: _all, signal, ...selection } = filter;
    await ready();
    const { backfillId, ...others } = selection;
    // It adds nothing more from here on, so that all of its jobs are found below.
    const isWhole = backfillId !== undefined && Object.keys(others).length === 0;
    if (isWhole) await env.store.cancelBackfill(backfillId, env.clock.now());
    const skips = new Skips();
    let cancelled = 0;
    const parts =
      ids === undefined
        ? this.#unfinishedIds(isWhole ? Number.POSITIVE_INFINITY : env.clock.now(), selection)
        : partsOf(ids);
    for await (const part of parts) {
      signal?.throwIfAborted();
      for (const [place, cancellation] of (await this.#jobs.cancelAll(part)).entries()) {
        const id = part[place] ?? "";
        if (cancellation !== "tooLate") cancelled++;
        else skips.add(id, new JobLookupError(`there is no unfinished job "${id}"`, id));
      }
    }
    return { cancelled, ...skips.report() };
  }

  async removeResults(filter: CheckedBulk<ResultSelection>): Promise<{ removed: number }> {
    const { env, ready } = this.#context;
    const { ids, all: _all, signal, dryRun = false, ...selection } = filter;
    await ready();
    const start = env.clock.now();
    const until = Math.min(selection.until ?? Number.POSITIVE_INFINITY, start + 1);
    const results = { ...resultSelectionOf(selection), until };
    const isOneStatement = Object.keys(results).every((name) => SELECTED.includes(name));
    let removed = 0;
    if (ids === undefined && isOneStatement && !dryRun) {
      for (;;) {
        signal?.throwIfAborted();
        const count = await env.store.removeJobResults(results, CLEANUP_BATCH);
        if (count === 0) return { removed };
        removed += count;
      }
    }
    const parts = ids === undefined ? this.#resultPages(results, start, signal) : this.#endedOf(ids, start, signal);
    for await (const part of parts) {
      const jobIds = part.results.map(({ jobId }) => jobId);
      const isCount = dryRun || jobIds.length === 0;
      removed += isCount ? jobIds.length : await env.store.removeJobResults({ jobIds }, jobIds.length);
    }
    return { removed };
  }

  async *#resultPages(
    selection: Omit<JobResultFilter, "limit" | "cursor">,
    now: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<EndedJobs> {
    let cursor: string | null = null;
    do {
      signal?.throwIfAborted();
      const page: RecordPage<JobResultRecord> = await this.#context.env.store.getJobResults(
        { ...selection, limit: CLEANUP_BATCH, cursor },
        now,
      );
      yield { results: page.items, missing: [] };
      ({ cursor } = page);
    } while (cursor !== null);
  }

  /** The ids of the jobs that there were when the call began, page by page. */
  async *#unfinishedIds(start: number, selection: object): AsyncGenerator<readonly string[]> {
    let cursor: string | null = null;
    do {
      const filter = { ...selection, limit: BULK_COMMIT_MAX, cursor };
      const page: RecordPage<JobRecord> = await this.#context.env.store.getJobs(filter);
      const jobs = page.items.filter(({ createdAt }) => createdAt <= start);
      if (jobs.length > 0) yield jobs.map(({ id }) => id);
      // Ids are in the order of addition, so that what follows a page of new jobs is new too. A page without jobs says
      // nothing.
      cursor = jobs.length === 0 && page.items.length > 0 ? null : page.cursor;
    } while (cursor !== null);
  }

  /** Pages of the results that there were when the call began. Results of jobs that the call itself has added come
   *  before the first page, where clocks agree, and are known by their job otherwise. */
  async *#allEnded(
    start: number,
    { failureKey, ...selection }: RetrySelection,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<EndedJobs> {
    const { store } = this.#context.env;
    const isMeant = ({ outcome, error }: JobResultRecord): boolean =>
      failureKey === undefined ||
      failureKey === failureKeyOf({ outcome, name: error?.name ?? null, message: error?.message ?? null });
    const until = Math.min(selection.until ?? Number.POSITIVE_INFINITY, start + 1);
    for (const outcome of selection.outcome === undefined ? FAILURES : [selection.outcome]) {
      let cursor: string | null = null;
      do {
        signal?.throwIfAborted();
        const filter = { ...selection, outcome, until, limit: BULK_COMMIT_MAX, cursor };
        const page: RecordPage<JobResultRecord> = await store.getJobResults(filter, start);
        const isOld = ({ job, retryOf }: JobResultRecord) => retryOf === undefined || (job?.createdAt ?? 0) < start;
        yield { results: page.items.filter((result) => isOld(result) && isMeant(result)), missing: [] };
        ({ cursor } = page);
      } while (cursor !== null);
    }
  }

  async *#endedOf(ids: readonly string[], now: number, signal: AbortSignal | undefined): AsyncGenerator<EndedJobs> {
    const unique = [...new Set(ids)];
    // Where results are large, each read has fewer of them, and is not asked for many more.
    let limit = BULK_COMMIT_MAX;
    for (let start = 0; start < unique.length; ) {
      signal?.throwIfAborted();
      const asked = unique.slice(start, start + limit);
      const found = await this.#context.env.store.getResultsOfJobs(asked, now);
      const part = asked.slice(0, found.read);
      const byId = new Map(found.results.map((result) => [result.jobId, result]));
      const results = part.flatMap((id) => byId.get(id) ?? []);
      yield { results, missing: part.filter((id) => !byId.has(id)) };
      start += found.read;
      limit = Math.min(BULK_COMMIT_MAX, 2 * found.read);
    }
  }

  /** Retries jobs in one commit. Returns how many. */
  async #retryPart({ results, missing }: EndedJobs, now: number, skips: Skips): Promise<number> {
    if (results.length + missing.length === 0) return 0;
    const asked = [...missing, ...results.map(({ jobId }) => retryIdOf(jobId))];
    const unknown = new Set(await this.#context.env.store.getUnknownJobIds(asked, now));
    for (const id of missing) skips.add(id, noResult(id, !unknown.has(id)));
    const { tasks } = this.#context;
    const jobs: JobRecord[] = [];
    const knownTasks = new Set<string>();
    for (const result of results) {
      const { taskId } = result;
      try {
        if (!knownTasks.has(taskId)) await tasks.settingsOf(taskId);
        knownTasks.add(taskId);
        const record = retriedJob(result, repeatableJobOf(result), now);
        if (!unknown.has(record.id)) throw retriedBefore(result.jobId, record.id);
        jobs.push(await withKey(this.#context, record));
      } catch (error) {
        skips.add(result.jobId, error);
      }
    }
    const additions = jobs.length === 0 ? [] : await this.#context.addJobs(jobs);
    let retried = 0;
    for (const [place, { isNew, isOutdated, job }] of additions.entries()) {
      const id = jobs[place]?.retryOf ?? "";
      if (isNew) retried++;
      else skips.add(id, isOutdated === true ? resultWent(id) : keyInUse(id, job.id));
    }
    return retried;
  }
}

/** Jobs that are to be retried: their results, and the ids of those that have none. */
interface EndedJobs {
  readonly results: readonly JobResultRecord[];
  readonly missing: readonly string[];
}

function noResult(id: string, isUnfinished: boolean): Error {
  return isUnfinished
    ? new ConflictingIdError(`job "${id}" has not ended; cancel it to end it`, id)
    : new JobLookupError(`there is no result of job "${id}": it never existed, or its result has expired`, id);
}

function retriedBefore(id: string, retryId: string): Error {
  return new ConflictingIdError(`job "${id}" was retried before, as job "${retryId}"`, retryId);
}

function resultWent(id: string): Error {
  const message = `the result of job "${id}" went while the job was to be repeated, which may have happened before`;
  return new JobLookupError(message, id);
}

function keyInUse(id: string, otherId: string): Error {
  return new ConflictingIdError(`the unfinished job "${otherId}" has the idempotency key of job "${id}"`, otherId);
}
