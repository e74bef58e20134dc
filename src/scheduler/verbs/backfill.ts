import { optionError } from "../../core/option-errors.ts";
import { instantText } from "../../core/temporal.ts";
import { textHash } from "../../core/text-hash.ts";
import { type BackfillRecord, backfillJobId } from "../../records/backfill.ts";
import type { JobRecord } from "../../records/job.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import { CLOCK_TOLERANCE_MS } from "../../stores/shared/limits.ts";
import { withinBudget } from "../../triggers/step-budget.ts";
import { brokenTrigger, type Trigger } from "../../triggers/trigger.ts";
import type { BackfillFacts } from "../commands/commands.ts";
import { FireTimesThatRan } from "../ledger/fire-times-that-ran.ts";
import type { CheckedBackfill } from "../options/checked-options.ts";
import { assertStoreClock } from "../running/store-clock.ts";
import { BACKFILL_FIRE_TIMES_PER_COMMIT_MAX, BACKFILL_LENGTH_PER_COMMIT_MAX } from "./limits.ts";
import { newJobRecord } from "./new-records.ts";
import { otherRequest } from "./request-hash.ts";
import type { VerbContext } from "./verb-context.ts";

const WHERE = "backfill()";

/** A schedule, by whose rule fire times are made up for, and the rule itself. */
export interface BackfilledSchedule {
  readonly record: ScheduleRecord;
  readonly trigger: Trigger;
}

/**
 * Adds jobs for past fire times of a schedule, a part in each commit. Each part is looked at anew where others have
 * changed a backfill of the schedule meanwhile, so that no fire time gets two jobs: what had no run and no unfinished
 * job when it was looked at has none at the commit, unless a commit of another backfill came in between.
 * @throws {OptionsError}
 */
export async function backfill(
  context: VerbContext,
  schedule: BackfilledSchedule,
  options: CheckedBackfill,
): Promise<BackfillFacts> {
  return new Backfill(context, schedule, options).run();
}

class Backfill {
  readonly #context: VerbContext;
  readonly #schedule: BackfilledSchedule;
  readonly #options: CheckedBackfill;
  readonly #ran: FireTimesThatRan;
  readonly #key: string;
  readonly #request: string;
  /** Most fire times of one commit. */
  readonly #countMax: number;
  /** As it is known to be, and the greatest `seq` at that time. */
  #state: BackfillRecord | null = null;
  #seq = 0;
  /** What this call has left out. */
  readonly #left = { ran: 0, coalesced: 0 };
  /** The fire times that stand for what was coalesced. */
  readonly #into = new Set<number>();
  /** What this call has sent last. */
  #sentSeq = -1;

  constructor(context: VerbContext, schedule: BackfilledSchedule, options: CheckedBackfill) {
    this.#context = context;
    this.#schedule = schedule;
    this.#options = options;
    const { id, createdAt, payload, metadata } = schedule.record;
    const { idempotencyKey, signal: _signal, dryRun: _dryRun, ...asked } = options;
    // A schedule that was removed and added again is another one.
    this.#request = JSON.stringify([createdAt, asked]);
    this.#key = idempotencyKey === undefined ? `#${textHash(this.#request)}` : `=${idempotencyKey}`;
    this.#ran = new FireTimesThatRan(context.env.store.ledger ?? null, id);
    const length = (payload?.length ?? 0) + JSON.stringify(metadata).length + JOB_LENGTH;
    const count = Math.floor(BACKFILL_LENGTH_PER_COMMIT_MAX / length);
    this.#countMax = Math.min(Math.max(count, 1), BACKFILL_FIRE_TIMES_PER_COMMIT_MAX);
  }

  async run(): Promise<BackfillFacts> {
    const { env, tasks } = this.#context;
    const { dryRun, signal } = this.#options;
    const task = await tasks.settingsOf(this.#schedule.record.taskId);
    await assertStoreClock(env);
    await this.#see([]);
    await this.#assertAllowed();
    while (!this.#stateNow().isDone) {
      signal?.throwIfAborted();
      // A store in this process answers without a turn of the event loop.
      await env.clock.yield();
      const state = this.#stateNow();
      const page = this.#nextPage(state);
      const before = this.#seq;
      const taken = await this.#see(page.fireTimes);
      if (this.#seq !== before) continue;
      const fireTimes = await this.#missing(page.fireTimes, taken, state);
      const next = this.#after(state, page, fireTimes);
      const isNothing = next.backfill.count === 0 || (fireTimes.length === 0 && !next.backfill.isDone);
      if (dryRun || isNothing) this.#state = next.backfill;
      else await this.#commit(next, task);
    }
    const { id, count, first, last, seq } = this.#stateNow();
    const [into = null] = this.#into;
    const coalescedInto = this.#into.size > 1 ? null : into;
    return { count, first, last, ...this.#left, coalescedInto, backfillId: seq > 0 ? id : null };
  }

  /** Reads how far the backfill has come, unless nobody has changed that. Returns which fire times have a job. */
  async #see(fireTimes: readonly number[]): Promise<ReadonlySet<number>> {
    const { store } = this.#context.env;
    const request = { scheduleId: this.#schedule.record.id, key: this.#key, fireTimes };
    const { backfill: found, seq, taken } = await store.seeBackfill(request);
    const own = this.#state;
    if (own !== null && own.seq > 0 && found?.id !== own.id) {
      // Somebody has cancelled it.
      this.#state = { ...own, isDone: true };
      this.#seq = seq;
    } else if (seq !== this.#seq || own === null) {
      if (found !== null && found.request !== this.#request) throw otherRequest(WHERE);
      this.#state = found ?? this.#fresh();
      this.#seq = seq;
    }
    return new Set(taken);
  }

  #stateNow(): BackfillRecord {
    return this.#state ?? this.#fresh();
  }

  /** A backfill that has not begun. The schedule itself sees to the fire times from its next one on. */
  #fresh(): BackfillRecord {
    const { env } = this.#context;
    const now = env.clock.now();
    const { id: scheduleId, nextFireTime } = this.#schedule.record;
    const { from, order } = this.#options;
    const until = Math.max(from, Math.min(this.#options.until, now + 1, nextFireTime ?? Number.POSITIVE_INFINITY));
    return {
      id: env.ids.next(now),
      scheduleId,
      key: this.#key,
      request: this.#request,
      from,
      until,
      position: order === "oldest" ? from : until,
      isDone: false,
      isCancelled: false,
      count: 0,
      first: null,
      last: null,
      paceUntil: null,
      createdAt: now,
      changedAt: now,
      seq: 0,
    };
  }

  /** @throws {OptionsError} for a range that is not past, or of which nobody knows what ran */
  async #assertAllowed(): Promise<void> {
    const { isDone, seq, from, until, position } = this.#stateNow();
    if (isDone) return;
    const { env } = this.#context;
    const { record, trigger } = this.#schedule;
    const { nextFireTime, paused } = record;
    const { includeUnrecorded, order } = this.#options;
    const now = env.clock.now();
    if (this.#options.until > now + CLOCK_TOLERANCE_MS) {
      const shown = instantText(this.#options.until);
      throw optionError(WHERE, "until", `must not be in the future, as ${shown} is: the schedule itself fires then`);
    }
    if (seq === 0 && paused && nextFireTime !== null && nextFireTime < Math.min(this.#options.until, now + 1)) {
      throw optionError(
        WHERE,
        "until",
        `must be ${instantText(nextFireTime)} at most while schedule "${record.id}" is paused, because the schedule ` +
          "makes up for later fire times when it goes on; " +
          'unpauseSchedule(id, { resumeFrom: "now" }) leaves them to you',
      );
    }
    if (includeUnrecorded) return;
    const left = order === "oldest" ? { from: position, until } : { from, until: position };
    const start = (await env.store.ledger?.getLedgerStart(record.id)) ?? null;
    const first = nextOf(trigger, left.from - 1);
    if (first === null || first >= Math.min(left.until, start ?? left.until)) return;
    const known =
      start === null ? "the store has no ledger of the schedule" : `the ledger begins ${instantText(start)}`;
    const other = start === null || start >= left.until ? "" : `; begin with from: "${instantText(start)}", or`;
    throw optionError(
      WHERE,
      "from",
      `takes in fire times of which nobody knows whether they ran, such as ${instantText(first)}, because ${known}` +
        `${other === "" ? ";" : other} write { includeUnrecorded: true } to run them all the same`,
    );
  }

  /** The next fire times, and how far the backfill has come with them. */
  #nextPage({ from, until, position }: BackfillRecord): PageOfFireTimes {
    const { trigger } = this.#schedule;
    const isForward = this.#options.order === "oldest";
    const fireTimes: number[] = [];
    for (let at = isForward ? position - 1 : position; ; ) {
      const next = isForward ? nextOf(trigger, at) : previousOf(trigger, at);
      if (next === null || next >= until || next < from)
        return { fireTimes, position: isForward ? until : from, isLast: true };
      fireTimes.push(next);
      at = next;
      if (fireTimes.length < this.#countMax) continue;
      return { fireTimes, position: isForward ? next + 1 : next, isLast: false };
    }
  }

  /** Those that get a job: they have none that is unfinished, and did not run. */
  async #missing(
    fireTimes: readonly number[],
    taken: ReadonlySet<number>,
    { count }: BackfillRecord,
  ): Promise<readonly number[]> {
    const { includeRan, includeCoalesced, limit = Number.POSITIVE_INFINITY } = this.#options;
    const free = fireTimes.filter((at) => !taken.has(at));
    this.#left.ran += fireTimes.length - free.length;
    const ranFor = includeRan || free.length === 0 ? () => null : await this.#ran.among(free);
    const isMissing = (at: number): boolean => {
      const ran = ranFor(at);
      if (ran === null || (includeCoalesced && ran !== at)) return true;
      if (ran === at) this.#left.ran++;
      else {
        this.#left.coalesced++;
        this.#into.add(ran);
      }
      return false;
    };
    return free.filter(isMissing).slice(0, limit - count);
  }

  /** The backfill when these fire times have jobs, and when these run. */
  #after(
    state: BackfillRecord,
    { position, isLast, fireTimes: seen }: PageOfFireTimes,
    fireTimes: readonly number[],
  ): NextJobs {
    const { limit = Number.POSITIVE_INFINITY, order, paceMs } = this.#options;
    const now = this.#context.env.clock.now();
    const count = state.count + fireTimes.length;
    const isFull = count >= limit;
    const lastTaken = fireTimes.at(-1);
    const end = order === "oldest" ? (lastTaken ?? 0) + 1 : (lastTaken ?? 0);
    let { paceUntil } = state;
    const runAts = fireTimes.map(() => {
      if (paceMs === undefined) return now;
      const runAt = Math.max(now, paceUntil ?? now);
      paceUntil = runAt + paceMs;
      return runAt;
    });
    return {
      fireTimes,
      runAts,
      backfill: {
        ...state,
        position: isFull && lastTaken !== undefined && lastTaken !== seen.at(-1) ? end : position,
        isDone: isLast || isFull,
        count,
        first: fireTimes.reduce<number | null>((first, at) => Math.min(first ?? at, at), state.first),
        last: fireTimes.reduce<number | null>((last, at) => Math.max(last ?? at, at), state.last),
        paceUntil,
        changedAt: now,
      },
    };
  }

  async #commit({ backfill: next, fireTimes, runAts }: NextJobs, task: TaskRecord): Promise<void> {
    const { env, announceJobs } = this.#context;
    const { changedAt } = next;
    this.#sentSeq = Math.max(this.#seq + 1, changedAt);
    const sent = { ...next, seq: this.#sentSeq };
    const jobs = fireTimes.map((at, place) => this.#jobAt(at, runAts[place] ?? changedAt, task, next));
    const added = await env.store.commitBackfill({ backfill: sent, expectedSeq: this.#seq, jobs });
    if (added === null) {
      await this.#see([]);
      // The answer to a first try may have been lost, and a repetition does not count.
      const { id, seq } = this.#stateNow();
      if (id === sent.id && seq === sent.seq) announceJobs(jobs);
      return;
    }
    this.#state = sent;
    this.#seq = sent.seq;
    announceJobs(added);
  }

  /** As a job of `runScheduleNow`, it has no deadline; as one that makes up for a fire time, it comes behind the others
   *  of its priority. */
  #jobAt(fireTime: number, runAt: number, task: TaskRecord, { id, changedAt: now }: BackfillRecord): JobRecord {
    const { record } = this.#schedule;
    const { executor, priority, resultExpirationMs, metadata, labels, maxRecoveries } = record;
    const payload = { text: record.payload, key: record.concurrencyKey ?? null };
    const facts = { id: backfillJobId(id, fireTime), task, payload, now };
    const { labels: _, ...job } = newJobRecord(facts, {
      executor,
      priority: priority - 0.5,
      resultExpirationMs,
      runAt,
    });
    return {
      ...job,
      ...(labels === undefined ? {} : { labels }),
      ...{ scheduleId: record.id, metadata, maxRecoveries, fireTime, scheduledFireTime: fireTime, missedCount: 0 },
    };
  }
}

/** About how many characters a job has besides its payload and its metadata. */
const JOB_LENGTH = 500;

interface PageOfFireTimes {
  readonly fireTimes: readonly number[];
  readonly position: number;
  readonly isLast: boolean;
}

interface NextJobs {
  readonly backfill: BackfillRecord;
  readonly fireTimes: readonly number[];
  readonly runAts: readonly number[];
}

/** @throws {BrokenTriggerError} */
function nextOf(trigger: Trigger, afterMs: number): number | null {
  const next = withinBudget(() => trigger.nextMs(afterMs));
  if (next !== null && !(Number.isSafeInteger(next) && next > afterMs)) throw brokenTrigger(trigger, afterMs, next);
  return next;
}

/** @throws {BrokenTriggerError} */
function previousOf(trigger: Trigger, beforeMs: number): number | null {
  const previous = withinBudget(() => trigger.previousMs(beforeMs));
  if (previous === null || (Number.isSafeInteger(previous) && previous < beforeMs)) return previous;
  throw brokenTrigger(trigger, beforeMs, previous, "earlier");
}
