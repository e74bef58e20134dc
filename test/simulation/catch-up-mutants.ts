import { FirePlanner } from "../../src/scheduler/firing/fire-planner.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { changing, type Mutant, patched, scheduler, store } from "./mutant.ts";

/** A scheduler that changes its plans on their way to the store. */
function planning(name: string, change: (plan: contract.SchedulePlan) => contract.SchedulePlan): Mutant {
  return scheduler(name, (inner) => ({
    commit: (request) => inner.commit({ ...request, plans: request.plans.map(change) }),
  }));
}

/** A scheduler that sees other schedules than there are. */
function seeing(name: string, change: (schedule: contract.LookedSchedule) => contract.LookedSchedule): Mutant {
  return patched(
    name,
    FirePlanner.prototype,
    "plan",
    (original) =>
      function (this: FirePlanner, due, now) {
        return original.call(this, due.map(change), now);
      },
  );
}

const bounds = (
  { catchUp, ...schedule }: contract.LookedSchedule,
  changes: Partial<NonNullable<contract.LookedSchedule["catchUp"]>>,
): contract.LookedSchedule => ({ ...schedule, catchUp: catchUp === null ? null : { ...catchUp, ...changes } });

/** Faults about what is made up for, and what is left out. */
export const CATCHING_UP: readonly Mutant[] = [
  store(
    "forgets the pace of schedules",
    changing({
      commit: (request) => ({ ...request, plans: request.plans.map(({ paceUntil: _, ...plan }) => plan) }),
    }),
  ),
  store(
    "lets jobs that make up for fire times come before what else is due",
    changing({
      commit: (request) => ({ ...request, plans: request.plans.map(({ isCatchUp: _, ...plan }) => plan) }),
    }),
  ),
  planning("tells of no fire time that it leaves out", ({ skips: _, ...plan }) => plan),
  planning("tells of the fire times that it coalesces alone", (plan) => ({
    ...plan,
    skips: (plan.skips ?? []).filter(({ verdict }) => verdict === "coalesced"),
  })),
  planning("lets jobs run at once that a pace puts off", (plan) => ({
    ...plan,
    fires: plan.fires.map((fire) => ({ ...fire, runAt: fire.scheduledFireTime })),
  })),
  seeing("makes jobs for what is too old", (schedule) => bounds(schedule, { maxAgeMs: null })),
  seeing("makes more jobs than are to be made up for", (schedule) => bounds(schedule, { maxCount: null })),
  seeing("begins a new pace in each plan", (schedule) => ({ ...schedule, paceUntil: null })),
];
