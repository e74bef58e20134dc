import { useRef, useState } from "preact/hooks";
import * as api from "../api.ts";
import { codeOf, curlOf } from "../copy.ts";
import { hrefOf } from "../hash.ts";
import {
  attempt,
  Button,
  Calm,
  Chips,
  CopyButton,
  Crumbs,
  capital,
  Failure,
  Field,
  Loading,
  many,
  options,
  Panel,
} from "../parts/basics.tsx";
import { FireTimes } from "../parts/fire-times.tsx";
import { fieldWords, placelessOf } from "../rule.ts";
import { ask, go, refresh, useNow, usePlace, useZoneMode } from "../store.ts";
import { DAY_MS, durationMs, MINUTE_MS, MY_ZONE, relativeText, whenText, zoneNames, zoneOf } from "../time.ts";
import { useData, useSettled } from "../use-data.ts";
import { COALESCE, OVERLAP } from "../verdicts.ts";

/** What is wrong with what was typed, and where; the position is below 0 where nobody can point at it. */
interface FormProblem {
  readonly message: string;
  readonly position: number;
  readonly element: string;
  readonly suggestion: string | null;
}

type RuleKind = "cron" | "every" | "at" | "calendar" | "json";
const KINDS: Readonly<Record<RuleKind, string>> = {
  cron: "Cron",
  every: "Every…",
  at: "Once",
  calendar: "Calendar",
  json: "JSON",
};

/** What the form holds, as texts, the way they were typed. */
export interface Draft {
  readonly id: string;
  readonly taskId: string;
  readonly kind: RuleKind;
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
  const { data: tasks } = useData("tasks undefined", api.getTasks);
  if (tasks === undefined) return <Loading rows={8} />;
  const [first, ...others] = tasks.items;
  const only = first !== undefined && others.length === 0 ? first.id : "";
  const { taskId = only, cron: when = "" } = query;
  return <Form draft={{ ...EMPTY, taskId, when }} tasks={tasks.items} stored={null} />;
}

export function EditPage({ id }: { id: string }) {
  const { data: schedule, error } = useData(`edit ${id}`, (signal) => api.getSchedule(id, signal));
  const { data: tasks } = useData("tasks undefined", api.getTasks);
  // What somebody has typed stays, whatever events come in.
  const first = useRef<api.ShownSchedule | undefined>(undefined);
  first.current ??= schedule;
  if (error !== null) return <Failure error={error} />;
  if (first.current === undefined || tasks === undefined) return <Loading rows={8} />;
  return <Form draft={draftOf(first.current)} tasks={tasks.items} stored={first.current} />;
}

function draftOf(schedule: api.ShownSchedule): Draft {
  const { id, taskId, trigger, payload, coalesce, overlap, misfireGraceTime, maxJitter, priority } = schedule;
  const cron = trigger as unknown as Readonly<Record<string, unknown>>;
  const isPlain = Object.keys(cron).every((name) => ["type", "version", "expression", "timeZone"].includes(name));
  const isCron = cron.type === "cron" && isPlain;
  return {
    id,
    taskId,
    kind: isCron ? "cron" : "json",
    when: isCron ? String(cron.expression) : JSON.stringify(trigger, null, 2),
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
  readonly tasks: readonly api.ShownTask[];
  /** The schedule that is edited; null for a new one. */
  readonly stored: api.ShownSchedule | null;
}

function Form({ draft: first, tasks, stored }: FormProps) {
  const [draft, setDraft] = useState(first);
  const [problem, setProblem] = useState<api.Refused | null>(null);
  const settled = useSettled(draft);
  const meaning = useMeaning(settled);
  const set = (patch: Partial<Draft>): void => setDraft({ ...draft, ...patch });
  const lacks =
    draft.taskId === ""
      ? "a task"
      : draft.when === ""
        ? "when it is to run"
        : jsonProblem(draft.payload) && "a payload that is JSON";
  const isBad = lacks !== null || jsonProblemOf(draft) !== null || meaning.error !== null;
  const submit = async (): Promise<void> => {
    setProblem(null);
    try {
      const body = bodyOf(draft, stored);
      if (stored !== null && !(await isConfirmed(stored, draft, meaning))) return;
      const saved =
        stored === null ? await api.addSchedule(body) : await api.updateSchedule(stored.id, body, stored.revision);
      refresh();
      go(hrefOf("schedules", saved.id));
    } catch (error) {
      if (error instanceof api.Refused) setProblem(error);
      else await attempt(() => Promise.reject(error));
    }
  };
  const issueOf = (path: string): string | null => {
    const issue = problem?.issues.find((one) => one.path === path || one.path.startsWith(`${path}.`));
    return issue === undefined ? null : capital(issue.message);
  };
  const copy = (text: typeof codeOf) => () => text(bodyOf(draft, stored), stored?.id ?? null);
  return (
    <>
      <Crumbs of={[["Schedules", hrefOf("schedules")], stored && [stored.id, hrefOf("schedules", stored.id)]]} />
      <h1 class="spaced">{stored === null ? "Add schedule" : `Edit ${stored.id}`}</h1>
      <div class="grid two">
        <form
          class="panel form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <TaskField draft={draft} set={set} tasks={tasks} isFixed={stored !== null} problem={issueOf("taskId")} />
          <WhenField draft={draft} set={set} meaning={meaning} />
          <ZoneField draft={draft} set={set} />
          <Field
            id="id"
            label="Id"
            class="input code"
            value={draft.id}
            readOnly={stored !== null}
            placeholder="such as report/weekly"
            set={(id) => set({ id })}
            hint={
              stored === null
                ? "Its name in links, logs and code. Left empty, it gets a random one."
                : "An id stays as it is."
            }
            problem={issueOf("id")}
          />
          <Field
            tag="textarea"
            rows={4}
            id="payload"
            label="Payload"
            value={draft.payload}
            placeholder='{ "team": "finance" }'
            set={(payload) => set({ payload })}
            hint="What each run gets as its input, as JSON. It is checked against the task's schema when it is saved."
            problem={jsonProblem(draft.payload) ?? issueOf("payload")}
          />
          <More draft={draft} set={set} issueOf={issueOf} />
          {problem && (
            <p class="problem" role="alert">
              {problem.status === 412
                ? "Somebody else has changed it meanwhile. Open it again to see what it is now."
                : capital(problem.message)}
            </p>
          )}
          <div class="actions">
            <Button kind="primary" type="submit" isWrite isOff={isBad}>
              {stored === null ? "Add schedule" : "Save"}
            </Button>
            <CopyButton text={copy(codeOf)}>Copy as code</CopyButton>
            <CopyButton text={copy(curlOf)}>Copy as curl</CopyButton>
            <span class="grow hint">{lacks && `It lacks ${lacks}.`}</span>
            <a class="btn ghost" href={hrefOf("schedules", stored?.id)}>
              Back
            </a>
          </div>
        </form>
        <div class="grid">
          <MeaningPanel meaning={meaning} draft={settled} set={set} />
          {stored && <DiffPanel stored={stored} meaning={meaning} />}
        </div>
      </div>
    </>
  );
}

interface DraftProps {
  readonly draft: Draft;
  readonly set: (patch: Partial<Draft>) => void;
}

interface TaskProps extends DraftProps {
  readonly tasks: readonly api.ShownTask[];
  readonly isFixed: boolean;
  readonly problem: string | null;
}

function TaskField({ draft: { taskId }, set, tasks, isFixed, problem }: TaskProps) {
  const { data: health } = useData("health", api.getHealth);
  const by = api.handlersOf(taskId, health);
  const names = tasks.slice(0, 6).map(({ id }) => id);
  const hint =
    tasks.length === 0 ? (
      "No program has registered a task yet."
    ) : taskId === "" ? (
      <>
        {many(tasks.length, "task")} {tasks.length === 1 ? "is" : "are"} registered:{" "}
        <span class="examples">
          {names.map((name) => (
            <Pick key={name} words={name} pick={() => set({ taskId: name })} />
          ))}
        </span>
      </>
    ) : !tasks.some(({ id }) => id === taskId) ? (
      <span class="miss">No program has registered a task of this name.</span>
    ) : by.length > 0 ? (
      <span class="good">Handled by {by.map(({ identity }) => identity).join(", ")}.</span>
    ) : (
      <span class="miss">No live scheduler has a handler for it: runs will wait until one comes.</span>
    );
  return (
    <>
      <Field
        id="task"
        label="Task"
        list="tasks"
        value={taskId}
        readOnly={isFixed}
        autocomplete="off"
        placeholder="what is to run"
        set={(one) => set({ taskId: one })}
        hint={hint}
        problem={problem}
      />
      <datalist id="tasks">{options(Object.fromEntries(tasks.map(({ id }) => [id, ""])))}</datalist>
    </>
  );
}

function Pick({ words, pick }: { words: string; pick: () => void }) {
  return (
    <button type="button" class="link" onClick={pick}>
      {words}
    </button>
  );
}

/** What a press fills in, by kind: in words, and as it is written. */
const EXAMPLES: Readonly<Record<RuleKind, Readonly<Record<string, string>>>> = {
  cron: {
    "every 15 minutes": "*/15 * * * *",
    "every day at 9": "0 9 * * *",
    "weekdays at 9": "0 9 * * mon-fri",
    "the first of the month": "0 8 1 * *",
    "the last weekday of the month": "0 18 LW * *",
  },
  every: { "30 seconds": "30s", "5 minutes": "5m", "an hour": "1h", "24 hours": "1d" },
  at: {},
  calendar: {
    "every day": "days 09:00",
    "every week": "weeks 09:00",
    "every month": "months 09:00",
    "every year": "years 09:00",
  },
  json: {
    "an example":
      '{ "type": "cron", "version": 1, "expression": "0 9 * * *", "timeZone": "Europe/Berlin", "dst": "auto" }',
  },
};

function WhenField({ draft, set, meaning }: DraftProps & { meaning: Meaning }) {
  const { kind, when } = draft;
  const bad = jsonProblemOf(draft) ?? serverProblem(meaning, draft);
  const common = {
    id: "when",
    value: when,
    "aria-describedby": "when-hint",
    "aria-invalid": bad === null ? undefined : ("true" as const),
    autocomplete: "off",
    spellcheck: false,
    onInput: (event: { currentTarget: { value: string } }) => set({ when: event.currentTarget.value }),
  };
  const [period = "days", time = "09:00"] = when.split(" ").filter((word) => word !== "");
  return (
    <div class="field">
      <label for="when">When</label>
      <Chips
        label="Kind of rule"
        value={kind}
        options={Object.entries(KINDS)}
        onChange={(one) => set({ kind: one as RuleKind, when: "" })}
      />
      {kind === "json" ? (
        <textarea {...common} class="input" rows={6} />
      ) : kind === "at" ? (
        <input {...common} class="input" type="datetime-local" step="1" />
      ) : kind === "calendar" ? (
        <div class="pair">
          <select
            id="when"
            class="input"
            value={period}
            onChange={(event) => set({ when: `${event.currentTarget.value} ${time}` })}
          >
            {options({ days: "every day", weeks: "every week", months: "every month", years: "every year" })}
          </select>
          <input
            class="input"
            type="time"
            value={time}
            aria-label="Time of day"
            onInput={(event) => set({ when: `${period} ${event.currentTarget.value}` })}
          />
        </div>
      ) : (
        <input {...common} class="input big" placeholder={kind === "cron" ? "minute hour day month weekday" : "5m"} />
      )}
      <div id="when-hint" aria-live="polite">
        {bad !== null ? (
          <Caret bad={bad} when={when} set={set} />
        ) : (
          <div class="hint">{kind === "cron" && fieldWords(when)}</div>
        )}
      </div>
      {(when === "" || bad !== null) && (
        <div class="examples">
          {Object.entries(EXAMPLES[kind]).map(([words, text]) => (
            <Pick key={words} words={words} pick={() => set({ when: text })} />
          ))}
        </div>
      )}
    </div>
  );
}

/** Points at what is wrong, below the very characters, and offers what was likely meant. */
function Caret({ bad, when, set }: { bad: FormProblem; when: string; set: DraftProps["set"] }) {
  const { position, element, suggestion, message } = bad;
  const hasPlace = element !== "" && position >= 0 && position < when.length;
  const fix = () => set({ when: when.slice(0, position) + suggestion + when.slice(position + element.length) });
  return (
    <>
      {hasPlace && (
        <div class="caret" aria-hidden="true">
          {" ".repeat(position)}
          {"^".repeat(Math.max(1, Math.min(element.length, 40)))}
        </div>
      )}
      <div class="problem">
        {capital(message)} {suggestion !== null && hasPlace && <Pick words={`Use ${suggestion}`} pick={fix} />}
      </div>
    </>
  );
}

/** What is wrong with text that is to be JSON; null for nothing. */
function jsonProblem(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is no JSON: ${String(error).replace("SyntaxError: ", "")}`;
  }
}

function jsonProblemOf({ kind, when }: Draft): FormProblem | null {
  const message = kind === "json" ? jsonProblem(when) : null;
  return message === null ? null : { message, position: -1, element: "", suggestion: null };
}

function serverProblem({ error }: Meaning, { when }: Draft): FormProblem | null {
  if (error === null || when === "") return null;
  const { position = -1, element = "", suggestion = null } = error.facts as Partial<FormProblem>;
  // The button says what was meant.
  const said = placelessOf(error).replace(/; did you mean .*/s, "");
  return { message: error.issues[0]?.message ?? said, position, element, suggestion };
}

function ZoneField({ draft: { kind, timeZone }, set }: DraftProps) {
  const hints: Readonly<Record<string, string>> = {
    every: "A period is the same everywhere.",
    json: "The JSON names it.",
  };
  const isOff = kind in hints;
  return (
    <>
      <Field
        id="zone"
        label="Time zone"
        list="zones"
        value={isOff ? "" : timeZone}
        disabled={isOff}
        autocomplete="off"
        set={(zone) => set({ timeZone: zone })}
        hint={hints[kind] ?? "The times above are read on a clock of this place, its summer time included."}
      />
      <datalist id="zones">{options(Object.fromEntries(zoneNames().map((zone) => [zone, ""])))}</datalist>
    </>
  );
}

const MORE = {
  misfireGraceTime: ["May start late by", "any time, unless you give such as 10m"],
  maxJitter: ["Random delay up to", "none, unless you give such as 30s"],
  priority: ["Priority", "0; higher ones run first"],
} as const;

function More({ draft, set, issueOf }: DraftProps & { issueOf: (path: string) => string | null }) {
  const names = Object.keys(MORE) as (keyof typeof MORE)[];
  return (
    <details class="field" open={names.some((name) => issueOf(name) !== null)}>
      <summary>Catch-up, lateness, jitter, overlap, priority</summary>
      <Field
        tag="select"
        id="coalesce"
        label="If times were missed"
        value={draft.coalesce}
        set={(coalesce) => set({ coalesce })}
      >
        {options(COALESCE)}
      </Field>
      <Field
        tag="select"
        id="overlap"
        label="While an earlier run is unfinished"
        value={draft.overlap}
        set={(overlap) => set({ overlap })}
      >
        {options({ "": "as the task says", ...OVERLAP })}
      </Field>
      {names.map((name) => (
        <Field
          key={name}
          id={name}
          label={MORE[name][0]}
          placeholder={MORE[name][1]}
          value={draft[name]}
          set={(value) => set({ [name]: value })}
          problem={issueOf(name)}
        />
      ))}
    </details>
  );
}

/** What is asked of the server: of a schedule that is edited, also what goes back to its default.
 *  @throws {SyntaxError} for JSON that is none */
function bodyOf(draft: Draft, stored: api.ShownSchedule | null): Readonly<Record<string, unknown>> {
  const { id, taskId, payload, coalesce, overlap, misfireGraceTime, maxJitter, priority } = draft;
  const ruleOf = ({ kind, when, timeZone }: Draft) => [kind, when, timeZone].join();
  const isRuleKept = stored !== null && ruleOf(draftOf(stored)) === ruleOf(draft);
  const given: Record<string, unknown> = {
    ...(stored === null ? { id: id.trim(), taskId } : {}),
    ...(isRuleKept ? {} : { trigger: triggerOf(draft) }),
    payload: payload.trim() === "" ? "" : JSON.parse(payload),
    ...{ coalesce, overlap, misfireGraceTime, maxJitter, priority: priority === "" ? "" : Number(priority) },
  };
  const defaults: Readonly<Record<string, unknown>> =
    stored === null
      ? {}
      : {
          ...(stored.payload === undefined ? {} : { payload: null }),
          ...{ misfireGraceTime: null, maxJitter: "PT0S", priority: 0 },
        };
  if (stored === null && coalesce === "latest") given.coalesce = "";
  return Object.fromEntries(
    Object.entries(given)
      .map(([name, value]) => [name, value === "" ? defaults[name] : value])
      .filter(([, value]) => value !== undefined),
  );
}

interface Meaning {
  readonly preview: api.ShownPreview | undefined;
  readonly error: api.Refused | null;
}

function useMeaning(draft: Draft): Meaning {
  const isBroken = jsonProblemOf(draft) !== null || draft.when === "";
  const trigger = isBroken ? null : triggerOf(draft);
  const key = isBroken ? null : `preview ${JSON.stringify(trigger)}`;
  const { data, error } = useData(key, (signal) => api.previewTrigger(trigger, 100, signal), "once");
  return { preview: error === null ? data : undefined, error: isBroken ? null : error };
}

function MeaningPanel({ meaning: { preview, error }, draft, set }: DraftProps & { meaning: Meaning }) {
  const now = useNow();
  if (preview === undefined) {
    return (
      <Panel title="What this means">
        <Calm>
          {draft.when === ""
            ? "Say when it is to run: what it means, and when it fires next, appears here while you type."
            : error !== null || jsonProblemOf(draft) !== null
              ? "Nothing to show until the rule can be read."
              : "Looking…"}
        </Calm>
      </Panel>
    );
  }
  const { items, timeZone, description } = preview;
  const times = items.map(({ at }) => Date.parse(at));
  const [first] = times;
  return (
    <Panel title="What this means">
      <div class="meaning" aria-live="polite">
        <div class="big">{description}</div>
        <div class="dim">
          {first === undefined ? "It never fires." : `The next is ${relativeText(first, now)}. ${oftenWords(times)}`}
        </div>
      </div>
      <FireTimes preview={preview} zone={timeZone} limit={6} />
      {first !== undefined && <Collision first={first} draft={draft} set={set} />}
    </Panel>
  );
}

const OFTEN = [
  ["a minute", MINUTE_MS],
  ["an hour", 60 * MINUTE_MS],
  ["a day", DAY_MS],
  ["a week", 7 * DAY_MS],
] as const;

/** `About 52 times a year.` @param times the next fire times */
function oftenWords(times: readonly number[]): string {
  if (times.length < 2) return "It fires once.";
  const each = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / (times.length - 1);
  for (const [unit, ms] of OFTEN) {
    if (Math.abs(each / ms - 1) < 0.02) return `Once ${unit}.`;
    if (each < ms) return `About ${Math.round(ms / each)} times ${unit}.`;
  }
  const count = Math.round((365.25 * DAY_MS) / each);
  return count > 1 ? `About ${count} times a year.` : "About once a year, or less often.";
}

/** Whether many others fire in the same minute, and a minute of the hour at which the fewest do. */
function Collision({ first, draft: { kind, when }, set }: DraftProps & { first: number }) {
  const from = first - (first % MINUTE_MS);
  const { data } = useData(
    `around ${from}`,
    (signal) => {
      const [start, until] = [from, from + 30 * MINUTE_MS].map((ms) => new Date(ms).toISOString()) as [string, string];
      return api.getForecast({ from: start, until, bucket: "PT1M" }, signal);
    },
    "once",
  );
  const [, minute, rest] = /^\s*(\d+)(\s+\S+\s+\S+\s+\S+\s+\S+)\s*$/.exec(kind === "cron" ? when : "") ?? [];
  if (data === undefined || minute === undefined || rest === undefined) return null;
  const counts = data.buckets.slice(0, 60 - Number(minute)).map(({ fires }) => fires);
  const [others = 0] = counts;
  const least = Math.min(...counts);
  // Where every minute has as many, none is better.
  if (others < 3 || others < 2 * least) return null;
  const free = Number(minute) + counts.indexOf(least);
  const words = least === 0 ? "it would be alone" : `${least} do`;
  return (
    <Calm>
      At the first of these times, {others} others fire in the same minute.{" "}
      <Pick
        words={`Use minute ${String(free).padStart(2, "0")}, at which ${words}`}
        pick={() => set({ when: free + rest })}
      />
    </Calm>
  );
}

/** The next fire times, before and after a change. */
function DiffPanel({ stored, meaning }: { stored: api.ShownSchedule; meaning: Meaning }) {
  const now = useNow();
  const { data } = useData(`preview ${stored.id} ${stored.revision}`, (signal) =>
    api.previewSchedule(stored.id, 100, signal),
  );
  const mode = useZoneMode();
  if (data === undefined || meaning.preview === undefined) return null;
  const zone = zoneOf(mode, meaning.preview.timeZone);
  const [before, after] = [data, meaning.preview].map(({ items }) => items.slice(0, 6).map(({ at }) => at)) as [
    string[],
    string[],
  ];
  return (
    <Panel title="What this changes">
      {before.join() === after.join() ? (
        <Calm>The next fire times stay as they are.</Calm>
      ) : (
        <ul class="diff">
          {[...new Set([...before, ...after])].sort().map((at) => {
            const [sign, kind, words] = !after.includes(at)
              ? ["−", "minus", "goes"]
              : before.includes(at)
                ? [" ", "", "stays"]
                : ["+", "plus", "comes"];
            return (
              <li key={at} class={kind}>
                {sign} {whenText(Date.parse(at), zone, now)}
                <span class="visually-hidden"> {words}</span>
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}

/** A change of the rule is told in words before it is made. */
async function isConfirmed(stored: api.ShownSchedule, draft: Draft, { preview }: Meaning): Promise<boolean> {
  const old = draftOf(stored);
  if (preview === undefined || (old.when === draft.when && old.timeZone === draft.timeZone)) return true;
  const before = await api.previewSchedule(stored.id, 1);
  return ask(
    "Change the rule?",
    `From now on: ${preview.description}. It was: ${before.description}.`,
    "Change the rule",
  );
}
