import { backfillIdOf } from "../../records/backfill.ts";
import type { BlackoutRecord } from "../../records/blackout.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobSleep } from "../../records/job-step.ts";
import type { OccurrenceRunRecord, ScheduleChangeRecord, UptimeRecord } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { CLOCK_TOLERANCE_MS, UPTIMES_PER_ANSWER_MAX } from "../../stores/shared/limits.ts";
import { BlackoutWindows, isAbout } from "../../triggers/blackout-windows.ts";
import type { Cause, PauseCause } from "../views/explanation.ts";
import { reasonOf } from "../views/job-error.ts";
import type { Evidence } from "./evidence.ts";
import { type Finding, isRunning } from "./finding.ts";
import { LATE_MS } from "./limits.ts";
import type { PeriodState, RuleHistory } from "./rule-history.ts";
import { gapsBetween, isMost, lengthWithin, type Span, schedulePauses, taskPauses } from "./spans.ts";

export type CauseFacts = Cause<number>;

/** What the cause of a verdict is looked for in. */
export interface Case {
  readonly now: number;
  readonly finding: Finding;
  readonly evidence: Evidence;
  readonly history: RuleHistory;
  readonly schedule: ScheduleRecord | null;
  /** What the schedule was at the fire time. */
  readonly state: PeriodState;
  readonly ledger: LedgerFacts | null;
}

/** What the ledger says of itself. */
interface LedgerFacts {
  readonly ageMsMax: number;
  /** From when on it has all fire times of the schedule; null for nothing. */
  readonly start: number | null;
}

/** Whether a job began so late that it needs a cause. A backfill is a cause by itself. */
export function isLate(run: OccurrenceRunRecord | null): boolean {
  return (
    run !== null &&
    backfillIdOf(run.jobId) === null &&
    (run.startedAt ?? run.finishedAt) - run.scheduledFireTime > LATE_MS
  );
}

/** Why a verdict is what it is; null when there is nothing more to say. */
export function causeOf(one: Case): CauseFacts | null {
  const { finding, evidence } = one;
  const { verdict, run, skip, job } = finding;
  const backfillId = run === null ? null : backfillIdOf(run.jobId);
  switch (verdict) {
    case "success":
      if (backfillId !== null) return { kind: "backfill", backfillId };
      if (run !== null && run.attempts > 1) return { kind: "retried", attempts: run.attempts };
      return run === null || !isLate(run) ? null : causeOfLateness(one, run);
    case "misfired":
      return run === null ? null : causeOfLateness(one, run);
    case "error":
    case "deserializationFailed": {
      const { name = null, message = null, code = null } = evidence.result?.error ?? {};
      return { kind: "error", name, message, code };
    }
    case "declined":
      return { kind: "declined", reason: run?.reason ?? null };
    case "abandoned": {
      const reason = evidence.result === null ? null : reasonOf(evidence.result);
      return { kind: "lost", attempts: run?.attempts ?? 0, message: reason?.message ?? null };
    }
    case "cancelled":
      return isCancelledByNext(one) ? { kind: "policy", option: "overlap" } : null;
    case "coalesced":
      return causeOfMissing(one) ?? causeOfMissedTurn(one) ?? { kind: "policy", option: "coalesce" };
    case "tooOld":
      return causeOfMissing(one) ?? { kind: "policy", option: "catchUp.maxAge" };
    case "overCount":
      return causeOfMissing(one) ?? { kind: "policy", option: "catchUp.maxCount" };
    case "overlapSkipped":
      return unfinishedRun(one);
    case "paused":
      return causeOfPause(one);
    case "blackedOut":
      return blackoutOf(one) ?? { kind: "blackout", id: null, reason: null, by: null, until: null, missed: null };
    case "replaced":
      if (skip?.into == null) return changeOver(one, "changed");
      return evidence.unfinished.length > 0 ? unfinishedRun(one) : { kind: "policy", option: "overlap" };
    case "removed":
      return changeOver(one, "removed");
    case "waiting":
      if (job === null) return causeOfMissing(one, one.now);
      if (isRunning(job)) {
        const isLost = (job.acquiredUntil ?? one.now) <= one.now;
        return isLost ? { kind: "lost", attempts: job.failedAttempts + job.recoveries + 1, message: null } : null;
      }
      if (job.runAt > one.now) {
        if (job.sleep !== undefined && isAsleep(job, job.sleep)) {
          return { kind: "sleeps", step: job.sleep.step, until: job.runAt };
        }
        if (job.failedAttempts > 0) return { kind: "retried", attempts: job.failedAttempts };
        return job.runAt > (job.scheduledFireTime ?? job.runAt) ? { kind: "policy", option: "catchUp.pace" } : null;
      }
      return causeOfWait(one, { from: Math.max(job.runAt, job.createdAt), until: one.now }, job.blockedBy === "limit");
    case "upcoming":
      if (one.schedule?.paused === true) return causeOfPause(one);
      return blackoutOf(one) ?? pausedNow(one);
    case "unrecorded":
      return causeOfNothing(one);
    default:
      return verdict satisfies never;
  }
}

/** The blackout that contains the fire time; one that makes up for nothing, if there is one. Null for none. */
function blackoutOf({ finding, evidence, schedule, state }: Case): CauseFacts | null {
  const of = { ...schedule, taskId: state.taskId };
  const found = evidence.blackouts.filter((record) => isAbout(record, of)).flatMap(readWindows);
  const within = found.flatMap((windows) => {
    const window = windows.at(finding.fireTime);
    return window === null ? [] : { record: windows.record, until: window.until };
  });
  const one = within.find(({ record }) => record.missed === "skip") ?? within[0];
  if (one === undefined) return null;
  const { id, reason, by, missed } = one.record;
  return { kind: "blackout", id, reason, by, until: one.until, missed };
}

/** The windows of a blackout; none for one whose trigger cannot be read here. */
function readWindows(record: BlackoutRecord): BlackoutWindows[] {
  try {
    return [new BlackoutWindows(record)];
  } catch {
    return [];
  }
}

/** Whether a job that waits for its `runAt` does so because it sleeps, and not because it failed after that. */
function isAsleep({ attemptHistory }: JobRecord, { step, snoozes }: JobSleep): boolean {
  return step !== null || (snoozes > 0 && attemptHistory === undefined);
}

/** Why a job began late: it was made late, or it waited. */
function causeOfLateness(one: Case, run: OccurrenceRunRecord): CauseFacts | null {
  const { scheduledFireTime: due, createdAt, isKeyed } = run;
  const began = run.startedAt ?? run.finishedAt;
  const made = Math.max(0, createdAt - due);
  const waited = Math.max(0, began - Math.max(createdAt, due));
  const making = () => (made === 0 ? null : causeOfMissing(one, createdAt));
  const waiting = () =>
    waited === 0 ? null : causeOfWait(one, { from: Math.max(createdAt, due), until: began }, isKeyed);
  return made >= waited ? (making() ?? waiting()) : (waiting() ?? making());
}

/** Why a job had not started when another fire time came. */
function causeOfMissedTurn(one: Case): CauseFacts | null {
  const { fireTime, skip } = one.finding;
  const into = skip?.into ?? fireTime;
  const until = Math.max(fireTime, into);
  // One that was processed late had no job that could have waited.
  const isLate = (one.evidence.processedAt ?? until) > until + LATE_MS;
  return isLate || into === fireTime ? null : causeOfWait(one, { from: Math.min(fireTime, into), until }, false);
}

/** Why nobody processed a fire time until an instant. */
function causeOfMissing(
  { now, finding, evidence, history }: Case,
  processedAt = evidence.processedAt,
): CauseFacts | null {
  const reached = Math.max(processedAt ?? 0, finding.skip?.until ?? 0);
  if (reached > now + CLOCK_TOLERANCE_MS) return { kind: "clockAhead", at: reached };
  if (processedAt === null) return null;
  const wait = { from: finding.fireTime, until: processedAt };
  const pause = schedulePauses(history.changes).find((one) => lengthWithin([one], wait) > 0);
  if (pause !== undefined && isMost([pause], wait)) return schedulePaused(pause.change);
  const added = history.changes.findLast(({ kind, at }) => kind === "added" && at <= processedAt);
  if (added !== undefined && added.at > finding.fireTime) return { kind: "added", by: added.by, at: added.at };
  return nobodyUp(evidence.uptimes, wait, "scheduler", now, finding.skip?.from);
}

/** Why a job that was due waited. @param isBlocked whether admission may have blocked it */
function causeOfWait(one: Case, wait: Span, isBlocked: boolean): CauseFacts | null {
  const { now, evidence, state } = one;
  const { taskId } = state;
  const key = keyOf(state);
  const present = wait.until === now ? pausedNow(one) : null;
  if (present !== null) return present;
  const paused = taskPauses(evidence.pauses, key).find((pause) => isMost([pause], wait));
  if (paused !== undefined) {
    const { change } = paused;
    return { kind: "taskPaused", key: change?.key ?? null, ...pauseCause(change, change?.until, change?.reason) };
  }
  if (isBlocked) return { kind: "blocked", concurrencyKey: key };
  const { uptimes } = evidence;
  const workers = (uptimes ?? []).filter(
    (uptime) => uptime.role !== "scheduler" && uptime.since < wait.until && uptime.until > wait.from,
  );
  const isUnable = workers.length > 0 && workers.every(({ tasks }) => !tasks.includes(taskId));
  // Ticks that find no job for their handlers leave no trace, so that those which did tell of the others.
  const hasOnlyTicks = workers.every(({ isResident }) => !isResident);
  const nobody = isUnable && hasOnlyTicks ? null : nobodyUp(uptimes, wait, "worker", now);
  if (nobody !== null) return nobody;
  if (isUnable) return { kind: "noHandler", taskId };
  if (wait.until - wait.from <= LATE_MS) return null;
  const [first] = wait.until === now ? evidence.unfinished : [];
  if (first === undefined) return { kind: "noSlot", taskId };
  return { kind: "unfinishedRun", fireTime: first.fireTime, jobId: first.id };
}

/** The longest time in which nobody was up, if nobody was for most of a wait. @param dueSince since when there was
 *  something to do, if that is before the wait */
function nobodyUp(
  uptimes: readonly UptimeRecord[] | null,
  wait: Span,
  lacks: "scheduler" | "worker",
  now: number,
  dueSince = wait.from,
): CauseFacts | null {
  if (uptimes === null) return null;
  const able = uptimes.filter(({ role }) => role !== (lacks === "scheduler" ? "worker" : "scheduler"));
  const known = knownPart(wait, uptimes);
  const gaps = gapsBetween(able, known);
  if (!isMost(gaps, known)) return null;
  const gap = gaps.reduce((best, one) => (lengthOf(one) > lengthOf(best) ? one : best));
  const isOver = gap.until < now || able.some(({ since }) => since === gap.until);
  return { kind: "nobodyUp", lacks, from: beginOf(gap, able, dueSince), until: isOver ? gap.until : null };
}

/** The part of a wait of which all uptimes are known: of very many uptimes, the store tells only the last. */
function knownPart(wait: Span, uptimes: readonly UptimeRecord[]): Span {
  const [oldest] = uptimes;
  const isCut = oldest !== undefined && uptimes.length >= UPTIMES_PER_ANSWER_MAX;
  return isCut ? { ...wait, from: Math.max(wait.from, Math.min(oldest.since, wait.until)) } : wait;
}

/** Since when nobody was up, in a gap; null where that is not known. Ticks that found nothing to do left no trace, so
 *  that for certain nobody came only since there was something to do. */
function beginOf({ from }: Span, able: readonly UptimeRecord[], dueSince: number): number | null {
  const before = able.filter(({ until }) => until <= from);
  const [last] = before.sort((a, b) => b.until - a.until);
  if (last === undefined) return null;
  return last.isResident ? last.until : Math.max(last.until, Math.min(from, dueSince));
}

function lengthOf({ from, until }: Span): number {
  return until - from;
}

function pausedNow({ evidence, state }: Case): CauseFacts | null {
  const { taskId } = state;
  const key = keyOf(state);
  const now = evidence.pausedNow.find((pause) => pause.taskId === taskId && (pause.key === null || pause.key === key));
  if (now === undefined) return null;
  const record = evidence.pauses.findLast((pause) => pause.kind === "taskPaused" && pause.key === now.key);
  const { pausedBy: by = null, pausedUntil, pauseReason } = now;
  return { kind: "taskPaused", key: now.key, ...pauseCause(record ?? null, pausedUntil, pauseReason), by };
}

function keyOf({ settings }: PeriodState): string | null {
  return typeof settings.concurrencyKey === "string" ? settings.concurrencyKey : null;
}

/** By whom the schedule was paused when it passed the fire time, or is paused now. */
function causeOfPause({ finding, history }: Case): CauseFacts {
  const { changes } = history;
  // The change that moved the schedule over the fire time.
  const end = changes.findIndex(
    ({ before, effectiveFrom }) =>
      before?.paused === true && isOver(before.nextFireTime, finding.fireTime, effectiveFrom),
  );
  const known = end === -1 ? changes : changes.slice(0, end);
  return schedulePaused(schedulePauses(known).at(-1)?.change ?? null);
}

function schedulePaused(change: ScheduleChangeRecord | null): CauseFacts {
  if (change?.kind === "failed") return { kind: "triggerFailed", at: change.at };
  const { pausedUntil, pauseReason } = change?.after ?? {};
  return { kind: "schedulePaused", ...pauseCause(change, pausedUntil, pauseReason) };
}

function pauseCause(
  change: { readonly by: string | null; readonly at: number } | null,
  until: number | undefined,
  reason: string | undefined,
): PauseCause<number> {
  return { by: change?.by ?? null, at: change?.at ?? null, reason: reason ?? null, until: until ?? null };
}

/** The change that moved the schedule over a fire time. */
function changeOver({ finding, history }: Case, kind: "changed" | "removed"): CauseFacts | null {
  const { fireTime } = finding;
  const change = history.changes.find(
    (one) =>
      isOver(one.before?.nextFireTime ?? null, fireTime, one.effectiveFrom) &&
      (kind === "removed") === (one.kind === "removed"),
  );
  return change === undefined ? null : { kind, by: change.by, at: change.at };
}

function isOver(nextFireTime: number | null, fireTime: number, effectiveFrom: number): boolean {
  return nextFireTime !== null && nextFireTime <= fireTime && fireTime < effectiveFrom;
}

function unfinishedRun({ finding, evidence }: Case): CauseFacts {
  const { fireTime } = finding;
  const run = evidence.earlierRuns.find(({ finishedAt }) => finishedAt > fireTime);
  if (run !== undefined) return { kind: "unfinishedRun", fireTime: run.fireTime, jobId: run.jobId };
  const job = evidence.unfinished.find((one) => one.fireTime !== null && one.fireTime < fireTime);
  return { kind: "unfinishedRun", fireTime: job?.fireTime ?? null, jobId: job?.id ?? null };
}

/** Whether a later fire time cancelled the run. */
function isCancelledByNext({ finding, history, state }: Case): boolean {
  const { run } = finding;
  if (run === null || state.settings.overlap !== "cancelRunning") return false;
  const next = history.next(run.fireTime);
  return next !== null && next <= run.finishedAt;
}

function causeOfNothing({ finding, history, ledger, now }: Case): CauseFacts {
  const { fireTime } = finding;
  if (ledger === null || ledger.start === null) return { kind: "ledger", reason: "notKept" };
  if (fireTime >= ledger.start) return { kind: "ledger", reason: "unknown" };
  const [oldest] = history.changes;
  // A change that is known was written by a ledger.
  const wasKept = (oldest !== undefined && oldest.at <= fireTime) || fireTime < now - ledger.ageMsMax;
  return { kind: "ledger", reason: wasKept ? "removed" : "notKept" };
}
