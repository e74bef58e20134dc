import type { JobRecord } from "../../src/records/job.ts";
import type { OccurrenceRecord, OccurrenceRunRecord, SkipVerdict } from "../../src/records/ledger.ts";
import type { ScheduleRecord } from "../../src/records/schedule.ts";
import type { Ledger } from "../../src/stores/contract/ledger-types.ts";
import { CLOCK_TOLERANCE_MS } from "../../src/stores/shared/limits.ts";
import type { History } from "./history.ts";
import type { TriggerTable } from "./trigger-table.ts";

/** What became of a fire time. */
export type Verdict =
  /** `earlier` is what the ledger has until then, from before the schedule was removed. */
  | { readonly kind: "unfinished"; readonly jobId: string; readonly earlier?: Verdict }
  | { readonly kind: "run"; readonly run: OccurrenceRunRecord }
  /** `formerly` are fire times whose jobs stood for this one and did not know: then the skip may be theirs. What a job
   *  has entered again (`isAgain`) leaves out what a later rule of the schedule passed over there. */
  | {
      readonly kind: "skip";
      readonly verdict: SkipVerdict;
      readonly into: number | null;
      readonly formerly?: readonly number[];
      readonly isAgain?: boolean;
    };

/** Fire times for which a plan makes no job, and why. */
export interface Passed {
  readonly verdict: SkipVerdict;
  readonly fireTimes: readonly number[];
  readonly into: number | null;
}

/** What became of the fire times of one schedule. */
interface Line {
  readonly verdicts: Map<number, Verdict>;
  /** What the schedule left before it was removed and added again. */
  readonly earlier: Set<number>;
  /** Where skips begin that have no fire time, because nobody knows without the rule: those of changes, and parts of
   *  skips between what ran before the schedule was removed. */
  readonly blank: Set<number>;
  /** Fire times that a change took out of the ledger while a job stood for them, that of the other fire time: the job
   *  still does, and enters them again when it gives way to another one or stands for more. */
  readonly takenOut: Map<number, number>;
}

/** What a fire or its job stands for. */
type Member = Pick<JobRecord, "fireTime" | "firstMissedTime" | "lastMissedTime">;

/** Fire times that are still to come, and that are looked at. */
const COMING_MAX = 20;
/** A ledger that keeps so many entries loses none in a run. */
const KEPT_MIN = 1000;
const PAGE_LIMITS = [3, 50] as const;

/** What truly became of each fire time, one by one, as it looks from outside the stores: their ledger has to say the
 *  same. */
export class BookModel {
  readonly #history: History;
  readonly #lines = new Map<string, Line>();
  readonly #triggers: TriggerTable;
  #checks = 0;

  constructor(history: History, triggers: TriggerTable) {
    this.#history = history;
    this.#triggers = triggers;
  }

  /** A plan that counts made no job of these. */
  onPassed(scheduleId: string, passed: readonly Passed[]): void {
    for (const { verdict, fireTimes, into } of passed) {
      this.#skip(scheduleId, fireTimes, { kind: "skip", verdict, into });
    }
  }

  /** A fire time became a job. */
  onEnqueued({ id: jobId, scheduleId, fireTime }: JobRecord): void {
    if (scheduleId !== null && fireTime !== null) this.#set(scheduleId, fireTime, { kind: "unfinished", jobId });
  }

  /** A job ended. One that repeats another one takes its place. */
  onEnded(
    job: JobRecord,
    end: Pick<OccurrenceRunRecord, "outcome" | "startedAt" | "finishedAt" | "attempts" | "isKeyed">,
  ): void {
    const { id: jobId, scheduleId, fireTime, createdAt } = job;
    if (scheduleId === null || fireTime === null) return;
    const scheduledFireTime = job.scheduledFireTime ?? fireTime;
    if (job.retryOf !== undefined) this.#lineOf(scheduleId).verdicts.delete(fireTime);
    this.#set(scheduleId, fireTime, { kind: "run", run: { fireTime, scheduledFireTime, jobId, createdAt, ...end } });
  }

  /** A newer fire time took the place of a job. */
  onReplaced({ scheduleId, fireTime }: JobRecord, into: number | null): void {
    if (scheduleId === null || fireTime === null) return;
    const line = this.#lineOf(scheduleId);
    const known = line.verdicts.get(fireTime);
    const earlier = known?.kind === "unfinished" ? known.earlier : undefined;
    if (fireTime === into) {
      // The job is from before the schedule was removed, and the same fire time makes a new one.
      this.#forget(scheduleId, fireTime, earlier);
      return;
    }
    this.#set(scheduleId, fireTime, earlier ?? { kind: "skip", verdict: "replaced", into });
  }

  /** The job of a fire time is gone. @param earlier what became of the fire time before */
  #forget(scheduleId: string, fireTime: number, earlier: Verdict | undefined): void {
    const line = this.#lineOf(scheduleId);
    if (earlier === undefined) {
      line.verdicts.delete(fireTime);
      return;
    }
    line.verdicts.set(fireTime, earlier);
    line.earlier.add(fireTime);
  }

  /** One job stands for these, and for all that one of the members stood for. */
  onCoalesced(scheduleId: string, jobs: readonly JobRecord[], members: readonly Member[], into: number): void {
    const skip = { kind: "skip", verdict: "coalesced", into } as const;
    const fireTimes = members.map(({ fireTime }) => fireTime);
    const stoodFor = (one: Verdict): boolean =>
      one.kind === "skip" && one.verdict === "coalesced" && fireTimes.includes(one.into);
    const knows = (at: number, other: number | null): boolean =>
      members.some(
        ({ fireTime, firstMissedTime, lastMissedTime }) =>
          fireTime === other && (firstMissedTime ?? at + 1) <= at && at <= (lastMissedTime ?? at),
      );
    const { verdicts, earlier, takenOut } = this.#lineOf(scheduleId);
    for (const [fireTime, verdict] of verdicts) {
      if (verdict.kind !== "skip" || verdict.into === null || !stoodFor(verdict)) continue;
      const { formerly = [], isAgain = false } = verdict;
      const isKnown = formerly.length === 0 && knows(fireTime, verdict.into);
      const entered = { ...skip, isAgain };
      verdicts.set(fireTime, isKnown ? entered : { ...entered, formerly: [...formerly, verdict.into] });
    }
    for (const [fireTime, other] of takenOut) {
      if (!knows(fireTime, other)) continue;
      takenOut.set(fireTime, into);
      if (verdicts.has(fireTime)) continue;
      verdicts.set(fireTime, { ...skip, isAgain: true });
      earlier.add(fireTime);
    }
    for (const { fireTime } of jobs) {
      if (fireTime === null) continue;
      const known = verdicts.get(fireTime);
      const earlier = known?.kind === "unfinished" ? known.earlier : undefined;
      const isStoodFor = earlier === undefined || stoodFor(earlier);
      // The job is from before the schedule was removed, and the same fire time makes a new one.
      if (fireTime === into) this.#forget(scheduleId, fireTime, isStoodFor ? undefined : earlier);
      else this.#set(scheduleId, fireTime, isStoodFor ? skip : earlier);
    }
  }

  /** A schedule was added, changed or removed. @param at by the clock of whoever did it */
  onChange(before: ScheduleRecord | null, after: ScheduleRecord | null, at: number): void {
    const { id } = (after ?? before) as ScheduleRecord;
    const { verdicts, earlier, blank, takenOut } = this.#lineOf(id);
    if (before === null) for (const fireTime of verdicts.keys()) earlier.add(fireTime);
    const hasNewRule = before !== null && after !== null && before.trigger !== after.trigger;
    if (!hasNewRule && (before?.nextFireTime ?? null) === (after?.nextFireTime ?? null)) return;
    const lastFired = before?.lastFireTime ?? Number.NEGATIVE_INFINITY;
    const next = after?.nextFireTime ?? null;
    // From here on, the fire times are those of the new rule. It does not go back behind what was fired.
    const start = next !== null && next <= at ? next : at + 1;
    const isTakenBack = next !== null && next <= lastFired && lastFired > at + CLOCK_TOLERANCE_MS;
    const from = isTakenBack ? start : Math.max(start, lastFired + 1);
    // The schedule lives through these fire times again, except those that ran.
    for (const [fireTime, verdict] of verdicts) {
      if (fireTime < from || verdict.kind !== "skip") continue;
      verdicts.delete(fireTime);
      earlier.delete(fireTime);
      if (verdict.verdict === "coalesced" && verdict.into !== null) takenOut.set(fireTime, verdict.into);
      // What is left of its skip, after what had run, may have lost its last fire time.
      blank.add(Math.max(...[...verdicts.keys()].filter((at) => at < from)) + 1);
    }
    if (before === null || before.nextFireTime === null || before.nextFireTime > at) return;
    if (before.nextFireTime <= lastFired) blank.add(lastFired + 1);
    const verdict = before.paused ? "paused" : after === null ? "removed" : "replaced";
    const fireTimes: number[] = [];
    for (const fireTime of this.#dueOf(before)) {
      if (fireTime >= from) break;
      fireTimes.push(fireTime);
      this.#history.count(`verdicts ${verdict} by changes`);
    }
    const span = { from: Math.max(before.nextFireTime, lastFired + 1), until: from - 1 };
    this.#skip(id, fireTimes, { kind: "skip", verdict, into: null }, span);
  }

  /** Whether a ledger tells what is true. @param schedules those that there are */
  async check(ledger: Ledger, get: (id: string) => ScheduleRecord | undefined): Promise<void> {
    this.#checks++;
    for (const [id, line] of this.#lines) {
      const entries = await this.#read(ledger, id);
      const start = await ledger.getLedgerStart(id);
      if (start === null) {
        const isNeeded = get(id) !== undefined || [...line.verdicts.values()].some(({ kind }) => kind === "unfinished");
        if (isNeeded || entries.length > 0) this.#violate(id, "the ledger knows nothing of it");
        continue;
      }
      entries.forEach((entry, index) => {
        const before = entries[index - 1];
        if (before !== undefined && endOf(before) >= startOf(entry)) {
          this.#violate(id, `${textOf(before)} and ${textOf(entry)} share fire times`);
        }
      });
      // What came before the schedule itself is there too, unless there is more than is to be kept.
      const keptFrom = ledger.limits.countMax < KEPT_MIN ? start : Number.NEGATIVE_INFINITY;
      await this.#checkVerdicts(ledger, id, line, entries, keptFrom);
      await this.#checkComing(ledger, id, line, entries, get(id));
    }
  }

  async #checkVerdicts(
    ledger: Ledger,
    id: string,
    line: Line,
    entries: readonly OccurrenceRecord[],
    keptFrom: number,
  ): Promise<void> {
    const { verdicts } = line;
    const runs = new Map(entries.flatMap((entry) => (entry.kind === "run" ? [[entry.fireTime, entry]] : [])));
    const skips = entries.filter((entry) => entry.kind === "skip");
    const counts = new Map<OccurrenceRecord, number>();
    // Skips that took the place of what the store had forgotten.
    const mixed = new Set<OccurrenceRecord>();
    for (const [fireTime, truth] of verdicts) {
      const run = runs.get(fireTime);
      const told = skips.filter(({ from, until }) => from <= fireTime && fireTime <= until);
      if (run !== undefined) told.push(run as never);
      for (const entry of told) {
        if (isOfLaterRule(truth, entry)) continue;
        counts.set(entry, (counts.get(entry) ?? 0) + 1);
        if (fireTime < keptFrom && !isTold(truth, entry)) mixed.add(entry);
      }
      if (fireTime < keptFrom) continue;
      const [first] = told;
      this.#history.count("verdicts checked");
      if (truth.kind === "unfinished") {
        const job = await ledger.getJobOfFireTime(id, fireTime);
        if (job?.id !== truth.jobId) this.#violate(id, `job ${truth.jobId} of ${fireTime} is not found (${job?.id})`);
      }
      if (told.length > 1 || !isTold(truth, first)) {
        this.#violate(
          id,
          `of ${fireTime} the ledger has [${told.map(textOf).join(", ")}], not ${JSON.stringify(truth)}`,
        );
      }
    }
    for (const entry of entries) if (!mixed.has(entry)) this.#checkEntry(id, entry, counts.get(entry) ?? 0, line);
  }

  /** An entry is there for fire times, and tells how many. */
  #checkEntry(id: string, entry: OccurrenceRecord, count: number, { verdicts, blank }: Line): void {
    if (count === 0 && blank.has(startOf(entry))) return;
    // A part between other entries, of what a job stands for.
    if (count === 0 && entry.kind === "skip" && entry.verdict === "coalesced" && entry.count === null) return;
    if (count === 0) this.#violate(id, `${textOf(entry)} is in the ledger, and there was no such fire time`);
    if (entry.kind === "run" || entry.count === null) return;
    const { from, until } = entry;
    const isUnknown = ([at, verdict]: [number, Verdict]): boolean =>
      at >= from && at <= until && verdict.kind === "skip" && verdict.formerly !== undefined;
    const least = count - [...verdicts].filter(isUnknown).length;
    const isExact = entry.count >= least && entry.count <= count && verdicts.has(from) && verdicts.has(until);
    if (!isExact) this.#violate(id, `${textOf(entry)} is in the ledger, with ${count} fire times`);
  }

  /** Nothing has become yet of what waits. */
  async #checkComing(
    ledger: Ledger,
    id: string,
    { verdicts }: Line,
    entries: readonly OccurrenceRecord[],
    schedule: ScheduleRecord | undefined,
  ): Promise<void> {
    if (schedule === undefined) return;
    let left = COMING_MAX;
    for (const fireTime of this.#dueOf(schedule)) {
      if (left-- === 0) return;
      // In an earlier life of the schedule it has come.
      if (verdicts.has(fireTime)) continue;
      const told = entries.find((entry) => startOf(entry) <= fireTime && fireTime <= endOf(entry));
      if (told !== undefined) this.#violate(id, `${fireTime} is still to come, and the ledger has ${textOf(told)}`);
      const job = await ledger.getJobOfFireTime(id, fireTime);
      if (job !== null) this.#violate(id, `${fireTime} is still to come, and has job ${job.id}`);
    }
  }

  async #read(ledger: Ledger, scheduleId: string): Promise<OccurrenceRecord[]> {
    const order = this.#checks % 2 === 0 ? "oldest" : "newest";
    const limit = PAGE_LIMITS[this.#checks % 3 === 0 ? 0 : 1];
    const entries: OccurrenceRecord[] = [];
    let cursor: string | null = null;
    do {
      const all = { scheduleId, from: Number.MIN_SAFE_INTEGER, until: Number.MAX_SAFE_INTEGER };
      const page = await ledger.getOccurrences({ ...all, order, limit, cursor });
      entries.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== null);
    return order === "oldest" ? entries : entries.reverse();
  }

  /** The fire times that a schedule has not processed, without end. */
  *#dueOf({ trigger: text, nextFireTime, lastFireTime }: ScheduleRecord): Iterable<number> {
    if (nextFireTime === null) return;
    const trigger = this.#triggers.get(text);
    const hasGoneBack = lastFireTime !== null && nextFireTime <= lastFireTime;
    let at: number | null = hasGoneBack ? trigger.nextMs(lastFireTime) : nextFireTime;
    for (; at !== null; at = trigger.nextMs(at)) yield at;
  }

  /** @param span the time that the skip covers; absent for that from the first to the last of the fire times */
  #skip(
    scheduleId: string,
    fireTimes: readonly number[],
    verdict: Verdict,
    { from, until }: { from: number; until: number } = { from: fireTimes[0] ?? 0, until: fireTimes.at(-1) ?? -1 },
  ): void {
    const { verdicts, earlier, blank } = this.#lineOf(scheduleId);
    // What an earlier life left stays, and cuts the skip into parts.
    const left = [...verdicts.keys()].filter((at) => at >= from && at <= until).sort((a, b) => a - b);
    left.forEach((at, place) => {
      const end = left[place + 1] ?? until + 1;
      if (!fireTimes.some((fireTime) => fireTime > at && fireTime < end)) blank.add(at + 1);
    });
    for (const fireTime of fireTimes) if (!earlier.has(fireTime)) this.#set(scheduleId, fireTime, verdict);
  }

  #set(scheduleId: string, fireTime: number, verdict: Verdict): void {
    const { verdicts, earlier } = this.#lineOf(scheduleId);
    const before = verdicts.get(fireTime);
    const isEnd = before?.kind === "unfinished" && verdict.kind !== "unfinished";
    const isAgain = earlier.has(fireTime) && before?.kind !== "unfinished" && verdict.kind === "unfinished";
    if (before !== undefined && !isEnd && !isAgain) {
      const texts = [before, verdict].map((one) => JSON.stringify(one));
      this.#violate(scheduleId, `${fireTime} came twice: ${texts.join(", then ")}`);
    }
    if (isAgain) earlier.delete(fireTime);
    verdicts.set(fireTime, isAgain && before !== undefined ? { ...verdict, earlier: before } : verdict);
  }

  #lineOf(scheduleId: string): Line {
    const known = this.#lines.get(scheduleId);
    if (known !== undefined) return known;
    const line = { verdicts: new Map(), earlier: new Set<number>(), blank: new Set<number>(), takenOut: new Map() };
    this.#lines.set(scheduleId, line);
    return line;
  }

  #violate(id: string, what: string): void {
    this.#history.violate(`the books of schedule ${id}: ${what}`);
  }
}

function isTold(truth: Verdict, entry: OccurrenceRecord | undefined): boolean {
  if (truth.kind === "unfinished") {
    return truth.earlier === undefined ? entry === undefined : isTold(truth.earlier, entry);
  }
  if (entry === undefined) return false;
  if (entry.kind !== truth.kind) return false;
  if (truth.kind === "skip") {
    if (isOfLaterRule(truth, entry)) return true;
    if (entry.kind !== "skip" || entry.verdict !== truth.verdict) return false;
    return entry.into === truth.into || truth.formerly?.includes(entry.into ?? -1) === true;
  }
  return Object.entries(truth.run).every(([key, value]) => Reflect.get(entry, key) === value);
}

function isOfLaterRule(truth: Verdict, entry: OccurrenceRecord): boolean {
  return truth.kind === "skip" && truth.isAgain === true && entry.kind === "skip" && entry.verdict !== "coalesced";
}

function startOf(entry: OccurrenceRecord): number {
  return entry.kind === "run" ? entry.fireTime : entry.from;
}

function endOf(entry: OccurrenceRecord): number {
  return entry.kind === "run" ? entry.fireTime : entry.until;
}

function textOf(entry: OccurrenceRecord): string {
  return JSON.stringify(entry);
}
