import type { Blackout, Job, PausedTask, Run, Schedule, SchedulerClient } from "../../mod.ts";
import { type CommandCall, hasOption, refuseOptions, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";
import { labelsOption } from "../labels.ts";
import { type Piece, styled } from "../output.ts";
import { outcomePiece, ruleText } from "../records.ts";
import { countOption, spanText, utcText, zonedText } from "../times.ts";

const LIMIT_DEFAULT = 100;
/** Most entries of one call, which is what a page of the store has. */
const LIMIT_MAX = 1000;
const KINDS = ["schedules", "runs", "jobs", "tasks", "blackouts"] as const;
/** What each option narrows. */
const KINDS_OF: Readonly<Record<string, readonly (typeof KINDS)[number][]>> = {
  task: ["schedules", "runs", "jobs"],
  search: ["schedules", "runs", "jobs"],
  label: ["schedules", "runs", "jobs", "tasks"],
  paused: ["schedules"],
  failed: ["runs"],
  limit: ["schedules", "runs", "jobs"],
};

/** `escapement list`: schedules, runs, unfinished jobs, tasks or blackouts. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  const [kind = "schedules"] = args;
  if (!KINDS.some((known) => known === kind)) {
    throw new CliError(`list shows ${KINDS.join(", ")}; got ${JSON.stringify(kind)}`);
  }
  for (const [name, kinds] of Object.entries(KINDS_OF)) {
    const have = kinds.map((one) => `escapement list ${one}`).join(", ");
    const where = `${have} ${kinds.length === 1 ? "has" : "have"} it`;
    if (!kinds.some((one) => one === kind)) refuseOptions(call, [name], `list ${kind}`, where);
  }
  const { items, cursor, rows, head, ...table } = await read(call, kind as (typeof KINDS)[number]);
  if (out.isJson) {
    out.json({ items, cursor });
    return EXIT.fine;
  }
  if (rows.length > 0) out.table(head, rows, table);
  else out.error(styled("dim", `no ${kind}`));
  if (cursor !== null) out.error(styled("dim", `and more: these are the first ${rows.length}; --limit shows more`));
  return EXIT.fine;
}

interface Read {
  readonly items: readonly unknown[];
  readonly cursor: string | null;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Piece[])[];
  /** See {@link TableOptions}. */
  readonly whole?: readonly number[];
  readonly spare?: readonly number[];
}

async function read(call: CommandCall, kind: (typeof KINDS)[number]): Promise<Read> {
  const { client } = await call.target();
  const limit = countOption(textOption(call, "limit"), "limit", LIMIT_DEFAULT, LIMIT_MAX);
  const taskId = textOption(call, "task");
  const search = textOption(call, "search");
  const filter = {
    ...{ limit, ...labelsOption(call) },
    ...(taskId === undefined ? {} : { taskId }),
    ...(search === undefined ? {} : { search }),
  };
  if (kind === "tasks") {
    const items = await client.getTasks(labelsOption(call));
    const rows = items.map((task) => {
      const { id, executor, isPaused, maxRunningJobs, pausedBy: by, pauseReason: reason } = task;
      return [
        id,
        executor,
        isPaused ? styled("yellow", `paused${pauseWords({ by, reason })}`) : "active",
        String(maxRunningJobs ?? "-"),
      ];
    });
    return { items, cursor: null, head: ["TASK", "EXECUTOR", "STATE", "MOST RUNNING"], rows };
  }
  if (kind === "blackouts") {
    const items = await client.getBlackouts();
    const rows = items.map((blackout) => [blackout.id, whenText(blackout), blackout.reason ?? "-"]);
    return { items, cursor: null, head: ["BLACKOUT", "WHEN", "REASON"], rows, whole: [1] };
  }
  if (kind === "jobs") {
    const page = await client.getJobs(filter);
    const head = ["STATE", "JOB", "TASK", "SCHEDULE", "RUNS AT"];
    return { ...page, head, rows: page.items.map(jobRow), whole: [0, 1, 4], spare: [2] };
  }
  if (kind === "runs") {
    const page = await client.getRuns({ ...filter, ...(hasOption(call, "failed") ? { outcome: "error" } : {}) });
    const head = ["OUTCOME", "JOB", "TASK", "STARTED", "TOOK"];
    return { ...page, head, rows: page.items.map(runRow), whole: [0, 1, 3, 4], spare: [4] };
  }
  const held = (await client.health()).pausedTasks;
  const page = hasOption(call, "paused")
    ? await pausedSchedules(client, filter, held)
    : await client.getSchedules(filter);
  const head = ["STATE", "SCHEDULE", "TASK", "RULE", "NEXT"];
  const rows = page.items.map((schedule) => scheduleRow(schedule, pauseOf(schedule, held)));
  const items = page.items.map((schedule) => ({ ...schedule.toJSON(), taskPause: pauseOf(schedule, held) ?? null }));
  return { ...page, items, head, rows, whole: [0, 4], spare: [2] };
}

/** The pause of a schedule's task, or of its key, because of which its jobs wait. */
function pauseOf({ taskId, concurrencyKey }: Schedule, pauses: readonly PausedTask[]): PausedTask | undefined {
  return pauses.find((pause) => pause.taskId === taskId && (pause.key === null || pause.key === concurrencyKey));
}

/** Schedules that are paused themselves, and then those that are not ended, but whose task or key is paused. */
async function pausedSchedules(
  client: SchedulerClient,
  filter: { readonly limit: number; readonly taskId?: string },
  blocked: readonly PausedTask[],
): Promise<Pick<Read, "cursor"> & { readonly items: readonly Schedule[] }> {
  const own = await client.getSchedules({ ...filter, paused: true });
  const items = [...own.items];
  let { cursor } = own;
  for (const id of new Set(blocked.map(({ taskId }) => taskId))) {
    if (cursor !== null) break;
    if (filter.taskId !== undefined && filter.taskId !== id) continue;
    const page = await client.getSchedules({ ...filter, taskId: id, paused: false });
    const waiting = page.items.filter((one) => one.nextFireTime !== null && pauseOf(one, blocked) !== undefined);
    const room = filter.limit - items.length;
    items.push(...waiting.slice(0, room));
    cursor = waiting.length > room ? (waiting[room]?.id ?? null) : page.cursor;
  }
  return { items, cursor };
}

function scheduleRow(schedule: Schedule, pause: PausedTask | undefined): Piece[] {
  const { id, taskId, paused, nextFireTime } = schedule;
  const { text, timeZone } = ruleText(schedule);
  const state = paused
    ? styled("yellow", "paused")
    : nextFireTime === null
      ? styled("dim", "ended")
      : pause === undefined
        ? "active"
        : styled("yellow", `${pause.key === null ? "task" : `key ${pause.key}`} paused${pauseWords(pause)}`);
  const next = nextFireTime === null ? "-" : zonedText(nextFireTime.toZonedDateTimeISO(timeZone));
  return [state, id, taskId, text, next];
}

/** Who paused a task, and why. */
function pauseWords({ by, reason }: Pick<PausedTask, "by" | "reason">): string {
  return `${by === null ? "" : ` by ${by}`}${reason === null ? "" : `: ${reason}`}`;
}

/** When a blackout is: from an instant until another one, or again and again for a while. */
function whenText(blackout: Blackout): string {
  const { from, until, duration } = blackout;
  if (from !== null) return `${utcText(from)} until ${utcText(until)}`;
  return `${ruleText(blackout).text}, for ${spanText(duration?.total("milliseconds") ?? 0)}`;
}

function jobRow({ state, id, taskId, scheduleId, runAt }: Job): Piece[] {
  return [state, id, taskId, scheduleId ?? "-", utcText(runAt)];
}

function runRow({ outcome, state, id, taskId, startedAt, runTime }: Run): Piece[] {
  const took = runTime === null ? "-" : `${runTime.total("seconds").toFixed(1)}s`;
  return [outcomePiece(outcome ?? state), id, taskId, utcText(startedAt), took];
}
