import type { Schedule } from "../api.ts";
import { hrefOf } from "../hash.ts";
import { isTrouble, sayingOf, type Tone } from "../verdicts.ts";

/** One shape for each tone, so that colour is never all that tells them apart. */
const SHAPES: Readonly<Record<Tone, preact.JSX.Element>> = {
  success: <circle cx="6" cy="6" r="4.6" fill="currentColor" />,
  error: <path d="M2 2l8 8M10 2l-8 8" stroke="currentColor" stroke-width="2.4" fill="none" />,
  missed: <path d="M6 1.4 11 10.4H1Z" stroke="currentColor" stroke-width="1.6" fill="none" stroke-linejoin="round" />,
  running: <path d="M6 1.2A4.8 4.8 0 1 0 10.8 6" stroke="currentColor" stroke-width="2" fill="none" />,
  queued: <circle cx="6" cy="6" r="4" stroke="currentColor" stroke-width="1.6" fill="none" />,
  paused: <path d="M3.6 2v8M8.4 2v8" stroke="currentColor" stroke-width="2.4" fill="none" />,
  cancelled: <path d="M2 6h8" stroke="currentColor" stroke-width="2.4" fill="none" />,
  abandoned: <path d="M6 1 11 6 6 11 1 6Z" stroke="currentColor" stroke-width="1.8" fill="none" />,
};

export function Glyph({ tone }: { tone: Tone }) {
  return (
    <svg viewBox="0 0 12 12" width="11" height="11" aria-hidden="true">
      {SHAPES[tone]}
    </svg>
  );
}

/** What became of something: a glyph and words. @param verdict of a run, a fire time or an explanation */
export function Verdict({ verdict, words }: { verdict: string; words?: string | undefined }) {
  const saying = sayingOf(verdict);
  return (
    <span class={`o ${saying.tone}`}>
      <Glyph tone={saying.tone} />
      {words ?? saying.words}
    </span>
  );
}

/** Whether a schedule fires: as a glyph, and in words for who does not see it. */
export function StateGlyph({ schedule }: { schedule: Schedule }) {
  const [tone, words] = stateOf(schedule);
  return (
    <span class={`o ${tone}`} title={words}>
      <Glyph tone={tone} />
      <span class="visually-hidden">{words}</span>
    </span>
  );
}

export function stateOf({ paused, nextFireTime, runs }: Schedule): readonly [Tone, string] {
  if (nextFireTime === null) return ["cancelled", "ended"];
  if (paused) return ["paused", "paused"];
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

export function Mark({ size = 18 }: { size?: number }) {
  return (
    <svg
      viewBox="0 0 18 18"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      aria-hidden="true"
    >
      <path d="M3.5 3.6C5 2.2 7 1.6 9 1.6s4 .6 5.5 2" />
      <path d="M5.2 6 6.6 7M12.8 6l-1.4 1M9 4.8v1.6M3 10.4h1.6M13.4 10.4H15" />
      <path d="M5.6 14.6l1-1.2M12.4 14.6l-1-1.2M9 16v-1.4" />
      <circle cx="9" cy="10.4" r="3.9" />
    </svg>
  );
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
  return (
    <svg
      viewBox="0 0 20 20"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      stroke-width={name === "more" ? 2.4 : 1.5}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={ICONS[name]} />
    </svg>
  );
}
