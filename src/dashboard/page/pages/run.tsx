import { useState } from "preact/hooks";
import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { hrefOf } from "../hash.ts";
import {
  attempt,
  Button,
  Chips,
  CopyButton,
  Facts,
  Failure,
  hasEntries,
  Json,
  Loading,
  Panel,
} from "../parts/basics.tsx";
import { Dialog } from "../parts/dialogs.tsx";
import { Verdict } from "../parts/glyph.tsx";
import { type State, useCanWrite, useNow, useStore, useZoneMode } from "../store.ts";
import { durationMs, durationText, msOf, preciseText, whenText, zoneOf } from "../time.ts";
import { useData } from "../use-data.ts";
import { isTrouble, sayingOf } from "../verdicts.ts";
import { ProgressBar } from "./overview.tsx";

type Attempt = api.WholeRun["attemptHistory"][number];
type Shown = NonNullable<Attempt["error"]> & { readonly stack?: string; readonly code?: string };

/** One run: what happened, step by step, and what can be done about it. */
export function RunPage({ id }: { id: string }) {
  const { data: run, error } = useData(`run ${id}`, (signal) => api.getRun(id, signal));
  const mode = useZoneMode();
  const now = useNow();
  if (error !== null) return <Failure error={error} />;
  if (run === undefined) return <Loading rows={10} />;
  const zone = zoneOf(mode, null);
  const name = run.scheduleId ?? run.taskId;
  const dueAt = msOf(run.scheduledFireTime ?? run.runAt);
  return (
    <>
      <div class="crumbs">
        <a href={hrefOf("runs")}>Runs</a> /{" "}
        {run.scheduleId === null ? (
          <a href={hrefOf("runs", null, { taskId: run.taskId })}>{run.taskId}</a>
        ) : (
          <a href={hrefOf("schedules", run.scheduleId)}>{run.scheduleId}</a>
        )}{" "}
        /
      </div>
      <Head run={run} title={whenText(dueAt, zone, now)} name={name} />
      <Recurrence run={run} zone={zone} now={now} />
      <Progress run={run} name={name} />
      <div class="grid two wide-left">
        <div class="grid">
          <Steps run={run} zone={zone} />
          <Recorded id={run.id} zone={zone} />
          <Log id={run.id} zone={zone} />
        </div>
        <div class="grid">
          {run.error === null ? null : (
            <Panel title="Error">
              <ErrorText error={run.error as Shown} />
            </Panel>
          )}
          <Panel title="Input">
            <Json value={run.payload} />
          </Panel>
          {run.outcome === "success" ? (
            <Panel title="Output">
              <Json value={run.returnValue} />
            </Panel>
          ) : null}
          <About run={run} zone={zone} now={now} />
        </div>
      </div>
    </>
  );
}

function Head({ run, title, name }: { run: api.WholeRun; title: string; name: string }) {
  const canWrite = useCanWrite();
  const [isChanging, setChanging] = useState(false);
  const isEnded = run.state === "ended";
  const verdict = run.outcome ?? run.state;
  const words = verdict === "error" && run.attempts > 1 ? `failed after ${run.attempts} attempts` : undefined;
  return (
    <div class="toolbar head">
      <h1>{title}</h1>
      <Verdict verdict={verdict} {...(words === undefined ? {} : { words })} />
      <code class="faint">{run.id}</code>
      <span class="grow" />
      {!canWrite ? null : isEnded ? (
        <>
          <Button kind="primary" isWrite keyHint="r" onClick={() => attempt(() => actions.retry(run.id))}>
            Retry
          </Button>
          <Button isWrite onClick={() => setChanging(true)}>
            Run again with changes…
          </Button>
        </>
      ) : (
        <Button kind="danger" isWrite onClick={() => attempt(() => actions.cancel(run.id, name))}>
          Cancel
        </Button>
      )}
      <CopyButton kind="ghost" text={() => reportOf(run)}>
        Copy for a bug report
      </CopyButton>
      {isChanging ? <ChangedRun run={run} onClose={() => setChanging(false)} /> : null}
    </div>
  );
}

function ChangedRun({ run, onClose }: { run: api.WholeRun; onClose: () => void }) {
  const [text, setText] = useState(run.payload === undefined ? "" : JSON.stringify(run.payload, null, 2));
  const [problem, setProblem] = useState<string | null>(null);
  const send = async (): Promise<void> => {
    let payload: unknown;
    try {
      payload = text.trim() === "" ? undefined : JSON.parse(text);
    } catch (error) {
      return setProblem(String(error));
    }
    if (await attempt(() => actions.retry(run.id, { payload }))) onClose();
  };
  return (
    <Dialog title="Run again with changes" onClose={onClose}>
      <div class="field">
        <label for="changed">Input of the new run, as JSON</label>
        <textarea
          id="changed"
          class={`input mono-s ${problem === null ? "" : "bad"}`}
          rows={10}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {problem === null ? null : <div class="problem">{problem}</div>}
      </div>
      <div class="actions">
        <Button kind="primary" isWrite onClick={send}>
          Run it
        </Button>
        <Button onClick={onClose}>Back</Button>
      </div>
    </Dialog>
  );
}

/** Whether others failed in the same way. */
function Recurrence({ run, zone, now }: { run: api.WholeRun; zone: string; now: number }) {
  const isBad = isTrouble(run.outcome ?? "");
  const error = run.error as Shown | null;
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
    <div class="callout err spaced">
      <b>{error === null ? sayingOf(run.outcome ?? "").words : `${error.name}: ${error.message}`}</b>
      {data === undefined ? null : (
        <div>
          {others === 0 ? "No other run failed in this way. " : `Same error as ${others} other run(s) since ${since}. `}
          {data.good > msOf(run.finishedAt ?? "") ? "It has succeeded since. " : "It has not succeeded since. "}
          <a class="link" href={hrefOf("runs", null, { ...filter, show: "failed" })}>
            See all that failed
          </a>
        </div>
      )}
    </div>
  );
}

const progressOf = (state: State) => state.progress;

function Progress({ run, name }: { run: api.WholeRun; name: string }) {
  const live = useStore(progressOf)[run.id];
  const fraction = live?.fraction ?? run.progress;
  if (run.state !== "running" || fraction === null) return null;
  return (
    <div class="callout run spaced">
      <b>{Math.round(fraction * 100)} %</b> {live?.note ?? run.progressNote}
      <ProgressBar fraction={fraction} name={name} />
    </div>
  );
}

interface Step {
  readonly at: number;
  readonly gap: string;
  readonly what: string;
  readonly note: string;
  readonly isBad?: boolean;
}

function stepsOf(run: api.WholeRun): Step[] {
  const steps: Step[] = [];
  const add = (at: number, what: string, note: string, isBad = false): void => {
    const before = steps.at(-1);
    steps.push({
      at,
      what,
      note,
      isBad,
      gap: before === undefined ? "" : `+${durationText(Math.max(0, at - before.at))}`,
    });
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
      (error as Shown | null)?.message ?? "",
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

function Steps({ run, zone }: { run: api.WholeRun; zone: string }) {
  return (
    <Panel title="What happened" count={zone}>
      <table class="t-steps">
        <tbody>
          {stepsOf(run).map(({ at, gap, what, note, isBad }) => (
            <tr key={`${at} ${what}`}>
              <td class="mono nowrap">{preciseText(at, zone)}</td>
              <td class="r dim nowrap">{gap}</td>
              <td class={isBad ? "o error" : ""}>{what}</td>
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
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Panel title="Recorded steps">
      <table class="t-steps">
        <tbody>
          {data.items.map(({ name, state, startedAt, endedAt }) => (
            <tr key={name}>
              <td class="mono nowrap">{preciseText(msOf(startedAt), zone)}</td>
              <td class="r dim nowrap">{endedAt && durationText(msOf(endedAt) - msOf(startedAt))}</td>
              <td>{name}</td>
              <td class="dim">{state}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
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

function ErrorText({ error }: { error: Shown }) {
  const { name, message, stack, cause } = error as Shown & { readonly cause?: Shown };
  return (
    <>
      <pre>{stack ?? `${name}: ${message}`}</pre>
      {cause === undefined ? null : (
        <>
          <div class="calm-text">caused by</div>
          <ErrorText error={cause} />
        </>
      )}
    </>
  );
}

function About({ run, zone, now }: { run: api.WholeRun; zone: string; now: number }) {
  const { taskId, executor, retryOf, heldBy, expiresAt, metadata, idempotencyKey, concurrencyKey } = run;
  const heldWords = { limit: "a limit or a pause of its task", parents: "runs that it comes after" };
  return (
    <Panel title="About this run">
      <Facts
        rows={[
          ["Task", <a href={hrefOf("tasks", null, { search: taskId })}>{taskId}</a>],
          ["Runs in", executor],
          ["Repeats", retryOf && <a href={hrefOf("runs", retryOf)}>{retryOf}</a>],
          ["Idempotency key", idempotencyKey],
          ["Concurrency key", concurrencyKey],
          ["Held back by", heldBy && heldWords[heldBy]],
          ["Kept until", expiresAt && whenText(msOf(expiresAt), zone, now)],
          ["Metadata", hasEntries(metadata) && <Json value={metadata} />],
        ]}
      />
    </Panel>
  );
}

function reportOf(run: api.WholeRun): string {
  const error = run.error as Shown | null;
  const steps = stepsOf(run).map(
    ({ at, what, note }) => `${new Date(at).toISOString()}  ${what}${note === "" ? "" : `  ${note}`}`,
  );
  return [
    `Run ${run.id}: ${run.outcome ?? run.state}`,
    `Task ${run.taskId}, schedule ${run.scheduleId ?? "none"}`,
    ...steps,
    ...(error === null ? [] : ["", error.stack ?? `${error.name}: ${error.message}`]),
  ].join("\n");
}
