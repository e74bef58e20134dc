import { RevisionConflictError } from "../../core/errors.ts";
import { canHoldOptions, isPlain, listOf, optionError, shown, takes } from "../../core/option-errors.ts";
import { withoutUndefined } from "../../core/without-undefined.ts";
import type { AuditRecord } from "../../records/ledger.ts";
import type { ConflictPolicy } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { ScheduleAdditionChange, ScheduleChanges, ScheduleFilter } from "../../stores/data-store.ts";
import { pauseFacts } from "../../stores/shared/pauses.ts";
import type { TriggerLike } from "../../triggers/short-trigger.ts";
import { zoneRulesOf } from "../../triggers/stored-zone-rules.ts";
import type { BackfillFacts, BulkChange, ScheduleCommands, SkippedSchedules } from "../commands/commands.ts";
import { scheduleOutdated, schedulePauseEvents, scheduleRemoved, scheduleSaved } from "../events/event-records.ts";
import { KnownBlackouts } from "../firing/known-blackouts.ts";
import { checkOrder, checkScheduleOptions, checkTrigger, scheduleOptionNames } from "../options/check-options.ts";
import type {
  CheckedBackfill,
  CheckedBulk,
  CheckedPause,
  CheckedRevision,
  CheckedRunNow,
  CheckedScheduleChanges,
  CheckedScheduleFilter,
  CheckedUnpause,
  ScheduleSelection,
} from "../options/checked-options.ts";
import { sayingWhere } from "../options/each-new-job.ts";
import { BULK_ADD_MAX } from "../options/limits.ts";
import type { ScheduleDefaults, ScheduleOptions } from "../options/options.ts";
import type { NewSchedule } from "../scheduler-client.ts";
import { outdatedText } from "../tasks/announce-tasks.ts";
import { type KeyedPayload, keyedPayload } from "../tasks/concurrency-key.ts";
import { UPDATE_TRIES_MAX } from "../tasks/limits.ts";
import type { Job } from "../views/job.ts";
import type { Page } from "../views/page.ts";
import { type PreviewedFire, previewedFire } from "../views/previewed-fire.ts";
import { Schedule, type ScheduleExtras } from "../views/schedule.ts";
import { assertLater } from "./assert-later.ts";
import { backfill } from "./backfill.ts";
import { boundPage } from "./bound-page.ts";
import { differingOptions } from "./declared-schedule.ts";
import { assertExpectable } from "./expectations.ts";
import type { JobVerbs } from "./job-verbs.ts";
import { countsOf } from "./list-counts.ts";
import { assertFireTime, newJobRecord, scheduleChanges } from "./new-records.ts";
import { assertOwnJob, otherRequest } from "./request-hash.ts";
import { ScheduleAdditions, type WantedSchedule } from "./schedule-additions.ts";
import { ScheduleBulk } from "./schedule-bulk.ts";
import { noSchedule, tooManyChanges } from "./schedule-errors.ts";
import { extrasOf, fireTimesOf } from "./schedule-extras.ts";
import type { VerbContext } from "./verb-context.ts";

/** What a scheduler does with schedules. */
export class ScheduleVerbs implements ScheduleCommands {
  readonly #context: VerbContext;
  readonly #jobs: JobVerbs;
  readonly #additions: ScheduleAdditions;
  readonly #bulk: ScheduleBulk;

  constructor(context: VerbContext, jobs: JobVerbs) {
    this.#context = context;
    this.#jobs = jobs;
    this.#additions = new ScheduleAdditions(context);
    this.#bulk = new ScheduleBulk(context);
  }

  async add(task: unknown, rule: TriggerLike, options: ScheduleOptions, where = "addSchedule()"): Promise<Schedule> {
    const { env, tasks, inherited } = this.#context;
    checkOrder(task, rule, where);
    const checked = checkScheduleOptions(withDefaults(options, inherited.scheduleDefaults), where);
    assertExpectable(env.store, checked, checked, where);
    const trigger = checkTrigger(rule, where, inherited.timeZone, checked);
    const taskId = tasks.idOf(task);
    const { id, conflictPolicy, ifRevision } = checked;
    if (ifRevision !== undefined) {
      if (id !== undefined && conflictPolicy === "replace") {
        return this.#replace(id, { taskId, trigger, options: checked, where });
      }
      throw optionError(where, "ifRevision", 'goes together with an id and conflictPolicy "replace" alone');
    }
    const { asked, stored, change } = await this.#additions.add({ taskId, trigger, options: checked, where });
    const { requestHash = stored.declaration } = checked;
    if (stored.declaration !== requestHash) throw otherRequest(where);
    this.#context.scheduled(taskId, stored.id);
    this.#announceAddition(asked, stored, change, checked.conflictPolicy);
    return this.#scheduleOf(stored);
  }

  /** Replaces a schedule that has a revision. Its declaration stays, as after every edit. */
  async #replace(id: string, wanted: WantedSchedule): Promise<Schedule> {
    const { paused } = wanted.options;
    await this.#context.ready();
    const { nextFireTime, paceUntil, trigger, zoneRules = null, ...asked } = await this.#additions.recordOf(wanted);
    // What a schedule has of its own, whoever declares it.
    const { createdAt: _at, lastFireTime: _last, skippedCount: _count, lastFailure: _failure, ...withoutPast } = asked;
    const { fence: _fence, revision: _revision, declaration: _declared, version: _version, ...others } = withoutPast;
    const { concurrencyKey = null, expectStartMs = null, expectFinishMs = null, labels = null } = others;
    const { failureExpirationMs = null, pauseAfterFailures = null } = others;
    const removable = { failureExpirationMs, pauseAfterFailures };
    const settings = { ...others, concurrencyKey, expectStartMs, expectFinishMs, labels, ...removable };
    return this.#change(id, wanted.options, (record) => ({
      ...settings,
      paused: paused ?? record.paused,
      // A pause that stays keeps its end and its reason.
      ...(paused === false ? {} : pauseFacts(record)),
      ...(record.triggerRule === asked.triggerRule ? {} : { trigger, nextFireTime, paceUntil, zoneRules }),
    }));
  }

  async addMany(schedules: readonly NewSchedule[]): Promise<Schedule[]> {
    const where = "addSchedules()";
    const list = listOf(schedules, where, "", BULK_ADD_MAX);
    if (list === null) throw optionError(where, "", takes(`a list of at most ${BULK_ADD_MAX} schedules`, schedules));
    const wrong = list.findIndex((one) => !isPlain(one));
    if (wrong !== -1) throw optionError(`${where}[${wrong}]`, "", takes("{ task, trigger, ...options }", list[wrong]));
    const places = list.map(({ id }, index) => `${where}[${index}]${id === undefined ? "" : ` (id ${shown(id)})`}`);
    const added = await Promise.allSettled(
      list.map(({ task, trigger, ...options }, index) => this.add(task, trigger, options, places[index])),
    );
    return added.map((result, index) => {
      if (result.status === "fulfilled") return result.value;
      throw sayingWhere(result.reason, where, places[index] as string);
    });
  }

  #announceAddition(
    asked: ScheduleRecord,
    stored: ScheduleRecord,
    change: ScheduleAdditionChange,
    conflictPolicy: ConflictPolicy,
  ): void {
    const { events, logger } = this.#context.env;
    if (change === "outdated") {
      events.publish([scheduleOutdated(this.#context.env, stored, asked.version ?? null)]);
      logger.warn(outdatedText(`schedule "${stored.id}"`, asked));
    } else if (change !== "kept") {
      this.#publishChange(stored, change === "added" ? "added" : "updated");
    } else if (conflictPolicy === "doNothing" && stored.declaration !== asked.declaration) {
      const names = differingOptions(stored, asked);
      if (names.length === 0) return;
      logger.warn(
        `escapement: schedule "${stored.id}" is kept as it is stored, and differs from what is added in: ` +
          `${names.join(", ")}; to apply the change, leave out conflictPolicy "doNothing", or use updateSchedule()`,
      );
    }
  }

  async get(id: string): Promise<Schedule> {
    return this.#scheduleOf(await this.#record(id));
  }

  async page({ include = {}, ...filter }: CheckedScheduleFilter): Promise<Page<Schedule>> {
    const { env, ready } = this.#context;
    await ready();
    const { items, cursor } = await boundPage(["getSchedules()"], filter, (one) => env.store.getSchedules(one));
    const extras = await extrasOf(env, items, include);
    const { sort: _sort, ...selection } = filter;
    const { paused: _paused, ...others } = selection;
    const list = (limit: number, state?: NonNullable<ScheduleFilter["state"]>) =>
      env.store.getSchedules({ ...(state === undefined ? selection : { ...others, state }), limit, cursor: null });
    const facets = { active: ["active"], paused: ["paused"], ended: ["ended"], failing: ["failing"] };
    return {
      items: items.map((record, place) => this.#scheduleOf(record, extras[place])),
      cursor,
      ...(await countsOf(include, list, facets)),
    };
  }

  async update(id: string, changes: CheckedScheduleChanges, note: CheckedRevision): Promise<Schedule> {
    const { trigger: rule, ...checked } = changes;
    const { timeZone } = this.#context.inherited;
    const trigger = rule === undefined ? rule : checkTrigger(rule, "updateSchedule()", timeZone, { id });
    const { taskId } = await this.#record(id);
    // A payload that is given as undefined removes the stored payload. If none is given, the stored payload stays.
    const isPayloadGiven = "payload" in changes;
    const given = checked.concurrencyKey;
    const keyed = isPayloadGiven ? await this.#keyedPayload(taskId, checked.payload, given) : undefined;
    const isKeyKnown = isPayloadGiven && this.#context.tasks.keyFunctionOf(taskId) !== null;
    const key = isKeyKnown ? keyed?.key : given;
    const inherits = checked.metadata !== undefined || checked.labels !== undefined;
    const task = inherits ? await this.#context.tasks.settingsOf(taskId) : null;
    const now = this.#context.env.clock.now();
    const ofTask = { taskMetadata: task?.metadata ?? {}, taskLabels: task?.labels };
    const facts = { ...ofTask, trigger, payload: keyed?.text, key, now };
    return this.#change(id, note, (record) => {
      const { expectStartMs = record.expectStartMs, expectFinishMs = record.expectFinishMs } = checked;
      const { store } = this.#context.env;
      assertExpectable(store, checked, { expectStartMs, expectFinishMs }, "updateSchedule()");
      return scheduleChanges(record, facts, checked);
    });
  }

  async remove(id: string, { by, ifRevision }: CheckedRevision): Promise<void> {
    const { env, ready } = this.#context;
    await ready();
    for (let tries = 0; ; tries++) {
      if (tries === UPDATE_TRIES_MAX) throw tooManyChanges(id);
      const fenced = ifRevision === undefined ? {} : { expectedFence: (await this.#record(id, ifRevision)).fence };
      const [isRemoved] = await env.store.removeSchedules([{ id, ...fenced }], this.#note(by));
      if (isRemoved === true) break;
      if (ifRevision === undefined) throw noSchedule(id);
    }
    env.events.publish([scheduleRemoved(env, id, false)]);
  }

  async pause(id: string, options: CheckedPause): Promise<Schedule> {
    return this.#change(id, options, this.#pausing(options, "pauseSchedule()"));
  }

  async unpause(id: string, options: CheckedUnpause): Promise<Schedule> {
    return this.#change(id, options, this.#unpausing(options));
  }

  async changeMany(
    filter: CheckedBulk<ScheduleSelection>,
    change: BulkChange,
  ): Promise<{ count: number } & SkippedSchedules> {
    await this.#context.ready();
    const note = this.#note(change.by);
    if (change.action === "remove") return this.#bulk.remove(filter, note);
    const isPause = change.action === "pause";
    const changesOf = isPause ? this.#pausing(change, "pauseSchedules()") : this.#unpausing(change);
    return this.#bulk.change(filter, note, changesOf);
  }

  /** @throws {OptionsError} for an end that has passed */
  #pausing({ by, until, reason }: CheckedPause, where: string): () => ScheduleChanges {
    const { clock, identity } = this.#context.env;
    assertLater(until, clock.now(), where);
    const pause = pauseFacts({ pausedUntil: until, pauseReason: reason, pausedBy: by ?? identity });
    return () => ({ paused: true, ...pause });
  }

  #unpausing({ resumeFrom }: CheckedUnpause): (record: ScheduleRecord) => ScheduleChanges {
    const now = this.#context.env.clock.now();
    const from = resumeFrom === "now" ? now : (resumeFrom ?? null);
    return (record) => {
      if (from === null) return { paused: false };
      // What is dropped leaves no pace to keep.
      const resumed = { paused: false, paceUntil: null };
      if (record.nextFireTime === null || record.nextFireTime >= from) return resumed;
      const { trigger } = this.#scheduleOf(record);
      const nextFireTime = trigger.nextMs(from - 1);
      assertFireTime(trigger, from - 1, nextFireTime);
      // Other rules would find one before the instant that the caller chose.
      const zoneRules = from > now || nextFireTime === null ? null : zoneRulesOf(trigger, now);
      return { ...resumed, nextFireTime, zoneRules };
    };
  }

  async runNow(id: string, options: CheckedRunNow): Promise<Job> {
    const { env, tasks } = this.#context;
    const schedule = await this.#record(id);
    const task = await tasks.settingsOf(schedule.taskId);
    const { executor, priority, metadata, labels, maxRecoveries } = schedule;
    const { resultExpirationMs, failureExpirationMs = null } = schedule;
    const payload = { text: schedule.payload, key: schedule.concurrencyKey ?? null };
    const now = env.clock.now();
    const facts = { id: env.ids.next(now), task, payload, now };
    const own = { executor, priority, resultExpirationMs, failureExpirationMs };
    const { labels: _, ...record } = newJobRecord(facts, { ...options, ...own });
    const labelled = labels === undefined ? record : { ...record, labels };
    const job = await this.#jobs.addRecord({ ...labelled, scheduleId: id, metadata, maxRecoveries });
    assertOwnJob(job.id, options.requestHash, "runScheduleNow()");
    return job;
  }

  async backfill(id: string, options: CheckedBackfill): Promise<BackfillFacts> {
    const record = await this.#record(id);
    return backfill(this.#context, { record, trigger: this.#scheduleOf(record).trigger }, options);
  }

  async preview(id: string, options: { limit: number; from?: number | undefined }): Promise<PreviewedFire[]> {
    const { limit, from } = options;
    const record = await this.#record(id);
    if (record.nextFireTime === null) return [];
    const { trigger } = this.#scheduleOf(record);
    const blackouts = new KnownBlackouts(await this.#context.env.store.getBlackouts()).of(record);
    return fireTimesOf(record, trigger, limit, from).map((at) => {
      return previewedFire(trigger, at, blackouts?.idAt(at) ?? null);
    });
  }

  async #record(id: string, ifRevision?: number): Promise<ScheduleRecord> {
    await this.#context.ready();
    const record = await this.#context.env.store.getSchedule(id);
    if (record === null) throw noSchedule(id);
    if (ifRevision !== undefined && record.revision !== ifRevision) {
      const message = `schedule "${id}" was changed meanwhile: its revision is ${record.revision}, not ${ifRevision}`;
      throw new RevisionConflictError(`${message}; read it again`, id);
    }
    return record;
  }

  /** Reads, changes and writes a schedule. Does so again when somebody else changed the schedule in between. */
  async #change(
    id: string,
    { by, ifRevision }: CheckedRevision,
    changesOf: (record: ScheduleRecord) => ScheduleChanges,
  ): Promise<Schedule> {
    for (let tries = 0; tries < UPDATE_TRIES_MAX; tries++) {
      const record = await this.#record(id, ifRevision);
      const { store } = this.#context.env;
      const update = { id, expectedFence: record.fence, changes: changesOf(record) };
      const [updated = null] = await store.updateSchedules([update], this.#note(by));
      if (updated === null) continue;
      const { env } = this.#context;
      env.events.publish(schedulePauseEvents(env, updated, by ?? env.identity, record));
      this.#publishChange(updated, "updated");
      return this.#scheduleOf(updated);
    }
    throw tooManyChanges(id);
  }

  #note(by: string | undefined): AuditRecord {
    const { clock, identity } = this.#context.env;
    return { at: clock.now(), by: by ?? identity };
  }

  #publishChange(schedule: ScheduleRecord, change: "added" | "updated"): void {
    const { env } = this.#context;
    env.events.publish([scheduleSaved(env, schedule, change)]);
  }

  async #keyedPayload(taskId: string, payload: unknown, key: string | null | undefined): Promise<KeyedPayload> {
    const { env, tasks } = this.#context;
    return keyedPayload({ serializer: env.store.serializer, tasks }, taskId, payload, key);
  }

  #scheduleOf(record: ScheduleRecord, extras?: ScheduleExtras): Schedule {
    return new Schedule(record, this.#context.env.store.serializer, this.#context.client, extras);
  }
}

/** The options with those that they leave out. What is no object of options is left to the check. */
function withDefaults(options: ScheduleOptions, defaults: ScheduleDefaults): ScheduleOptions {
  if (Object.keys(defaults).length === 0 || !canHoldOptions(options, scheduleOptionNames())) return options;
  return { ...defaults, ...withoutUndefined(options) };
}
