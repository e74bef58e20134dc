/** Advice for a word that is none of those that are known: the word that was likely meant, or else other advice. */
export function didYouMean<T>(word: string, known: readonly string[], otherwise: T): string | T {
  const meant = nearest(word, known);
  return meant === null ? otherwise : `did you mean "${meant}"?`;
}

/** The candidate that is nearest to a mistyped word, or null: a candidate with which the word begins (`mon` for
 *  `monday`), or a candidate that differs from the word by a few mistyped characters. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const plain = normalized(word);
  // A distance costs the product of both lengths, and no word of this length is a mistyped name.
  if (plain.length === 0 || plain.length > 24) return null;
  let best: string | null = null;
  let bestDistance = plain.length > 3 ? 3 : 2;
  for (const candidate of candidates) {
    const target = normalized(candidate);
    const distance =
      target !== plain && target.length > 2 && plain.startsWith(target) ? 1 : editDistance(plain, target);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Whether two words are equal apart from upper and lower case, `_` and `-`. */
export function isSameWord(a: string, b: string): boolean {
  return normalized(a) === normalized(b);
}

/** A word in lower case and without separators: `dayOfWeek`, `day_of_week` and `day-of-week` give the same text. */
export function normalized(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, "");
}

/** The distance of two words by optimal string alignment: each insertion, deletion, substitution and swap of neighbours
 *  counts 1. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (isSame ? 0 : 1));
      if (a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
