import type { BlackoutRecord } from "../../records/blackout.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { OccurrenceRunRecord, TaskPauseRecord, UptimeRecord } from "../../records/ledger.ts";
import { JOB_OUTCOMES } from "../../records/policies.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";
import type { DataStore, TaskPause } from "../../stores/data-store.ts";
import type { Finding } from "./finding.ts";
import { CHANGES_READ_MAX, UPTIMES_BEFORE_MS } from "./limits.ts";

/** What may tell why a verdict is what it is. What was not read is empty. */
export interface Evidence {
  /** The result of the job, if it is kept. */
  readonly result: JobResultRecord | null;
  /** When the fire times that were due together were processed; null where that is not known. */
  readonly processedAt: number | null;
  /** The uptimes of schedulers around the wait; null where it was not asked for them. */
  readonly uptimes: readonly UptimeRecord[] | null;
  /** Pauses of the task, the oldest first. */
  readonly pauses: readonly TaskPauseRecord[];
  /** What is paused now. */
  readonly pausedNow: readonly TaskPause[];
  /** The runs of the schedule before the fire time, the newest first. */
  readonly earlierRuns: readonly OccurrenceRunRecord[];
  /** Unfinished jobs that came before: of the schedule; of a job that waits, and of one that was replaced, those that
   *  run, of its task if there are any. The oldest first. */
  readonly unfinished: readonly JobRecord[];
  /** The blackouts that there are. */
  readonly blackouts: readonly BlackoutRecord[];
}

const NO_EVIDENCE: Evidence = Object.freeze({
  result: null,
  processedAt: null,
  uptimes: null,
  pauses: [],
  pausedNow: [],
  earlierRuns: [],
  unfinished: [],
  blackouts: [],
});

/** Who is asked, and about what. */
export interface Inquiry {
  readonly store: DataStore;
  /** Null where the store has none. */
  readonly ledger: Ledger | null;
  readonly scheduleId: string;
  readonly taskId: string;
  readonly now: number;
}

/** How many runs before a fire time may have been unfinished then. */
const EARLIER_RUNS_MAX = 20;

/** Among how many running jobs one is looked for that has the place of another. */
const RUNNING_MAX = 100;

/** Reads what the cause of a verdict needs: with at most four requests to the store. */
export async function evidenceFor(inquiry: Inquiry, finding: Finding, isLate: boolean): Promise<Evidence> {
  const { store, ledger, now } = inquiry;
  const { verdict, run, skip, job, fireTime } = finding;
  switch (verdict) {
    case "error":
    case "deserializationFailed":
    case "abandoned":
      return { ...NO_EVIDENCE, result: run === null ? null : await store.getJobResult(run.jobId, now) };
    case "success":
    case "misfired": {
      if (run === null || !isLate) return NO_EVIDENCE;
      const until = run.startedAt ?? run.finishedAt;
      const [uptimes, pauses] = await Promise.all([uptimesIn(ledger, fireTime, until), pausesOf(inquiry)]);
      return { ...NO_EVIDENCE, uptimes, pauses };
    }
    case "coalesced": {
      const processedAt = skip === null ? null : await processingOf(inquiry, skip.into, skip.until);
      const into = skip?.into ?? fireTime;
      const until = Math.max(processedAt ?? now, fireTime, into);
      const [uptimes, pauses] = await Promise.all([
        uptimesIn(ledger, Math.min(fireTime, into), until),
        pausesOf(inquiry),
      ]);
      return { ...NO_EVIDENCE, processedAt, uptimes, pauses };
    }
    case "tooOld":
    case "overCount": {
      const processedAt = skip === null ? null : await processingOf(inquiry, skip.into, skip.until);
      return { ...NO_EVIDENCE, processedAt, uptimes: await uptimesIn(ledger, fireTime, processedAt ?? now) };
    }
    case "overlapSkipped":
      return { ...NO_EVIDENCE, ...(await runsBefore(inquiry, fireTime)) };
    case "waiting": {
      const uptimes = uptimesIn(ledger, fireTime, now);
      if (job === null) return { ...NO_EVIDENCE, uptimes: await uptimes };
      const asked = [uptimes, pausesOf(inquiry), store.getTaskPauses(), runningBefore(inquiry, {})] as const;
      const [known, pauses, pausedNow, running] = await Promise.all(asked);
      const ofTask = running.filter(({ taskId }) => taskId === inquiry.taskId);
      const unfinished = ofTask.length > 0 ? ofTask : running;
      return { ...NO_EVIDENCE, uptimes: known, pauses, pausedNow, unfinished };
    }
    case "replaced": {
      const running = await runningBefore(inquiry, { scheduleId: inquiry.scheduleId });
      return { ...NO_EVIDENCE, unfinished: running.filter((one) => (one.fireTime ?? fireTime) < fireTime) };
    }
    case "upcoming": {
      const asked = [pausesOf(inquiry), store.getTaskPauses(), store.getBlackouts()] as const;
      const [pauses, pausedNow, { items: blackouts }] = await Promise.all(asked);
      return { ...NO_EVIDENCE, pauses, pausedNow, blackouts };
    }
    case "blackedOut":
      return { ...NO_EVIDENCE, blackouts: (await store.getBlackouts()).items };
    default:
      return NO_EVIDENCE;
  }
}

async function uptimesIn(ledger: Ledger | null, from: number, until: number): Promise<readonly UptimeRecord[] | null> {
  // The uptime before tells since when nobody was up.
  return ledger === null ? null : ledger.getUptimes({ from: from - UPTIMES_BEFORE_MS, until });
}

async function pausesOf({ ledger, taskId }: Inquiry): Promise<readonly TaskPauseRecord[]> {
  const newest = await ledger?.getTaskPauseHistory({ taskId, order: "newest", limit: CHANGES_READ_MAX, after: null });
  return [...(newest ?? [])].reverse();
}

/** When the fire times of a skip were processed: their job, or the next one, was made then. */
async function processingOf(inquiry: Inquiry, into: number | null, until: number): Promise<number | null> {
  const { ledger, scheduleId, now } = inquiry;
  if (ledger === null) return null;
  const from = into ?? until + 1;
  const verdicts = JOB_OUTCOMES;
  const filter = { scheduleId, from, until: into ?? now, verdicts, order: "oldest", limit: 1, cursor: null } as const;
  const [{ items }, job] = await Promise.all([
    ledger.getOccurrences(filter),
    into === null ? null : ledger.getJobOfFireTime(scheduleId, into),
  ]);
  const [entry] = items;
  return entry?.kind === "run" ? entry.createdAt : (job?.createdAt ?? null);
}

async function runningBefore({ store }: Inquiry, of: { readonly scheduleId?: string }): Promise<JobRecord[]> {
  const running = { ...of, state: "running", sort: "runAt", limit: RUNNING_MAX, cursor: null } as const;
  return (await store.getJobs(running)).items;
}

async function runsBefore(
  { store, ledger, scheduleId }: Inquiry,
  fireTime: number,
): Promise<Pick<Evidence, "earlierRuns" | "unfinished">> {
  if (ledger === null) return NO_EVIDENCE;
  const bounds = { scheduleId, from: Number.MIN_SAFE_INTEGER, until: fireTime - 1 };
  const [{ items }, unfinished] = await Promise.all([
    ledger.getOccurrences({ ...bounds, order: "newest", limit: EARLIER_RUNS_MAX, cursor: null }),
    store.getJobs({ scheduleId, limit: EARLIER_RUNS_MAX, cursor: null }),
  ]);
  return { earlierRuns: items.filter((entry) => entry.kind === "run"), unfinished: unfinished.items };
}
