import type { CommitReport, CommitRequest } from "../../../src/stores/data-store.ts";
import type { OperatedProcess, Operation, OperatorRun } from "./operators.ts";

/** Operators add extra jobs, pause a schedule, and let it go on. Whatever they do, plans make one job of a fire time. */
export function fireTimes(run: OperatorRun): Operation {
  const { random } = run;
  const jobs = new Map<string, string>();
  /** Jobs of schedules that were removed since. */
  const former = new Set<string>();
  const onStep = ({ plans }: CommitRequest, report: CommitReport): void => {
    for (const [place, { scheduleId, fires }] of plans.entries()) {
      const added = new Set(report.plans[place]?.addedJobIds);
      for (const { jobId, fireTime } of fires) {
        if (!added.has(jobId) || former.has(jobId)) continue;
        const name = `${scheduleId} at ${fireTime}`;
        const other = jobs.get(name) ?? jobId;
        jobs.set(name, jobId);
        if (other !== jobId) run.history.violate(`the fire time of ${name} made the jobs ${other} and ${jobId}`);
      }
    }
  };
  const heal = (process: OperatedProcess): void => {
    for (const id of run.scheduleIds) {
      void run.attempt(process, `unpauseSchedule ${id}`, (scheduler) => scheduler.unpauseSchedule(id));
    }
  };
  return {
    weight: 3,
    act: (process) => {
      const id = random.pick(run.scheduleIds);
      const kind = random.pick(["runScheduleNow", "pauseSchedule", "unpauseSchedule", "unpauseSchedule"] as const);
      const options = random.pick([{}, { resumeFrom: "now" }] as const);
      void run.attempt(process, `${kind} ${id}`, (scheduler): Promise<unknown> => {
        if (kind === "runScheduleNow") return scheduler.runScheduleNow(id);
        return kind === "pauseSchedule" ? scheduler.pauseSchedule(id) : scheduler.unpauseSchedule(id, options);
      });
    },
    onEffect: (method, args, answer) => {
      if (method === "commit") onStep(args[0] as CommitRequest, answer as CommitReport);
      // One that is added under the id of a removed one may fire anew.
      if (method !== "removeSchedules") return;
      for (const id of jobs.values()) former.add(id);
      jobs.clear();
    },
    heal,
    checkAtRest: async () => {
      for (const id of run.scheduleIds) {
        const { nextFireTime = null, pauseReason } = (await run.store.getSchedule(id)) ?? {};
        // It goes on failing.
        if (pauseReason !== undefined) continue;
        if (nextFireTime === null || nextFireTime < run.clock.now() - 5000) {
          run.history.violate(`${id} stands still at ${nextFireTime}`);
        }
      }
    },
  };
}
