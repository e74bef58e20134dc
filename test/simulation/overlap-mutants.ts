import type { AuditRecord } from "../../src/records/ledger.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { answering, changing, type Mutant, scheduler, store } from "./mutant.ts";

type Policy = contract.PlannedOverlap["policy"];

/** A store that takes plans of one policy for plans of another; null for plans that queue. */
function confusing(policy: Policy, other: Policy | null) {
  return changing({
    commit: (request) => ({ ...request, plans: request.plans.map((plan) => withPolicy(plan, policy, other)) }),
  });
}

function withPolicy(plan: contract.SchedulePlan, policy: Policy, other: Policy | null): contract.SchedulePlan {
  if (plan.overlap?.policy !== policy) return plan;
  if (other !== null) return { ...plan, overlap: { ...plan.overlap, policy: other } };
  const { overlap: _, ...queueing } = plan;
  return queueing;
}

function withoutMisses(due: readonly contract.LookedSchedule[]): contract.LookedSchedule[] {
  return due.map(({ missedSince: _, ...schedule }) => schedule);
}

/** A store that changes what is added. */
function adding(
  change: (addition: contract.ScheduleAddition, store: MemoryDataStore) => Promise<contract.ScheduleAddition>,
) {
  return class extends MemoryDataStore {
    override async addSchedules(
      additions: readonly contract.ScheduleAddition[],
      note?: AuditRecord,
    ): Promise<contract.ScheduleAdditionReport> {
      const changed: contract.ScheduleAddition[] = [];
      for (const addition of additions) changed.push(await change(addition, this));
      return super.addSchedules(changed, note);
    }
  };
}

/** Faults about runs that overlap, and about what programs declare of schedules. */
export const OVERLAPS: readonly Mutant[] = [
  store("makes the job of a fire that is to be skipped", confusing("skip", null)),
  store("leaves the job that a newer one replaces", confusing("replaceQueued", null)),
  store("skips where it is to replace", confusing("replaceQueued", "skip")),
  store("does not cancel the run that is under way", confusing("cancelRunning", "replaceQueued")),
  store("cancels what runs where the newer job is to wait", confusing("replaceQueued", "cancelRunning")),
  store(
    "forgets in a repetition what it skipped",
    answering((report, { isRepetition }) => {
      const plans = report.plans.map(({ committed, addedJobIds }) => ({ committed, addedJobIds }));
      return isRepetition ? { ...report, plans } : report;
    }),
  ),
  store(
    "does not count the fire times that a plan passes over",
    changing({
      commit: (request) => ({
        ...request,
        plans: request.plans.map((plan) =>
          plan.overlap === undefined ? plan : { ...plan, overlap: { ...plan.overlap, passed: 0 } },
        ),
      }),
    }),
  ),
  store(
    "lets a declaration that did not change undo edits",
    adding(async (addition) => {
      const { declaration: _, ...schedule } = addition.schedule;
      return { ...addition, schedule };
    }),
  ),
  store(
    "lets an older version of a program change the schedules of a newer one",
    adding(async (addition, inner) => {
      const { version = -1 } = (await inner.getSchedule(addition.schedule.id)) ?? {};
      const own = addition.schedule.version ?? -1;
      return own >= version ? addition : { ...addition, schedule: { ...addition.schedule, version } };
    }),
  ),
  store(
    "ends pauses when a program changes its schedules",
    adding(async (addition) => ({ ...addition, setsPaused: true })),
  ),
  store("lets jobs pile up that miss their turn", confusing("latest", null)),
  store("lets the oldest job stand for all where the newest is to", confusing("latest", "earliest")),
  store("lets the newest job stand for all where the oldest is to", confusing("earliest", "latest")),
  store("takes jobs that miss their turn for replaced ones", confusing("latest", "replaceQueued")),
  store(
    "shows no job that misses its turn",
    answering((report) => ({ ...report, due: withoutMisses(report.due) })),
  ),
  scheduler("heeds no job that misses its turn", (inner) => ({
    look: async (request) => {
      const report = await inner.look(request);
      return { ...report, due: withoutMisses(report.due) };
    },
    commit: async (request) => {
      const report = await inner.commit(request);
      return { ...report, due: withoutMisses(report.due) };
    },
  })),
  scheduler("passes over fire times without telling", (inner) => ({
    commit: (request) => {
      const plans = request.plans.map((plan) =>
        plan.overlap === undefined ? plan : { ...plan, overlap: { ...plan.overlap, passed: 0 } },
      );
      return inner.commit({ ...request, plans });
    },
  })),
];
