import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Schedules = ReturnType<MemoryDataStore["getSchedules"]>;
type Jobs = ReturnType<MemoryDataStore["getJobs"]>;
type Results = ReturnType<MemoryDataStore["getJobResults"]>;

/** Takes capital letters for other letters. */
class MindsTheCase extends MemoryDataStore {
  override async getSchedules(filter: contract.ScheduleFilter): Schedules {
    const page = await super.getSchedules(filter);
    const { search } = filter;
    if (search === undefined) return page;
    return { ...page, items: page.items.filter(({ id, name }) => id.includes(search) || name?.includes(search)) };
  }
}

/** Counts schedules that have ended among the paused ones. */
class MixesStates extends MemoryDataStore {
  override getSchedules({ state, ...filter }: contract.ScheduleFilter): Schedules {
    return super.getSchedules(
      state === "paused" ? { ...filter, paused: true } : { ...filter, ...(state && { state }) },
    );
  }
}

/** Begins with the schedules that have no fire time. */
class ShowsTheEndedFirst extends MemoryDataStore {
  override async getSchedules(filter: contract.ScheduleFilter): Schedules {
    const page = await super.getSchedules(filter);
    if (filter.sort !== "nextFireTime") return page;
    const isEnded = ({ nextFireTime }: (typeof page.items)[number]): boolean => nextFireTime === null;
    return { ...page, items: [...page.items.filter(isEnded), ...page.items.filter((one) => !isEnded(one))] };
  }
}

/** Takes a time for a part of it. */
class IncludesTheLastInstant extends MemoryDataStore {
  override getJobs({ until, ...filter }: contract.JobFilter): Jobs {
    return super.getJobs(until === undefined ? filter : { ...filter, until: until + 1 });
  }
}

/** Takes blocked jobs for queued ones. */
class QueuesWhatIsBlocked extends MemoryDataStore {
  override async getJobs(filter: contract.JobFilter): Jobs {
    if (filter.state !== "blocked") return super.getJobs(filter);
    return { items: [], cursor: null };
  }
}

class ListsWithoutKeys extends MemoryDataStore {
  override getJobs({ key: _ignored, ...filter }: contract.JobFilter): Jobs {
    return super.getJobs(filter);
  }
}

/** Takes the first of several outcomes. */
class TakesOneOutcome extends MemoryDataStore {
  override getJobResults({ outcomes, ...filter }: contract.JobResultFilter, now: number): Results {
    const [outcome] = outcomes ?? [];
    return super.getJobResults({ ...filter, ...(outcome === undefined ? {} : { outcome }) }, now);
  }
}

class CountsCancelledJobs extends MemoryDataStore {
  override async getFailures(selection: contract.FailureSelection, now: number): Promise<contract.FailureList> {
    const { items, seen } = await super.getFailures(selection, now);
    return { items, seen: seen + 1 };
  }
}

/** Counts rows in its cursors. */
class CountsItsPages extends MemoryDataStore {
  override async getJobs(filter: contract.JobFilter): Jobs {
    const start = Number(filter.cursor ?? 0);
    const { items } = await super.getJobs({ ...filter, limit: 10_000, cursor: null });
    const end = start + filter.limit;
    return { items: items.slice(start, end), cursor: end < items.length ? String(end) : null };
  }
}

/** Looks for jobs by their ids alone. */
class SearchesIds extends MemoryDataStore {
  override async getJobResults(
    filter: contract.JobResultFilter,
    now: number,
  ): ReturnType<MemoryDataStore["getJobResults"]> {
    const page = await super.getJobResults(filter, now);
    const search = filter.search?.toLowerCase() ?? "";
    return { ...page, items: page.items.filter(({ jobId }) => jobId.toLowerCase().includes(search)) };
  }
}

/** Shows everything, whatever the labels are. */
class ForgetsTheLabels extends MemoryDataStore {
  override getSchedules({ labels: _, ...filter }: contract.ScheduleFilter): Schedules {
    return super.getSchedules(filter);
  }
}

/** Takes one of the labels for all. */
class TakesOneLabel extends MemoryDataStore {
  override getJobs({ labels, ...filter }: contract.JobFilter): Jobs {
    const [first] = Object.entries(labels ?? {});
    return super.getJobs(first === undefined ? filter : { ...filter, labels: Object.fromEntries([first]) });
  }
}

/** Removes too many results. */
class RemovesOfAllLabels extends MemoryDataStore {
  override removeJobResults({ labels: _, ...selection }: contract.ResultRemoval, limit: number): Promise<number> {
    return super.removeJobResults(selection, limit);
  }
}

/** Keeps the labels that a change leaves out. */
class MergesLabels extends MemoryDataStore {
  override async updateSchedules(
    updates: readonly contract.ScheduleUpdateRequest[],
  ): ReturnType<MemoryDataStore["updateSchedules"]> {
    const merged = updates.map(async (update) => {
      const { labels } = update.changes;
      const former = (await this.getSchedule(update.id))?.labels;
      return labels ? { ...update, changes: { ...update.changes, labels: { ...former, ...labels } } } : update;
    });
    return super.updateSchedules(await Promise.all(merged));
  }
}

/** Leaves the results without what their jobs were labelled with. */
class LosesTheLabelsOfResults extends MemoryDataStore {
  override commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const releases = request.releases.map((release) => {
      if (release.kind !== "finish" || release.result.job === undefined) return release;
      const { labels: _, ...job } = release.result.job;
      return { ...release, result: { ...release.result, job } };
    });
    return super.commit({ ...request, releases });
  }
}

export const brokenLabels: readonly BrokenStore[] = caughtBy(
  "labels",
  ForgetsTheLabels,
  TakesOneLabel,
  RemovesOfAllLabels,
  MergesLabels,
  LosesTheLabelsOfResults,
);

export const brokenLists: readonly BrokenStore[] = caughtBy(
  "lists",
  MindsTheCase,
  MixesStates,
  ShowsTheEndedFirst,
  IncludesTheLastInstant,
  QueuesWhatIsBlocked,
  CountsItsPages,
  ListsWithoutKeys,
  TakesOneOutcome,
  CountsCancelledJobs,
  SearchesIds,
);
