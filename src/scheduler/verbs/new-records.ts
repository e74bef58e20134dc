import { firstFence } from "../../core/ids.ts";
import { optionError } from "../../core/option-errors.ts";
import { INSTANT_MS_MAX, instantText } from "../../core/temporal.ts";
import { withoutUndefined } from "../../core/without-undefined.ts";
import type { RecordOf } from "../../records/fields/field.ts";
import { type ScheduleSettings, SETTINGS } from "../../records/fields/schedule.ts";
import { type JobRecord, NEVER_RUN, type NewJobRecord } from "../../records/job.ts";
import type { CatchUp, Labels, Metadata } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { ScheduleChanges } from "../../stores/data-store.ts";
import { CLOCK_TOLERANCE_MS } from "../../stores/shared/limits.ts";
import { zoneRulesOf } from "../../triggers/stored-zone-rules.ts";
import { brokenTrigger, ruleKey, type Trigger } from "../../triggers/trigger.ts";
import type {
  CheckedJobOptions,
  CheckedScheduleChanges,
  CheckedScheduleOptions,
  CheckedScheduleSettings,
} from "../options/check-options.ts";
import { mergedLabels } from "../options/labels.ts";
import type { KeyedPayload } from "../tasks/concurrency-key.ts";
import { retryOver } from "../tasks/task-registry.ts";
import { jobIdOf } from "./request-hash.ts";

/** A new schedule: the call's options go over the task's settings, and the trigger is anchored to the present. */
export function newScheduleRecord(
  facts: { id: string; task: TaskRecord; trigger: Trigger; payload: KeyedPayload; now: number },
  options: CheckedScheduleOptions,
): ScheduleRecord {
  const { id, task, trigger, payload, now } = facts;
  const { zoneRules, ...triggered } = triggerFields(trigger, now);
  const { labels: own, ...others } = options;
  const labels = mergedLabels(task.labels, own, "the schedule");
  return {
    id,
    taskId: task.id,
    ...triggered,
    ...(zoneRules === null ? {} : { zoneRules }),
    ...settingsOf(task, others),
    payload: payload.text,
    maxRecoveries: task.maxRecoveries,
    metadata: { ...task.metadata, ...options.metadata },
    paused: options.paused ?? false,
    createdAt: now,
    lastFireTime: null,
    fence: firstFence(),
    revision: now,
    skippedCount: 0,
    ...(labels === undefined ? {} : { labels }),
    ...(payload.key === null ? {} : { concurrencyKey: payload.key }),
  };
}

/** What the call sets; what it leaves out is as the task or the default says it. */
function settingsOf(
  task: TaskRecord,
  options: Omit<CheckedScheduleSettings, "labels">,
): Omit<RecordOf<ScheduleSettings>, "labels"> {
  const { labels: _, ...settings } = givenSettings(options);
  for (const { key, inherits, default: unset, absent } of SETTINGS) {
    if (key === "labels") continue;
    if (settings[key] === undefined) settings[key] = inherits ? task[key as keyof TaskRecord] : unset;
    if ((settings[key] ?? null) === null && absent !== undefined) delete settings[key];
  }
  return settings as Omit<RecordOf<ScheduleSettings>, "labels">;
}

/** The settings of a call; undefined where it leaves them out. */
function givenSettings(options: CheckedScheduleSettings): Record<string, unknown> {
  const given = SETTINGS.map(({ key }) => [key, options[key as keyof CheckedScheduleSettings]]);
  return { ...Object.fromEntries(given), catchUp: options.catchUp && catchUpOf(options.catchUp) };
}

/** Bounds of which none is given are the same as no bounds. */
function catchUpOf(options: CheckedScheduleSettings["catchUp"]): CatchUp | null {
  const { maxAgeMs = null, maxCount = null, paceMs = null } = options ?? {};
  return maxAgeMs === null && maxCount === null && paceMs === null ? null : { maxAgeMs, maxCount, paceMs };
}

type TriggerField = "trigger" | "triggerRule" | "nextFireTime" | "paceUntil";

/** The fields of a schedule that come from its trigger: its text with the anchor, its rule, and its first fire time
 *  with the time zone rules that made it. A new rule has nothing to make up for, and keeps no pace. */
function triggerFields(
  trigger: Trigger,
  now: number,
): Pick<ScheduleRecord, TriggerField> & { readonly zoneRules: string | null } {
  const anchored = trigger.startingAtMs(now);
  const nextFireTime = trigger.firstMs(now);
  assertFireTime(trigger, now, nextFireTime);
  const zoneRules = nextFireTime === null ? null : zoneRulesOf(trigger, now);
  const triggerRule = ruleKey(trigger);
  return { trigger: JSON.stringify(anchored), triggerRule, nextFireTime, paceUntil: null, zoneRules };
}

/** A trigger of the user's may answer with anything, and what is no instant can never fire.
 *  @throws {BrokenTriggerError} */
export function assertFireTime(trigger: Trigger, askedMs: number, answer: number | null): void {
  if (answer === null || (Number.isInteger(answer) && Math.abs(answer) <= INSTANT_MS_MAX)) return;
  throw brokenTrigger(trigger, askedMs, answer);
}

/** The fields that `updateSchedule` replaces. If `payload` is undefined, the stored payload stays, and if `key` is, so
 *  does the stored key. If the trigger is the same rule, the stored anchor and next fire time stay. */
export function scheduleChanges(
  schedule: ScheduleRecord,
  facts: {
    taskMetadata: Metadata;
    taskLabels: Labels | undefined;
    trigger: Trigger | undefined;
    payload: string | null | undefined;
    key: string | null | undefined;
    now: number;
  },
  options: CheckedScheduleChanges,
): ScheduleChanges {
  const { taskMetadata, taskLabels, trigger, payload, key, now } = facts;
  const isNewRule = trigger !== undefined && ruleKey(trigger) !== schedule.triggerRule;
  return {
    ...(isNewRule ? triggerFields(trigger, now) : {}),
    // No rule made what a caller chose.
    ...(options.nextFireTime === undefined ? {} : { zoneRules: null }),
    ...withoutUndefined({
      ...givenSettings(options),
      nextFireTime: options.nextFireTime === undefined ? undefined : notBefore(schedule, options.nextFireTime, now),
      payload,
      concurrencyKey: key,
      metadata: options.metadata && { ...taskMetadata, ...options.metadata },
      labels: options.labels && (mergedLabels(taskLabels, options.labels, "updateSchedule()") ?? null),
    }),
  };
}

/** A fire time that a caller chose. @throws {OptionsError} when the schedule has passed it already */
function notBefore({ lastFireTime }: ScheduleRecord, fireTime: number, now: number): number {
  if (lastFireTime === null || fireTime > lastFireTime) return fireTime;
  // A wrong clock went ahead: the schedule is taken back.
  if (lastFireTime > now + CLOCK_TOLERANCE_MS && fireTime > now) return fireTime;
  const message =
    `must be later than the last fire time, ${instantText(lastFireTime)}; got ${instantText(fireTime)}: ` +
    "a schedule never goes back; runScheduleNow(id) adds an extra job";
  throw optionError("updateSchedule()", "nextFireTime", message);
}

/** A new job that no schedule made. */
export function newJobRecord(
  facts: { id: string; task: TaskRecord; payload: KeyedPayload; now: number },
  options: CheckedJobOptions,
): NewJobRecord {
  const { id, task, payload, now } = facts;
  const record: JobRecord = {
    ...NEVER_RUN,
    id: jobIdOf(id, options.requestHash),
    taskId: task.id,
    scheduleId: null,
    executor: options.executor ?? task.executor,
    payload: payload.text,
    priority: options.priority,
    runAt: options.runAt ?? now + (options.delayMs ?? options.debounce?.waitMs ?? 0),
    createdAt: now,
    fireTime: null,
    scheduledFireTime: null,
    startDeadline: options.startDeadline ?? null,
    missedCount: null,
    firstMissedTime: null,
    lastMissedTime: null,
    resultExpirationMs: options.resultExpirationMs ?? task.resultExpirationMs,
    maxRecoveries: task.maxRecoveries,
    metadata: options.metadata === undefined ? task.metadata : { ...task.metadata, ...options.metadata },
    idempotencyKey: options.idempotencyKey ?? null,
  };
  const { after, onParentFailure = "cancel", retry, failureExpirationMs = task.failureExpirationMs } = options;
  const labels = mergedLabels(task.labels, options.labels, "the job");
  const labelled: JobRecord = labels === undefined ? record : { ...record, labels };
  const kept: JobRecord = failureExpirationMs == null ? labelled : { ...labelled, failureExpirationMs };
  const retried: JobRecord = retry === undefined ? kept : { ...kept, retry: retryOver(task.retry, retry) };
  const chained: JobRecord = after === undefined ? retried : { ...retried, after, onParentFailure };
  return withWindow(payload.key === null ? chained : { ...chained, concurrencyKey: payload.key }, options);
}

/** What decides about the addition of a job, if anything does. */
function withWindow(job: JobRecord, { debounce, throttle, uniqueForMs }: CheckedJobOptions): NewJobRecord {
  const { createdAt, idempotencyKey } = job;
  if (debounce !== undefined) {
    const { key, waitMs, maxWaitMs = null } = debounce;
    return { ...job, debounce: { key, waitMs, maxWaitMs } };
  }
  if (throttle !== undefined) {
    return { ...job, once: { kind: "throttle", key: throttle.key, until: createdAt + throttle.perMs } };
  }
  if (uniqueForMs === undefined || idempotencyKey === null) return job;
  return { ...job, once: { kind: "unique", key: idempotencyKey, until: createdAt + uniqueForMs } };
}
