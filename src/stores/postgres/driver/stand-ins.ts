// PostgreSQL has no text with U+0000, nor with half a surrogate pair, and its functions of JSON fail at escapes for
// them.
// Payloads may have them. So the store keeps stand-ins: a character that Unicode leaves to what programs do inside, and
// the four digits of the escape. Details and metadata are read without them (`shownJson`), other texts by the driver.

export const STAND_IN = "\ufdd0";

const NUL = `${STAND_IN}0000`;

const ESCAPES = /(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})/gi;

/** The same in PostgreSQL's syntax. */
export const ESCAPES_SQL = "(?<!\\\\)((?:\\\\\\\\)*)\\\\u(0000|d[89a-fA-F][0-9a-fA-F]{2})";

/** A JSON text with stand-ins. Escapes within texts that are JSON themselves stay, because there they are no
 *  escapes. */
export function withStandIns(json: string): string {
  return json.includes("\\u") ? json.replace(ESCAPES, `$1${STAND_IN}$2`) : json;
}

/** A text with stand-ins. */
export function withoutNul(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", NUL) : text;
}

/** A text that the database gave: JSON, or another one. */
export function withoutStandIns(text: string): string {
  if (!text.includes(STAND_IN)) return text;
  return /^[[{]/.test(text) ? text.replace(/\ufdd0([0-9a-f]{4})/gi, "\\u$1") : text.replaceAll(NUL, "\0");
}
