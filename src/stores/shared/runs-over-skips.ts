import type { Skip } from "../../records/ledger.ts";

// Stores keep *runs* and *skips* (ranges of fire times) as they come. Whoever reads them resolves their overlaps here:
// a run takes the place of a skip at its fire time. Skips never overlap each other, see `partsOf`.

type SkipEntry = { readonly kind: "skip" } & Skip;

/** The entries of a history, by fire time. Both lists are in the order of their fire times. */
export function* entriesOf<R extends { readonly fireTime: number }>(
  runs: Iterable<R>,
  skips: Iterable<Skip>,
): Generator<R | SkipEntry, void, undefined> {
  const waiting = skips[Symbol.iterator]();
  let skip = waiting.next().value as Skip | undefined;
  for (const run of runs) {
    while (skip !== undefined && skip.until < run.fireTime) {
      yield { kind: "skip", ...skip };
      skip = waiting.next().value as Skip | undefined;
    }
    if (skip !== undefined && skip.from <= run.fireTime) {
      if (skip.from < run.fireTime) yield { kind: "skip", ...skip, until: run.fireTime - 1, count: null };
      skip =
        skip.until > run.fireTime
          ? { ...skip, from: run.fireTime + 1, count: null }
          : (waiting.next().value as Skip | undefined);
    }
    yield run;
  }
  for (; skip !== undefined; skip = waiting.next().value as Skip | undefined) yield { kind: "skip", ...skip };
}

/** The parts of a skip outside of some ranges, which are in the order of their starts. Nobody has counted the fire
 *  times of a part. */
export function partsOf(skip: Skip, ranges: readonly (readonly [from: number, until: number])[]): readonly Skip[] {
  if (ranges.length === 0) return [skip];
  const parts: Skip[] = [];
  let from = skip.from;
  for (const [start, end] of ranges) {
    if (from < start) parts.push({ ...skip, from, until: start - 1, count: null });
    from = Math.max(from, end + 1);
  }
  if (from <= skip.until) parts.push({ ...skip, from, count: null });
  return parts;
}
