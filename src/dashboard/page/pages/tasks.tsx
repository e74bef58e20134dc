import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { hrefOf } from "../hash.ts";
import {
  Act,
  Calm,
  Crumbs,
  Empty,
  Facts,
  Failure,
  Field,
  hasEntries,
  Json,
  Loading,
  many,
  Panel,
} from "../parts/basics.tsx";
import { badOf, CountChart, usualWords } from "../parts/charts.tsx";
import { DialogButton } from "../parts/dialogs.tsx";
import { Labels, PauseWords, Said, StateGlyph } from "../parts/glyph.tsx";
import { type Column, Heads, Narrowed, SearchBox } from "../parts/list.tsx";
import { useNow, usePlace, useZone } from "../store.ts";
import { durationMs, durationText } from "../time.ts";
import { useData } from "../use-data.ts";
import { OVERLAP, type Tone } from "../verdicts.ts";

const COLUMNS: readonly Column[] = [
  ["Task"],
  ["Handled by"],
  ["Now", "next"],
  ["Attempts", "num hide-s"],
  ["Timeout", "num hide-s"],
  ["Actions", "acts"],
];

export function TasksPage() {
  const { query } = usePlace();
  const { search = "", label } = query;
  const { data: tasks, error } = useData(`tasks ${label}`, (signal) => api.getTasks(signal, label));
  const { data: health } = useData("health", api.getHealth);
  const shown = tasks?.items.filter(({ id }) => id.toLowerCase().includes(search.toLowerCase()));
  return (
    <>
      <div class="toolbar head">
        <h1>Tasks</h1>
        <span class="dim">{tasks?.items.length}</span>
      </div>
      <div class="toolbar">
        <SearchBox value={search} placeholder="Filter by id" label="Filter tasks" />
        <Narrowed query={query} />
      </div>
      <Failure error={error} />
      <div class="panel">
        {shown === undefined ? (
          <Loading />
        ) : shown.length === 0 ? (
          <Empty title={search === "" ? "No program has registered a task yet" : "No task fits"}>
            <p>
              A program registers what it can run: <code>scheduler.task("report", handler)</code>
            </p>
          </Empty>
        ) : (
          <table class="cards t-list">
            <thead>
              <tr>
                <Heads of={COLUMNS} />
              </tr>
            </thead>
            <tbody>
              {shown.map((task) => (
                <Row key={task.id} task={task} health={health} />
              ))}
            </tbody>
          </table>
        )}
      </div>
    </>
  );
}

/** Who runs a task, and how it is. */
function workOf({ id, isPaused, maxRunningJobs }: api.ShownTask, health: api.ShownHealth | undefined) {
  const by = api.handlersOf(id, health);
  const { running = 0, waiting } = health?.backlog.find(({ taskId }) => taskId === id) ?? {};
  const limit = maxRunningJobs === null ? "" : ` of ${maxRunningJobs}`;
  const isUnhandled = health !== undefined && by.length === 0;
  const state: readonly [Tone, string] = isPaused
    ? ["paused", "paused"]
    : isUnhandled
      ? ["missed", "nobody handles it"]
      : ["success", "handled"];
  return {
    by: isUnhandled ? "no live scheduler" : by.map(({ identity }) => identity).join(", "),
    now: `${running}${limit} running, ${waiting?.count ?? 0}${waiting?.isCapped ? "+" : ""} waiting`,
    isUnhandled,
    state,
  };
}

function attemptsText({ retry }: api.ShownTask): string {
  return retry.maxAttempts === 1 ? "one" : `up to ${retry.maxAttempts}`;
}

function timeoutText({ timeout }: api.ShownTask): string {
  const ms = durationMs(timeout);
  return ms === null ? "unlimited" : durationText(ms);
}

function Row({ task, health }: { task: api.ShownTask; health: api.ShownHealth | undefined }) {
  const { id } = task;
  const { by, now, isUnhandled, state } = workOf(task, health);
  return (
    <tr data-row>
      <td class="id">
        <StateGlyph of={state} />
        <a href={hrefOf("tasks", id)}>{id}</a>
        <div class="faint">
          <Labels of={task.labels} page="tasks" />
        </div>
      </td>
      <td class={`rule ${isUnhandled ? "miss" : "dim"}`}>{by}</td>
      <td class="next">{now}</td>
      <td class="r dim hide-s">{attemptsText(task)}</td>
      <td class="r dim hide-s">{timeoutText(task)}</td>
      <td class="r nowrap acts">
        <Acts task={task} kind="ghost small" />
      </td>
    </tr>
  );
}

function Acts({ task: { id, isPaused }, kind }: { task: api.ShownTask; kind: string }) {
  return (
    <>
      <DialogButton
        words="Run now"
        title={`Run ${id} once`}
        action="Run it"
        save={async ({ input }) =>
          actions.run(api.addJob({ taskId: id, payload: input ? JSON.parse(input) : undefined }), `${id} runs now.`)
        }
        kind={kind}
        keyHint="r"
      >
        <Field tag="textarea" rows={6} id="input" label="Input, as JSON; left empty, it gets none" />
      </DialogButton>
      <Act kind={kind} keyHint="p" work={() => actions.setTaskPaused(id, !isPaused)}>
        {isPaused ? "Unpause" : "Pause"}
      </Act>
    </>
  );
}

/** One task: what it may do, and how it does. */
export function TaskPage({ id }: { id: string }) {
  const { data: task, error } = useData(`task ${id}`, (signal) => api.getTask(id, signal));
  const { data: health } = useData("health", api.getHealth);
  if (error !== null) return <Failure error={error} />;
  if (task === undefined) return <Loading rows={8} />;
  const { by, now, state, isUnhandled } = workOf(task, health);
  const { executor, rateLimit, maxRunningPerKey, overlap, metadata, labels } = task;
  return (
    <>
      <Crumbs of={[["Tasks", hrefOf("tasks")]]} />
      <div class="toolbar head">
        <h1>{id}</h1>
        <Said tone={state[0]} words={state[1]} />
        <PauseWords by={task.pausedBy} until={task.pausedUntil} reason={task.pauseReason} />
        <Labels of={labels} page="tasks" />
        <span class="grow" />
        <a class="btn" href={hrefOf("schedules", null, { taskId: id })}>
          Its schedules
        </a>
        <a class="btn" href={hrefOf("runs", null, { taskId: id })}>
          Its runs
        </a>
        <Acts task={task} kind="" />
      </div>
      <div class="grid two">
        <div class="grid">
          <Panel title="Now">
            <Calm>{now}</Calm>
          </Panel>
          <Ended id={id} />
        </div>
        <Panel title="Settings">
          <Facts
            rows={[
              ["Handled by", <span class={isUnhandled ? "miss" : ""}>{by}</span>],
              ["Runs in", executor],
              ["Attempts", attemptsText(task)],
              ["Timeout of an attempt", timeoutText(task)],
              ["At once, for one key", maxRunningPerKey],
              ["Rate", rateLimit && `${rateLimit.limit} each ${durationText(durationMs(rateLimit.per) ?? 0)}`],
              ["While one still runs", OVERLAP[overlap]],
              ["Metadata", hasEntries(metadata) && <Json value={metadata} />],
            ]}
          />
        </Panel>
      </div>
    </>
  );
}

/** How its runs ended in the last day. */
function Ended({ id }: { id: string }) {
  const { data } = useData(`stats ${id}`, (signal) => api.getStats({ taskId: id }, signal));
  const now = useNow();
  const zone = useZone();
  const [stats] = data?.items ?? [];
  if (stats === undefined) return null;
  const { count, runTime } = stats.total;
  const bad = badOf(stats.total);
  return (
    <Panel
      title="Ended in the last day"
      count={[many(count, "run"), bad > 0 && `${bad} not well`, usualWords(runTime)].filter(Boolean).join(", ")}
    >
      <CountChart stats={stats} zone={zone} now={now} />
    </Panel>
  );
}
