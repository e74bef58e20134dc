import * as v from "valibot";
import { once } from "../../core/once.ts";
import { OVERDUE_KINDS } from "../../records/overdue.ts";
import { SchedulerHealth, type TaskWork } from "../../scheduler/views/health.ts";
import type { TaskBacklog } from "../../stores/data-store.ts";
import { pauseFacts } from "../../stores/shared/pauses.ts";
import { error, flag, instant, number, oneOf, orNull, text } from "./values.ts";

const overdue = once(() =>
  v.object({
    scheduleId: text(),
    taskId: text(),
    fireTime: instant(),
    kind: oneOf(OVERDUE_KINDS),
    dueAt: instant(),
    raisedAt: instant(),
    jobId: orNull(text()),
  }),
);

const paused = once(() =>
  v.pipe(
    v.object({
      taskId: text(),
      key: orNull(text()),
      until: orNull(instant()),
      reason: orNull(text()),
      by: orNull(text()),
    }),
    v.transform(({ taskId, key, until, reason, by }) => ({
      taskId,
      key,
      ...pauseFacts({ pausedUntil: until, pauseReason: reason, pausedBy: by }),
    })),
  ),
);

const counted = once(() => v.object({ count: number(), isCapped: flag() }));

/** What `SchedulerHealth.toJSON()` made, as it was. */
export const healthSchema: () => v.GenericSchema<unknown, SchedulerHealth> = once(() =>
  v.pipe(
    v.object({
      identity: text(),
      checkedAt: instant(),
      isStoreReached: flag(),
      storeError: orNull(error()),
      eventsShared: orNull(flag()),
      versions: v.nullable(v.object({ package: text(), schema: orNull(number()) })),
      latencyMs: orNull(number()),
      clockSkewMs: orNull(number()),
      storeWarnings: v.array(v.object({ code: text(), message: text() })),
      oldestDueJob: v.nullable(v.object({ id: text(), taskId: text(), runAt: instant() })),
      oldestDueSchedule: v.nullable(v.object({ id: text(), taskId: text(), nextFireTime: instant() })),
      backlog: v.array(v.object({ taskId: text(), waiting: counted(), blocked: counted(), running: number() })),
      pausedTasks: v.array(paused()),
      schedulers: v.array(
        v.object({
          identity: text(),
          role: oneOf(["both", "scheduler", "worker"]),
          isResident: flag(),
          tasks: v.array(text()),
          executors: v.array(text()),
          aliveUntil: instant(),
        }),
      ),
      backloggedSchedules: v.array(v.object({ scheduleId: text(), taskId: text(), unfinished: counted() })),
      overdueOccurrences: v.array(overdue()),
      overdueCount: counted(),
    }),
    v.transform(({ identity, checkedAt, isStoreReached, storeError, eventsShared, versions, ...facts }) => {
      const about = eventsShared === null || versions === null ? null : { eventsShared, versions };
      const { oldestDueJob, oldestDueSchedule, backlog, pausedTasks: pauses, ...same } = facts;
      const tasks = backlog.map(backlogOf);
      const { overdueOccurrences: open, overdueCount, ...known } = same;
      const overdue =
        open.length === 0
          ? {}
          : {
              overdue: {
                open,
                count: overdueCount.count,
                ...(overdueCount.isCapped ? { isCapped: true as const } : {}),
              },
            };
      const inspection = { tasks, oldestDueJob, oldestDueSchedule, ...overdue };
      const store = isStoreReached ? { ...known, latencyMs: known.latencyMs ?? 0, inspection, pauses } : null;
      return new SchedulerHealth(identity, checkedAt, store, storeError, about);
    }),
  ),
);

function backlogOf({ taskId, waiting, blocked, running }: TaskWork): TaskBacklog {
  return {
    taskId,
    waiting: waiting.count,
    blocked: blocked.count,
    running,
    ...(waiting.isCapped ? { isQueuedCapped: true } : {}),
    ...(blocked.isCapped ? { isBlockedCapped: true } : {}),
  };
}
