import { builtinModule } from "./host.ts";

/** Remembers, through everything that a function calls and awaits, a value that belongs to that call. */
export interface CallStorage<T> {
  run<R>(value: T, work: () => R): R;
  /** The value of the innermost `run` around the present call, or undefined outside. */
  get(): T | undefined;
}

interface AsyncLocalStorageLike<T> {
  run<R>(value: T, work: () => R): R;
  getStore(): T | undefined;
}

interface AsyncHooks {
  readonly AsyncLocalStorage?: new <T>() => AsyncLocalStorageLike<T>;
}

/** A storage on the runtime's `AsyncLocalStorage`. Where there is none (browsers), the value is known until the first
 *  `await` of the work. */
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
