import { LOOK_AHEAD_MS } from "../../src/core/timer-limits.ts";
import { Committer } from "../../src/scheduler/driving/committer.ts";
import { FirePlanner } from "../../src/scheduler/firing/fire-planner.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { answering, changing, type Mutant, patched, scheduler, store } from "./mutant.ts";
import { jobOf } from "./schedule-model.ts";

/** Faults about schedules, plans and preferred schedulers. */
export const PLANS: readonly Mutant[] = [
  store(
    "adds a plan's jobs and does not move the schedule on",
    changing({
      commit: (request) => ({
        ...request,
        plans: request.plans.map((plan) => ({ ...plan, nextFireTime: plan.expected, lastFireTime: null })),
      }),
    }),
  ),
  store(
    "moves the schedule on without its jobs",
    changing({ commit: (request) => ({ ...request, plans: request.plans.map((plan) => ({ ...plan, fires: [] })) }) }),
  ),
  store(
    "lets a plan count whose fence is stale",
    changing({
      commit: async (request, inner) => {
        const fenced = request.plans.map(async (plan) => {
          const current = await inner.getSchedule(plan.scheduleId);
          return current?.nextFireTime === plan.expected ? { ...plan, fence: current.fence } : plan;
        });
        return { ...request, plans: await Promise.all(fenced) };
      },
    }),
  ),
  store(
    "compares neither the fence nor the fire time of a plan",
    changing({
      commit: async (request, inner) => {
        const current = request.plans.map(async (plan) => {
          const { fence = plan.fence, nextFireTime = null } = (await inner.getSchedule(plan.scheduleId)) ?? {};
          return { ...plan, fence, expected: nextFireTime ?? plan.expected };
        });
        return { ...request, plans: await Promise.all(current) };
      },
    }),
  ),
  store(
    "adds the jobs of plans that do not count",
    answering(async (report, request, inner) => {
      for (const [index, { scheduleId, fires }] of request.plans.entries()) {
        const schedule = await inner.getSchedule(scheduleId);
        if (report.plans[index]?.committed !== false || schedule === null) continue;
        await inner.addJobs(fires.map((fire) => jobOf(schedule, fire)));
      }
      return report;
    }),
  ),
  store(
    "tells a repetition that its plans were refused",
    answering((report, { isRepetition }) =>
      isRepetition ? { ...report, plans: report.plans.map((plan) => ({ ...plan, committed: false })) } : report,
    ),
  ),
  store(
    "shows the preferredSchedulers of schedules whose bearers are gone",
    class extends MemoryDataStore {
      override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
        const aliveUntil = extension.aliveUntil === null ? null : Number.MAX_SAFE_INTEGER;
        return super.extendLeases({ ...extension, aliveUntil });
      }
    },
  ),
  scheduler("lets the fences of new schedules begin at 0", (inner) => ({
    addSchedules: (additions, note) =>
      inner.addSchedules(
        additions.map((one) => ({ ...one, schedule: { ...one.schedule, fence: 0 } })),
        note,
      ),
  })),
  scheduler("is the preferred scheduler of schedules whose jobs it cannot run", (inner) => ({
    commit: (request) =>
      inner.commit({ ...request, plans: request.plans.map((plan) => ({ ...plan, isPreferred: true })) }),
  })),
  scheduler("jumps over a fire time", (inner) => ({
    commit: (request) => {
      const plans = request.plans.map((plan) =>
        plan.fires.length < 2 ? plan : { ...plan, fires: plan.fires.slice(1) },
      );
      return inner.commit({ ...request, plans });
    },
  })),
  scheduler("sends a second plan of a schedule in a commit", (inner) => ({
    async commit(request) {
      const report = await inner.commit({ ...request, plans: [...request.plans, ...request.plans] });
      return { ...report, plans: report.plans.slice(0, request.plans.length) };
    },
  })),
  scheduler("takes a look for a commit", (inner) => ({
    async commit(request) {
      const { plans, releases, additions } = request;
      if (plans.length === 0 || releases.length > 0 || additions.length > 0) return inner.commit(request);
      const seen = await inner.look({ ...request, tasks: null });
      const committed = plans.map(({ fires }) => ({ committed: true, addedJobIds: fires.map(({ jobId }) => jobId) }));
      const nothing = { releases: [], additions: [], recovered: [], ended: [], acquired: [] };
      return { ...seen, ...nothing, due: [], plans: committed };
    },
  })),
  scheduler("leaves a schedule to its preferred scheduler for good", (inner) => {
    const preferredSchedulers = new Map<string, string>();
    const isShown = ({ id, preferredScheduler }: contract.LookedSchedule, schedulerId: string): boolean => {
      if (preferredScheduler !== null) preferredSchedulers.set(id, preferredScheduler);
      return (preferredSchedulers.get(id) ?? schedulerId) === schedulerId;
    };
    const shown = <T extends contract.Seen>(seen: T, schedulerId: string): T => ({
      ...seen,
      due: seen.due.filter((schedule) => isShown(schedule, schedulerId)),
    });
    return {
      look: async (request) => shown(await inner.look(request), request.schedulerId),
      commit: async (request) => shown(await inner.commit(request), request.schedulerId),
    };
  }),
  patched(
    "plans as of the fire time, whatever has come due since",
    FirePlanner.prototype,
    "plan",
    (original) =>
      function (this: FirePlanner, due) {
        return due.flatMap((schedule) => original.call(this, [schedule], schedule.nextFireTime));
      },
  ),
  patched(
    "fires what is not due yet",
    FirePlanner.prototype,
    "plan",
    (original) =>
      function (this: FirePlanner, due, now) {
        return original.call(this, due, now + 2000);
      },
  ),
  patched(
    "looks ahead where it ticks",
    Committer.prototype,
    "look",
    (original) =>
      function (this: Committer, now, bounds) {
        return original.call(this, now, { ...bounds, aheadMs: Math.max(bounds.aheadMs, now + LOOK_AHEAD_MS) });
      },
  ),
];
