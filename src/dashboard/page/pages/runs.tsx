import { useRef } from "preact/hooks";
import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { exportButtons } from "../export.tsx";
import { messageOf } from "../failures.ts";
import { hrefOf } from "../hash.ts";
import { Act, attempt, Button, Chips, Empty, Panel } from "../parts/basics.tsx";
import { PauseWords, TaskPaused, Verdict } from "../parts/glyph.tsx";
import { type Chosen, type Column, List, Narrowed, QueryChoice, SearchBox } from "../parts/list.tsx";
import { ruleOf } from "../rule.ts";
import { getState, type State, setQuery, useNow, usePlace, useProgress, useStore, useZone } from "../store.ts";
import { DAY_MS, durationText, whenText } from "../time.ts";
import { useData } from "../use-data.ts";
import { usePages } from "../use-pages.ts";
import { FailureRow } from "./overview.tsx";

const FAILED = "error,abandoned,deserializationFailed,missedStartDeadline";
/** What the chips show: states, or outcomes. */
const SHOWN: Readonly<Record<string, readonly [name: string, filter: api.RunListFilter]>> = {
  "": ["All", {}],
  running: ["Running", { state: "running" }],
  waiting: ["Waiting", { state: "queued,blocked" }],
  failed: ["Failed", { outcome: FAILED }],
  success: ["Succeeded", { outcome: "success" }],
  cancelled: ["Cancelled", { outcome: "cancelled" }],
  quiet: ["All but what went well", { outcome: `${FAILED},cancelled` }],
};
const SINCE: Readonly<Record<string, number>> = { hour: 3_600_000, day: DAY_MS, week: 7 * DAY_MS };
const COLUMNS: readonly Column[] = [
  ["Run"],
  ["What became of it"],
  ["Was due", "next"],
  ["Late", "num hide-s"],
  ["Run time", "num hide-s"],
  ["Actions", "acts"],
];

/** The present in steps of 5 minutes: with each, "the last hour" is another list. */
const stepOf = ({ now }: State) => now - (now % 300_000);

const BULK = { retry: ["Retry", "that ended"], cancel: ["Cancel", "unfinished"], purge: ["Delete", "that ended"] };

/** A run, with the zone of its schedule, and the pause because of which it waits. */
type RunInList = api.ShownRun & {
  readonly zone?: string | null | undefined;
  readonly pause?: api.ShownPause | undefined;
};

async function withSchedules({ items, ...page }: api.ShownPage<api.ShownRun>): Promise<api.ShownPage<RunInList>> {
  const ids = [...new Set(items.flatMap(({ scheduleId }) => scheduleId ?? []))];
  // They stand in an address, which has a bound.
  const halves = [ids.slice(0, 50), ids.slice(50)].filter((some) => some.length > 0);
  const [health, ...schedules] = await Promise.all([
    items.some(api.isWaiting) ? api.getHealth() : null,
    ...halves.map((some) => api.getSchedules({ ids: some, include: [] })),
  ]);
  const zones = new Map(
    schedules.flatMap((some) => some.items).map(({ id, trigger }) => [id, ruleOf(trigger).timeZone]),
  );
  return {
    ...page,
    items: items.map((run) => ({
      ...run,
      zone: zones.get(run.scheduleId ?? ""),
      pause: api.isWaiting(run) ? api.pauseOf(run, health?.pausedTasks) : undefined,
    })),
  };
}

export function RunsPage() {
  const { query } = usePlace();
  const { search, taskId, scheduleId, label, show = "" } = query;
  const since = SINCE[query.since ?? ""];
  const step = useStore(stepOf);
  const from = since === undefined ? since : new Date(step - since).toISOString();
  const all: api.RunListFilter = { search, taskId, scheduleId, label, from };
  const filter = { ...all, ...SHOWN[show]?.[1] };
  const key = JSON.stringify(filter);
  const pages = usePages(`runs ${key}`, async (cursor) =>
    withSchedules(await api.getRuns(filter, { limit: 100, cursor })),
  );
  const { data: facets } = useData(
    `run facets ${JSON.stringify(all)}`,
    (signal) => api.getRuns(all, { limit: 1, include: ["facets"] }, signal),
    "slow",
  );
  const words = Object.entries(SHOWN[show]?.[1] ?? {}).map(([name, text]) => [name, text.split(",")]);
  const isOfEnded = words.some(([name]) => name === "outcome");
  // Runs that end later would make another number of what was counted.
  const until = useRef<string | undefined>(undefined);
  const loadAll: api.Load = (paging) => {
    if (!paging.cursor) until.current = isOfEnded ? new Date(Date.now() + getState().skewMs).toISOString() : undefined;
    return api.getRuns({ ...filter, until: until.current }, paging);
  };
  const bulk = ({ items, count: matching, isAll }: Chosen<api.ShownRun>, clear: () => void) =>
    (["retry", "cancel", "purge"] as const).map((action) => {
      const isOfEnd = action !== "cancel";
      const ids = items.filter(({ endedAt }) => (endedAt !== null) === isOfEnd).map(({ id }) => id);
      const isWhole = isAll && isOfEnd === isOfEnded;
      const count = isWhole ? matching : isAll ? 0 : ids.length;
      const whole = { ...all, ...Object.fromEntries(words), until: until.current };
      const which = isWhole ? api.wholeOf(whole, matching) : { ids };
      return (
        count > 0 && (
          <Button
            key={action}
            kind={action === "retry" ? "small" : "small danger"}
            isWrite
            onClick={async () => (await attempt(() => actions.changeMany(action, which, count))) && clear()}
          >
            {`${BULK[action][0]} ${count.toLocaleString("en")} ${BULK[action][1]}`}
          </Button>
        )
      );
    });
  return (
    <>
      <div class="toolbar head">
        <h1>Runs</h1>
        <span class="grow" />
        {exportButtons("runs", (paging) => api.getRuns(filter, paging), rowOf)}
      </div>
      <div class="toolbar">
        <SearchBox value={search} placeholder="Search id, task, schedule, error" label="Search runs" />
        <Chips
          label="Which runs"
          value={show}
          options={Object.entries(SHOWN).map(([one, [name, chosen]]) => [
            one,
            `${name} ${api.countText(facets, Object.values(chosen).join())}`,
          ])}
          onChange={(one) => setQuery({ show: one })}
        />
        <Narrowed query={query} />
        <span class="grow" />
        <QueryChoice
          label="Ended"
          name="since"
          value={query.since}
          of={{ "": "at any time", hour: "in the last hour", day: "in the last day", week: "in the last week" }}
        />
      </div>
      {show === "failed" && <Groups filter={{ taskId, scheduleId, from }} />}
      <List
        key={key}
        noun="runs"
        pages={pages}
        columns={COLUMNS}
        Cells={Cells}
        bulk={bulk}
        loadAll={words.length > 0 ? loadAll : null}
        empty={
          <Empty title="No run fits">
            <p>{search ? `Nothing has "${search}" in it.` : "Nothing is in this list."}</p>
          </Empty>
        }
      />
    </>
  );
}

function Groups({ filter }: { filter: Parameters<typeof api.getFailures>[0] }) {
  const now = useNow();
  const zone = useZone();
  const { data } = useData(`failures ${JSON.stringify(filter)}`, (signal) => api.getFailures(filter, signal));
  if (data === undefined || data.items.length === 0) return null;
  return (
    <div class="spaced">
      <Panel title="By error" count={data.items.length}>
        <ul class="rows">
          {data.items.map((group) => (
            <FailureRow key={`${group.taskId} ${group.key}`} group={group} now={now} zone={zone} />
          ))}
        </ul>
      </Panel>
    </div>
  );
}

function Cells({ item: run }: { item: RunInList }) {
  const now = useNow();
  const zone = useZone(run.zone);
  const { id, taskId, scheduleId, state, dueAt, lateMs, runMs, attempts, error } = run;
  const { fraction, note } = useProgress(run);
  const name = scheduleId ?? taskId;
  return (
    <>
      <td class="id">
        <a href={hrefOf("runs", id)}>{name}</a>
        <div class="faint mono">{id}</div>
      </td>
      <td class="rule">
        <Verdict verdict={state} />
        {run.pause && (
          <>
            , <TaskPaused of={run.pause} />
          </>
        )}
        {attempts > 1 && <span class="dim">, attempt {attempts}</span>}
        <div class="faint" title={error?.message}>
          {run.pause && <PauseWords {...run.pause} zone={zone} />}
          {error === null
            ? state === "running" && fraction !== null && `${Math.round(fraction * 100)} % ${note ?? ""}`
            : messageOf(error)}
        </div>
      </td>
      <td class="nowrap next">
        {whenText(dueAt, zone, now)} <div class="faint">{zone}</div>
      </td>
      <td class="r dim nowrap hide-s">{lateMs !== null && durationText(lateMs)}</td>
      <td class="r dim nowrap hide-s">{runMs !== null && durationText(runMs)}</td>
      <td class="r nowrap acts">
        {run.endedAt === null ? (
          <Act kind="ghost small danger" work={() => actions.cancel(id, name)}>
            Cancel
          </Act>
        ) : (
          <Act kind="ghost small" keyHint="r" work={() => actions.retry(id)}>
            Retry
          </Act>
        )}
      </td>
    </>
  );
}

function rowOf({
  dueAt,
  startedAt,
  endedAt,
  error,
  progress,
  note,
  ...run
}: api.ShownRun): Readonly<Record<string, unknown>> {
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const said = error === null ? null : messageOf(error);
  return { ...run, dueAt: iso(dueAt), startedAt: iso(startedAt), endedAt: iso(endedAt), error: said };
}
