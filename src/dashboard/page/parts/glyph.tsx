import type { ComponentChildren } from "preact";
import { setTaskPaused } from "../actions.ts";
import type { ShownPause, ShownSchedule } from "../api.ts";
import { hrefOf } from "../hash.ts";
import { MY_ZONE, whenText } from "../time.ts";
import { isTrouble, sayingOf, type Tone } from "../verdicts.ts";
import { Act } from "./basics.tsx";

/** One shape for each tone, so that colour is never all that tells them apart. */
const SHAPES: Readonly<Record<Tone, readonly [path: string, width: number]>> = {
  success: ["M6 6h.01", 9.2],
  error: ["M2 2l8 8M10 2l-8 8", 2.4],
  missed: ["M6 1.4 11 10.4H1Z", 1.6],
  running: ["M6 1.2A4.8 4.8 0 1 0 10.8 6", 2],
  queued: ["M6 2a4 4 0 1 0 .01 0Z", 1.6],
  paused: ["M3.6 2v8M8.4 2v8", 2.4],
  cancelled: ["M2 6h8", 2.4],
  abandoned: ["M6 1 11 6 6 11 1 6Z", 1.8],
};

function Glyph({ tone }: { tone: Tone }) {
  const [path, width] = SHAPES[tone];
  return <Drawing box={12} size={11} width={width} path={path} cap={tone === "success" ? "round" : undefined} />;
}

interface DrawingProps {
  /** The side of the square that it is drawn in. */
  readonly box: number;
  readonly size: number;
  readonly width: number;
  readonly path: string;
  readonly cap?: "round" | undefined;
}

/** Lines in the colour of the text. */
function Drawing({ box, size, width, path, cap }: DrawingProps) {
  return (
    <svg viewBox={`0 0 ${box} ${box}`} width={size} height={size} aria-hidden="true">
      <path
        d={path}
        fill="none"
        stroke="currentColor"
        stroke-width={width}
        stroke-linecap={cap}
        stroke-linejoin="round"
      />
    </svg>
  );
}

interface SaidProps {
  readonly tone: Tone;
  readonly words: ComponentChildren;
  readonly title?: string;
}

/** A glyph and words. */
export function Said({ tone, words, title }: SaidProps) {
  return (
    <span class={`o ${tone}`} title={title}>
      <Glyph tone={tone} />
      {words}
    </span>
  );
}

/** What became of something. @param verdict of a run, a fire time or an explanation */
export function Verdict({ verdict, words }: { verdict: string; words?: string | undefined }) {
  const saying = sayingOf(verdict);
  return <Said tone={saying.tone} words={words ?? saying.words} />;
}

/** How something is: as a glyph, and in words for who does not see it. */
export function StateGlyph({ of: [tone, words] }: { of: readonly [Tone, string] }) {
  return <Said tone={tone} title={words} words={<span class="visually-hidden">{words}</span>} />;
}

/** Who has paused something, until when, and why. */
export function PauseWords({ by, until, reason, zone = MY_ZONE }: Partial<ShownPause> & { zone?: string | undefined }) {
  const when = until && `until ${whenText(Date.parse(until), zone, Date.now())}`;
  const words = [[by && `by ${by}`, reason].filter(Boolean).join(": "), when].filter(Boolean).join(", ");
  return (
    <span class="miss" title={words}>
      {words}
    </span>
  );
}

/** That a task is paused, or one of its keys. */
export function TaskPaused({ of }: { of: ShownPause }) {
  return <Said tone="paused" words={<a href={hrefOf("tasks", of.taskId)}>{pausedWords(of)}</a>} />;
}

/** A button that ends it. */
export function UnpauseTask({ of: { taskId, key } }: { of: ShownPause }) {
  return (
    <Act kind="small" work={() => setTaskPaused(taskId, false, key)}>
      Unpause the {key === null ? "task" : "key"}
    </Act>
  );
}

const pausedWords = ({ key }: ShownPause): string => (key === null ? "task paused" : `key ${key} paused`);

export function stateOf({ paused, nextFireTime, runs }: ShownSchedule, pause?: ShownPause): readonly [Tone, string] {
  if (nextFireTime === null) return ["cancelled", "ended"];
  if (paused) return ["paused", "paused"];
  if (pause) return ["paused", pausedWords(pause)];
  return isTrouble(runs?.[0]?.verdict ?? "") ? ["error", "failing"] : ["success", "active"];
}

/** What a change of the clocks does to a fire time. */
export function ClockChange({ of }: { of: "moved" | "first" | "second" | null | undefined }) {
  return of && <span class="badge dst">{CLOCK_CHANGES[of]}</span>;
}

const CLOCK_CHANGES = {
  moved: "moved: clocks go forward",
  first: "first of two: clocks go back",
  second: "second of two: clocks go back",
};

/** Labels, each of which leads to all that have it. */
export function Labels({ of, page }: { of: Readonly<Record<string, string>>; page: string }) {
  return (
    <>
      {Object.entries(of).map((pair) => {
        const label = pair.join(":");
        return (
          <a key={label} class="badge" href={hrefOf(page, null, { label })}>
            {label}
          </a>
        );
      })}
    </>
  );
}

const MARK =
  "M3.5 3.6C5 2.2 7 1.6 9 1.6s4 .6 5.5 2M5.2 6 6.6 7M12.8 6l-1.4 1M9 4.8v1.6M3 10.4h1.6M13.4 10.4H15" +
  "M5.6 14.6l1-1.2M12.4 14.6l-1-1.2M9 16v-1.4M9 6.5a3.9 3.9 0 1 0 .01 0Z";

export function Mark({ size = 18 }: { size?: number }) {
  return <Drawing box={18} size={size} width={1.6} path={MARK} cap="round" />;
}

const ICONS = {
  overview: "M3 10 10 3.5 17 10M5 9v7.5h10V9",
  schedules: "M3 5h14M3 10h14M3 15h14",
  timeline: "M3 16V4M3 16h14M7 16V9M11 16V6M15 16v-5",
  runs: "M6 3.5v13l9-6.5Z",
  tasks: "M4 4h5v5H4ZM11 4h5v5h-5ZM4 11h5v5H4ZM11 11h5v5h-5Z",
  system: "M3 5h14v4H3ZM3 11h14v4H3ZM6 7h.01M6 13h.01",
  more: "M4.5 10h.01M10 10h.01M15.5 10h.01",
} as const;

export function Icon({ name }: { name: keyof typeof ICONS }) {
  return <Drawing box={20} size={20} width={name === "more" ? 2.4 : 1.5} path={ICONS[name]} cap="round" />;
}
