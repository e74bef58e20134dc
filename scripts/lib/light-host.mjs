// @ts-check

// Lighter stand-ins for the globals of Node whose costs are a third of a simulation: signals, turns of the event loop,
// the stacks of errors, and the following of asynchronous calls. What the program sees of them is the same, so a seed
// gives the same run with them and without. Import this file before the program.

/** How many turns are asked of the event loop at once. */
const TURNS_AT_ONCE = 64;

/** A signal as programs use it: `aborted`, `reason`, and listeners for `abort`. */
class LightSignal {
  aborted = false;
  /** @type {unknown} */
  reason = undefined;
  /** @type {{ listener: (event: unknown) => void, once: boolean, isRemoved: boolean }[]} */
  #entries = [];

  /** @param {string} type @param {(event: unknown) => void} listener @param {{ once?: boolean }} [options] */
  addEventListener(type, listener, options) {
    if (type !== "abort" || this.#entries.some((entry) => entry.listener === listener)) return;
    this.#entries.push({ listener, once: options?.once === true, isRemoved: false });
  }

  /** @param {string} type @param {(event: unknown) => void} listener */
  removeEventListener(type, listener) {
    const index = type === "abort" ? this.#entries.findIndex((entry) => entry.listener === listener) : -1;
    const [removed] = index < 0 ? [] : this.#entries.splice(index, 1);
    if (removed !== undefined) removed.isRemoved = true;
  }

  throwIfAborted() {
    if (this.aborted) throw this.reason;
  }

  /** @param {unknown} reason */
  end(reason) {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const event = { type: "abort", target: this };
    for (const entry of [...this.#entries]) {
      if (entry.isRemoved) continue;
      if (entry.once) this.removeEventListener("abort", entry.listener);
      try {
        entry.listener.call(this, event);
      } catch (error) {
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }
}

/** One for all, because a new one for each costs more than its signal. */
const ABORTED = new DOMException("This operation was aborted", "AbortError");

class LightController {
  signal = new LightSignal();

  /** @param {unknown} reason */
  abort(reason = ABORTED) {
    this.signal.end(reason);
  }
}

/** Turns of the event loop, many in one of its rounds: the host empties its queue of microtasks after each of them.
 *
 * @param {(run: () => void) => void} hostTurn */
function manyTurns(hostTurn) {
  /** @type {(() => void)[]} */
  const waiting = [];
  let left = 0;
  const takeOne = () => {
    left--;
    if (left === 0 && waiting.length > 1) ask();
    waiting.shift()?.();
  };
  const ask = () => {
    left = TURNS_AT_ONCE;
    for (let index = 0; index < TURNS_AT_ONCE; index++) hostTurn(takeOne);
  };
  return (/** @type {() => void} */ run) => {
    waiting.push(run);
    if (left === 0) ask();
  };
}

Object.assign(globalThis, { AbortController: LightController, setImmediate: manyTurns(globalThis.setImmediate) });
// Nobody reads where an error came from.
Error.stackTraceLimit = 0;
// Following asynchronous calls makes every promise dearer, and no handler of the simulation asks for `currentJob()`.
const { getBuiltinModule } = process;
Object.assign(process, {
  getBuiltinModule: (/** @type {string} */ id) =>
    id === "node:async_hooks" ? undefined : getBuiltinModule?.call(process, id),
});
