import { FIRES_PER_COMMIT_MAX, OVERLAP_JOBS_PER_PLAN_MAX, PLANS_PER_COMMIT_MAX } from "../../../core/limits.ts";
import type { CommitRequest, OverlapReport, PlanReport, SchedulePlan } from "../../data-store.ts";
import { guardSql, type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { type FlowMode, markDirty } from "../flow-control/key-limiters.ts";
import { isDueUnstarted, isMadeByPlan } from "../jobs/job-rows.ts";
import { beginDetailsAs } from "../label-index.ts";
import { effectiveFrom, stateAsJson } from "../ledger/audit-of-changes.ts";
import { insertSkips, isOf, type LedgerSwitch } from "../ledger/history-writes.ts";
import { hasMissedStart, JOB_STATE, type TableNames } from "../schema/tables.ts";
import { jsonArray, lazily, numberOrNull, rowParameters, validJson } from "../sql-and-json.ts";
import { blackoutsVersion } from "./sqlite-blackouts.ts";

type StatementsOfPlans = PlanStatements & LedgerSwitch;

/** The plans of one commit, as statements. */
export class Plans {
  readonly #statements: StatementsOfPlans;
  readonly #request: CommitRequest;
  readonly #flow: FlowMode;
  /** The first plan of each schedule: a second one does not count. */
  readonly #counted: readonly SchedulePlan[];
  readonly #jobIds: readonly string[];
  /** Plans that depend on the unfinished jobs of their schedules. */
  readonly #apart: readonly PlanApart[];
  /** Those of them whose schedules' jobs miss their turn. */
  readonly #missing: readonly PlanApart[];

  /** @throws {RangeError} when there are more plans or fires than one commit may have */
  constructor(statements: StatementsOfPlans, request: CommitRequest, flow: FlowMode) {
    this.#statements = statements;
    this.#request = request;
    this.#flow = flow;
    this.#counted = [...new Map(request.plans.toReversed().map((plan) => [plan.scheduleId, plan])).values()].reverse();
    this.#jobIds = this.#counted.flatMap(({ fires }) => fires.map(({ jobId }) => jobId));
    this.#apart = this.#counted.filter(isApart);
    this.#missing = this.#apart.filter(coalesces);
    refuseMoreThan(PLANS_PER_COMMIT_MAX, request.plans.length, "plans");
    refuseMoreThan(FIRES_PER_COMMIT_MAX, this.#jobIds.length, "jobs of plans");
  }

  /** @param hasParents whether jobs that are replaced may have children. If not, and one has, the batch is undone */
  commits(hasParents: boolean): SqlStatement[] {
    if (this.#counted.length === 0) return [];
    const { now, schedulerId, commitId } = this.#request;
    const { insertFires, commitPlans, recordFailures, notePauses, setZoneRulesOfPlans, keepsLedger } = this.#statements;
    const fireRows = this.#counted.filter((plan) => plan.fires.length > 0 && !isApart(plan)).map(this.#row(fireRow));
    const pausing = this.#counted.filter(({ paused }) => paused);
    const failures = keepsLedger ? pausing.map(this.#row(failureRow)) : [];
    return [
      ...this.#insertions(insertFires, fireRows),
      // A skip leaves out the fire times of unfinished jobs, also of those that leave now.
      ...this.#skips(),
      ...this.#makingWay(hasParents),
      ...this.#coalescing(),
      ...rowParameters(failures).map(({ text }) => statement(recordFailures, text, now, schedulerId)),
      ...rowParameters(this.#counted.filter(setsZoneRules).map(this.#row(zoneRulesRow))).map(({ text }) =>
        statement(setZoneRulesOfPlans, text, now),
      ),
      ...rowParameters(pausing.filter(hasReason).map(this.#row(failureRow))).map(({ text }) =>
        statement(notePauses, text, now, schedulerId),
      ),
      statement(commitPlans, JSON.stringify(this.#counted.map(this.#row(planRow))), now, commitId, schedulerId),
    ];
  }

  /** The statements of plans whose schedules' runs may not overlap. */
  #makingWay(hasParents: boolean): SqlStatement[] {
    if (this.#apart.length === 0) return [];
    const { now } = this.#request;
    const { noteOverlaps, noteMissed, markReplaced, endReplaced, removeReplaced } = this.#statements;
    const { cancelOverlapped, insertUnskipped, keepsLedger, skipOverlapped } = this.#statements;
    const textOf = (plans: readonly PlanApart[]): string => JSON.stringify(plans.map(this.#row(overlapRow)));
    const rows = textOf(this.#apart);
    const has = (...policies: string[]): boolean =>
      this.#apart.some(({ overlap }) => policies.includes(overlap.policy));
    const overlapping = this.#apart.filter((plan) => !coalesces(plan));
    const own = textOf(overlapping);
    const missing = this.#missing.length === 0 ? [] : [statement(noteMissed, textOf(this.#missing), now)];
    const replacing = [
      statement(markReplaced, rows, now),
      ...(hasParents ? [statement(endReplaced, rows, now)] : []),
      statement(removeReplaced, rows, now, hasParents ? 1 : 0),
    ];
    return [
      ...(overlapping.length === 0 ? [] : [statement(noteOverlaps, own, now)]),
      ...missing,
      ...(has("replaceQueued", "cancelRunning", "latest", "earliest") ? replacing : []),
      ...(keepsLedger && overlapping.length > 0 ? [statement(skipOverlapped, own, now)] : []),
      ...(has("cancelRunning") ? [statement(cancelOverlapped, rows, now)] : []),
      ...this.#insertions(insertUnskipped, this.#apart.map(this.#row(fireRow))),
    ];
  }

  /** The statements of jobs that stand for others of their schedules. They follow those of all other skips, because
   *  what a fire stood for goes to the job that stands for the fire. */
  #coalescing(): SqlStatement[] {
    if (this.#missing.length === 0) return [];
    const rows = JSON.stringify(this.#missing.map(this.#row(overlapRow)));
    const { standForMissed, forgetCoalesced, enterCoalesced, keepsLedger } = this.#statements;
    const { now } = this.#request;
    const entries = keepsLedger ? [forgetCoalesced, enterCoalesced] : [];
    return [standForMissed, ...entries].map((sql) => statement(sql, rows, now));
  }

  /** The rows of plans with what {@link planStatements} compares. */
  #row<P extends SchedulePlan>(row: (plan: P) => unknown[]): (plan: P) => unknown[] {
    const { blackouts = 0 } = this.#request;
    if (blackouts === 0) return row;
    return (plan) => row(plan).map((value, place) => (place === 1 ? plan.fence + blackouts : value));
  }

  #insertions(sql: string, fireRows: readonly unknown[][]): SqlStatement[] {
    const { now } = this.#request;
    return rowParameters(fireRows).map(({ text }) => statement(sql, text, now, this.#flow === "on" ? 1 : 0));
  }

  /** The statements that enter the skips of the plans into the ledger. */
  #skips(): SqlStatement[] {
    const { keepsLedger, enterSkips } = this.#statements;
    if (!keepsLedger) return [];
    const rows = this.#counted.filter(({ skips = [] }) => skips.length > 0).map(this.#row(skipRow));
    return rowParameters(rows).map(({ text }) => statement(enterSkips, text, this.#request.now));
  }

  /** The statements whose answers {@link reports} reads. They follow the {@link commits}. */
  confirmation(): SqlStatement[] {
    if (this.#counted.length === 0) return [];
    const { confirmPlans, readOverlaps } = this.#statements;
    const { commitId } = this.#request;
    const fences = (plans: readonly SchedulePlan[]): string =>
      JSON.stringify(plans.map(({ scheduleId, fence }) => [scheduleId, fence]));
    return [
      statement(confirmPlans, fences(this.#counted), JSON.stringify(this.#jobIds), commitId),
      ...(this.#apart.length === 0 ? [] : [statement(readOverlaps, fences(this.#apart), commitId)]),
    ];
  }

  /** What became of each plan; `answers` are those of the {@link confirmation}. */
  reports([confirmation, overlaps]: readonly Row[][], isRepetition: boolean): PlanReport[] {
    // If this try committed nothing, the schedules can still carry the stamp of another try, but that counts only in a
    // repetition.
    const counts = isRepetition || numberOrNull(confirmation, "changes") !== 0;
    const places = counts ? jsonArray<number>(confirmation, "committed") : [];
    const committed = new Set(places.map((place) => this.#counted[place]));
    const existing = new Set(jsonArray<number>(confirmation, "existing").map((place) => this.#jobIds[place]));
    const counted = new Set(this.#counted);
    const notes = new Map(
      jsonArray<[place: number, note: OverlapNote | null]>(overlaps, "overlaps").map(([place, note]) => [
        this.#apart[place] as SchedulePlan | undefined,
        note,
      ]),
    );
    return this.#request.plans.map((plan) => {
      const isCommitted = committed.has(plan);
      const note = isCommitted ? notes.get(plan) : undefined;
      return {
        committed: isCommitted,
        addedJobIds: counted.has(plan) ? plan.fires.map(({ jobId }) => jobId).filter((id) => existing.has(id)) : [],
        ...(note === undefined || note === null ? {} : { overlap: overlapOf(note) }),
      };
    });
  }
}

type PlanApart = SchedulePlan & Required<Pick<SchedulePlan, "overlap">>;

function isApart(plan: SchedulePlan): plan is PlanApart {
  return plan.overlap !== undefined;
}

/** What `noteOverlaps` notes. */
interface OverlapNote {
  readonly isSkipped?: number;
  readonly replaced?: readonly [jobId: string, fireTime: number][];
  readonly cancelRequested?: readonly string[];
}

function overlapOf({ isSkipped, replaced, cancelRequested }: OverlapNote): OverlapReport {
  return {
    isSkipped: isSkipped === 1,
    replaced: (replaced ?? []).map(([jobId, fireTime]) => ({ jobId, fireTime })),
    cancelRequested: cancelRequested ?? [],
  };
}

function overlapRow({ scheduleId, fence, expected, overlap, fires: [fire] }: PlanApart): unknown[] {
  const {
    fireTime = null,
    missedCount = null,
    firstMissedTime = null,
    lastMissedTime = null,
    runAt = null,
  } = fire ?? {};
  const of = [scheduleId, fence, expected, overlap.passed, overlap.policy, fireTime];
  return coalesces({ overlap }) ? [...of, missedCount, firstMissedTime, lastMissedTime, runAt] : of;
}

/** Whether a job of the schedule may come to stand for others. */
function coalesces({ overlap: { policy } }: Pick<PlanApart, "overlap">): boolean {
  return policy === "latest" || policy === "earliest";
}

function skipRow({ scheduleId, fence, expected, skips = [] }: SchedulePlan): unknown[] {
  const rows = skips.map(({ from, until, verdict, count, into }) => [from, until, verdict, count, into]);
  return [scheduleId, fence, expected, rows];
}

function planRow(plan: SchedulePlan): unknown[] {
  const { scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isPreferred, paceUntil = null } = plan;
  return [scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isPreferred, paceUntil];
}

function hasReason({ pauseReason }: SchedulePlan): boolean {
  return pauseReason !== undefined;
}

function failureRow({ scheduleId, fence, expected, nextFireTime, pauseReason }: SchedulePlan): unknown[] {
  return [scheduleId, fence, expected, nextFireTime, pauseReason ?? null];
}

function setsZoneRules({ zoneRules }: SchedulePlan): boolean {
  return zoneRules !== undefined;
}

function zoneRulesRow({ scheduleId, fence, expected, zoneRules }: SchedulePlan): unknown[] {
  return [scheduleId, fence, expected, zoneRules];
}

function fireRow({ scheduleId, fence, expected, fires, isCatchUp = false }: SchedulePlan): unknown[] {
  const rows = fires.map((fire) => [
    fire.jobId,
    fire.createdAt,
    fire.fireTime,
    fire.scheduledFireTime,
    fire.runAt,
    fire.startDeadline,
    fire.missedCount,
    fire.firstMissedTime,
    fire.lastMissedTime,
    isCatchUp ? 0.5 : 0,
  ]);
  return [scheduleId, fence, expected, rows];
}

function refuseMoreThan(most: number, count: number, what: string): void {
  if (count > most)
    throw new RangeError(`a commit has ${count} ${what}, and may have ${most}: send them in several commits`);
}

/** The statements that commit plans. A comment before each statement lists its arguments. */
export interface PlanStatements {
  readonly insertFires: string;
  readonly noteOverlaps: string;
  readonly noteMissed: string;
  readonly skipOverlapped: string;
  readonly markReplaced: string;
  readonly endReplaced: string;
  readonly removeReplaced: string;
  readonly cancelOverlapped: string;
  readonly enterSkips: string;
  readonly insertUnskipped: string;
  readonly standForMissed: string;
  readonly forgetCoalesced: string;
  readonly enterCoalesced: string;
  readonly recordFailures: string;
  readonly notePauses: string;
  readonly setZoneRulesOfPlans: string;
  readonly commitPlans: string;
  readonly confirmPlans: string;
  readonly readOverlaps: string;
}

export function planStatements(names: TableNames): PlanStatements {
  const { schedules, jobs, tasks, dependencies, histories, runs, skips, changes } = names;
  // True while the schedule of the row [scheduleId, fence, expected, ...], and the blackouts, are as the planner saw
  // them; ?2 now. The fence of the row is the sum of the schedule's fence and of the version of the blackouts. Both
  // only grow, so that the sum is the same only if both are. The plus signs keep SQLite from using the index of due
  // schedules, in which many schedules may share one fire time.
  const asPlanned =
    `s.fence + coalesce((${blackoutsVersion(names)}), 0) = r.value->>1 AND +s.next_fire_time = r.value->>2 ` +
    "AND +s.next_fire_time <= ?2 AND +s.paused = 0";
  const details = validJson("s.details");
  const { delayed, ready, leased } = JOB_STATE;
  // The fields that the planner knows: merging them into `{}` leaves out those that are null. No other field may go
  // through json_patch, because json_patch would remove null from metadata too.
  const known =
    "json_patch('{}', json_object('createdAt', f.value->>1, 'scheduledFireTime', f.value->>3, " +
    "'startDeadline', f.value->>5, 'missedCount', f.value->>6, 'firstMissedTime', f.value->>7, " +
    "'lastMissedTime', f.value->>8))";
  // A job with a key is delayed, so that a commit with flow control blocks it, and marks its limiter. Without flow
  // control (see `FlowState`) the key of the task is not looked up.
  const key = `coalesce(${details}->>'concurrencyKey', t.own_key)`;
  const insertFires =
    `INSERT INTO ${jobs} (id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, ` +
    "fence, failed_attempts, recoveries, cancel_requested, details, concurrency_key, overdue_at, start_deadline) " +
    `SELECT f.value->>0, s.task_id, coalesce(${details}->>'executor', ''), s.id, f.value->>2, NULL, ` +
    `coalesce(${details}->>'priority', 0) - f.value->>9, f.value->>4, ` +
    `CASE WHEN f.value->>4 > f.value->>1 OR ${key} IS NOT NULL THEN ${delayed} ELSE ${ready} END, 0, 0, 0, 0, ` +
    `${beginDetailsAs(details)} || substr(rtrim(${known}, '}'), 2) || ',"resultExpirationMs":' || ` +
    `coalesce(${details}->'resultExpirationMs', '0') || ` +
    `coalesce(',"failureExpirationMs":' || (${details}->'failureExpirationMs'), '') || ` +
    `',"maxRecoveries":' || coalesce(${details}->'maxRecoveries', '0') || ` +
    `',"metadata":' || ${validJson("s.metadata")} || ` +
    `coalesce(',"pauseAfterFailures":' || (${details}->'pauseAfterFailures'), '') || ` +
    `coalesce(',"payload":' || (${details}->'payload'), '') || '}', ${key}, ` +
    `f.value->>2 + coalesce(s.expect_start, s.expect_finish), f.value->>5 ` +
    `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
    `CROSS JOIN json_each(r.value, '$[3]') f LEFT JOIN ${tasks} t ON t.id = CASE WHEN ?3 THEN s.task_id END ` +
    `WHERE ${asPlanned} ` +
    // Only a schedule that was taken back from where a wrong clock had moved it fires behind its last fire time.
    "AND NOT (coalesce(s.last_fire_time >= f.value->>2, 0) AND EXISTS (SELECT 1 FROM " +
    `${histories} h CROSS JOIN ${runs} d ON ${isOf("h.number", "d")} AND d.fire_time = f.value->>2 ` +
    "WHERE h.schedule_id = s.id))";
  const unlessSkipped = "AND coalesce(s.overlap_note->>'isSkipped', 0) = 0";
  // One that has missed its start counts as ended.
  const ofSchedule =
    `FROM ${jobs} j WHERE j.schedule_id = s.id AND j.fire_time IS NOT NULL ` +
    `AND ${isMadeByPlan("j")} AND (${hasMissedStart("?2", "j")}) IS NOT TRUE`;
  /** SQL of a JSON array: of the schedule's first jobs that fire times made and that are in `states`. */
  const first = (item: string, states: string): string =>
    `json((SELECT json_group_array(${item}) FROM (SELECT j.id, j.fire_time ${ofSchedule} AND ${states} ` +
    `ORDER BY j.fire_time LIMIT ${OVERLAP_JOBS_PER_PLAN_MAX})))`;
  const isBusy = `EXISTS (SELECT 1 ${ofSchedule})`;
  const waiting = first("json_array(id, fire_time)", `j.state <> ${leased}`);
  // The fire of the row `r`, and the jobs up to it that miss their turn, by fire time: one of them stands for all. A
  // fire takes the place of its own job, which was there before the schedule was removed and added again.
  const isOldest = "r.value->>4 = 'earliest'";
  const isStoodFor = `CASE WHEN ${isOldest} THEN place > 1 OR at = r.value->>5 ELSE back > 1 END`;
  const ofMissed = ["missedCount", "firstMissedTime", "lastMissedTime"].map(
    (name) => `${validJson("j.details")}->>'${name}' AS ${name}`,
  );
  const missed =
    "SELECT *, row_number() OVER (ORDER BY at DESC, id IS NULL DESC) AS back, " +
    "row_number() OVER (ORDER BY at) AS place, " +
    `CASE WHEN ${isOldest} THEN min(at) OVER () ELSE max(at) OVER () END AS into_time, ` +
    // Whether it stands for what those before it stand for.
    "max(max(at, coalesce(lastMissedTime, at))) OVER (ORDER BY at, id IS NULL " +
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= min(at, coalesce(firstMissedTime, at)) AS is_again " +
    "FROM (SELECT * FROM (SELECT j.id, j.fire_time AS at, " +
    // What is told of already, or is about the end of another job, is later.
    "CASE WHEN j.overdue_at <= j.fire_time + coalesce(s.expect_start, s.expect_finish) THEN j.overdue_at END AS due, " +
    `${ofMissed.join(", ")} FROM ${jobs} j WHERE j.schedule_id = s.id AND j.fire_time <= r.value->>5 ` +
    `AND ${isDueUnstarted("j", "?2")} AND NOT EXISTS (SELECT 1 ${ofSchedule} AND j.state = ${leased}) ` +
    `ORDER BY j.fire_time LIMIT ${OVERLAP_JOBS_PER_PLAN_MAX}) ` +
    // One that is still to come takes the place of none that is due.
    "UNION ALL SELECT NULL, r.value->>5, NULL, r.value->>6, r.value->>7, r.value->>8 " +
    `WHERE ${isOldest} OR r.value->>9 <= ?2) ORDER BY at`;
  const end = (which: "min" | "max", name: string): string =>
    `${which}(CASE WHEN at <> into_time THEN ${which}(at, coalesce(${name}, at)) ELSE ${name} END)`;
  const from = end("min", "firstMissedTime");
  const coalesced =
    `json_object('isSkipped', ${isOldest} AND min(at) < r.value->>5, 'into', min(into_time), ` +
    "'at', json_group_array(at), 'due', min(due), " +
    `'replaced', json_group_array(json_array(id, at)) FILTER (WHERE id IS NOT NULL AND ${isStoodFor}), ` +
    "'missed', json_array(CASE WHEN count(missedCount) = count(*) AND max(coalesce(is_again, 0)) = 0 " +
    "THEN sum(missedCount) + count(*) - 1 END, " +
    `${from}, ${end("max", "lastMissedTime")}))`;
  const running = first("id", `j.state = ${leased} AND j.cancel_requested = 0`);
  /** The ids that a list in the notes of the plans' schedules names. */
  const noted = (list: string, id: string): string =>
    `SELECT ${id} FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
    `CROSS JOIN json_each(s.overlap_note, '$.${list}') n WHERE ${asPlanned}`;

  return lazily<PlanStatements>({
    // ?1 rows [scheduleId, fence, expected, fires], each fire [jobId, createdAt, fireTime, scheduledFireTime, runAt,
    // startDeadline, missedCount, firstMissedTime, lastMissedTime, what is taken from its priority], ?2 now, ?3 whether
    // there is flow control. Runs
    // before commitPlans, because both statements test the fence, and commitPlans raises it.
    insertFires: () => `${insertFires} ON CONFLICT DO NOTHING`,
    // The next seven serve plans of schedules whose runs may not overlap, and run in this order, before commitPlans.
    // ?1 rows [scheduleId, fence, expected, passed, policy, the fire time of the fire or null], ?2 now. Notes what is
    // in the way of the plan's fire.
    noteOverlaps: () =>
      `UPDATE ${schedules} AS s SET skipped_count = s.skipped_count + r.value->>3 + ` +
      `CASE r.value->>4 WHEN 'skip' THEN ${isBusy} ELSE json_array_length(${waiting}) END, ` +
      `overlap_note = CASE r.value->>4 WHEN 'skip' THEN json_object('isSkipped', ${isBusy}) ` +
      `WHEN 'replaceQueued' THEN json_object('replaced', ${waiting}) ` +
      `ELSE json_object('replaced', ${waiting}, 'cancelRequested', ${running}) END ` +
      `FROM json_each(?1) r WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // ?1 rows [scheduleId, fence, expected, 0, policy, the fire time of the fire, and its missedCount, firstMissedTime,
    // lastMissedTime and runAt], ?2 now. Does the same for plans of schedules whose jobs miss their turn.
    noteMissed: () =>
      `UPDATE ${schedules} AS s SET overlap_note = (SELECT ` +
      `CASE WHEN count(id) > 0 AND count(*) > 1 AND ${from} IS NOT NULL THEN ${coalesced} ` +
      `ELSE json_object('replaced', json_array()) END FROM (${missed})) ` +
      `FROM json_each(?1) r WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // The arguments of noteMissed. Runs after insertUnskipped, and the next two after enterSkips.
    standForMissed: () =>
      `UPDATE ${jobs} SET details = json_set(${validJson(`${jobs}.details`)}, ` +
      `'$.missedCount', s.overlap_note->'$.missed[0]', '$.firstMissedTime', s.overlap_note->'$.missed[1]', ` +
      "'$.lastMissedTime', s.overlap_note->'$.missed[2]'), " +
      "overdue_at = coalesce(min(overdue_at, s.overlap_note->>'due'), overdue_at) FROM json_each(?1) r " +
      `CROSS JOIN ${schedules} s ON s.id = r.value->>0 WHERE ${asPlanned} ` +
      `AND ${jobs}.schedule_id = s.id AND ${jobs}.fire_time = s.overlap_note->>'into'`,
    // the arguments of noteMissed
    forgetCoalesced: () =>
      `DELETE FROM ${skips} WHERE (history, from_time) IN (SELECT k.history, k.from_time FROM json_each(?1) r ` +
      `CROSS JOIN ${schedules} s ON s.id = r.value->>0 CROSS JOIN ${histories} h ON h.schedule_id = s.id ` +
      `CROSS JOIN ${skips} k ON k.history = h.number ` +
      "AND k.from_time >= s.overlap_note->>'$.missed[1]' AND k.until_time <= s.overlap_note->>'$.missed[2]' " +
      `WHERE ${asPlanned} AND k.verdict = 'coalesced' ` +
      "AND k.into_time IN (SELECT a.value FROM json_each(s.overlap_note, '$.at') a))",
    // the arguments of noteMissed
    enterCoalesced: () =>
      insertSkips(
        names,
        "SELECT h.number AS history, s.id AS schedule_id, s.overlap_note->>'$.missed[1]' AS from_time, " +
          "s.overlap_note->>'$.missed[2]' AS until_time, 'coalesced' AS verdict, " +
          "s.overlap_note->>'$.missed[0]' AS count, s.overlap_note->>'into' AS into_time FROM json_each(?1) r " +
          `CROSS JOIN ${schedules} s ON s.id = r.value->>0 CROSS JOIN ${histories} h ON h.schedule_id = s.id ` +
          `WHERE ${asPlanned} AND s.overlap_note->>'into' IS NOT NULL`,
      ),
    // the arguments of noteOverlaps
    markReplaced: () =>
      markDirty(
        names,
        `SELECT task_id, concurrency_key, CAST(?2 AS INTEGER) FROM ${jobs} ` +
          `WHERE id IN (${noted("replaced", "n.value->>0")}) AND concurrency_key IS NOT NULL AND state = ${ready}`,
      ),
    // the arguments of noteOverlaps
    endReplaced: () =>
      `UPDATE ${dependencies} SET outcome = 'cancelled' WHERE outcome IS NULL ` +
      `AND parent_id IN (${noted("replaced", "n.value->>0")})`,
    // the arguments of noteOverlaps, and ?3 whether endReplaced has run. If not, and a job has children, the batch is
    // undone.
    removeReplaced: () =>
      `DELETE FROM ${jobs} WHERE id IN (${noted("replaced", "n.value->>0")}) ` +
      `RETURNING ${guardSql("?3 OR has_children = 0")} AS guard`,
    // the arguments of noteOverlaps. Runs after the jobs are removed, because a skip leaves out the fire times of
    // unfinished jobs. A fire time that takes the place of its own job (the schedule was removed, and added again) is
    // not replaced.
    skipOverlapped: () => {
      const of = `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 `;
      const history = `CROSS JOIN ${histories} h ON h.schedule_id = s.id WHERE ${asPlanned} `;
      return insertSkips(
        names,
        "SELECT h.number AS history, s.id AS schedule_id, n.value->>1 AS from_time, n.value->>1 AS until_time, " +
          `'replaced' AS verdict, 1 AS count, r.value->>5 AS into_time ${of}` +
          `CROSS JOIN json_each(s.overlap_note, '$.replaced') n ${history}AND n.value->>1 IS NOT r.value->>5 ` +
          `UNION ALL SELECT h.number, s.id, r.value->>5, r.value->>5, 'overlapSkipped', 1, NULL ${of}${history}` +
          "AND s.overlap_note->>'isSkipped' = 1 AND r.value->>5 IS NOT NULL",
      );
    },
    // the arguments of noteOverlaps
    cancelOverlapped: () =>
      `UPDATE ${jobs} SET cancel_requested = 1 WHERE id IN (${noted("cancelRequested", "n.value")})`,
    // the arguments of insertFires
    insertUnskipped: () => `${insertFires} ${unlessSkipped} ON CONFLICT DO NOTHING`,
    // ?1 rows [scheduleId, fence, expected, skips], each skip [from, until, verdict, count, into], ?2 now. Runs before
    // commitPlans.
    enterSkips: () =>
      insertSkips(
        names,
        "SELECT h.number AS history, h.schedule_id AS schedule_id, f.value->>0 AS from_time, " +
          "f.value->>1 AS until_time, f.value->>2 AS verdict, f.value->>3 AS count, f.value->>4 AS into_time " +
          `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
          `CROSS JOIN ${histories} h ON h.schedule_id = s.id CROSS JOIN json_each(r.value, '$[3]') f ` +
          `WHERE ${asPlanned}`,
      ),
    // ?1 rows [scheduleId, fence, expected, nextFireTime, pauseReason] of plans that pause their schedules, ?2 now,
    // ?3 schedulerId. Runs before commitPlans, and so does the next one.
    recordFailures: () =>
      `INSERT INTO ${changes} (schedule_id, at, made_by, kind, former, latter, effective_from) ` +
      `SELECT s.id, ?2, ?3, 'failed', ${stateAsJson("s")}, ` +
      `json_set(${stateAsJson("s")}, '$.paused', 1, '$.nextFireTime', r.value->>3, '$.pauseReason', r.value->>4), ` +
      `${effectiveFrom("r.value->>3", "s.last_fire_time", "?2")} ` +
      `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 WHERE ${asPlanned}`,
    notePauses: () =>
      `UPDATE ${schedules} AS s SET pause_reason = r.value->>4, paused_by = ?3 FROM json_each(?1) r ` +
      `WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // ?1 rows [scheduleId, fence, expected, zoneRules], ?2 now. Runs before commitPlans, and only for plans that change
    // them, because commitPlans would otherwise write the index of zone rules anew.
    setZoneRulesOfPlans: () =>
      `UPDATE ${schedules} AS s SET zone_rules = r.value->>3 FROM json_each(?1) r ` +
      `WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // ?1 rows [scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isPreferred, paceUntil],
    // ?2 now, ?3 commitId, ?4 schedulerId
    commitPlans: () =>
      `UPDATE ${schedules} AS s SET next_fire_time = r.value->>3, last_fire_time = r.value->>4, ` +
      "paused = r.value->>5, pace_until = r.value->>7, fence = s.fence + 1, " +
      "preferred_scheduler = CASE WHEN r.value->>6 THEN ?4 END, " +
      `changed_by = ?3 FROM json_each(?1) r WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // Follows commitPlans. ?1 rows [scheduleId, fence], ?2 ids of jobs, ?3 commitId. Columns: `changes`, how many plans
    // this very try committed; `committed`, the places (in ?1) of the plans that any try of the commit committed;
    // `existing`, the places (in ?2) of the jobs that exist.
    confirmPlans: () =>
      "SELECT changes() AS changes, " +
      `(SELECT json_group_array(r.key) FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
      "WHERE s.fence = (r.value->>1) + 1 AND s.changed_by = ?3) AS committed, " +
      `(SELECT json_group_array(r.key) FROM json_each(?2) r CROSS JOIN ${jobs} j ON j.id = r.value) AS existing`,
    // Follows commitPlans. ?1 rows [scheduleId, fence], ?2 commitId. Yields rows [place in ?1, note] of the plans that
    // any try of the commit committed.
    readOverlaps: () =>
      "SELECT json_group_array(json_array(r.key, json(s.overlap_note))) AS overlaps " +
      `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
      "WHERE s.fence = (r.value->>1) + 1 AND s.changed_by = ?2",
  });
}
