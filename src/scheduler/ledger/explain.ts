import { ScheduleLookupError } from "../../core/errors.ts";
import type { OccurrenceRecord, ScheduleChangeRecord } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";
import type { DataStore } from "../../stores/data-store.ts";
import { CLOCK_TOLERANCE_MS } from "../../stores/shared/limits.ts";
import { exclusionIn, shiftIn } from "../../triggers/leaves.ts";
import { type Question, wallText } from "../options/question.ts";
import type { ExplainedVerdict, ExplanationFacts } from "../views/explanation.ts";
import { type Sought, soughtIn } from "./asked.ts";
import { type CauseFacts, causeOf, isLate } from "./cause.ts";
import { changesOnDayOf, gapTimeOf, wallBeforeChange } from "./clocks.ts";
import { evidenceFor } from "./evidence.ts";
import { explanationText, type TextFacts } from "./explanation-text.ts";
import { type Finding, findingOf, runFactsOf, unprocessedFrom } from "./finding.ts";
import { CHANGES_READ_MAX, UNFINISHED_READ_MAX } from "./limits.ts";
import { isOfOtherStore, RuleHistory, type RulePeriod } from "./rule-history.ts";
import { adviceText, type VerdictFacts } from "./verdict-words.ts";

/** A schedule, what is known of its changes, and when it is looked at. */
export interface Known {
  readonly scheduleId: string;
  readonly now: number;
  readonly store: DataStore;
  /** Null where the store has none. */
  readonly ledger: Ledger | null;
  /** Null when it was removed. */
  readonly schedule: ScheduleRecord | null;
  readonly history: RuleHistory;
}

/** Reads a schedule and its changes, with two requests; of one that came from another store, also the start of its
 *  ledger. @throws {ScheduleLookupError} when nothing is known of it */
export async function knownOf(store: DataStore, scheduleId: string, now: number): Promise<Known> {
  const ledger = store.ledger ?? null;
  const filter = { scheduleId, order: "newest", limit: CHANGES_READ_MAX, after: null } as const;
  const [schedule, page] = await Promise.all([store.getSchedule(scheduleId), ledger?.getScheduleChanges(filter)]);
  const newest = page?.items ?? [];
  if (schedule === null && newest.length === 0) {
    throw new ScheduleLookupError(`there is no schedule "${scheduleId}"`, scheduleId);
  }
  const changes = newest.filter(isWhole).reverse();
  const isMoved = schedule !== null && ledger !== null && isOfOtherStore(changes[0], schedule);
  const start = isMoved ? await ledger.getLedgerStart(scheduleId) : null;
  const elsewhereFrom = isMoved ? Math.min(schedule.createdAt, start ?? schedule.createdAt) : null;
  const history = new RuleHistory(changes, schedule, now, elsewhereFrom);
  return { scheduleId, now, store, ledger, schedule, history };
}

/** Whether a change has the states that its kind has. In a damaged row they may be missing. */
function isWhole({ kind, before, after }: ScheduleChangeRecord): boolean {
  return (kind === "added" || before !== null) && (kind === "removed" || after !== null);
}

/** What a question turned out to be about. */
interface Subject {
  readonly sought: Sought;
  readonly period: RulePeriod;
  /** The fire time that is meant; null for none. */
  readonly fireTime: number | null;
  /** What clocks went over, or would have shown: the epoch milliseconds that it would be in UTC. */
  readonly skipped: number | null;
  /** Whether the rule names what clocks went over. */
  readonly isSkippedByRule: boolean;
  /** The fire time on an excluded date that was moved to the one that is meant. */
  readonly shiftedFrom: number | null;
}

/** The answer to a question, with at most eight requests to the store: two of {@link knownOf} among them. */
export async function explain(known: Known, question: Question): Promise<ExplanationFacts> {
  const { history, now } = known;
  const subject = subjectOf(history, question);
  const { sought, period } = subject;
  const facts = await factsOf(known, subject);
  const fireTime = facts.fireTime ?? subject.fireTime;
  const isOfRule = facts.fireTime === null;
  if (fireTime === null) {
    const isUnknown = known.ledger === null && sought.at <= now;
    const [verdict, cause]: [ExplainedVerdict, CauseFacts | null] = isUnknown
      ? ["unrecorded", { kind: "ledger", reason: "notKept" }]
      : verdictOnNone(known, subject);
    return answer(known, subject, { fireTime: null, isOfRule, verdict, cause, finding: null });
  }
  const { entry, job, start } = facts;
  const finding = findingOf({ now, fireTime, schedule: known.schedule, entry, job });
  const state = history.periodAt(fireTime).state ?? period.state ?? { taskId: job?.taskId ?? "", settings: {} };
  const inquiry = { ...known, taskId: state.taskId };
  const evidence = await evidenceFor(inquiry, finding, isLate(finding.run));
  const ledger = known.ledger === null ? null : { ageMsMax: known.ledger.limits.ageMsMax, start };
  const cause = causeOf({ ...known, finding, evidence, state, ledger });
  return answer(known, subject, { fireTime, isOfRule, verdict: finding.verdict, cause, finding });
}

/** The fire time that is meant, of the rule that held then. */
function subjectOf(history: RuleHistory, question: Question): Subject {
  const [sought, period] = place(history, question);
  const none = { sought, period, fireTime: null, skipped: sought.skipped, isSkippedByRule: false, shiftedFrom: null };
  for (const [from, until] of sought.windows) {
    const fireTime = history.next(from - 1);
    if (fireTime !== null && fireTime < until) return { ...none, fireTime };
  }
  const { rule } = period;
  const trigger = rule?.trigger ?? null;
  if (rule === null || trigger === null) return none;
  for (const [from, until] of sought.windows) {
    const shift = rule.ask(() => shiftIn(trigger, from, until), null);
    if (shift === null || history.next(shift.toMs - 1) !== shift.toMs) continue;
    return { ...none, fireTime: shift.toMs, shiftedFrom: shift.fromMs };
  }
  const wall = sought.skipped ?? wallBeforeChange(trigger, rule.timeZone, sought.at);
  if (wall === null) return none;
  const span = question.kind === "wall" ? question.span : 1000;
  const gap = gapTimeOf(trigger, rule.timeZone, wall, span, sought.at);
  if (!gap.isNamed) return none;
  const isKnown = gap.movedTo !== null && history.next(gap.movedTo - 1) === gap.movedTo;
  return { ...none, fireTime: isKnown ? gap.movedTo : null, skipped: wall, isSkippedByRule: gap.movedTo === null };
}

/** The instants that are meant, in the time zone of the rule that held then. */
function place(history: RuleHistory, question: Question): [Sought, RulePeriod] {
  let period = history.ruleNear(question.kind === "wall" ? question.wall : question.at);
  let sought = soughtIn(question, period.rule?.timeZone ?? "UTC");
  const nearest = history.ruleNear(sought.at);
  if (nearest !== period) {
    period = nearest;
    sought = soughtIn(question, period.rule?.timeZone ?? "UTC");
  }
  return [sought, period];
}

interface StoredOccurrence {
  readonly entry: OccurrenceRecord | null;
  readonly job: Finding["job"];
  /** When the ledger began; null unless the store has nothing of the fire time. */
  readonly start: number | null;
  /** A fire time that the store has, although the rule does not know it. */
  readonly fireTime: number | null;
}

/** What the store has of the very instant that is sought, whatever the rule says of it: before it was removed and added
 *  again, the schedule may have fired then. Else what the store has of the fire time that is meant. */
async function factsOf(known: Known, subject: Subject): Promise<StoredOccurrence> {
  const { ledger, scheduleId, now } = known;
  const { at, skipped } = subject.sought;
  if (ledger !== null && at !== subject.fireTime && at <= now && skipped === null) {
    const filter = { scheduleId, from: at, until: at, order: "oldest", limit: 1, cursor: null } as const;
    const [entry] = (await ledger.getOccurrences(filter)).items;
    if (entry?.kind === "run") return { entry, job: null, start: null, fireTime: at };
  }
  return factsOfMeant(known, subject);
}

/** What the store has of a fire time, or of the time in which it is sought. */
async function factsOfMeant(
  { ledger, store, scheduleId, now }: Known,
  { fireTime, sought }: Subject,
): Promise<StoredOccurrence> {
  const nothing = { entry: null, job: null, start: null, fireTime: null };
  const window = fireTime === null ? sought.windows.at(-1) : [fireTime, fireTime + 1];
  if (window === undefined || (window[0] ?? 0) > now) return nothing;
  const [from = 0, until = 0] = window;
  if (ledger === null) {
    if (fireTime === null) return nothing;
    const { items } = await store.getJobs({ scheduleId, limit: UNFINISHED_READ_MAX, cursor: null });
    const job = items.find((one) => one.fireTime === fireTime && one.retryOf === undefined);
    return { ...nothing, job: job ?? null };
  }
  const filter = { scheduleId, from, until: until - 1, order: "oldest", limit: 1, cursor: null } as const;
  const [{ items }, job] = await Promise.all([
    ledger.getOccurrences(filter),
    ledger.getJobOfFireTime(scheduleId, fireTime ?? sought.at),
  ]);
  const [entry = null] = items;
  if (fireTime !== null) {
    const start = entry === null && job === null ? await ledger.getLedgerStart(scheduleId) : null;
    return { entry, job, start, fireTime: null };
  }
  if (entry?.kind === "run") return { ...nothing, entry, fireTime: entry.fireTime };
  return job === null ? nothing : { ...nothing, job, fireTime: sought.at };
}

/** Why an instant is no fire time. */
function verdictOnNone(
  { history, schedule, now }: Known,
  { sought, skipped, isSkippedByRule }: Subject,
): [ExplainedVerdict, CauseFacts | null] {
  const { at } = sought;
  const { rule, change, first, isGuess } = history.periodAt(at);
  if (isGuess && at <= now && at < (unprocessedFrom(schedule) ?? Number.POSITIVE_INFINITY)) {
    return ["unrecorded", { kind: "ledger", reason: "unknown" }];
  }
  if (rule === null) {
    if (change !== null) {
      // The clean-up removes schedules that have no fire time left.
      const hasEnded = change.by === null && change.before?.nextFireTime === null;
      const end = { kind: "bounds", bound: "end", at: history.previous(at) } as const;
      return ["outside", hasEnded ? end : { kind: "removed", by: change.by, at: change.at }];
    }
    const added = history.changes.find(({ kind }) => kind === "added");
    if (added === undefined) return ["outside", null];
    // Who added it to another store is not known here.
    if (isOfOtherStore(added, schedule)) return ["outside", { kind: "added", by: null, at: schedule?.createdAt ?? at }];
    return ["outside", { kind: "added", by: added.by, at: added.at }];
  }
  if (isSkippedByRule) return ["skippedGap", null];
  const windows = sought.windows.length === 0 ? [[at, at + 1] as const] : sought.windows;
  const named = windows.find(([from, until]) => (rule.next(from - 1) ?? until) < until);
  if (named !== undefined && skipped === null) {
    // The rule fires then, but the schedule was told to go on later.
    const lastFireTime = schedule?.lastFireTime ?? 0;
    if (lastFireTime > now + CLOCK_TOLERANCE_MS) return ["outside", { kind: "clockAhead", at: lastFireTime }];
    const isEnded = first === null || (schedule !== null && schedule.nextFireTime === null && at > now);
    const moved = change ?? history.changes.at(-1) ?? null;
    if (moved !== null) return ["outside", { kind: "changed", by: moved.by, at: moved.at }];
    return ["outside", isEnded ? { kind: "bounds", bound: "end", at: schedule?.lastFireTime ?? null } : null];
  }
  const { trigger } = rule;
  if (trigger !== null) {
    const isExcluded = windows.some(
      ([from, until]) => rule.ask(() => exclusionIn(trigger, from, until), null) !== null,
    );
    if (isExcluded) return ["excluded", null];
  }
  if (rule.problem === null) {
    const [next, previous] = [rule.next(at - 1), rule.previous(at)];
    if (next === null && previous !== null) return ["outside", { kind: "bounds", bound: "end", at: previous }];
    if (next !== null && previous === null) return ["outside", { kind: "bounds", bound: "start", at: next }];
  }
  return ["noFireTime", null];
}

/** What was found out, as it is shown. */
function answer(
  known: Known,
  subject: Subject,
  {
    fireTime,
    isOfRule,
    verdict,
    cause,
    finding,
  }: Pick<VerdictFacts, "verdict" | "cause" | "finding"> & Pick<TextFacts, "fireTime" | "isOfRule">,
): ExplanationFacts {
  const { scheduleId, history, now } = known;
  const { sought, period } = subject;
  const rule = (fireTime === null ? null : history.periodAt(fireTime).rule) ?? period.rule;
  const isRuleOfNow = known.ledger === null || history.periodAt(fireTime ?? sought.at).isGuess;
  const timeZone = rule?.timeZone ?? "UTC";
  const middle = fireTime ?? sought.at;
  const trigger = rule?.trigger ?? null;
  const shiftedFrom =
    subject.shiftedFrom ??
    (trigger === null || rule === null || fireTime === null
      ? null
      : rule.ask(() => trigger.shiftedFromMs(fireTime), null));
  const changes = trigger === null || rule === null ? [] : rule.ask(() => changesOnDayOf(trigger, sought.at), []);
  const taskId = period.state?.taskId ?? "";
  const told: VerdictFacts = {
    scheduleId,
    taskId,
    timeZone,
    now,
    verdict,
    cause,
    finding,
    hasLedger: known.ledger !== null,
  };
  const [before, after] = [history.previous(middle), history.next(middle)];
  const occurrence =
    finding === null || finding.verdict === "upcoming" || finding.verdict === "unrecorded"
      ? null
      : {
          ...{ scheduleId, timeZone, fireTime: finding.fireTime, verdict: finding.verdict },
          into: finding.skip?.into ?? null,
          run: runFactsOf(finding),
        };
  return {
    ...{ scheduleId, timeZone, at: sought.at, fireTime, verdict, cause, occurrence, shiftedFrom, before, after },
    clockChanges: changes.map(({ timeZone: zone, atMs, shiftMs, offsetMs }) => ({
      timeZone: zone,
      at: atMs,
      from: wallText(atMs + offsetMs - shiftMs),
      to: wallText(atMs + offsetMs),
    })),
    advice: adviceText(told),
    text: explanationText({
      ...told,
      rule,
      isRuleOfNow,
      sought,
      skipped: subject.skipped,
      shiftedFrom,
      fireTime,
      isOfRule,
      before,
      after,
    }),
  };
}
