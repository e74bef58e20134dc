import * as v from "valibot";
import { durationText } from "../../core/duration.ts";
import { JobLookupError, SchedulerStateError } from "../../core/errors.ts";
import type { BulkCommands, JobCommands, RunWait, SkippedJobs } from "../../scheduler/commands/commands.ts";
import type {
  CheckedBulk,
  CheckedJobFilter,
  CheckedJobOptions,
  CheckedNewJob,
  CheckedResultOptions,
  JobSelection,
  ResultSelection,
  RetrySelection,
} from "../../scheduler/options/checked-options.ts";
import { eachNewJob } from "../../scheduler/options/each-new-job.ts";
import { AWAITED_RESULT_MS_MIN } from "../../scheduler/verbs/limits.ts";
import type { Cancellation, Job } from "../../scheduler/views/job.ts";
import { JobLog } from "../../scheduler/views/job-log.ts";
import type { JobResult } from "../../scheduler/views/job-result.ts";
import { JobStep } from "../../scheduler/views/job-step.ts";
import type { Page } from "../../scheduler/views/page.ts";
import type { JobResultFilter } from "../../stores/data-store.ts";
import type { RouterRequest } from "../http/requester.ts";
import { jobResultSchema, jobSchema, jobStepSchema } from "../wire/job.ts";
import { jobLogSchema } from "../wire/job-log.ts";
import { wireFilter, wireOptions } from "../wire/options.ts";
import { pageSchema } from "../wire/pages.ts";
import {
  type CallContext,
  jobOf,
  ownKey,
  placeOf,
  readBulk,
  readJob,
  readPage,
  resultOf,
  wholeList,
} from "./context.ts";
import type { TaskCalls } from "./task-calls.ts";
import { serializer, taskIdOf, travelling } from "./task-reference.ts";

/** How long one request waits for the end of a job, in seconds. Longer waits are made of several requests. */
const WAIT_S = 20;

/** What a client does with jobs and results. */
export class JobCalls implements JobCommands, BulkCommands {
  readonly #context: CallContext;
  readonly #tasks: TaskCalls;

  constructor(context: CallContext, tasks: TaskCalls) {
    this.#context = context;
    this.#tasks = tasks;
  }

  async add(task: unknown, options: CheckedJobOptions): Promise<Job> {
    // Awaited, because engines other than V8 follow no promise that is returned, and `addJob` is not async.
    return await readJob(this.#context, { method: "POST", path: "/jobs", body: await this.#newJob(task, options) });
  }

  async addMany(jobs: readonly unknown[]): Promise<Job[]> {
    if (jobs.length === 0) return [];
    const body = { jobs: await this.#newJobs(jobs, "addJobs()") };
    const { items } = await this.#context.requester.read(batchCall(body), batchSchema());
    return items.map((item) => jobOf(this.#context, item));
  }

  async addBatch(jobs: readonly unknown[], then: CheckedNewJob): Promise<{ jobs: Job[]; then: Job }> {
    const list = await this.#newJobs(jobs, "addBatch()");
    const body = { jobs: list, then: await this.#newJob(then.task, then) };
    const added = await this.#context.requester.read(batchCall(body), batchSchema(jobSchema()));
    return { jobs: added.items.map((item) => jobOf(this.#context, item)), then: jobOf(this.#context, added.then) };
  }

  async run(task: unknown, options: CheckedJobOptions, { signal, onAdded }: RunWait): Promise<JobResult> {
    const job = await this.#newJob(task, options);
    const keptMs = options.resultExpirationMs ?? (await this.#tasks.resultExpirationMs(taskIdOf(task)));
    if (keptMs !== null && keptMs < AWAITED_RESULT_MS_MIN) {
      job.resultExpirationTime = durationText(AWAITED_RESULT_MS_MIN);
      // Where no result is kept, no failure is, unless the task says so.
      if (keptMs === 0 && options.failureExpirationMs === undefined) {
        const failureMs = await this.#tasks.failureExpirationMs(taskIdOf(task));
        if (failureMs === null) job.failureExpirationTime = durationText(AWAITED_RESULT_MS_MIN);
      }
    }
    const { id } = await readJob(this.#context, { method: "POST", path: "/jobs", body: job, signal });
    onAdded(id);
    return this.#waitFor(id, signal).catch((error) => throwAbout(id, error, signal));
  }

  async get(id: string): Promise<Job> {
    return readJob(this.#context, { method: "GET", ...placeOf("jobs", id) });
  }

  async page({ include, ...filter }: CheckedJobFilter): Promise<Page<Job>> {
    return readPage(this.#context, wholeList("/jobs", include), filter, jobSchema(), (item) =>
      jobOf(this.#context, item),
    );
  }

  async logs(id: string): Promise<JobLog[]> {
    const call = { method: "GET", ...placeOf("jobs", id, "logs") } as const;
    const { items } = await this.#context.requester.read(call, pageSchema(jobLogSchema()));
    return items.map((log) => new JobLog(log));
  }

  async result(id: string, { wait, signal }: CheckedResultOptions): Promise<JobResult | null> {
    signal?.throwIfAborted();
    if (wait) return this.#waitFor(id, signal);
    try {
      return await this.#look(id, null, signal);
    } catch (error) {
      if (error instanceof JobLookupError) return null;
      throw error;
    }
  }

  async resultPage(filter: JobResultFilter): Promise<Page<JobResult>> {
    return readPage(this.#context, wholeList("/results"), filter, jobResultSchema(), resultOf);
  }

  async cancel(id: string): Promise<Cancellation> {
    const { requester } = this.#context;
    try {
      const call: RouterRequest = { method: "POST", ...placeOf("jobs", id, "cancel"), isRemoval: true };
      const { status, body } = await requester.call(call);
      if (status !== 204) return requester.parse(call, body, cancellationSchema()).cancellation;
      // The answer to an earlier request was lost, and the job has ended since.
      const outcome = (await this.result(id, { wait: false }))?.outcome ?? "cancelled";
      return outcome === "cancelled" ? "delivered" : "tooLate";
    } catch (error) {
      if (error instanceof JobLookupError) return "tooLate";
      throw error;
    }
  }

  async retry(id: string, { restart }: { readonly restart: boolean }): Promise<Job> {
    const body = restart ? { body: { restart } } : {};
    return readJob(this.#context, { method: "POST", ...placeOf("jobs", id, "retry"), ...body });
  }

  async steps(id: string): Promise<JobStep[]> {
    const call: RouterRequest = { method: "GET", ...placeOf("jobs", id) };
    const { steps } = await this.#context.requester.read(call, v.object({ steps: v.array(jobStepSchema()) }));
    return steps.map((record) => new JobStep(record, serializer));
  }

  async retryMany(filter: CheckedBulk<RetrySelection>): Promise<{ retried: number } & SkippedJobs> {
    const { count: retried, ...skipped } = await this.#bulk("retry", filter);
    return { retried, ...skipped };
  }

  async cancelMany(filter: CheckedBulk<JobSelection>): Promise<{ cancelled: number } & SkippedJobs> {
    const { count: cancelled, ...skipped } = await this.#bulk("cancel", filter);
    return { cancelled, ...skipped };
  }

  async removeResults(filter: CheckedBulk<ResultSelection>): Promise<{ removed: number }> {
    return { removed: (await this.#bulk("purge", filter)).count };
  }

  #newJobs(jobs: readonly unknown[], call: string): Promise<Record<string, unknown>[]> {
    return eachNewJob(jobs, call, (task, options) => this.#newJob(task, options));
  }

  /** A job as it travels. Where nothing that the caller gave makes the addition repeatable, a key does. */
  async #newJob(task: unknown, options: CheckedJobOptions): Promise<Record<string, unknown>> {
    const taskId = taskIdOf(task);
    const key = await travelling(task, options.payload, options.concurrencyKey);
    const { idempotencyKey, debounce, throttle } = options;
    const isRepeatable = idempotencyKey !== undefined || debounce !== undefined || throttle !== undefined;
    return {
      ...wireOptions(options),
      ...(isRepeatable ? {} : ownKey(this.#context)),
      ...(key === undefined ? {} : { concurrencyKey: key }),
      ...{ taskId, task: undefined, requestHash: undefined },
    };
  }

  /** The result of a job, when it has ended. @throws {JobLookupError} */
  async #waitFor(id: string, signal: AbortSignal | undefined): Promise<JobResult> {
    for (;;) {
      const result = await this.#look(id, WAIT_S, signal);
      if (result !== null) return result;
    }
  }

  /** The result of a job; null when the job has not ended.
   *  @param waitS how long to wait for its end, in seconds; null for not at all */
  async #look(id: string, waitS: number | null, signal: AbortSignal | undefined): Promise<JobResult | null> {
    const { requester, clock } = this.#context;
    const place = placeOf("jobs", id, "result");
    const waitMs = (waitS ?? 0) * 1000;
    const patience = waitS === null ? {} : ({ patience: "endless" } as const);
    const call: RouterRequest = { method: "GET", ...place, query: { wait: waitS }, signal, waitMs, ...patience };
    const startedAt = clock.now();
    const { status, body, retryAfterMs } = await requester.call(call);
    if (status !== 202) return resultOf(requester.parse(call, body, jobResultSchema()));
    // What has waited need not wait before it asks again.
    if (waitS !== null) await requester.pause((retryAfterMs ?? 0) - (clock.now() - startedAt), signal);
    return null;
  }

  async #bulk(
    action: "retry" | "cancel" | "purge",
    { ids, all, signal, ...asked }: CheckedBulk<object>,
  ): Promise<{ count: number } & SkippedJobs> {
    signal?.throwIfAborted();
    const { dryRun, outcome, ...selection }: { dryRun?: boolean; outcome?: unknown } = asked;
    // A query has its list in one text.
    const filter = { ...wireFilter(selection), ...(outcome === undefined ? {} : { outcome }) };
    const body = { action, ...(ids === undefined ? { filter, all } : { ids }), ...(dryRun === true ? { dryRun } : {}) };
    // Jobs that a retry added may have failed by the time of a repetition, which would retry them once more.
    const isRepeatable = action !== "retry";
    return readBulk(this.#context, { path: "/jobs/bulk", body, signal, isRepeatable });
  }
}

function batchCall(body: object): RouterRequest {
  return { method: "POST", path: "/jobs/batch", body };
}

const batchSchema = <T = unknown>(then: v.GenericSchema<unknown, T> = v.unknown() as v.GenericSchema<unknown, T>) =>
  v.object({ items: v.array(jobSchema()), then });

const cancellationSchema = () => v.object({ cancellation: v.picklist(["delivered", "asked"]) });

/** Throws what ended the wait for a job, with the id of the job, which its caller does not know. The reason of a signal
 *  is the caller's own, and stays as it is. */
function throwAbout(jobId: string, error: unknown, signal: AbortSignal | undefined): never {
  if (signal?.aborted === true || !(error instanceof Error)) throw error;
  // All calls that a closed client ends have one error.
  const own = error instanceof SchedulerStateError ? new SchedulerStateError(error.message, { cause: error }) : error;
  throw Object.assign(own, { jobId });
}
