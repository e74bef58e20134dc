/** Whether one of the texts has `search` somewhere. Case does not matter for the letters A to Z, and matters for all
 *  others, as in SQLite. */
export function isFound(search: string, texts: readonly (string | null | undefined)[]): boolean {
  const lower = lowerAscii(search);
  return texts.some((text) => text !== null && text !== undefined && lowerAscii(text).includes(lower));
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
