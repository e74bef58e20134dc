import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Look = contract.LookRequest;
type Report = contract.LookReport;

/** Changes the window of schedules that is looked through. */
abstract class ChangesWindows extends MemoryDataStore {
  protected abstract changed(window: contract.ScheduleWindow): contract.ScheduleWindow;

  override look(request: Look): Promise<Report> {
    return super.look({ ...request, schedules: request.schedules && this.changed(request.schedules) });
  }
}

/** Begins every page at the first schedule. */
class PagesFromTheStart extends ChangesWindows {
  override changed(window: contract.ScheduleWindow): contract.ScheduleWindow {
    return { ...window, after: null };
  }
}

/** Goes on behind a fire time, past schedules that share it. */
class PagesByTimeAlone extends ChangesWindows {
  override changed(window: contract.ScheduleWindow): contract.ScheduleWindow {
    return { ...window, after: window.after && [window.after[0], "\uffff"] };
  }
}

/** Shows pages of any size. */
class IgnoresBytes extends ChangesWindows {
  override changed(window: contract.ScheduleWindow): contract.ScheduleWindow {
    return { ...window, bytesMax: Number.MAX_SAFE_INTEGER };
  }
}

/** Shows as many schedules as there are. */
class IgnoresWindowLimits extends ChangesWindows {
  override changed(window: contract.ScheduleWindow): contract.ScheduleWindow {
    return { ...window, limit: Math.max(window.limit, 50) };
  }
}

/** Looks no further ahead than to the present. */
class NeverLooksAhead extends MemoryDataStore {
  override look(request: Look): Promise<Report> {
    const { schedules, now } = request;
    return super.look({ ...request, schedules: schedules && { ...schedules, dueBy: Math.min(schedules.dueBy, now) } });
  }
}

/** Changes what a look answers. */
abstract class ChangesLooks extends MemoryDataStore {
  protected abstract changed(report: Report, request: Look): Partial<Report> | Promise<Partial<Report>>;

  override async look(request: Look): Promise<Report> {
    const report = await super.look(request);
    return { ...report, ...(await this.changed(report, request)) };
  }
}

/** Shows no schedule that is larger than a page. */
class HidesLargeRows extends ChangesLooks {
  override changed({ due }: Report, { schedules }: Look): Partial<Report> {
    return { due: due.filter(({ bytes }) => bytes <= (schedules?.bytesMax ?? 0)) };
  }
}

/** Does not count what lies in payloads and metadata. */
class WeighsAllAlike extends ChangesLooks {
  override changed({ due }: Report): Partial<Report> {
    return { due: due.map((schedule) => ({ ...schedule, bytes: 300 })) };
  }
}

/** Tells of the next fire time behind the window alone, and not of what a page left out. */
class ForgetsWhatPagesLeaveOut extends MemoryDataStore {
  override async look(request: Look): Promise<Report> {
    const { schedules } = request;
    const whole = schedules && { ...schedules, limit: 1_000_000, bytesMax: Number.MAX_SAFE_INTEGER };
    const { nextFireAt } = await super.look({ ...request, schedules: whole });
    return { ...(await super.look(request)), nextFireAt };
  }
}

/** Shows payloads. */
class ShowsPayloads extends ChangesLooks {
  override async changed({ due }: Report): Promise<Partial<Report>> {
    const records: contract.LookedSchedule[] = [];
    for (const schedule of due) records.push({ ...(await this.getSchedule(schedule.id)), ...schedule });
    return { due: records };
  }
}

/** Recovers while it looks. */
class RecoversWhileItLooks extends MemoryDataStore {
  override async look(request: Look): Promise<Report> {
    const rest = { until: 0, releases: [], additions: [], plans: [], jobs: null, isRepetition: false };
    await super.commit({ ...request, ...rest, commitId: "look", recover: true });
    return super.look(request);
  }
}

/** Puts the tasks that it is asked about. */
class PutsTasksWhileItLooks extends MemoryDataStore {
  override async look(request: Look): Promise<Report> {
    const report = await super.look(request);
    await this.putTasks(request.tasks ?? []);
    return report;
  }
}

/** Knows as ready only what a commit has found due. */
class SeesOnlyWhatCommitsFound extends MemoryDataStore {
  override async look(request: Look): Promise<Report> {
    const { hasReady } = await super.look({ ...request, now: 0 });
    return { ...(await super.look(request)), hasReady };
  }
}

/** Tells of ready jobs whose task has no room. */
class SeesNoLimits extends ChangesLooks {
  override async changed(report: Report, { now, jobs }: Look): Promise<Partial<Report>> {
    const { items } = await this.getJobs({ limit: 1000, cursor: null });
    const isOurs = (executor: string, taskId: string): boolean =>
      jobs?.queues.some((queue) => queue.executor === executor && queue.taskId === taskId) ?? false;
    const isReady = items.some(
      (job) => job.acquiredBy === null && job.runAt <= now && isOurs(job.executor, job.taskId),
    );
    return { hasReady: report.hasReady || isReady };
  }
}

/** Tells of jobs to whom it does not concern. */
class TellsEverybodyOfJobs extends MemoryDataStore {
  override look(request: Look): Promise<Report> {
    return super.look({ ...request, jobs: request.jobs ?? { queues: [], limit: 0 } });
  }
}

/** Tells of schedules to whom they do not concern. */
class TellsEverybodyOfSchedules extends MemoryDataStore {
  override look(request: Look): Promise<Report> {
    const window = { dueBy: request.now, limit: 100, bytesMax: 1_000_000, after: null };
    return super.look({ ...request, schedules: request.schedules ?? window });
  }
}

/** Tells of lease ends only while they are to come. */
class ForgetsDeadLeases extends ChangesLooks {
  override changed({ leaseEndsAt }: Report, { now }: Look): Partial<Report> {
    return { leaseEndsAt: leaseEndsAt !== null && leaseEndsAt <= now ? null : leaseEndsAt };
  }
}

/** Compares nothing of a task but its limit. */
class ComparesLimitsAlone extends ChangesLooks {
  override async changed(_: Report, { tasks }: Look): Promise<Partial<Report>> {
    const staleTaskIds: string[] = [];
    for (const { id, maxRunningJobs } of tasks ?? []) {
      if ((await this.getTask(id))?.maxRunningJobs !== maxRunningJobs) staleTaskIds.push(id);
    }
    return { staleTaskIds };
  }
}

/** Misses tasks that are not there at all. */
class MissesNewTasks extends ChangesLooks {
  override async changed({ staleTaskIds }: Report): Promise<Partial<Report>> {
    const known: string[] = [];
    for (const id of staleTaskIds) if ((await this.getTask(id)) !== null) known.push(id);
    return { staleTaskIds: known };
  }
}

/** Compares declarations, and no versions. */
class ForgetsVersions extends MemoryDataStore {
  override look(request: Look): Promise<Report> {
    const declared = request.declared?.map(
      ({ id, declaration }) => ({ id, declaration }) as contract.ScheduleDeclaration,
    );
    return super.look(declared === undefined ? request : { ...request, declared });
  }
}

/** Takes results that are kept for expired ones. */
class SeesResultsExpire extends MemoryDataStore {
  override look(request: Look): Promise<Report> {
    return super.look({ ...request, now: request.asksForExpired === true ? request.now + 1 : request.now });
  }
}

/** Never tells that results have expired. */
class HidesExpired extends ChangesLooks {
  override changed(): Partial<Report> {
    return { hasExpired: false };
  }
}

export const brokenLooks: readonly BrokenStore[] = [
  ...caughtBy("due schedules", PagesFromTheStart, PagesByTimeAlone, IgnoresBytes, IgnoresWindowLimits, NeverLooksAhead),
  ...caughtBy("due schedules", HidesLargeRows, WeighsAllAlike, ForgetsWhatPagesLeaveOut, ShowsPayloads),
  ...caughtBy("due schedules", TellsEverybodyOfSchedules),
  ...caughtBy("looking", RecoversWhileItLooks, PutsTasksWhileItLooks, SeesOnlyWhatCommitsFound, SeesNoLimits),
  ...caughtBy("looking", TellsEverybodyOfJobs, ForgetsDeadLeases, ComparesLimitsAlone, MissesNewTasks),
  ...caughtBy("looking", SeesResultsExpire, HidesExpired),
  ...caughtBy("schedule declarations", ForgetsVersions),
];
