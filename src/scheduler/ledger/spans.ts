import type { ScheduleChangeRecord, TaskPauseRecord, UptimeRecord } from "../../records/ledger.ts";

/** A time, in epoch milliseconds; `until` is not part of it. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** The parts of a time that no uptime covers, in order. */
export function gapsBetween(uptimes: readonly UptimeRecord[], { from, until }: Span): Span[] {
  const gaps: Span[] = [];
  let covered = from;
  for (const uptime of [...uptimes].sort((a, b) => a.since - b.since)) {
    if (uptime.since >= until) break;
    if (uptime.since > covered) gaps.push({ from: covered, until: uptime.since });
    covered = Math.max(covered, uptime.until);
  }
  if (covered < until) gaps.push({ from: covered, until });
  return gaps;
}

/** How long spans are together, within another one. */
export function lengthWithin(spans: readonly Span[], { from, until }: Span): number {
  return spans.reduce((sum, span) => sum + Math.max(0, Math.min(span.until, until) - Math.max(span.from, from)), 0);
}

/** Whether spans take most of another one. */
export function isMost(spans: readonly Span[], of: Span): boolean {
  return of.until > of.from && lengthWithin(spans, of) * 2 >= of.until - of.from;
}

/** A pause, with the change that began it; null where it is not known. */
export interface Pause<Change> extends Span {
  readonly change: Change | null;
}

/** The pauses of a schedule. @param changes the oldest first */
export function schedulePauses(changes: readonly ScheduleChangeRecord[]): Pause<ScheduleChangeRecord>[] {
  const pauses: Pause<ScheduleChangeRecord>[] = [];
  const [oldest] = changes;
  const wasPaused = oldest?.before?.paused === true;
  let open = wasPaused ? pauseFrom<ScheduleChangeRecord>(Number.NEGATIVE_INFINITY, null) : null;
  for (const change of changes) {
    const isPaused = change.after?.paused === true;
    // The last word about a pause counts.
    if (isPaused && open === null) open = pauseFrom(change.at, change);
    else if (isPaused && open !== null && change.kind === "paused") open = { ...open, change };
    if (isPaused || open === null) continue;
    pauses.push({ ...open, until: change.at });
    open = null;
  }
  return open === null ? pauses : [...pauses, open];
}

/** The pauses of a task that concern a concurrency key. @param records the oldest first */
export function taskPauses(records: readonly TaskPauseRecord[], key: string | null): Pause<TaskPauseRecord>[] {
  return [null, ...(key === null ? [] : [key])].flatMap((one) => {
    const pauses: Pause<TaskPauseRecord>[] = [];
    const own = records.filter((record) => record.key === one);
    let open = own[0]?.kind === "taskUnpaused" ? pauseFrom<TaskPauseRecord>(Number.NEGATIVE_INFINITY, null) : null;
    for (const record of own) {
      const isPaused = record.kind === "taskPaused";
      if (isPaused) open = open === null ? pauseFrom(record.at, record) : { ...open, change: record };
      if (isPaused || open === null) continue;
      pauses.push({ ...open, until: record.at });
      open = null;
    }
    return open === null ? pauses : [...pauses, open];
  });
}

function pauseFrom<Change>(from: number, change: Change | null): Pause<Change> {
  return { from, until: Number.POSITIVE_INFINITY, change };
}
