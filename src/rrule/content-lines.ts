/** A line of a calendar's text: `NAME;PARAMETER=value:value`. */
export interface ContentLine {
  /** In upper case. */
  readonly name: string;
  /** By name in upper case. Of several with one name, the first counts. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly value: string;
}

/** A line ends with a line break, and goes on where the next one begins with a space or a tab. */
const FOLD = /\r?\n[ \t]/g;
const NAME = /^[A-Za-z0-9-]+/;
const PARAMETER = /;([A-Za-z0-9-]+)=("[^"]*"|[^";:]*(?:,(?:"[^"]*"|[^";:]*))*)/y;

/** Reads the lines of a text; null in the place of one that is none. Empty lines are left out. */
export function* contentLines(text: string): Generator<ContentLine | null, void, undefined> {
  for (const line of text.replaceAll(FOLD, "").split(/\r?\n|\r/)) {
    if (line.trim() !== "") yield contentLineOf(line);
  }
}

function contentLineOf(line: string): ContentLine | null {
  const name = NAME.exec(line)?.[0];
  if (name === undefined) return null;
  const parameters = new Map<string, string>();
  let at = name.length;
  while (line[at] === ";") {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(line);
    if (match === null) return null;
    const [whole, key = "", value = ""] = match;
    const upper = key.toUpperCase();
    if (!parameters.has(upper)) parameters.set(upper, value.replaceAll('"', ""));
    at += whole.length;
  }
  return line[at] === ":" ? { name: name.toUpperCase(), parameters, value: line.slice(at + 1) } : null;
}
