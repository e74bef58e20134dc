import { useEffect, useState } from "preact/hooks";
import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { exportButtons } from "../export.tsx";
import { hrefOf } from "../hash.ts";
import { attempt, Button, Chips, Empty, Failure, Loading, Panel } from "../parts/basics.tsx";
import { Verdict } from "../parts/glyph.tsx";
import { VirtualRows } from "../parts/virtual.tsx";
import { type State, setQuery, useCanWrite, useNow, usePlace, useStore, useZoneMode } from "../store.ts";
import { durationText, whenText, zoneOf } from "../time.ts";
import { useData } from "../use-data.ts";
import { usePages } from "../use-pages.ts";
import { FailureRow } from "./overview.tsx";
import { SearchBox } from "./schedules.tsx";

/** What the chips show: states, or outcomes. */
const SHOWN: Readonly<Record<string, { readonly name: string; readonly filter: api.RunFilter }>> = {
  "": { name: "All", filter: {} },
  running: { name: "Running", filter: { state: "running" } },
  waiting: { name: "Waiting", filter: { state: "queued,held" } },
  failed: { name: "Failed", filter: { outcome: "error,abandoned,deserializationFailed,missedStartDeadline" } },
  success: { name: "Succeeded", filter: { outcome: "success" } },
  cancelled: { name: "Cancelled", filter: { outcome: "cancelled" } },
  quiet: {
    name: "All but what went well",
    filter: { outcome: "error,abandoned,deserializationFailed,missedStartDeadline,cancelled" },
  },
};
const SINCE = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;

export function RunsPage() {
  const { query } = usePlace();
  const canWrite = useCanWrite();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const since = SINCE[query.since as keyof typeof SINCE];
  const filter: api.RunFilter = {
    search: query.search,
    taskId: query.taskId,
    scheduleId: query.scheduleId,
    ...SHOWN[query.show ?? ""]?.filter,
  };
  // An instant that moves on with each load would make another list of it.
  const from = (): string | undefined => (since === undefined ? undefined : new Date(Date.now() - since).toISOString());
  const key = `runs ${JSON.stringify({ ...filter, since })}`;
  const { items, error, more } = usePages<api.Run, api.Page<api.Run>>(key, (cursor, signal) =>
    api.getRuns({ ...filter, from: cursor === undefined ? from() : undefined }, { limit: 100, cursor }, signal),
  );
  useEffect(() => setSelected(new Set()), [key]);
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  return (
    <>
      <div class="toolbar head">
        <h1>Runs</h1>
        <span class="grow" />
        {exportButtons("runs", (cursor) => api.getRuns(filter, { limit: 1000, cursor }), rowOf)}
      </div>
      <div class="toolbar">
        <SearchBox value={query.search ?? ""} placeholder="Search id, task, schedule, error" label="Search runs" />
        <Chips
          label="Which runs"
          value={query.show ?? ""}
          options={Object.entries(SHOWN).map(([show, { name }]) => [show, name])}
          onChange={(show) => setQuery({ show })}
        />
        <div class="chips">
          {(["taskId", "scheduleId"] as const).map((name) =>
            query[name] ? (
              <button key={name} type="button" class="chip on" onClick={() => setQuery({ [name]: null })}>
                {name === "taskId" ? "task" : "schedule"} {query[name]} ×
              </button>
            ) : null,
          )}
        </div>
        <span class="grow" />
        <label class="dim">
          Ended{" "}
          <select
            class="plain"
            value={query.since ?? ""}
            onChange={(event) => setQuery({ since: event.currentTarget.value })}
          >
            <option value="">at any time</option>
            <option value="hour">in the last hour</option>
            <option value="day">in the last day</option>
            <option value="week">in the last week</option>
          </select>
        </label>
      </div>
      {selected.size > 0 ? (
        <BulkBar selected={selected} items={items ?? []} clear={() => setSelected(new Set())} />
      ) : null}
      {error === null ? null : <Failure error={error} />}
      {query.show === "failed" ? <Groups filter={{ taskId: query.taskId, scheduleId: query.scheduleId }} /> : null}
      <div class="panel">
        {items === undefined ? (
          <Loading rows={12} />
        ) : items.length === 0 ? (
          <Empty title="No run fits">
            <p>{query.search ? `Nothing has "${query.search}" in it.` : "Nothing is in this list."}</p>
          </Empty>
        ) : (
          <table class="cards t-runs">
            <thead>
              <tr>
                {canWrite ? (
                  <th>
                    <input
                      type="checkbox"
                      aria-label="Select all that are shown"
                      checked={items.every(({ id }) => selected.has(id))}
                      onChange={(event) =>
                        setSelected(event.currentTarget.checked ? new Set(items.map(({ id }) => id)) : new Set())
                      }
                    />
                  </th>
                ) : null}
                <th>Run</th>
                <th>What became of it</th>
                <th>Was due</th>
                <th class="r">Late</th>
                <th class="r">Run time</th>
                <th class="r">
                  <span class="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <VirtualRows
              items={items}
              rowHeight={49}
              phoneHeight={79}
              total={null}
              columns={canWrite ? 7 : 6}
              onEnd={more}
              render={(run) => <Row key={run.id} run={run} isSelected={selected.has(run.id)} toggle={toggle} />}
            />
          </table>
        )}
      </div>
    </>
  );
}

function Groups({ filter }: { filter: object }) {
  const now = useNow();
  const zone = zoneOf(useZoneMode(), null);
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

const progressOf = (state: State) => state.progress;

function Row({ run, isSelected, toggle }: { run: api.Run; isSelected: boolean; toggle: (id: string) => void }) {
  const canWrite = useCanWrite();
  const now = useNow();
  const zone = zoneOf(useZoneMode(), null);
  const { id, taskId, scheduleId, state, dueAt, lateMs, runMs, attempts, error } = run;
  const live = useStore(progressOf)[id];
  const fraction = live?.fraction ?? run.progress;
  const isUnfinished = run.endedAt === null;
  const name = scheduleId ?? taskId;
  const tried = attempts > 1 ? `, attempt ${attempts}` : "";
  const said = state === "running" && fraction !== null ? `${Math.round(fraction * 100)} % ${live?.note ?? ""}` : "";
  return (
    <tr data-row class={isSelected ? "selected" : ""}>
      {canWrite ? (
        <td class="check">
          <input type="checkbox" aria-label={`Select ${id}`} checked={isSelected} onChange={() => toggle(id)} />
        </td>
      ) : null}
      <td class="id">
        <a href={hrefOf("runs", id)}>{name}</a>
        <div class="faint mono">{id}</div>
      </td>
      <td class="rule">
        <Verdict verdict={state} />
        <span class="dim">{tried}</span>
        <div class="faint" title={error?.message}>
          {error === null ? said : `${error.name}: ${error.message}`}
        </div>
      </td>
      <td class="nowrap next">{whenText(dueAt, zone, now)}</td>
      <td class="r dim nowrap hide-s">{lateMs === null ? "" : durationText(lateMs)}</td>
      <td class="r dim nowrap hide-s">{runMs === null ? "" : durationText(runMs)}</td>
      <td class="r nowrap acts">
        {!canWrite ? null : isUnfinished ? (
          <Button kind="ghost small danger" isWrite onClick={() => attempt(() => actions.cancel(id, name))}>
            Cancel
          </Button>
        ) : (
          <Button kind="ghost small" isWrite onClick={() => attempt(() => actions.retry(id))}>
            Retry
          </Button>
        )}
      </td>
    </tr>
  );
}

interface BulkProps {
  readonly selected: ReadonlySet<string>;
  readonly items: readonly api.Run[];
  readonly clear: () => void;
}

function BulkBar({ selected, items, clear }: BulkProps) {
  const chosen = items.filter(({ id }) => selected.has(id));
  const ended = chosen.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id);
  const unfinished = chosen.filter(({ endedAt }) => endedAt === null).map(({ id }) => id);
  return (
    <section class="bulk" aria-label="Selected runs">
      <b>{selected.size.toLocaleString("en")} selected</b>
      <span class="grow" />
      <Button
        kind="small"
        isWrite
        isOff={ended.length === 0}
        onClick={async () => (await attempt(() => actions.retryMany({ ids: ended }, ended.length))) && clear()}
      >
        Retry {ended.length} that ended
      </Button>
      <Button
        kind="small danger"
        isWrite
        isOff={unfinished.length === 0}
        onClick={async () =>
          (await attempt(() => actions.cancelMany({ ids: unfinished }, unfinished.length))) && clear()
        }
      >
        Cancel {unfinished.length} unfinished
      </Button>
      <Button kind="small ghost" onClick={clear}>
        Select none
      </Button>
    </section>
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
  const message = error === null ? null : `${error.name}: ${error.message}`;
  return { ...run, dueAt: iso(dueAt), startedAt: iso(startedAt), endedAt: iso(endedAt), error: message };
}
