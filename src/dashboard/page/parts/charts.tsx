import type { ComponentChildren, Ref } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";
import type { ShownForecastBucket, ShownRun, ShownStats } from "../api.ts";
import { hrefOf } from "../hash.ts";
import { clockText, durationMs, durationText, MINUTE_MS, offsetMs, roughText, whenText } from "../time.ts";
import { isTrouble, sayingOf } from "../verdicts.ts";

/** The width of an element, as it is now; 0 before it is there. */
function useWidth(): [Ref<HTMLDivElement>, number] {
  const observer = useRef<ResizeObserver | null>(null);
  const [width, setWidth] = useState(0);
  const attach = useCallback((element: HTMLDivElement | null) => {
    observer.current?.disconnect();
    if (element === null) return;
    observer.current = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.current.observe(element);
  }, []);
  return [attach, width];
}

interface ChartProps {
  readonly height: number;
  readonly label: string;
  readonly role?: "group" | "img";
  readonly kind?: string;
  /** What it shows in a width. */
  readonly children: (width: number) => ComponentChildren;
}

/** A drawing as wide as there is room. */
export function Chart({ height, label, role = "group", kind = "", children }: ChartProps) {
  const [element, width] = useWidth();
  return (
    <div class={`chart ${kind}`} ref={element}>
      {width > 0 && (
        <svg width={width} height={height} role={role} aria-label={label}>
          {children(width)}
        </svg>
      )}
    </div>
  );
}

/** A mark that leads somewhere, which its words tell. */
export function ChartLink({ href, words, children }: { href: string; words: string; children: ComponentChildren }) {
  return (
    <a href={href} tabIndex={-1} aria-label={words}>
      <title>{words}</title>
      {children}
    </a>
  );
}

/** How many fires of one bucket are a herd: ten or more, and three times what is usual. */
export function herdOf(buckets: readonly ShownForecastBucket[]): number {
  return Math.max(
    10,
    3 *
      (quantileOf(
        buckets.map(({ fires }) => fires),
        0.5,
      ) ?? 0),
  );
}

/** The class that a verdict's bar has. */
function fillOf(verdict: string): string {
  return `f ${sayingOf(verdict).tone}`;
}

/** Where a duration stands between 0 and 1: by its logarithm, so that a second and an hour both show. */
function logShare(ms: number, minMs: number, maxMs: number): number {
  if (ms <= minMs) return 0.06;
  return Math.min(1, 0.06 + (0.94 * Math.log(ms / minMs)) / Math.log(maxMs / minMs));
}

/** Evenly spaced times of day of a zone: about one for each 110 pixels. */
export function ticksOf(fromMs: number, untilMs: number, width: number, zone: string): number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080].map((count) => count * MINUTE_MS);
  const least = ((untilMs - fromMs) * 110) / Math.max(width, 1);
  const step = steps.find((one) => one >= least) ?? 10_080 * MINUTE_MS;
  const ahead = offsetMs(fromMs, zone);
  const first = Math.ceil((fromMs + ahead) / step) * step - ahead;
  return Array.from({ length: Math.max(0, Math.ceil((untilMs - first) / step)) }, (_, index) => first + index * step);
}

export interface ComingFire {
  readonly at: number;
  readonly scheduleId: string | null;
  /** How many fire there. */
  readonly count: number;
  readonly isHerd?: boolean;
  /** How long the time is that it stands for, where there are others in it: then nobody knows when each fires. */
  readonly lengthMs?: number;
}

interface TickerProps {
  readonly runs: readonly ShownRun[];
  readonly coming: readonly ComingFire[];
  readonly now: number;
  readonly zone: string;
}

const BACK_MS = 60 * MINUTE_MS;
const AHEAD_MS = 40 * MINUTE_MS;
const FLOOR = 118;
const HEIGHT = 160;
/** An hour back and the time ahead on one axis: what ran with its run time as height, what failed at full height, what
 *  runs on top, what comes hollow. */
export function Ticker({ runs, coming, now, zone }: TickerProps) {
  const from = now - BACK_MS;
  const until = now + AHEAD_MS;
  const running = runs.filter(({ state }) => state === "running").slice(0, 5);
  const failed = runs.filter(({ state }) => isTrouble(state)).length;
  return (
    <Chart
      kind="panel ticker"
      height={HEIGHT}
      label={`The last hour: ${runs.length} runs, ${failed} not well. To come: ${coming.length} fires`}
    >
      {(width) => {
        const x = (at: number): number => ((at - from) / (until - from)) * width;
        const ended = columnsOf(
          runs.filter((run) => run.endedAt !== null),
          x,
        );
        return (
          <>
            {ticksOf(from, until, width, zone).map((at) => (
              <g key={at}>
                <line class="gridline" x1={x(at)} x2={x(at)} y1="16" y2={FLOOR} />
                {Math.abs(x(at) - x(now)) < 60 || x(at) < 18 || x(at) > width - 18 ? null : (
                  <text x={x(at)} y={HEIGHT - 12} text-anchor="middle">
                    {clockText(at, zone, false)}
                  </text>
                )}
              </g>
            ))}
            <line class="axis" x1="0" x2={width} y1={FLOOR} y2={FLOOR} />
            {ended.map(({ left, run, count }) => {
              const height = isTrouble(run.state)
                ? 60
                : 60 * logShare((run.endedAt ?? 0) - (run.startedAt ?? run.endedAt ?? 0), 5, 3_600_000);
              return (
                <ChartLink key={left} href={hrefOf("runs", run.id)} words={wordsOf(run, count, zone)}>
                  <rect class="hit" x={left - 1} y="16" width="5" height={FLOOR - 16} />
                  <rect class={fillOf(run.state)} x={left} y={FLOOR - height} width="3" height={height} />
                </ChartLink>
              );
            })}
            {running.map((run, index) => {
              const start = Math.max(0, x(run.startedAt ?? run.dueAt));
              return (
                <ChartLink key={run.id} href={hrefOf("runs", run.id)} words={wordsOf(run, 1, zone)}>
                  <rect
                    class="f running"
                    x={start}
                    y={20 + index * 9}
                    width={Math.max(4, x(now) - start)}
                    height="5"
                    rx="2"
                  />
                </ChartLink>
              );
            })}
            {coming.map((fire) => {
              const { at, scheduleId, count, isHerd, lengthMs = 0 } = fire;
              // Many in one minute stand higher.
              const height = 13 + Math.min(30, 4 * Math.log2(count));
              const kind = isHerd ? "f missed" : lengthMs > 0 ? "band" : "f-next";
              const href =
                scheduleId === null
                  ? hrefOf("timeline", null, { span: "1 h" })
                  : hrefOf("schedules", scheduleId, { at: new Date(at).toISOString() });
              return (
                <ChartLink key={`${at} ${scheduleId}`} href={href} words={comingWords(fire, zone)}>
                  <rect
                    class={kind}
                    x={x(at) - (lengthMs > 0 ? 0 : 2)}
                    y={FLOOR - height}
                    width={Math.max(5, x(at + lengthMs) - x(at) - 2)}
                    height={height}
                    rx="2"
                  />
                  {isHerd && (
                    <text class="brass" x={x(at)} y={FLOOR - height - 7} text-anchor="middle">
                      {count} at {clockText(at, zone, false)}
                    </text>
                  )}
                </ChartLink>
              );
            })}
            <line class="now" x1={x(now)} x2={x(now)} y1="8" y2={FLOOR + 6} />
            <text class="brass strong" x={x(now)} y={HEIGHT - 12} text-anchor="middle">
              {clockText(now, zone, false)} now
            </text>
          </>
        );
      }}
    </Chart>
  );
}

interface ChartColumn {
  readonly left: number;
  readonly run: ShownRun;
  readonly count: number;
}

/** One bar for what falls on one place: the worst, then the longest. */
function columnsOf(runs: readonly ShownRun[], x: (at: number) => number): ChartColumn[] {
  const columns = new Map<number, ChartColumn>();
  for (const run of runs) {
    const left = Math.round(x(run.startedAt ?? run.endedAt ?? run.dueAt) / 4) * 4;
    if (left < 0) continue;
    const other = columns.get(left);
    const isWorse = other === undefined || weight(run) > weight(other.run);
    columns.set(left, { left, run: isWorse ? run : other.run, count: (other?.count ?? 0) + 1 });
  }
  return [...columns.values()];
}

function weight({ state, startedAt, endedAt }: ShownRun): number {
  return (isTrouble(state) ? 1e12 : 0) + (endedAt ?? 0) - (startedAt ?? endedAt ?? 0);
}

function wordsOf(
  { scheduleId, taskId, state, startedAt, endedAt, dueAt, error }: ShownRun,
  count: number,
  zone: string,
): string {
  const took = startedAt !== null && endedAt !== null ? ` in ${durationText(endedAt - startedAt)}` : "";
  const why = error === null ? "" : `: ${error.message.slice(0, 120)}`;
  const more = count > 1 ? `, and ${count - 1} more` : "";
  const at = clockText(startedAt ?? dueAt, zone, true);
  return `${scheduleId ?? taskId} ${sayingOf(state).words}${took}${why} (${at})${more}`;
}

function comingWords({ at, scheduleId, count }: ComingFire, zone: string): string {
  return `${scheduleId ?? `${count} fires`} at ${clockText(at, zone)}: still to come`;
}

/** The last runs of a schedule as little bars: run time as height, colour for trouble. */
export function Spark({ runs, id }: { runs: readonly SparkRun[]; id: string }) {
  if (runs.length === 0) return <span class="faint">none yet</span>;
  const times = runs.flatMap(({ runMs }) => (runMs === null ? [] : [runMs]));
  const most = Math.max(1, ...times);
  const bad = runs.filter(({ verdict }) => isTrouble(verdict)).length;
  const label = `the last ${runs.length} runs, ${bad === 0 ? "all well" : `${bad} not well`}`;
  return (
    <svg class="spark" width={24 * 5} height="16" role="img" aria-label={label}>
      <title>{label}</title>
      {runs.map(({ verdict, runMs }, index) => {
        const height = isTrouble(verdict) ? 14 : 3 + 11 * ((runMs ?? 0) / most);
        return (
          <rect
            key={`${id} ${index}`}
            class={fillOf(verdict)}
            x={(24 - runs.length + index) * 5}
            y={15 - height}
            width="3"
            height={height}
          />
        );
      })}
    </svg>
  );
}

/** How many runs ended in each part of a time, and how many of them badly. */
export function CountChart({ stats: { buckets }, zone, now }: { stats: ShownStats; zone: string; now: number }) {
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  return (
    <Chart height={60} role="img" label={`at most ${most} in one of ${buckets.length} parts`}>
      {(width) =>
        buckets.map(({ from, count, outcomes, runTime }, index) => {
          const step = width / buckets.length;
          const bad = badOf({ count, outcomes });
          const usual = runTime === null ? "" : `, usually ${durationText(durationMs(runTime.p50) ?? 0)}`;
          const bar = (of: number, kind: string) => (
            <rect
              class={kind}
              x={index * step}
              y={60 - (of / most) * 58}
              width={Math.max(1, step - 2)}
              height={(of / most) * 58}
            />
          );
          return (
            <g key={from}>
              <title>{`${whenText(Date.parse(from), zone, now)}: ${count}, ${bad} not well${usual}`}</title>
              {bar(count, "f success")}
              {bar(bad, "f error")}
            </g>
          );
        })
      }
    </Chart>
  );
}

/** How many did not go well. */
export function badOf({ count, outcomes }: Pick<ShownStats["total"], "count" | "outcomes">): number {
  return count - outcomes.success - outcomes.cancelled - outcomes.skipped;
}

/** `usually 11 s (p50), 16 s (p95)`; nothing where nobody knows. */
export function usualWords(times: ShownStats["total"]["runTime"]): string {
  const [half, most] = [times?.p50, times?.p95].map((text) => durationMs(text));
  return half == null || most == null ? "" : `usually ${durationText(half)} (p50), ${durationText(most)} (p95)`;
}

interface SparkRun {
  readonly verdict: string;
  readonly runMs: number | null;
}

export interface ChartRun {
  readonly at: number;
  readonly verdict: string;
  readonly lateMs: number | null;
  readonly runMs: number | null;
  readonly href: string;
}

/** Lateness upwards and run time downwards on one axis, with how the run time drifts. @param runs the oldest first */
export function RunChart({ runs, zone, now }: { runs: readonly ChartRun[]; zone: string; now: number }) {
  const left = 54;
  const lateMax = Math.max(1000, ...runs.map(({ lateMs }) => lateMs ?? 0));
  const runMax = Math.max(100, ...runs.map(({ runMs }) => runMs ?? 0));
  const [middle, up, down] = [92, 70, 80];
  const drift = driftOf(runs);
  const yOf = (ms: number): number => middle + 18 + (ms / runMax) * down;
  const lines = [
    ...[lateMax, lateMax / 60].map(
      (ms) => [-up * logShare(ms, 1, lateMax), ms < 1000 ? durationText(ms) : roughText(ms)] as const,
    ),
    [0, "late 0"] as const,
    [18, "run 0"] as const,
    ...[runMax / 2, runMax].map((ms) => [yOf(ms) - middle, durationText(ms)] as const),
  ];
  return (
    <Chart height={200} label={`Lateness and run time of the last ${runs.length} runs. ${drift?.words ?? ""}`}>
      {(width) => {
        const step = Math.max(3, (width - left - 12) / Math.max(runs.length, 24));
        return (
          <>
            {lines.map(([y, words]) => (
              <g key={y} transform={`translate(0 ${middle + y})`}>
                <line class="gridline" x1={left} x2={width - 8} />
                <text x={left - 6} y="4" text-anchor="end">
                  {words}
                </text>
              </g>
            ))}
            {runs.map(({ at, verdict, lateMs, runMs, href }, index) => {
              const start = left + 4 + index * step;
              const bar = Math.min(14, Math.max(2, step - 2));
              const lateWords = lateMs === null ? "" : `, ${durationText(lateMs)} late`;
              const runWords = runMs === null ? "" : `, ran ${durationText(runMs)}`;
              const words = `${whenText(at, zone, now)}: ${sayingOf(verdict).words}${lateWords}${runWords}`;
              const late = lateMs === null ? 0 : up * logShare(lateMs, 1, lateMax);
              return (
                <ChartLink key={at} href={href} words={words}>
                  <rect class="hit" x={start - 1} y="12" width={step} height="180" />
                  {lateMs === null && runMs === null && !/waiting|begun/.test(verdict) ? (
                    <path class={`mark ${fillOf(verdict)}`} d={`M${start + bar / 2} ${middle - 12}l5 9h-10Z`} />
                  ) : (
                    <>
                      <rect
                        class={lateMs !== null && lateMs > 1000 ? "f missed" : "f queued"}
                        x={start}
                        y={middle - late}
                        width={bar}
                        height={late}
                      />
                      <rect
                        class={fillOf(verdict)}
                        x={start}
                        y={middle + 18}
                        width={bar}
                        height={runMs === null ? 0 : Math.max(1, (runMs / runMax) * down)}
                      />
                    </>
                  )}
                </ChartLink>
              );
            })}
            {drift === null ? null : (
              <>
                <line
                  class="drift"
                  x1={left + 4}
                  x2={left + 4 + runs.length * step}
                  y1={yOf(drift.first)}
                  y2={yOf(drift.last)}
                />
                <text class="brass" x={width - 10} y="196" text-anchor="end">
                  {drift.words}
                </text>
              </>
            )}
          </>
        );
      }}
    </Chart>
  );
}

/** How the run time changes, by the median slope between pairs (Theil and Sen), which single outliers do not bend. Null
 *  where there are few runs or little change. */
function driftOf(
  runs: readonly { readonly runMs: number | null }[],
): { first: number; last: number; words: string } | null {
  const points = runs.flatMap(({ runMs }, index) => (runMs === null ? [] : [[index, runMs] as const]));
  if (points.length < 10) return null;
  const slopes: number[] = [];
  for (const [a, one] of points.entries()) {
    for (const other of points.slice(a + 1)) slopes.push((other[1] - one[1]) / (other[0] - one[0]));
  }
  const slope = medianOf(slopes);
  const middle = medianOf(points.map(([index, ms]) => ms - slope * index));
  const first = middle;
  const last = middle + slope * (runs.length - 1);
  if (first <= 0 || last <= 0 || Math.abs(last / first - 1) < 0.1) return null;
  const percent = Math.round(Math.abs(last / first - 1) * 100);
  return { first, last, words: `run time ${last > first ? "grew" : "fell"} ${percent} % in ${runs.length} runs` };
}

function medianOf(values: readonly number[]): number {
  return quantileOf(values, 0.5) ?? 0;
}

/** Null for no values. */
export function quantileOf(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}
