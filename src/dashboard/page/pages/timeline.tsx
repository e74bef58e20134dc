import * as api from "../api.ts";
import { hrefOf } from "../hash.ts";
import { Chips, Empty, Failure, Loading, Panel } from "../parts/basics.tsx";
import { quantileOf, ticksOf, useWidth } from "../parts/charts.tsx";
import { ruleOf } from "../rule.ts";
import { setQuery, useNow, usePlace, useZoneMode } from "../store.ts";
import { clockText, DAY_MS, dayText, durationMs, durationText, whenText, zoneOf } from "../time.ts";
import { useData } from "../use-data.ts";

/** So many fires in one bucket are worth a word. */
const HERD = 10;
const SPANS = {
  "1 h": 3_600_000,
  "12 h": 43_200_000,
  Week: 7 * DAY_MS,
  Month: 30 * DAY_MS,
} as const;
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
    words: ruleOf(trigger, description).words,
    usualMs: quantileOf(
      runs.flatMap(({ run }) => durationMs(run?.runTime) ?? []),
      0.5,
    ),
    fires: next.map(({ at }) => Date.parse(at)).filter((at) => at < until),
  }));
  return lanes.filter(({ fires }) => fires.length > 0);
}

export function TimelinePage() {
  const { query } = usePlace();
  const name = (query.span ?? "12 h") in SPANS ? ((query.span ?? "12 h") as keyof typeof SPANS) : "12 h";
  const span = SPANS[name];
  const now = useNow();
  const zone = zoneOf(useZoneMode(), null);
  const { data: lanes, error } = useData(`lanes ${name}`, (signal) => loadLanes(span, signal));
  // The axis moves on by the minute, so that it does not tremble.
  const from = Math.floor(now / 60_000) * 60_000;
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
      {error === null ? null : <Failure error={error} />}
      <Load span={span} zone={zone} now={now} />
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
          <Lanes lanes={lanes} from={from} until={from + span} zone={zone} now={now} />
        </Panel>
      )}
    </>
  );
}

/** How many fires come when, over all schedules, with what to do about a herd. */
function Load({ span, zone, now }: { span: number; zone: string; now: number }) {
  const [element, width] = useWidth();
  const bucketMs = Math.max(60_000, Math.round(span / 144 / 60_000) * 60_000);
  const { data } = useData(`forecast ${span}`, (signal) => {
    const until = new Date(Date.now() + span).toISOString();
    return api.getForecast({ until, bucket: `PT${bucketMs / 1000}S` }, signal);
  });
  if (data === undefined) return null;
  const { buckets, busiest, emptier } = data;
  const most = Math.max(1, ...buckets.map(({ fires }) => fires));
  const each = (width - LEFT - 12) / Math.max(1, buckets.length);
  return (
    <>
      {busiest !== null && busiest.fires >= HERD ? (
        <div class="callout miss spaced">
          <b>
            {busiest.fires.toLocaleString("en")} fires at {whenText(Date.parse(busiest.from), zone, now)}
          </b>
          {emptier === null
            ? "."
            : `; at ${clockText(Date.parse(emptier.from), zone, false)} there are ${emptier.fires}: move some there.`}
        </div>
      ) : null}
      <div class="spaced">
        <Panel title="Load" count={`fires in each ${durationText(bucketMs)}, all schedules`}>
          <div class="chart" ref={element}>
            <svg width={width} height="90" role="img" aria-label={data.text}>
              {buckets.map(({ from, fires }, index) => (
                <rect
                  key={from}
                  class={fires === busiest?.fires && fires >= HERD ? "f-herd" : "f-load"}
                  x={LEFT + index * each}
                  y={88 - (fires / most) * 80}
                  width={Math.max(1, each - 1)}
                  height={(fires / most) * 80}
                >
                  <title>{`${whenText(Date.parse(from), zone, now)}: ${fires}`}</title>
                </rect>
              ))}
            </svg>
          </div>
        </Panel>
      </div>
    </>
  );
}

const LEFT = 190;
const ROW = 26;

function Lanes({
  lanes,
  from,
  until,
  zone,
  now,
}: {
  lanes: readonly Lane[];
  from: number;
  until: number;
  zone: string;
  now: number;
}) {
  const [element, width] = useWidth();
  const left = width < 600 ? 110 : LEFT;
  const x = (at: number): number => left + ((at - from) / (until - from)) * (width - left - 12);
  const height = lanes.length * ROW;
  return (
    <div class="chart" ref={element}>
      {width === 0 ? null : (
        <svg width={width} height={height + 34} role="group" aria-label={`What ${lanes.length} schedules will do`}>
          {ticksOf(from, until, width - left).map((at) => (
            <g key={at}>
              <line class="gridline" x1={x(at)} x2={x(at)} y1="0" y2={height} />
              <text x={x(at)} y={height + 18}>
                {until - from > 2 * DAY_MS ? dayText(at, zone, now) : clockText(at, zone, false)}
              </text>
            </g>
          ))}
          {lanes.map((lane, index) => (
            <LaneRow
              key={lane.id}
              lane={lane}
              y={index * ROW}
              x={x}
              left={left}
              right={width - 12}
              zone={zone}
              now={now}
            />
          ))}
          <line class="now" x1={x(now)} x2={x(now)} y1="0" y2={height} />
        </svg>
      )}
    </div>
  );
}

interface LaneProps {
  readonly lane: Lane;
  readonly y: number;
  readonly x: (at: number) => number;
  readonly left: number;
  readonly right: number;
  readonly zone: string;
  readonly now: number;
}

function LaneRow({ lane: { id, words, fires, usualMs }, y, x, left, right, zone, now }: LaneProps) {
  const isBand = fires.length > FIRES_MAX;
  const most = Math.floor(left / 7) - 2;
  return (
    <g>
      <a href={hrefOf("schedules", id)} aria-label={id}>
        <title>{id}</title>
        <text class="lane" x="0" y={y + 17}>
          {id.length > most ? `${id.slice(0, most)}…` : id}
        </text>
      </a>
      {isBand ? (
        <g>
          <rect class="band" x={left} y={y + 8} width={right - left} height="9" rx="2" />
          <text x={left + 8} y={y + 16}>
            {words}
          </text>
        </g>
      ) : (
        fires.map((at) => {
          const usual = usualMs === null ? "" : `, usually ${durationText(usualMs)}`;
          const title = `${id}: ${whenText(at, zone, now)}${usual}`;
          return (
            <a
              key={at}
              href={hrefOf("schedules", id, { at: new Date(at).toISOString() })}
              tabIndex={-1}
              aria-label={title}
            >
              <title>{title}</title>
              <rect
                class="f-run"
                x={x(at)}
                y={y + 7}
                width={Math.max(3, usualMs === null ? 3 : x(at + usualMs) - x(at))}
                height="11"
                rx="1.5"
              />
            </a>
          );
        })
      )}
    </g>
  );
}
