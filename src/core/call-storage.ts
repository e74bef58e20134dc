import { builtinModule } from "./host.ts";

/** Keeps a value that belongs to one call of a function. The value is known in everything that the function calls and
 *  awaits. */
export interface CallStorage<T> {
  /** Calls `work`, and makes `value` known in it. Returns what `work` returns. */
  run<R>(value: T, work: () => R): R;
  /** The value of the innermost `run` around the present call; undefined outside of every `run`. */
  get(): T | undefined;
}

interface AsyncLocalStorageLike<T> {
  run<R>(value: T, work: () => R): R;
  getStore(): T | undefined;
}

interface AsyncHooks {
  readonly AsyncLocalStorage?: new <T>() => AsyncLocalStorageLike<T>;
}

/** A storage that uses the runtime's `AsyncLocalStorage`. In a runtime without it, such as a browser, the value is
 *  known only until the first `await` of the work. */
export function callStorage<T>(): CallStorage<T> {
  const hooks = builtinModule("node:async_hooks") as AsyncHooks | undefined;
  const AsyncLocalStorage = hooks?.AsyncLocalStorage;
  if (AsyncLocalStorage === undefined) return new SynchronousStorage<T>();
  const storage = new AsyncLocalStorage<T>();
  return { run: (value, work) => storage.run(value, work), get: () => storage.getStore() };
}

class SynchronousStorage<T> implements CallStorage<T> {
  #value: T | undefined;

  run<R>(value: T, work: () => R): R {
    const outer = this.#value;
    this.#value = value;
    try {
      return work();
    } finally {
      this.#value = outer;
    }
  }

  get(): T | undefined {
    return this.#value;
  }
}
