import { durationOf } from "../../core/duration.ts";
import { optionError } from "../../core/option-errors.ts";
import { instantOf } from "../../core/temporal.ts";
import { compareTexts } from "../../core/text.ts";
import { DAY_MS, HOUR_MS, type StatsFacts, StatsSum } from "../../records/stats.ts";
import type { DataStore, StatsFilter } from "../../stores/data-store.ts";
import { STATS_BUCKETS_MAX } from "../../stores/shared/limits.ts";
import type { StatsRequest } from "../options/checked-options.ts";
import { Stats, StatsBucket, type StatsReport, type StatsSeries } from "../views/stats.ts";

const WHERE = "getStats()";
/** How far statistics of a list of schedules go back, in days, today included. */
const LISTED_DAYS = 7;

/** Answers a question about how jobs ended. @throws {OptionsError} */
export async function statsOf(
  { ledger = null }: Pick<DataStore, "ledger">,
  request: StatsRequest,
  now: number,
): Promise<StatsReport> {
  const filter = filterOf(request, now);
  const { from, until, bucketMs } = filter;
  const { counts, isCut } = (await ledger?.getStats(filter)) ?? { counts: [], isCut: false };
  if (isCut) {
    const message = "reaches over too much; choose a later one, or name a task or a schedule";
    throw optionError(WHERE, "from", message);
  }
  const sums = new Map<string, StatsSum[]>(request.by === undefined ? [["", []]] : []);
  for (const { id, bucket, cell, count } of counts) {
    const name = request.by === undefined ? "" : id;
    const buckets = sums.get(name) ?? [];
    sums.set(name, buckets);
    buckets[0] ??= new StatsSum();
    buckets[0].add(cell, count);
    buckets[bucket + 1] ??= new StatsSum();
    buckets[bucket + 1]?.add(cell, count);
  }
  const none = new StatsSum();
  const items = [...sums].map(
    ([id, [total = none, ...buckets]]): StatsSeries => ({
      id,
      total: new Stats(total.facts),
      buckets: Array.from({ length: Math.ceil((until - from) / bucketMs) }, (_, place) => {
        return new StatsBucket(from + place * bucketMs, (buckets[place] ?? none).facts);
      }),
    }),
  );
  return {
    ...{ from: instantOf(from), until: instantOf(until), bucket: durationOf(bucketMs) },
    items: request.by === undefined ? items.map((one) => ({ ...one, id: null })) : items.sort(inOrder),
    isKept: ledger !== null,
  };
}

function inOrder(a: StatsSeries, b: StatsSeries): number {
  return b.total.count - a.total.count || compareTexts(a.id ?? "", b.id ?? "");
}

function filterOf({ by, taskId, scheduleId, limit, ...times }: StatsRequest, now: number): StatsFilter {
  const isOfSchedules = by === "schedule" || scheduleId !== undefined;
  const unitMs = isOfSchedules ? DAY_MS : HOUR_MS;
  // A job may have ended this very millisecond.
  const { until: end = now + 1, bucketMs = unitMs } = times;
  const until = Math.ceil(end / unitMs) * unitMs;
  const start = times.from ?? until - (isOfSchedules ? LISTED_DAYS * DAY_MS : DAY_MS);
  const from = Math.floor(start / unitMs) * unitMs;
  if (!(from < until)) throw optionError(WHERE, "from", "must be earlier than until");
  const count = Math.ceil((until - from) / bucketMs) * (by === undefined ? 1 : limit);
  if (count > STATS_BUCKETS_MAX) {
    const each = by === undefined ? "" : `, of ${limit} ${by}s`;
    const advice = `choose a longer bucket, a later from${by === undefined ? "" : " or a lower limit"}`;
    const most = `must be so long that there are at most ${STATS_BUCKETS_MAX} buckets`;
    throw optionError(WHERE, "bucket", `${most}; got ${count}${each}; ${advice}`);
  }
  const range = { from, until, bucketMs, limit: by === undefined ? 1 : limit };
  if (scheduleId !== undefined) return { of: "schedules", ids: [scheduleId], ...range };
  if (by === "schedule") return { of: "schedules", ...(taskId === undefined ? {} : { taskId }), ...range };
  if (taskId !== undefined) return { of: "tasks", ids: [taskId], ...range };
  return { of: by === "task" ? "tasks" : "all", ...range };
}

/** How the jobs of schedules ended lately: one for each, in their order. */
export async function statsOfSchedules(
  { ledger = null }: Pick<DataStore, "ledger">,
  ids: readonly string[],
  now: number,
): Promise<StatsFacts[]> {
  const sums = new Map(ids.map((id) => [id, new StatsSum()]));
  const until = Math.ceil((now + 1) / DAY_MS) * DAY_MS;
  const range = { from: until - LISTED_DAYS * DAY_MS, until, bucketMs: LISTED_DAYS * DAY_MS };
  const found = await ledger?.getStats({ of: "schedules", ids, ...range, limit: ids.length });
  for (const { id, cell, count } of found?.counts ?? []) sums.get(id)?.add(cell, count);
  return ids.map((id) => (sums.get(id) ?? new StatsSum()).facts);
}
