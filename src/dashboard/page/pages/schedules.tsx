import { useEffect, useRef, useState } from "preact/hooks";
import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { exportButtons } from "../export.tsx";
import { hrefOf } from "../hash.ts";
import { attempt, Button, Chips, Empty, Failure, Loading, When } from "../parts/basics.tsx";
import { quantileOf, Spark } from "../parts/charts.tsx";
import { Glyph } from "../parts/glyph.tsx";
import { VirtualRows } from "../parts/virtual.tsx";
import { ruleOf } from "../rule.ts";
import { go, setQuery, useCanWrite, useNow, usePlace } from "../store.ts";
import { durationMs, durationText } from "../time.ts";
import { usePages } from "../use-pages.ts";
import { clockChangeWords } from "../verdicts.ts";

/** What a row shows besides the schedule. */
const SHOWN = ["description", "next:1", "runs:24"];
const CHIPS = [
  ["", "All"],
  ["active", "Active"],
  ["paused", "Paused"],
  ["ended", "Ended"],
] as const;

export function SchedulesPage() {
  const { query } = usePlace();
  const canWrite = useCanWrite();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const filter: api.ScheduleFilter = {
    search: query.search,
    taskId: query.taskId,
    state: query.state as api.ScheduleFilter["state"],
  };
  const sort = query.sort === "id" ? "id" : "nextFireTime";
  const key = `schedules ${JSON.stringify({ ...filter, sort })}`;
  const { items, error, isComplete, more } = usePages<api.Schedule, api.Page<api.Schedule>>(key, (cursor, signal) =>
    api.getSchedules({ ...filter, sort, limit: 100, cursor, include: SHOWN }, signal),
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
        <h1>Schedules</h1>
        <span class="grow" />
        {exportButtons("schedules", (cursor) => api.getSchedules({ ...filter, sort, limit: 1000, cursor }), rowOf)}
        {canWrite ? (
          <Button kind="primary" keyHint="n" onClick={() => go(hrefOf("add"))}>
            Add schedule
          </Button>
        ) : null}
      </div>
      <div class="toolbar">
        <SearchBox value={query.search ?? ""} placeholder="Filter by id, name or task" label="Filter schedules" />
        <Chips
          label="Which schedules"
          value={query.state ?? ""}
          options={CHIPS}
          onChange={(state) => setQuery({ state })}
        />
        {query.taskId ? (
          <button type="button" class="chip on" onClick={() => setQuery({ taskId: null })}>
            task {query.taskId} ×
          </button>
        ) : null}
        <span class="grow" />
        <label class="dim">
          Sorted by{" "}
          <select
            class="plain"
            value={sort}
            onChange={(event) => setQuery({ sort: event.currentTarget.value === "id" ? "id" : null })}
          >
            <option value="nextFireTime">next fire</option>
            <option value="id">id</option>
          </select>
        </label>
      </div>
      {selected.size > 0 ? (
        <BulkBar
          selected={selected}
          shown={items ?? []}
          isComplete={isComplete}
          filter={filter}
          clear={() => setSelected(new Set())}
        />
      ) : null}
      {error === null ? null : <Failure error={error} />}
      <div class="panel">
        {items === undefined ? (
          <Loading rows={12} />
        ) : items.length === 0 ? (
          <Empty title={key.includes(":") ? "No schedule fits" : "Nothing is scheduled yet"}>
            <p>
              {query.search
                ? `No schedule has "${query.search}" in its id, name or task.`
                : "No schedule is in this list."}
            </p>
          </Empty>
        ) : (
          <table class="cards t-schedules">
            <thead>
              <tr>
                {canWrite ? (
                  <th>
                    <input
                      type="checkbox"
                      aria-label="Select all that are shown"
                      checked={items.length > 0 && items.every(({ id }) => selected.has(id))}
                      onChange={(event) =>
                        setSelected(event.currentTarget.checked ? new Set(items.map(({ id }) => id)) : new Set())
                      }
                    />
                  </th>
                ) : null}
                <th>Schedule</th>
                <th>Rule</th>
                <th>Next fire</th>
                <th class="hide-s">Last 24 runs</th>
                <th class="r hide-s" title="of the last 24 runs, all but the worst one start within">
                  Late (p95)
                </th>
                <th class="r hide-s" title="half of the last 24 runs are faster">
                  Run time (p50)
                </th>
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
              columns={canWrite ? 8 : 7}
              onEnd={more}
              render={(schedule) => (
                <Row key={schedule.id} schedule={schedule} isSelected={selected.has(schedule.id)} toggle={toggle} />
              )}
            />
          </table>
        )}
      </div>
    </>
  );
}

interface RowProps {
  readonly schedule: api.Schedule;
  readonly isSelected: boolean;
  readonly toggle: (id: string) => void;
}

function Row({ schedule, isSelected, toggle }: RowProps) {
  const canWrite = useCanWrite();
  const { id, taskId, trigger, paused } = schedule;
  const rule = ruleOf(trigger, schedule.description);
  return (
    <tr data-row class={isSelected ? "selected" : ""}>
      {canWrite ? (
        <td class="check">
          <input type="checkbox" aria-label={`Select ${id}`} checked={isSelected} onChange={() => toggle(id)} />
        </td>
      ) : null}
      <td class="id two-lines">
        <StateGlyph schedule={schedule} />
        <a href={hrefOf("schedules", id)}>{schedule.name ?? id}</a>
        <div class="faint">{schedule.name === null ? taskId : `${id} · ${taskId}`}</div>
      </td>
      <td class="rule two-lines">
        {rule.words}
        <div class="faint">
          <code>{rule.code}</code> {rule.timeZone ?? ""}
        </div>
      </td>
      <td class="next">
        <NextFire schedule={schedule} timeZone={rule.timeZone} />
      </td>
      <RunCells schedule={schedule} />
      <td class="r nowrap acts">
        {canWrite ? (
          <>
            <Button kind="ghost small" isWrite keyHint="r" onClick={() => attempt(() => actions.runNow(id))}>
              Run now
            </Button>
            <Button
              kind="ghost small"
              isWrite
              keyHint="p"
              onClick={() => attempt(() => actions.setPaused(id, !paused))}
            >
              {paused ? "Unpause" : "Pause"}
            </Button>
          </>
        ) : null}
      </td>
    </tr>
  );
}

/** How its last runs went. */
function RunCells({ schedule: { id, runs = [] } }: { schedule: api.Schedule }) {
  const late = quantileOf(
    runs.flatMap(({ run }) => durationMs(run?.lateness) ?? []),
    0.95,
  );
  const ran = quantileOf(
    runs.flatMap(({ run }) => durationMs(run?.runTime) ?? []),
    0.5,
  );
  const bars = [...runs].reverse().map(({ verdict, run }) => ({ verdict, runMs: durationMs(run?.runTime) }));
  return (
    <>
      <td class="hide-s">
        <Spark runs={bars} id={id} />
      </td>
      <td class={`r hide-s nowrap ${(late ?? 0) > 60_000 ? "" : "dim"}`}>{late === null ? "" : durationText(late)}</td>
      <td class="r hide-s nowrap dim">{ran === null ? "" : durationText(ran)}</td>
    </>
  );
}

export function StateGlyph({ schedule: { paused, nextFireTime } }: { schedule: api.Schedule }) {
  const tone = paused ? "paused" : nextFireTime === null ? "cancelled" : "active";
  const words = paused ? "paused" : nextFireTime === null ? "ended" : "active";
  return (
    <span class={`o ${tone === "active" ? "success" : tone}`} title={words}>
      <Glyph tone={tone} />
      <span class="visually-hidden">{words}</span>
    </span>
  );
}

function NextFire({
  schedule: { paused, pauseReason, nextFireTime, next = [] },
  timeZone,
}: {
  schedule: api.Schedule;
  timeZone: string | null;
}) {
  const now = useNow();
  if (nextFireTime === null) return <span class="dim">ended</span>;
  if (paused)
    return (
      <span class="dim" title={pauseReason ?? ""}>
        paused <span class="hide-s">{pauseReason}</span>
      </span>
    );
  const at = Date.parse(nextFireTime);
  if (at < now - 5000)
    return (
      <span class="miss">
        due <When ms={at} zone={timeZone} />
      </span>
    );
  const change = clockChangeWords(next[0]?.clockChange ?? null);
  return (
    <>
      {change === null ? null : <span class="badge dst">{change}</span>} <When ms={at} zone={timeZone} />
    </>
  );
}

interface BulkProps {
  readonly selected: ReadonlySet<string>;
  readonly shown: readonly api.Schedule[];
  readonly isComplete: boolean;
  readonly filter: api.ScheduleFilter;
  readonly clear: () => void;
}

/** What is done to many. "All that match" is left to the server, with the number that somebody confirmed. */
function BulkBar({ selected, shown, isComplete, filter, clear }: BulkProps) {
  const [total, setTotal] = useState<number | null>(null);
  useEffect(() => setTotal(null), [JSON.stringify(filter)]);
  const isAllShown = shown.length > 0 && shown.every(({ id }) => selected.has(id));
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const which = (): api.Selection =>
    total === null
      ? { ids: [...selected] }
      : { ...(Object.keys(given).length === 0 ? { all: true } : { filter: given }), expectedCount: total };
  const count = total ?? selected.size;
  const act = (action: "pause" | "unpause" | "remove") => async () => {
    if (await attempt(() => actions.changeMany(action, which(), count))) clear();
  };
  return (
    <div class="bulk" role="region" aria-label="Selected schedules">
      <b>{count.toLocaleString("en")} selected</b>
      {isAllShown && !isComplete && total === null ? (
        <Button kind="small" onClick={async () => setTotal(await countAll(filter))}>
          Select all that match
        </Button>
      ) : null}
      <span class="grow" />
      <Button kind="small" isWrite onClick={act("pause")}>
        Pause selected
      </Button>
      <Button kind="small" isWrite onClick={act("unpause")}>
        Unpause selected
      </Button>
      <Button kind="small danger" isWrite onClick={act("remove")}>
        Remove selected
      </Button>
      <Button kind="small ghost" onClick={clear}>
        Select none
      </Button>
    </div>
  );
}

async function countAll(filter: api.ScheduleFilter): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await api.getSchedules({ ...filter, limit: 1000, cursor });
    count += page.items.length;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return count;
}

function rowOf({
  id,
  name,
  taskId,
  trigger,
  description,
  paused,
  nextFireTime,
  lastFireTime,
}: api.Schedule): Readonly<Record<string, unknown>> {
  const { words, code, timeZone } = ruleOf(trigger, description);
  return { id, name, taskId, rule: words, code, timeZone, paused, nextFireTime, lastFireTime };
}

/** The search of a list: what is typed becomes a word of the address bar. */
export function SearchBox({ value, placeholder, label }: { value: string; placeholder: string; label: string }) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value;
  }, [value]);
  return (
    <input
      ref={input}
      class="input filter"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={value}
      aria-keyshortcuts="/"
      onInput={(event) => {
        const text = event.currentTarget.value;
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setQuery({ search: text }), 200);
      }}
    />
  );
}
