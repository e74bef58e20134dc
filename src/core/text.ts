/** What text that stores keep must be, as it stands in messages after "must be". */
export const STORABLE = "text without NUL characters and without halves of surrogate pairs";

/** What to do about text that is not storable. */
export const STORABLE_ADVICE = "text that was cut within an emoji, for one, is mended by toWellFormed()";

/**
 * Whether every store keeps a text as it is. Databases keep UTF-8, which has no half of a surrogate pair: SQLite's
 * clients make another text of it, or end the process. Many databases and clients end a text at a NUL.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** A text that every store keeps: halves of surrogate pairs and NUL characters become U+FFFD. For texts of others, such
 *  as messages of errors, which cannot be refused. */
export function storable(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** The one order of ids: by code points, as SQLite orders the UTF-8 of texts. (`<` compares UTF-16 units, which puts an
 *  emoji before U+FF5E.) Negative when `a` comes first. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let place = 0; place < length; place++) {
    const [unitOfA, unitOfB] = [a.charCodeAt(place), b.charCodeAt(place)];
    if (unitOfA !== unitOfB) return rankOf(unitOfA) - rankOf(unitOfB);
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs are parts of code points that come after all other units. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
