import { useState } from "preact/hooks";
import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { messageOf } from "../failures.ts";
import { hrefOf } from "../hash.ts";
import {
  Act,
  Calm,
  Chips,
  CopyButton,
  Crumbs,
  capital,
  Facts,
  Failure,
  Field,
  hasEntries,
  Json,
  Loading,
  many,
  Panel,
} from "../parts/basics.tsx";
import { DialogButton } from "../parts/dialogs.tsx";
import { Labels, PauseWords, TaskPaused, UnpauseTask, Verdict } from "../parts/glyph.tsx";
import { ProgressBar } from "../parts/item.tsx";
import { ruleOf } from "../rule.ts";
import { useNow, useProgress, useZone } from "../store.ts";
import { durationMs, durationText, msOf, preciseText, whenText } from "../time.ts";
import { useData } from "../use-data.ts";
import { isTrouble, sayingOf } from "../verdicts.ts";

type ShownAttempt = api.ShownWholeRun["attemptHistory"][number];
type ShownError = NonNullable<ShownAttempt["error"]> & { readonly stack?: string; readonly code?: string };

/** One run: what happened, step by step, and what can be done about it. */
export function RunPage({ id }: { id: string }) {
  const { data: run, error } = useData(`run ${id}`, (signal) => api.getRun(id, signal));
  const { scheduleId = null } = run ?? {};
  // A list, because a schedule that was removed is no mistake.
  const { data: schedules } = useData(
    scheduleId && `rule ${scheduleId}`,
    (signal) => api.getSchedules({ ids: [scheduleId ?? ""], include: [] }, signal),
    "slow",
  );
  const zone = useZone(ruleOf(schedules?.items[0]?.trigger).timeZone);
  const { data: health } = useData(run && api.isWaiting(run) ? "health" : null, api.getHealth);
  const pause = run && api.pauseOf(run, health?.pausedTasks);
  const now = useNow();
  if (error !== null) return <Failure error={error} />;
  if (run === undefined) return <Loading rows={10} />;
  const name = run.scheduleId ?? run.taskId;
  const dueAt = msOf(run.scheduledFireTime ?? run.runAt);
  return (
    <>
      <Crumbs
        of={[
          ["Runs", hrefOf("runs")],
          [
            name,
            run.scheduleId === null
              ? hrefOf("runs", null, { taskId: run.taskId })
              : hrefOf("schedules", run.scheduleId),
          ],
        ]}
      />
      <Head run={run} title={capital(whenText(dueAt, zone, now))} name={name} pause={pause} zone={zone} />
      <Recurrence run={run} zone={zone} now={now} />
      <Progress run={run} name={name} />
      <div class="grid two">
        <div class="grid">
          <Steps title="What happened" steps={stepsOf(run)} zone={zone} />
          <Recorded id={run.id} zone={zone} />
          <Log id={run.id} zone={zone} />
        </div>
        <div class="grid">
          {run.error && (
            <Panel title="Error">
              <ErrorText error={run.error as ShownError} />
            </Panel>
          )}
          <Panel title="Input">
            <Json value={run.payload} />
          </Panel>
          {run.outcome === "success" && (
            <Panel title="Output">
              <Json value={run.returnValue} />
            </Panel>
          )}
          <About run={run} zone={zone} now={now} />
        </div>
      </div>
    </>
  );
}

interface HeadProps {
  readonly run: api.ShownWholeRun;
  readonly title: string;
  readonly name: string;
  readonly pause: api.ShownPause | undefined;
  readonly zone: string;
}

function Head({ run, title, name, pause, zone }: HeadProps) {
  const verdict = run.outcome ?? run.state;
  const words = verdict === "error" && run.attempts > 1 ? `failed after ${run.attempts} attempts` : undefined;
  return (
    <div class="toolbar head">
      <h1>{title}</h1>
      <Verdict verdict={verdict} words={words} />
      {pause && (
        <>
          <TaskPaused of={pause} />
          <PauseWords {...pause} zone={zone} />
        </>
      )}
      <code class="faint">{run.id}</code>
      <Labels of={run.labels} page="runs" />
      <span class="grow" />
      {run.state === "ended" ? (
        <>
          <Act kind="primary" keyHint="r" work={() => actions.retry(run.id)}>
            Retry
          </Act>
          <ChangedRun run={run} />
        </>
      ) : (
        <>
          {pause && <UnpauseTask of={pause} />}
          <Act kind="danger" work={() => actions.cancel(run.id, name)}>
            Cancel
          </Act>
        </>
      )}
      <CopyButton kind="ghost" text={() => reportOf(run)}>
        Copy for a bug report
      </CopyButton>
    </div>
  );
}

function ChangedRun({ run }: { run: api.ShownWholeRun }) {
  const words = "Run again with changes";
  return (
    <DialogButton
      words={`${words}…`}
      title={words}
      action="Run it"
      save={async ({ changed }) => actions.retry(run.id, { payload: changed ? JSON.parse(changed) : undefined })}
    >
      <Field
        tag="textarea"
        rows={10}
        id="changed"
        label="Input of the new run, as JSON"
        defaultValue={run.payload === undefined ? "" : JSON.stringify(run.payload, null, 2)}
      />
    </DialogButton>
  );
}

/** Whether others failed in the same way. */
function Recurrence({ run, zone, now }: { run: api.ShownWholeRun; zone: string; now: number }) {
  const isBad = isTrouble(run.outcome ?? "");
  const error = run.error as ShownError | null;
  const filter = run.scheduleId === null ? { taskId: run.taskId } : { scheduleId: run.scheduleId };
  const { data } = useData(isBad ? `like ${JSON.stringify(filter)}` : null, async (signal) => {
    const [{ items }, { items: good }] = await Promise.all([
      api.getFailures(filter, signal),
      api.getRuns({ ...filter, outcome: "success" }, { limit: 1 }, signal),
    ]);
    return { items, good: good[0]?.endedAt ?? 0 };
  });
  if (!isBad) return null;
  const begin = (message: string | null | undefined) => `${message ?? ""}`.slice(0, 12);
  const group = data?.items.find(
    ({ jobIds, name, message }) =>
      jobIds.includes(run.id) || (name === error?.name && begin(message) === begin(error?.message)),
  );
  const others = (group?.count ?? 1) - 1;
  const since = whenText(Date.parse(group?.firstAt ?? run.createdAt), zone, now);
  return (
    <div class="callout error spaced">
      <b>{error === null ? sayingOf(run.outcome ?? "").words : messageOf(error)}</b>
      {data !== undefined && (
        <div>
          {others === 0
            ? "No other run failed in this way. "
            : `${many(others, "other run")} failed in this way since ${since}. `}
          {data.good > msOf(run.finishedAt ?? "") ? "It has succeeded since. " : "It has not succeeded since. "}
          <a class="link" href={hrefOf("runs", null, { ...filter, show: "failed" })}>
            See all that failed
          </a>
        </div>
      )}
    </div>
  );
}

function Progress({ run, name }: { run: api.ShownWholeRun; name: string }) {
  const { fraction, note } = useProgress({ ...run, note: run.progressNote });
  if (run.state !== "running" || fraction === null) return null;
  return (
    <div class="callout running spaced">
      <b>{Math.round(fraction * 100)} %</b> {note}
      <ProgressBar fraction={fraction} name={name} />
    </div>
  );
}

interface Step {
  readonly at: number;
  readonly gap: string;
  readonly what: string;
  readonly note: string;
  readonly isBad: boolean;
}

function stepsOf(run: api.ShownWholeRun): Step[] {
  const steps: Step[] = [];
  const add = (at: number, what: string, note: string, isBad = false): void => {
    const before = steps.at(-1);
    const gap = before === undefined ? "" : `+${durationText(Math.max(0, at - before.at))}`;
    steps.push({ at, what, note, isBad, gap });
  };
  const due = msOf(run.scheduledFireTime);
  if (due !== null) add(due, "due", "the fire time");
  add(msOf(run.createdAt), "queued", due === null ? "added by hand or by a program" : "");
  for (const { number, startedAt, finishedAt, error } of run.attemptHistory) {
    const start = msOf(startedAt);
    if (start !== null) add(start, `attempt ${number} started`, "");
    const isLast = finishedAt === run.finishedAt;
    if (isLast) continue;
    add(
      msOf(finishedAt),
      `attempt ${number} ${error === null ? "was lost" : "failed"}`,
      (error as ShownError | null)?.message ?? "",
      true,
    );
  }
  if (run.state === "running") add(Date.now(), "running", run.acquiredBy === null ? "" : `by ${run.acquiredBy}`);
  if (run.finishedAt !== null) {
    const isBad = isTrouble(run.outcome ?? "");
    const ran = durationMs(run.runTime);
    add(
      msOf(run.finishedAt),
      sayingOf(run.outcome ?? "").words,
      ran === null ? "its handler was not called" : `after ${durationText(ran)}`,
      isBad,
    );
  }
  return steps;
}

function Steps({ title, steps, zone }: { title: string; steps: readonly Step[]; zone: string }) {
  return (
    <Panel title={title} count={zone}>
      <table class="t-steps">
        <tbody>
          {steps.map(({ at, gap, what, note, isBad }) => (
            <tr key={`${at} ${what}`}>
              <td class="mono nowrap">{preciseText(at, zone)}</td>
              <td class="r dim nowrap">{gap}</td>
              <td class={isBad ? "err" : ""}>{what}</td>
              <td class="dim">{note}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

/** The steps that the handler recorded, from which a later attempt goes on. */
function Recorded({ id, zone }: { id: string; zone: string }) {
  const { data } = useData(`steps ${id}`, (signal) => api.getSteps(id, signal));
  if (data === undefined || data.steps.length === 0) return null;
  const steps = data.steps.map(({ name, state, startedAt, endedAt, wakeAt, attempts, value }) => ({
    at: msOf(startedAt),
    gap: endedAt === null ? "" : durationText(msOf(endedAt) - msOf(startedAt)),
    what: attempts > 1 ? `${name}, attempt ${attempts}` : name,
    note:
      state === "ended"
        ? (JSON.stringify(value) ?? "").slice(0, 200)
        : `${state}${wakeAt === null ? "" : ` until ${preciseText(msOf(wakeAt), zone)}`}`,
    isBad: false,
  }));
  return <Steps title="Recorded steps" steps={steps} zone={zone} />;
}

/** What the handler logged, of the last attempt or of the one that is chosen. */
function Log({ id, zone }: { id: string; zone: string }) {
  const { data } = useData(`logs ${id}`, (signal) => api.getLogs(id, signal));
  const [chosen, setChosen] = useState("");
  const attempts = data?.items ?? [];
  const log = attempts.find(({ attempt: number }) => String(number) === chosen) ?? attempts.at(-1);
  if (log === undefined) return null;
  const options = attempts.map(({ attempt: number }) => [String(number), number] as const);
  return (
    <Panel
      title="Log"
      count={`attempt ${log.attempt}`}
      side={<Chips label="Attempt" value={String(log.attempt)} options={options} onChange={setChosen} />}
    >
      <pre>
        {log.dropped > 0 ? `${log.dropped} lines were left out\n` : ""}
        {log.lines.map(({ at, level, message, fields }) => (
          <div key={`${at} ${message}`} class={level === "error" ? "err" : level === "warn" ? "miss" : ""}>
            <span class="faint">{preciseText(msOf(at), zone)}</span> {message}{" "}
            <span class="faint">{fields && JSON.stringify(fields)}</span>
          </div>
        ))}
      </pre>
    </Panel>
  );
}

function ErrorText({ error }: { error: ShownError }) {
  const { stack, cause } = error as ShownError & { readonly cause?: ShownError };
  return (
    <>
      <pre>{stack ?? messageOf(error)}</pre>
      {cause && (
        <>
          <Calm>caused by</Calm>
          <ErrorText error={cause} />
        </>
      )}
    </>
  );
}

function About({ run, zone, now }: { run: api.ShownWholeRun; zone: string; now: number }) {
  const { taskId, executor, retryOf, blockedBy, expiresAt, metadata, idempotencyKey, concurrencyKey } = run;
  const blockedWords = { limit: "a limit or a pause of its task", parents: "runs that it comes after" };
  return (
    <Panel title="About this run">
      <Facts
        rows={[
          ["Task", <a href={hrefOf("tasks", taskId)}>{taskId}</a>],
          ["Runs in", executor],
          ["Repeats", retryOf && <a href={hrefOf("runs", retryOf)}>{retryOf}</a>],
          ["Idempotency key", idempotencyKey],
          ["Concurrency key", concurrencyKey],
          ["Blocked back by", blockedBy && blockedWords[blockedBy]],
          ["Kept until", expiresAt && whenText(msOf(expiresAt), zone, now)],
          ["Metadata", hasEntries(metadata) && <Json value={metadata} />],
        ]}
      />
    </Panel>
  );
}

function reportOf(run: api.ShownWholeRun): string {
  const error = run.error as ShownError | null;
  const steps = stepsOf(run).map(
    ({ at, what, note }) => `${new Date(at).toISOString()}  ${what}${note === "" ? "" : `  ${note}`}`,
  );
  return [
    `Run ${run.id}: ${run.outcome ?? run.state}`,
    `Task ${run.taskId}, schedule ${run.scheduleId ?? "none"}`,
    ...steps,
    ...(error === null ? [] : ["", error.stack ?? messageOf(error)]),
  ].join("\n");
}
