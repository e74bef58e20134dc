// PostgreSQL has no text with U+0000, nor with half a surrogate pair, and its functions of JSON fail at escapes for
// them. Payloads may have them. So the store keeps escapes of its own: a stand-in, which is a character that Unicode
// leaves to what programs do inside, and the four digits; and the stand-in twice where a text has it itself. So no text
// that is given reads as an escape, texts keep their order, and one that is part of another one stays part of it.
//
// A stand-in is doubled at every level of JSON within JSON, and digits stand at the outermost one alone, because inner
// escapes are plain characters there. Columns of JSON are read as they were given by `shownJson`, the rest by the
// driver.

export const STAND_IN = "\ufdd0";

export const TWICE: string = STAND_IN + STAND_IN;

const ESCAPES = /(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})/gi;

/** The same in PostgreSQL's syntax. */
export const ESCAPES_SQL = "(?<!\\\\)((?:\\\\\\\\)*)\\\\u(0000|d[89a-fA-F][0-9a-fA-F]{2})";

const ENCODED = /\ufdd0(\ufdd0|0000|d[89a-f][0-9a-f]{2})/gi;

/** The digits alone, and the doubled stand-ins before them, in PostgreSQL's syntax. */
export const ENCODED_SQL: string = `(?<!${STAND_IN})((?:${TWICE})*)${STAND_IN}(?:0000|d[89a-fA-F][0-9a-fA-F]{2})`;

/** A JSON text as it is kept. */
export function encodedJson(json: string): string {
  const text = doubled(json);
  return text.includes("\\u") ? text.replace(ESCAPES, `$1${STAND_IN}$2`) : text;
}

/** Another text as it is kept. */
export function encodedText(text: string): string {
  const kept = doubled(text);
  if (kept.isWellFormed() && !kept.includes("\0")) return kept;
  return kept.replace(/[\0\p{Surrogate}]/gu, (half) => STAND_IN + half.charCodeAt(0).toString(16).padStart(4, "0"));
}

function doubled(text: string): string {
  return text.includes(STAND_IN) ? text.replaceAll(STAND_IN, TWICE) : text;
}

/** A text that the database gave, JSON or another one, as it was given. */
export function decoded(text: string): string {
  if (!text.includes(STAND_IN)) return text;
  const isJson = /^[[{]/.test(text);
  return text.replace(ENCODED, (_, kept: string) => {
    if (kept === STAND_IN) return kept;
    return isJson ? `\\u${kept}` : String.fromCharCode(Number.parseInt(kept, 16));
  });
}
