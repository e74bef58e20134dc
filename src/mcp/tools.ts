import { type Clock, systemClock } from "../core/clock.ts";
import { DearAnswers, inTurns } from "../core/in-turns.ts";
import { lintExpression, lintSteps } from "../crontab/lint.ts";
import { parseCrontab } from "../crontab/parse-crontab.ts";

/** A request of one of the router's routes. */
export interface RouteRequest {
  readonly method: "GET" | "POST";
  /** Below the mount. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Arguments of a call, of which the names are checked, and the values by the route. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A tool: what it takes, and which route answers it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly scope: "read" | "write";
  /** Says which route answers. */
  asks?(given: Arguments): RouteRequest;
  /** Answers without a route. */
  answers?(given: Arguments, clock: Clock): object | Promise<object>;
  /** What a call that only shows what it would do asks. */
  shows?(given: Arguments): RouteRequest;
}

/** The text of a caller alone decides, so that all routers of a process share them. */
const lints = new DearAnswers<object>(systemClock);
/** Lines, and rules, of one turn of the event loop: the dearest take some ten milliseconds. */
const LINES_OF_TURN = 2;

const text = (description: string): object => ({ type: "string", description });
const flag = (description: string): object => ({ type: "boolean", description });
const count = (description: string, maximum: number): object => {
  return { type: "integer", minimum: 1, maximum, description };
};
const TRIGGER = {
  description:
    'Crontab text such as "0 9 * * mon-fri", or { every: "15m" }, { at: instant }, or the JSON of a trigger.',
  anyOf: [{ type: "string" }, { type: "object" }],
};
const ZONE = text("IANA time zone of crontab text. Default: UTC.");
const INSTANT = "ISO 8601 instant with an offset";
const PAGE = { limit: count("Default: 20.", 1000), cursor: text("The cursor of the page before.") };
const DRY_RUN = flag("Only show what would be done. Default: true. Pass false to do it.");

/** More than any crontab, and so little that looking through it holds a server up for a moment only. */
const CRONTAB_LENGTH_MAX = 65_536;

/** The tools, in the order in which they are listed. Their texts are these, and nothing of a store. */
export const TOOLS: readonly Tool[] = [
  {
    name: "preview",
    description: "What a trigger means in words, its next fire times, and what clock changes do to them.",
    properties: { trigger: TRIGGER, timeZone: ZONE, limit: count("Default: 10.", 100), from: text(INSTANT) },
    required: ["trigger"],
    scope: "read",
    asks: ({ trigger, timeZone, ...others }) => {
      return { method: "POST", path: "/triggers/preview", body: { trigger: zoned(trigger, timeZone), ...others } };
    },
  },
  {
    name: "lint",
    description: "What is wrong in a crontab, or in one rule: rules that never fire, traps, clock changes.",
    properties: {
      crontab: text("The text of a crontab."),
      cron: text("One rule, in place of a crontab."),
      timeZone: ZONE,
      system: flag(
        "Whether lines name a user, as in /etc/crontab. Default: no; false where names could be users or commands.",
      ),
    },
    scope: "read",
    answers: ({ crontab, cron, timeZone, system }, clock) => {
      const options = { timeZone: typeof timeZone === "string" ? timeZone : "UTC", nowMs: clock.now() };
      if (typeof cron === "string") {
        return lints.of(JSON.stringify(["cron", cron, timeZone]), async () => {
          return { findings: lintExpression(cron, options) };
        });
      }
      if (typeof crontab !== "string") throw new TypeError("lint takes crontab or cron, which are text");
      if (crontab.length > CRONTAB_LENGTH_MAX) {
        throw new TypeError(`crontab must have at most ${CRONTAB_LENGTH_MAX} characters`);
      }
      return lints.of(JSON.stringify([crontab, timeZone, system]), async () => {
        const parsed = parseCrontab(crontab, { system: typeof system === "boolean" ? system : undefined });
        return { findings: await inTurns(lintSteps(parsed, options), LINES_OF_TURN) };
      });
    },
  },
  {
    name: "explain",
    description: "Why a schedule did, or did not, run at an instant, and what to change.",
    properties: {
      id: text("The schedule."),
      at: text(`${INSTANT}, or what clocks of the rule show: 2030-01-31 09:00`),
    },
    required: ["id", "at"],
    scope: "read",
    asks: ({ id, at }) => ({ method: "GET", path: `/schedules/${part(id)}/explain`, query: { at } }),
  },
  {
    name: "list_schedules",
    description: "Schedules by their ids.",
    properties: {
      ...{ search: text("Text somewhere in the id, the name or the task."), taskId: text("Of this task.") },
      ...{ state: { enum: ["active", "paused", "ended"] }, label: text("name:value, which the schedule has.") },
      ...PAGE,
    },
    scope: "read",
    asks: (query) => ({ method: "GET", path: "/schedules", query: { limit: 20, ...query } }),
  },
  {
    name: "list_runs",
    description: "Jobs that wait, run, or have ended, the newest first.",
    properties: {
      ...{ taskId: text("Of this task."), scheduleId: text("Of this schedule.") },
      ...{
        state: { enum: ["queued", "blocked", "running", "ended"] },
        outcome: text("success, error, abandoned, ..."),
      },
      ...{ error: text("Text in the error."), search: text("Text in an id, a key or the error.") },
      ...{ from: text(INSTANT), until: text(INSTANT) },
      ...PAGE,
    },
    scope: "read",
    asks: (query) => ({ method: "GET", path: "/runs", query: { limit: 20, ...query } }),
  },
  {
    name: "get_run",
    description: "One job with its attempts and errors, or with its log.",
    properties: { id: text("The job."), logs: flag("Its log in place of the job. Default: false.") },
    required: ["id"],
    scope: "read",
    asks: ({ id, logs }) => ({ method: "GET", path: logs === true ? `/jobs/${part(id)}/logs` : `/runs/${part(id)}` }),
  },
  {
    name: "health",
    description: "Whether the store answers, what is late, paused or piles up, and which schedulers are alive.",
    properties: {},
    scope: "read",
    asks: () => ({ method: "GET", path: "/health" }),
  },
  {
    name: "forecast",
    description: "How often schedules will fire, bucket by bucket, and the busiest one. Default: a day, by hours.",
    properties: { from: text(INSTANT), until: text(INSTANT), bucket: text("A duration. Default: 1h.") },
    scope: "read",
    asks: (query) => ({ method: "GET", path: "/forecast", query: { bucket: "1h", ...query } }),
  },
  {
    name: "add_schedule",
    description: "Adds a schedule of a task, or changes the one with this id.",
    properties: {
      ...{ id: text("Its id."), taskId: text("A task that the scheduler knows."), trigger: TRIGGER, timeZone: ZONE },
      ...{ payload: { description: "What the handler gets." }, name: text("A name for people."), dryRun: DRY_RUN },
    },
    required: ["id", "taskId", "trigger"],
    scope: "write",
    asks: ({ trigger, timeZone, ...others }) => {
      return { method: "POST", path: "/schedules", body: { ...others, trigger: zoned(trigger, timeZone) } };
    },
    shows: ({ id, trigger, timeZone }) => {
      return { method: "POST", path: "/triggers/preview", body: { trigger: zoned(trigger, timeZone), id, limit: 5 } };
    },
  },
  {
    name: "pause",
    description: "Pauses a schedule.",
    properties: { id: text("The schedule."), until: text(INSTANT), reason: text("Why."), dryRun: DRY_RUN },
    required: ["id"],
    scope: "write",
    asks: ({ id, ...body }) => ({ method: "POST", path: `/schedules/${part(id)}/pause`, body }),
    shows: scheduleOf,
  },
  {
    name: "unpause",
    description: "Lets a paused schedule go on.",
    properties: {
      ...{ id: text("The schedule."), dryRun: DRY_RUN },
      resumeFrom: text(`"now" or an ${INSTANT}: fire times before it are dropped.`),
    },
    required: ["id"],
    scope: "write",
    asks: ({ id, ...body }) => ({ method: "POST", path: `/schedules/${part(id)}/unpause`, body }),
    shows: scheduleOf,
  },
  {
    name: "run_now",
    description: "Runs a schedule now, beside its rule.",
    properties: { id: text("The schedule."), dryRun: DRY_RUN },
    required: ["id"],
    scope: "write",
    asks: ({ id }) => ({ method: "POST", path: `/schedules/${part(id)}/run`, body: {} }),
    shows: scheduleOf,
  },
  {
    name: "retry",
    description: "Runs a job that has ended once more.",
    properties: { id: text("The job."), restart: flag("Without its recorded steps."), dryRun: DRY_RUN },
    required: ["id"],
    scope: "write",
    asks: ({ id, ...body }) => ({ method: "POST", path: `/jobs/${part(id)}/retry`, body }),
    shows: ({ id }) => ({ method: "GET", path: `/runs/${part(id)}` }),
  },
  {
    name: "backfill",
    description: "Adds jobs for fire times of a schedule that did not run.",
    properties: {
      ...{ id: text("The schedule."), from: text(INSTANT), until: text(`${INSTANT}, not in the future`) },
      ...{
        limit: count("At most so many jobs.", 1_000_000),
        pace: text("A duration between two jobs."),
        includeCoalesced: flag("Also those that were coalesced into one that ran."),
        dryRun: DRY_RUN,
      },
    },
    required: ["id", "from", "until"],
    scope: "write",
    asks: ({ id, ...body }) => ({ method: "POST", path: `/schedules/${part(id)}/backfill`, body }),
    shows: ({ id, ...body }) => {
      return { method: "POST", path: `/schedules/${part(id)}/backfill`, body: { ...body, dryRun: true } };
    },
  },
];

function scheduleOf({ id }: Arguments): RouteRequest {
  return { method: "GET", path: `/schedules/${part(id)}` };
}

/** An id as a part of a path. `.` and `..` would lead elsewhere, and no id of a route is empty. */
function part(id: unknown): string {
  if (typeof id !== "string" || /^\.{0,2}$/.test(id)) throw new TypeError("id must be text, and no dot");
  return encodeURIComponent(id.toWellFormed());
}

function zoned(trigger: unknown, timeZone: unknown): unknown {
  if (typeof trigger !== "string") return trigger;
  return timeZone === undefined ? trigger : { cron: trigger, timeZone };
}
