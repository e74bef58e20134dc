import { useEffect, useRef, useState } from "preact/hooks";
import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { hrefOf } from "../hash.ts";
import { attempt, Button, capital, Facts, Failure, hasEntries, Json, Loading, Panel } from "../parts/basics.tsx";
import { RunChart } from "../parts/charts.tsx";
import { Dialog } from "../parts/dialogs.tsx";
import { Glyph, Verdict } from "../parts/glyph.tsx";
import { ruleOf } from "../rule.ts";
import { go, refresh, setQuery, useCanWrite, useNow, usePlace, useZoneMode } from "../store.ts";
import { clockText, dayText, durationMs, durationText, MY_ZONE, msOf, offsetText, whenText, zoneOf } from "../time.ts";
import { useData } from "../use-data.ts";
import { clockChangeWords, isTrouble, sayingOf } from "../verdicts.ts";
import { StateGlyph } from "./schedules.tsx";

/** One schedule: how it went, what comes, and why. */
export function SchedulePage({ id }: { id: string }) {
  const { data: schedule, error } = useData(`schedule ${id}`, (signal) => api.getSchedule(id, signal));
  const { data: history } = useData(`occurrences ${id}`, (signal) => api.getOccurrences(id, { limit: 60 }, signal));
  const { query } = usePlace();
  const now = useNow();
  const mode = useZoneMode();
  if (error !== null) return <Failure error={error} />;
  if (schedule === undefined) return <Loading rows={10} />;
  const rule = ruleOf(schedule.trigger);
  const zone = zoneOf(mode, rule.timeZone);
  const items = history?.items ?? [];
  const at = query.at ?? items.find(({ verdict }) => isTrouble(verdict))?.fireTime ?? null;
  return (
    <>
      <div class="crumbs">
        <a href={hrefOf("schedules")}>Schedules</a> /
      </div>
      <Head schedule={schedule} />
      <div class="grid two wide-left">
        <div class="grid">
          <Runs id={id} items={items} zone={zone} now={now} isLoaded={history !== undefined} />
          <Ledger id={id} items={items} zone={zone} now={now} cursor={history?.cursor ?? null} />
        </div>
        <div class="grid">
          <RulePanel id={id} words={rule.words} code={rule.code} zone={zone} now={now} revision={schedule.revision} />
          <Why id={id} at={at} isAsked={query.at !== undefined} zone={zone} />
          <Settings schedule={schedule} />
          <Changes id={id} zone={zone} now={now} revision={schedule.revision} />
        </div>
      </div>
    </>
  );
}

function Head({ schedule }: { schedule: api.Schedule }) {
  const canWrite = useCanWrite();
  const { id, name, taskId, paused, nextFireTime, pausedUntil, pauseReason } = schedule;
  return (
    <div class="toolbar head">
      <h1>{name ?? id}</h1>
      <span class={`o ${paused ? "paused" : nextFireTime === null ? "cancelled" : "success"}`}>
        <StateGlyph schedule={schedule} />
        {paused ? "paused" : nextFireTime === null ? "ended" : "active"}
      </span>
      {pausedUntil === null && pauseReason === null ? null : (
        <span class="miss">
          {pausedUntil && <>until {whenText(msOf(pausedUntil), MY_ZONE, Date.now())}</>} {pauseReason}
        </span>
      )}
      <span class="dim">
        {name === null ? "" : `${id}, `}task <a href={hrefOf("tasks", null, { search: taskId })}>{taskId}</a>
      </span>
      <span class="grow" />
      {canWrite ? (
        <>
          <Button isWrite keyHint="r" onClick={() => attempt(() => actions.runNow(id))}>
            Run now
          </Button>
          <Button isWrite keyHint="p" onClick={() => attempt(() => actions.setPaused(id, !paused))}>
            {paused ? "Unpause" : "Pause"}
          </Button>
          {paused ? null : <PauseUntil id={id} />}
          <Backfill id={id} />
          <Button keyHint="e" onClick={() => go(hrefOf("schedules", id, {}, "edit"))}>
            Edit
          </Button>
          <Button kind="ghost danger" isWrite onClick={() => attempt(() => actions.remove(id))}>
            Remove
          </Button>
        </>
      ) : null}
    </div>
  );
}

/** A pause that ends by itself, and says why it is there. */
function PauseUntil({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen) {
    return (
      <Button kind="ghost" onClick={() => setOpen(true)}>
        Until…
      </Button>
    );
  }
  const save = async (form: FormData): Promise<void> => {
    const until = String(form.get("until"));
    const reason = String(form.get("reason"));
    const body = {
      ...(until === "" ? {} : { until: new Date(until).toISOString() }),
      ...(reason === "" ? {} : { reason }),
    };
    if (await attempt(() => actions.setPaused(id, true, body))) setOpen(false);
  };
  return (
    <Dialog title={`Pause ${id}`} onClose={() => setOpen(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save(new FormData(event.currentTarget));
        }}
      >
        <div class="field">
          <label for="until">Until, in {MY_ZONE}; empty: until somebody unpauses it</label>
          <input id="until" class="input" name="until" type="datetime-local" />
        </div>
        <div class="field">
          <label for="reason">Why</label>
          <input id="reason" class="input" name="reason" maxLength={500} />
        </div>
        <Button kind="primary" type="submit" isWrite>
          Pause it
        </Button>
      </form>
    </Dialog>
  );
}

/** Runs for fire times that are past: first their number, then the runs themselves. */
function Backfill({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  const [found, setFound] = useState<api.Backfill | null>(null);
  const form = useRef<HTMLFormElement>(null);
  if (!isOpen) {
    return (
      <Button kind="ghost" onClick={() => setOpen(true)}>
        Backfill…
      </Button>
    );
  }
  const ask = (dryRun: boolean) =>
    attempt(async () => {
      const data = new FormData(form.current ?? undefined);
      const at = (name: string) => new Date(String(data.get(name))).toISOString();
      const which = { includeRan: data.has("ran"), includeUnrecorded: data.has("unknown") };
      const report = await api.backfill(id, { from: at("from"), until: at("until"), ...which, dryRun });
      setFound(report);
      if (dryRun) return null;
      setOpen(false);
      refresh();
      return { text: `${report.count} runs are added.`, href: hrefOf("runs", null, { scheduleId: id }) };
    });
  return (
    <Dialog title={`Backfill ${id}`} onClose={() => setOpen(false)}>
      <form ref={form} onInput={() => setFound(null)} onSubmit={(event) => event.preventDefault()}>
        {["from", "until"].map((name) => (
          <div class="field" key={name}>
            <label for={name}>
              {capital(name)}, in {MY_ZONE}
            </label>
            <input id={name} class="input" name={name} type="datetime-local" required />
          </div>
        ))}
        <p>
          <label>
            <input type="checkbox" name="ran" /> Also those that ran
          </label>{" "}
          <label>
            <input type="checkbox" name="unknown" /> Also those older than the records
          </label>
        </p>
        <p aria-live="polite">{found && `${found.count} fire times would get a run. Nothing has been done yet.`}</p>
        <div class="actions">
          <Button onClick={() => ask(true)}>Count them</Button>
          <Button kind="primary" isWrite isOff={!found?.count} onClick={() => ask(false)}>
            {`Add ${found?.count ?? 0} runs`}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface HistoryProps {
  readonly id: string;
  readonly items: readonly api.Occurrence[];
  readonly zone: string;
  readonly now: number;
}

function Runs({ id, items, zone, now, isLoaded }: HistoryProps & { isLoaded: boolean }) {
  const runs = [...items].reverse().map(({ fireTime, verdict, run }) => ({
    at: Date.parse(fireTime),
    verdict,
    lateMs: durationMs(run?.lateness),
    runMs: durationMs(run?.runTime),
    href: isTrouble(verdict) || run === null ? hrefOf("schedules", id, { at: fireTime }) : hrefOf("runs", run.jobId),
  }));
  const counts = Map.groupBy(items, ({ verdict }) => sayingOf(verdict).tone);
  return (
    <Panel
      title="Runs"
      count={items.length === 0 ? "" : `last ${items.length}`}
      side={
        <span class="tally">
          {(["success", "error", "missed"] as const).map((tone) => (
            <span
              key={tone}
              class={`o ${tone}`}
              title={{ success: "succeeded", error: "failed", missed: "did not run or came too late" }[tone]}
            >
              <Glyph tone={tone} /> {counts.get(tone)?.length ?? 0}
            </span>
          ))}
        </span>
      }
    >
      {!isLoaded ? (
        <Loading rows={3} />
      ) : runs.length === 0 ? (
        <p class="calm-text">It has not fired yet.</p>
      ) : (
        <RunChart runs={runs} zone={zone} now={now} />
      )}
    </Panel>
  );
}

function Ledger({ id, items, zone, now, cursor }: HistoryProps & { cursor: string | null }) {
  const [older, setOlder] = useState<readonly api.Occurrence[]>([]);
  const [next, setNext] = useState<string | null | undefined>(undefined);
  const [isQuiet, setQuiet] = useState(false);
  useEffect(() => {
    setOlder([]);
    setNext(undefined);
  }, [id]);
  const after = next === undefined ? cursor : next;
  const all = [...items, ...older];
  const shown = isQuiet
    ? all.filter(({ verdict }) => verdict !== "success")
    : all.slice(0, older.length > 0 ? all.length : 20);
  return (
    <Panel title="Fire times" side={<AskWhy />}>
      <div class="subbar">
        <label>
          <input type="checkbox" checked={isQuiet} onChange={(event) => setQuiet(event.currentTarget.checked)} /> Hide
          what went well
        </label>
      </div>
      <div class="scroll">
        <table class="cards t-ledger">
          <thead>
            <tr>
              <th>Fire time, {zone}</th>
              <th>What became of it</th>
              <th class="r">Late</th>
              <th class="r">Run time</th>
              <th class="r">Attempts</th>
              <th>
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <LedgerRow key={one.fireTime} one={one} zone={zone} now={now} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length === 0 ? (
        <p class="calm-text">{isQuiet ? "Everything went well." : "No fire time has come yet."}</p>
      ) : null}
      {after === null && all.length <= 20 ? null : (
        <div class="subbar">
          <Button
            kind="small"
            onClick={async () => {
              if (after === null) return setNext(null);
              const page = await api.getOccurrences(id, { limit: 60, cursor: after });
              setOlder([...older, ...page.items]);
              setNext(page.cursor);
            }}
          >
            Show older ones
          </Button>
        </div>
      )}
    </Panel>
  );
}

function LedgerRow({ one, zone, now }: { one: api.Occurrence; zone: string; now: number }) {
  const { fireTime, verdict, run } = one;
  const late = durationMs(run?.lateness);
  const ran = durationMs(run?.runTime);
  const words =
    verdict === "success"
      ? late !== null && late > 1000
        ? `ran, ${durationText(late)} late`
        : "ran on time"
      : undefined;
  return (
    <tr data-row>
      <td class="nowrap">
        {run === null ? (
          whenText(Date.parse(fireTime), zone, now)
        ) : (
          <a href={hrefOf("runs", run.jobId)}>{whenText(Date.parse(fireTime), zone, now)}</a>
        )}
      </td>
      <td>
        <Verdict verdict={verdict} {...(words === undefined ? {} : { words })} />
      </td>
      <td class="r dim nowrap hide-s">{late === null ? "" : durationText(late)}</td>
      <td class="r dim nowrap hide-s">{ran === null ? "" : durationText(ran)}</td>
      <td class="r dim hide-s">{run?.attempts ?? ""}</td>
      <td class="r">
        <Button
          kind="small ghost"
          onClick={() => setQuery({ at: fireTime })}
          label="Explain"
          title="Why did it run, or not?"
        >
          Explain
        </Button>
      </td>
    </tr>
  );
}

/** Any time, past or to come, as clocks in the zone of the rule show it. */
function AskWhy() {
  return (
    <form
      class="ask"
      onSubmit={(event) => {
        event.preventDefault();
        const at = String(new FormData(event.currentTarget).get("at") ?? "");
        if (at !== "") setQuery({ at });
      }}
    >
      <label>
        Why did it (not) run at{" "}
        <input type="datetime-local" name="at" step="1" aria-label="Time to explain, in the schedule's zone" />
      </label>
      <Button kind="small" type="submit">
        Explain
      </Button>
    </form>
  );
}

function Why({ id, at, isAsked, zone }: { id: string; at: string | null; isAsked: boolean; zone: string }) {
  const { data, error } = useData(at === null ? null : `explain ${id} ${at}`, (signal) =>
    api.explain(id, at ?? "", signal),
  );
  if (at === null && error === null) return null;
  const tone = data === undefined ? "" : toneOf(data.verdict);
  return (
    <section class={`callout ${tone}`} aria-label="Why" aria-live={isAsked ? "polite" : undefined}>
      {error !== null ? (
        <Failure error={error} />
      ) : data === undefined ? (
        <span class="dim">Looking…</span>
      ) : (
        <Explained explanation={data} zone={zone} />
      )}
    </section>
  );
}

function toneOf(verdict: string): string {
  const { tone } = sayingOf(verdict);
  if (tone === "error" || tone === "abandoned") return "err";
  return tone === "missed" || tone === "paused" ? "miss" : tone === "running" ? "run" : "plain";
}

function Explained({ explanation, zone }: { explanation: api.Explanation; zone: string }) {
  const now = useNow();
  const { verdict, text, advice, occurrence, before, after, scheduleId, fireTime, at } = explanation;
  const shownAt = Date.parse(fireTime ?? at);
  return (
    <>
      <h2 class="why">
        <Verdict verdict={verdict} words={`${whenText(shownAt, zone, now)}: ${sayingOf(verdict).words}`} />
      </h2>
      <p class="text">{text}</p>
      {advice === null || text.includes(advice) ? null : <p class="advice">{advice}</p>}
      <div class="links">
        {occurrence?.run ? <a href={hrefOf("runs", occurrence.run.jobId)}>Open the run</a> : null}
        {before === null ? null : <a href={hrefOf("schedules", scheduleId, { at: before })}>Explain the one before</a>}
        {after === null ? null : <a href={hrefOf("schedules", scheduleId, { at: after })}>Explain the one after</a>}
      </div>
    </>
  );
}

interface RuleProps {
  readonly id: string;
  readonly words: string;
  readonly code: string;
  readonly zone: string;
  readonly now: number;
  readonly revision: number;
}

function RulePanel({ id, words, code, zone, now, revision }: RuleProps) {
  const { data } = useData(`preview ${id} ${revision}`, (signal) => api.previewSchedule(id, 100, signal));
  return (
    <Panel title="Rule">
      <div class="meaning">
        <div class="big">{data?.description ?? words}</div>
        <code class="faint">{code}</code>
      </div>
      {data === undefined ? <Loading rows={4} /> : <Fires preview={data} zone={zone} now={now} id={id} />}
    </Panel>
  );
}

/** The next fire times, and the next ones that a change of the clocks touches, however far away. */
function Fires({
  preview,
  zone,
  now,
  id,
  limit = 4,
}: {
  preview: api.Preview;
  zone: string;
  now: number;
  id?: string;
  limit?: number;
}) {
  const { items, skipped } = preview;
  const near = items.slice(0, limit);
  const far = items
    .slice(limit)
    .filter(({ clockChange }) => clockChange !== null)
    .slice(0, 3);
  if (items.length === 0) return <p class="calm-text">It will not fire any more.</p>;
  return (
    <>
      <table class="t-fires">
        <tbody>
          {near.map((fire) => (
            <FireRow key={fire.at} fire={fire} zone={zone} now={now} id={id} />
          ))}
          {far.length === 0 ? null : (
            <tr>
              <td colSpan={3} class="faint">
                … and when clocks change:
              </td>
            </tr>
          )}
          {far.map((fire) => (
            <FireRow key={fire.at} fire={fire} zone={zone} now={now} id={id} />
          ))}
        </tbody>
      </table>
      {skipped.length === 0 ? null : (
        <p class="calm-text">
          <span class="badge dst">does not exist</span>{" "}
          {skipped
            .slice(0, 3)
            .map((text) => text.replace("T", " "))
            .join(", ")}
          : clocks go forward, and nothing fires.
        </p>
      )}
    </>
  );
}

function FireRow({
  fire: { at, clockChange },
  zone,
  now,
  id,
}: {
  fire: api.Preview["items"][number];
  zone: string;
  now: number;
  id: string | undefined;
}) {
  const ms = Date.parse(at);
  const change = clockChangeWords(clockChange);
  const day = dayText(ms, zone, now);
  return (
    <tr>
      <td class="nowrap">{id === undefined ? day : <a href={hrefOf("schedules", id, { at })}>{day}</a>}</td>
      <td class="nowrap mono">
        {clockText(ms, zone)} {offsetText(ms, zone)}
      </td>
      <td class="r">{change === null ? null : <span class="badge dst">{change}</span>}</td>
    </tr>
  );
}

function Settings({ schedule }: { schedule: api.Schedule }) {
  const {
    coalesce,
    misfireGraceTime,
    overlap,
    priority,
    executor,
    resultExpirationTime,
    maxJitter,
    catchUp,
    concurrencyKey,
    expectStartWithin,
    expectFinishWithin,
    metadata,
    payload,
  } = schedule;
  const duration = (text: string | null) => {
    const ms = durationMs(text);
    return ms !== null && ms > 0 && durationText(ms);
  };
  return (
    <Panel title="Settings">
      <Facts
        rows={[
          ["Missed times", COALESCE[coalesce]],
          ["May start late by", duration(misfireGraceTime) || "any time"],
          ["While one still runs", OVERLAP[overlap]],
          ["Catches up", catchUp && catchUpWords(catchUp)],
          ["Random delay up to", duration(maxJitter)],
          ["Priority", priority !== 0 && String(priority)],
          ["Concurrency key", concurrencyKey],
          ["Alarm unless started in", duration(expectStartWithin)],
          ["Alarm unless done in", duration(expectFinishWithin)],
          ["Results kept", duration(resultExpirationTime) || "not at all"],
          ["Runs in", executor],
          ["Metadata", hasEntries(metadata) && <Json value={metadata} />],
          ["Payload", payload === undefined ? "none" : <Json value={payload} />],
        ]}
      />
    </Panel>
  );
}

const COALESCE = {
  latest: "one run stands for all of them, the latest",
  earliest: "one run stands for all of them, the earliest",
  all: "each gets a run",
};
const OVERLAP = {
  queue: "the next one waits",
  skip: "the next one is left out",
  replaceQueued: "the newest one waits, others go",
  cancelRunning: "the running one is cancelled",
};

function catchUpWords({ maxAge, maxCount, pace }: NonNullable<api.Schedule["catchUp"]>): string {
  const parts = [
    maxCount === null ? "" : `at most ${maxCount}`,
    maxAge === null ? "" : `not older than ${durationText(durationMs(maxAge) ?? 0)}`,
    pace === null ? "" : `one each ${durationText(durationMs(pace) ?? 0)}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function Changes({ id, zone, now, revision }: { id: string; zone: string; now: number; revision: number }) {
  const { data } = useData(`changes ${id} ${revision}`, (signal) => api.getChanges(id, signal));
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Panel title="Changes" count="who changed what">
      <table class="t-changes">
        <tbody>
          {data.items.map((change) => (
            <tr key={change.seq}>
              <td class="dim nowrap">{whenText(msOf(change.at), zone, now)}</td>
              <td>{changeWords(change)}</td>
              <td class="r dim">{change.by ?? ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function changeWords({ kind, changed, before, after }: api.Change): string {
  if (kind === "failed") return "paused itself: the rule failed";
  if (kind !== "changed") return kind;
  const rule =
    before !== null && after !== null && before.rule !== after.rule ? `rule: ${before.rule} → ${after.rule}` : "";
  const others = changed.filter((name) => rule === "" || name !== "trigger").join(", ");
  return [rule, others].filter((part) => part !== "").join("; ") || "changed";
}
