import type { JobRecord } from "../../../src/records/job.ts";
import { NEVER_RUN } from "../../../src/records/job.ts";
import type { AuditRecord } from "../../../src/records/ledger.ts";
import type { ScheduleRecord } from "../../../src/records/schedule.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { removeSchedule, updateSchedule } from "../../../src/testing/data-store-contract/makers.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Commit = contract.CommitRequest;
type Report = contract.CommitReport;

/** Changes the plans of a commit. */
abstract class ChangesPlans extends MemoryDataStore {
  protected abstract changed(plan: contract.SchedulePlan): Promise<contract.SchedulePlan>;

  override async commit(request: Commit): Promise<Report> {
    const plans: contract.SchedulePlan[] = [];
    for (const plan of request.plans) plans.push(await this.changed(plan));
    return super.commit({ ...request, plans });
  }
}

/** Takes plans of any fence. */
class IgnoresPlanFences extends ChangesPlans {
  override async changed(plan: contract.SchedulePlan): Promise<contract.SchedulePlan> {
    return { ...plan, fence: (await this.getSchedule(plan.scheduleId))?.fence ?? plan.fence };
  }
}

/** Takes plans of any fire time. */
class IgnoresExpectedTimes extends ChangesPlans {
  override async changed(plan: contract.SchedulePlan): Promise<contract.SchedulePlan> {
    return { ...plan, expected: (await this.getSchedule(plan.scheduleId))?.nextFireTime ?? plan.expected };
  }
}

/** Fires schedules that are paused. */
class IgnoresPauses extends ChangesPlans {
  override async changed(plan: contract.SchedulePlan): Promise<contract.SchedulePlan> {
    const schedule = await this.getSchedule(plan.scheduleId);
    if (schedule === null || !schedule.paused || schedule.fence !== plan.fence) return plan;
    await updateSchedule(this, plan.scheduleId, { paused: false });
    return { ...plan, fence: plan.fence + 1 };
  }
}

/** Moves schedules on and loses what they fired. */
class LosesFires extends ChangesPlans {
  override async changed(plan: contract.SchedulePlan): Promise<contract.SchedulePlan> {
    return { ...plan, fires: [] };
  }
}

/** Adds a job for a fire time that has one. */
class DoublesFireTimes extends ChangesPlans {
  override async changed(plan: contract.SchedulePlan): Promise<contract.SchedulePlan> {
    return { ...plan, fires: plan.fires.map((fire, index) => ({ ...fire, fireTime: -fire.fireTime - index * 0.5 })) };
  }
}

/** Forgets that a plan pauses. */
class NeverPauses extends ChangesPlans {
  override async changed(plan: contract.SchedulePlan): Promise<contract.SchedulePlan> {
    return { ...plan, paused: false };
  }
}

/** Runs a job at its fire time, jitter or not. */
class ForgetsJitter extends ChangesPlans {
  override async changed(plan: contract.SchedulePlan): Promise<contract.SchedulePlan> {
    return { ...plan, fires: plan.fires.map((fire) => ({ ...fire, runAt: fire.fireTime })) };
  }
}

/** Lets a plan count before its time. */
class IgnoresTheClock extends MemoryDataStore {
  override commit(request: Commit): Promise<Report> {
    return super.commit({ ...request, now: Math.max(request.now, ...request.plans.map((plan) => plan.expected)) });
  }
}

/** Adds the jobs of plans that do not count. */
class AddsWithoutCommit extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    for (const [index, { scheduleId, fires }] of request.plans.entries()) {
      if (report.plans[index]?.committed !== false) continue;
      await this.addJobs(fires.map((fire) => strayJob(scheduleId, fire)));
    }
    return report;
  }
}

function strayJob(scheduleId: string, { jobId: id, ...fire }: contract.PlannedJob): JobRecord {
  const fixed = { taskId: "task", executor: "inline", payload: null, priority: 0, idempotencyKey: null, metadata: {} };
  return { id, scheduleId, ...fire, ...fixed, resultExpirationMs: 0, maxRecoveries: 0, ...NEVER_RUN };
}

/** Takes the plans of a commit one after the other, so that a schedule can have several. */
class TakesPlansOneByOne extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const plans: contract.PlanReport[] = [];
    for (const plan of request.plans)
      plans.push(...(await super.commit({ ...request, jobs: null, plans: [plan] })).plans);
    return { ...(await super.commit({ ...request, plans: [] })), plans };
  }
}

/** Takes all plans of a commit, or none. */
class TakesAllPlansOrNone extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    for (const plan of request.plans) {
      if ((await this.getSchedule(plan.scheduleId))?.fence === plan.fence) continue;
      const report = await super.commit({ ...request, plans: [] });
      return { ...report, plans: request.plans.map(() => ({ committed: false, addedJobIds: [] })) };
    }
    return super.commit(request);
  }
}

/** Begins to count at 0 when a schedule is added. */
class BeginsFencesAnew extends MemoryDataStore {
  override addSchedules(additions: readonly contract.ScheduleAddition[]): Promise<contract.ScheduleAdditionReport> {
    return super.addSchedules(
      additions.map((addition) => ({ ...addition, schedule: { ...addition.schedule, fence: 0 } })),
    );
  }
}

/** Changes schedules without a heartbeat to those that planned. */
class KeepsFences extends MemoryDataStore {
  override async updateSchedules(
    updates: readonly contract.ScheduleUpdateRequest[],
    note?: AuditRecord,
  ): Promise<(ScheduleRecord | null)[]> {
    const fences = new Map<string, number>();
    for (const { id } of updates) fences.set(id, (await this.getSchedule(id))?.fence ?? 0);
    const updated = await super.updateSchedules(updates, note);
    return Promise.all(
      updated.map(async (record) => {
        if (record === null) return null;
        await removeSchedule(this, record.id);
        const schedule = { ...record, fence: fences.get(record.id) ?? 0 };
        await this.addSchedules([{ schedule, conflictPolicy: "error" }]);
        return schedule;
      }),
    );
  }
}

/** Changes what a reader sees of jobs. */
abstract class ChangesJobs extends MemoryDataStore {
  protected abstract changed(job: JobRecord): JobRecord;

  override async getJob(id: string): Promise<JobRecord | null> {
    const job = await super.getJob(id);
    return job === null || job.scheduleId === null ? job : this.changed(job);
  }

  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    return { ...report, acquired: report.acquired.map((job) => (job.scheduleId === null ? job : this.changed(job))) };
  }
}

/** Drops nulls within the metadata of a schedule's jobs. */
class DropsNulls extends ChangesJobs {
  override changed(job: JobRecord): JobRecord {
    const entries = Object.entries(job.metadata).filter(([, value]) => value !== null);
    return { ...job, metadata: Object.fromEntries(entries) };
  }
}

/** Gives jobs of a schedule without a payload the payload `null`. */
class InventsPayloads extends ChangesJobs {
  override changed(job: JobRecord): JobRecord {
    return { ...job, payload: job.payload ?? "null" };
  }
}

/** Reads payloads and writes them anew. */
class RewritesPayloads extends ChangesJobs {
  override changed(job: JobRecord): JobRecord {
    try {
      return { ...job, payload: job.payload === null ? null : JSON.stringify(JSON.parse(job.payload)) };
    } catch {
      return job;
    }
  }
}

/** Knows nobody's preferred schedulers. */
class ForgetsPreferred extends MemoryDataStore {
  override async look(request: contract.LookRequest): Promise<contract.LookReport> {
    const report = await super.look(request);
    return { ...report, due: report.due.map((schedule) => ({ ...schedule, preferredScheduler: null })) };
  }
}

/** Waits for the dead. */
class WaitsForTheDead extends MemoryDataStore {
  override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    return super.extendLeases({ ...extension, aliveUntil: extension.aliveUntil && Number.MAX_SAFE_INTEGER });
  }
}

/** Takes whoever commits for the preferred scheduler. */
class FavoursEverybody extends ChangesPlans {
  override async changed(plan: contract.SchedulePlan): Promise<contract.SchedulePlan> {
    return { ...plan, isPreferred: true };
  }
}

/** Takes one that says nothing for dead. */
class TakesSilenceForDeath extends MemoryDataStore {
  override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    return super.extendLeases({ ...extension, aliveUntil: extension.aliveUntil ?? 0 });
  }
}

export const brokenPlans: readonly BrokenStore[] = [
  ...caughtBy("plans", IgnoresPlanFences, IgnoresExpectedTimes, IgnoresPauses, IgnoresTheClock, LosesFires),
  ...caughtBy("plans", DoublesFireTimes, NeverPauses, ForgetsJitter, AddsWithoutCommit, TakesPlansOneByOne),
  ...caughtBy("plans", TakesAllPlansOrNone, BeginsFencesAnew, KeepsFences),
  ...caughtBy("plans", DropsNulls, InventsPayloads, RewritesPayloads),
  ...caughtBy("preferred schedulers", ForgetsPreferred, WaitsForTheDead, FavoursEverybody, TakesSilenceForDeath),
];
