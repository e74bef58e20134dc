import type { AuditRecord } from "../../../src/records/ledger.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Jobs = Parameters<MemoryDataStore["addJobs"]>[0];

/** Loses the last job of every addition of several. */
class LosesAJob extends MemoryDataStore {
  override async addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    const answers = await super.addJobs(jobs.length > 1 ? jobs.slice(0, -1) : jobs);
    return jobs.map((job, index) => answers[index] ?? { job, isNew: true });
  }
}

/** Forgets priorities when it adds. */
class ForgetsPriorities extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map((job) => ({ ...job, priority: 0 })));
  }
}

/** Runs delayed jobs at once. */
class ForgetsDelays extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map((job) => ({ ...job, runAt: job.createdAt })));
  }
}

/** Adds jobs whose idempotency key is taken. */
class IgnoresKeys extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map((job) => ({ ...job, idempotencyKey: null })));
  }
}

/** Takes a key for the same in every task. */
class MixesKeysOfTasks extends MemoryDataStore {
  override async addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    const answers: contract.JobAddition[] = [];
    for (const job of jobs) {
      const { items } = await this.getJobs({ limit: 1000, cursor: null });
      const holder = items.find(
        ({ idempotencyKey }) => idempotencyKey !== null && idempotencyKey === job.idempotencyKey,
      );
      if (holder === undefined || holder.id === job.id) answers.push(...(await super.addJobs([job])));
      else answers.push({ job: holder, isNew: false });
    }
    return answers;
  }
}

/** Loses the keys of metadata that objects have by themselves. */
class LosesConstructors extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(
      jobs.map((job) => {
        const { constructor: _lost, ...metadata } = job.metadata as Record<string, unknown>;
        return { ...job, metadata };
      }),
    );
  }
}

/** Adds a job again that has run, when it kept no result. */
class ForgetsWhatRan extends MemoryDataStore {
  readonly #seen = new Set<string>();

  override async addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    const fresh: Jobs[number][] = [];
    for (const job of jobs) {
      const isGone = (await this.getJob(job.id)) === null && (await this.getJobResult(job.id, 0)) === null;
      // Under another id, as the store beneath remembers.
      fresh.push(isGone && this.#seen.has(job.id) ? { ...job, id: `${job.id} again` } : job);
      this.#seen.add(job.id);
    }
    return super.addJobs(fresh);
  }
}

/** Knows no limits. */
class IgnoresLimits extends MemoryDataStore {
  override putTasks(tasks: Parameters<MemoryDataStore["putTasks"]>[0]): Promise<contract.TaskChange[]> {
    return super.putTasks(tasks.map((task) => ({ ...task, maxRunningJobs: null })));
  }
}

/** Keeps results that nobody wants, for ever. */
class KeepsEveryResult extends MemoryDataStore {
  override async cleanup(): Promise<contract.CleanupReport> {
    return { removedResults: 0, removedScheduleIds: [] };
  }
}

/** Keeps no results. */
class LosesResults extends MemoryDataStore {
  override async getJobResult(): Promise<null> {
    return null;
  }
}

/** Writes what comes before a conflict. */
class WritesHalfACall extends MemoryDataStore {
  override async addSchedules(
    additions: readonly contract.ScheduleAddition[],
  ): Promise<contract.ScheduleAdditionReport> {
    const results: contract.ScheduleAdditionReport[] = [];
    for (const addition of additions) {
      const report = await super.addSchedules([addition]);
      if (report.conflicts !== null) return report;
      results.push(report);
    }
    return {
      conflicts: null,
      results: results.flatMap((report) => (report.conflicts === null ? report.results : [])),
    };
  }
}

/** Moves the next fire time of a schedule that is replaced by an equal one. */
class ForgetsNextFireTimes extends MemoryDataStore {
  #rules = 0;

  override addSchedules(additions: readonly contract.ScheduleAddition[]): Promise<contract.ScheduleAdditionReport> {
    return super.addSchedules(
      additions.map((addition) => ({
        ...addition,
        schedule: { ...addition.schedule, triggerRule: `${addition.schedule.triggerRule} ${++this.#rules}` },
      })),
    );
  }
}

/** Lets nobody cancel a job that runs. */
class IgnoresCancellations extends MemoryDataStore {
  override async cancelJobs(ids: readonly string[], now: number): Promise<contract.CancelReport> {
    const job = await this.getJob(ids[0] ?? "");
    if (job === null || job.acquiredBy === null) return super.cancelJobs(ids, now);
    return { jobs: [{ status: "requested", taskId: job.taskId, acquiredBy: job.acquiredBy }], ended: [] };
  }
}

/** Hands out the records that it keeps. */
class SharesRecords extends MemoryDataStore {
  readonly #shared = new Map<string, Awaited<ReturnType<MemoryDataStore["getJob"]>>>();

  override async getJob(id: string): ReturnType<MemoryDataStore["getJob"]> {
    const job = this.#shared.get(id) ?? (await super.getJob(id));
    this.#shared.set(id, job);
    return job;
  }
}

/** Skips one record between two pages. */
class SkipsBetweenPages extends MemoryDataStore {
  override async getSchedules(filter: contract.ScheduleFilter): ReturnType<MemoryDataStore["getSchedules"]> {
    const page = await super.getSchedules(filter);
    const next = page.cursor === null ? null : await super.getSchedules({ ...filter, cursor: page.cursor, limit: 1 });
    return { items: page.items, cursor: next?.items[0]?.id ?? null };
  }
}

/** Commits changes of schedules that others have changed. */
class CommitsWhatMoved extends MemoryDataStore {
  override commitSchedules(
    commit: contract.ScheduleCommit,
    note?: AuditRecord,
  ): Promise<contract.ScheduleCommitReport> {
    return super.commitSchedules({ ...commit, expected: [] }, note);
  }
}

/** Removes one schedule and adds another one in the place of a rename. */
class ForgetsOnRename extends MemoryDataStore {
  override commitSchedules(
    { renames, removals, ...commit }: contract.ScheduleCommit,
    note?: AuditRecord,
  ): Promise<contract.ScheduleCommitReport> {
    const gone = [...removals, ...renames.map(({ from }) => from)];
    return super.commitSchedules({ ...commit, removals: gone, renames: [] }, note);
  }
}

/** Keeps what a commit removes. */
class KeepsTheRemoved extends MemoryDataStore {
  override commitSchedules(
    commit: contract.ScheduleCommit,
    note?: AuditRecord,
  ): Promise<contract.ScheduleCommitReport> {
    return super.commitSchedules({ ...commit, removals: [] }, note);
  }
}

export const brokenRecords: readonly BrokenStore[] = [
  ...caughtBy("jobs", LosesAJob, IgnoresKeys, MixesKeysOfTasks, ForgetsWhatRan),
  ...caughtBy("acquisition", ForgetsPriorities, ForgetsDelays),
  ...caughtBy("limits", IgnoresLimits),
  ...caughtBy("cleanup", KeepsEveryResult),
  ...caughtBy("results", LosesResults),
  ...caughtBy("schedules", WritesHalfACall, ForgetsNextFireTimes, SkipsBetweenPages),
  ...caughtBy("schedule commits", CommitsWhatMoved, ForgetsOnRename, KeepsTheRemoved),
  ...caughtBy("cancelling", IgnoresCancellations),
  ...caughtBy("records", SharesRecords, LosesConstructors),
];
