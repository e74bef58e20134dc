import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { exportButtons } from "../export.tsx";
import { hrefOf } from "../hash.ts";
import { Act, AddButtons, attempt, Button, Chips, capital, Empty, When } from "../parts/basics.tsx";
import { Spark } from "../parts/charts.tsx";
import { ClockChange, Labels, PauseWords, StateGlyph, stateOf, TaskPaused } from "../parts/glyph.tsx";
import { type Chosen, type Column, List, Narrowed, QueryChoice, SearchBox } from "../parts/list.tsx";
import { ruleOf, wordsOf } from "../rule.ts";
import { setQuery, useNow, usePlace } from "../store.ts";
import { DAY_MS, durationMs, durationText } from "../time.ts";
import { useData } from "../use-data.ts";
import { usePages } from "../use-pages.ts";
import { verdictOf } from "../verdicts.ts";

/** What a row shows besides the schedule. */
const SHOWN = ["description", "next:1", "runs:24", "stats"];
/** Most ids that one request names. */
const IDS_MAX = 50;
const COLUMNS: readonly Column[] = [
  ["Schedule"],
  ["Rule"],
  ["Next fire", "next"],
  ["Last 24 runs", "spark hide-s"],
  ["Late (p95)", "num hide-s", "of 100 runs of the last 7 days, 95 start within"],
  ["Run time (p50)", "num hide-s", "half of the runs of the last 7 days are faster"],
  ["Actions", "acts"],
];

export function SchedulesPage() {
  const { query } = usePlace();
  const { search, taskId, label, state } = query;
  const filter: api.ScheduleListFilter = { search, taskId, label, state };
  const sort = query.sort ?? "nextFireTime";
  const key = JSON.stringify(filter);
  const { data: troubled } = useData("troubled", loadTroubled);
  const whole = { search, taskId, label };
  const { data: counted } = useData(
    `facets ${JSON.stringify(whole)}`,
    (signal) => api.getSchedules({ ...whole, limit: 1, include: ["facets"] }, signal),
    "slow",
  );
  const countIn = (states: string) => api.countText(counted, states);
  const pages = usePages<api.ShownSchedule>(`schedules ${key} ${sort}`, async (cursor) => {
    const list = { ...filter, sort, limit: 100, cursor, include: SHOWN };
    if (state !== "failing" && state !== "overdue") return api.getSchedules(list);
    const ids = (troubled ?? (await loadTroubled()))[state];
    const { state: _state, sort: _sort, ...others } = list;
    return ids.length === 0 ? { items: [], cursor: null } : api.getSchedules({ ...others, ids });
  });
  const bulk = ({ items, count, isAll }: Chosen<api.ShownSchedule>, clear: () => void) => {
    const which = isAll ? api.wholeOf(filter, count) : { ids: items.map(({ id }) => id) };
    return (["pause", "unpause", "remove"] as const).map((action) => (
      <Button
        key={action}
        kind={action === "remove" ? "small danger" : "small"}
        isWrite
        onClick={async () => (await attempt(() => actions.changeMany(action, which, count))) && clear()}
      >
        {capital(action)} selected
      </Button>
    ));
  };
  return (
    <>
      <div class="toolbar head">
        <h1>Schedules</h1>
        <span class="grow" />
        {exportButtons("schedules", (paging) => api.getSchedules({ ...filter, sort, ...paging }), rowOf)}
        <AddButtons />
      </div>
      <div class="toolbar">
        <SearchBox value={search} placeholder="Filter by id, name or task" label="Filter schedules" />
        <Chips
          label="Which schedules"
          value={state ?? ""}
          options={[
            ["", `All ${countIn("active,paused,ended")}`],
            ["active", `Active ${countIn("active")}`],
            ["failing", `Failing ${troubled?.failing.length ?? ""}`],
            ["overdue", `Overdue ${troubled?.overdue.length ?? ""}`],
            ["paused", `Paused ${countIn("paused")}`],
            ["ended", `Ended ${countIn("ended")}`],
          ]}
          onChange={(one) => setQuery({ state: one })}
        />
        <Narrowed query={query} />
        <span class="grow" />
        <QueryChoice label="Sorted by" name="sort" value={query.sort} of={{ "": "next fire", id: "id" }} />
      </div>
      <List
        key={key}
        noun="schedules"
        pages={{ ...pages, items: pages.items?.map((one) => ({ ...one, pause: api.pauseOf(one, troubled?.pauses) })) }}
        columns={COLUMNS}
        Cells={Cells}
        bulk={bulk}
        loadAll={(paging) => api.getSchedules({ ...filter, ...paging })}
        empty={
          <Empty title={key === "{}" ? "Nothing is scheduled yet" : "No schedule fits"}>
            <p>{search ? `No schedule has "${search}" in its id, name or task.` : "No schedule is in this list."}</p>
            {search && (
              <a class="link" href={hrefOf("runs", null, { search })}>
                Search runs and their errors for it
              </a>
            )}
          </Empty>
        }
      />
    </>
  );
}

/** The schedules that failed in the last day, those of which a run is overdue, and the tasks that are paused. */
async function loadTroubled(signal?: AbortSignal) {
  const from = new Date(Date.now() - DAY_MS).toISOString();
  const [failures, health] = await Promise.all([api.getFailures({ from }, signal), api.getHealth(signal)]);
  const some = (ids: readonly string[]): string[] => [...new Set(ids)].slice(0, IDS_MAX);
  return {
    failing: some(failures.items.flatMap(({ scheduleIds }) => scheduleIds)),
    pauses: health.pausedTasks,
    overdue: some(health.overdueOccurrences.map(({ scheduleId }) => scheduleId)),
  };
}

type ScheduleInList = api.ShownSchedule & { readonly pause?: api.ShownPause | undefined };

function Cells({ item: schedule }: { item: ScheduleInList }) {
  const { id, name, taskId, trigger, paused, labels, runs = [], stats } = schedule;
  const rule = ruleOf(trigger);
  const late = durationMs(stats?.lateness?.p95);
  const ran = durationMs(stats?.runTime?.p50);
  const bars = [...runs].reverse().map((one) => ({ verdict: verdictOf(one), runMs: durationMs(one.run?.runTime) }));
  return (
    <>
      <td class="id">
        <StateGlyph of={stateOf(schedule, schedule.pause)} />
        <a href={hrefOf("schedules", id)}>{name ?? id}</a>
        <div class="faint">
          {name === null ? taskId : `${id} · ${taskId}`} <Labels of={labels} page="schedules" />
        </div>
      </td>
      <td class="rule">
        {wordsOf(schedule.description, rule)}
        <div class="faint">
          <code>{rule.code}</code> {rule.timeZone}
        </div>
      </td>
      <td class="next">
        <NextFire schedule={schedule} timeZone={rule.timeZone} />
      </td>
      <td class="hide-s spark">
        <Spark runs={bars} id={id} />
      </td>
      <td class={`r hide-s nowrap ${(late ?? 0) > 60_000 ? "" : "dim"}`}>{late !== null && durationText(late)}</td>
      <td class="r hide-s nowrap dim">{ran !== null && durationText(ran)}</td>
      <td class="r nowrap acts">
        <Act kind="ghost small" keyHint="r" work={() => actions.runNow(id)}>
          Run now
        </Act>
        <Act kind="ghost small" keyHint="p" work={() => actions.setPaused(id, !paused)}>
          {paused ? "Unpause" : "Pause"}
        </Act>
      </td>
    </>
  );
}

function NextFire({ schedule, timeZone }: { schedule: ScheduleInList; timeZone: string | null }) {
  const { pause, paused, pauseReason, nextFireTime, next = [] } = schedule;
  const now = useNow();
  if (nextFireTime === null) return <span class="dim">ended</span>;
  if (paused) {
    return (
      <span class="dim" title={pauseReason ?? ""}>
        paused{pauseReason && <span class="hide-s">: {pauseReason}</span>}
      </span>
    );
  }
  if (pause) {
    return (
      <>
        <TaskPaused of={pause} />
        <div class="faint">
          <PauseWords {...pause} zone={timeZone ?? undefined} />
        </div>
      </>
    );
  }
  const at = Date.parse(nextFireTime);
  const isDue = at < now - 5000;
  return (
    <span class={isDue ? "miss" : ""}>
      <ClockChange of={next[0]?.clockChange} /> {isDue && "due "}
      <When ms={at} zone={timeZone} />
    </span>
  );
}

function rowOf(schedule: api.ShownSchedule): Readonly<Record<string, unknown>> {
  const { id, name, taskId, trigger, description, paused, nextFireTime, lastFireTime, labels } = schedule;
  return { id, name, taskId, rule: description, ...ruleOf(trigger), paused, nextFireTime, lastFireTime, labels };
}
