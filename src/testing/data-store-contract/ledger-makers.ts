import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { AuditRecord, OccurrenceRecord, Skip } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { Ledger, OccurrenceRecordFilter } from "../../stores/contract/ledger-types.ts";
import type { DataStore, LookedSchedule, PlannedJob } from "../../stores/data-store.ts";
import { present } from "./assert.ts";
import type { DataStoreCase, DataStoreContext } from "./contract-case.ts";
import { add, commit, finish, fireOf, LEASE_MS, look, makeSchedule, planOf, release, T0 } from "./makers.ts";

// Makers for the cases about what a store remembers.

export const DAY_MS = 86_400_000;

/** Who makes the changes of the cases, and when. */
export const NOTE: AuditRecord = { at: T0, by: "somebody" };

/** A case that a store without a ledger need not keep. */
export function ledgerCase(
  rules: readonly string[],
  name: string,
  body: (store: DataStore, ledger: Ledger, context: DataStoreContext) => Promise<void>,
): DataStoreCase {
  return {
    name,
    rules,
    async run(context) {
      const store = await context.open();
      const { ledger } = store;
      if (ledger === undefined) context.skip?.("the store has no ledger");
      else if (ledger === null) context.skip?.("the ledger of the store is off");
      else await body(store, ledger, context);
    },
  };
}

/** Adds a schedule, and returns it as a planner sees it, who looks as late as need be. */
export async function dueSchedule(
  store: DataStore,
  fields: Partial<ScheduleRecord> = {},
  note?: AuditRecord,
): Promise<LookedSchedule> {
  const schedule = makeSchedule(fields);
  await store.addSchedules(add(schedule), note);
  return seenAgain(store, schedule.id);
}

/** A schedule as a planner sees it, who looks as late as need be. */
export async function seenAgain(store: DataStore, id = "schedule"): Promise<LookedSchedule> {
  const { due } = await look(store, { schedules: { dueBy: T0 + 1000 * DAY_MS } });
  return present(
    due.find((schedule) => schedule.id === id),
    `the schedule ${id}, not paused, and with a fire time`,
  );
}

/** Lets a schedule make a job for each of the fire times, in one plan whose last fire time is now. */
export async function fireAt(
  store: DataStore,
  schedule: LookedSchedule,
  fireTimes: readonly number[],
  fields: Partial<PlannedJob> = {},
): Promise<void> {
  const last = fireTimes.at(-1) ?? schedule.nextFireTime;
  const fires = fireTimes.map((time) => fireOf(schedule.id, time, { jobId: jobIdAt(time, schedule.id), ...fields }));
  const plan = planOf(schedule, { fires, nextFireTime: last + 1000, lastFireTime: last });
  await commit(store, { now: Math.max(last, T0), jobs: null, plans: [plan] });
}

/** The id of the job of a fire time. */
export function jobIdAt(fireTime: number, scheduleId = "schedule"): string {
  return `${scheduleId} at ${fireTime - T0}`;
}

/** Lets a new schedule fire at T0, and acquires its job. */
export async function runningJob(
  store: DataStore,
  fields: Partial<ScheduleRecord> = {},
  fire: Partial<PlannedJob> = {},
): Promise<JobRecord> {
  const schedule = await dueSchedule(store, fields);
  await fireAt(store, schedule, [T0], { createdAt: T0 + 1, ...fire });
  return taken(store, jobIdAt(T0, schedule.id));
}

/** Acquires all jobs that are due, and returns the one with this id. */
export async function taken(store: DataStore, id: string, now: number = T0 + 2000): Promise<JobRecord> {
  const { acquired } = await commit(store, { now, recover: true, until: now + LEASE_MS });
  return present(
    acquired.find((job) => job.id === id),
    `the job ${id}, which is due`,
  );
}

/** Ends a job that is blocked, at the time that the result says. */
export async function end(store: DataStore, job: JobRecord, fields: Partial<JobResultRecord> = {}): Promise<void> {
  const { finishedAt: now = T0 + 2005, expiresAt = now + DAY_MS } = fields;
  await release(store, [finish(job, { startedAt: T0 + 2001, finishedAt: now, expiresAt, ...fields })], { now });
}

/** The entry of a job that ended as {@link end} ends it. */
export function runOf(job: JobRecord, fields: Partial<OccurrenceRecord & { kind: "run" }> = {}): OccurrenceRecord {
  const fireTime = present(job.fireTime, "a fire time");
  return {
    kind: "run",
    fireTime,
    scheduledFireTime: job.scheduledFireTime ?? fireTime,
    jobId: job.id,
    outcome: "success",
    createdAt: job.createdAt,
    startedAt: T0 + 2001,
    finishedAt: T0 + 2005,
    attempts: 1,
    isKeyed: false,
    ...fields,
  };
}

/** What few fire times became that made no job. */
export function makeSkip(from: number, fields: Partial<Skip> = {}): Skip {
  return { from, until: from, verdict: "overCount", count: 1, into: null, ...fields };
}

/** The entry of a skip. */
export function skipOf(from: number, fields: Partial<Skip> = {}): OccurrenceRecord {
  return { kind: "skip", ...makeSkip(from, fields) };
}

/** All entries of a schedule, or those of a filter, in one page. */
export async function entriesOf(
  ledger: Ledger,
  fields: Partial<OccurrenceRecordFilter> = {},
): Promise<readonly OccurrenceRecord[]> {
  return (await ledger.getOccurrences(filterOf(fields))).items;
}

export function filterOf(fields: Partial<OccurrenceRecordFilter> = {}): OccurrenceRecordFilter {
  const window = { from: T0 - 1000 * DAY_MS, until: T0 + 1000 * DAY_MS };
  return { scheduleId: "schedule", ...window, order: "oldest", limit: 1000, cursor: null, ...fields };
}

/** All changes of the schedule of the cases. */
export const CHANGES = { scheduleId: "schedule", order: "oldest", limit: 1000, after: null } as const;
/** All pauses of the task of the cases. */
export const TASK_PAUSES = { taskId: "task", order: "oldest", limit: 1000, after: null } as const;

/** Cleans up so often, once a day, that nothing can be left that is to be removed. */
export async function cleanUp(store: DataStore, from: number, days = 40): Promise<void> {
  for (let day = 0; day < days; day++) await store.cleanup({ now: from + day * DAY_MS, limit: 1000 });
}
