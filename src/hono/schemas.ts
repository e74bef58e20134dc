import * as v from "valibot";
import { anything, numberFrom, objectOf, oneOf, textUpTo, trueOrFalse, wholeNumber } from "../core/check.ts";
import { ISSUES_MAX } from "../core/check-limits.ts";
import { once } from "../core/once.ts";
import { isPlain, mustBe, mustBeOneOf } from "../core/option-errors.ts";
import { MISSED_POLICIES } from "../records/blackout.ts";
import { EVENT_TYPES, type EventType } from "../records/events.ts";
import { WORDS } from "../records/fields/field.ts";
import { ID_LENGTH_MAX, REASON_LENGTH_MAX } from "../records/limits.ts";
import {
  COALESCE_POLICIES,
  JOB_OUTCOMES,
  type Labels,
  PARENT_FAILURE_POLICIES,
  RUN_OVERLAP_POLICIES,
} from "../records/policies.ts";
import {
  BLACKOUT_TASKS_MAX,
  BULK_ADD_MAX,
  BY_LENGTH_MAX,
  CATCH_UP_MAX,
  LABEL_NAME_LENGTH_MAX,
  LABEL_VALUE_LENGTH_MAX,
  LABELS_MAX,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  PARENTS_MAX,
  PAUSE_AFTER_FAILURES_MAX,
  PREVIEW_LENGTH_MAX,
} from "../scheduler/options/limits.ts";
import { OCCURRENCE_VERDICTS } from "../scheduler/options/occurrence-verdicts.ts";
import { BULK_COMMIT_MAX } from "../scheduler/verbs/limits.ts";
import { TRIGGER_FORMS, type WireTrigger } from "../triggers/short-trigger.ts";
import {
  type ApplyBody,
  type BackfillBody,
  type BlackoutBody,
  type CalendarQuery,
  type CallerNote,
  type ChangeQuery,
  type DeclaredBody,
  type EventQuery,
  type ExplainQuery,
  type FailureQuery,
  type ForecastQuery,
  type JobBatch,
  type JobBulkBody,
  type JobQuery,
  LARGE_VALUES,
  type LabelQuery,
  LIST_NUMBERS,
  type NewJobBody,
  type NewScheduleBody,
  type OccurrenceQuery,
  type PauseBody,
  type PlanBody,
  type PreviewQuery,
  type ReplacingScheduleBody,
  type ResultQuery,
  type ResultWait,
  type RetryBody,
  type RunBody,
  type RunQuery,
  type ScheduleBulkBody,
  type ScheduleChangesBody,
  type ScheduleQuery,
  type SessionBody,
  type StatsQuery,
  type TaskPauseBody,
  type TaskUnpauseBody,
  type TriggerPreviewBody,
  type UnpauseBody,
} from "./wire.ts";

// What requests carry. These schemas check, type and document it. What a value means is checked by the verb that gets
// it, for example whether a text is an instant.

/** Longest text of an instant, a duration or a cursor, in UTF-16 units. A cursor has an id in it. */
const TEXT_LENGTH_MAX = 2048;

/** How many days of a calendar there are. */
const CALENDAR_DAYS_MAX = 366;
const CALENDAR_DAYS_DEFAULT = 30;

/** Most fire times of one preview of a trigger that is not stored. */
export const TRIGGER_PREVIEW_MAX = 100;

/** An id of a task, schedule or job, or the name of an executor. */
export const idText: () => v.GenericSchema<string> = once(() => textUpTo(ID_LENGTH_MAX));
/** An instant: ISO 8601 text with an offset. */
export const instantText: () => v.GenericSchema<string> = once(() => textUpTo(TEXT_LENGTH_MAX));
/** An instant, or what clocks show in the zone of the rule: `2030-01-31T09:00`. */
export const askedText: () => v.GenericSchema<string> = once(() => textUpTo(TEXT_LENGTH_MAX));
/** A duration: `PT5M` or `5m`. */
export const durationText: () => v.GenericSchema<string> = once(() => textUpTo(TEXT_LENGTH_MAX));
export const cursorText: () => v.GenericSchema<string> = once(() => textUpTo(TEXT_LENGTH_MAX));

/** A value that is read when the request is answered. Its kind is told by {@link WireTrigger}. */
export const trigger: () => v.GenericSchema<WireTrigger> = once(() =>
  v.custom<WireTrigger>(
    (value) => typeof value === "string" || isPlain(value),
    ({ input }) => mustBe(TRIGGER_FORMS, input),
  ),
);

export const metadata: () => v.GenericSchema<Readonly<Record<string, unknown>>> = once(() =>
  v.custom<Readonly<Record<string, unknown>>>(isPlain, ({ input }) => mustBe("an object", input)),
);

/** Labels, which the verb checks that gets them. */
export const labels: () => v.GenericSchema<Labels> = once(() =>
  v.custom<Labels>(isPlain, ({ input }) => mustBe("an object of names and values", input)),
);

const optional = <I, O>(schema: v.GenericSchema<I, O>) => v.exactOptional(schema);
const orNull = <I, O>(schema: v.GenericSchema<I, O>) => v.exactOptional(v.nullable(schema));

/** A list. Its items are checked while its length is right, and until there are as many problems as an error lists:
 *  each costs time, and a body has room for 300,000. */
const listOf = <I, O>(schema: v.GenericSchema<I, O>, min: number, max: number) => {
  const message = ({ input }: { input: unknown }) => mustBe(`a list of ${min} to ${max}`, input);
  const list = v.array(schema, message);
  const bounded: typeof list = {
    ...list,
    "~run"(dataset, config) {
      const { length = 0 } = Object(dataset.value) as { length?: number };
      let room = length < min || length > max ? 0 : ISSUES_MAX;
      const item: typeof schema = {
        ...schema,
        "~run"(one, itemConfig) {
          if (room <= 0) return { typed: true, value: one.value as O };
          const checked = schema["~run"](one, itemConfig);
          room -= checked.issues?.length ?? 0;
          return checked;
        },
      };
      return v.array(item, message)["~run"](dataset, config);
    },
  };
  return v.pipe(bounded, v.minLength(min, message), v.maxLength(max, message));
};

const page = once(() => ({
  limit: v.exactOptional(wholeNumber(1, PAGE_SIZE_MAX), PAGE_SIZE_DEFAULT),
  cursor: optional(cursorText()),
}));

// ---- queries

const included = once(() => ({ include: optional(listOf(oneOf(LARGE_VALUES), 1, LARGE_VALUES.length)) }));

const counted = once(() => {
  const words = [...LARGE_VALUES, ...LIST_NUMBERS] as const;
  return { include: optional(listOf(oneOf(words), 1, words.length)) };
});

const searched = once(() => ({ search: optional(idText()) }));
/** From an instant, which is included, until another one, which is not. */
const range = once(() => ({ from: optional(instantText()), until: optional(instantText()) }));
const newestFirst = once(() => optional(oneOf(["newest", "oldest"])));

/** The labels of a query: each is `name:value`, whose value may have commas. */
const labelled = once(() => ({
  label: optional(listOf(textUpTo(LABEL_NAME_LENGTH_MAX + 1 + LABEL_VALUE_LENGTH_MAX), 1, LABELS_MAX)),
}));

export const taskQuery: () => v.GenericSchema<unknown, LabelQuery> = once(() => v.strictObject(labelled()));

const scheduleFilter = once(() => ({
  ...searched(),
  ...labelled(),
  taskId: optional(idText()),
  paused: optional(trueOrFalse),
  state: optional(oneOf(["active", "paused", "ended", "failing"])),
}));
const jobFilter = once(() => ({ taskId: optional(idText()), scheduleId: optional(idText()) }));
const scheduleExtra = once(() =>
  v.pipe(
    textUpTo(20),
    v.regex(/^(payload|description|stats|total|facets|(next|runs):[1-9]\d{0,2})$/, ({ input }) =>
      mustBe(EXTRAS, input),
    ),
  ),
);
const EXTRAS = "payload, description, stats, total, facets, or next or runs with a number of 1 to 999, such as next:5";

export const scheduleQuery: () => v.GenericSchema<unknown, ScheduleQuery> = once(() =>
  v.strictObject({
    ...scheduleFilter(),
    sort: optional(oneOf(["id", "nextFireTime"])),
    ids: optional(listOf(idText(), 1, PAGE_SIZE_DEFAULT)),
    include: optional(listOf(scheduleExtra(), 1, 7)),
    ...page(),
  }),
);

export const jobQuery: () => v.GenericSchema<unknown, JobQuery> = once(() =>
  v.strictObject({
    ...searched(),
    ...jobFilter(),
    ...labelled(),
    backfillId: optional(idText()),
    state: optional(oneOf(["queued", "blocked", "running"])),
    ...range(),
    sort: optional(oneOf(["id", "runAt"])),
    order: newestFirst(),
    ...counted(),
    ...page(),
  }),
);

export const resultQuery: () => v.GenericSchema<unknown, ResultQuery> = once(() =>
  v.strictObject({
    ...searched(),
    ...jobFilter(),
    ...labelled(),
    outcome: optional(oneOf(JOB_OUTCOMES)),
    ...range(),
    order: newestFirst(),
    ...included(),
    ...page(),
  }),
);

const runFilter = once(() => ({
  ...searched(),
  ...jobFilter(),
  ...labelled(),
  error: optional(idText()),
  key: optional(idText()),
  minRunTime: optional(durationText()),
  maxRunTime: optional(durationText()),
  minAttempts: optional(wholeNumber(0)),
  ...range(),
}));
const someOf = <const Words extends readonly string[]>(words: Words) => listOf(oneOf(words), 1, words.length);

export const runQuery: () => v.GenericSchema<unknown, RunQuery> = once(() =>
  v.strictObject({
    ...runFilter(),
    state: optional(someOf(WORDS.state)),
    outcome: optional(someOf(JOB_OUTCOMES)),
    ...counted(),
    ...page(),
  }),
);

export const failureQuery: () => v.GenericSchema<unknown, FailureQuery> = once(() =>
  v.strictObject({
    groupBy: optional(listOf(oneOf(["task", "error"]), 1, 2)),
    ...jobFilter(),
    ...range(),
    limit: page().limit,
  }),
);

export const statsQuery: () => v.GenericSchema<unknown, StatsQuery> = once(() =>
  v.strictObject({
    ...jobFilter(),
    ...range(),
    bucket: optional(durationText()),
    by: optional(oneOf(["task", "schedule"])),
    limit: page().limit,
  }),
);

export const resultWait: () => v.GenericSchema<unknown, ResultWait> = once(() =>
  v.strictObject({ wait: optional(wholeNumber(1, 30)) }),
);

export const previewQuery: () => v.GenericSchema<unknown, PreviewQuery> = once(() =>
  v.strictObject({ limit: v.exactOptional(wholeNumber(1, PREVIEW_LENGTH_MAX), 10), from: optional(instantText()) }),
);

export const calendarQuery: () => v.GenericSchema<unknown, CalendarQuery> = once(() =>
  v.strictObject({
    token: optional(textUpTo(TEXT_LENGTH_MAX)),
    days: v.exactOptional(wholeNumber(1, CALENDAR_DAYS_MAX), CALENDAR_DAYS_DEFAULT),
  }),
);

export const forecastQuery: () => v.GenericSchema<unknown, ForecastQuery> = once(() =>
  v.strictObject({ ...range(), bucket: optional(durationText()) }),
);

export const occurrenceQuery: () => v.GenericSchema<unknown, OccurrenceQuery> = once(() =>
  v.strictObject({
    ...range(),
    verdict: optional(listOf(oneOf(OCCURRENCE_VERDICTS), 1, OCCURRENCE_VERDICTS.length)),
    order: newestFirst(),
    ...page(),
  }),
);

export const explainQuery: () => v.GenericSchema<unknown, ExplainQuery> = once(() =>
  v.strictObject({ at: askedText() }),
);

export const changeQuery: () => v.GenericSchema<unknown, ChangeQuery> = once(() =>
  v.strictObject({ order: newestFirst(), ...page() }),
);

/** Who asks for a change; also a query, because a DELETE has no body. */
const note = once(() => ({ by: optional(textUpTo(BY_LENGTH_MAX)) }));
const pause = once(() => ({
  until: optional(instantText()),
  reason: optional(textUpTo(REASON_LENGTH_MAX)),
  ...note(),
}));
export const pauseBody: () => v.GenericSchema<unknown, PauseBody> = once(() => v.strictObject(pause()));
export const callerNote: () => v.GenericSchema<unknown, CallerNote> = once(() => v.strictObject(note()));

export const eventQuery: () => v.GenericSchema<unknown, EventQuery> = once(() => {
  const unknownOf = (text: unknown) => eventTypesOf(text).find((type) => !EVENT_TYPES.includes(type as EventType));
  const known = v.check<string, string | ((issue: { input: unknown }) => string)>(
    (text) => unknownOf(text) === undefined,
    ({ input }) => mustBeOneOf(EVENT_TYPES, unknownOf(input)),
  );
  return v.strictObject({ types: optional(v.pipe(textUpTo(TEXT_LENGTH_MAX), known)), ...jobFilter() });
});

/** The types of a query, checked or not. */
export function eventTypesOf(text: unknown): string[] {
  return String(text).split(",");
}

// ---- bodies

const inherited = once(() => ({
  payload: optional(anything),
  executor: optional(idText()),
  metadata: optional(metadata()),
  labels: optional(labels()),
  resultExpirationTime: optional(durationText()),
  failureExpirationTime: orNull(durationText()),
  concurrencyKey: orNull(idText()),
}));

const scheduleSettings = once(() => ({
  ...inherited(),
  name: orNull(idText()),
  coalesce: optional(oneOf(COALESCE_POLICIES)),
  misfireGraceTime: orNull(durationText()),
  maxJitter: optional(durationText()),
  priority: optional(wholeNumber()),
  overlap: optional(oneOf(RUN_OVERLAP_POLICIES)),
  catchUp: orNull(
    objectOf({
      maxAge: orNull(durationText()),
      maxCount: orNull(wholeNumber(1, CATCH_UP_MAX)),
      pace: orNull(durationText()),
    }),
  ),
  pauseAfterFailures: orNull(wholeNumber(1, PAUSE_AFTER_FAILURES_MAX)),
  expectStartWithin: orNull(durationText()),
  expectFinishWithin: orNull(durationText()),
}));

const scheduleEntries = once(() => ({
  ...scheduleSettings(),
  ...note(),
  taskId: idText(),
  trigger: trigger(),
  paused: optional(trueOrFalse),
  spread: optional(trueOrFalse),
}));

export const scheduleBody: () => v.GenericSchema<unknown, ReplacingScheduleBody> = once(() => {
  const times = ["createdAt", "nextFireTime", "lastFireTime", "pausedUntil"];
  const shown = ["id", "skippedCount", "lastFailure", "revision", "pauseReason", "pausedBy", ...times];
  const ignored = Object.fromEntries(shown.map((name) => [name, optional(anything)]));
  return v.strictObject({ ...scheduleEntries(), ...ignored });
});

export const newScheduleBody: () => v.GenericSchema<unknown, NewScheduleBody> = once(() =>
  v.strictObject({
    ...scheduleEntries(),
    id: optional(idText()),
    conflictPolicy: v.exactOptional(oneOf(["update", "doNothing", "replace", "error"]), "error"),
  }),
);

export const declaredBody: () => v.GenericSchema<unknown, DeclaredBody> = once(() => {
  const { taskId, by: _, ...others } = scheduleEntries();
  return v.strictObject({ ...others, id: idText(), task: taskId, renamedFrom: optional(idText()) });
});

const planEntries = once(() => ({ owner: idText(), declared: listOf(declaredBody(), 0, BULK_COMMIT_MAX) }));
export const planBody: () => v.GenericSchema<unknown, PlanBody> = once(() =>
  v.strictObject({ ...planEntries(), nextFires: optional(wholeNumber(0, TRIGGER_PREVIEW_MAX)) }),
);
export const applyBody: () => v.GenericSchema<unknown, ApplyBody> = once(() =>
  v.strictObject({ ...planEntries(), ...note(), revision: idText() }),
);

export const scheduleChangesBody: () => v.GenericSchema<unknown, ScheduleChangesBody> = once(() =>
  v.strictObject({
    ...scheduleSettings(),
    ...note(),
    trigger: optional(trigger()),
    nextFireTime: optional(instantText()),
  }),
);

/** A body that may be left out. */
export const unpauseBody: () => v.GenericSchema<unknown, UnpauseBody> = once(() =>
  v.strictObject({ resumeFrom: optional(instantText()), ...note() }),
);

/** What a route without a body takes: none, or an empty one. */
export const nothing: () => v.GenericSchema<unknown, object> = once(() => v.strictObject({}));

export const taskPauseBody: () => v.GenericSchema<unknown, TaskPauseBody> = once(() =>
  v.strictObject({ key: optional(idText()), ...pause() }),
);
export const taskUnpauseBody: () => v.GenericSchema<unknown, TaskUnpauseBody> = once(() =>
  v.strictObject({ key: optional(idText()), ...note() }),
);

export const blackoutBody: () => v.GenericSchema<unknown, BlackoutBody> = once(() =>
  v.strictObject({
    id: idText(),
    from: optional(instantText()),
    until: optional(instantText()),
    trigger: optional(trigger()),
    duration: optional(durationText()),
    labels: optional(labels()),
    taskIds: optional(listOf(idText(), 1, BLACKOUT_TASKS_MAX)),
    missed: optional(oneOf(MISSED_POLICIES)),
    reason: optional(textUpTo(REASON_LENGTH_MAX)),
    conflictPolicy: v.exactOptional(oneOf(["update", "doNothing", "replace", "error"]), "error"),
    ...note(),
  }),
);

export const scheduleBulkBody: () => v.GenericSchema<unknown, ScheduleBulkBody> = once(() =>
  v.strictObject({
    action: oneOf(["pause", "unpause", "remove"]),
    ids: optional(listOf(idText(), 0, BULK_ADD_MAX)),
    filter: optional(objectOf(scheduleFilter())),
    all: optional(trueOrFalse),
    expectedCount: optional(wholeNumber(0)),
    resumeFrom: optional(instantText()),
    ...pause(),
  }),
);

const retry = once(() =>
  objectOf({
    maxAttempts: optional(wholeNumber(1)),
    backoff: optional(
      objectOf({
        initial: optional(durationText()),
        factor: optional(numberFrom(1)),
        max: optional(durationText()),
        jitter: optional(oneOf(["full", "none"])),
      }),
    ),
  }),
);

const onceEntries = once(() => ({ idempotencyKey: optional(idText()), uniqueFor: optional(durationText()) }));
export const runBody: () => v.GenericSchema<unknown, RunBody> = once(() => v.strictObject(onceEntries()));

export const backfillBody: () => v.GenericSchema<unknown, BackfillBody> = once(() =>
  v.strictObject({
    from: instantText(),
    until: instantText(),
    order: newestFirst(),
    pace: optional(durationText()),
    limit: optional(wholeNumber(1)),
    includeRan: optional(trueOrFalse),
    includeCoalesced: optional(trueOrFalse),
    includeUnrecorded: optional(trueOrFalse),
    dryRun: optional(trueOrFalse),
    idempotencyKey: optional(idText()),
  }),
);

export const newJobBody: () => v.GenericSchema<unknown, NewJobBody> = once(() =>
  objectOf({
    ...inherited(),
    taskId: idText(),
    runAt: optional(instantText()),
    delay: optional(durationText()),
    priority: optional(wholeNumber()),
    ...onceEntries(),
    debounce: optional(objectOf({ key: idText(), wait: durationText(), maxWait: optional(durationText()) })),
    throttle: optional(objectOf({ key: idText(), per: durationText() })),
    startDeadline: optional(instantText()),
    retry: optional(retry()),
    after: optional(listOf(idText(), 1, PARENTS_MAX)),
    onParentFailure: optional(oneOf(PARENT_FAILURE_POLICIES)),
  }),
);

export const jobBatchBody: () => v.GenericSchema<unknown, JobBatch> = once(() =>
  v.strictObject({
    jobs: listOf(newJobBody(), 1, BULK_ADD_MAX),
    then: optional(newJobBody()),
  }),
);

const oneOrMore = <const Words extends readonly string[]>(words: Words) =>
  v.union([oneOf(words), someOf(words)], ({ input }) => mustBeOneOf(words, input));

export const jobBulkBody: () => v.GenericSchema<unknown, JobBulkBody> = once(() =>
  v.strictObject({
    action: oneOf(["retry", "cancel", "purge"]),
    ids: optional(listOf(idText(), 0, BULK_ADD_MAX)),
    expectedCount: optional(wholeNumber(0, BULK_ADD_MAX)),
    filter: optional(
      objectOf({
        ...runFilter(),
        state: optional(oneOrMore(WORDS.state)),
        outcome: optional(oneOrMore(JOB_OUTCOMES)),
        failureKey: optional(idText()),
        backfillId: optional(idText()),
      }),
    ),
    all: optional(trueOrFalse),
    dryRun: optional(trueOrFalse),
  }),
);

export const retryBody: () => v.GenericSchema<unknown, RetryBody> = once(() =>
  v.strictObject({ payload: optional(anything), restart: optional(trueOrFalse) }),
);

export const triggerPreviewBody: () => v.GenericSchema<unknown, TriggerPreviewBody> = once(() =>
  v.strictObject({
    trigger: trigger(),
    limit: v.exactOptional(wholeNumber(1, TRIGGER_PREVIEW_MAX), 10),
    from: optional(instantText()),
    id: optional(idText()),
    spread: optional(trueOrFalse),
  }),
);

/** One of the two; the route says so. */
export const sessionBody: () => v.GenericSchema<unknown, SessionBody> = once(() => {
  const secret = () => optional(v.string(({ input }) => mustBe("text", input, "token")));
  return v.strictObject({ token: secret(), code: secret() });
});
