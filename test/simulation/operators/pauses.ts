import type { JobResultRecord } from "../../../src/records/job-result.ts";
import { countsAsFailure, type JobOutcome } from "../../../src/records/policies.ts";
import type { ScheduleRecord } from "../../../src/records/schedule.ts";
import type {
  CommitReport,
  CommitRequest,
  RecoveryReport,
  ScheduleAdditionReport,
  TaskPauseRequest,
} from "../../../src/stores/data-store.ts";
import type { OperatedProcess, Operation, OperatorRun } from "./operators.ts";

/** How late a pause may end once nothing goes wrong: clocks differ by less. */
const LATE_MS_MAX = 1500;

/**
 * Operators pause schedules, tasks and keys, some until a time, and failures pause schedules. Each pause with an end
 * ends once, then and no earlier; the failure that reaches the number of a schedule pauses it, and no other does; and a
 * schedule shows the failure of the commit that had the last one.
 */
export function pauses(run: OperatorRun): Operation {
  const { random, history, store, clock } = run;
  /** When the pause of each ends; infinite for never. */
  const schedules = new Map<string, number>();
  const tasks = new Map<string, number>();
  /** Failures in a row, by schedule. */
  const failures = new Map<string, number>();
  /** Jobs that fire times made and that have not ended. */
  const open = new Set<string>();
  const known = new Set<string>();
  /** Jobs that have ended, and by schedule, of the last commit in which some failed, those that may be the last. */
  const ended = new Set<string>();
  const lastFailures = new Map<string, readonly string[]>();
  let healedAt = Number.POSITIVE_INFINITY;

  /** A job ended. Answers whether it counts. */
  const onEnd = (jobId: string, scheduleId: string | null, outcome: JobOutcome): boolean => {
    if (!open.delete(jobId) || scheduleId === null || !known.has(scheduleId)) return false;
    if (outcome === "cancelled" || outcome === "skipped") return true;
    failures.set(scheduleId, outcome === "success" ? 0 : (failures.get(scheduleId) ?? 0) + 1);
    return true;
  };
  const noteFailures = (results: readonly JobResultRecord[]): void => {
    const failed = results.filter(({ jobId, outcome }) => !ended.has(jobId) && countsAsFailure(outcome) === true);
    for (const { jobId } of results) ended.add(jobId);
    for (const { scheduleId } of failed) {
      if (scheduleId === null || !known.has(scheduleId)) continue;
      const own = failed.filter((one) => one.scheduleId === scheduleId);
      const last = Math.max(...own.map(({ finishedAt }) => finishedAt));
      lastFailures.set(
        scheduleId,
        own.filter(({ finishedAt }) => finishedAt === last).map(({ jobId }) => jobId),
      );
    }
  };
  const onEnds = ({ ended }: RecoveryReport): number =>
    ended.filter(({ jobId, scheduleId, outcome }) => onEnd(jobId, scheduleId, outcome)).length;

  /** The schedules that have as many failures as they may have. */
  const failing = (): readonly string[] =>
    [...failures].flatMap(([id, count]) => {
      const allowed = run.pauseAfterFailuresOf(id);
      return count > 0 && allowed !== null && count >= allowed && !schedules.has(id) ? [id] : [];
    });

  const onPaused = (pausedSchedules: CommitReport["pausedSchedules"], expected: readonly string[]): void => {
    const wanted = expected.toSorted();
    const told = (pausedSchedules ?? []).map(({ id }) => id).sort();
    if (wanted.join() !== told.join()) history.violate(`failures pause ${told.join()}, and not ${wanted.join()}`);
    for (const id of told) {
      history.count("pauses by failures");
      schedules.set(id, Number.POSITIVE_INFINITY);
    }
  };

  const ends = (paused: Map<string, number>, name: string, now: number): void => {
    const until = paused.get(name);
    paused.delete(name);
    history.count("ends of pauses");
    if (until === undefined) history.violate(`the pause of ${name} ends, and there is none`);
    else if (until > now) history.violate(`the pause of ${name} until ${until} ends at ${now}`);
    else if (until > healedAt && clock.now() > until + LATE_MS_MAX) {
      history.violate(`the pause of ${name} until ${until} ends as late as ${clock.now()}`);
    }
  };

  const onStep = ({ releases, plans, now, recover }: CommitRequest, report: CommitReport): void => {
    const finished = releases.filter((release, place) => {
      if (release.kind !== "finish" || report.releases[place] !== "released") return false;
      return onEnd(release.jobId, release.result.scheduleId, release.result.outcome);
    });
    const results = releases.flatMap((release, place) =>
      release.kind === "finish" && report.releases[place] === "released" ? [release.result] : [],
    );
    noteFailures([...results, ...report.ended]);
    const counts = finished.length + onEnds(report) > 0;
    onPaused(report.pausedSchedules, counts || recover ? failing() : []);
    const { schedules: ended = [], tasks: endedTasks = [] } = report.endedPauses ?? {};
    for (const { id } of ended) {
      ends(schedules, id, now);
      failures.set(id, 0);
    }
    for (const { taskId, key } of endedTasks) ends(tasks, nameOf(taskId, key), now);
    for (const [place, { overlap, addedJobIds }] of report.plans.entries()) {
      const isCounted = run.pauseAfterFailuresOf(plans[place]?.scheduleId ?? "") !== null;
      for (const id of addedJobIds) if (isCounted) open.add(id);
      for (const { jobId } of overlap?.replaced ?? []) open.delete(jobId);
    }
  };

  const onSchedule = (record: ScheduleRecord | null): void => {
    if (record === null) return;
    const { id, paused, pausedUntil = Number.POSITIVE_INFINITY } = record;
    known.add(id);
    if (!paused && schedules.delete(id)) failures.set(id, 0);
    if (paused) schedules.set(id, pausedUntil);
  };

  const until = (): { readonly until?: Date } =>
    random.chance(0.7) ? { until: new Date(clock.now() + random.int(1000, 5000)) } : {};

  const pauseSchedule = (process: OperatedProcess, options: { readonly until?: Date }): void => {
    const id = random.pick(run.scheduleIds);
    void run.attempt(
      process,
      `pauseSchedule ${id} ${JSON.stringify(options)}`,
      (scheduler) => scheduler.pauseSchedule(id, options),
      ["options"],
    );
  };

  const pauseTask = (process: OperatedProcess, options: { readonly until?: Date; readonly key?: string }): void => {
    void run.attempt(
      process,
      `pauseTask ${JSON.stringify(options)}`,
      (scheduler) => scheduler.pauseTask(run.taskId, options),
      ["options", "taskLookup"],
    );
  };

  const unpauseTask = (process: OperatedProcess, key: { readonly key?: string }): void => {
    void run.attempt(
      process,
      `unpauseTask ${JSON.stringify(key)}`,
      (scheduler) => scheduler.unpauseTask(run.taskId, key),
      ["taskLookup"],
    );
  };

  return {
    weight: 3,
    act: (process) => {
      const kind = random.pick(["schedule", "schedule", "task", "unpauseSchedule", "unpauseTask"] as const);
      const key = random.chance(0.3) ? { key: "key" } : {};
      const id = random.pick(run.scheduleIds);
      if (kind === "schedule") pauseSchedule(process, until());
      else if (kind === "task") pauseTask(process, { ...until(), ...key });
      else if (kind === "unpauseTask") unpauseTask(process, key);
      else void run.attempt(process, `unpauseSchedule ${id}`, (scheduler) => scheduler.unpauseSchedule(id));
    },
    onEffect: (method, args, answer) => {
      if (method === "commit") onStep(args[0] as CommitRequest, answer as CommitReport);
      else if (method === "giveUpLeases") {
        noteFailures((answer as RecoveryReport).ended);
        onEnds(answer as RecoveryReport);
      } else if (method === "updateSchedules") for (const one of answer as (ScheduleRecord | null)[]) onSchedule(one);
      else if (method === "addSchedules") {
        const report = answer as ScheduleAdditionReport;
        if (report.conflicts === null) for (const { schedule } of report.results) onSchedule(schedule);
      } else if (method === "removeSchedules") {
        for (const [place, { id }] of (args[0] as { readonly id: string }[]).entries()) {
          if ((answer as boolean[])[place] !== true) continue;
          for (const facts of [schedules, failures, known, lastFailures]) facts.delete(id);
        }
      } else if (method === "pauseTask" && answer === true) {
        const { taskId, key, paused, until = Number.POSITIVE_INFINITY } = args[0] as TaskPauseRequest;
        if (paused) tasks.set(nameOf(taskId, key), until);
        else tasks.delete(nameOf(taskId, key));
      }
    },
    heal: (process) => {
      healedAt = clock.now();
      for (const [name, until] of tasks) {
        if (until === Number.POSITIVE_INFINITY)
          unpauseTask(process, name === nameOf(run.taskId, null) ? {} : { key: "key" });
      }
      // What others do to heal has been done by then.
      void clock.sleep(healedAt + 100).then(() => {
        const soon = { until: new Date(healedAt + 1500) };
        pauseSchedule(process, soon);
        pauseTask(process, soon);
      });
    },
    checkAtRest: async () => {
      for (const id of run.scheduleIds) {
        const { paused: isPaused = false, lastFailure } = (await store.getSchedule(id)) ?? {};
        const last = lastFailures.get(id) ?? [];
        const isRight = last.length === 0 ? lastFailure === undefined : last.includes(lastFailure?.jobId ?? "");
        if (!isRight) history.violate(`the last failure of ${id} is ${lastFailure?.jobId}, not ${last.join(" or ")}`);
        if (isPaused !== schedules.has(id)) history.violate(`${id} is ${isPaused ? "" : "not "}paused`);
      }
      const found = (await store.getTaskPauses()).map(({ taskId, key }) => nameOf(taskId, key)).sort();
      const wanted = [...tasks.keys()].sort();
      if (found.join() !== wanted.join()) history.violate(`${found.join()} are paused, and not ${wanted.join()}`);
      for (const [name, until] of [...schedules, ...tasks]) {
        if (until < clock.now() - LATE_MS_MAX) history.violate(`the pause of ${name} until ${until} never ended`);
      }
    },
  };
}

function nameOf(taskId: string, key: string | null): string {
  return key === null ? taskId : `key ${key} of ${taskId}`;
}
