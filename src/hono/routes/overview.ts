import { instantText } from "../../core/temporal.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import type { SchedulerHealth } from "../../scheduler/views/health.ts";
import { type Plain, plain } from "../../scheduler/views/plain.ts";
import type { Run } from "../../scheduler/views/run.ts";
import type { OverviewAnswer, OverviewRun } from "../api.ts";
import type { Show } from "../show.ts";
import { shownStats } from "./results.ts";
import { withFires } from "./schedules.ts";

/** Most schedules, failures and groups of failures of an overview. */
const SHOWN_MAX = 10;
/** Most runs that are under way, runs that ended in the last hour, and fire times to come. */
const RUNNING_MAX = 50;
const ENDED_MAX = 200;
const COMING_MAX = 100;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How everything is. Each part reads a bounded number of rows, however many schedules and results there are. */
export async function overviewOf(client: SchedulerClient, now: number, show: Show): Promise<OverviewAnswer> {
  const health = shownHealth(await client.health());
  const { checkedAt, isStoreReached, oldestDueJob, oldestDueSchedule, backlog, schedulers, pausedTasks } = health;
  const sum = (count: (task: (typeof backlog)[number]) => number) =>
    backlog.reduce((total, task) => total + count(task), 0);
  const isCapped = (state: "waiting" | "blocked") => backlog.some((task) => task[state].isCapped);
  return {
    checkedAt,
    isStoreReached,
    counts: {
      queued: { count: sum(({ waiting, blocked }) => waiting.count - blocked.count), isCapped: isCapped("waiting") },
      blocked: { count: sum(({ blocked }) => blocked.count), isCapped: isCapped("blocked") },
      running: sum(({ running }) => running),
      schedulers: schedulers.length,
      pausedTasks: pausedTasks.length,
    },
    oldestDueJob,
    oldestDueSchedule,
    pausedTasks,
    unhandledTasks: health.unhandledTasks,
    backloggedSchedules: health.backloggedSchedules,
    overdueOccurrences: health.overdueOccurrences,
    overdueCount: health.overdueCount,
    schedulers,
    ...(isStoreReached ? await listsOf(client, now, show) : NO_LISTS),
  };
}

type Lists = Pick<
  OverviewAnswer,
  "stats" | "runs" | "coming" | "nextFires" | "failures" | "failureGroups" | "failingSchedules" | "blackouts"
>;

const NO_LISTS: Lists = Object.freeze({
  ...{ stats: null, runs: [], coming: [], nextFires: [] },
  ...{ failures: [], failureGroups: [], failingSchedules: [], blackouts: [] },
});

async function listsOf(client: SchedulerClient, now: number, show: Show): Promise<Lists> {
  const [hourAgo, dayAgo] = [instantText(now - HOUR_MS), instantText(now - DAY_MS)];
  const [running, ended, coming, failures, groups, failing, stats, blackouts] = await Promise.all([
    client.getRuns({ state: "running", limit: RUNNING_MAX }),
    client.getRuns({ state: "ended", from: hourAgo, limit: ENDED_MAX }),
    client.getSchedules({ state: "active", sort: "nextFireTime", limit: COMING_MAX, include: { next: 1 } }),
    client.getJobResults({ outcome: "error", limit: SHOWN_MAX }),
    client.getFailures({ from: dayAgo, limit: SHOWN_MAX }),
    client.getSchedules({ state: "failing", limit: SHOWN_MAX }),
    client.getStats(),
    client.getBlackouts(),
  ]);
  const { schedule } = show.listed();
  return {
    stats: shownStats(stats),
    runs: [...running.items, ...ended.items].map(runOf),
    coming: coming.items.flatMap(({ id: scheduleId, taskId, nextFireTime }) =>
      nextFireTime === null ? [] : [{ scheduleId, taskId, fireTime: instantText(nextFireTime.epochMilliseconds) }],
    ),
    nextFires: coming.items.slice(0, SHOWN_MAX).map((one) => withFires(one, schedule(one))),
    failures: failures.items.map(show.listed().result),
    failureGroups: groups.groups.map(plain),
    failingSchedules: failing.items.map(schedule),
    blackouts: blackouts.filter(({ until }) => until === null || until.epochMilliseconds > now).map(plain),
  };
}

function runOf(run: Run): OverviewRun {
  const { id, taskId, scheduleId, state, outcome, runAt, scheduledFireTime, ...times } = plain(run);
  const { startedAt, finishedAt, lateness, runTime, progress, progressNote } = times;
  const dueAt = scheduledFireTime ?? runAt;
  return {
    ...{ id, taskId, scheduleId, state, outcome, dueAt, startedAt, finishedAt, lateness, runTime },
    ...{ progress, progressNote },
  };
}

/** The message of the database says more than a caller needs, such as its address. */
export function shownHealth(health: SchedulerHealth): Plain<SchedulerHealth> {
  const shown = plain(health);
  if (shown.storeError === null) return shown;
  const { name, code } = shown.storeError;
  const storeError = { name, message: "the store cannot be reached", ...(code === undefined ? {} : { code }) };
  return { ...shown, storeError };
}
