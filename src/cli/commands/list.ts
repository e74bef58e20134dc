import type { Job, Run, Schedule } from "../../mod.ts";
import { type CommandCall, hasOption, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";
import { labelsOption } from "../labels.ts";
import { type Piece, styled } from "../output.ts";
import { outcomePiece, ruleText } from "../records.ts";
import { countOption, utcText, zonedText } from "../times.ts";

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1000;
const KINDS = ["schedules", "runs", "jobs", "tasks", "blackouts"] as const;

/** `escapement list`: schedules, runs, unfinished jobs, tasks or blackouts. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  const [kind = "schedules"] = args;
  if (!KINDS.some((known) => known === kind)) {
    throw new CliError(`list shows ${KINDS.join(", ")}; got ${JSON.stringify(kind)}`);
  }
  const { items, cursor, rows, head } = await read(call, kind as (typeof KINDS)[number]);
  if (out.isJson) {
    out.json({ items, cursor });
    return EXIT.fine;
  }
  if (rows.length > 0) out.table(head, rows);
  else out.error(styled("dim", `no ${kind}`));
  if (cursor !== null) out.error(styled("dim", `and more: these are the first ${rows.length}; --limit shows more`));
  return EXIT.fine;
}

interface Read {
  readonly items: readonly unknown[];
  readonly cursor: string | null;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Piece[])[];
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
    const rows = items.map(({ id, executor, isPaused, maxRunningJobs }) => {
      return [id, executor, isPaused ? styled("yellow", "paused") : "active", String(maxRunningJobs ?? "-")];
    });
    return { items, cursor: null, head: ["TASK", "EXECUTOR", "STATE", "MOST RUNNING"], rows };
  }
  if (kind === "blackouts") {
    const items = await client.getBlackouts();
    const rows = items.map(({ id, reason, ...blackout }) => [id, JSON.stringify(blackout), reason ?? "-"]);
    return { items, cursor: null, head: ["BLACKOUT", "WHEN", "REASON"], rows };
  }
  if (kind === "jobs") {
    const page = await client.getJobs(filter);
    return { ...page, head: ["STATE", "JOB", "TASK", "SCHEDULE", "RUNS AT"], rows: page.items.map(jobRow) };
  }
  if (kind === "runs") {
    const page = await client.getRuns({ ...filter, ...(hasOption(call, "failed") ? { outcome: "error" } : {}) });
    return { ...page, head: ["OUTCOME", "JOB", "TASK", "STARTED", "TOOK"], rows: page.items.map(runRow) };
  }
  const paused = hasOption(call, "paused") ? { paused: true } : {};
  const page = await client.getSchedules({ ...filter, ...paused });
  return { ...page, head: ["STATE", "SCHEDULE", "TASK", "RULE", "NEXT"], rows: page.items.map(scheduleRow) };
}

function scheduleRow(schedule: Schedule): Piece[] {
  const { id, taskId, paused, nextFireTime } = schedule;
  const { text, timeZone } = ruleText(schedule);
  const state = paused ? styled("yellow", "paused") : nextFireTime === null ? styled("dim", "ended") : "active";
  const next = nextFireTime === null ? "-" : zonedText(nextFireTime.toZonedDateTimeISO(timeZone));
  return [state, id, taskId, text, next];
}

function jobRow({ state, id, taskId, scheduleId, runAt }: Job): Piece[] {
  return [state, id, taskId, scheduleId ?? "-", utcText(runAt)];
}

function runRow({ outcome, state, id, taskId, startedAt, runTime }: Run): Piece[] {
  const took = runTime === null ? "-" : `${runTime.total("seconds").toFixed(1)}s`;
  return [outcomePiece(outcome ?? state), id, taskId, utcText(startedAt), took];
}
