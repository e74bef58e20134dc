import { type Synonyms, synonymsOf } from "../../core/synonyms.ts";

const CRON_TEXT = "it belongs to the trigger: CronTrigger.fromCrontab(text, { % })";
const RETRY = "write { retry: { maxAttempts: ... } }";
const BACKOFF = 'write { retry: { maxAttempts: ..., backoff: { initial: "1s" } } }';
const TASK_RETRY = "it is a setting of the task: scheduler.task(id, { retry: { maxAttempts, backoff } }, handler)";
const REPEATS = 'a job runs once; a schedule adds a job at each fire time: addSchedule(task, "0 9 * * *", options)';
const DEAD_LETTERS =
  'jobs that failed for good are kept as results: getJobResults({ outcome: "error" }) lists them, ' +
  "retryJobs(filter) runs them again";
const INHERITED = "tasks have it too, and schedules inherit it from them: { taskDefaults: { %: ... } }";

/** What callers may write for the options of a scheduler. `anywhere` is every call that is about tasks, schedules and
 *  jobs; a place with a name of an option is the object that this option takes. */
const SYNONYMS: Synonyms = {
  "scheduler: store database": "dataStore",
  "scheduler: broker": "eventBroker",
  "scheduler: jobExecutors": "executors",
  "scheduler: concurrency maxWorkers": "maxConcurrentJobs",
  "scheduler: tz zone": "timeZone",
  "scheduler: jobDefaults": "taskDefaults",
  "taskDefaults: retries attempts maxRetries maxAttempts": RETRY,
  "taskDefaults: concurrencyKey":
    "it is about the payload of one task: scheduler.task(id, { concurrencyKey }, handler)",
  "scheduleDefaults: executor maxRunningJobs maxRunningPerKey rateLimit fair misfireGraceTime retry": INHERITED,
  "scheduleDefaults: maxRecoveries timeout resultExpirationTime failureExpirationTime overlap metadata": INHERITED,
  "scheduleDefaults: concurrencyKey schema": INHERITED,

  "task: concurrency maxConcurrency maxInstances": "maxRunningJobs",
  "task: limiter rateLimiter": "rateLimit",
  "task: key": "concurrencyKey",
  "task: maxPerKey maxConcurrencyPerKey limitPerKey concurrencyPerKey": "maxRunningPerKey",
  "task: roundRobin": "fair",
  "task: limit": "maxRunningJobs is how many run at once, and rateLimit: { limit, per } how many start in a time",
  "task: singleton":
    "maxRunningJobs: 1, the default, lets one job run at once, and addJob(task, { idempotencyKey }) adds one",
  "rateLimit: key": "the rate counts for each concurrencyKey of the task",
  "retried: retries attempts maxRetries maxAttempts retryLimit": RETRY,
  "retried: backoff retryDelay retryBackoff": BACKOFF,
  "retry.backoff: type strategy": 'a fixed pause is { initial: "1s", factor: 1, jitter: "none" }',
  "retried: deadLetter deadLetterQueue dlq": DEAD_LETTERS,
  "keyed: group groupId groupKey partitionKey": "concurrencyKey",

  "schedule: scheduleId jobId": "id",
  "schedule: jitter": "maxJitter",
  "schedule: replaceExisting": "conflictPolicy",
  "schedule: protect": "overlap",
  "schedule: task taskId": "the task comes first; addSchedules() takes { task }",
  "schedule: options opts": "write what it holds in its place",
  "schedule: immediately immediate runImmediately startImmediately runOnInit": "runScheduleNow(id) runs now",
  "schedule: limit count maxRuns times": "give the trigger an endTime",
  "scheduledTask: id scheduleId": "the id comes first: schedule(id, trigger, options, handler)",
  "changes: nextRunTime": "nextFireTime",
  "changes: paused": "call pauseSchedule(id) or unpauseSchedule(id)",
  "changes: by": "it stands apart from the changes: updateSchedule(id, changes, { by })",
  "changes: ifRevision ifMatch revision etag":
    "it stands apart from the changes: updateSchedule(id, changes, { ifRevision })",
  "revised: ifMatch etag": "ifRevision",
  "fires: trigger": "it comes before the options",
  "fires: weeks days hours minutes seconds milliseconds every interval repeat":
    "it is said by the trigger: new IntervalTrigger({ minutes: 5 })",
  "fires: cron crontab pattern hour minute second dayOfWeek":
    'it is said by the trigger: crontab text, such as "0 9 * * *"',
  "handled: data args kwargs": "payload",

  "job: at when": "runAt",
  "job: startAfter in": 'write { delay: "5m" } for a time from now, or { runAt } for an instant',
  "job: repeat repeatEvery every interval cron crontab pattern": REPEATS,
  "job: lifo": "write { priority }: jobs run by priority, then by runAt, then in the order of their addition",
  "job: id jobId singletonKey jobKey uniqueKey": "idempotencyKey",
  "job: uniquePeriod uniqueUntil": "uniqueFor",
  "job: unique isUnique singleton isSingleton": 'write { idempotencyKey: ..., uniqueFor: "1h" }',
  "job: deadline": "startDeadline",
  "job: misfireGraceTime":
    "it counts for jobs of schedules; write { startDeadline: new Date(Date.now() + milliseconds) }",
  "job: removeOnComplete": "resultExpirationTime",
  "job: removeOnFail": "failureExpirationTime",
  "job: dependencies dependsOn parents": "after",
  "job: onFailure": "onParentFailure",
  "debounce: per window interval":
    "wait is the pause after the last addition; throttle: { key, per } keeps the first of a time",
  "debounce: delay ms timeout ttl duration": "the pause is wait",
  "throttle: wait delay ms ttl limit":
    "the time is per, and one job is added in it; rateLimit of the task is how many start in a time",
  "debounce: id": "it is called key",
  "throttle: id": "it is called key",
  "batch: after callback next": "then",

  "anywhere: timeZone tz":
    "it belongs to the trigger: CronTrigger.fromCrontab(text, { timeZone }), " +
    "or to new Scheduler({ timeZone }), for crontab text",
  "anywhere: startTime endTime dst dayMatch dialect": CRON_TEXT,
  "anywhere: startDate": CRON_TEXT.replace("%", "startTime"),
  "anywhere: endDate": CRON_TEXT.replace("%", "endTime"),
  "anywhere: firstRun": "it belongs to the trigger: new IntervalTrigger({ minutes: 5, firstRun })",
  "anywhere: attempts maxAttempts retries maxRetries backoff": TASK_RETRY,
  "anywhere: maxInstances":
    'overlap: "skip" fires only after the run before; scheduler.task(id, { maxRunningJobs }, handler) is how many run',
  "anywhere: nextRunTime": "updateSchedule(id, { nextFireTime }) sets it, and runScheduleNow(id) runs now",

  "backfill: force rerun reprocess overwrite": "includeRan",

  "pause: concurrencyKey": "key",
  "paused: to end endTime resumeAt expiresAt": "until",
  "paused: for": "until is the instant at which the pause ends",
  "paused: why note comment message": "reason",
  "search: q query text": "search",
  "schedules: order orderBy sortBy": "sort",
  "occurrences: outcome status state verdicts": "verdict",
  "results: state status": "outcome",
};

/** What a word means in some places of {@link SYNONYMS}. */
export const meaningOf: (places: readonly string[], word: string) => string | null = synonymsOf(SYNONYMS);
