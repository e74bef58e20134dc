import { JobLookupError } from "../../core/errors.ts";
import { optionError } from "../../core/option-errors.ts";
import type { NewJob, SchedulerClient } from "../../scheduler/scheduler-client.ts";
import type { Job } from "../../scheduler/views/job.ts";
import type { Plain } from "../../scheduler/views/plain.ts";
import { KEY_KEPT, type RequestKey } from "../idempotency.ts";
import { withLabels } from "../labels-of.ts";
import { numbersOf } from "../list-numbers.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";
import { type Show, shownPage, wholePage } from "../show.ts";
import type { NewJobBody } from "../wire.ts";
import { changeManyJobs } from "./many-jobs.ts";

/** Everything about jobs, except their results. */
export const jobRoutes: Routes<
  | "GET /jobs"
  | "POST /jobs"
  | "POST /jobs/batch"
  | "POST /jobs/bulk"
  | "GET /jobs/:id"
  | "GET /jobs/:id/logs"
  | "POST /jobs/:id/cancel"
  | "POST /jobs/:id/retry"
> = {
  "GET /jobs": {
    scope: "read",
    query: schemas.jobQuery,
    handle: async ({ client, query: { include, ...query }, show }) => {
      const page = await client.getJobs({ ...withLabels(query, "GET /jobs"), include: numbersOf(include) });
      return { status: 200, body: await shownPage(page, show.listed(include).job) };
    },
  },
  "POST /jobs": {
    scope: "write",
    body: schemas.newJobBody,
    handle: async ({ client, body, requestKey, show, pathTo }) => {
      const { taskId, ...options } = withKey(body, requestKey());
      return added(await client.addJob(taskId, options), show, pathTo);
    },
  },
  "POST /jobs/batch": {
    scope: "write",
    body: schemas.jobBatchBody,
    handle: async ({ client, body: { jobs, then }, requestKey, show }) => {
      // Each job has a key of its own, which follows from that of the request.
      const key = requestKey();
      const keyOf = (place: number | "then") => key && { idempotencyKey: `${key.idempotencyKey}#${place}` };
      const list = jobs.map((job, index) => newJob(withKey(job, keyOf(index))));
      if (then === undefined) {
        const items = await client.addJobs(list);
        return { status: 202, body: { items: items.map(show.job), then: null } };
      }
      const last = newJob(withKey(then, keyOf("then")));
      const batch = await client.addBatch(list, { then: last });
      return {
        status: 202,
        body: { items: batch.jobs.map(show.job), then: show.job(batch.then) },
      };
    },
  },
  "POST /jobs/bulk": {
    scope: "write",
    body: schemas.jobBulkBody,
    handle: async ({ client, body, request }) => ({
      status: 200,
      body: await changeManyJobs(client, body, request.signal),
    }),
  },
  "GET /jobs/:id": {
    scope: "read",
    handle: async ({ client, params: { id }, show }) => {
      const [job, steps] = await Promise.all([client.getJob(id), client.getJobSteps(id)]);
      return { status: 200, body: { ...show.job(job), steps: steps.map((step) => show.step(step, job.taskId)) } };
    },
  },
  "GET /jobs/:id/logs": {
    scope: "read",
    handle: async ({ client, params: { id }, show }) => {
      const logs = await client.getJobLogs(id);
      // What is hidden depends on the task.
      const { taskId } = await client.getJob(id);
      return { status: 200, body: wholePage(logs.map((log) => show.log(log, taskId))) };
    },
  },
  "POST /jobs/:id/cancel": {
    scope: "write",
    handle: async ({ client, params: { id } }) => {
      const cancellation = await client.cancelJob(id);
      if (cancellation === "tooLate") throw new JobLookupError(`there is no unfinished job "${id}"`, id);
      return { status: 202, body: { id, cancellation } };
    },
  },
  "POST /jobs/:id/retry": {
    scope: "write",
    body: schemas.retryBody,
    handle: async ({ client, params: { id }, body: { restart = false, ...body }, show, pathTo }) => {
      const isOther = "payload" in body;
      if (isOther && restart)
        throw optionError("retry", "restart", "does not go with a payload, which makes a new job");
      const job = isOther ? await repeated(client, id, body.payload) : await client.retryJob(id, { restart });
      return added(job, show, pathTo);
    },
  },
};

function added(
  job: Job,
  show: Show,
  pathTo: (...segments: readonly string[]) => string,
): { status: 202; body: Plain<Job>; headers: { location: string } } {
  return { status: 202, body: show.job(job), headers: { location: pathTo("jobs", job.id) } };
}

/** The key of the request is that of the job, unless the job has one, or something else that lets only one in. */
function withKey(body: NewJobBody, key: Pick<RequestKey, "idempotencyKey"> | undefined): NewJobBody {
  const { debounce, throttle, uniqueFor = KEY_KEPT } = body;
  if (key === undefined || body.idempotencyKey !== undefined || debounce !== undefined) return body;
  // A throttle keeps its own key taken, and does not go together with `uniqueFor`.
  if (throttle !== undefined) return { ...body, idempotencyKey: key.idempotencyKey };
  return { ...body, ...key, uniqueFor };
}

function newJob({ taskId, ...options }: NewJobBody): NewJob<string> {
  return { task: taskId, ...options };
}

/** The job once more, with another payload: a new job, which is no retry of the old one. */
async function repeated(client: SchedulerClient, id: string, payload: unknown): Promise<Job> {
  const result = await client.getJobResult(id);
  if (result === null) throw new JobLookupError(`there is no result of job "${id}"`, id);
  const { taskId, metadata, labels, concurrencyKey } = result;
  return client.addJob(taskId, { payload, metadata, labels, ...(concurrencyKey === null ? {} : { concurrencyKey }) });
}
