import { type Token, tokenize } from "../architecture/tokens.ts";

/** What a door shows: classes, functions and constants; and what is a type alone. Each sorted. */
export interface DoorNames {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

/** The names that a source file exports, from its text. `export *` is refused by the architecture test. Pure. */
export function namesOf(text: string): DoorNames {
  const tokens = tokenize(text);
  const values: string[] = [];
  const types: string[] = [];
  tokens.forEach((token, index) => {
    if (token.value !== "export" || token.kind !== "word") return;
    const isType = tokens[index + 1]?.value === "type";
    const open = index + (isType ? 2 : 1);
    if (tokens[open]?.value !== "{") {
      values.push(tokens[open + 1]?.value ?? "");
      return;
    }
    const close = tokens.findIndex(({ value }, at) => at > open && value === "}");
    for (const entry of entriesOf(tokens.slice(open + 1, close))) {
      const name = entry.at(-1)?.value ?? "";
      (isType || entry[0]?.value === "type" ? types : values).push(name);
    }
  });
  return { values: values.sort(), types: types.sort() };
}

function entriesOf(tokens: readonly Token[]): Token[][] {
  const entries: Token[][] = [[]];
  for (const token of tokens) {
    if (token.value === ",") entries.push([]);
    else entries.at(-1)?.push(token);
  }
  return entries.filter((entry) => entry.length > 0);
}
