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
