// What can be said about a ratio that was measured a few times, whatever its distribution.

/** How far off a ratio may be before it counts. */
const TOLERANCE = 0.05;
/** The chance that the interval misses the median. */
const MISS = 0.05;

/** The least number of values that have an interval. */
export const PAIRS_MIN = 6;

/**
 * The ranks, from 1, of the ordered values that hold the median of the distribution between them in 95 of 100 cases.
 * Each value lies below that median with chance 1/2, so how many do is binomial. For 20 values: 6 and 15.
 */
export function ranksOfInterval(count) {
  let chance = 0.5 ** count;
  let below = 0;
  let rank = 0;
  // `below`: the chance that at most `rank` values lie below the median.
  while (2 * (below + chance) <= MISS) {
    below += chance;
    chance *= (count - rank) / (rank + 1);
    rank++;
  }
  if (rank === 0) throw new RangeError(`${count} values have no 95% interval: it takes ${PAIRS_MIN}`);
  return [rank, count + 1 - rank];
}

/** The median of ratios, and its interval. */
export function summarize(ratios) {
  const sorted = ratios.toSorted((a, b) => a - b);
  const [low, high] = ranksOfInterval(sorted.length);
  return { median: medianOf(sorted), low: sorted[low - 1], high: sorted[high - 1] };
}

/** Where the whole interval lies. "Open": it reaches beyond the tolerance, and it does not lie beyond. */
export function verdictOf({ low, high }) {
  if (low > 1 + TOLERANCE) return "worse";
  if (high < 1 - TOLERANCE) return "better";
  if (high > 1 + TOLERANCE) return "open";
  return low < 1 - TOLERANCE ? "not worse" : "same";
}

export function medianOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
