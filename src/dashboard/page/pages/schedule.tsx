import { useEffect, useState } from "preact/hooks";
import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { hrefOf } from "../hash.ts";
import {
  Act,
  Button,
  Calm,
  Crumbs,
  Facts,
  Failure,
  Field,
  hasEntries,
  Json,
  Loading,
  many,
  Panel,
  When,
} from "../parts/basics.tsx";
import { RunChart, usualWords } from "../parts/charts.tsx";
import { DialogButton, isoOf, RangeFields, rangeOf } from "../parts/dialogs.tsx";
import { FireTimes } from "../parts/fire-times.tsx";
import { Labels, PauseWords, Said, stateOf, TaskPaused, UnpauseTask, Verdict } from "../parts/glyph.tsx";
import { Heads } from "../parts/list.tsx";
import { ruleOf } from "../rule.ts";
import { go, refresh, setQuery, useNow, usePlace, useZoneMode } from "../store.ts";
import { durationMs, durationText, msOf, whenText, zoneOf } from "../time.ts";
import { useData } from "../use-data.ts";
import { COALESCE, isTrouble, OVERLAP, sayingOf, verdictOf } from "../verdicts.ts";

/** One schedule: how it went, what comes, and why. */
export function SchedulePage({ id }: { id: string }) {
  const { data: schedule, error } = useData(`schedule ${id}`, (signal) => api.getSchedule(id, signal));
  const { data: history } = useData(`occurrences ${id}`, (signal) => api.getOccurrences(id, { limit: 60 }, signal));
  const { data: health } = useData("health", api.getHealth);
  const { data: stats } = useData(`stats ${id}`, (signal) => api.getStats({ scheduleId: id }, signal));
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
      <Crumbs of={[["Schedules", hrefOf("schedules")]]} />
      <Head schedule={schedule} zone={zone} pause={api.pauseOf(schedule, health?.pausedTasks)} />
      <div class="grid two">
        <div class="grid">
          <Runs
            id={id}
            items={items}
            zone={zone}
            now={now}
            isLoaded={history !== undefined}
            usual={usualWords(stats?.items[0]?.total.runTime ?? null)}
          />
          <Ledger id={id} items={items} zone={zone} now={now} cursor={history?.cursor ?? null} />
        </div>
        <div class="grid">
          <RulePanel id={id} code={rule.code} zone={zone} revision={schedule.revision} paused={schedule.paused} />
          <Why id={id} at={at} isAsked={query.at !== undefined} zone={zone} />
          <Settings schedule={schedule} />
          <Changes id={id} zone={zone} now={now} revision={schedule.revision} />
        </div>
      </div>
    </>
  );
}

function Head({
  schedule,
  zone,
  pause,
}: {
  schedule: api.ShownSchedule;
  zone: string;
  pause: api.ShownPause | undefined;
}) {
  const { id, name, taskId, paused, labels, pausedBy, pausedUntil, pauseReason } = schedule;
  const [tone, words] = stateOf(schedule);
  return (
    <div class="toolbar head">
      <h1>{name ?? id}</h1>
      {(!pause || words !== "active") && <Said tone={tone} words={words} />}
      <PauseWords by={pausedBy} until={pausedUntil} reason={pauseReason} zone={zone} />
      {pause && (
        <>
          <TaskPaused of={pause} />
          <PauseWords {...pause} zone={zone} />
          <UnpauseTask of={pause} />
        </>
      )}
      <span class="dim">
        {name !== null && `${id}, `}task <a href={hrefOf("tasks", taskId)}>{taskId}</a>
      </span>
      <Labels of={labels} page="schedules" />
      <span class="grow" />
      <Act keyHint="r" work={() => actions.runNow(id)}>
        Run now
      </Act>
      <Act keyHint="p" work={() => actions.setPaused(id, !paused)}>
        {paused ? "Unpause" : "Pause"}
      </Act>
      <PauseUntil id={id} zone={zone} />
      <Backfill id={id} zone={zone} />
      <Button isWrite keyHint="e" onClick={() => go(hrefOf("schedules", id, {}, "edit"))}>
        Edit
      </Button>
      <Act kind="ghost danger" work={() => actions.remove(id)}>
        Remove
      </Act>
    </div>
  );
}

/** A pause that ends by itself, and says why it is there. */
function PauseUntil({ id, zone }: { id: string; zone: string }) {
  return (
    <DialogButton
      words="Until…"
      title={`Pause ${id}`}
      action="Pause it"
      kind="ghost"
      save={({ until, reason }) =>
        actions.setPaused(id, true, { until: until ? isoOf(until, zone) : undefined, reason: reason || undefined })
      }
    >
      <Field id="until" label={`Until, in ${zone}`} type="datetime-local" hint="Empty: until unpaused." />
      <Field id="reason" label="Why" maxLength={500} />
    </DialogButton>
  );
}

/** Runs for fire times that are past: first their number, then the runs themselves. */
function Backfill({ id, zone }: { id: string; zone: string }) {
  const [found, setFound] = useState<api.ShownBackfill | null>(null);
  const save: Parameters<typeof DialogButton>[0]["save"] = async (given) => {
    const which = {
      includeRan: "ran" in given,
      includeCoalesced: "coalesced" in given,
      includeUnrecorded: "unknown" in given,
    };
    const dryRun = !found?.count;
    const report = await api.backfill(id, { ...rangeOf(given, zone), ...which, dryRun });
    setFound(dryRun ? report : null);
    if (dryRun) return null;
    refresh();
    return { text: `${many(report.count, "run")} added.`, href: hrefOf("runs", null, { scheduleId: id }) };
  };
  const at = found?.coalescedInto;
  const into = at ? ` into the run of ${whenText(msOf(at), zone, Date.now())}` : "";
  return (
    <DialogButton
      words="Backfill…"
      title={`Backfill ${id}`}
      action={found?.count ? `Add ${many(found.count, "run")}` : "Count them"}
      save={save}
      onChange={() => setFound(null)}
      kind="ghost"
    >
      <RangeFields zone={zone} />
      <p>
        <label>
          <input type="checkbox" name="ran" /> Also those that ran
        </label>{" "}
        <label>
          <input type="checkbox" name="coalesced" /> Also those coalesced
        </label>{" "}
        <label>
          <input type="checkbox" name="unknown" /> Also those older than the records
        </label>
      </p>
      <p aria-live="polite">
        {found &&
          `${many(found.count, "fire time")} would get a run. ` +
            `${found.ran} ran, ${found.coalesced} were coalesced${into}.`}
      </p>
    </DialogButton>
  );
}

interface HistoryProps {
  readonly id: string;
  readonly items: readonly api.ShownOccurrence[];
  readonly zone: string;
  readonly now: number;
}

function Runs({ id, items, zone, now, isLoaded, usual }: HistoryProps & { isLoaded: boolean; usual: string }) {
  const runs = [...items].reverse().map(({ fireTime, verdict, run }) => ({
    at: Date.parse(fireTime),
    verdict: verdictOf({ verdict, run }),
    lateMs: durationMs(run?.lateness),
    runMs: durationMs(run?.runTime),
    href: isTrouble(verdict) || run === null ? hrefOf("schedules", id, { at: fireTime }) : hrefOf("runs", run.jobId),
  }));
  const counts = Map.groupBy(items, ({ verdict }) => sayingOf(verdict).tone);
  return (
    <Panel
      title="Runs"
      count={items.length === 0 ? "" : `last ${items.length}${usual && `, ${usual}`}`}
      side={
        <span class="tally">
          {(["success", "error", "missed"] as const).map((tone) => (
            <Said
              key={tone}
              tone={tone}
              title={{ success: "succeeded", error: "failed", missed: "did not run or came too late" }[tone]}
              words={counts.get(tone)?.length ?? 0}
            />
          ))}
        </span>
      }
    >
      {!isLoaded ? (
        <Loading rows={3} />
      ) : runs.length === 0 ? (
        <Calm>It has not fired yet.</Calm>
      ) : (
        <RunChart runs={runs} zone={zone} now={now} />
      )}
    </Panel>
  );
}

function Ledger({ id, items, zone, now, cursor }: HistoryProps & { cursor: string | null }) {
  const [older, setOlder] = useState<readonly api.ShownOccurrence[]>([]);
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
    : all.slice(0, older.length > 0 || next === null ? all.length : 20);
  const more = async (): Promise<void> => {
    if (after === null) return setNext(null);
    const page = await api.getOccurrences(id, { limit: 60, cursor: after });
    setOlder([...older, ...page.items]);
    setNext(page.cursor);
  };
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
              <Heads
                of={[
                  [`Fire time, ${zone}`],
                  ["What became of it"],
                  ["Late", "r"],
                  ["Run time", "r"],
                  ["Attempts", "r"],
                  ["Actions", "acts"],
                ]}
              />
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <LedgerRow key={one.fireTime} one={one} zone={zone} now={now} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length === 0 && <Calm>{isQuiet ? "Everything went well." : "No fire time has come yet."}</Calm>}
      {(after !== null || shown.length < all.length) && !isQuiet && (
        <div class="subbar">
          <Button kind="small" onClick={more}>
            Show older ones
          </Button>
        </div>
      )}
    </Panel>
  );
}

function LedgerRow({ one, zone, now }: { one: api.ShownOccurrence; zone: string; now: number }) {
  const { fireTime, verdict, run } = one;
  const late = durationMs(run?.lateness);
  const ran = durationMs(run?.runTime);
  const isLate = late !== null && late > 1000;
  const words = verdict === "success" ? (isLate ? `ran, ${durationText(late)} late` : "ran on time") : undefined;
  const when = whenText(Date.parse(fireTime), zone, now);
  return (
    <tr data-row>
      <td class="nowrap">{run === null ? when : <a href={hrefOf("runs", run.jobId)}>{when}</a>}</td>
      <td>
        <Verdict verdict={verdictOf(one)} words={words} />
      </td>
      <td class="r dim nowrap hide-s">{late !== null && durationText(late)}</td>
      <td class="r dim nowrap hide-s">{ran !== null && durationText(ran)}</td>
      <td class="r dim hide-s">{run?.attempts}</td>
      <td class="r">
        <Button kind="small ghost" onClick={() => setQuery({ at: fireTime })} title="Why did it run, or not?">
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
  const tone = data === undefined ? "" : sayingOf(data.verdict).tone;
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

function Explained({ explanation, zone }: { explanation: api.ShownExplanation; zone: string }) {
  const now = useNow();
  const { text, advice, occurrence, before, after, scheduleId, fireTime, at } = explanation;
  const verdict = verdictOf({ ...explanation, run: occurrence?.run ?? null });
  const shownAt = Date.parse(fireTime ?? at);
  return (
    <>
      <h2>
        <Verdict verdict={verdict} words={`${whenText(shownAt, zone, now)}: ${sayingOf(verdict).words}`} />
      </h2>
      <p>{text}</p>
      {advice !== null && !text.includes(advice) && <p>{advice}</p>}
      <div class="links">
        {occurrence?.run && <a href={hrefOf("runs", occurrence.run.jobId)}>Open the run</a>}
        {before && <a href={hrefOf("schedules", scheduleId, { at: before })}>Explain the one before</a>}
        {after && <a href={hrefOf("schedules", scheduleId, { at: after })}>Explain the one after</a>}
      </div>
    </>
  );
}

interface RuleProps {
  readonly id: string;
  readonly code: string;
  readonly zone: string;
  readonly revision: number;
  readonly paused: boolean;
}

function RulePanel({ id, code, zone, revision, paused }: RuleProps) {
  const { data } = useData(`preview ${id} ${revision}`, (signal) => api.previewSchedule(id, 100, signal));
  const next = data?.items[0];
  return (
    <Panel title="Rule">
      <div class="meaning">
        <div class="big">{data?.description ?? code}</div>
        <code class="faint">{code}</code>
        {paused ? (
          <div class="miss">It is paused: at these times nothing runs.</div>
        ) : (
          next && (
            <div>
              The next is <When ms={Date.parse(next.at)} zone={zone} />.
            </div>
          )
        )}
      </div>
      {data === undefined ? <Loading rows={4} /> : <FireTimes preview={data} zone={zone} limit={4} id={id} />}
    </Panel>
  );
}

function Settings({ schedule }: { schedule: api.ShownSchedule }) {
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

function catchUpWords({ maxAge, maxCount, pace }: NonNullable<api.ShownSchedule["catchUp"]>): string {
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
      <table>
        <tbody>
          {data.items.map((change) => (
            <tr key={change.seq}>
              <td class="dim nowrap">{whenText(msOf(change.at), zone, now)}</td>
              <td>{changeWords(change)}</td>
              <td class="r dim">{change.by}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function changeWords({ kind, changed, before, after }: api.ShownChange): string {
  if (kind === "failed") return "paused itself: the rule failed";
  if (kind !== "changed") return kind;
  const rule =
    before !== null && after !== null && before.rule !== after.rule ? `rule: ${before.rule} → ${after.rule}` : "";
  const others = changed.filter((name) => rule === "" || name !== "trigger").join(", ");
  return [rule, others].filter((part) => part !== "").join("; ") || "changed";
}
