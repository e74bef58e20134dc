// What the programs of this folder share: turns, costs, and the answer. A program works in turns with that of the other
// checkout. Without a runner (`node pairs/cron.mjs DIR < /dev/null`) it does not wait.
import { createInterface } from "node:readline";

/** Begins the line by which a program says that it waits for its turn. */
export const TURN_MARK = "waits for its turn";
/** Begins the line that holds a program's answer. */
export const ANSWER_MARK = "answer of the program: ";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Ends this turn; resolves when the program may go on. */
export async function takeTurn() {
  process.stdout.write(`${TURN_MARK}\n`);
  await lines.next();
}

/** What a kind of work costs: the sum over its turns. */
export class Cost {
  #pieces = 0;
  #clockUs = 0;
  #cpuUs = 0;

  /** Takes a turn, and does work that makes so many pieces in it. */
  async measure(pieces, work) {
    await takeTurn();
    await this.measureNow(pieces, work);
  }

  /** The same, within the turn that is being had. */
  async measureNow(pieces, work) {
    const cpuBefore = process.cpuUsage();
    const start = performance.now();
    await work();
    this.#clockUs += (performance.now() - start) * 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    this.#cpuUs += user + system;
    this.#pieces += pieces;
  }

  /** Microseconds a piece: by the clock, and in processor time, the collector's threads included. */
  rows(name) {
    return [{ name, unit: "us", value: this.#clockUs / this.#pieces }, this.cpuRow(name)];
  }

  cpuRow(name) {
    return { name, unit: "us CPU", value: this.#cpuUs / this.#pieces };
  }
}

/**
 * The program's answer; ends the process. `computed` is what both checkouts must have computed alike, `values` are
 * `{ name, unit, value }`, of which less is better.
 */
export function answer(computed, values) {
  process.stdout.write(`${ANSWER_MARK}${JSON.stringify({ computed, values })}\n`, () => process.exit(0));
}

/** A promise, and what resolves it when it has been called `count` times. */
export function countdown(count) {
  let left = count;
  let resolveDone = () => {};
  const done = new Promise((resolve) => {
    resolveDone = resolve;
  });
  const tick = () => {
    left--;
    if (left === 0) resolveDone();
  };
  return { done, tick };
}
