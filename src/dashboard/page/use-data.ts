import { useEffect, useRef, useState } from "preact/hooks";
import { Refused, Unreached } from "./api.ts";
import { type State, useStore } from "./store.ts";

/** What was loaded, or why it was not. */
export interface Loaded<T> {
  /** Undefined before the first answer. Old data stays while new data comes, and where it cannot come. */
  readonly data: T | undefined;
  readonly error: Refused | null;
}

const kept = new Map<string, unknown>();
/** Most answers that are kept for going back, because each may be a page of records. */
const KEPT_MAX = 60;
const revisionOf = (state: State): unknown => state.revision;
/** For what costs the server much: every 30 s, and when this page has changed something. */
const slowOf = (state: State): unknown => `${Math.floor(state.now / 30_000)} ${state.writes}`;
const onceOf = (): unknown => 0;
const PACES = { live: revisionOf, slow: slowOf, once: onceOf };

/** One load after the other of what one key stands for, so that a busy stream of events starves none of them. */
class Loader {
  #isBusy = false;
  #isStale = false;
  readonly control: AbortController = new AbortController();

  run(load: (signal: AbortSignal) => Promise<void>): void {
    if (this.#isBusy) {
      this.#isStale = true;
      return;
    }
    this.#isBusy = true;
    void load(this.control.signal).finally(() => {
      this.#isBusy = false;
      const again = this.#isStale && !this.control.signal.aborted;
      this.#isStale = false;
      if (again) this.run(load);
    });
  }
}

/** Loads what a key stands for, anew whenever it may be out of date. @param key null loads nothing
 *  @param pace when that is; `once` for what stays as it is */
export function useData<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  pace: keyof typeof PACES = "live",
): Loaded<T> {
  const revision = useStore(PACES[pace]);
  const [answer, setAnswer] = useState<{ key: string | null; error: Refused | null }>({ key: null, error: null });
  const loading = useRef(load);
  loading.current = load;
  const loader = useRef<Loader | null>(null);
  useEffect(() => {
    const current = new Loader();
    loader.current = current;
    return () => current.control.abort();
  }, [key]);
  useEffect(() => {
    if (key === null) return;
    loader.current?.run(async (signal) => {
      try {
        const data = await loading.current(signal);
        if (signal.aborted) return;
        keep(key, data);
        setAnswer({ key, error: null });
      } catch (error) {
        if (signal.aborted || error instanceof Unreached) return;
        if (!(error instanceof Refused)) throw error;
        setAnswer({ key, error });
      }
    });
  }, [key, revision]);
  return {
    data: key === null ? undefined : (kept.get(key) as T | undefined),
    error: answer.key === key ? answer.error : null,
  };
}

function keep(key: string, data: unknown): void {
  kept.delete(key);
  kept.set(key, data);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}

/** The value, once it has not changed for a moment. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 150);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Forgets everything, when somebody signs out. */
export function forget(): void {
  kept.clear();
}
