import { useEffect, useState } from "preact/hooks";
import type { Endpoints } from "../../hono/api.ts";
import { type Place, placeOf } from "./hash.ts";
import { type ZoneMode, zoneOf } from "./time.ts";

/** How the page hears of what happens. */
export interface Live {
  /** `live`: all events come in. `polling`: other processes live whose events do not, so the page asks every 5 s. */
  readonly status: "connecting" | "live" | "polling" | "reconnecting" | "offline";
  /** When the page tries again, in the browser's epoch milliseconds; null where it need not. */
  readonly retryAt: number | null;
  /** When the server answered last; null before its first answer. */
  readonly seenAt: number | null;
}

/** Something to tell once, such as what an action did. */
export interface Toast {
  readonly id: number;
  readonly kind: "ok" | "bad";
  readonly text: string;
  /** A link that belongs to it. */
  readonly href?: string | undefined;
}

/** A question that an action waits for. */
interface Confirmation {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly isDanger: boolean;
  answer(isYes: boolean): void;
}

/** Who asks, as GET /session tells it. */
export type ShownSession = Endpoints["GET /session"]["answers"][200];

/** All of the page's state, but what was loaded. */
export interface State {
  readonly place: Place;
  /** Undefined while nobody knows; null: nobody is signed in. */
  readonly session: ShownSession | null | undefined;
  readonly live: Live;
  readonly zoneMode: ZoneMode;
  readonly theme: "auto" | "light" | "dark";
  readonly notices: readonly Toast[];
  readonly question: Confirmation | null;
  readonly isHelpOpen: boolean;
  /** Grows when what is shown may be out of date. */
  readonly revision: number;
  /** How many requests of this page have changed something. */
  readonly writes: number;
  /** What running jobs said of their progress, newer than what was loaded. */
  readonly progress: Readonly<Record<string, { readonly fraction: number; readonly note: string | null }>>;
  /** When attempts began of which the page has heard, by job. */
  readonly started: Readonly<Record<string, number>>;
  /** Failures since the page was opened or Runs was looked at. */
  readonly failures: number;
  /** How far the server's clock is ahead of the browser's, in milliseconds. */
  readonly skewMs: number;
  /** The present of the server's clock, to the second. */
  readonly now: number;
}

function kept<T extends string>(name: string, values: readonly T[], otherwise: T): T {
  try {
    const value = localStorage.getItem(`escapement.${name}`) as T | null;
    return value !== null && values.includes(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`escapement.${name}`, value);
  } catch {
    // A browser that keeps nothing for pages forgets the choice.
  }
}

let state: State = {
  place: placeOf(location.hash),
  session: undefined,
  live: { status: "connecting", retryAt: null, seenAt: null },
  zoneMode: kept("zone", ["schedule", "mine", "utc"], "schedule"),
  theme: kept("theme", ["auto", "light", "dark"], "auto"),
  notices: [],
  question: null,
  isHelpOpen: false,
  revision: 0,
  writes: 0,
  progress: {},
  started: {},
  failures: 0,
  skewMs: 0,
  now: Date.now(),
};
const listeners = new Set<() => void>();

export function getState(): State {
  return state;
}

export function setState(patch: Partial<State>): void {
  state = { ...state, ...patch };
  for (const listener of [...listeners]) listener();
}

/** What a component shows of the state, or a word of it; it is drawn anew when that changes. */
export function useStore<K extends keyof State>(select: K): State[K];
export function useStore<T>(select: (state: State) => T): T;
export function useStore(select: keyof State | ((state: State) => unknown)): unknown {
  const [, redraw] = useState(0);
  const read = (): unknown => (typeof select === "function" ? select(state) : state[select]);
  const selected = read();
  useEffect(() => {
    let last = selected;
    const look = (): void => {
      const next = read();
      if (Object.is(last, next)) return;
      last = next;
      redraw((count) => count + 1);
    };
    listeners.add(look);
    look();
    return () => void listeners.delete(look);
  }, [select]);
  return selected;
}

// The selectors stand here, because one that is made anew at each drawing would subscribe anew.
const canWriteIn = (of: State): boolean => of.session?.scope === "write";
const isGoneIn = (of: State): boolean => of.live.status === "reconnecting" || of.live.status === "offline";

export const useNow = (): number => useStore("now");
export const useZoneMode = (): ZoneMode => useStore("zoneMode");
/** The zone to show times in. @param of that of the rule */
export const useZone = (of?: string | null): string => zoneOf(useZoneMode(), of);
export const usePlace = (): Place => useStore("place");
/** Whether buttons that change something are there at all. */
export const useCanWrite = (): boolean => useStore(canWriteIn);
/** Whether the server does not answer, so that writes are off. */
export const useIsGone = (): boolean => useStore(isGoneIn);

/** How far a run is, as events tell it, or as it was loaded. */
export function useProgress({ id, progress, note }: { id: string; progress: number | null; note: string | null }) {
  return useStore("progress")[id] ?? { fraction: progress, note };
}

export function setZoneMode(zoneMode: ZoneMode): void {
  keep("zone", zoneMode);
  setState({ zoneMode });
}

export function setTheme(theme: State["theme"]): void {
  keep("theme", theme);
  document.documentElement.dataset.theme = theme;
  setState({ theme });
}

let noticeId = 0;

/** Tells something for some seconds. */
export function notify(kind: Toast["kind"], text: string, href?: string): void {
  const notice = { id: ++noticeId, kind, text, href };
  setState({ notices: [...state.notices.slice(-3), notice] });
  setTimeout(() => dismiss(notice.id), kind === "ok" ? 6000 : 15_000);
}

export function dismiss(id: number): void {
  setState({ notices: state.notices.filter((notice) => notice.id !== id) });
}

/** Asks somebody before something is done that cannot be taken back, or is done to many. */
export function ask(title: string, text: string, action: string, isDanger = false): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isYes: boolean): void => {
      setState({ question: null });
      resolve(isYes);
    };
    setState({ question: { title, text, action, isDanger, answer } });
  });
}

/** Loads anew what is shown. */
export function refresh(): void {
  setState({ revision: state.revision + 1 });
}

export function go(href: string): void {
  location.hash = href;
}

/** Changes words of the query in the address bar, without a new step in the history. */
export function setQuery(words: Readonly<Record<string, string | null>>): void {
  const { page, id, part, query } = state.place;
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(words)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  const path = [page, id, part]
    .filter((word) => word !== null)
    .map(encodeURIComponent)
    .join("/");
  const search = next.toString();
  history.replaceState(null, "", `#/${path}${search === "" ? "" : `?${search}`}`);
  setState({ place: placeOf(location.hash) });
}
