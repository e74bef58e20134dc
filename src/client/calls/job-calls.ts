import * as v from "valibot";
import { durationText } from "../../core/duration.ts";
import { JobLookupError, SchedulerStateError } from "../../core/errors.ts";
import { AWAITED_RESULT_MS_MIN, BULK_ADD_MAX, DURATION_MS_MAX, PARENTS_MAX } from "../../core/limits.ts";
import { listOf, optionError, takes } from "../../core/option-errors.ts";
import {
  type CheckedJobOptions,
  checkBatchOptions,
  checkBulkJobs,
  checkBulkResults,
  checkJobFilter,
  checkJobOptions,
  checkJobResultFilter,
  checkResultOptions,
  checkRunJobOptions,
  checkThenJob,
} from "../../scheduler/options/check-options.ts";
import type { CheckedNewJob } from "../../scheduler/options/checked-options.ts";
import { eachNewJob } from "../../scheduler/options/each-new-job.ts";
import { tellJobAdded } from "../../scheduler/options/job-added.ts";
import type {
  BatchOptions,
  BulkJobOptions,
  BulkResultOptions,
  JobFilterOptions,
  JobOptions,
  JobResultFilterOptions,
  RunJobOptions,
} from "../../scheduler/options/options.ts";
import type { NamedFunction, NewJob, Task } from "../../scheduler/scheduler-client.ts";
import type { Job } from "../../scheduler/views/job.ts";
import type { JobResult } from "../../scheduler/views/job-result.ts";
import { type Listing, listingOf, mapPage } from "../../scheduler/views/page.ts";
import type { Call } from "../http/requester.ts";
import { jobResultSchema, jobSchema } from "../wire/job.ts";
import { wireFilter, wireOptions } from "../wire/options.ts";
import { pageSchema } from "../wire/pages.ts";
import { type CallContext, jobOf, pathOf, resultOf } from "./context.ts";
import type { TaskCalls } from "./task-calls.ts";
import { taskIdOf, travelling } from "./task-reference.ts";

/** How long one request waits for the end of a job, in seconds. Longer waits are made of several requests. */
const WAIT_S = 20;

/** How long the key of an addition is kept at least, in milliseconds. It has to be longer than the call is repeated. */
const KEY_KEPT_MS_MIN = 600_000;

/** What a client does with jobs and results; documented at `SchedulerClient`. */
export class JobCalls {
  readonly #context: CallContext;
  readonly #tasks: TaskCalls;

  constructor(context: CallContext, tasks: TaskCalls) {
    this.#context = context;
    this.#tasks = tasks;
  }

  async add(task: Task | string | NamedFunction, options: JobOptions): Promise<Job> {
    return this.#add(await this.#newJob(task, options, checkJobOptions(options, "addJob()")));
  }

  async addMany(jobs: readonly NewJob[]): Promise<Job[]> {
    const where = "addJobs()";
    const list = listOf(jobs, where, "", BULK_ADD_MAX);
    if (list === null) throw optionError(where, "", takes(`a list of at most ${BULK_ADD_MAX} jobs`, jobs));
    if (list.length === 0) return [];
    const body = { jobs: await this.#newJobs(list, where) };
    const { items } = await this.#context.requester.read(batchCall(body), batchSchema());
    return items.map((item) => jobOf(this.#context, item));
  }

  async addBatch(jobs: readonly NewJob[], options: BatchOptions<NewJob>): Promise<{ jobs: Job[]; then: Job }> {
    const where = "addBatch()";
    const given = listOf(jobs, where, "", PARENTS_MAX);
    if (given === null || given.length === 0) {
      throw optionError(where, "", takes(`a list of 1 to ${PARENTS_MAX} jobs`, jobs));
    }
    const last = checkBatchOptions(options, where).then as NewJob;
    const { task, ...checked } = checkThenJob(last, `${where}, then`);
    const list = await this.#newJobs(given, where);
    const body = { jobs: list, then: await this.#newJob(task as Task, last, checked) };
    const { items, then } = await this.#context.requester.read(batchCall(body), batchSchema(jobSchema()));
    return { jobs: items.map((item) => jobOf(this.#context, item)), then: jobOf(this.#context, then) };
  }

  async run(task: Task | string | NamedFunction, options: RunJobOptions): Promise<unknown> {
    const { signal, ...checked } = checkRunJobOptions(options, "runJob()");
    signal?.throwIfAborted();
    const job = await this.#newJob(task, options, checked);
    const keptMs = checked.resultExpirationTime ?? (await this.#tasks.resultExpirationMs(taskIdOf(task)));
    if (keptMs !== null && keptMs < AWAITED_RESULT_MS_MIN) {
      job.resultExpirationTime = durationText(AWAITED_RESULT_MS_MIN);
    }
    const { id } = await this.#add(job, signal);
    tellJobAdded(options, id);
    return (await this.#waitFor(id, signal).catch((error) => throwAbout(id, error, signal))).unwrap();
  }

  async get(id: string): Promise<Job> {
    const call = { method: "GET", path: pathOf("jobs", id), about: id } as const;
    return jobOf(this.#context, await this.#context.requester.read(call, jobSchema()));
  }

  list(filter: JobFilterOptions): Listing<Job> {
    return listingOf(filter, async (one) => {
      const call = { method: "GET", path: "/jobs", query: wireFilter(checkJobFilter(one, "getJobs()")) } as const;
      const page = await this.#context.requester.read(call, pageSchema(jobSchema()));
      return mapPage(page, (item) => jobOf(this.#context, item));
    });
  }

  async result(id: string, options: { wait?: boolean; signal?: AbortSignal }): Promise<JobResult | null> {
    const { wait, signal } = checkResultOptions(options, "getJobResult()");
    signal?.throwIfAborted();
    if (wait) return this.#waitFor(id, signal);
    try {
      return await this.#look(id, null, signal);
    } catch (error) {
      if (error instanceof JobLookupError) return null;
      throw error;
    }
  }

  listResults(filter: JobResultFilterOptions): Listing<JobResult> {
    return listingOf(filter, async (one) => {
      const query = wireFilter(checkJobResultFilter(one, "getJobResults()"));
      const call = { method: "GET", path: "/results", query } as const;
      return mapPage(await this.#context.requester.read(call, pageSchema(jobResultSchema())), resultOf);
    });
  }

  async cancel(id: string): Promise<boolean> {
    try {
      const call: Call = { method: "POST", path: pathOf("jobs", id, "cancel"), about: id, isRemoval: true };
      const { status } = await this.#context.requester.call(call);
      // The answer to an earlier request was lost, and the job has ended since.
      const isGone = status === 204;
      return !isGone || ((await this.result(id, {}))?.outcome ?? "cancelled") === "cancelled";
    } catch (error) {
      if (error instanceof JobLookupError) return false;
      throw error;
    }
  }

  async retry(id: string): Promise<Job> {
    const call = { method: "POST", path: pathOf("jobs", id, "retry"), about: id } as const;
    return jobOf(this.#context, await this.#context.requester.read(call, jobSchema()));
  }

  async retryMany(filter: BulkResultOptions): Promise<{ retried: number; skipped: number }> {
    const { all, signal, ...selection } = checkBulkResults(filter, "retryJobs()");
    const { count: retried, skipped } = await this.#bulk("retry", selection, all, signal);
    return { retried, skipped };
  }

  async cancelMany(filter: BulkJobOptions): Promise<{ cancelled: number }> {
    const { all, signal, ...selection } = checkBulkJobs(filter, "cancelJobs()");
    return { cancelled: (await this.#bulk("cancel", selection, all, signal)).count };
  }

  async removeResults(filter: BulkResultOptions): Promise<{ removed: number }> {
    const { all, signal, ...selection } = checkBulkResults(filter, "removeJobResults()");
    return { removed: (await this.#bulk("purge", selection, all, signal)).count };
  }

  async #add(body: object, signal?: AbortSignal): Promise<Job> {
    const call = { method: "POST", path: "/jobs", body, signal } as const;
    return jobOf(this.#context, await this.#context.requester.read(call, jobSchema()));
  }

  #newJobs(jobs: readonly NewJob[], call: string): Promise<Record<string, unknown>[]> {
    return eachNewJob(jobs, call, (task, checked, _where, job) => {
      const { task: _, ...options } = checked as CheckedNewJob;
      return this.#newJob(task as Task, job, options);
    });
  }

  /** A job as it travels. Where nothing that the caller gave makes the addition repeatable, a key does. */
  async #newJob(
    task: Task | string | NamedFunction,
    given: object,
    checked: CheckedJobOptions,
  ): Promise<Record<string, unknown>> {
    const taskId = taskIdOf(task);
    const key = await travelling(task, checked.payload, checked.concurrencyKey);
    const { idempotencyKey, debounce, throttle } = checked;
    const isRepeatable = idempotencyKey !== undefined || debounce !== undefined || throttle !== undefined;
    const { ids, clock, requester } = this.#context;
    const keptMs = Math.min(DURATION_MS_MAX, Math.max(KEY_KEPT_MS_MIN, requester.repetitionMs));
    const ownKey = isRepeatable ? {} : { idempotencyKey: ids.next(clock.now()), uniqueFor: durationText(keptMs) };
    return {
      ...wireOptions(given, checked),
      ...ownKey,
      ...(key === undefined ? {} : { concurrencyKey: key }),
      taskId,
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
    const path = pathOf("jobs", id, "result");
    const waitMs = (waitS ?? 0) * 1000;
    const patience = waitS === null ? {} : ({ patience: "endless" } as const);
    const call: Call = { method: "GET", path, query: { wait: waitS }, about: id, signal, waitMs, ...patience };
    const startedAt = clock.now();
    const { status, body, retryAfterMs } = await requester.call(call);
    if (status !== 202) return resultOf(requester.parse(call, body, jobResultSchema()));
    // What has waited need not wait before it asks again.
    if (waitS !== null) await requester.pause((retryAfterMs ?? 0) - (clock.now() - startedAt), signal);
    return null;
  }

  async #bulk(
    action: "retry" | "cancel" | "purge",
    selection: object,
    all: boolean,
    signal: AbortSignal | undefined,
  ): Promise<{ count: number; skipped: number }> {
    signal?.throwIfAborted();
    const body = { action, filter: wireFilter(selection), all };
    // Jobs that a retry added may have failed by the time of a repetition, which would retry them once more.
    const isRepeatable = action !== "retry";
    const call: Call = { method: "POST", path: "/jobs/bulk", body, signal, isRepeatable, waitMs: BULK_MS };
    return this.#context.requester.read(call, v.object({ count: v.number(), skipped: v.number() }));
  }
}

/** How much longer a call about many jobs may take, in milliseconds. */
const BULK_MS = 300_000;

function batchCall(body: object): Call {
  return { method: "POST", path: "/jobs/batch", body };
}

const batchSchema = <T = unknown>(then: v.GenericSchema<unknown, T> = v.unknown() as v.GenericSchema<unknown, T>) =>
  v.object({ items: v.array(jobSchema()), then });

/** Throws what ended the wait for a job, with the id of the job, which its caller does not know. The reason of a signal
 *  is the caller's own, and stays as it is. */
function throwAbout(jobId: string, error: unknown, signal: AbortSignal | undefined): never {
  if (signal?.aborted === true || !(error instanceof Error)) throw error;
  // All calls that a closed client ends have one error.
  const own = error instanceof SchedulerStateError ? new SchedulerStateError(error.message, { cause: error }) : error;
  throw Object.assign(own, { jobId });
}
