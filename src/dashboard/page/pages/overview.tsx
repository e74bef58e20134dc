import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { messageOf, nameOf } from "../failures.ts";
import { hrefOf } from "../hash.ts";
import { Act, AddButtons, Button, Calm, CopyButton, Empty, Failure, Loading, Panel } from "../parts/basics.tsx";
import { badOf, type ComingFire, herdOf, Ticker } from "../parts/charts.tsx";
import { ClockChange, Mark, PauseWords, TaskPaused, UnpauseTask } from "../parts/glyph.tsx";
import { Item, ProgressBar } from "../parts/item.tsx";
import { ruleOf } from "../rule.ts";
import { go, useIsGone, useNow, useProgress, useStore, useZone, useZoneMode } from "../store.ts";
import { clockText, durationMs, durationText, MINUTE_MS, relativeText, roughText, whenText, zoneOf } from "../time.ts";
import { useData } from "../use-data.ts";
import { sayingOf } from "../verdicts.ts";

/** How far ahead the ticker looks. */
const AHEAD_MS = 40 * MINUTE_MS;

export function OverviewPage() {
  const { data, error } = useData("overview", api.getOverview);
  const now = useNow();
  const isGone = useIsGone();
  const zone = useZone();
  const minute = now - (now % MINUTE_MS);
  const { data: forecast } = useData(`ahead ${minute}`, (signal) => {
    const [from, until] = [minute, minute + AHEAD_MS].map((ms) => new Date(ms).toISOString()) as [string, string];
    return api.getForecast({ from, until, bucket: "PT1M" }, signal);
  });
  if (data === undefined) return error === null ? <Loading rows={10} /> : <Failure error={error} />;
  const { coming, runs } = data;
  if (coming.length === 0 && runs.length === 0) return <NothingYet />;
  const things = attentionOf(data, now, zone);
  const running = runs.filter(({ state }) => state === "running");
  const next = coming[0]?.fireTime;
  const nextWords = next ? `, next fire ${relativeText(Math.max(now, Date.parse(next)), now)}` : "";
  return (
    <>
      <h1 class="verdict">
        <b>
          {isGone
            ? `Last seen ${clockText(Date.parse(data.checkedAt), zone, true)}.`
            : things.length === 0
              ? "All is well."
              : things.length === 1
                ? "1 thing needs you."
                : `${things.length} things need you.`}
        </b>
        <span>
          {things.length > 0 && "Everything else is on time: "}
          {data.counts.running} running, {waitingOf(data)} waiting{nextWords}.
        </span>
      </h1>
      <Ticker runs={runs} coming={comingOf(data, forecast?.buckets ?? [], now)} now={now} zone={zone} />
      <Numbers data={data} />
      <div class="grid two">
        <Panel title="Needs attention" count={things.length}>
          {things.length === 0 && <Calm>Nothing. No run failed in the last day, and nothing is overdue.</Calm>}
          <ul class="rows">{things}</ul>
        </Panel>
        <NextFires data={data} now={now} />
      </div>
      <Panel title="Running now" count={running.length}>
        {running.length === 0 && <Calm>Nothing runs at the moment.</Calm>}
        <ul class="rows">
          {running.slice(0, 12).map((run) => (
            <Running key={run.id} run={run} now={now} />
          ))}
        </ul>
      </Panel>
    </>
  );
}

/** A run without progress that was due longer ago may hang, and keep others waiting. */
const LONG_MS = 10 * MINUTE_MS;

function waitingOf({ counts: { queued, blocked } }: api.ShownOverview): string {
  return (queued.count + blocked.count).toLocaleString("en");
}

/** What comes: the next fire of each schedule, and how many others there are in each minute. */
function comingOf({ coming }: api.ShownOverview, load: readonly api.ShownForecastBucket[], now: number): ComingFire[] {
  const known = coming.map(({ scheduleId, fireTime }) => ({ at: Date.parse(fireTime), scheduleId, count: 1 }));
  const herd = herdOf(load);
  const fires = load.flatMap(({ from, fires: all }): ComingFire[] => {
    const at = Date.parse(from);
    const some = known.filter((fire) => fire.at >= at && fire.at < at + MINUTE_MS);
    if (all >= herd) return [{ at, scheduleId: null, count: all, isHerd: true, lengthMs: MINUTE_MS }];
    const count = all - some.length;
    return count > 0 ? [{ at, scheduleId: null, count, lengthMs: MINUTE_MS }, ...some] : some;
  });
  // What stands for a whole minute lies behind what has a time of its own.
  return fires.filter(({ at }) => at > now).sort((a, b) => (b.lengthMs ?? 0) - (a.lengthMs ?? 0));
}

function Numbers({ data }: { data: api.ShownOverview }) {
  const total = data.stats?.items[0]?.total;
  const timeOf = (text: string | undefined): string => {
    const ms = durationMs(text);
    return ms === null ? "–" : durationText(ms);
  };
  const share = total?.count ? (badOf(total) / total.count) * 100 : 0;
  const oldest = data.oldestDueJob;
  const numbers: readonly (readonly [string, string, boolean?])[] = [
    [total?.count.toLocaleString("en") ?? "–", "runs in the last day"],
    [timeOf(total?.lateness?.p50), "late by, usually (p50)"],
    [timeOf(total?.lateness?.p95), "late by, rarely more (p95)"],
    [`${share.toFixed(share > 0 && share < 10 ? 1 : 0)} %`, "failed, last day", share > 0],
    [waitingOf(data), "waiting"],
    [oldest === null ? "none" : roughText(oldest.lateMs), "oldest run that is due", (oldest?.lateMs ?? 0) > MINUTE_MS],
  ];
  return (
    <dl class="panel nums">
      {numbers.map(([value, name, isBad]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={isBad ? "err" : ""}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What somebody should look at, each with what can be done about it. */
function attentionOf(overview: api.ShownOverview, now: number, zone: string) {
  const opener = (href: string, words = "Open") => (
    <Button kind="small" onClick={() => go(href)}>
      {words}
    </Button>
  );
  return [
    ...overview.runs
      .filter(({ state, progress, dueAt }) => state === "running" && progress === null && now - dueAt > LONG_MS)
      .slice(0, 5)
      .map(({ id, taskId, dueAt }) => (
        <Item
          key={id}
          tone="missed"
          name={taskId}
          href={hrefOf("runs", id)}
          what="It may hang: give the task a timeout"
          side={`due ${relativeText(dueAt, now)}`}
        />
      )),
    ...overview.failureGroups.map((group) => (
      <FailureRow key={`${group.taskId} ${group.key}`} group={group} now={now} zone={zone} />
    )),
    ...overview.overdueOccurrences.slice(0, 10).map(({ scheduleId, fireTime, dueAt, kind }) => {
      const href = hrefOf("schedules", scheduleId, { at: fireTime });
      return (
        <Item
          key={`${scheduleId} ${fireTime}`}
          tone="missed"
          name={scheduleId}
          href={href}
          what={kind === "start" ? "It has not started in time" : "It has not finished in time"}
          side={`overdue by ${roughText(now - Date.parse(dueAt))}`}
        >
          {opener(href, "Explain")}
        </Item>
      );
    }),
    ...overview.unhandledTasks.map((taskId) => (
      <Item
        key={taskId}
        tone="missed"
        name={taskId}
        href={hrefOf("tasks", taskId)}
        what="Runs wait, and no live scheduler has a handler for this task"
      >
        {opener(hrefOf("system"))}
      </Item>
    )),
    ...overview.backloggedSchedules.map(({ scheduleId, unfinished }) => (
      <Item
        key={scheduleId}
        tone="missed"
        name={scheduleId}
        href={hrefOf("schedules", scheduleId)}
        what={`${unfinished.count} of its runs are unfinished: they take longer than the pauses between them`}
      >
        {opener(hrefOf("runs", null, { scheduleId }))}
      </Item>
    )),
    ...overview.failingSchedules
      .filter(({ paused }) => paused)
      .map(({ id, pauseReason }) => (
        <Item key={id} tone="paused" name={id} href={hrefOf("schedules", id)} what={`Paused itself: ${pauseReason}`}>
          <Act kind="small" work={() => actions.setPaused(id, false)}>
            Unpause
          </Act>
        </Item>
      )),
    ...overview.pausedTasks.slice(0, 10).map((pause) => (
      <Item
        key={`${pause.taskId} ${pause.key}`}
        tone="paused"
        name={pause.taskId}
        what={
          <>
            <TaskPaused of={pause} /> <PauseWords {...pause} />
          </>
        }
      >
        <UnpauseTask of={pause} />
      </Item>
    )),
  ];
}

/** Failures of one kind, with what can be done about all of them. */
export function FailureRow({ group, now, zone }: { group: api.ShownFailureGroup; now: number; zone: string }) {
  const { taskId, key, count, jobIds, firstAt, outcome } = group;
  const name = nameOf(group);
  const said = messageOf(group);
  const since = whenText(Date.parse(firstAt), zone, now).replace("today ", "");
  const href = hrefOf("runs", jobIds[0]);
  const which = { filter: { taskId, failureKey: key }, expectedCount: count };
  return (
    <Item
      tone={sayingOf(outcome ?? "error").tone}
      name={name}
      href={href}
      label={`${name}: ${count} × ${said}`}
      what={said}
      side={count === 1 ? `once, ${since}` : `${count} times since ${since}`}
    >
      <Button kind="small" onClick={() => go(href)} label={`Open the last run of ${name}`}>
        Open
      </Button>
      <Act kind="small" work={() => actions.changeMany("retry", which, count)}>
        {count === 1 ? "Retry" : "Retry all"}
      </Act>
    </Item>
  );
}

function NextFires({ data: { nextFires, pausedTasks }, now }: { data: api.ShownOverview; now: number }) {
  const mode = useZoneMode();
  return (
    <Panel title="Next fires" side={<a href={hrefOf("timeline")}>Timeline</a>}>
      <table class="cards t-next">
        <thead class="visually-hidden">
          <tr>
            <th>In</th>
            <th>Schedule</th>
            <th>At</th>
          </tr>
        </thead>
        <tbody>
          {nextFires.slice(0, 8).map((schedule) => {
            const { id, nextFireTime, trigger, next = [] } = schedule;
            const pause = api.pauseOf(schedule, pausedTasks);
            const at = Date.parse(nextFireTime ?? "");
            const zone = zoneOf(mode, ruleOf(trigger).timeZone);
            return (
              <tr key={id}>
                <td class="dim nowrap in">{at <= now ? "due" : relativeText(at, now)}</td>
                <td class="id">
                  <a href={hrefOf("schedules", id)}>{id}</a> {pause && <TaskPaused of={pause} />}
                </td>
                <td class="r nowrap next">
                  <ClockChange of={next[0]?.clockChange} /> {whenText(at, zone, now).replace("today ", "")}{" "}
                  <span class="faint">{zone}</span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Panel>
  );
}

function Running({ run, now }: { run: api.ShownRun; now: number }) {
  const started = useStore("started");
  const { fraction, note } = useProgress(run);
  const name = run.scheduleId ?? run.taskId;
  const ran = Math.max(0, now - (started[run.id] ?? run.dueAt));
  return (
    <Item
      tone="running"
      kind="running"
      name={name}
      href={hrefOf("runs", run.id)}
      bar={<ProgressBar fraction={fraction} name={name} />}
      what={`${fraction === null ? "" : `${Math.round(fraction * 100)} % `}${note ?? ""}`}
      side={`${durationText(ran)}${
        fraction !== null && fraction > 0.02 ? `, ~${roughText((ran / fraction) * (1 - fraction))} left` : ""
      }`}
    >
      <Act kind="small danger" work={() => actions.cancel(run.id, name)}>
        Cancel
      </Act>
    </Item>
  );
}

function NothingYet() {
  const { data } = useData("tasks undefined", api.getTasks);
  const tasks = data?.items ?? [];
  const taskId = tasks[0]?.id ?? "report";
  const code = `await scheduler.addSchedule("${taskId}",
  CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" }),
  { id: "${taskId}" });`;
  return (
    <div class="panel">
      <Empty isPage title="Nothing is scheduled yet">
        <span class="accent">
          <Mark size={40} />
        </span>
        <p>
          {tasks.length === 0
            ? "No task is registered yet."
            : `${tasks.length === 1 ? "One task is" : `${tasks.length} tasks are`} registered, such as ${taskId}.`}{" "}
          Give it a time, here or in code:
        </p>
        <pre class="code">{code}</pre>
        <div class="actions">
          <AddButtons />
          <CopyButton text={() => code}>Copy the code</CopyButton>
        </div>
      </Empty>
    </div>
  );
}
