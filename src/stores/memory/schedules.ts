import type { Mutable } from "../../core/mutable.ts";
import { compareTexts, orderKey } from "../../core/text.ts";
import { withoutUndefined } from "../../core/without-undefined.ts";
import type { AuditRecord } from "../../records/ledger.ts";
import { countsAsFailure } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { ScheduleFailure } from "../../records/schedule-failure.ts";
import type {
  ZonedPage,
  ZonedPageRequest,
  ZonedSchedule,
  ZoneRulesConfirmation,
} from "../contract/zone-rules-types.ts";
import type {
  ScheduleCommitReport as CommitOfAll,
  CommitRequest,
  EndedPauses,
  LookedSchedule,
  OverlapReport,
  PausedSchedule,
  RecordPage,
  ScheduleAddition,
  ScheduleAdditionChange,
  ScheduleAdditionReport,
  ScheduleChanges,
  ScheduleCommit,
  ScheduleCounts,
  ScheduleDeclaration,
  ScheduleFilter,
  SchedulePlan,
  ScheduleRemovalRequest,
  ScheduleUpdateRequest,
  Seen,
  StoreInspection,
  View,
} from "../data-store.ts";
import { readScheduleCursor, scheduleCursor } from "../shared/cursors-and-search.ts";
import { additionChange, isDeclaredAs, keptDeclaration } from "../shared/declarations.ts";
import { PAUSES_ENDED_PER_COMMIT_MAX } from "../shared/limits.ts";
import { pauseFacts, reasonOfFailures } from "../shared/pauses.ts";
import type { Notes } from "./ends-of-jobs.ts";
import { inOrderOfIds } from "./entries-of-jobs-and-tasks.ts";
import { frozenCopy } from "./frozen-copies.ts";
import type { MemoryLedger } from "./ledger.ts";
import { merged, pageOf } from "./list-pages.ts";
import type { OverdueOccurrences } from "./overdue-occurrences.ts";
import {
  assign,
  bytesOf,
  compareToEnd,
  fireTimeOf,
  inOrderOfFireTimes,
  inOrderOfPauseEnds,
  isAfter,
  isSelected,
  lookedAt,
  removePauseFacts,
  type ScheduleEntry,
  stateOf,
} from "./schedule-entry.ts";
import { SortedList } from "./sorted-list.ts";

interface ScheduleParts {
  readonly isAlive: (schedulerId: string, now: number) => boolean;
  /** Since when a job of a schedule misses its turn; null for none. */
  readonly missedSince: (scheduleId: string, now: number) => number | null;
  readonly ledger: MemoryLedger | null;
  /** Null without a ledger. */
  readonly overdue: OverdueOccurrences | null;
}

const NOTHING_SEEN: Pick<Seen, "due" | "nextFireAt"> = Object.freeze({ due: Object.freeze([]), nextFireAt: null });

/** The schedules of a memory store. A schedule is *active* when it has a next fire time and is not paused, else
 *  *resting*. */
export class Schedules {
  /** Ids of those of which the last runs failed, and perhaps of others. */
  readonly #failing = new Set<string>();
  readonly #byId = new Map<string, ScheduleEntry>();
  readonly #ordered = new SortedList<ScheduleEntry>(inOrderOfIds);
  readonly #active = new SortedList<ScheduleEntry>(inOrderOfFireTimes);
  readonly #resting = new SortedList<ScheduleEntry>(inOrderOfFireTimes);
  /** Those whose pause ends by itself, the earliest end first. */
  readonly #ending = new SortedList<ScheduleEntry>(inOrderOfPauseEnds);
  /** How many schedules each task has; tasks without schedules are left out. */
  readonly #countByTask = new Map<string, number>();
  /** How many schedules have each text of `zoneRules`. */
  readonly #countByRules = new Map<string, number>();
  readonly #isAlive: ScheduleParts["isAlive"];
  readonly #missedSince: ScheduleParts["missedSince"];
  readonly #ledger: MemoryLedger | null;
  readonly #overdue: OverdueOccurrences | null;

  constructor({ isAlive, missedSince, ledger, overdue }: ScheduleParts) {
    this.#isAlive = isAlive;
    this.#missedSince = missedSince;
    this.#ledger = ledger;
    this.#overdue = overdue;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  isTaskInUse(taskId: string): boolean {
    return this.#countByTask.has(taskId);
  }

  get(id: string): ScheduleRecord | null {
    const entry = this.#byId.get(id);
    return entry === undefined ? null : { ...entry.record };
  }

  /** The stored schedules that are as a program declares them. */
  unchanged(declared: readonly ScheduleDeclaration[]): ScheduleRecord[] {
    return declared
      .map(({ id }) => this.get(id))
      .filter((stored, index) => {
        const given = declared[index];
        return stored !== null && given !== undefined && isDeclaredAs(stored, given);
      }) as ScheduleRecord[];
  }

  /** The record itself, which changes with the schedule. */
  peek(id: string): Readonly<ScheduleRecord> | undefined {
    return this.#byId.get(id)?.record;
  }

  // ---- changes

  add(additions: readonly ScheduleAddition[], note: AuditRecord | undefined): ScheduleAdditionReport {
    const seen = new Set<string>();
    const conflicts: number[] = [];
    for (const [place, { schedule, conflictPolicy }] of additions.entries()) {
      const isInUse = this.#byId.has(schedule.id) || seen.has(schedule.id);
      if (conflictPolicy === "error" && isInUse) conflicts.push(place);
      seen.add(schedule.id);
    }
    if (conflicts.length > 0) return { conflicts };
    // Made before the first change, because reading a schedule may throw.
    const records = additions.map(({ schedule }) => withOwnCopies(schedule));
    const sizes = records.map(bytesOf);
    const results = additions.map((addition, index) => {
      const record = records[index] ?? addition.schedule;
      const change = this.#addOne({ ...addition, schedule: record }, sizes[index] ?? 0, note);
      return { change, schedule: { ...(this.peek(record.id) ?? record) } };
    });
    return { conflicts: null, results };
  }

  update(updates: readonly ScheduleUpdateRequest[], note: AuditRecord | undefined): (ScheduleRecord | null)[] {
    // Made before the first change, because reading metadata may throw.
    const copies = updates.map(({ changes: { metadata, labels } }) =>
      withoutUndefined({ metadata: frozenCopy(metadata), labels: frozenCopy(labels) }),
    );
    return updates.map((update, index) => {
      const entry = this.#expected(update);
      if (entry === undefined) return null;
      this.#change(entry, { ...update.changes, metadata: entry.record.metadata, ...copies[index] }, note);
      return { ...entry.record };
    });
  }

  /** Renames, removes and adds schedules, if all of them are as expected. */
  commitAll({ expected, renames, removals, additions }: ScheduleCommit, note: AuditRecord | undefined): CommitOfAll {
    const revisionOf = (id: string): number | null => this.#byId.get(id)?.record.revision ?? null;
    const moved = expected.filter(({ id, revision }) => revisionOf(id) !== revision).map(({ id }) => id);
    if (moved.length > 0) return { moved, schedules: [] };
    // Made before the first change, because reading a schedule may throw.
    const copies = additions.map((addition) => ({ ...addition, schedule: withOwnCopies(addition.schedule) }));
    for (const { from, to } of renames) this.#rename(from, to);
    for (const id of removals) this.remove({ id }, note);
    const { results = [] } = this.add(copies, note) as Partial<Extract<ScheduleAdditionReport, { conflicts: null }>>;
    return { moved, schedules: results.map(({ schedule }) => schedule) };
  }

  #rename(from: string, to: string): void {
    const entry = this.#byId.get(from);
    if (entry === undefined) return;
    this.#takeOut(entry);
    this.#byId.delete(from);
    this.#ordered.delete(entry);
    this.#overdue?.rename(from, to);
    this.#ledger?.rename(from, to);
    if (this.#failing.delete(from)) this.#failing.add(to);
    const record = { ...entry.record, id: to, fence: entry.record.fence + 1 };
    const renamed = { ...entry, record, orderKey: orderKey(to), preferred: null, commitId: null, overlap: null };
    this.#byId.set(to, renamed);
    this.#ordered.add(renamed);
    this.#putIn(renamed);
  }

  /** The schedule, unless it has another fence than is expected. */
  #expected({ id, expectedFence }: ScheduleRemovalRequest): ScheduleEntry | undefined {
    const entry = this.#byId.get(id);
    return expectedFence === undefined || entry?.record.fence === expectedFence ? entry : undefined;
  }

  remove(removal: ScheduleRemovalRequest, note: AuditRecord | undefined): boolean {
    const { id } = removal;
    const entry = this.#expected(removal);
    if (entry === undefined) return false;
    this.#takeOut(entry);
    this.#byId.delete(id);
    this.#ordered.delete(entry);
    this.#overdue?.forget(id);
    if (note !== undefined) this.#ledger?.changed(entry.record, null, note);
    return true;
  }

  /** Removes at most `limit` schedules that have no fire time left and no unfinished job. Returns their ids. */
  cleanup(now: number, limit: number, hasJobs: (scheduleId: string) => boolean): string[] {
    const removed: string[] = [];
    for (const { record } of this.#resting.from(({ record: { nextFireTime } }) => nextFireTime === null)) {
      if (removed.length >= limit) break;
      if (!hasJobs(record.id)) removed.push(record.id);
    }
    for (const id of removed) this.remove({ id }, { at: now, by: null });
    return removed;
  }

  #addOne(addition: ScheduleAddition, bytes: number, note: AuditRecord | undefined): ScheduleAdditionChange {
    const { schedule } = addition;
    const existing = this.#byId.get(schedule.id);
    const change = additionChange(existing?.record, addition);
    if (existing === undefined) {
      const entry = {
        record: schedule,
        orderKey: orderKey(schedule.id),
        bytes,
        preferred: null,
        commitId: null,
        overlap: null,
      };
      this.#byId.set(schedule.id, entry);
      if (schedule.failures !== undefined) this.#failing.add(schedule.id);
      this.#ordered.add(entry);
      this.#putIn(entry);
      this.#ledger?.begin(schedule);
      if (note !== undefined) this.#ledger?.changed(null, schedule, note);
      return change;
    }
    const { record } = existing;
    const { declaration, version } = keptDeclaration(record, addition, change);
    if (change === "replaced" || change === "updated") {
      const {
        trigger,
        nextFireTime,
        paceUntil,
        zoneRules = null,
      } = record.triggerRule === schedule.triggerRule ? record : schedule;
      // What the addition says of its pause goes with its `paused`.
      const { pausedUntil: _, pauseReason: __, pausedBy: ___, failures: ____, ...settings } = schedule;
      const { createdAt, lastFireTime, skippedCount, fence, revision, lastFailure } = record;
      const pausing = addition.setsPaused === true ? schedule : record;
      const paused = { paused: pausing.paused, ...pauseFacts(pausing) };
      const counted = { skippedCount, fence, revision, ...(lastFailure === undefined ? {} : { lastFailure }) };
      const kept = { trigger, nextFireTime, paceUntil, zoneRules, createdAt, lastFireTime, ...paused, ...counted };
      const { concurrencyKey = null, expectStartMs = null, expectFinishMs = null, labels = null } = schedule;
      const { failureExpirationMs = null, pauseAfterFailures = null } = schedule;
      const ofFailures = { failureExpirationMs, pauseAfterFailures };
      const removable = { concurrencyKey, expectStartMs, expectFinishMs, labels, ...ofFailures };
      this.#change(existing, { ...settings, ...kept, ...removable }, note);
    }
    assign(record, { declaration: declaration ?? null, version: version ?? null });
    return change;
  }

  /** Changes a schedule, which has no preferred scheduler then: that one may be unable to run the new task. */
  #change(
    entry: ScheduleEntry,
    { keepsRevision = false, ...changes }: ScheduleChanges,
    note: AuditRecord | undefined,
  ): void {
    const before = note === undefined || this.#ledger === null ? null : { ...entry.record };
    this.#takeOut(entry);
    // What was said of a pause goes with the pause.
    if (changes.paused !== undefined) removePauseFacts(entry.record);
    if (changes.paused === false && entry.record.paused) delete entry.record.failures;
    assign(entry.record, changes);
    entry.record.fence++;
    if (!keepsRevision) entry.record.revision++;
    entry.bytes = bytesOf(entry.record);
    entry.preferred = null;
    entry.commitId = null;
    entry.overlap = null;
    this.#putIn(entry);
    if (note === undefined || before === null) return;
    this.#ledger?.changed(before, entry.record, note);
    if (before.paused && !entry.record.paused) this.#overdue?.unpaused(entry.record, note.at);
  }

  #putIn(entry: ScheduleEntry): void {
    this.#file(entry);
    if (entry.record.pausedUntil !== undefined) this.#ending.add(entry);
    countIn(this.#countByTask, entry.record.taskId, 1);
    countIn(this.#countByRules, entry.record.zoneRules, 1);
  }

  #takeOut(entry: ScheduleEntry): void {
    this.#listOf(entry).delete(entry);
    if (entry.record.pausedUntil !== undefined) this.#ending.delete(entry);
    countIn(this.#countByTask, entry.record.taskId, -1);
    countIn(this.#countByRules, entry.record.zoneRules, -1);
  }

  #file(entry: ScheduleEntry): void {
    this.#overdue?.watch(entry.record);
    this.#listOf(entry).add(entry);
  }

  #listOf({ record: { nextFireTime, paused } }: ScheduleEntry): SortedList<ScheduleEntry> {
    return nextFireTime === null || paused ? this.#resting : this.#active;
  }

  /** When the first pause ends; infinite for none. */
  get pauseEndsAt(): number {
    return this.#ending.first?.record.pausedUntil ?? Number.POSITIVE_INFINITY;
  }

  /** Ends the pauses whose end has come, as many as a commit ends. */
  endPauses({ now, commitId }: CommitRequest): EndedPauses["schedules"] {
    const ended: EndedPauses["schedules"][number][] = [];
    const note = { at: now, by: null };
    while (this.pauseEndsAt <= now && ended.length < PAUSES_ENDED_PER_COMMIT_MAX) {
      const entry = this.#ending.first as ScheduleEntry;
      this.#change(entry, { paused: false }, note);
      entry.commitId = commitId;
      const { id, taskId, nextFireTime } = entry.record;
      ended.push({ id, taskId, nextFireTime });
    }
    return ended;
  }

  /** Counts how runs ended for the failures of their schedules. */
  countEnds(counted: Notes["counted"]): void {
    for (const { scheduleId, outcome } of counted) {
      const entry = this.#byId.get(scheduleId);
      const hasFailed = countsAsFailure(outcome);
      if (entry === undefined || hasFailed === null) continue;
      if (hasFailed) {
        entry.record.failures = (entry.record.failures ?? 0) + 1;
        this.#failing.add(scheduleId);
      } else {
        delete entry.record.failures;
        this.#failing.delete(scheduleId);
      }
    }
  }

  /** Pauses the schedules of which as many runs failed in a row as they allow. */
  pauseFailing({ now, schedulerId }: Pick<CommitRequest, "now" | "schedulerId">): PausedSchedule[] {
    const pausedSchedules: PausedSchedule[] = [];
    for (const id of this.#failing) {
      const entry = this.#byId.get(id);
      if (entry?.record.failures === undefined) {
        this.#failing.delete(id);
        continue;
      }
      const { failures, pauseAfterFailures = Number.POSITIVE_INFINITY, paused, taskId, nextFireTime } = entry.record;
      if (paused || failures < pauseAfterFailures) continue;
      const pauseReason = reasonOfFailures(failures);
      this.#change(entry, { paused: true, pauseReason, pausedBy: schedulerId }, { at: now, by: schedulerId });
      pausedSchedules.push({ id, taskId, nextFireTime, pauseReason });
    }
    return pausedSchedules;
  }

  // ---- plans

  /** A page of due schedules, and the earliest fire time after the page. */
  see({ now, schedules: window }: View): typeof NOTHING_SEEN {
    if (window === null || this.#active.first === undefined) return NOTHING_SEEN;
    const { dueBy, limit, bytesMax, after } = window;
    const due: LookedSchedule[] = [];
    let bytes = 0;
    for (const entry of this.#active.from((one) => after === null || isAfter(one, after))) {
      const nextFireTime = fireTimeOf(entry);
      bytes += entry.bytes;
      if (nextFireTime > dueBy || due.length >= limit || (bytes > bytesMax && due.length > 0)) {
        return { due, nextFireAt: nextFireTime };
      }
      const { preferred } = entry;
      const isLive = preferred !== null && this.#isAlive(preferred, now);
      const looked = lookedAt(entry, nextFireTime, isLive ? preferred : null);
      const { coalesce, overlap, id } = entry.record;
      const missedSince = coalesce === "all" || overlap !== "queue" ? null : this.#missedSince(id, now);
      due.push(missedSince === null ? looked : { ...looked, missedSince });
    }
    return { due, nextFireAt: null };
  }

  /** Commits a plan. Returns the changed schedule (no copy); null when the plan does not count. */
  commit(plan: SchedulePlan, { now, schedulerId, commitId }: CommitRequest): ScheduleRecord | null {
    const entry = this.#byId.get(plan.scheduleId);
    if (entry === undefined) return null;
    const { record } = entry;
    const { fence, nextFireTime, paused } = record;
    if (fence !== plan.fence || nextFireTime !== plan.expected || paused || plan.expected > now) return null;
    const before = plan.paused && this.#ledger !== null ? { ...record } : null;
    this.#active.delete(entry);
    record.nextFireTime = plan.nextFireTime;
    record.lastFireTime = plan.lastFireTime;
    record.paceUntil = plan.paceUntil ?? null;
    record.paused = plan.paused;
    const { pauseReason } = plan;
    if (pauseReason !== undefined) assign(record, { ...pauseFacts({ pauseReason, pausedBy: schedulerId }) });
    record.fence = fence + 1;
    if (plan.zoneRules !== undefined) this.#setZoneRules(record, plan.zoneRules);
    entry.preferred = plan.isPreferred ? schedulerId : null;
    entry.commitId = commitId;
    entry.overlap = null;
    this.#file(entry);
    if (before !== null) this.#ledger?.failed(before, record, { at: now, by: schedulerId });
    return record;
  }

  /** Keeps what the plan that was just committed did because of the schedule's `overlap`. */
  /** A job of a schedule has failed. */
  failed(scheduleId: string, failure: ScheduleFailure): void {
    const entry = this.#byId.get(scheduleId);
    if (entry !== undefined) entry.record.lastFailure = failure;
  }

  keepOverlap(scheduleId: string, report: OverlapReport, skippedCount: number): void {
    const entry = this.#byId.get(scheduleId);
    if (entry === undefined) return;
    entry.overlap = report;
    entry.record.skippedCount += skippedCount;
  }

  /** What the schedule's last commit did because of its `overlap`; null for nothing. */
  overlapOf(scheduleId: string): OverlapReport | null {
    return this.#byId.get(scheduleId)?.overlap ?? null;
  }

  /** Whether the schedule's last commit was this plan, in an earlier try of this commit. */
  wasCommitted(plan: SchedulePlan, commitId: string): boolean {
    const entry = this.#byId.get(plan.scheduleId);
    return entry !== undefined && entry.commitId === commitId && entry.record.fence === plan.fence + 1;
  }

  // ---- lists

  page(filter: ScheduleFilter): RecordPage<ScheduleRecord> {
    const { ids, limit, cursor, sort } = filter;
    const isByTime = ids === undefined && sort === "nextFireTime";
    const end = isByTime && cursor !== null ? readScheduleCursor(cursor) : null;
    const isNext = ({ record }: ScheduleEntry): boolean =>
      isByTime ? end === null || compareToEnd(record, end) > 0 : cursor === null || compareTexts(record.id, cursor) > 0;
    const entries = isByTime
      ? merged([this.#active.from(isNext), this.#resting.from(isNext)], inOrderOfFireTimes)
      : ids === undefined
        ? this.#ordered.from(isNext)
        : this.#named(ids).filter(isNext);
    return pageOf(entries, limit, {
      matches: (entry) => isSelected(entry, filter),
      recordOf: ({ record }) => ({ ...record }),
      cursorOf: ({ record }) => (isByTime ? scheduleCursor(record) : record.id),
    });
  }

  #named(ids: readonly string[]): ScheduleEntry[] {
    return [...new Set(ids)].flatMap((id) => this.#byId.get(id) ?? []).sort(inOrderOfIds);
  }

  /** The schedule that waits longest for a fire that is due. */
  oldestDue(now: number): StoreInspection["oldestDueSchedule"] {
    const { id, taskId, nextFireTime = null } = this.#active.first?.record ?? {};
    if (id === undefined || taskId === undefined || nextFireTime === null || nextFireTime > now) return null;
    return { id, taskId, nextFireTime };
  }

  counts(now: number): ScheduleCounts {
    const counts = { active: 0, paused: 0, ended: 0, overdue: 0 };
    for (const { record } of this.#byId.values()) {
      counts[stateOf(record)]++;
      if (stateOf(record) === "active" && (record.nextFireTime ?? 0) <= now) counts.overdue++;
    }
    return counts;
  }

  // ---- time zone rules

  /** The texts of `zoneRules`, each once. */
  zoneRules({ after, limit }: { readonly after: string; readonly limit: number }): string[] {
    const texts = [...this.#countByRules.keys()].filter((text) => text > after);
    return texts.sort().slice(0, limit);
  }

  /** A page of the schedules whose `zoneRules` are a text. */
  zoned({ zoneRules, after, limit, bytesMax }: ZonedPageRequest): ZonedPage {
    const items: ZonedSchedule[] = [];
    let bytes = 0;
    for (const { record } of this.#ordered.from((entry) => compareTexts(entry.record.id, after) > 0)) {
      if (record.zoneRules !== zoneRules) continue;
      const { id, trigger, nextFireTime, lastFireTime, createdAt, fence } = record;
      bytes += trigger.length;
      if (items.length === limit || (items.length > 0 && bytes > bytesMax)) return { items, hasMore: true };
      items.push({ id, trigger, nextFireTime, lastFireTime, createdAt, fence });
    }
    return { items, hasMore: false };
  }

  confirm({ scheduleId, fence, zoneRules }: ZoneRulesConfirmation): void {
    const record = this.#byId.get(scheduleId)?.record;
    if (record?.fence === fence) this.#setZoneRules(record, zoneRules);
  }

  #setZoneRules(record: Mutable<ScheduleRecord>, zoneRules: string | null): void {
    countIn(this.#countByRules, record.zoneRules, -1);
    assign(record, { zoneRules });
    countIn(this.#countByRules, record.zoneRules, 1);
  }
}

/** Adds to the count of a key. A count of 0 is left out. */
function countIn(counts: Map<string, number>, key: string | undefined, change: 1 | -1): void {
  if (key === undefined) return;
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function withOwnCopies(schedule: ScheduleRecord): ScheduleRecord {
  const copy = { ...schedule, metadata: frozenCopy(schedule.metadata) };
  return copy.labels === undefined ? copy : { ...copy, labels: frozenCopy(copy.labels) };
}
