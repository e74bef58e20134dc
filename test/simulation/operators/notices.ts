import type { JobResultRecord } from "../../../src/records/job-result.ts";
import { NEUTRAL_OUTCOMES, NOTICE_TASK_PREFIX, type NoticeRecord } from "../../../src/records/notice.ts";
import type { ScheduleRecord } from "../../../src/records/schedule.ts";
import type {
  CommitReport,
  CommitRequest,
  RecoveryReport,
  ScheduleAdditionReport,
  TaskPauseRequest,
} from "../../../src/stores/data-store.ts";
import { makeTask } from "../../../src/testing/data-store-contract/makers.ts";
import type { Operation, OperatorRun } from "./operators.ts";

/** The task of the channel. No process has a handler for it, so that its jobs stay, and can be counted. */
export const CHANNEL = `${NOTICE_TASK_PREFIX}watched`;

/** Each change of state makes one notice: none is lost, and none comes twice, whatever crashes between. */
export function notices(run: OperatorRun): Operation {
  void run.store.putTasks([makeTask({ id: CHANNEL, metadata: { on: ["failed", "recovered", "overdue", "paused"] } })]);
  const expected: string[] = [];
  const overdue = new Set<string>();
  const ended = new Set<string>();
  const failing = new Map<string, boolean>();
  const paused = new Set<string>();

  const ends = (results: readonly JobResultRecord[]): void => {
    for (const { jobId, scheduleId, scheduledFireTime, outcome } of results) {
      if (scheduleId === null || scheduledFireTime === null || NEUTRAL_OUTCOMES.includes(outcome)) continue;
      if (ended.has(jobId)) continue;
      ended.add(jobId);
      const hasFailed = outcome !== "success";
      if ((failing.get(scheduleId) ?? false) === hasFailed) continue;
      failing.set(scheduleId, hasFailed);
      expected.push(`${hasFailed ? "failed" : "recovered"} ${jobId}`);
    }
  };
  const onStep = ({ releases }: CommitRequest, report: CommitReport): void => {
    ends(
      releases.flatMap((one, place) =>
        one.kind === "finish" && report.releases[place] === "released" ? [one.result] : [],
      ),
    );
    ends(report.ended);
    for (const { id } of report.pausedSchedules ?? []) pauses(id);
    for (const { id } of report.endedPauses?.schedules ?? []) paused.delete(id);
    for (const { taskId, key } of report.endedPauses?.tasks ?? []) paused.delete(nameOf(taskId, key));
    for (const one of report.changedOverdue?.raised ?? []) overdue.add(overdueName(one));
  };
  const pauses = (name: string): void => {
    if (paused.has(name)) return;
    paused.add(name);
    expected.push(`paused ${name}`);
  };
  const onUpdates = (records: readonly (ScheduleRecord | null)[]): void => {
    for (const record of records) {
      if (record === null) continue;
      if (record.paused) pauses(record.id);
      else paused.delete(record.id);
    }
  };

  /** A schedule that is added paused makes no notice. */
  const onAdditions = (report: ScheduleAdditionReport): void => {
    for (const { change, schedule } of report.conflicts === null ? report.results : []) {
      if (change === "added" && schedule.paused) paused.add(schedule.id);
      else onUpdates([schedule]);
    }
  };
  const onRemovals = (removals: readonly { readonly id: string }[], answers: readonly boolean[]): void => {
    for (const [place, { id }] of removals.entries()) if (answers[place] === true) paused.delete(id);
  };
  const onTask = ({ taskId, key, paused: isPaused }: TaskPauseRequest): void => {
    if (isPaused) pauses(nameOf(taskId, key));
    else paused.delete(nameOf(taskId, key));
  };

  return {
    weight: 1,
    act: (process) => {
      const id = run.random.pick(run.scheduleIds);
      void run.attempt(process, `pauseSchedule ${id}`, (scheduler) => scheduler.pauseSchedule(id, { by: "ada" }));
      void run.attempt(process, `unpauseSchedule ${id}`, (scheduler) => scheduler.unpauseSchedule(id));
    },
    onEffect: (method, args, answer) => {
      if (method === "commit") onStep(args[0] as CommitRequest, answer as CommitReport);
      if (method === "giveUpLeases") ends((answer as RecoveryReport).ended);
      if (method === "updateSchedules") onUpdates(answer as readonly (ScheduleRecord | null)[]);
      if (method === "addSchedules") onAdditions(answer as ScheduleAdditionReport);
      if (method === "removeSchedules") onRemovals(args[0] as readonly { readonly id: string }[], answer as boolean[]);
      if (method === "pauseTask" && answer === true) onTask(args[0] as TaskPauseRequest);
    },
    checkAtRest: async () => {
      const { items } = await run.store.getJobs({ taskId: CHANNEL, sort: "runAt", limit: 1000, cursor: null });
      const told = items.map(({ metadata }) => {
        const notice = metadata as unknown as NoticeRecord;
        if (notice.type === "paused") return `paused ${notice.scheduleId ?? nameOf(notice.taskId, notice.key)}`;
        return notice.type === "overdue" ? overdueName(notice) : `${notice.type} ${notice.jobId}`;
      });
      const wanted = [...expected, ...overdue].sort().join(", ");
      if (told.toSorted().join(", ") !== wanted) {
        run.history.violate(`the notices are not those of the changes: ${told.toSorted().join(", ")}; not ${wanted}`);
      }
    },
  };
}

function nameOf(taskId: string, key: string | null): string {
  return `task ${taskId} ${key ?? ""}`;
}

/** A repetition tells again what it raised. */
function overdueName(one: { readonly scheduleId: string; readonly fireTime: number; readonly kind: string }): string {
  return `overdue ${one.scheduleId} ${one.fireTime} ${one.kind}`;
}
