import { ConflictingIdError, JobLookupError, OptionsError } from "../../core/errors.ts";
import { BULK_STEP_MAX, CLEANUP_BATCH } from "../../core/limits.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { JobFilter, JobResultSelection, RecordPage } from "../../stores/data-store.ts";
import type { BulkCommands } from "../commands/commands.ts";
import type { CheckedBulk } from "../options/checked-options.ts";
import type { Job } from "../views/job.ts";
import type { JobVerbs } from "./job-verbs.ts";
import { repeatableJobOf, retriedJob, retryIdOf, withKey } from "./retried-job.ts";
import type { VerbContext } from "./verb-context.ts";

/** The outcomes of jobs that `retryJobs` repeats unless an outcome is given. Nobody cancels a job to have it
 *  repeated. */
const RETRIED_OUTCOMES: readonly JobOutcome[] = ["error", "abandoned", "missedStartDeadline", "deserializationFailed"];

/** What a scheduler does with jobs that have ended, and with many jobs at once. */
export class BulkVerbs implements BulkCommands {
  readonly #context: VerbContext;
  readonly #jobs: JobVerbs;

  constructor(context: VerbContext, jobs: JobVerbs) {
    this.#context = context;
    this.#jobs = jobs;
  }

  async retry(id: string): Promise<Job> {
    const { env, tasks, ready } = this.#context;
    await ready();
    const now = env.clock.now();
    const result = await env.store.getJobResult(id, now);
    if (result === null) throw await this.#noResult(id);
    const record = retriedJob(result, repeatableJobOf(result), now);
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
    if (addition?.isOutdated === true) {
      const message = `the result of job "${id}" went while the job was to be repeated, which may have happened before`;
      throw new JobLookupError(message, id);
    }
    return this.#jobs.viewOf(addition?.job ?? record, addition?.hasEnded);
  }

  async retryMany(filter: CheckedBulk<JobResultSelection>): Promise<{ retried: number; skipped: number }> {
    const { env, ready } = this.#context;
    const { all: _all, signal, ...selection } = filter;
    await ready();
    const start = env.clock.now();
    const counts = { retried: 0, skipped: 0 };
    const outcomes = selection.outcome === undefined ? RETRIED_OUTCOMES : [selection.outcome];
    for (const outcome of outcomes) {
      for await (const results of this.#endedBefore(start, { ...selection, outcome }, signal)) {
        const records = await Promise.all(results.map((result) => this.#recordOf(result, start)));
        const jobs = records.filter((record) => record !== null);
        const additions = jobs.length === 0 ? [] : await this.#context.addJobs(jobs);
        // An unfinished job may have the idempotency key, and a result may have gone.
        const retried = additions.filter(({ isNew }) => isNew).length;
        counts.retried += retried;
        counts.skipped += results.length - retried;
      }
    }
    return counts;
  }

  async cancelMany(filter: CheckedBulk<Pick<JobFilter, "taskId" | "scheduleId">>): Promise<{ cancelled: number }> {
    const { env, ready } = this.#context;
    const { all: _all, signal, ...selection } = filter;
    await ready();
    const start = env.clock.now();
    let cancelled = 0;
    let cursor: string | null = null;
    do {
      signal?.throwIfAborted();
      const page: RecordPage<JobRecord> = await env.store.getJobs({ ...selection, limit: BULK_STEP_MAX, cursor });
      const jobs = page.items.filter(({ createdAt }) => createdAt <= start);
      const answers = await Promise.all(jobs.map(({ id }) => this.#jobs.cancel(id)));
      cancelled += answers.filter((wasThere) => wasThere).length;
      // Ids are in the order of addition, so that what follows a page of new jobs is new too. A page without jobs says
      // nothing.
      cursor = jobs.length === 0 && page.items.length > 0 ? null : page.cursor;
    } while (cursor !== null);
    return { cancelled };
  }

  async removeResults(filter: CheckedBulk<JobResultSelection>): Promise<{ removed: number }> {
    const { env, ready } = this.#context;
    const { all: _all, signal, ...selection } = filter;
    await ready();
    const until = Math.min(selection.until ?? Number.POSITIVE_INFINITY, env.clock.now() + 1);
    let removed = 0;
    for (;;) {
      signal?.throwIfAborted();
      const count = await env.store.removeJobResults({ ...selection, until }, CLEANUP_BATCH);
      if (count === 0) return { removed };
      removed += count;
    }
  }

  /** Pages of the results that there were when the call began. Results of jobs that the call itself has added come
   *  before the first page, where clocks agree, and are known by their job otherwise. */
  async *#endedBefore(
    start: number,
    selection: JobResultSelection,
    signal: AbortSignal | undefined,
  ): AsyncIterable<JobResultRecord[]> {
    const { store } = this.#context.env;
    const until = Math.min(selection.until ?? Number.POSITIVE_INFINITY, start + 1);
    let cursor: string | null = null;
    do {
      signal?.throwIfAborted();
      const filter = { ...selection, until, limit: BULK_STEP_MAX, cursor };
      const page: RecordPage<JobResultRecord> = await store.getJobResults(filter, start);
      yield page.items.filter(({ job, retryOf }) => retryOf === undefined || (job?.createdAt ?? 0) < start);
      ({ cursor } = page);
    } while (cursor !== null);
  }

  /** The job that repeats the job of a result; null when the job cannot be repeated, was repeated before, or its task
   *  cannot tell the key of its payload. */
  async #recordOf(result: JobResultRecord, now: number): Promise<JobRecord | null> {
    const { job, jobId } = result;
    if (job === undefined || job.omitsPayload === true) return null;
    const { store } = this.#context.env;
    const id = retryIdOf(jobId);
    if ((await store.getJob(id)) !== null || (await store.getJobResult(id, now)) !== null) return null;
    return withKey(this.#context, retriedJob(result, job, now)).catch(nullIfKeyless);
  }

  async #noResult(id: string): Promise<Error> {
    const job = await this.#context.env.store.getJob(id);
    return job === null
      ? new JobLookupError(`there is no result of job "${id}": it never existed, or its result has expired`, id)
      : new ConflictingIdError(`job "${id}" has not ended; cancel it to end it`, id);
  }
}

function nullIfKeyless(error: unknown): null {
  if (error instanceof OptionsError) return null;
  throw error;
}
