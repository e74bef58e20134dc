import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { messageOf, nameOf } from "../failures.ts";
import { hrefOf } from "../hash.ts";
import { attempt, Button, CopyButton, Empty, Failure, Loading, Panel } from "../parts/basics.tsx";
import { type ComingFire, quantileOf, Ticker } from "../parts/charts.tsx";
import { Glyph, Mark, Verdict } from "../parts/glyph.tsx";
import { ruleOf } from "../rule.ts";
import { go, type State, useCanWrite, useIsGone, useNow, useStore, useZoneMode } from "../store.ts";
import { clockText, durationText, relativeText, roughText, whenText, zoneOf } from "../time.ts";
import { useData } from "../use-data.ts";
import { clockChangeWords, isTrouble } from "../verdicts.ts";

interface Seen {
  readonly overview: api.Overview;
  readonly health: api.Health;
  readonly runs: readonly api.Run[];
  readonly coming: readonly api.Schedule[];
  readonly tasks: readonly api.Task[];
  readonly failures: readonly api.FailureGroup[];
}

async function load(signal: AbortSignal): Promise<Seen> {
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const [overview, health, runs, coming, tasks, failures] = await Promise.all([
    api.getOverview(signal),
    api.getHealth(signal),
    api.getRuns({ from }, { limit: 500 }, signal),
    api.getSchedules({ state: "active", sort: "nextFireTime", limit: 100 }, signal),
    api.getTasks(signal),
    api.getFailures({ from: new Date(Date.now() - 86_400_000).toISOString() }, signal),
  ]);
  return { overview, health, runs: runs.items, coming: coming.items, tasks: tasks.items, failures: failures.items };
}

export function OverviewPage() {
  const { data, error } = useData("overview", load);
  const now = useNow();
  const isGone = useIsGone();
  const zone = zoneOf(useZoneMode(), null);
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Loading rows={10} />;
  const { overview, coming, runs } = data;
  if (coming.length === 0 && runs.length === 0) return <NothingYet tasks={data.tasks} />;
  const things = attentionOf(data);
  return (
    <>
      <h1 class="verdict">
        <b>
          {isGone ? `Last seen ${clockText(Date.parse(overview.checkedAt), zone, true)}.` : verdictWords(things.length)}
        </b>
        <span class="sub">{subWords(data, now, things.length)}</span>
      </h1>
      <Ticker runs={runs} coming={comingOf(coming, now)} now={now} zone={zone} />
      <Numbers data={data} now={now} />
      <div class="grid two wide-left">
        <Attention things={things} now={now} zone={zone} />
        <NextFires schedules={coming} now={now} />
      </div>
      <Running runs={runs.filter(({ state }) => state === "running")} now={now} />
    </>
  );
}

function verdictWords(count: number): string {
  if (count === 0) return "All is well.";
  return count === 1 ? "1 thing needs you." : `${count} things need you.`;
}

function subWords({ overview, coming }: Seen, now: number, count: number): string {
  const { running, queued, held } = overview.counts;
  const next = coming[0]?.nextFireTime ?? null;
  const waiting = queued.count + held.count;
  const parts = [`${running} running`, `${waiting.toLocaleString("en")} waiting`];
  if (next !== null) parts.push(`next fire ${relativeText(Math.max(now, Date.parse(next)), now)}`);
  return `${count === 0 ? "" : "Everything else is on time: "}${parts.join(", ")}.`;
}

/** Fires to come, those of one minute together where they are many. */
function comingOf(schedules: readonly api.Schedule[], now: number): ComingFire[] {
  const byMinute = Map.groupBy(
    schedules.flatMap(({ id, nextFireTime }) =>
      nextFireTime === null ? [] : [{ at: Date.parse(nextFireTime), scheduleId: id, count: 1 }],
    ),
    ({ at }) => Math.floor(at / 60_000),
  );
  const fires = [...byMinute.values()].flatMap((some): ComingFire[] =>
    some.length >= 10 && some[0] !== undefined ? [{ at: some[0].at, scheduleId: null, count: some.length }] : some,
  );
  return fires.filter(({ at }) => at > now && at < now + 2_400_000);
}

function Numbers({ data: { overview, runs }, now }: { data: Seen; now: number }) {
  const ended = runs.filter(({ endedAt }) => endedAt !== null && endedAt > now - 3_600_000);
  const late = ended.flatMap(({ startedAt, dueAt }) => (startedAt === null ? [] : [Math.max(0, startedAt - dueAt)]));
  const failed = ended.filter(({ state }) => isTrouble(state)).length;
  const share = ended.length === 0 ? 0 : (failed / ended.length) * 100;
  const { queued, held } = overview.counts;
  const numbers: readonly (readonly [string, string, boolean?])[] = [
    [ended.length.toLocaleString("en"), "runs in the last hour"],
    [lateText(quantileOf(late, 0.5)), "start late by, usually (p50)"],
    [lateText(quantileOf(late, 0.99)), "start late by, at worst (p99)"],
    [`${share.toFixed(share > 0 && share < 10 ? 1 : 0)} %`, "failed, last hour", share > 0],
    [(queued.count + held.count).toLocaleString("en"), "waiting"],
    [
      overview.oldestDueJob === null ? "none" : roughText(overview.oldestDueJob.lateMs),
      "oldest run that is due",
      (overview.oldestDueJob?.lateMs ?? 0) > 60_000,
    ],
  ];
  return (
    <dl class="nums">
      {numbers.map(([value, name, isBad]) => (
        <div key={name}>
          <dd class={isBad ? "bad" : ""}>{value}</dd>
          <dt>{name}</dt>
        </div>
      ))}
    </dl>
  );
}

function lateText(ms: number | null): string {
  return ms === null ? "–" : durationText(ms);
}

/** Something that somebody should look at. */
type Thing =
  | { readonly kind: "failures"; readonly group: api.FailureGroup }
  | {
      readonly kind: "overdue";
      readonly id: string;
      readonly at: string;
      readonly since: number;
      readonly words: string;
    }
  | { readonly kind: "unhandled"; readonly taskId: string }
  | { readonly kind: "pausedTask"; readonly taskId: string; readonly key: string | null }
  | { readonly kind: "backlog"; readonly id: string; readonly unfinished: number };

function attentionOf({ overview, health, failures }: Seen): Thing[] {
  return [
    ...failures.map((group) => ({ kind: "failures" as const, group })),
    ...health.overdueOccurrences.slice(0, 10).map(({ scheduleId, fireTime, dueAt, kind }) => ({
      kind: "overdue" as const,
      id: scheduleId,
      at: fireTime,
      since: Date.parse(dueAt),
      words: kind === "start" ? "It has not started in time" : "It has not finished in time",
    })),
    ...overview.unhandledTasks.map((taskId) => ({ kind: "unhandled" as const, taskId })),
    ...overview.backloggedSchedules.map(({ scheduleId, unfinished }) => ({
      kind: "backlog" as const,
      id: scheduleId,
      unfinished: unfinished.count,
    })),
    ...overview.pausedTasks.slice(0, 10).map(({ taskId, key }) => ({ kind: "pausedTask" as const, taskId, key })),
  ];
}

function Attention({ things, now, zone }: { things: readonly Thing[]; now: number; zone: string }) {
  return (
    <Panel title="Needs attention" count={things.length}>
      {things.length === 0 ? (
        <p class="calm-text">Nothing. No run failed in the last day, and nothing is overdue.</p>
      ) : (
        <ul class="rows">
          {things.map((thing) => (
            <ThingRow key={keyOf(thing)} thing={thing} now={now} zone={zone} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function keyOf(thing: Thing): string {
  if (thing.kind === "failures") return `${thing.group.taskId} ${thing.group.key}`;
  return `${thing.kind} ${"id" in thing ? thing.id : thing.taskId}`;
}

function ThingRow({ thing, now, zone }: { thing: Thing; now: number; zone: string }) {
  const canWrite = useCanWrite();
  switch (thing.kind) {
    case "failures":
      return <FailureRow group={thing.group} now={now} zone={zone} />;
    case "overdue":
      return (
        <li class="row" data-row>
          <span class="o missed">
            <Glyph tone="missed" />
            <a href={hrefOf("schedules", thing.id, { at: thing.at })}>{thing.id}</a>
          </span>
          <span class="what">{thing.words}</span>
          <span class="dim">overdue by {roughText(now - thing.since)}</span>
          <Button kind="small" onClick={() => go(hrefOf("schedules", thing.id, { at: thing.at }))}>
            Explain
          </Button>
        </li>
      );
    case "unhandled":
      return (
        <li class="row" data-row>
          <span class="o missed">
            <Glyph tone="missed" />
            <a href={hrefOf("tasks", null, { search: thing.taskId })}>{thing.taskId}</a>
          </span>
          <span class="what">
            Runs wait, and no live scheduler has a handler for task <code>{thing.taskId}</code>
          </span>
          <span />
          <Button kind="small" onClick={() => go(hrefOf("system"))}>
            Open
          </Button>
        </li>
      );
    case "backlog":
      return (
        <li class="row" data-row>
          <span class="o missed">
            <Glyph tone="missed" />
            <a href={hrefOf("schedules", thing.id)}>{thing.id}</a>
          </span>
          <span class="what">
            {thing.unfinished} of its runs are unfinished: they take longer than the pauses between them
          </span>
          <span />
          <Button kind="small" onClick={() => go(hrefOf("runs", null, { scheduleId: thing.id }))}>
            Open
          </Button>
        </li>
      );
    case "pausedTask":
      return (
        <li class="row" data-row>
          <span class="o paused">
            <Glyph tone="paused" />
            <a href={hrefOf("tasks", null, { search: thing.taskId })}>{thing.taskId}</a>
          </span>
          <span class="what">
            {thing.key === null ? "The task is paused: its runs wait" : `The key ${thing.key} of the task is paused`}
          </span>
          <span />
          {canWrite && thing.key === null ? (
            <Button kind="small" isWrite onClick={() => attempt(() => actions.setTaskPaused(thing.taskId, false))}>
              Unpause
            </Button>
          ) : null}
        </li>
      );
    default:
      return thing satisfies never;
  }
}

/** Failures of one kind, with what can be done about all of them. */
export function FailureRow({ group, now, zone }: { group: api.FailureGroup; now: number; zone: string }) {
  const canWrite = useCanWrite();
  const { taskId, key, count, jobIds, firstAt, outcome } = group;
  const name = nameOf(group);
  const said = messageOf(group);
  const since = whenText(Date.parse(firstAt), zone, now).replace("today ", "");
  const href = hrefOf("runs", jobIds[0]);
  const retry = count === 1 ? "Retry" : "Retry all";
  const which = { filter: { taskId, failureKey: key }, expectedCount: count };
  return (
    <li class="row" data-row aria-label={`${name}: ${count} × ${said}`}>
      <Verdict verdict={outcome ?? "error"} words="" />
      <a class="name" href={href}>
        {name}
      </a>
      <span class="what" title={said}>
        {said}
      </span>
      <span class="dim">{count === 1 ? `once, ${since}` : `${count} times since ${since}`}</span>
      <span class="actions">
        <Button kind="small" onClick={() => go(href)} label={`Open the last run of ${name}`}>
          Open
        </Button>
        {canWrite ? (
          <Button kind="small" isWrite onClick={() => attempt(() => actions.retryMany(which, count))}>
            {retry}
          </Button>
        ) : null}
      </span>
    </li>
  );
}

function NextFires({ schedules, now }: { schedules: readonly api.Schedule[]; now: number }) {
  const mode = useZoneMode();
  const shown = schedules.filter(({ nextFireTime }) => nextFireTime !== null).slice(0, 8);
  return (
    <Panel title="Next fires" side={<a href={hrefOf("timeline")}>Timeline</a>}>
      <table class="cards t-next">
        <thead class="visually-hidden">
          <tr>
            <th>In</th>
            <th>Schedule</th>
            <th>At</th>
            <th>Time zone</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ id, nextFireTime, trigger, next = [] }) => {
            const change = clockChangeWords(next[0]?.clockChange ?? null);
            const at = Date.parse(nextFireTime ?? "");
            const { timeZone } = ruleOf(trigger);
            const zone = zoneOf(mode, timeZone);
            return (
              <tr key={id}>
                <td class="dim nowrap">{at <= now ? "due" : relativeText(at, now)}</td>
                <td class="id">
                  <a href={hrefOf("schedules", id)}>{id}</a>
                </td>
                <td class="r nowrap">
                  {change === null ? null : <span class="badge dst">{change}</span>}{" "}
                  {whenText(at, zone, now).replace("today ", "")}
                </td>
                <td class="dim nowrap">{zone}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Panel>
  );
}

const progressOf = (state: State) => state.progress;
const startedOf = (state: State) => state.started;

function Running({ runs, now }: { runs: readonly api.Run[]; now: number }) {
  const progress = useStore(progressOf);
  const started = useStore(startedOf);
  const canWrite = useCanWrite();
  return (
    <Panel title="Running now" count={runs.length}>
      {runs.length === 0 ? <p class="calm-text">Nothing runs at the moment.</p> : null}
      <ul class="rows">
        {runs.slice(0, 12).map((run) => {
          const { fraction, note } = progress[run.id] ?? { fraction: run.progress, note: run.note };
          const name = run.scheduleId ?? run.taskId;
          const ran = Math.max(0, now - (started[run.id] ?? run.dueAt));
          return (
            <li key={run.id} class="row running" data-row>
              <Verdict verdict="running" words="" />
              <a class="name" href={hrefOf("runs", run.id)}>
                {name}
              </a>
              <ProgressBar fraction={fraction} name={name} />
              <span class="what">
                {fraction === null ? "" : `${Math.round(fraction * 100)} % `}
                {note ?? ""}
              </span>
              <span class="dim nowrap">{durationText(ran)}</span>
              <span class="dim nowrap">
                {fraction !== null && fraction > 0.02 ? `~${roughText((ran / fraction) * (1 - fraction))} left` : ""}
              </span>
              {canWrite ? (
                <Button kind="small danger" isWrite onClick={() => attempt(() => actions.cancel(run.id, name))}>
                  Cancel
                </Button>
              ) : null}
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

export function ProgressBar({ fraction, name }: { fraction: number | null; name: string }) {
  const percent = Math.round((fraction ?? 1) * 100);
  const bar = (
    <svg class="bar" width="100%" height="6" aria-hidden="true">
      <rect class="rail" width="100%" height="6" rx="3" />
      <rect class={fraction === null ? "f-run unsure" : "f-run"} width={`${percent}%`} height="6" rx="3" />
    </svg>
  );
  if (fraction === null) return <div class="progress">{bar}</div>;
  return (
    <div
      class="progress"
      role="progressbar"
      tabIndex={-1}
      aria-label={`Progress of ${name}`}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      {bar}
    </div>
  );
}

function NothingYet({ tasks }: { tasks: readonly api.Task[] }) {
  const canWrite = useCanWrite();
  const taskId = tasks[0]?.id ?? "report";
  const code = `await scheduler.addSchedule("${taskId}",
  CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" }),
  { id: "${taskId}" });`;
  const known =
    tasks.length === 1
      ? "One task is registered: "
      : tasks.length === 0
        ? "No task is registered yet. "
        : `${tasks.length} tasks are registered, for example `;
  return (
    <div class="panel">
      <Empty title="Nothing is scheduled yet">
        <span class="accent">
          <Mark size={40} />
        </span>
        <p>
          {known}
          {tasks.length === 0 ? null : <code>{taskId}</code>}. Give it a time, here or in code:
        </p>
        <pre class="code">{code}</pre>
        <div class="actions">
          {canWrite ? (
            <Button kind="primary" keyHint="n" onClick={() => go(hrefOf("add"))}>
              Add schedule
            </Button>
          ) : null}
          {canWrite ? <Button onClick={() => go(hrefOf("crontab"))}>Paste a crontab</Button> : null}
          <CopyButton text={() => code}>Copy the code</CopyButton>
        </div>
      </Empty>
    </div>
  );
}
