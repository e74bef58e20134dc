import { useEffect, useRef, useState } from "preact/hooks";
import { Refused, Unreached } from "./api.ts";
import { type State, useStore } from "./store.ts";

/** What was loaded, or why it was not. */
export interface Loaded<T> {
  /** Undefined before the first answer. Old data stays while new data comes, and where it cannot come. */
  readonly data: T | undefined;
  readonly error: Refused | null;
  /** Loads it anew at once. */
  readonly reload: () => void;
}

const kept = new Map<string, unknown>();
const KEPT_MAX = 60;
const revisionOf = (state: State): number => state.revision;

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
 *  @param isFixed whether it stays as it is, so that one load is enough */
export function useData<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>, isFixed = false): Loaded<T> {
  const current = useStore(revisionOf);
  const revision = isFixed ? 0 : current;
  const [own, setOwn] = useState(0);
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
  }, [key, revision, own]);
  return {
    data: key === null ? undefined : (kept.get(key) as T | undefined),
    error: answer.key === key ? answer.error : null,
    reload: () => setOwn((count) => count + 1),
  };
}

function keep(key: string, data: unknown): void {
  kept.delete(key);
  kept.set(key, data);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}

/** Forgets everything, when somebody signs out. */
export function forget(): void {
  kept.clear();
}
