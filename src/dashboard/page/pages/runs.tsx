import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { exportButtons } from "../export.tsx";
import { messageOf } from "../failures.ts";
import { hrefOf } from "../hash.ts";
import { Act, attempt, Button, Chips, Empty, Panel } from "../parts/basics.tsx";
import { Verdict } from "../parts/glyph.tsx";
import { type Chosen, type Column, List, Narrowed, QueryChoice, SearchBox } from "../parts/list.tsx";
import { setQuery, useCanWrite, useNow, usePlace, useProgress, useZoneMode } from "../store.ts";
import { DAY_MS, durationText, whenText, zoneOf } from "../time.ts";
import { useData } from "../use-data.ts";
import { usePages } from "../use-pages.ts";
import { FailureRow } from "./overview.tsx";

const FAILED = "error,abandoned,deserializationFailed,missedStartDeadline";
/** What the chips show: states, or outcomes. */
const SHOWN: Readonly<Record<string, readonly [name: string, filter: api.RunFilter]>> = {
  "": ["All", {}],
  running: ["Running", { state: "running" }],
  waiting: ["Waiting", { state: "queued,held" }],
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

export function RunsPage() {
  const { query } = usePlace();
  const { search, taskId, scheduleId, label, show = "" } = query;
  const since = SINCE[query.since ?? ""];
  const filter: api.RunFilter = { search, taskId, scheduleId, label, ...SHOWN[show]?.[1] };
  // An instant that moves on with each load would make another list of it.
  const from = () => (since === undefined ? undefined : new Date(Date.now() - since).toISOString());
  const key = JSON.stringify({ ...filter, since });
  const pages = usePages<api.Run>(`runs ${key}`, (cursor) =>
    api.getRuns({ ...filter, from: cursor === undefined ? from() : undefined }, { limit: 100, cursor }),
  );
  const words = Object.entries(SHOWN[show]?.[1] ?? {}).map(([name, text]) => [name, text.split(",")]);
  const whole = { search, taskId, scheduleId, label, ...Object.fromEntries(words) };
  const isOfEnded = words.some(([name]) => name === "outcome");
  const bulk = ({ items, count: all, isAll }: Chosen<api.Run>, clear: () => void) =>
    (["retry", "cancel"] as const).map((action) => {
      const isRetry = action === "retry";
      const ids = items.filter(({ endedAt }) => (endedAt !== null) === isRetry).map(({ id }) => id);
      const isWhole = isAll && isRetry === isOfEnded;
      const count = isWhole ? all : isAll ? 0 : ids.length;
      const which = isWhole ? api.wholeOf({ ...whole, from: from() }, all) : { ids };
      return (
        <Button
          key={action}
          kind={isRetry ? "small" : "small danger"}
          isWrite
          isOff={count === 0}
          onClick={async () => (await attempt(() => actions.changeMany(action, which, count))) && clear()}
        >
          {isRetry ? `Retry ${count} that ended` : `Cancel ${count} unfinished`}
        </Button>
      );
    });
  return (
    <>
      <div class="toolbar head">
        <h1>Runs</h1>
        <span class="grow" />
        {exportButtons("runs", (cursor) => api.getRuns(filter, { limit: 1000, cursor }), rowOf)}
      </div>
      <div class="toolbar">
        <SearchBox value={search} placeholder="Search id, task, schedule, error" label="Search runs" />
        <Chips
          label="Which runs"
          value={show}
          options={Object.entries(SHOWN).map(([one, [name]]) => [one, name])}
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
      {show === "failed" && <Groups filter={{ taskId, scheduleId, from: from() }} />}
      <List
        key={key}
        noun="runs"
        pages={pages}
        columns={COLUMNS}
        Cells={Cells}
        bulk={bulk}
        countAll={
          words.length > 0
            ? () => api.countOf((cursor) => api.getRuns({ ...filter, from: from() }, { limit: 1000, cursor }))
            : null
        }
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
  const zone = zoneOf(useZoneMode(), null);
  const { data } = useData(`failures ${filter.taskId} ${filter.scheduleId}`, (signal) =>
    api.getFailures(filter, signal),
  );
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

function Cells({ item: run }: { item: api.Run }) {
  const canWrite = useCanWrite();
  const now = useNow();
  const zone = zoneOf(useZoneMode(), null);
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
        {attempts > 1 && <span class="dim">, attempt {attempts}</span>}
        <div class="faint" title={error?.message}>
          {error === null
            ? state === "running" && fraction !== null && `${Math.round(fraction * 100)} % ${note ?? ""}`
            : messageOf(error)}
        </div>
      </td>
      <td class="nowrap next">{whenText(dueAt, zone, now)}</td>
      <td class="r dim nowrap hide-s">{lateMs !== null && durationText(lateMs)}</td>
      <td class="r dim nowrap hide-s">{runMs !== null && durationText(runMs)}</td>
      <td class="r nowrap acts">
        {!canWrite ? null : run.endedAt === null ? (
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
}: api.Run): Readonly<Record<string, unknown>> {
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const said = error === null ? null : messageOf(error);
  return { ...run, dueAt: iso(dueAt), startedAt: iso(startedAt), endedAt: iso(endedAt), error: said };
}
