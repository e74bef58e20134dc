import { type Clock, sleepFor } from "../../core/clock.ts";
import { durationText } from "../../core/duration.ts";
import { JobLookupError } from "../../core/errors.ts";
import { instantText } from "../../core/temporal.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import type { JobResult } from "../../scheduler/views/job-result.ts";
import { plain } from "../../scheduler/views/plain.ts";
import type { StatsReport } from "../../scheduler/views/stats.ts";
import type { StatsAnswer } from "../api.ts";
import { withLabels } from "../labels-of.ts";
import { numbersOf } from "../list-numbers.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";
import { shownPage } from "../show.ts";

/** When to ask again for the result of a job that has not ended, in seconds. */
const RETRY_AFTER_S = 1;

/** How jobs ended, and jobs that have ended or not as one list. */
export const resultRoutes: Routes<
  "GET /jobs/:id/result" | "GET /results" | "GET /failures" | "GET /stats" | "GET /runs" | "GET /runs/:id"
> = {
  "GET /jobs/:id/result": {
    scope: "read",
    query: schemas.resultWait,
    handle: async ({ client, clock, params: { id }, query: { wait = 0 }, show, request }) => {
      const result = await (wait > 0
        ? resultWithin(client, id, wait * 1000, clock, request.signal)
        : client.getJobResult(id));
      if (result !== null) return { status: 200, body: show.result(result) };
      const job = await client.getJob(id);
      if (job.state !== "ended") {
        return { status: 202, body: show.job(job), headers: { "retry-after": String(RETRY_AFTER_S) } };
      }
      // The job has ended between the two looks.
      const ended = await client.getJobResult(id);
      if (ended === null) throw new JobLookupError(`there is no result of job "${id}"`, id);
      return { status: 200, body: show.result(ended) };
    },
  },
  "GET /results": {
    scope: "read",
    query: schemas.resultQuery,
    handle: async ({ client, query: { include, ...filter }, show }) => ({
      status: 200,
      body: await shownPage(
        await client.getJobResults(withLabels(filter, "GET /results")),
        show.listed(include).result,
      ),
    }),
  },
  "GET /failures": {
    scope: "read",
    query: schemas.failureQuery,
    handle: async ({ client, query }) => {
      const { groups, seen } = await client.getFailures(query);
      return { status: 200, body: { items: groups.map(plain), seen } };
    },
  },
  "GET /stats": {
    scope: "read",
    query: schemas.statsQuery,
    handle: async ({ client, query }) => ({ status: 200, body: shownStats(await client.getStats(query)) }),
  },
  "GET /runs": {
    scope: "read",
    query: schemas.runQuery,
    handle: async ({ client, query: { include, ...query }, show }) => {
      const page = await client.getRuns({ ...withLabels(query, "GET /runs"), include: numbersOf(include) });
      return { status: 200, body: await shownPage(page, show.listed(include).run) };
    },
  },
  "GET /runs/:id": {
    scope: "read",
    handle: async ({ client, params, show }) => ({ status: 200, body: show.run(await client.getRun(params.id)) }),
  },
};

export function shownStats({ from, until, bucket, items, isKept }: StatsReport): StatsAnswer {
  return {
    ...{ from: instantText(from.epochMilliseconds), until: instantText(until.epochMilliseconds) },
    ...{ bucket: durationText(bucket.total("milliseconds")), isKept },
    items: items.map(({ id, total, buckets }) => ({ id, total: plain(total), buckets: buckets.map(plain) })),
  };
}

/** The result of a job that ends within the time; null when it does not, or when nobody waits any more. */
async function resultWithin(
  client: SchedulerClient,
  id: string,
  waitMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<JobResult | null> {
  const wait = new AbortController();
  const sleep = new AbortController();
  const endWait = (): void => wait.abort();
  signal.addEventListener("abort", endWait);
  void sleepFor(clock, waitMs, sleep.signal).then(endWait);
  try {
    return await client.getJobResult(id, { wait: true, signal: wait.signal });
  } catch (error) {
    if (wait.signal.aborted) return null;
    throw error;
  } finally {
    signal.removeEventListener("abort", endWait);
    sleep.abort();
  }
}
