import type { Endpoints } from "../../hono/api.ts";
import type { Count } from "../../scheduler/views/health.ts";
import { getState, type ShownSession, setState } from "./store.ts";
import { durationMs, msOf } from "./time.ts";

// All requests of the page. Nothing else of it asks the server, and nothing is asked that the routes of docs/http.md do
// not offer to everybody.

/** What a route answers when all is well. */
type AnswerOf<Key extends keyof Endpoints> = Endpoints[Key]["answers"][keyof Endpoints[Key]["answers"]];
type ItemOf<Key extends keyof Endpoints> = AnswerOf<Key> extends { items: readonly (infer Item)[] } ? Item : never;

/** How everything is, with its runs as the page shows them. */
export type ShownOverview = Omit<AnswerOf<"GET /overview">, "runs"> & { readonly runs: readonly ShownRun[] };
export type ShownHealth = AnswerOf<"GET /health">;
/** A pause of a task, or of one of its keys. */
export type ShownPause = ShownHealth["pausedTasks"][number];
export type ShownSchedule = ItemOf<"GET /schedules">;
export type ShownTask = ItemOf<"GET /tasks">;
export type ShownJob = AnswerOf<"POST /jobs">;
export type ShownPreview = AnswerOf<"GET /schedules/:id/preview">;
export type ShownOccurrence = ItemOf<"GET /schedules/:id/occurrences">;
export type ShownFailureGroup = ItemOf<"GET /failures">;
export type ShownExplanation = AnswerOf<"GET /schedules/:id/explain">;
export type ShownChange = ItemOf<"GET /schedules/:id/changes">;

export interface ShownPage<T> {
  readonly items: readonly T[];
  readonly cursor: string | null;
  /** Where it was asked for, as the next one. */
  readonly total?: Count;
  readonly facets?: Readonly<Record<string, Count>>;
}

/** How many of a list are in states, as people read it: `1,000+`; nothing before it is known.
 *  @param names with commas between them; without one, all of them count */
export function countText(page: ShownPage<unknown> | undefined, names: string): string {
  const { facets } = page ?? {};
  if (facets === undefined) return "";
  const counts = names === "" ? Object.values(facets) : names.split(",").flatMap((name) => facets[name] ?? []);
  const sum = counts.reduce((all, { count }) => all + count, 0).toLocaleString("en");
  return `${sum}${counts.some(({ isCapped }) => isCapped) ? "+" : ""}`;
}

/** Loads a page of a list. */
export type Load<T = unknown> = (paging: Paging) => Promise<ShownPage<T>>;

interface Paging {
  readonly limit: number;
  readonly cursor?: string | null | undefined;
  readonly include?: readonly string[];
}

/** A request that was refused. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  readonly code: string;
  readonly issues: readonly { readonly path: string; readonly message: string; readonly suggestion?: string }[];
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Readonly<Record<string, unknown>>) {
    super(String(problem.detail ?? problem.title ?? `the server answered ${status}`));
    this.status = status;
    this.code = String(problem.code ?? "");
    this.issues = Array.isArray(problem.issues) ? problem.issues : [];
    this.facts = problem;
  }
}

/** No answer came, or one that says that the server is not there. */
export class Unreached extends Error {
  override readonly name = "Unreached";
}

/** The mount of the router: the folder of this script. */
export const BASE: URL = new URL(".", document.querySelector("script")?.src);

type RouteQuery = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** The address of a route. Words of the query without a value go. */
export function urlOf(path: readonly string[], query: RouteQuery = {}): URL {
  const url = new URL(path.map(encodeURIComponent).join("/"), BASE);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== null && one !== undefined && one !== "") url.searchParams.append(name, String(one));
    }
  }
  return url;
}

interface Sent {
  readonly query?: RouteQuery | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws {Refused} @throws {Unreached} */
async function send<T>(method: string, path: readonly string[], sent: Sent = {}): Promise<T> {
  const { query, body, headers, signal } = sent;
  const init: RequestInit = { method, headers: { ...headers }, credentials: "same-origin" };
  if (signal !== undefined) init.signal = signal;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...headers, "content-type": "application/json" };
  }
  let answer: Response;
  try {
    answer = await fetch(urlOf(path, query), init);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    onUnreached();
    throw new Unreached("the server does not answer");
  }
  const isJson = answer.headers.get("content-type")?.includes("json") === true;
  if ([502, 503, 504].includes(answer.status) && !isJson) {
    onUnreached();
    throw new Unreached(`the server answered ${answer.status}`);
  }
  onReached(method);
  if (answer.status === 204) return undefined as T;
  const read = isJson ? await answer.json() : {};
  if (answer.ok) return read as T;
  if (answer.status === 401 && path[0] !== "session") setState({ session: null });
  throw new Refused(answer.status, read);
}

let onUnreached: () => void = () => {};

/** @param handler called when a request got no answer */
export function whenUnreached(handler: () => void): void {
  onUnreached = handler;
}

function onReached(method: string): void {
  const { live, writes } = getState();
  setState({ live: { ...live, seenAt: Date.now() }, writes: writes + (method === "GET" ? 0 : 1) });
}

const get = <T>(path: readonly string[], query?: RouteQuery, signal?: AbortSignal): Promise<T> =>
  send<T>("GET", path, { query, signal });
const post = <T>(path: readonly string[], body: unknown = {}): Promise<T> => send<T>("POST", path, { body });

// ---- sessions

export const getSession = (): Promise<ShownSession> => get(["session"]);
export const signIn = (secret: { token: string } | { code: string }): Promise<void> => post(["session"], secret);
export const signOut = (): Promise<void> => send("DELETE", ["session"]);

// ---- state

export const getHealth = (signal?: AbortSignal): Promise<ShownHealth> => get(["health"], {}, signal);
/** The pause because of which what a schedule or a run has of its task does not start. */
export const pauseOf = (
  of: { readonly taskId: string; readonly concurrencyKey: string | null },
  pauses: readonly ShownPause[] = [],
): ShownPause | undefined =>
  pauses.find(({ taskId, key }) => taskId === of.taskId && (key === null || key === of.concurrencyKey));
/** The live schedulers that have a handler for a task. */
export const handlersOf = (id: string, health: ShownHealth | undefined): ShownHealth["schedulers"] =>
  (health?.schedulers ?? []).filter(({ tasks, role }) => role !== "scheduler" && tasks.includes(id));
export const isWaiting = ({ state }: { readonly state: string }): boolean => state === "queued" || state === "blocked";
export const getTasks = (signal?: AbortSignal, label?: string): Promise<ShownPage<ShownTask>> =>
  get(["tasks"], { label }, signal);
export const getTask = (id: string, signal?: AbortSignal): Promise<ShownTask> => get(["tasks", id], {}, signal);
export const setTaskPaused = (id: string, isPaused: boolean, key?: string): Promise<ShownTask> =>
  post(["tasks", id, isPaused ? "pause" : "unpause"], { key });

// ---- schedules

export interface ScheduleListFilter {
  readonly search?: string | undefined;
  readonly taskId?: string | undefined;
  readonly label?: string | undefined;
  /** `active`, `paused` or `ended`. */
  readonly state?: string | undefined;
  readonly ids?: readonly string[];
}

/** What a filter stands for in a change of many: one that names nothing has to say so. */
export function wholeOf<F extends { readonly label?: string | undefined }>(
  { label, ...filter }: F,
  expectedCount: number,
): Selection {
  const given = label === undefined ? filter : { ...filter, label: [label] };
  const isAll = Object.values(given).every((value) => value === undefined);
  return { ...(isAll ? { all: true } : { filter: given }), expectedCount };
}

export const getSchedules = (
  query: ScheduleListFilter & {
    sort?: string;
    limit?: number;
    cursor?: string | null | undefined;
    include?: readonly string[];
    ids?: readonly string[];
  },
  signal?: AbortSignal,
): Promise<ShownPage<ShownSchedule>> => get(["schedules"], { include: ["description", "next:1"], ...query }, signal);
export const getSchedule = (id: string, signal?: AbortSignal): Promise<ShownSchedule> =>
  get(["schedules", id], {}, signal);
export const addSchedule = (body: object): Promise<ShownSchedule> => post(["schedules"], body);
/** @throws {Refused} with the status 412, when somebody else has changed it since that revision */
export const updateSchedule = (id: string, changes: object, revision: number): Promise<ShownSchedule> =>
  send("PATCH", ["schedules", id], { body: changes, headers: { "if-match": `"${revision}"` } });
export const pauseSchedule = (id: string, body: object = {}): Promise<ShownSchedule> =>
  post(["schedules", id, "pause"], body);
export const unpauseSchedule = (id: string): Promise<ShownSchedule> =>
  post(["schedules", id, "unpause"], { resumeFrom: "now" });
export const removeSchedule = (id: string): Promise<void> => send("DELETE", ["schedules", id]);
export const runSchedule = (id: string): Promise<ShownJob> => post(["schedules", id, "run"]);

/** Either ids, or everything that fits the filter; `expectedCount` is what somebody saw and confirmed. */
export interface Selection {
  readonly ids?: readonly string[];
  readonly filter?: object;
  readonly all?: boolean;
  readonly expectedCount?: number;
}

export interface BulkReport {
  readonly count: number;
  readonly skipped: number;
  readonly refusals: readonly { readonly id: string; readonly detail: string }[];
}

export const bulkSchedules = (action: "pause" | "unpause" | "remove", which: Selection): Promise<BulkReport> =>
  post(["schedules", "bulk"], { action, ...which, ...(action === "unpause" ? { resumeFrom: "now" } : {}) });
export const bulkJobs = (action: "retry" | "cancel" | "purge", which: Selection): Promise<BulkReport> =>
  post(["jobs", "bulk"], { action, ...which });

export const previewSchedule = (id: string, limit: number, signal?: AbortSignal): Promise<ShownPreview> =>
  get(["schedules", id, "preview"], { limit }, signal);
export const previewTrigger = (trigger: unknown, limit: number, signal?: AbortSignal): Promise<ShownPreview> =>
  send("POST", ["triggers", "preview"], { body: { trigger, limit }, signal });
export const getOccurrences = (
  id: string,
  query: { limit?: number; cursor?: string; verdict?: string; from?: string; until?: string },
  signal?: AbortSignal,
): Promise<ShownPage<ShownOccurrence>> => get(["schedules", id, "occurrences"], query, signal);
export const explain = (id: string, at: string, signal?: AbortSignal): Promise<ShownExplanation> =>
  get(["schedules", id, "explain"], { at }, signal);
export const getChanges = (id: string, signal?: AbortSignal): Promise<ShownPage<ShownChange>> =>
  get(["schedules", id, "changes"], { limit: 20 }, signal);

/** Most items that a file has, and that a change is about. */
export const ITEMS_MAX = 10_000;

/** All items of a list, or the most. */
export async function allOf<T>(load: Load<T>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await load({ limit: 1000, cursor });
    items.push(...page.items);
    ({ cursor } = page);
  } while (cursor && items.length < ITEMS_MAX);
  return items;
}

export type ShownBlackout = ItemOf<"GET /blackouts">;
export const getBlackouts = (signal?: AbortSignal): Promise<ShownPage<ShownBlackout>> => get(["blackouts"], {}, signal);
export const addBlackout = (body: object): Promise<ShownBlackout> => post(["blackouts"], body);
export const removeBlackout = (id: string): Promise<void> => send("DELETE", ["blackouts", id]);

/** What a backfill made, or would make. */
export type ShownBackfill = AnswerOf<"POST /schedules/:id/backfill">;

/** Jobs for past fire times that did not run. With `dryRun`, it only tells how many there would be. */
export const backfill = (id: string, body: object): Promise<ShownBackfill> => post(["schedules", id, "backfill"], body);

/** What happened within a run, recorded by itself. */
export const getSteps = (id: string, signal?: AbortSignal): Promise<Pick<AnswerOf<"GET /jobs/:id">, "steps">> =>
  get(["jobs", id], {}, signal);

/** What the handler logged, attempt by attempt. */
type ShownLog = ItemOf<"GET /jobs/:id/logs">;
export const getLogs = (id: string, signal?: AbortSignal): Promise<ShownPage<ShownLog>> =>
  get(["jobs", id, "logs"], {}, signal);

/** The load to come, in buckets of one length. */
export type ShownForecast = AnswerOf<"GET /forecast">;
export type ShownForecastBucket = ShownForecast["buckets"][number];

export const getForecast = (
  query: { from: string; until: string; bucket: string },
  signal?: AbortSignal,
): Promise<ShownForecast> => get(["forecast"], query, signal);

// ---- runs

export type ShownStats = AnswerOf<"GET /stats">["items"][number];

/** How the runs of the last day ended, hour by hour; of a schedule, those of the last week, day by day. */
export const getStats = (of: { taskId: string } | { scheduleId: string }, signal?: AbortSignal) =>
  get<AnswerOf<"GET /stats">>(["stats"], of, signal);

/** A job, unfinished or ended, as the page shows it. Instants are epoch milliseconds. */
export interface ShownRun {
  readonly id: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  readonly concurrencyKey: string | null;
  /** What it is at, or how it ended. */
  readonly state: string;
  readonly dueAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly lateMs: number | null;
  readonly runMs: number | null;
  readonly attempts: number;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly progress: number | null;
  readonly note: string | null;
  readonly by: string | null;
}

/** A job as the router tells it, with all that it keeps. */
export type ShownWholeRun = AnswerOf<"GET /runs/:id">;

type ShortRun = Omit<AnswerOf<"GET /overview">["runs"][number], "dueAt"> &
  Partial<Pick<ShownWholeRun, "runAt" | "scheduledFireTime" | "attempts" | "error" | "acquiredBy" | "concurrencyKey">>;

const runOf = (run: ShortRun): ShownRun => ({
  id: run.id,
  taskId: run.taskId,
  scheduleId: run.scheduleId,
  concurrencyKey: run.concurrencyKey ?? null,
  state: run.outcome ?? run.state,
  dueAt: Date.parse(run.scheduledFireTime ?? run.runAt ?? ""),
  startedAt: msOf(run.startedAt),
  endedAt: msOf(run.finishedAt),
  lateMs: durationMs(run.lateness),
  runMs: durationMs(run.runTime),
  attempts: run.attempts ?? 1,
  error: run.error ?? null,
  progress: run.progress,
  note: run.progressNote,
  by: run.acquiredBy ?? null,
});

export async function getOverview(signal?: AbortSignal): Promise<ShownOverview> {
  const overview = await get<AnswerOf<"GET /overview">>(["overview"], {}, signal);
  return { ...overview, runs: overview.runs.map(({ dueAt, ...run }) => runOf({ ...run, runAt: dueAt })) };
}

export interface RunListFilter {
  readonly search?: string | undefined;
  /** Words with commas between them, as the route takes them. */
  readonly state?: string | undefined;
  readonly outcome?: string | undefined;
  readonly taskId?: string | undefined;
  readonly scheduleId?: string | undefined;
  readonly label?: string | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

/** Unfinished jobs first, then ended ones, the newest first. */
export async function getRuns(
  filter: RunListFilter,
  paging: Paging,
  signal?: AbortSignal,
): Promise<ShownPage<ShownRun>> {
  const page = await get<ShownPage<ShownWholeRun>>(["runs"], { ...filter, ...paging }, signal);
  return { ...page, items: page.items.map(runOf) };
}

/** Failures that are alike, the most frequent first. */
export const getFailures = (
  query: { taskId?: string | undefined; scheduleId?: string | undefined; from?: string | undefined },
  signal?: AbortSignal,
): Promise<{ items: readonly ShownFailureGroup[] }> => get(["failures"], { ...query, limit: 20 }, signal);
export const getRun = (id: string, signal?: AbortSignal): Promise<ShownWholeRun> => get(["runs", id], {}, signal);
export const cancelJob = (id: string): Promise<unknown> => post(["jobs", id, "cancel"]);
export const retryJob = (id: string, changed?: { payload: unknown }): Promise<ShownJob> =>
  post(["jobs", id, "retry"], changed);
export const addJob = (body: object): Promise<ShownJob> => post(["jobs"], body);
