/** A token of TypeScript source, as far as the architecture rules need one. */
export interface Token {
  readonly kind: "word" | "string" | "punctuator";
  readonly value: string;
  /** One-based. */
  readonly line: number;
}

// In this order: what can start a comment or a literal comes before what can be a part of it. A template is cut at
// its substitutions, whose code is scanned like any other.
const PATTERN =
  /(?<space>\s+)|(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<string>"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')|(?<word>[\p{ID_Start}$_#][\p{ID_Continue}$]*)|(?<number>\d[\w.]*)|(?<punctuator>=>|\?\.|\.\.\.|[\s\S])/uy;
const TEMPLATE_PART = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?<end>`|\$\{)/y;
const REGEXP = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/\w*/y;

// A slash begins a regular expression unless what stands before it ends an expression.
const KEYWORDS_BEFORE_REGEXP = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "do",
  "else",
  "void",
  "await",
  "yield",
]);

/** Words, strings and punctuators of the source, without comments, regular expressions and the text of templates. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const templateDepths: number[] = [];
  let depth = 0;
  let line = 1;
  let index = 0;

  const take = (length: number): void => {
    for (let at = index; at < index + length; at++) if (text[at] === "\n") line++;
    index += length;
  };
  const takeTemplatePart = (): void => {
    TEMPLATE_PART.lastIndex = index;
    const part = TEMPLATE_PART.exec(text);
    if (part?.groups?.end === "${") templateDepths.push(depth);
    take(part === null ? text.length - index : part[0].length);
  };

  while (index < text.length) {
    REGEXP.lastIndex = index;
    const literal = beginsRegExp(tokens.at(-1)) && !/^\/[/*]/.test(text.slice(index, index + 2)) && REGEXP.exec(text);
    if (literal) {
      tokens.push({ kind: "string", value: "", line });
      take(literal[0].length);
      continue;
    }
    PATTERN.lastIndex = index;
    const match = PATTERN.exec(text);
    if (match === null) break;
    const { string, word, number, punctuator } = match.groups ?? {};
    if (string !== undefined) tokens.push({ kind: "string", value: string.slice(1, -1), line });
    else if (word !== undefined) tokens.push({ kind: "word", value: word, line });
    else if (number !== undefined) tokens.push({ kind: "string", value: "", line });
    else if (punctuator !== undefined && punctuator !== "`")
      tokens.push({ kind: "punctuator", value: punctuator, line });
    take(match[0].length);
    if (punctuator === "{") depth++;
    if (punctuator === "`") {
      tokens.push({ kind: "string", value: "", line });
      takeTemplatePart();
    }
    if (punctuator === "}") {
      if (templateDepths.at(-1) === depth) {
        templateDepths.pop();
        takeTemplatePart();
      } else depth--;
    }
  }
  return tokens;
}

function beginsRegExp(previous: Token | undefined): boolean {
  if (previous === undefined) return true;
  if (previous.kind === "string") return false;
  if (previous.kind === "word") return KEYWORDS_BEFORE_REGEXP.has(previous.value);
  return ![")", "]", "}"].includes(previous.value);
}
