import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api.ts";
import { codeOf, curlOf } from "../copy.ts";
import { hrefOf } from "../hash.ts";
import { attempt, Button, Chips, CopyButton, capital, Failure, Loading, Panel } from "../parts/basics.tsx";
import { fieldWords } from "../rule.ts";
import { ask, go, refresh, useNow, usePlace, useZoneMode } from "../store.ts";
import { clockText, dayText, durationMs, MY_ZONE, relativeText, whenText, zoneNames, zoneOf } from "../time.ts";
import { useData } from "../use-data.ts";
import { clockChangeWords } from "../verdicts.ts";

/** What is wrong with what was typed, and where; the position is below 0 where nobody can point at it. */
interface Problem {
  readonly message: string;
  readonly position: number;
  readonly element: string;
  readonly suggestion: string | null;
}

type Kind = "cron" | "every" | "at" | "calendar" | "json";
const KINDS: readonly (readonly [Kind, string])[] = [
  ["cron", "Cron"],
  ["every", "Every…"],
  ["at", "Once"],
  ["calendar", "Calendar"],
  ["json", "JSON"],
];

/** What the form holds, as texts, the way they were typed. */
export interface Draft {
  readonly id: string;
  readonly taskId: string;
  readonly kind: Kind;
  readonly when: string;
  readonly timeZone: string;
  readonly payload: string;
  readonly coalesce: string;
  readonly overlap: string;
  readonly misfireGraceTime: string;
  readonly maxJitter: string;
  readonly priority: string;
}

const EMPTY: Draft = {
  id: "",
  taskId: "",
  kind: "cron",
  when: "",
  timeZone: MY_ZONE,
  payload: "",
  coalesce: "latest",
  overlap: "",
  misfireGraceTime: "",
  maxJitter: "",
  priority: "",
};

/** The trigger of a draft, as the routes take it. @throws {SyntaxError} for JSON that is none */
function triggerOf({ kind, when, timeZone }: Draft): unknown {
  if (kind === "cron") return { cron: when.trim(), timeZone };
  if (kind === "every") return { every: when.trim() };
  if (kind === "at") return /Z|[+-]\d\d:\d\d$/.test(when) ? { at: when } : { at: when, timeZone };
  if (kind === "json") return JSON.parse(when);
  const [period = "", time = "09:00"] = when.split(" ");
  const [hour, minute] = time.split(":").map(Number);
  return { type: "calendarInterval", version: 1, [period]: 1, hour, minute, timeZone };
}

export function AddPage() {
  const { query } = usePlace();
  const { data: tasks } = useData("tasks", api.getTasks);
  if (tasks === undefined) return <Loading rows={8} />;
  const [first, ...others] = tasks.items;
  const only = first !== undefined && others.length === 0 ? first.id : "";
  const copied: Partial<Draft> = {
    ...(query.taskId ? { taskId: query.taskId } : {}),
    ...(query.cron ? { when: query.cron } : {}),
  };
  return <Form draft={{ ...EMPTY, taskId: only, ...copied }} tasks={tasks.items} stored={null} />;
}

export function EditPage({ id }: { id: string }) {
  const { data: schedule, error } = useData(`edit ${id}`, (signal) => api.getSchedule(id, signal));
  const { data: tasks } = useData("tasks", api.getTasks);
  // What somebody has typed stays, whatever events come in.
  const first = useRef<api.Schedule | undefined>(undefined);
  first.current ??= schedule;
  if (error !== null) return <Failure error={error} />;
  if (first.current === undefined || tasks === undefined) return <Loading rows={8} />;
  return <Form draft={draftOf(first.current)} tasks={tasks.items} stored={first.current} />;
}

function draftOf(schedule: api.Schedule): Draft {
  const { id, taskId, trigger, payload, coalesce, overlap, misfireGraceTime, maxJitter, priority } = schedule;
  const cron = trigger as unknown as Readonly<Record<string, unknown>>;
  const plainCron =
    cron.type === "cron" &&
    Object.keys(cron).every((name) => ["type", "version", "expression", "timeZone"].includes(name));
  const rule: Pick<Draft, "kind" | "when"> = plainCron
    ? { kind: "cron", when: String(cron.expression) }
    : { kind: "json", when: JSON.stringify(trigger, null, 2) };
  return {
    ...EMPTY,
    ...rule,
    id,
    taskId,
    timeZone: typeof cron.timeZone === "string" ? cron.timeZone : MY_ZONE,
    payload: payload === undefined ? "" : JSON.stringify(payload, null, 2),
    coalesce,
    overlap,
    misfireGraceTime: misfireGraceTime ?? "",
    maxJitter: durationMs(maxJitter) === 0 ? "" : maxJitter,
    priority: priority === 0 ? "" : String(priority),
  };
}

interface FormProps {
  readonly draft: Draft;
  readonly tasks: readonly api.Task[];
  /** The schedule that is edited; null for a new one. */
  readonly stored: api.Schedule | null;
}

function Form({ draft: first, tasks, stored }: FormProps) {
  const [draft, setDraft] = useState(first);
  const [problem, setProblem] = useState<api.Refused | null>(null);
  const settled = useSettled(draft, 150);
  const meaning = useMeaning(settled);
  const isBad = problemOf(draft) !== null || meaning.error !== null;
  const set = (patch: Partial<Draft>): void => setDraft({ ...draft, ...patch });
  const submit = async (): Promise<void> => {
    setProblem(null);
    try {
      const body = bodyOf(draft, stored);
      const isSure = stored === null || (await isConfirmed(stored, draft, meaning));
      if (!isSure) return;
      const saved =
        stored === null ? await api.addSchedule(body) : await api.updateSchedule(stored.id, body, stored.revision);
      refresh();
      go(hrefOf("schedules", saved.id));
    } catch (error) {
      if (!(error instanceof api.Refused)) await attempt(() => Promise.reject(error));
      else setProblem(error);
    }
  };
  const title = stored === null ? "Add schedule" : `Edit ${stored.id}`;
  return (
    <>
      <div class="crumbs">
        <a href={hrefOf("schedules")}>Schedules</a> /{" "}
        {stored === null ? null : (
          <>
            <a href={hrefOf("schedules", stored.id)}>{stored.id}</a> /
          </>
        )}
      </div>
      <h1 class="spaced">{title}</h1>
      <div class="grid two wide-left">
        <form
          class="panel form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <TaskField draft={draft} set={set} tasks={tasks} isFixed={stored !== null} problem={problem} />
          <WhenField draft={draft} set={set} meaning={meaning} />
          <ZoneField draft={draft} set={set} />
          <div class="field">
            <label for="id">Id</label>
            <input
              id="id"
              class="input mono-s"
              value={draft.id}
              readOnly={stored !== null}
              placeholder="such as report/weekly"
              onInput={(event) => set({ id: event.currentTarget.value })}
              aria-describedby="id-hint"
            />
            <div id="id-hint" class="hint">
              {stored === null
                ? "Its name in links, logs and code. Left empty, it gets a random one."
                : "An id stays as it is."}
            </div>
            <Issue problem={problem} path="id" />
          </div>
          <div class="field">
            <label for="payload">Payload</label>
            <textarea
              id="payload"
              class="input mono-s"
              rows={4}
              value={draft.payload}
              placeholder='{ "team": "finance" }'
              onInput={(event) => set({ payload: event.currentTarget.value })}
              aria-describedby="payload-hint"
            />
            <div id="payload-hint" class={payloadProblem(draft.payload) === null ? "hint" : "problem"}>
              {payloadProblem(draft.payload) ??
                "What each run gets as its input, as JSON. It is checked against the task's schema when it is saved."}
            </div>
            <Issue problem={problem} path="payload" />
          </div>
          <More draft={draft} set={set} problem={problem} />
          {problem === null ? null : (
            <div class="problem" role="alert">
              {problem.status === 412
                ? "Somebody else has changed it meanwhile. Open it again to see what it is now."
                : capital(problem.message)}
            </div>
          )}
          <div class="actions">
            <Button kind="primary" type="submit" isWrite isOff={isBad || draft.taskId === "" || draft.when === ""}>
              {stored === null ? "Add schedule" : "Save"}
            </Button>
            <CopyButton text={() => codeOf(bodyOf(draft, stored), stored?.id ?? null)}>Copy as code</CopyButton>
            <CopyButton text={() => curlOf(bodyOf(draft, stored), stored?.id ?? null)}>Copy as curl</CopyButton>
            <span class="grow" />
            <a class="btn ghost" href={stored === null ? hrefOf("schedules") : hrefOf("schedules", stored.id)}>
              Back
            </a>
          </div>
        </form>
        <div class="grid">
          <MeaningPanel meaning={meaning} draft={settled} set={set} />
          {stored === null ? null : <DiffPanel stored={stored} meaning={meaning} />}
        </div>
      </div>
    </>
  );
}

interface FieldProps {
  readonly draft: Draft;
  readonly set: (patch: Partial<Draft>) => void;
}

function TaskField({
  draft,
  set,
  tasks,
  isFixed,
  problem,
}: FieldProps & { tasks: readonly api.Task[]; isFixed: boolean; problem: api.Refused | null }) {
  const { data: health } = useData("health", api.getHealth);
  const by = (health?.schedulers ?? []).filter(
    ({ tasks: own, role }) => role !== "scheduler" && own.includes(draft.taskId),
  );
  const isKnown = tasks.some(({ id }) => id === draft.taskId);
  return (
    <div class="field">
      <label for="task">Task</label>
      <input
        id="task"
        class="input"
        list="tasks"
        value={draft.taskId}
        readOnly={isFixed}
        autocomplete="off"
        placeholder="what is to run"
        onInput={(event) => set({ taskId: event.currentTarget.value })}
        aria-describedby="task-hint"
      />
      <datalist id="tasks">
        {tasks.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <div id="task-hint" class="hint">
        {draft.taskId === "" ? (
          tasks.length === 0 ? (
            "No program has registered a task yet."
          ) : (
            `${tasks.length === 1 ? "One task is" : `${tasks.length} tasks are`} registered: ${tasks
              .slice(0, 6)
              .map(({ id }) => id)
              .join(", ")}${tasks.length > 6 ? " …" : ""}`
          )
        ) : !isKnown ? (
          <span class="miss">No program has registered a task of this name.</span>
        ) : by.length > 0 ? (
          <span class="good">Handled by {by.map(({ identity }) => identity).join(", ")}.</span>
        ) : (
          <span class="miss">No live scheduler has a handler for it: runs will wait until one comes.</span>
        )}
      </div>
      <Issue problem={problem} path="taskId" />
    </div>
  );
}

const EXAMPLES: Readonly<Record<Kind, readonly (readonly [string, string])[]>> = {
  cron: [
    ["*/15 * * * *", "every 15 minutes"],
    ["0 9 * * *", "every day at 9"],
    ["0 9 * * mon-fri", "weekdays at 9"],
    ["0 8 1 * *", "the first of the month"],
    ["0 18 LW * *", "the last weekday of the month"],
  ],
  every: [
    ["30s", "30 seconds"],
    ["5m", "5 minutes"],
    ["1h", "an hour"],
    ["1d", "24 hours"],
  ],
  at: [],
  calendar: [
    ["days 09:00", "every day"],
    ["weeks 09:00", "every week"],
    ["months 09:00", "every month"],
    ["years 09:00", "every year"],
  ],
  json: [
    [
      '{ "type": "cron", "version": 1, "expression": "0 9 * * *", "timeZone": "Europe/Berlin", "dst": "auto" }',
      "an example",
    ],
  ],
};

function WhenField({ draft, set, meaning }: FieldProps & { meaning: Meaning }) {
  const { kind, when } = draft;
  const bad = problemOf(draft) ?? serverProblem(meaning, draft);
  return (
    <div class="field">
      <label for="when">When</label>
      <Chips
        label="Kind of rule"
        value={kind}
        options={KINDS}
        onChange={(one) => set({ kind: one as Kind, when: "" })}
      />
      <WhenInput kind={kind} when={when} isBad={bad !== null} set={set} />
      <div id="when-hint" aria-live="polite">
        {bad !== null ? (
          <Caret bad={bad} when={when} set={set} />
        ) : (
          <div class="hint">{kind === "cron" ? fieldWords(when) : ""}</div>
        )}
      </div>
      {when !== "" && bad === null ? null : (
        <div class="examples">
          {EXAMPLES[kind].map(([text, words]) => (
            <button key={text} type="button" class="link" onClick={() => set({ when: text })}>
              {words}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function WhenInput({ kind, when, isBad, set }: { kind: Kind; when: string; isBad: boolean; set: FieldProps["set"] }) {
  const common = {
    id: "when",
    "aria-describedby": "when-hint",
    "aria-invalid": isBad ? ("true" as const) : undefined,
    class: `input mono ${isBad ? "bad" : ""}`,
    autocomplete: "off",
    spellcheck: false,
  };
  const onInput = (event: { currentTarget: { value: string } }): void => set({ when: event.currentTarget.value });
  if (kind === "json")
    return (
      <textarea {...common} class={`input mono-s ${isBad ? "bad" : ""}`} rows={6} value={when} onInput={onInput} />
    );
  if (kind === "at") return <input {...common} type="datetime-local" step="1" value={when} onInput={onInput} />;
  if (kind === "calendar") {
    const [period = "days", time = "09:00"] = when === "" ? [] : when.split(" ");
    return (
      <div class="pair">
        <select
          id="when"
          class="input"
          value={period}
          onChange={(event) => set({ when: `${event.currentTarget.value} ${time}` })}
          aria-describedby="when-hint"
        >
          <option value="days">every day</option>
          <option value="weeks">every week</option>
          <option value="months">every month</option>
          <option value="years">every year</option>
        </select>
        <input
          class="input"
          type="time"
          value={time}
          aria-label="Time of day"
          onInput={(event) => set({ when: `${period} ${event.currentTarget.value}` })}
        />
      </div>
    );
  }
  return (
    <input
      {...common}
      value={when}
      placeholder={kind === "cron" ? "minute hour day month weekday" : "5m"}
      onInput={onInput}
    />
  );
}

/** Points at what is wrong, below the very characters, and offers what was likely meant. */
function Caret({ bad, when, set }: { bad: Problem; when: string; set: FieldProps["set"] }) {
  const { position, element, suggestion, message } = bad;
  const hasPlace = element !== "" && position >= 0 && position < when.length;
  return (
    <>
      {hasPlace ? (
        <div class="caret" aria-hidden="true">
          {" ".repeat(position)}
          {"^".repeat(Math.max(1, Math.min(element.length, 40)))}
        </div>
      ) : null}
      <div class="problem">
        {capital(message)}
        {suggestion === null || !hasPlace ? null : (
          <>
            {" "}
            <button
              type="button"
              class="link"
              onClick={() =>
                set({ when: when.slice(0, position) + suggestion + when.slice(position + element.length) })
              }
            >
              Use {suggestion}
            </button>
          </>
        )}
      </div>
    </>
  );
}

function problemOf({ kind, when }: Draft): Problem | null {
  if (when === "" || kind !== "json") return null;
  try {
    JSON.parse(when);
    return null;
  } catch (error) {
    return { message: `this is no JSON: ${String(error)}`, position: -1, element: "", suggestion: null };
  }
}

function serverProblem({ error }: Meaning, { when }: Draft): Problem | null {
  if (error === null || when === "") return null;
  const { position = -1, element = "", suggestion = null } = error.facts as Partial<Problem>;
  const [issue] = error.issues;
  // The caret says where, and the button what was meant.
  const said = error.message.replace(/ \(position \d+ in ".*"\)|; did you mean .*/gs, "").replace("dayOf", "day of ");
  return { message: issue === undefined ? said : issue.message, position, element, suggestion };
}

function ZoneField({ draft, set }: FieldProps) {
  const isOff = draft.kind === "every" || draft.kind === "json";
  return (
    <div class="field">
      <label for="zone">Time zone</label>
      <input
        id="zone"
        class="input"
        list="zones"
        value={isOff ? "" : draft.timeZone}
        disabled={isOff}
        autocomplete="off"
        onInput={(event) => set({ timeZone: event.currentTarget.value })}
        aria-describedby="zone-hint"
      />
      <datalist id="zones">
        {zoneNames().map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <div id="zone-hint" class="hint">
        {isOff
          ? draft.kind === "every"
            ? "A period is the same everywhere."
            : "The JSON names it."
          : "The times above are read on a clock of this place, its summer time included."}
      </div>
    </div>
  );
}

function More({ draft, set, problem }: FieldProps & { problem: api.Refused | null }) {
  return (
    <details
      class="field"
      open={["misfireGraceTime", "maxJitter", "priority"].some((path) =>
        problem?.issues.some((issue) => issue.path === path),
      )}
    >
      <summary>Catch-up, lateness, jitter, overlap, priority</summary>
      <div class="field">
        <label for="coalesce">If times were missed</label>
        <select
          id="coalesce"
          class="input"
          value={draft.coalesce}
          onChange={(event) => set({ coalesce: event.currentTarget.value })}
        >
          <option value="latest">run once, for the latest of them</option>
          <option value="earliest">run once, for the earliest of them</option>
          <option value="all">run once for each of them</option>
        </select>
      </div>
      <div class="field">
        <label for="overlap">While an earlier run is unfinished</label>
        <select
          id="overlap"
          class="input"
          value={draft.overlap}
          onChange={(event) => set({ overlap: event.currentTarget.value })}
        >
          <option value="">as the task says</option>
          <option value="queue">the next one waits for its turn</option>
          <option value="skip">leave the next one out</option>
          <option value="replaceQueued">only the newest one waits</option>
          <option value="cancelRunning">cancel the earlier one</option>
        </select>
      </div>
      {(
        [
          ["misfireGraceTime", "May start late by", "any time, unless you give such as 10m"],
          ["maxJitter", "Random delay up to", "none, unless you give such as 30s"],
          ["priority", "Priority", "0; higher ones run first"],
        ] as const
      ).map(([name, label, hint]) => (
        <div class="field" key={name}>
          <label for={name}>{label}</label>
          <input
            id={name}
            class="input"
            value={draft[name]}
            placeholder={hint}
            onInput={(event) => set({ [name]: event.currentTarget.value })}
          />
          <Issue problem={problem} path={name} />
        </div>
      ))}
    </details>
  );
}

function Issue({ problem, path }: { problem: api.Refused | null; path: string }) {
  const issue = problem?.issues.find((one) => one.path === path || one.path.startsWith(`${path}.`));
  return issue === undefined ? null : <div class="problem">{capital(issue.message)}</div>;
}

function payloadProblem(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is no JSON: ${String(error).replace("SyntaxError: ", "")}`;
  }
}

/** @throws {SyntaxError} for JSON that is none */
function bodyOf(draft: Draft, stored: api.Schedule | null): Readonly<Record<string, unknown>> {
  const { id, taskId, payload, coalesce, overlap, misfireGraceTime, maxJitter, priority } = draft;
  const isRuleKept =
    stored !== null &&
    JSON.stringify([draft.kind, draft.when, draft.timeZone]) ===
      JSON.stringify([draftOf(stored).kind, draftOf(stored).when, draftOf(stored).timeZone]);
  return {
    ...(stored === null ? { ...(id.trim() === "" ? {} : { id: id.trim() }), taskId } : {}),
    ...(isRuleKept ? {} : { trigger: triggerOf(draft) }),
    ...(payload.trim() === ""
      ? stored !== null && stored.payload !== undefined
        ? { payload: null }
        : {}
      : { payload: JSON.parse(payload) }),
    ...(coalesce === "latest" && stored === null ? {} : { coalesce }),
    ...(overlap === "" ? {} : { overlap }),
    ...(misfireGraceTime === "" ? (stored === null ? {} : { misfireGraceTime: null }) : { misfireGraceTime }),
    ...(maxJitter === "" ? (stored === null ? {} : { maxJitter: "PT0S" }) : { maxJitter }),
    ...(priority === "" ? (stored === null ? {} : { priority: 0 }) : { priority: Number(priority) }),
  };
}

/** The value, once it has not changed for a time. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

interface Meaning {
  readonly preview: api.Preview | undefined;
  readonly error: api.Refused | null;
  readonly isBroken: boolean;
}

function useMeaning(draft: Draft): Meaning {
  const isBroken = problemOf(draft) !== null || draft.when === "";
  let trigger: unknown = null;
  if (!isBroken) trigger = triggerOf(draft);
  const key = isBroken ? null : `preview ${JSON.stringify(trigger)}`;
  const { data, error } = useData(key, (signal) => api.previewTrigger(trigger, 100, signal), true);
  return { preview: isBroken || error !== null ? undefined : data, error: isBroken ? null : error, isBroken };
}

function MeaningPanel({
  meaning: { preview, error, isBroken },
  draft,
  set,
}: {
  meaning: Meaning;
  draft: Draft;
  set: FieldProps["set"];
}) {
  const now = useNow();
  if (preview === undefined) {
    const words =
      error !== null
        ? "Nothing to show until the rule can be read."
        : isBroken
          ? draft.when === ""
            ? "Write when it is to run: what it means appears here while you type."
            : "Nothing to show until the rule can be read."
          : "Looking…";
    return (
      <Panel title="What this means">
        <p class="calm-text center">{words}</p>
      </Panel>
    );
  }
  const { items, timeZone, description, skipped } = preview;
  const near = items.slice(0, 6);
  const far = items
    .slice(6)
    .filter(({ clockChange }) => clockChange !== null)
    .slice(0, 3);
  const first = items[0] === undefined ? null : Date.parse(items[0].at);
  return (
    <Panel title="What this means">
      <div class="meaning" aria-live="polite">
        <div class="big">{description}</div>
        <div class="dim">
          {first === null
            ? "It never fires."
            : `The first is ${relativeText(first, now)}. ${oftenWords(items.map(({ at }) => Date.parse(at)))}`}
        </div>
      </div>
      <table class="t-fires">
        <thead>
          <tr>
            <th>Its zone ({timeZone})</th>
            <th>{timeZone === MY_ZONE ? "" : `Yours (${MY_ZONE})`}</th>
            <th>
              <span class="visually-hidden">Clock changes</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {[...near, ...far].map(({ at, clockChange }, index) => {
            const ms = Date.parse(at);
            const change = clockChangeWords(clockChange);
            return (
              <tr key={at} class={index === near.length ? "later" : ""}>
                <td class="nowrap">
                  {dayText(ms, timeZone, now)} {clockText(ms, timeZone)}
                </td>
                <td class="dim nowrap">{timeZone === MY_ZONE ? "" : clockText(ms, MY_ZONE)}</td>
                <td class="r">{change === null ? null : <span class="badge dst">{change}</span>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {skipped.length === 0 ? null : (
        <p class="calm-text">
          <span class="badge dst">left out</span>{" "}
          {skipped
            .slice(0, 3)
            .map((text) => text.replace("T", " "))
            .join(", ")}{" "}
          does not exist: clocks go forward.
        </p>
      )}
      <Collision first={first} draft={draft} set={set} />
    </Panel>
  );
}

/** `About 52 times a year.` @param times the next fire times */
function oftenWords(times: readonly number[]): string {
  const [first] = times;
  const last = times.at(-1);
  if (first === undefined || last === undefined || times.length < 2) return times.length === 1 ? "It fires once." : "";
  const each = (last - first) / (times.length - 1);
  for (const [unit, ms] of [
    ["minute", 60_000],
    ["hour", 3_600_000],
    ["day", 86_400_000],
    ["week", 604_800_000],
  ] as const) {
    if (Math.abs(each / ms - 1) < 0.02) return `Once ${unit === "hour" ? "an" : "a"} ${unit}.`;
    if (each < ms) return `About ${Math.round(ms / each)} times ${unit === "hour" ? "an" : "a"} ${unit}.`;
  }
  const count = Math.round(31_557_600_000 / each);
  return count > 1 ? `About ${count} times a year.` : "About once a year, or less often.";
}

/** Whether many others fire at the same minute, and a minute at which fewer do. */
function Collision({ first, draft, set }: { first: number | null; draft: Draft; set: FieldProps["set"] }) {
  const { data } = useData(first === null ? null : `around ${Math.floor(first / 60_000)}`, (signal) =>
    api.getSchedules({ state: "active", sort: "nextFireTime", limit: 500 }, signal),
  );
  if (first === null || data === undefined) return null;
  const minuteOf = (ms: number): number => Math.floor(ms / 60_000);
  const counts = new Map<number, number>();
  for (const { nextFireTime } of data.items)
    if (nextFireTime !== null)
      counts.set(minuteOf(Date.parse(nextFireTime)), (counts.get(minuteOf(Date.parse(nextFireTime))) ?? 0) + 1);
  const others = counts.get(minuteOf(first)) ?? 0;
  const words = draft.when.trim().split(/\s+/);
  const minute = draft.kind === "cron" && words.length === 5 && /^\d+$/.test(words[0] ?? "") ? Number(words[0]) : null;
  if (others < 3 || minute === null) return null;
  const free = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 17]
    .map((step) => (minute + step) % 60)
    .find((one) => (counts.get(minuteOf(first) + ((one - minute + 60) % 60)) ?? 0) === 0);
  return (
    <p class="calm-text">
      At the first of these times, {others} other schedules fire in the same minute.{" "}
      {free === undefined ? null : (
        <button type="button" class="link" onClick={() => set({ when: [String(free), ...words.slice(1)].join(" ") })}>
          Use minute {String(free).padStart(2, "0")}, at which it would be alone
        </button>
      )}
    </p>
  );
}

/** The next fire times, before and after a change. */
function DiffPanel({ stored, meaning }: { stored: api.Schedule; meaning: Meaning }) {
  const now = useNow();
  const { data } = useData(`preview ${stored.id} ${stored.revision}`, (signal) =>
    api.previewSchedule(stored.id, 100, signal),
  );
  const mode = useZoneMode();
  if (data === undefined || meaning.preview === undefined) return null;
  const zone = zoneOf(mode, meaning.preview.timeZone);
  const before = data.items.slice(0, 6).map(({ at }) => at);
  const after = meaning.preview.items.slice(0, 6).map(({ at }) => at);
  const isSame = before.join() === after.join();
  const all = [...new Set([...before, ...after])].sort();
  return (
    <Panel title="What this changes" label="What this changes">
      {isSame ? (
        <p class="calm-text">The next fire times stay as they are.</p>
      ) : (
        <ul class="diff">
          {all.map((at) => {
            const [isOld, isNew] = [before.includes(at), after.includes(at)];
            return (
              <li key={at} class={isOld && isNew ? "" : isNew ? "plus" : "minus"}>
                <span class="sign">{isOld && isNew ? " " : isNew ? "+" : "−"}</span>
                {whenText(Date.parse(at), zone, now)}
                <span class="visually-hidden">{isOld && isNew ? " stays" : isNew ? " comes" : " goes"}</span>
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

/** A change of the rule is told in words before it is made. */
async function isConfirmed(stored: api.Schedule, draft: Draft, { preview }: Meaning): Promise<boolean> {
  const old = draftOf(stored);
  if (preview === undefined || (old.when === draft.when && old.timeZone === draft.timeZone)) return true;
  const before = await api.previewSchedule(stored.id, 1);
  return ask(
    "Change the rule?",
    `From now on: ${preview.description}. It was: ${before.description}.`,
    "Change the rule",
  );
}
