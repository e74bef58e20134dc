import * as api from "../api.ts";
import { hrefOf } from "../hash.ts";
import { Chips, capital, Empty, Failure, Loading, Panel } from "../parts/basics.tsx";
import { Chart, ChartLink, herdOf, quantileOf, ticksOf } from "../parts/charts.tsx";
import { PHONE } from "../parts/virtual.tsx";
import { ruleOf, wordsOf } from "../rule.ts";
import { setQuery, useNow, usePlace, useZone } from "../store.ts";
import { clockText, DAY_MS, dayText, durationMs, durationText, MINUTE_MS, whenText } from "../time.ts";
import { useData } from "../use-data.ts";

/** How far to look, and how long the buckets of the load are. */
const SPANS: Readonly<Record<string, readonly [span: number, bucket: number]>> = {
  "1 h": [60 * MINUTE_MS, MINUTE_MS],
  "12 h": [DAY_MS / 2, 5 * MINUTE_MS],
  Week: [7 * DAY_MS, 60 * MINUTE_MS],
  Month: [30 * DAY_MS, 240 * MINUTE_MS],
};
/** Most lanes; the load above them counts all schedules. */
const LANES_MAX = 24;
/** A lane with more fires than that is a band. */
const FIRES_MAX = 60;

interface Lane {
  readonly id: string;
  readonly words: string;
  readonly fires: readonly number[];
  /** How long a run usually takes; null where nobody knows. */
  readonly usualMs: number | null;
}

async function loadLanes(spanMs: number, signal: AbortSignal): Promise<Lane[]> {
  const include = ["description", `next:${FIRES_MAX + 1}`, "runs:12"];
  const query = { state: "active", sort: "nextFireTime", limit: LANES_MAX, include } as const;
  const { items } = await api.getSchedules(query, signal);
  const until = Date.now() + spanMs;
  const lanes = items.map(({ id, trigger, description, next = [], runs = [] }) => ({
    id,
    words: wordsOf(description, ruleOf(trigger)),
    usualMs: quantileOf(
      runs.flatMap(({ run }) => durationMs(run?.runTime) ?? []),
      0.5,
    ),
    fires: next.map(({ at }) => Date.parse(at)).filter((at) => at < until),
  }));
  return lanes.filter(({ fires }) => fires.length > 0);
}

/** What a chart along the time needs. */
interface Axis {
  readonly from: number;
  readonly until: number;
  readonly zone: string;
  readonly now: number;
}

export function TimelinePage() {
  const { query } = usePlace();
  const name = query.span !== undefined && query.span in SPANS ? query.span : "12 h";
  const [span, bucket] = SPANS[name] ?? [DAY_MS, MINUTE_MS];
  const now = useNow();
  const zone = useZone();
  const { data: lanes, error } = useData(`lanes ${name}`, (signal) => loadLanes(span, signal));
  // The axis moves on by the minute, so that it does not tremble.
  const from = now - (now % MINUTE_MS);
  const axis = { from, until: from + span, zone, now };
  return (
    <>
      <div class="toolbar head">
        <h1>Timeline</h1>
        <Chips
          label="How far to look"
          value={name}
          options={Object.keys(SPANS).map((one) => [one, one])}
          onChange={(one) => setQuery({ span: one })}
        />
        <span class="grow" />
        <span class="dim">
          now {clockText(now, zone, false)}, {dayText(now, zone, now)}, {zone}
        </span>
      </div>
      <Failure error={error} />
      <Load span={span} bucket={bucket} axis={axis} />
      {lanes === undefined ? (
        <Loading rows={12} />
      ) : lanes.length === 0 ? (
        <div class="panel">
          <Empty title="Nothing is to come">
            <p>No schedule fires in this time.</p>
          </Empty>
        </div>
      ) : (
        <Panel title="Lanes" count="bars are as long as the run usually takes">
          <Lanes lanes={lanes} axis={axis} />
        </Panel>
      )}
    </>
  );
}

/** How many fires come when, over all schedules, with what to do about a herd. */
function Load({ span, bucket, axis }: { span: number; bucket: number; axis: Axis }) {
  const { zone, now } = axis;
  const { data } = useData(`forecast ${span}`, (signal) => {
    const start = Date.now() - (Date.now() % bucket);
    const [from, until] = [start, start + span].map((ms) => new Date(ms).toISOString()) as [string, string];
    return api.getForecast({ from, until, bucket: `PT${bucket / 1000}S` }, signal);
  });
  const { buckets = [], busiest = null, emptier = null, text = "" } = data ?? {};
  const most = Math.max(1, busiest?.fires ?? 0);
  const herd = herdOf(buckets);
  const within = (at: string): string => {
    const ms = Date.parse(at);
    const words = whenText(ms, zone, now);
    return bucket === MINUTE_MS ? words : `${words} to ${clockText(ms + bucket, zone)}`;
  };
  return (
    <>
      {busiest !== null && busiest.fires >= herd && (
        <div class="callout missed spaced">
          <b>
            {busiest.fires.toLocaleString("en")} fires, {within(busiest.from)}.
          </b>
          {emptier !== null &&
            emptier.fires * 2 <= busiest.fires &&
            ` ${capital(within(emptier.from))} has ${emptier.fires.toLocaleString("en")}: move some there.`}
        </div>
      )}
      <div class="spaced">
        <Panel
          title="Load"
          count={`fires in each ${durationText(bucket)}, all schedules: ${most.toLocaleString("en")} at most`}
        >
          <Chart height={90} role="img" label={text}>
            {(width) => {
              const x = scaleOf(axis, width);
              return buckets.map(({ from, fires }) => {
                const left = Math.max(x(axis.from), x(Date.parse(from)));
                return (
                  <rect
                    key={from}
                    class={fires >= herd ? "f missed" : "f-load"}
                    x={left}
                    y={88 - (fires / most) * 80}
                    width={Math.max(1, x(Date.parse(from) + bucket) - left - 1)}
                    height={(fires / most) * 80}
                  >
                    <title>{`${within(from)}: ${fires}`}</title>
                  </rect>
                );
              });
            }}
          </Chart>
        </Panel>
      </div>
    </>
  );
}

/** On a phone, names stand above their lanes. */
const leftOf = () => (PHONE.matches ? 8 : 190);
const rowOf = () => (PHONE.matches ? 42 : 26);

function scaleOf({ from, until }: Axis, width: number): (at: number) => number {
  const left = leftOf();
  return (at) => left + ((at - from) / (until - from)) * (width - left - 12);
}

function Lanes({ lanes, axis }: { lanes: readonly Lane[]; axis: Axis }) {
  const { from, until, zone, now } = axis;
  const height = lanes.length * rowOf();
  return (
    <Chart height={height + 34} label={`What ${lanes.length} schedules will do`}>
      {(width) => {
        const x = scaleOf(axis, width);
        return (
          <>
            {ticksOf(from, until, width - leftOf(), zone).map((at) => (
              <g key={at}>
                <line class="gridline" x1={x(at)} x2={x(at)} y1="0" y2={height} />
                {x(at) < width - 40 && (
                  <text x={x(at)} y={height + 18}>
                    {until - from > 2 * DAY_MS ? dayText(at, zone, now) : clockText(at, zone, false)}
                  </text>
                )}
              </g>
            ))}
            {lanes.map((lane, index) => (
              <LaneRow key={lane.id} lane={lane} y={index * rowOf()} x={x} axis={axis} />
            ))}
            <line class="now" x1={x(now)} x2={x(now)} y1="0" y2={height} />
          </>
        );
      }}
    </Chart>
  );
}

interface LaneProps {
  readonly lane: Lane;
  readonly y: number;
  readonly x: (at: number) => number;
  readonly axis: Axis;
}

function LaneRow({ lane: { id, words, fires, usualMs }, y: top, x, axis: { from, until, zone, now } }: LaneProps) {
  const left = x(from);
  const most = Math.floor((PHONE.matches ? x(until) : left) / 7) - 2;
  const y = top + rowOf() - 26;
  return (
    <g>
      <a href={hrefOf("schedules", id)} aria-label={id}>
        <title>{id}</title>
        <text class="lane" x="0" y={top + 17}>
          {id.length > most ? `${id.slice(0, most)}…` : id}
        </text>
      </a>
      {fires.length > FIRES_MAX ? (
        <g>
          <rect class="band" x={left} y={y + 5} width={x(until) - left} height="16" rx="2" />
          <text x={left + 8} y={y + 17}>
            {words}
          </text>
        </g>
      ) : (
        fires.map((at) => {
          const usual = usualMs === null ? "" : `, usually ${durationText(usualMs)}`;
          const title = `${id}: ${whenText(at, zone, now)}${usual}`;
          const href = hrefOf("schedules", id, { at: new Date(at).toISOString() });
          return (
            <ChartLink key={at} href={href} words={title}>
              <rect
                class="f running"
                x={x(at)}
                y={y + 7}
                width={Math.max(3, x(at + (usualMs ?? 0)) - x(at))}
                height="11"
                rx="1.5"
              />
            </ChartLink>
          );
        })
      )}
    </g>
  );
}
