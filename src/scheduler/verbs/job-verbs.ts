import { SchedulerStateError } from "../../core/errors.ts";
import { optionError } from "../../core/option-errors.ts";
import type { EventRecord } from "../../records/events.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import { keptMsOf } from "../../records/policies.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { JobAddition, JobResultFilter } from "../../stores/data-store.ts";
import type { JobCommands, RunWait } from "../commands/commands.ts";
import { jobCancelRequested } from "../events/event-records.ts";
import type {
  CheckedJobFilter,
  CheckedJobOptions,
  CheckedNewJob,
  CheckedResultOptions,
} from "../options/checked-options.ts";
import { eachNewJob } from "../options/each-new-job.ts";
import { PARENTS_MAX } from "../options/limits.ts";
import { AttemptContext } from "../running/attempt-context.ts";
import type { JobRunner } from "../running/job-runner.ts";
import { assertKeyed, type KeyedPayload, keyedPayload } from "../tasks/concurrency-key.ts";
import { currentJob } from "../tasks/current-job.ts";
import { type Cancellation, Job } from "../views/job.ts";
import { JobLog } from "../views/job-log.ts";
import { JobResult } from "../views/job-result.ts";
import { JobStep } from "../views/job-step.ts";
import { mapPage, type Page } from "../views/page.ts";
import type { PreparedJob } from "../views/prepared-job.ts";
import { boundPage } from "./bound-page.ts";
import { AWAITED_RESULT_MS_MIN } from "./limits.ts";
import { countsOf } from "./list-counts.ts";
import { newJobRecord } from "./new-records.ts";
import { NoWorker } from "./no-worker.ts";
import { preparedJob } from "./prepare-job.ts";
import { assertOwnJob } from "./request-hash.ts";
import { type AwaitedJob, type HereAndNow, unknownJob, waitForResult } from "./result-waiter.ts";
import { endedJob } from "./retried-job.ts";
import type { VerbContext } from "./verb-context.ts";

/** What a scheduler does with jobs and results. */
export class JobVerbs implements JobCommands {
  readonly #context: VerbContext;
  readonly #runnerNow: () => JobRunner;
  readonly #noWorker: NoWorker;

  /** @param runnerNow the runner of the present run of the scheduler */
  constructor(context: VerbContext, runnerNow: () => JobRunner) {
    this.#context = context;
    this.#runnerNow = runnerNow;
    this.#noWorker = new NoWorker(context.env);
  }

  get #runner(): JobRunner {
    return this.#runnerNow();
  }

  async add(task: unknown, options: CheckedJobOptions): Promise<Job> {
    const record = await this.#newRecord(task, options, "addJob()");
    const [{ job, hasEnded }] = (await this.#context.addJobs([record])) as [JobAddition];
    assertOwnJob(job.id, options.requestHash, "addJob()");
    return this.viewOf(job, hasEnded);
  }

  async prepare(task: unknown, options: CheckedJobOptions): Promise<PreparedJob> {
    return preparedJob(this.#context, await this.#newRecord(task, options, "prepareJob()"));
  }

  async addMany(jobs: readonly unknown[]): Promise<Job[]> {
    return this.#addRecords(await this.#newRecords(jobs, "addJobs()"));
  }

  async addBatch(jobs: readonly unknown[], then: CheckedNewJob): Promise<{ jobs: Job[]; then: Job }> {
    const where = "addBatch()";
    const { task, ...thenOptions } = then;
    const records = await this.#newRecords(jobs, where);
    const after = [...new Set([...(thenOptions.after ?? []), ...records.map(({ id }) => id)])];
    if (after.length > PARENTS_MAX) {
      const message = `must name at most ${PARENTS_MAX - jobs.length} jobs besides the ${jobs.length} of the batch`;
      throw optionError(`${where}, then`, "after", message);
    }
    const last = await this.#newRecord(task, { ...thenOptions, after }, `${where}, then`);
    const added = await this.#addRecords([...records, last]);
    return { jobs: added.slice(0, -1), then: added[added.length - 1] as Job };
  }

  #newRecords(jobs: readonly unknown[], call: string): Promise<NewJobRecord[]> {
    return eachNewJob(jobs, call, (task, options, where) => this.#newRecord(task, options, where));
  }

  async addRecord(record: NewJobRecord): Promise<Job> {
    const [job] = await this.#addRecords([record]);
    return job as Job;
  }

  async run(task: unknown, options: CheckedJobOptions, { signal, onAdded }: RunWait): Promise<JobResult> {
    const record = await this.#newRecord(task, options, "runJob()");
    const resultExpirationMs = Math.max(record.resultExpirationMs, AWAITED_RESULT_MS_MIN);
    const failureExpirationMs = Math.max(keptMsOf(record, "error"), AWAITED_RESULT_MS_MIN);
    const isLonger = keptMsOf({ ...record, resultExpirationMs }, "error") !== failureExpirationMs;
    const kept = { resultExpirationMs, ...(isLonger ? { failureExpirationMs } : {}) };
    const { log } = this.#runner;
    let awaitedId = record.id;
    log.awaits(awaitedId);
    const result = await this.#waitForResult(signal, async () => {
      const [addition] = await this.#context.addJobs([{ ...record, ...kept }]);
      // With a key it may be another job, which keeps its result as long as it was told, and may have ended.
      const { job, hasEnded = false } = addition ?? { job: record };
      if (job.id !== awaitedId) {
        log.awaitsNoMore(awaitedId);
        awaitedId = job.id;
        log.awaits(awaitedId);
      }
      onAdded(job.id);
      return { jobId: job.id, isUnfinished: !hasEnded, keepsResult: job.resultExpirationMs > 0 };
    }).finally(() => log.awaitsNoMore(awaitedId));
    return this.#resultOf(result);
  }

  async get(id: string): Promise<Job> {
    const { env, ready } = this.#context;
    await ready();
    const record = await env.store.getJob(id);
    if (record !== null) return this.viewOf(record);
    const result = await env.store.getJobResult(id, env.clock.now());
    if (result !== null) return this.viewOf(endedJob(result), true);
    throw unknownJob(id);
  }

  async steps(id: string): Promise<JobStep[]> {
    const { env, ready } = this.#context;
    await ready();
    const now = env.clock.now();
    const steps = await env.store.getJobSteps(id, now);
    // There may be no such job.
    if (steps.length === 0) await this.get(id);
    return steps.map((step) => new JobStep(awoken(step, now), env.store.serializer));
  }

  async page({ include = {}, ...filter }: CheckedJobFilter): Promise<Page<Job>> {
    const { env, ready } = this.#context;
    await ready();
    const page = await boundPage(["getJobs()"], filter, (one) => env.store.getJobs(one));
    const { sort: _sort, order: _order, ...selection } = filter;
    const list = (limit: number, state = filter.state) =>
      env.store.getJobs({ ...selection, ...(state === undefined ? {} : { state }), limit, cursor: null });
    const facets = { queued: ["queued"], blocked: ["blocked"], running: ["running"] };
    return { ...mapPage(page, (record) => this.viewOf(record)), ...(await countsOf(include, list, facets)) };
  }

  async logs(id: string): Promise<JobLog[]> {
    const { env, ready } = this.#context;
    await ready();
    const logs = await env.store.getJobLogs(id, env.clock.now());
    // Of no job, or of one without.
    if (logs.length === 0) await this.get(id);
    return logs.map((log) => new JobLog(log));
  }

  async result(id: string, { wait, signal }: CheckedResultOptions): Promise<JobResult | null> {
    const { env, ready } = this.#context;
    await ready();
    const record = wait
      ? await this.#waitForResult(signal, async () => ({ jobId: id, isUnfinished: false, keepsResult: true }))
      : await env.store.getJobResult(id, env.clock.now());
    return record === null ? null : this.#resultOf(record);
  }

  async resultPage(filter: JobResultFilter): Promise<Page<JobResult>> {
    const { env, ready } = this.#context;
    await ready();
    const read = (one: JobResultFilter) => env.store.getJobResults(one, env.clock.now());
    return mapPage(await boundPage(["getJobResults()"], filter, read), (record) => this.#resultOf(record));
  }

  async cancel(id: string): Promise<Cancellation> {
    const [cancellation = "tooLate"] = await this.cancelAll([id]);
    return cancellation;
  }

  /** Cancels jobs in one commit, at most 1,000. */
  async cancelAll(ids: readonly string[]): Promise<Cancellation[]> {
    const { env, ready } = this.#context;
    await ready();
    const { jobs, ended } = await env.store.cancelJobs(ids, env.clock.now());
    const happened: EventRecord[] = [];
    const cancellations = jobs.map((report, place): Cancellation => {
      const id = ids[place] ?? "";
      if (report.status === "missing") return "tooLate";
      if (report.status === "cancelled") {
        this.#runner.recordEnds([report.result], happened, id);
        return "delivered";
      }
      if (this.#runner.running.has(id)) {
        this.#runner.cancel(id);
        return "delivered";
      }
      happened.push(jobCancelRequested(env, id));
      return "asked";
    });
    this.#runner.recordEnds(ended, happened);
    if (happened.length > 0) env.events.publish(happened);
    return cancellations;
  }

  /** A promise only where there is something to wait for, because each promise costs an addition time. */
  #newRecord(task: unknown, options: CheckedJobOptions, where: string): NewJobRecord | Promise<NewJobRecord> {
    const { tasks, isReady } = this.#context;
    const taskId = tasks.idOf(task);
    const settings = isReady() ? tasks.get(taskId)?.record : undefined;
    return settings === undefined
      ? this.#recordOfStored(taskId, options, where)
      : this.#recordOf(settings, options, where);
  }

  /** Awaits, because stacks go back to the caller by `await` alone. */
  async #recordOfStored(taskId: string, options: CheckedJobOptions, where: string): Promise<NewJobRecord> {
    const { tasks, ready } = this.#context;
    await ready();
    return await this.#recordOf(await tasks.settingsOf(taskId), options, where);
  }

  #recordOf(task: TaskRecord, options: CheckedJobOptions, where: string): NewJobRecord | Promise<NewJobRecord> {
    const { env, tasks } = this.#context;
    const key = options.concurrencyKey;
    assertKeyed({ tasks, logger: env.logger }, task, key, where);
    const parts = { serializer: env.store.serializer, tasks };
    const make = (payload: KeyedPayload): NewJobRecord => {
      const now = env.clock.now();
      return newJobRecord({ id: env.ids.next(now), task, payload, now }, options);
    };
    const keyed = keyedPayload(parts, task.id, options.payload, key);
    return keyed instanceof Promise ? keyed.then(make) : make(keyed);
  }

  async #addRecords(records: readonly NewJobRecord[]): Promise<Job[]> {
    const additions = await this.#context.addJobs(records);
    return additions.map(({ job, hasEnded }) => this.viewOf(job, hasEnded));
  }

  /** A handler that waits lends its slot, if no other is left. */
  async #waitForResult(signal: AbortSignal | undefined, begin: () => Promise<AwaitedJob>): Promise<JobResultRecord> {
    const wait = this.#runner.beginWait();
    const beginWait = async (): Promise<AwaitedJob> => {
      const awaited = await begin();
      wait?.for(awaited.jobId);
      return awaited;
    };
    try {
      return await waitForResult(this.#context, this.#hereAndNow(), signal, beginWait);
    } finally {
      wait?.end();
    }
  }

  #hereAndNow(): HereAndNow {
    const { env, mayBegin } = this.#context;
    const context = currentJob();
    const handler = context instanceof AttemptContext && context.isUnderWayIn(env) ? context : null;
    return {
      isRunning: (id) => this.#runner.running.has(id),
      isLost: (id) => handler !== null && !mayBegin() && !this.#runner.holds(id),
      waitsLong: (id) => this.#noWorker.check(id),
      giveUp: (id) => {
        const reason = new SchedulerStateError(
          `the scheduler stops, and nobody is left to run job ${id}; the job that waits for it goes back to the queue`,
        );
        handler?.abort(reason);
        return reason;
      },
    };
  }

  /** @param hasEnded whether the job stands for an addition, and had ended before it. Default: false */
  viewOf(record: JobRecord, hasEnded?: boolean): Job {
    const attempt = this.#runner.running.get(record.id);
    // What runs here has told its progress here first.
    const progress = attempt?.job.fence === record.fence ? attempt.unsavedProgress : null;
    const known = progress === null ? record : { ...record, progress };
    return new Job(known, this.#context.env.store.serializer, this.#context.client, hasEnded);
  }

  #resultOf(record: JobResultRecord): JobResult {
    return new JobResult(record, this.#context.env.store.serializer);
  }
}

/** A sleep ends when its time has come, which nobody writes. */
function awoken(step: JobStepRecord, now: number): JobStepRecord {
  return step.endedAt === null && step.wakeAt !== null && step.wakeAt <= now ? { ...step, endedAt: step.wakeAt } : step;
}
