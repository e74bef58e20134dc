import type { DataStore, JobFilter, JobResultFilter, RecordPage, ScheduleFilter } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import { T0 } from "./makers.ts";

type Without<T> = Omit<T, "limit" | "cursor">;

/** The ids of the schedules of a list, joined. They are the same whatever the size of the pages is. */
export async function scheduleList(store: DataStore, filter: Without<ScheduleFilter>): Promise<string> {
  return sameForAll((limit) => all(limit, (page) => store.getSchedules({ ...filter, ...page }), idOf));
}

/** The same of jobs, in both orders; the oldest come first. */
export async function jobList(store: DataStore, filter: Without<JobFilter>): Promise<string> {
  const list = (order: "oldest" | "newest"): Promise<string> =>
    sameForAll((limit) => all(limit, (page) => store.getJobs({ ...filter, order, ...page }), idOf));
  const [oldest, newest] = [await list("oldest"), await list("newest")];
  equal(newest.split(" ").toReversed().join(" "), oldest, "both orders have the same jobs");
  return oldest;
}

/** The same of the jobs of results; those that ended first come first, unless told otherwise. */
export async function resultList(store: DataStore, filter: Without<JobResultFilter>): Promise<string> {
  return sameForAll((limit) =>
    all(
      limit,
      (page) => store.getJobResults({ order: "oldest", ...filter, ...page }, T0),
      ({ jobId }) => jobId,
    ),
  );
}

/** All items of a list. Where a filter takes few of many, pages may be short. */
async function all<T>(
  limit: number,
  read: (page: { readonly limit: number; readonly cursor: string | null }) => Promise<RecordPage<T>>,
  nameOf: (item: T) => string,
): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page: RecordPage<T> = await read({ limit, cursor });
    found.push(...page.items.map(nameOf));
    ({ cursor } = page);
  } while (cursor !== null);
  return found;
}

async function sameForAll(read: (limit: number) => Promise<string[]>): Promise<string> {
  const [small, large] = [await read(1), await read(100)];
  equal(small, large, "pages of one, and one page of all");
  return large.join(" ");
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}
