import { compareTexts } from "../../core/text.ts";
import type { ChangeNote } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type {
  LookedSchedule,
  OverlapReport,
  RecordPage,
  ScheduleAddition,
  ScheduleAdditionChange,
  ScheduleAdditionReport,
  ScheduleChanges,
  ScheduleCounts,
  ScheduleFilter,
  SchedulePlan,
  Seen,
  StepRequest,
  StoreInspection,
  View,
} from "../data-store.ts";
import { readScheduleCursor, type ScheduleCursor, scheduleCursor } from "../schedule-cursor.ts";
import { additionChange, keptDeclaration } from "../schedule-declarations.ts";
import { isFound } from "../search.ts";
import type { ZonedPage, ZonedPageRequest, ZoneRulesConfirmation } from "../zone-rules.ts";
import type { MemoryAlarms } from "./alarms.ts";
import type { MemoryLedger } from "./ledger.ts";
import { countIn } from "./queues.ts";
import {
  bytesOf,
  fireTimeOf,
  inOrderOfFireTimes,
  isAfter,
  lookedAt,
  newEntry,
  type ScheduleEntry,
  setOrDelete,
} from "./schedule-entry.ts";
import { SortedList } from "./sorted-list.ts";
import { BY_ID, frozenCopy, type Mutable, type PageOrder, pageOf } from "./tables.ts";
import { ZoneTexts, zonedPage } from "./zone-texts.ts";

interface Parts {
  readonly isAlive: (schedulerId: string, now: number) => boolean;
  readonly ledger: MemoryLedger | null;
  /** Null without a ledger. */
  readonly alarms: MemoryAlarms | null;
}

/** What {@link MemorySchedules.see} returns. */
type SeenSchedules = Pick<Seen, "due" | "nextFireAt">;

const NOTHING_SEEN: SeenSchedules = Object.freeze({ due: Object.freeze([]), nextFireAt: null });

/** The schedules of a `MemoryDataStore`: all of them by id, and those that wait for a fire time in the order of their
 *  fire times. */
export class MemorySchedules {
  readonly #byId = new Map<string, ScheduleEntry>();
  readonly #waiting = new SortedList<ScheduleEntry>(inOrderOfFireTimes);
  readonly #exhausted = new Set<ScheduleEntry>();
  readonly #countByTask = new Map<string, number>();
  readonly #zoneTexts = new ZoneTexts();
  readonly #isAlive: Parts["isAlive"];
  readonly #ledger: MemoryLedger | null;
  readonly #alarms: MemoryAlarms | null;

  constructor({ isAlive, ledger, alarms }: Parts) {
    this.#isAlive = isAlive;
    this.#ledger = ledger;
    this.#alarms = alarms;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  isTaskInUse(taskId: string): boolean {
    return this.#countByTask.has(taskId);
  }

  add(additions: readonly ScheduleAddition[], note: ChangeNote | undefined): ScheduleAdditionReport {
    const seen = new Set<string>();
    for (const { schedule, conflictPolicy } of additions) {
      if (conflictPolicy === "error" && (this.#byId.has(schedule.id) || seen.has(schedule.id))) {
        return { conflictId: schedule.id };
      }
      seen.add(schedule.id);
    }
    // Made before the first change, because reading a schedule may throw.
    const entries = additions.map((addition) => ({ addition, entry: newEntry(addition.schedule) }));
    return {
      conflictId: null,
      results: entries.map(({ addition, entry }) => this.#addOne(entry, addition, note)),
    };
  }

  get(id: string): ScheduleRecord | null {
    const entry = this.#byId.get(id);
    return entry === undefined ? null : { ...entry.record };
  }

  /** The record itself, which changes with the schedule. */
  peek(id: string): Readonly<ScheduleRecord> | undefined {
    return this.#byId.get(id)?.record;
  }

  page(filter: ScheduleFilter): RecordPage<ScheduleRecord> {
    const order: PageOrder<ScheduleRecord> = filter.sort === "nextFireTime" ? BY_NEXT_FIRE_TIME : BY_ID;
    return pageOf(this.#byId.values(), filter, order, ({ record }) => (isTaken(record, filter) ? record : null));
  }

  update(
    id: string,
    changes: ScheduleChanges,
    expectedFence: number | undefined,
    note: ChangeNote | undefined,
  ): ScheduleRecord | null {
    const entry = this.#byId.get(id);
    if (entry === undefined || (expectedFence !== undefined && entry.record.fence !== expectedFence)) return null;
    const metadata = changes.metadata === undefined ? entry.record.metadata : frozenCopy(changes.metadata);
    this.#change(entry, { ...changes, metadata, fence: entry.record.fence + 1 }, note);
    return { ...entry.record };
  }

  remove(id: string, note: ChangeNote | undefined): boolean {
    const entry = this.#byId.get(id);
    if (entry === undefined) return false;
    this.#takeOut(entry);
    this.#byId.delete(id);
    this.#alarms?.forget(id);
    if (note !== undefined) this.#ledger?.changed(entry.record, null, note);
    return true;
  }

  /** A page of due schedules, and the earliest fire time after the page. */
  see({ now, schedules: window }: View): SeenSchedules {
    if (window === null || this.#waiting.isEmpty) return NOTHING_SEEN;
    const { dueBy, limit, bytesMax, after } = window;
    const due: LookedSchedule[] = [];
    let nextFireAt: number | null = null;
    let bytes = 0;
    this.#waiting.visitFrom(
      (entry) => after === null || isAfter(entry, after),
      (entry) => {
        const nextFireTime = fireTimeOf(entry);
        bytes += entry.bytes;
        if (nextFireTime > dueBy || due.length >= limit || (bytes > bytesMax && due.length > 0)) {
          nextFireAt = nextFireTime;
          return false;
        }
        const { favourite } = entry;
        const isLive = favourite !== null && this.#isAlive(favourite, now);
        due.push(lookedAt(entry, nextFireTime, isLive ? favourite : null));
        return true;
      },
    );
    return { due, nextFireAt };
  }

  /** The schedule that waits longest for a fire that is due. */
  oldestDue(now: number): StoreInspection["oldestDueSchedule"] {
    let oldest: StoreInspection["oldestDueSchedule"] = null;
    this.#waiting.visitFrom(
      () => true,
      (entry) => {
        const nextFireTime = fireTimeOf(entry);
        if (nextFireTime <= now) oldest = { id: entry.record.id, taskId: entry.record.taskId, nextFireTime };
        return false;
      },
    );
    return oldest;
  }

  /** How many schedules are in which state. */
  counts(now: number): ScheduleCounts {
    const counts = { active: 0, paused: 0, ended: 0, overdue: 0 };
    for (const { record } of this.#byId.values()) {
      const { paused, nextFireTime } = record;
      counts[nextFireTime === null ? "ended" : paused ? "paused" : "active"]++;
      if (nextFireTime !== null && !paused && nextFireTime <= now) counts.overdue++;
    }
    return counts;
  }

  /** Commits a plan. Returns the changed schedule (no copy); null when the plan does not count. */
  commit(plan: SchedulePlan, { now, schedulerId, stepId }: StepRequest): ScheduleRecord | null {
    const entry = this.#byId.get(plan.scheduleId);
    if (entry === undefined) return null;
    const { fence, nextFireTime, paused } = entry.record;
    if (fence !== plan.fence || nextFireTime !== plan.expected || paused || plan.expected > now) return null;
    const before = plan.paused && this.#ledger !== null ? { ...entry.record } : null;
    // It is waiting, because it is neither paused nor without a fire time.
    this.#waiting.remove(entry);
    entry.record.nextFireTime = plan.nextFireTime;
    entry.record.lastFireTime = plan.lastFireTime;
    entry.record.paceUntil = plan.paceUntil ?? null;
    entry.record.paused = plan.paused;
    if (plan.zoneRules !== undefined) this.#setZoneRules(entry.record, plan.zoneRules);
    entry.record.fence = fence + 1;
    entry.favourite = plan.isFavourite ? schedulerId : null;
    entry.stamp = stepId;
    entry.overlap = null;
    this.#file(entry);
    if (before !== null) this.#ledger?.failed(before, entry.record, { at: now, by: schedulerId });
    return entry.record;
  }

  /** Keeps what the plan that was just committed did because of the schedule's `overlap`. */
  noteOverlap(scheduleId: string, report: OverlapReport, skipped: number): void {
    const entry = this.#byId.get(scheduleId);
    if (entry === undefined) return;
    entry.overlap = report;
    entry.record.skippedCount += skipped;
  }

  /** What the schedule's last commit did because of its `overlap`; null for nothing. */
  overlapOf(scheduleId: string): OverlapReport | null {
    return this.#byId.get(scheduleId)?.overlap ?? null;
  }

  /** Whether the schedule's last commit was this plan, in an earlier try of this step. */
  wasCommitted(plan: SchedulePlan, stepId: string): boolean {
    const entry = this.#byId.get(plan.scheduleId);
    return entry !== undefined && entry.stamp === stepId && entry.record.fence === plan.fence + 1;
  }

  /** The texts of `zoneRules`, each once. */
  zoneRules(request: { readonly after: string; readonly limit: number }): string[] {
    return this.#zoneTexts.list(request);
  }

  zoned(request: ZonedPageRequest): ZonedPage {
    const records = [...this.#byId.values()].map(({ record }) => record);
    return zonedPage(records, request);
  }

  confirm({ scheduleId, fence, zoneRules }: ZoneRulesConfirmation): void {
    const record = this.#byId.get(scheduleId)?.record;
    if (record?.fence === fence) this.#setZoneRules(record, zoneRules);
  }

  #setZoneRules(record: Mutable<ScheduleRecord>, zoneRules: string | null): void {
    this.#zoneTexts.count(record, -1);
    setOrDelete(record, "zoneRules", zoneRules ?? undefined);
    this.#zoneTexts.count(record, 1);
  }

  /** Removes at most `limit` schedules that have no fire time left, except those for which `isBusy` returns true.
   *  Returns their ids. */
  cleanup(now: number, limit: number, isBusy: (scheduleId: string) => boolean): string[] {
    const removed: string[] = [];
    for (const { record } of this.#exhausted) {
      if (removed.length >= limit) break;
      if (!isBusy(record.id)) removed.push(record.id);
    }
    for (const id of removed) this.remove(id, { at: now, by: null });
    return removed;
  }

  #addOne(
    entry: ScheduleEntry,
    addition: ScheduleAddition,
    note: ChangeNote | undefined,
  ): { readonly change: ScheduleAdditionChange; readonly schedule: ScheduleRecord } {
    const existing = this.#byId.get(entry.record.id);
    const change = additionChange(existing?.record, addition);
    if (existing === undefined) {
      this.#byId.set(entry.record.id, entry);
      this.#putIn(entry);
      this.#ledger?.begin(entry.record);
      if (note !== undefined) this.#ledger?.changed(null, entry.record, note);
      return { change, schedule: { ...entry.record } };
    }
    const { record } = existing;
    const { declaration, version } = keptDeclaration(record, addition, change);
    if (change === "replaced" || change === "updated") {
      const ofRule = record.triggerRule === entry.record.triggerRule ? record : entry.record;
      const { trigger, nextFireTime, paceUntil, zoneRules = null } = ofRule;
      const { createdAt, lastFireTime, skippedCount, fence } = record;
      const paused = addition.setsPaused === true ? entry.record.paused : record.paused;
      const kept = { trigger, nextFireTime, paceUntil, zoneRules, createdAt, lastFireTime, skippedCount, paused };
      const { concurrencyKey = null, expectStartMs = null, expectFinishMs = null } = entry.record;
      const removable = { concurrencyKey, expectStartMs, expectFinishMs };
      this.#change(existing, { ...entry.record, ...kept, ...removable, fence: fence + 1 }, note);
    }
    setOrDelete(record, "declaration", declaration);
    setOrDelete(record, "version", version);
    return { change, schedule: { ...record } };
  }

  /** Changes a schedule, which loses its favourite, because the favourite may be unable to run its new task or
   *  executor. */
  #change(
    entry: ScheduleEntry,
    {
      concurrencyKey,
      zoneRules,
      expectStartMs,
      expectFinishMs,
      ...fields
    }: ScheduleChanges & {
      readonly fence?: number;
    },
    note: ChangeNote | undefined,
  ): void {
    const before = note === undefined || this.#ledger === null ? null : { ...entry.record };
    this.#takeOut(entry);
    Object.assign(entry.record, fields);
    if (zoneRules !== undefined) setOrDelete(entry.record, "zoneRules", zoneRules ?? undefined);
    if (concurrencyKey !== undefined) setOrDelete(entry.record, "concurrencyKey", concurrencyKey ?? undefined);
    if (expectStartMs !== undefined) setOrDelete(entry.record, "expectStartMs", expectStartMs ?? undefined);
    if (expectFinishMs !== undefined) setOrDelete(entry.record, "expectFinishMs", expectFinishMs ?? undefined);
    entry.bytes = bytesOf(entry.record);
    entry.favourite = null;
    entry.stamp = null;
    entry.overlap = null;
    this.#putIn(entry);
    if (note === undefined || before === null) return;
    this.#ledger?.changed(before, entry.record, note);
    if (before.paused && !entry.record.paused) this.#alarms?.unpaused(entry.record, note.at);
  }

  #putIn(entry: ScheduleEntry): void {
    this.#file(entry);
    countIn(this.#countByTask, entry.record.taskId, 1);
    this.#zoneTexts.count(entry.record, 1);
  }

  /** Puts an entry where the time of its next fire says. */
  #file(entry: ScheduleEntry): void {
    const { nextFireTime, paused } = entry.record;
    this.#alarms?.watch(entry.record);
    if (nextFireTime === null) this.#exhausted.add(entry);
    else if (!paused) this.#waiting.add(entry);
  }

  #takeOut(entry: ScheduleEntry): void {
    const { nextFireTime, paused, taskId } = entry.record;
    this.#zoneTexts.count(entry.record, -1);
    if (nextFireTime === null) this.#exhausted.delete(entry);
    else if (!paused) this.#waiting.remove(entry);
    countIn(this.#countByTask, taskId, -1);
  }
}

function isTaken(record: ScheduleRecord, { taskId, paused, state, search }: ScheduleFilter): boolean {
  return (
    (taskId ?? record.taskId) === record.taskId &&
    (paused ?? record.paused) === record.paused &&
    (state === undefined || state === stateOf(record)) &&
    (search === undefined || isFound(search, [record.id, record.name]))
  );
}

function stateOf({ nextFireTime, paused }: ScheduleRecord): ScheduleFilter["state"] {
  if (nextFireTime === null) return "ended";
  return paused ? "paused" : "active";
}

const BY_NEXT_FIRE_TIME: PageOrder<ScheduleRecord> = Object.freeze({
  isBefore: (a: ScheduleRecord, b: ScheduleRecord): boolean => isEarlier(a, b),
  after: (text: string) => {
    const cursor = readScheduleCursor(text);
    return (record: ScheduleRecord) => isEarlier(cursor, record);
  },
  cursorOf: scheduleCursor,
});

function isEarlier(a: ScheduleCursor, b: ScheduleCursor): boolean {
  const timeOfA = a.nextFireTime ?? Number.POSITIVE_INFINITY;
  const timeOfB = b.nextFireTime ?? Number.POSITIVE_INFINITY;
  return timeOfA === timeOfB ? compareTexts(a.id, b.id) < 0 : timeOfA < timeOfB;
}
