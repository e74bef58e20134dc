import type { BlackoutRecord } from "../../../src/records/blackout.ts";
import type { BlackoutOptions } from "../../../src/scheduler/options/options.ts";
import type {
  BlackoutAdditionReport,
  CommitReport,
  CommitRequest,
  ScheduleAdditionReport,
  SchedulePlan,
} from "../../../src/stores/data-store.ts";
import { IntervalTrigger } from "../../../src/triggers/interval.ts";
import { parseTrigger } from "../../../src/triggers/parse-trigger.ts";
import type { Trigger } from "../../../src/triggers/trigger.ts";
import type { OperatedProcess, Operation, OperatorRun } from "./operators.ts";

const IDS = ["blackout0", "blackout1", "blackout2"] as const;

/** A blackout of the store, and where its windows begin; null for one that does not recur. */
interface Active {
  readonly record: BlackoutRecord;
  readonly trigger: Trigger | null;
}

/**
 * Operators add, replace and remove blackouts, once and recurring, of all schedules and of some. No fire time within one
 * makes a job, no job of a fire time is made before it, and what `runOnce` left out makes a job at the end.
 */
export function blackouts(run: OperatorRun): Operation {
  const { random, history } = run;
  const active = new Map<string, Active>();
  /** When the fire times that were left out are to be made up for, by schedule. */
  const owed = new Map<string, number>();
  const createdAt = new Map<string, number>();
  const commits = new Set<string>();

  const add = (process: OperatedProcess): void => {
    const id = random.pick(IDS);
    const from = run.clock.now() + random.int(-1500, 3000);
    const once = { from: new Date(from), until: new Date(from + random.int(1, 5000)) };
    const startTime = new Date(run.clock.now() - random.int(0, 5000));
    const trigger = new IntervalTrigger({ milliseconds: random.int(2500, 6000), startTime });
    const options: BlackoutOptions = {
      ...(random.chance(0.5) ? once : { trigger, duration: { milliseconds: random.int(300, 4000) } }),
      missed: random.pick(["skip", "runOnce"] as const),
      conflictPolicy: random.pick(["update", "replace", "doNothing"] as const),
      ...(random.chance(0.3) ? { labels: { team: random.pick(["a", "b"]) } } : {}),
      ...(random.chance(0.2) ? { taskIds: [random.pick([run.taskId, "another"])] } : {}),
    };
    void run.attempt(process, `addBlackout ${id} ${JSON.stringify(options)}`, (scheduler) =>
      scheduler.addBlackout(id, options),
    );
  };

  const remove = (process: OperatedProcess, ids: readonly string[]): void => {
    for (const id of ids) {
      void run.attempt(process, `removeBlackout ${id}`, (scheduler) => scheduler.removeBlackout(id));
    }
  };

  /** The blackouts of a schedule that have an instant within them, and when each ends. */
  const around = (scheduleId: string, at: number): { readonly record: BlackoutRecord; readonly until: number }[] =>
    [...active.values()].flatMap(({ record, trigger }) => {
      const { labels, taskIds } = record;
      if (taskIds?.includes(run.taskId) === false) return [];
      if (labels !== null && labels.team !== run.labelsOf(scheduleId)?.team) return [];
      const { from = null, until = null } = trigger === null ? record : windowOf(trigger, record.durationMs ?? 0, at);
      return from !== null && until !== null && from <= at && at < until ? [{ record, until }] : [];
    });

  /** When the blackouts around an instant end, and those that follow them at once. */
  const endOf = (scheduleId: string, at: number): number => {
    let end = at;
    for (let commits = 0; commits < 50; commits++) {
      const later = Math.max(end, ...around(scheduleId, end).map(({ until }) => until));
      if (later === end) break;
      end = later;
    }
    return end;
  };

  const onPlan = (plan: SchedulePlan, now: number): void => {
    const { scheduleId, fires, skips = [], nextFireTime, overlap } = plan;
    for (const { fireTime } of fires) {
      const [within] = around(scheduleId, fireTime);
      if (within !== undefined) {
        history.violate(`${scheduleId} fires at ${fireTime}, within ${JSON.stringify(within.record)}`);
      }
      if (fireTime > now) history.violate(`${scheduleId} fires at ${fireTime}, and it is ${now}`);
    }
    const due = owed.get(scheduleId);
    if (due !== undefined && (nextFireTime === null || nextFireTime > due)) {
      owed.delete(scheduleId);
      const isMadeUpFor = fires.some(({ fireTime }) => fireTime >= due);
      // A job that gives way to others, or comes too late, is none.
      const mayBeNone = overlap !== undefined || run.hasCatchUp(scheduleId) || plan.paused;
      if (!isMadeUpFor && !mayBeNone) history.violate(`nothing makes up for what blackouts of ${scheduleId} left out`);
      else history.count("ends of blackouts");
    }
    for (const { verdict, from, until } of skips) {
      if (verdict !== "blackedOut") continue;
      history.count("fire times blacked out");
      for (const at of [from, until]) {
        const within = around(scheduleId, at);
        if (within.length === 0) history.violate(`${scheduleId} leaves out ${at}, which is in no blackout`);
        const end = endOf(scheduleId, at);
        // What was due before is made up for if nothing else of the blackout follows.
        const isOwed = within.every(({ record }) => record.missed === "runOnce" && record.createdAt <= at);
        if (within.length > 0 && isOwed && end > now && at >= (createdAt.get(scheduleId) ?? at)) {
          owed.set(scheduleId, end);
        }
      }
    }
  };

  return {
    weight: 3,
    act: (process) => {
      const kind = random.pick(["add", "add", "add", "remove"] as const);
      if (kind === "add") add(process);
      else remove(process, [random.pick(IDS)]);
      // By another operator at once.
      if (random.chance(0.2)) add(random.pick(run.processes));
    },
    onEffect: (method, args, answer) => {
      if (method === "commit") {
        const { plans, now, commitId } = args[0] as CommitRequest;
        const report = answer as CommitReport;
        // A repetition tells what the first try did, when the blackouts may have been others.
        if (commits.has(commitId)) return;
        commits.add(commitId);
        for (const [place, plan] of plans.entries()) if (report.plans[place]?.committed) onPlan(plan, now);
      } else if (method === "addBlackout") {
        const { change, blackout: record } = answer as BlackoutAdditionReport;
        if (change === "conflict" || change === "full") return;
        active.set(record.id, { record, trigger: record.trigger === null ? null : parseTrigger(record.trigger) });
        if (change !== "kept") owed.clear();
      } else if (method === "removeBlackout" && answer !== null) {
        active.delete(args[0] as string);
        owed.clear();
      } else if (/^(add|update|remove)Schedules$/.test(method)) {
        owed.clear();
        if (method !== "addSchedules") return;
        const report = answer as ScheduleAdditionReport;
        for (const { schedule } of report.conflicts === null ? report.results : []) {
          createdAt.set(schedule.id, schedule.createdAt);
        }
      }
    },
    heal: (process) => {
      if (active.size > 0) remove(process, IDS);
    },
    checkAtRest: async () => {
      const { items } = await run.store.getBlackouts();
      if (items.length > 0) history.violate(`blackouts stay: ${items.map(({ id }) => id).join(", ")}`);
    },
  };
}

/** The first window that ends after an instant. */
function windowOf(
  trigger: Trigger,
  durationMs: number,
  at: number,
): { readonly from?: number; readonly until?: number } {
  const from = trigger.nextMs(at - durationMs);
  return from === null ? {} : { from, until: from + durationMs };
}
