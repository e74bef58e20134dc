import { type JobRecord, NEVER_RUN } from "../../src/records/job.ts";
import type { AuditRecord, Skip } from "../../src/records/ledger.ts";
import type { ScheduleRecord } from "../../src/records/schedule.ts";
import { MISSED_COUNT_STEPS_MAX } from "../../src/scheduler/events/limits.ts";
import type {
  CleanupReport,
  CommitReport,
  CommitRequest,
  OverlapReport,
  PlannedJob,
  PlanReport,
  ScheduleAddition,
  ScheduleAdditionChange,
  ScheduleAdditionReport,
  ScheduleChanges,
  SchedulePlan,
  Seen,
  View,
} from "../../src/stores/data-store.ts";
import { CLOCK_TOLERANCE_MS, DEAD_SCHEDULER_MS } from "../../src/stores/shared/limits.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";
import type { BookModel, Passed } from "./book-model.ts";
import type { ChangeModel } from "./change-model.ts";
import type { Caller, History } from "./history.ts";
import type { JobModel } from "./job-model.ts";
import { REFUSED_PAYLOAD } from "./refused.ts";
import type { TriggerTable } from "./trigger-table.ts";

/** What a run of a scheduler said of itself. */
interface Sign {
  readonly identity: string;
  readonly instanceId: string;
  readonly isResident: boolean;
  readonly aliveUntil: number;
}

/** The fields that a schedule has no longer once they were set to null. */
const REMOVED_BY_NULL: ReadonlySet<keyof ScheduleRecord> = new Set([
  "concurrencyKey",
  "zoneRules",
  "expectStartMs",
  "expectFinishMs",
] as const);

/** What it tells of what happens to schedules. */
interface Ledgers {
  readonly books: BookModel;
  readonly changes: ChangeModel;
  readonly triggers: TriggerTable;
}

type PauseFact = "pausedUntil" | "pauseReason" | "pausedBy";

type Pause = { readonly paused: boolean } & { readonly [Name in PauseFact]?: ScheduleChanges[Name] | undefined };

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface ModelSchedule {
  readonly record: Mutable<ScheduleRecord>;
  /** The fence that it was added with, which differs from run to run. */
  readonly firstFence: number;
  /** The true time at which it was last added, changed or fired. */
  changedAtMs: number;
  preferredScheduler: string | null;
  /** The commit that committed the last plan, unless the schedule was changed since. */
  commitId: string | null;
  /** What that plan did because of the schedule's overlap policy. */
  overlap: OverlapReport | undefined;
}

/** More occurrences than one plan may pass over in a run. */
const OCCURRENCES_MAX = 5000;

/** For how long a scheduler of a run may leave jobs that miss their turn to others: the longest `maxIdle` and a half, and
 *  until it has seen who is up, for a lease. */
const UNSEEN_MS_MAX = 7500;

/** The same for schedules, and for what plans have to contain. */
export class ScheduleModel {
  readonly #history: History;
  readonly #jobs: JobModel;
  readonly #books: BookModel;
  readonly #changes: ChangeModel;
  readonly #triggers: TriggerTable;
  readonly #byId = new Map<string, ModelSchedule>();
  /** Every occurrence that became a job, by schedule; one that is removed and added again starts anew. */
  readonly #enqueued = new Map<string, Set<number>>();
  /** Fences that schedules had that were removed, by id. */
  readonly #fences = new Map<string, { first: number; last: number }[]>();
  /** Until when schedulers count as alive, by identity. */
  /** The runs of schedulers that said that they are alive, by identity and instance. */
  readonly #signs = new Map<string, Sign>();
  /** Since when jobs of a schedule miss their turn by what looks of a scheduler told, by id and fence. */
  readonly #missesSeen = new Map<Caller, Map<string, Set<number | null>>>();
  /** As of when the plans of a commit were made. */
  readonly #plannedAt = new Map<string, number>();

  constructor(history: History, jobs: JobModel, { books, changes, triggers }: Ledgers) {
    this.#history = history;
    this.#jobs = jobs;
    this.#books = books;
    this.#changes = changes;
    this.#triggers = triggers;
  }

  /** Whether the store will never take a job of the schedule. */
  isRefused(id: string): boolean {
    return this.#byId.get(id)?.record.payload === `${REFUSED_PAYLOAD}`;
  }

  get(id: string): ScheduleRecord | undefined {
    return this.#byId.get(id)?.record;
  }

  onAdd(additions: readonly ScheduleAddition[], report: ScheduleAdditionReport, note: AuditRecord | undefined): void {
    if (report.conflicts !== null) return;
    additions.forEach((addition, index) => {
      const { schedule } = addition;
      const existing = this.#byId.get(schedule.id);
      const before = existing === undefined ? null : { ...existing.record };
      const change = changeOf(existing?.record, addition);
      const result = report.results[index];
      if (result?.change !== change)
        this.#history.violate(`schedule ${schedule.id} was ${result?.change}, not ${change}`);
      if (existing === undefined) {
        this.#enqueued.delete(schedule.id);
        this.#history.trace("store", `schedule ${schedule.id} added, due at ${schedule.nextFireTime}`);
        const { fence } = schedule;
        this.#byId.set(schedule.id, {
          record: { ...schedule },
          firstFence: fence,
          changedAtMs: this.#history.nowMs,
          preferredScheduler: null,
          commitId: null,
          overlap: undefined,
        });
        const isOld = ({ first, last }: { first: number; last: number }): boolean => first <= fence && fence <= last;
        if (this.#fences.get(schedule.id)?.some(isOld) === true) {
          this.#history.violate(`schedule ${schedule.id} was added with a fence that it had before`);
        }
      } else if (change === "replaced" || change === "updated") {
        const { record } = existing;
        const kept = record.triggerRule === schedule.triggerRule ? record : schedule;
        const { trigger, nextFireTime, paceUntil, zoneRules = null } = kept;
        const { createdAt, lastFireTime, skippedCount, fence, revision } = record;
        const pause = pauseOf(addition.setsPaused === true ? schedule : record);
        const history = { createdAt, lastFireTime, skippedCount, ...pause };
        const { declaration, version, concurrencyKey } = schedule;
        Object.assign(record, schedule, {
          declaration,
          version,
          concurrencyKey,
          trigger,
          nextFireTime,
          paceUntil,
          zoneRules,
          ...history,
          fence: fence + 1,
          revision: revision + 1,
        });
        this.#history.trace("store", `schedule ${schedule.id} ${change}, due at ${record.nextFireTime}`);
        this.#changed(existing);
      } else if (change === "kept" && addition.conflictPolicy === "update" && schedule.version !== undefined) {
        existing.record.version = Math.max(existing.record.version ?? -1, schedule.version);
      }
      const record = this.#byId.get(schedule.id)?.record;
      if (record !== undefined && note !== undefined) this.#noteChange(before, record, note);
      // A report may show a schedule as its commit leaves it, which a later addition of the same id changes again.
      const isLast = additions.findLastIndex(({ schedule: { id } }) => id === schedule.id) === index;
      if (record !== undefined && result !== undefined && isLast) this.#same(record, result.schedule);
    });
  }

  #same(expected: ScheduleRecord, actual: ScheduleRecord): void {
    for (const key of Object.keys({ ...expected, ...actual }) as (keyof ScheduleRecord)[]) {
      // The simulation of operators holds it, and cases of the contract: the model of schedules knows no outcomes.
      if (key === "lastFailure") continue;
      const wanted = expected[key] === null && REMOVED_BY_NULL.has(key) ? undefined : expected[key];
      if (JSON.stringify(wanted) === JSON.stringify(actual[key])) continue;
      this.#history.violate(`the ${key} of schedule ${expected.id} is ${actual[key]}, not ${wanted}`);
    }
  }

  onUpdate(
    id: string,
    changes: ScheduleChanges,
    { expectedFence, note }: { readonly expectedFence: number | undefined; readonly note: AuditRecord | undefined },
    updated: ScheduleRecord | null,
  ): void {
    const schedule = this.#byId.get(id);
    const mayChange =
      schedule !== undefined && (expectedFence === undefined || schedule.record.fence === expectedFence);
    if (mayChange !== (updated !== null))
      this.#history.violate(`the update of schedule ${id} was ${updated === null ? "refused" : "made"}`);
    if (schedule === undefined || updated === null) return;
    this.#history.trace("store", `schedule ${id} changed: ${JSON.stringify(changes)}`);
    const before = { ...schedule.record };
    // What was said of a pause goes with the pause.
    const pause = changes.paused === undefined ? {} : pauseOf({ ...changes, paused: changes.paused });
    Object.assign(schedule.record, changes, pause);
    schedule.record.fence++;
    schedule.record.revision++;
    if (note !== undefined) this.#noteChange(before, schedule.record, note);
    this.#changed(schedule);
    if (updated.skippedCount !== schedule.record.skippedCount) this.#same(schedule.record, updated);
    if (updated.fence !== schedule.record.fence)
      this.#history.violate(`the update of schedule ${id} left plans in force that were made before`);
  }

  onRemove(id: string, wasThere: boolean, note: AuditRecord | undefined): void {
    this.#retireFences(id);
    const record = this.#byId.get(id)?.record;
    if (record !== undefined && note !== undefined) this.#noteChange(record, null, note);
    if (this.#byId.delete(id) !== wasThere) this.#history.violate(`the removal of schedule ${id} answered ${wasThere}`);
  }

  /** A scheduler sends a commit, whatever becomes of that. */
  onSend({ commitId, now }: CommitRequest): void {
    if (!this.#plannedAt.has(commitId)) this.#plannedAt.set(commitId, now);
  }

  /** The plans of a commit, in order. */
  onPlans(request: CommitRequest, report: CommitReport, caller: Caller): void {
    const seen = new Set<string>();
    request.plans.forEach((plan, index) => {
      const result = report.plans[index];
      const isFirst = !seen.has(plan.scheduleId);
      seen.add(plan.scheduleId);
      if (result === undefined) this.#history.violate(`${caller.name} got no answer to a plan`);
      else this.#onPlan(plan, result, isFirst, request, caller);
    });
  }

  #onPlan(plan: SchedulePlan, result: PlanReport, isFirst: boolean, request: CommitRequest, caller: Caller): void {
    const { now, commitId, isRepetition } = request;
    const schedule = this.#byId.get(plan.scheduleId);
    const counts =
      isFirst &&
      schedule !== undefined &&
      schedule.record.fence === plan.fence &&
      schedule.record.nextFireTime === plan.expected &&
      !schedule.record.paused &&
      plan.expected <= now;
    // A repetition knows that an earlier try committed the plan for as long as nobody has changed the schedule since.
    const isKnown = isRepetition && schedule?.commitId === commitId && schedule.record.fence === plan.fence + 1;
    const text = `the plan of ${caller.name} for schedule ${plan.scheduleId}`;
    if (result.committed !== (counts || isKnown)) {
      this.#history.violate(`${text} was ${result.committed ? "committed" : "refused"}`);
    }
    if (schedule !== undefined && counts) this.#commit(schedule, plan, request, caller, text);
    else if (!isKnown) this.#history.count("refused plans");
    const overlap = counts || isKnown ? schedule?.overlap : undefined;
    if (JSON.stringify(overlap) !== JSON.stringify(result.overlap)) {
      this.#history.violate(`${text} is told of ${JSON.stringify(result.overlap)}, not of ${JSON.stringify(overlap)}`);
    }
    const ids = plan.fires.map(({ jobId }) => jobId).filter((id) => this.#jobs.unfinished.has(id));
    // A try that comes after a later one did nothing itself, and may tell of the jobs of that one.
    const isNone = !counts && !isRepetition && result.addedJobIds.length === 0;
    if (!isNone && ids.join(" ") !== result.addedJobIds.join(" ")) {
      this.#history.violate(`${text} is said to have added [${result.addedJobIds}], not [${ids}]`);
    }
  }

  #commit(schedule: ModelSchedule, plan: SchedulePlan, request: CommitRequest, caller: Caller, text: string): void {
    const { record, firstFence } = schedule;
    const fires = plan.fires.map(({ fireTime }) => fireTime);
    this.#history.trace(
      caller.name,
      `${text} with fence +${plan.fence - firstFence}: fires ${fires}, next ${plan.nextFireTime}`,
    );
    const passed = this.#checkPlan(schedule, plan, this.#plannedAt.get(request.commitId) ?? request.now, text);
    this.#checkHeed(schedule, plan, caller, { text, now: this.#plannedAt.get(request.commitId) ?? request.now });
    this.#books.onPassed(record.id, passed);
    if (plan.isPreferred && !caller.mayBePreferred) this.#history.violate(`${text} makes it the preferred scheduler`);
    const policy = plan.overlap?.policy;
    const coalesces = policy === "latest" || policy === "earliest";
    const [fire] = plan.fires;
    const coalesced = coalesces && fire !== undefined ? this.#jobs.coalesce(record.id, policy, fire) : null;
    const overlap = coalesces
      ? (coalesced?.report ?? { isSkipped: false, replaced: [], cancelRequested: [] })
      : record.overlap === "queue" || plan.overlap === undefined
        ? undefined
        : this.#jobs.makeWay(record.id, record.overlap, fires[0] ?? null);
    schedule.overlap = overlap;
    if (overlap !== undefined && !coalesces) {
      const skipped = (plan.overlap?.passed ?? 0) + overlap.replaced.length + (overlap.isSkipped ? 1 : 0);
      record.skippedCount += skipped;
      for (let left = skipped; left > 0; left--) this.#history.count("skipped");
    }
    for (const [place, fire] of plan.fires.entries()) {
      if (overlap?.isSkipped === true) {
        const verdict = coalesces ? "coalesced" : "overlapSkipped";
        const into = coalesced?.into ?? null;
        this.#books.onPassed(record.id, [{ verdict, fireTimes: [fire.fireTime], into }]);
        continue;
      }
      // The job of a schedule of this id that was removed may not have ended yet.
      if (this.#jobs.hasJobAt(record.id, fire.fireTime)) {
        continue;
      }
      const facts = coalesced?.into === fire.fireTime ? coalesced.facts : {};
      this.onEnqueued(jobOf(record, { ...fire, ...facts }, plan.isCatchUp), text, place);
    }
    const { nextFireTime, lastFireTime, paused, paceUntil = null } = plan;
    const { now: at, schedulerId: by } = request;
    const pause = plan.pauseReason === undefined ? { paused } : { paused, pauseReason: plan.pauseReason, pausedBy: by };
    if (paused) this.#noteChange({ ...record }, { ...record, nextFireTime, ...pause }, { at, by });
    Object.assign(record, { nextFireTime, lastFireTime, paceUntil, fence: record.fence + 1 }, pause);
    schedule.preferredScheduler = plan.isPreferred ? request.schedulerId : null;
    schedule.commitId = request.commitId;
    schedule.changedAtMs = this.#history.nowMs;
  }

  /** What a look, or the look at the end of a commit, shows of the schedules. */
  checkSeen({ now, schedules: window }: View, seen: Seen, caller: Caller): void {
    const due: ModelSchedule[] = [];
    let nextFireAt: number | null = null;
    if (window !== null) {
      for (const schedule of this.#byId.values()) {
        const { id, paused, nextFireTime } = schedule.record;
        const { after, dueBy } = window;
        if (paused || nextFireTime === null) continue;
        if (after !== null && !(nextFireTime > after[0] || (nextFireTime === after[0] && id > after[1]))) continue;
        if (nextFireTime <= dueBy) due.push(schedule);
        else nextFireAt = Math.min(nextFireAt ?? nextFireTime, nextFireTime);
      }
    }
    due.sort(byDueTime);
    const cut = due.slice(window?.limit ?? 0);
    if (cut[0] !== undefined) nextFireAt = cut[0].record.nextFireTime;
    const expected = due.slice(0, window?.limit ?? 0).map((schedule) => {
      const { record, preferredScheduler } = schedule;
      const isAlive =
        preferredScheduler !== null &&
        this.#isAlive(now, (heartbeat) => heartbeat.isResident && heartbeat.identity === preferredScheduler);
      const mayMiss = record.overlap === "queue" && record.coalesce !== "all";
      const missed = mayMiss ? this.#jobs.missedTurns(record.id, Number.POSITIVE_INFINITY, now) : [];
      const bearer = isAlive ? preferredScheduler : null;
      return `${record.id} ${record.nextFireTime} ${record.fence} ${bearer} ${missed[0]?.record.runAt ?? null}`;
    });
    const misses = this.#missesSeen.get(caller) ?? new Map<string, Set<number | null>>();
    this.#missesSeen.set(caller, misses);
    const actual = seen.due.map(({ id, nextFireTime, fence, preferredScheduler, missedSince = null }) => {
      const key = `${id} ${fence}`;
      misses.set(key, (misses.get(key) ?? new Set()).add(missedSince));
      return `${id} ${nextFireTime} ${fence} ${preferredScheduler} ${missedSince}`;
    });
    if (expected.join(", ") !== actual.join(", ")) {
      this.#history.violate(`${caller.name} sees [${actual.join(", ")}] as due, not [${expected.join(", ")}]`);
    }
    if (seen.nextFireAt !== nextFireAt) {
      this.#history.violate(`${caller.name} is told of ${seen.nextFireAt} as the next fire time, not ${nextFireAt}`);
    }
  }

  /** Until when a run of a scheduler counts as alive. */
  onAlive(heartbeat: Sign, now: number): void {
    const key = `${heartbeat.identity} ${heartbeat.instanceId}`;
    if (heartbeat.aliveUntil > now) this.#signs.set(key, heartbeat);
    else this.#signs.delete(key);
  }

  /** Whether a run of an identity that counts as alive made a commit. */
  isOfTheLiving(identity: string, commitId: string, now: number): boolean {
    return this.#isAlive(
      now,
      (heartbeat) => heartbeat.identity === identity && commitId.startsWith(heartbeat.instanceId),
    );
  }

  #isAlive(now: number, isOne: (heartbeat: Sign) => boolean): boolean {
    return [...this.#signs.values()].some((heartbeat) => heartbeat.aliveUntil > now && isOne(heartbeat));
  }

  /** A job of a schedule was added. @param place among the fires of a plan; null for a job that was added by hand */
  onEnqueued(job: JobRecord, text: string, place: number | null = null): void {
    if (job.fireTime !== null && job.scheduleId !== null) {
      const fired = this.#enqueued.get(job.scheduleId) ?? new Set();
      this.#enqueued.set(job.scheduleId, fired);
      if (fired.has(job.fireTime))
        this.#history.violate(`${text}: ${job.scheduleId} at ${job.fireTime} was enqueued twice`);
      fired.add(job.fireTime);
      this.#books.onEnqueued(job);
      this.#history.count("enqueued");
    }
    if (place === null) this.#jobs.insert(job, job.runAt <= job.createdAt);
    else this.#jobs.insertFire(job, place);
  }

  onCleanup(report: CleanupReport, now: number): void {
    // A clean-up by a clock that is ahead forgets the living.
    for (const [key, { aliveUntil, isResident }] of this.#signs) {
      if (aliveUntil <= now - (isResident ? DEAD_SCHEDULER_MS : 0)) this.#signs.delete(key);
    }
    for (const id of report.removedScheduleIds) {
      const record = this.#byId.get(id)?.record;
      if (record === undefined || record.nextFireTime !== null || this.#jobs.hasJobsOf(id)) {
        this.#history.violate(`the clean-up removed schedule ${id}, which is in use`);
      }
      if (record !== undefined) this.#noteChange(record, null, { at: now, by: null });
      this.#retireFences(id);
      this.#byId.delete(id);
    }
  }

  /** Whether there is nothing left to fire, not even after a pause. */
  isAtRest(): boolean {
    for (const { record } of this.#byId.values()) {
      if (record.nextFireTime !== null && !this.isRefused(record.id)) return false;
    }
    return true;
  }

  /** Whether the store still knows every schedule, with its history. */
  async checkRecords(read: (id: string) => Promise<ScheduleRecord | null>): Promise<void> {
    for (const { record } of this.#byId.values()) {
      const stored = await read(record.id);
      if (stored === null) this.#history.violate(`schedule ${record.id} is lost`);
      else this.#same(record, stored);
    }
  }

  checkAtRest(now: number): void {
    for (const { record } of this.#byId.values()) {
      if (!record.paused && record.nextFireTime !== null && record.nextFireTime <= now) {
        this.#history.violate(`schedule ${record.id} is due since ${record.nextFireTime} and was never processed`);
      }
    }
  }

  /** Since when a schedule that is due could be known to be, in epoch milliseconds; null for none. A clock that is
   *  behind leaves fire times that have passed already. */
  dueSince(isRead: (schedule: ScheduleRecord) => boolean): number | null {
    let since: number | null = null;
    for (const { record, changedAtMs } of this.#byId.values()) {
      if (record.paused || record.nextFireTime === null || !isRead(record)) continue;
      const at = Math.max(record.nextFireTime, changedAtMs);
      since = Math.min(since ?? at, at);
    }
    return since;
  }

  /** Nothing between the old and the new next fire time is passed over, but by the schedule's own policy; and nothing
   *  that was due when the plan was made is left. */
  #checkPlan({ record }: ModelSchedule, plan: SchedulePlan, plannedAt: number, text: string): Passed[] {
    const { nextFireTime, lastFireTime } = record;
    // What the store never takes pauses its schedule, and fires nothing.
    if (plan.paused && plan.fires.length === 0 && this.isRefused(record.id)) return [];
    if (plan.paused || nextFireTime === null) {
      this.#history.violate(`${text} pauses a sound schedule`);
      return [];
    }
    const trigger = this.#triggers.get(record.trigger);
    const occurrences: number[] = [];
    // A schedule whose trigger changed does not go back behind what it has fired, but for what a wrong clock has fired.
    const isAhead = lastFireTime !== null && lastFireTime > plannedAt + CLOCK_TOLERANCE_MS;
    const first =
      lastFireTime === null || isAhead || nextFireTime > lastFireTime ? nextFireTime : trigger.nextMs(lastFireTime);
    let at: number | null = first;
    for (; at !== null && at <= plannedAt; at = trigger.nextMs(at)) {
      occurrences.push(at);
      if (occurrences.length > OCCURRENCES_MAX) {
        this.#history.violate(`${text} passes over too much`);
        return [];
      }
    }
    if (at !== plan.nextFireTime) this.#history.violate(`${text} goes on at ${plan.nextFireTime}, not at ${at}`);
    const { coalesce, catchUp, overlap } = record;
    const young = occurrences.filter((one) => plannedAt - one <= (catchUp?.maxAgeMs ?? Number.POSITIVE_INFINITY));
    const candidates =
      coalesce === "latest"
        ? young.slice(-1)
        : coalesce === "earliest"
          ? young.slice(0, 1)
          : young.slice(-(catchUp?.maxCount ?? young.length));
    // Nothing is cut off in a run, so that what is due with others is made up for.
    const paceMs = coalesce === "all" && overlap === "queue" ? (catchUp?.paceMs ?? null) : null;
    const isApart = overlap !== "queue" && candidates.length > 0;
    // One fire at most can become a job: the first if others skip because of it, else the last.
    const expected = !isApart ? candidates : overlap === "skip" ? candidates.slice(0, 1) : candidates.slice(-1);
    const passed = candidates.filter((fireTime) => !expected.includes(fireTime));
    const misses = plan.overlap !== undefined && overlap === "queue" && coalesce !== "all" && candidates.length > 0;
    const policy = misses ? coalesce : overlap;
    const told = { policy, passed: passed.length, lastPassedTime: passed.at(-1) ?? null };
    if (JSON.stringify(plan.overlap) !== JSON.stringify(isApart || misses ? told : undefined)) {
      this.#history.violate(`${text} passes over ${JSON.stringify(plan.overlap)}, not ${JSON.stringify(told)}`);
    }
    const actual = plan.fires.map(({ fireTime }) => fireTime);
    if (expected.join(" ") !== actual.join(" ")) this.#history.violate(`${text} fires [${actual}], not [${expected}]`);
    if (plan.lastFireTime !== (isAhead ? lastFireTime : (occurrences.at(-1) ?? lastFireTime))) {
      this.#history.violate(`${text} records ${plan.lastFireTime} as the last fire time`);
    }
    const missed = plan.fires.reduce((sum, fire) => sum + (fire.missedCount ?? 0), 0);
    const coalesced = coalesce === "all" ? 0 : young.length - actual.length;
    if (missed !== coalesced)
      this.#history.violate(`${text} tells of ${missed} missed fire times, not of ${coalesced}`);
    const [into = null] = expected;
    const left = (among: readonly number[]): number[] => among.filter((one) => !candidates.includes(one));
    const isBounded = coalesce === "all";
    const isSkipping = overlap === "skip";
    const all: Passed[] = [
      { verdict: "tooOld", fireTimes: occurrences.slice(0, occurrences.length - young.length), into: null },
      { verdict: isBounded ? "overCount" : "coalesced", fireTimes: left(young), into: isBounded ? null : into },
      { verdict: isSkipping ? "overlapSkipped" : "replaced", fireTimes: passed, into: isSkipping ? null : into },
    ];
    const skips = all.flatMap(skipOf);
    if (JSON.stringify(plan.skips ?? []) !== JSON.stringify(skips)) {
      this.#history.violate(`${text} skips ${JSON.stringify(plan.skips)}, not ${JSON.stringify(skips)}`);
    }
    for (const { verdict } of skips) this.#history.count(`skips ${verdict}`);
    const kept = paceMs !== null && record.paceUntil !== null && record.paceUntil > plannedAt ? record.paceUntil : null;
    let pacedTime = paceMs !== null && expected.length > 1 ? Math.max(plannedAt, kept ?? plannedAt) : null;
    for (const fire of plan.fires) {
      this.#checkFire(record, fire, pacedTime, trigger, text);
      if (pacedTime !== null) this.#history.count("paced");
      pacedTime = pacedTime === null ? null : pacedTime + (paceMs ?? 0);
    }
    const paceUntil = pacedTime ?? kept;
    if ((plan.paceUntil ?? null) !== paceUntil) {
      this.#history.violate(`${text} keeps a pace until ${plan.paceUntil}, not until ${paceUntil}`);
    }
    return all;
  }

  #checkFire(record: ScheduleRecord, fire: PlannedJob, pacedTime: number | null, trigger: Trigger, text: string): void {
    const { fireTime, scheduledFireTime } = fire;
    const next = trigger.nextMs(fireTime);
    const latest = Math.min(fireTime + record.maxJitterMs, next === null ? Number.POSITIVE_INFINITY : next - 1);
    if (scheduledFireTime < fireTime || scheduledFireTime > latest) {
      this.#history.violate(`${text}: the jitter put ${fireTime} off to ${scheduledFireTime}`);
    }
    const runAt = Math.max(scheduledFireTime, pacedTime ?? scheduledFireTime);
    if (fire.runAt !== runAt) this.#history.violate(`${text}: ${fireTime} is to run at ${fire.runAt}, not at ${runAt}`);
    const deadline = record.misfireGraceMs === null ? null : runAt + record.misfireGraceMs;
    if (fire.startDeadline !== deadline)
      this.#history.violate(`${text}: the deadline of ${fireTime} is ${fire.startDeadline}`);
  }

  #noteChange(before: ScheduleRecord | null, after: ScheduleRecord | null, note: AuditRecord): void {
    this.#books.onChange(before, after, note.at);
    this.#changes.onChange(before, after, note);
  }

  /** A scheduler that saw jobs miss their turn lets one stand for all, and one that saw none leaves them alone. */
  #checkHeed(
    { record }: ModelSchedule,
    { fires: [fire], fence, overlap }: SchedulePlan,
    caller: Caller,
    { text, now }: { readonly text: string; readonly now: number },
  ): void {
    if (record.overlap !== "queue" || record.coalesce === "all" || fire === undefined) return;
    // What a schedule that was taken back fires again takes the place of nothing.
    if (fire.fireTime <= (record.lastFireTime ?? Number.NEGATIVE_INFINITY)) return;
    const seen = [...(this.#missesSeen.get(caller)?.get(`${record.id} ${fence}`) ?? [])];
    // Another scheduler may sleep, and have seen nothing of it.
    const mayLeave = (since: number | null): boolean => since === null || now - since < caller.leaseMs + UNSEEN_MS_MAX;
    if (overlap === undefined ? seen.some(mayLeave) : seen.some((since) => since !== null)) return;
    this.#history.violate(`${text} ${overlap === undefined ? "does not heed" : "makes up"} jobs that miss their turn`);
  }

  /** What was planned before no longer counts, and nobody is the preferred scheduler. */
  #changed(schedule: ModelSchedule): void {
    schedule.preferredScheduler = null;
    schedule.commitId = null;
    schedule.changedAtMs = this.#history.nowMs;
  }

  #retireFences(id: string): void {
    const schedule = this.#byId.get(id);
    if (schedule === undefined) return;
    const retired = this.#fences.get(id) ?? [];
    this.#fences.set(id, [...retired, { first: schedule.firstFence, last: schedule.record.fence }]);
  }
}

/** The skip of these fire times, if there are any. */
function skipOf({ verdict, fireTimes, into }: Passed): Skip[] {
  const [from] = fireTimes;
  const until = fireTimes.at(-1);
  if (from === undefined || until === undefined) return [];
  const count = fireTimes.length > MISSED_COUNT_STEPS_MAX ? null : fireTimes.length;
  return [{ from, until, verdict, count, into }];
}

/** Whether a schedule is paused, and all that is said of the pause: what is not given is not kept. */
function pauseOf({ paused, pausedUntil, pauseReason, pausedBy }: Pause): Pause {
  return {
    paused,
    pausedUntil: pausedUntil ?? undefined,
    pauseReason: pauseReason ?? undefined,
    pausedBy: pausedBy ?? undefined,
  };
}

/** What becomes of a schedule that is added. */
function changeOf(
  stored: ScheduleRecord | undefined,
  { schedule, conflictPolicy }: ScheduleAddition,
): ScheduleAdditionChange {
  if (stored === undefined) return "added";
  if (conflictPolicy === "replace") return "replaced";
  if (conflictPolicy !== "update" || stored.declaration === schedule.declaration) return "kept";
  return (stored.version ?? -1) > (schedule.version ?? -1) ? "outdated" : "updated";
}

/** What becomes a job: the plan's fire, and for the rest the schedule as it is stored. */
export function jobOf(schedule: ScheduleRecord, { jobId, ...fire }: PlannedJob, isCatchUp = false): JobRecord {
  const { id, taskId, executor, payload, priority, resultExpirationMs, maxRecoveries, metadata, concurrencyKey } =
    schedule;
  return {
    ...NEVER_RUN,
    ...fire,
    id: jobId,
    taskId,
    scheduleId: id,
    executor,
    payload,
    priority: priority - (isCatchUp ? 0.5 : 0),
    resultExpirationMs,
    maxRecoveries,
    metadata,
    idempotencyKey: null,
    ...(concurrencyKey === undefined ? {} : { concurrencyKey }),
  };
}

function byDueTime({ record: a }: ModelSchedule, { record: b }: ModelSchedule): number {
  return (a.nextFireTime ?? 0) - (b.nextFireTime ?? 0) || (a.id < b.id ? -1 : 1);
}
