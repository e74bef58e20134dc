/** How far the clock on the wall is ahead of `performance.now()`, in milliseconds and to some hundredths: found at the
 *  edge of a millisecond, as `Date.now()` shows whole ones. Valid for some seconds, because the two drift. */
export function millisecondsAhead(): number {
  let ahead = Number.POSITIVE_INFINITY;
  // Whoever is interrupted between the two readings, or before the first, finds too little: the largest is the best.
  for (let edge = 0; edge < 5; edge++) {
    const before = Date.now();
    let now = before;
    while (now === before) now = Date.now();
    const found = now - performance.now();
    ahead = edge === 0 ? found : Math.max(ahead, found);
  }
  return ahead;
}
