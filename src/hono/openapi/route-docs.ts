import type { Endpoints } from "../api.ts";
import type { AnswerName } from "./answer-schemas.ts";

/** What the document says of a route besides its schemas. */
export interface RouteDocs<Key extends keyof Endpoints = keyof Endpoints> {
  /** The name of the method in clients that are made of the document. */
  readonly operationId: string;
  readonly summary: string;
  /** The schema of each answer; null for an answer without a body. */
  readonly answers: { readonly [Status in keyof Endpoints[Key]["answers"]]: AnswerName | null };
  /** The problems that the route may answer, besides those of every route. */
  readonly problems: readonly number[];
}

/** Every route has its words, so that a new route cannot be left out. */
export const routeDocs: { readonly [Key in keyof Endpoints]: RouteDocs<Key> } = {
  "GET /health/live": {
    operationId: "checkLive",
    summary: "Whether the process answers",
    answers: { 200: "Live" },
    problems: [400],
  },
  "GET /health/ready": {
    operationId: "checkReady",
    summary: "Whether the store can be reached",
    answers: { 200: "Ready" },
    problems: [400, 503],
  },
  "GET /health": {
    operationId: "getHealth",
    summary: "How the store and the schedulers on it are. An outage is one of the facts",
    answers: { 200: "Health" },
    problems: [400],
  },
  "GET /overview": {
    operationId: "getOverview",
    summary: "How everything is, on one page",
    answers: { 200: "Overview" },
    problems: [400, 503],
  },
  "GET /schedulers": {
    operationId: "listSchedulers",
    summary: "The living schedulers",
    answers: { 200: "SchedulerPage" },
    problems: [400],
  },
  "GET /events": {
    operationId: "streamEvents",
    summary: "What happens, from now on, or after the event of the id, as Server-Sent Events",
    answers: { 200: null },
    problems: [400, 409, 503],
  },
  "GET /metrics": {
    operationId: "getMetrics",
    summary: "Numbers as text for Prometheus, where the router was given metrics",
    answers: { 200: null },
    problems: [400, 404],
  },
  "POST /cleanup": {
    operationId: "cleanUp",
    summary: "Remove expired results and ended schedules now",
    answers: { 204: null },
    problems: [503],
  },
  "POST /tick": {
    operationId: "tick",
    summary: "Do what is due, once. A conflict when the scheduler was started",
    answers: { 200: "TickReport" },
    problems: [404, 409, 503],
  },
  "GET /session": {
    operationId: "getSession",
    summary: "Who asks, and what that caller may do",
    answers: { 200: "Session" },
    problems: [400],
  },
  "POST /session": {
    operationId: "beginSession",
    summary: "Exchange a token for a cookie, for pages",
    answers: { 204: null },
    problems: [401, 403, 404, 422, 429],
  },
  "DELETE /session": {
    operationId: "endSession",
    summary: "Remove the cookie of a session",
    answers: { 204: null },
    problems: [403, 404],
  },
  "GET /openapi.json": {
    operationId: "getOpenApi",
    summary: "This document",
    answers: { 200: "OpenApi" },
    problems: [400],
  },
  "GET /tasks": {
    operationId: "listTasks",
    summary: "The tasks that the store knows",
    answers: { 200: "TaskPage" },
    problems: [400, 422, 503],
  },
  "GET /tasks/:id": {
    operationId: "getTask",
    summary: "One task",
    answers: { 200: "Task" },
    problems: [400, 404, 503],
  },
  "DELETE /tasks/:id": {
    operationId: "removeTask",
    summary: "Remove a task that no schedule and no unfinished job refers to",
    answers: { 204: null },
    problems: [404, 409, 422, 503],
  },
  "POST /tasks/:id/pause": {
    operationId: "pauseTask",
    summary: "Pause a task, or one concurrency key of it",
    answers: { 200: "Task" },
    problems: [404, 422, 503],
  },
  "POST /tasks/:id/unpause": {
    operationId: "unpauseTask",
    summary: "Let a task, or one concurrency key of it, go on",
    answers: { 200: "Task" },
    problems: [404, 422, 503],
  },
  "GET /blackouts": {
    operationId: "listBlackouts",
    summary: "The blackouts, ordered by id: times in which fire times make no job",
    answers: { 200: "BlackoutPage" },
    problems: [400, 503],
  },
  "POST /blackouts": {
    operationId: "addBlackout",
    summary: "Add a blackout",
    answers: { 201: "Blackout" },
    problems: [409, 422, 503],
  },
  "DELETE /blackouts/:id": {
    operationId: "removeBlackout",
    summary: "Remove a blackout: fire times fire again from now on",
    answers: { 204: null },
    problems: [404, 422, 503],
  },
  "GET /schedules": {
    operationId: "listSchedules",
    summary: "The schedules, ordered by id",
    answers: { 200: "SchedulePage" },
    problems: [400, 503],
  },
  "POST /schedules": {
    operationId: "addSchedule",
    summary: "Add a schedule",
    answers: { 201: "Schedule" },
    problems: [404, 409, 422, 503],
  },
  "POST /schedules/bulk": {
    operationId: "changeSchedules",
    summary: "Pause, unpause or remove many schedules",
    answers: { 200: "ScheduleBulkReport" },
    problems: [409, 422, 503],
  },
  "GET /schedules/:id": {
    operationId: "getSchedule",
    summary: "One schedule",
    answers: { 200: "Schedule" },
    problems: [400, 404, 503],
  },
  "PUT /schedules/:id": {
    operationId: "replaceSchedule",
    summary: "Replace a schedule; its history stays",
    answers: { 200: "Schedule" },
    problems: [400, 404, 409, 412, 422, 503],
  },
  "PATCH /schedules/:id": {
    operationId: "updateSchedule",
    summary: "Change a schedule; what is left out stays as it is",
    answers: { 200: "Schedule" },
    problems: [400, 404, 409, 412, 422, 503],
  },
  "DELETE /schedules/:id": {
    operationId: "removeSchedule",
    summary: "Remove a schedule; its jobs stay",
    answers: { 204: null },
    problems: [400, 404, 409, 412, 422, 503],
  },
  "POST /schedules/:id/pause": {
    operationId: "pauseSchedule",
    summary: "Pause a schedule",
    answers: { 200: "Schedule" },
    problems: [404, 422, 503],
  },
  "POST /schedules/:id/unpause": {
    operationId: "unpauseSchedule",
    summary: "Let a schedule go on",
    answers: { 200: "Schedule" },
    problems: [404, 422, 503],
  },
  "POST /schedules/:id/run": {
    operationId: "runScheduleNow",
    summary: "Add one extra job of a schedule, which runs now",
    answers: { 202: "Job" },
    problems: [404, 422, 503],
  },
  "POST /schedules/:id/backfill": {
    operationId: "backfill",
    summary: "Add jobs for past fire times of a schedule that have no run",
    answers: { 200: "BackfillReport" },
    problems: [404, 422, 503],
  },
  "GET /schedules/:id/preview": {
    operationId: "previewSchedule",
    summary: "The fire times to come of a schedule",
    answers: { 200: "Preview" },
    problems: [400, 404, 503],
  },
  "GET /schedules/:id/occurrences": {
    operationId: "listOccurrences",
    summary: "The fire times of a schedule until now, the newest first, and what became of each",
    answers: { 200: "OccurrencePage" },
    problems: [400, 404, 503],
  },
  "GET /schedules/:id/explain": {
    operationId: "explain",
    summary: "Why a schedule did or did not run at an instant, or will not",
    answers: { 200: "Explanation" },
    problems: [400, 404, 503],
  },
  "GET /schedules/:id/changes": {
    operationId: "listScheduleChanges",
    summary: "The changes of a schedule, the newest first: who, when and what",
    answers: { 200: "ScheduleChangePage" },
    problems: [400, 404, 503],
  },
  "GET /forecast": {
    operationId: "getForecast",
    summary: "How often the active schedules will fire, bucket by bucket, where the router was given an insight",
    answers: { 200: "Forecast" },
    problems: [400, 404, 503],
  },
  "POST /plan": {
    operationId: "planSchedules",
    summary: "What schedules as code would add, change and remove, where the router was given an insight",
    answers: { 200: "Plan" },
    problems: [404, 422, 503],
  },
  "POST /apply": {
    operationId: "applySchedules",
    summary:
      "Do what a plan says, in one commit, unless something changed since, where the router was given an insight",
    answers: { 200: "Plan" },
    problems: [404, 412, 422, 503],
  },
  "GET /calendar.ics": {
    operationId: "getCalendar",
    summary: "The fire times to come as a calendar, for a token of its own, where the router has an insight with one",
    answers: { 200: null },
    problems: [400, 401, 503],
  },
  "POST /triggers/preview": {
    operationId: "previewTrigger",
    summary: "The fire times of a trigger that is not stored",
    answers: { 200: "Preview" },
    problems: [422],
  },
  "GET /jobs": {
    operationId: "listJobs",
    summary: "The unfinished jobs, ordered by id",
    answers: { 200: "JobPage" },
    problems: [400, 503],
  },
  "POST /jobs": {
    operationId: "addJob",
    summary: "Add a job",
    answers: { 202: "Job" },
    problems: [404, 422, 503],
  },
  "POST /jobs/batch": {
    operationId: "addJobs",
    summary: "Add many jobs in one commit, and perhaps one that comes after all of them",
    answers: { 202: "JobBatchReport" },
    problems: [404, 422, 503],
  },
  "POST /jobs/bulk": {
    operationId: "changeJobs",
    summary: "Retry or purge what has ended, or cancel what has not, by a filter or ids",
    answers: { 200: "JobBulkReport" },
    problems: [422, 503],
  },
  "GET /jobs/:id": {
    operationId: "getJob",
    summary: "One job, ended or not, with its recorded steps, whose values are for those who may write",
    answers: { 200: "JobWithSteps" },
    problems: [400, 404, 503],
  },
  "POST /jobs/:id/cancel": {
    operationId: "cancelJob",
    summary: "Cancel a job: a queued one ends at once, a running one is asked to end",
    answers: { 202: "JobCancellation" },
    problems: [404, 422, 503],
  },
  "POST /jobs/:id/retry": {
    operationId: "retryJob",
    summary: "Run a job that has ended once more, perhaps with another payload",
    answers: { 202: "Job" },
    problems: [404, 409, 422, 503],
  },
  "GET /jobs/:id/logs": {
    operationId: "getJobLogs",
    summary: "What is kept of the log of a job, attempt by attempt",
    answers: { 200: "JobLogPage" },
    problems: [400, 404, 503],
  },
  "GET /jobs/:id/result": {
    operationId: "getJobResult",
    summary: "How a job ended; 202 while it is unfinished",
    answers: { 200: "JobResult", 202: "Job" },
    problems: [400, 404, 503],
  },
  "GET /failures": {
    operationId: "listFailures",
    summary: "The newest failures, in groups of one task and one error",
    answers: { 200: "Failures" },
    problems: [400, 503],
  },
  "GET /stats": {
    operationId: "getStats",
    summary: "How many jobs ended, in which way, how long they ran and how late they started",
    answers: { 200: "StatsReport" },
    problems: [400, 422, 503],
  },
  "GET /runs": {
    operationId: "listRuns",
    summary: "Unfinished jobs, then those that have ended, the newest first",
    answers: { 200: "RunPage" },
    problems: [400, 503],
  },
  "GET /runs/:id": {
    operationId: "getRun",
    summary: "One job, ended or not, with its result",
    answers: { 200: "Run" },
    problems: [400, 404, 503],
  },
  "GET /results": {
    operationId: "listJobResults",
    summary: "The results, the newest first",
    answers: { 200: "JobResultPage" },
    problems: [400, 503],
  },
};
