import { useState } from "preact/hooks";
import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { hrefOf } from "../hash.ts";
import { attempt, Button, Empty, Failure, Loading } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialogs.tsx";
import { Glyph } from "../parts/glyph.tsx";
import { refresh, useCanWrite, usePlace } from "../store.ts";
import { durationMs, durationText } from "../time.ts";
import { useData } from "../use-data.ts";
import { SearchBox } from "./schedules.tsx";

export function TasksPage() {
  const { query } = usePlace();
  const { data: tasks, error } = useData("tasks", api.getTasks);
  const { data: health } = useData("health", api.getHealth);
  const search = (query.search ?? "").toLowerCase();
  const shown = tasks?.items.filter(({ id }) => id.toLowerCase().includes(search));
  return (
    <>
      <div class="toolbar head">
        <h1>Tasks</h1>
        <span class="dim">{tasks === undefined ? "" : tasks.items.length}</span>
      </div>
      <div class="toolbar">
        <SearchBox value={query.search ?? ""} placeholder="Filter by id" label="Filter tasks" />
      </div>
      {error === null ? null : <Failure error={error} />}
      <div class="panel scroll">
        {shown === undefined ? (
          <Loading />
        ) : shown.length === 0 ? (
          <Empty title={search === "" ? "No program has registered a task yet" : "No task fits"}>
            <p>
              A program registers what it can run: <code>scheduler.task("report", handler)</code>
            </p>
          </Empty>
        ) : (
          <table class="cards t-tasks">
            <thead>
              <tr>
                <th>Task</th>
                <th>Handled by</th>
                <th class="r">Running</th>
                <th class="r">Waiting</th>
                <th>Attempts</th>
                <th>Longest run</th>
                <th class="r">
                  <span class="visually-hidden">Actions</span>
                </th>
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

function Row({ task, health }: { task: api.Task; health: api.Health | undefined }) {
  const canWrite = useCanWrite();
  const [isRunning, setRunning] = useState(false);
  const { id, maxRunningJobs, timeout, retry } = task;
  const work = health?.backlog.find(({ taskId }) => taskId === id);
  const isPaused = health?.pausedTasks.some(({ taskId, key }) => taskId === id && key === null) === true;
  const by = (health?.schedulers ?? []).filter(({ tasks, role }) => role !== "scheduler" && tasks.includes(id));
  const timeoutMs = durationMs(timeout);
  return (
    <tr data-row>
      <td class="id">
        <span class={`o ${isPaused ? "paused" : by.length === 0 ? "missed" : "success"}`}>
          <Glyph tone={isPaused ? "paused" : by.length === 0 ? "missed" : "active"} />
          <span class="visually-hidden">{isPaused ? "paused" : by.length === 0 ? "nobody handles it" : "handled"}</span>
        </span>{" "}
        <a href={hrefOf("runs", null, { taskId: id })}>{id}</a>
      </td>
      <td class={by.length === 0 ? "miss" : "dim"}>
        {health === undefined
          ? ""
          : by.length === 0
            ? "no live scheduler"
            : by.map(({ identity }) => identity).join(", ")}
      </td>
      <td class="r">
        {work?.running ?? 0}
        <span class="faint">{maxRunningJobs === null ? "" : ` of ${maxRunningJobs}`}</span>
      </td>
      <td class="r">{work === undefined ? 0 : `${work.waiting.count}${work.waiting.isCapped ? "+" : ""}`}</td>
      <td class="dim">{retry.maxAttempts === 1 ? "one" : `up to ${retry.maxAttempts}`}</td>
      <td class="dim">{timeoutMs === null ? "unlimited" : durationText(timeoutMs)}</td>
      <td class="r nowrap acts">
        <a class="btn ghost small" href={hrefOf("schedules", null, { taskId: id })}>
          Its schedules
        </a>
        {canWrite ? (
          <>
            <Button kind="ghost small" isWrite keyHint="r" onClick={() => setRunning(true)}>
              Run now
            </Button>
            <Button
              kind="ghost small"
              isWrite
              keyHint="p"
              onClick={() => attempt(() => actions.setTaskPaused(id, !isPaused))}
            >
              {isPaused ? "Unpause" : "Pause"}
            </Button>
          </>
        ) : null}
        {isRunning ? <RunDialog taskId={id} onClose={() => setRunning(false)} /> : null}
      </td>
    </tr>
  );
}

function RunDialog({ taskId, onClose }: { taskId: string; onClose: () => void }) {
  const [text, setText] = useState("");
  const run = async (): Promise<void> => {
    const isDone = await attempt(async () => {
      const body = text.trim() === "" ? { taskId } : { taskId, payload: JSON.parse(text) };
      const job = await api.addJob(body);
      refresh();
      return { text: `${taskId} runs now.`, href: hrefOf("runs", job.id) };
    });
    if (isDone) onClose();
  };
  return (
    <Dialog title={`Run ${taskId} once`} onClose={onClose}>
      <div class="field">
        <label for="input">Input, as JSON; left empty, it gets none</label>
        <textarea
          id="input"
          class="input mono-s"
          rows={6}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <div class="actions">
        <Button kind="primary" isWrite onClick={run}>
          Run it
        </Button>
        <Button onClick={onClose}>Back</Button>
      </div>
    </Dialog>
  );
}
