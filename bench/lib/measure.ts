// Interleaved measurement: every round runs each contestant once, so that a busy machine disturbs all alike, and the
// median of the rounds is taken.

/** One thing to be timed. `run(count)` does the work `count` times; it returns something that depends on the work, so
 *  that no compiler leaves it out. */
export interface Contestant {
  readonly name: string;
  readonly run: (count: number) => number;
  /** Items that one run of 1 stands for: a call that yields 1,000 fire times counts 1,000. */
  readonly itemsPerRun?: number;
}

/** A contestant's median. */
export interface Timing {
  readonly name: string;
  /** Nanoseconds an item. */
  readonly ns: number;
}

/** Many short rounds: most of them then run between two interruptions, and the median is one of those. */
const ROUNDS = 31;
const ROUND_MS = 1.5;
const WARM_UP_MS = 30;
const COUNT_MAX = 1_000_000;

let sink = 0;

/** Times the contestants against each other. */
export function measure(contestants: readonly Contestant[]): Timing[] {
  const prepared = contestants.map((contestant) => ({
    contestant,
    count: warmUp(contestant),
    samples: [] as number[],
  }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { contestant, count, samples } of prepared) {
      const start = performance.now();
      sink += contestant.run(count);
      const ms = performance.now() - start;
      samples.push((ms * 1e6) / count / (contestant.itemsPerRun ?? 1));
    }
  }
  return prepared.map(({ contestant, samples }) => ({ name: contestant.name, ns: median(samples) }));
}

// Runs until the compilers are done, and finds how many runs fill a round.
function warmUp({ run }: Contestant): number {
  let count = 1;
  const start = performance.now();
  for (;;) {
    const before = performance.now();
    sink += run(count);
    const ms = performance.now() - before;
    const isWarm = performance.now() - start >= WARM_UP_MS;
    if (isWarm && (ms >= ROUND_MS / 2 || count >= COUNT_MAX)) {
      return Math.max(1, Math.min(COUNT_MAX, Math.round((count * ROUND_MS) / Math.max(ms, 0.01))));
    }
    if (ms < ROUND_MS) count = Math.min(count * 2, COUNT_MAX);
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

/**
 * A loop of its own for a piece of work: `work(inputs[index])`, over and over. Were all contestants called from one
 * loop, its call would be megamorphic and cost more than what some of them do.
 */
export function loopOver(work: (input: number) => unknown, inputs: Float64Array): (count: number) => number {
  const source = `let sum = 0;
    for (let index = 0; index < count; index++) sum += work(inputs[index & ${inputs.length - 1}]) ?? 0;
    return sum;`;
  const loop = new Function("work", "inputs", "count", source);
  return (count) => loop(work, inputs, count);
}

/** What the work came to: printing it keeps the work from being optimised away. */
export function workDone(): number {
  return sink;
}
