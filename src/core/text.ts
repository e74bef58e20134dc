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

/** A text that JavaScript's `<` puts where the code points of an id belong. (`<` compares UTF-16 units, which puts an
 *  emoji before U+FF5E.) Units of surrogate pairs and those after them change places. */
export function orderKey(id: string): string {
  // Nearly no id has such units.
  if (!/[\ud800-\uffff]/.test(id)) return id;
  return id.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
  });
}

/** The one order of ids: by code points, as SQLite orders the UTF-8 of texts. Negative when `a` comes first. Who
 *  compares an id many times keeps its {@link orderKey}. */
export function compareTexts(a: string, b: string): number {
  return compareKeys(orderKey(a), orderKey(b));
}

/** The order of ids by their order keys. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Text on one line: line breaks, other control characters, and what turns the direction of text are written as in a
 *  URL. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, encodeURIComponent);
}
