import { type Document, isScalar, parseAllDocuments, visit } from "yaml";

/** An object of YAML, whose values nobody has looked at. */
export type YamlObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is YamlObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Aliases that a document may make of its anchors, so that a small file cannot become a huge one. */
const ALIASES_MAX = 100;
/** Aliases of all anchors: for each, the parser looks through all the others. */
const ALIASES_IN_ALL_MAX = 1000;

/** What the parser needs seconds for: its time grows with the square of depth, and documents cost most. */
const LENGTH_MAX = 500_000;
const DOCUMENTS_MAX = 10_000;
const DEPTH_MAX = 200;

/** The values of the documents of a text; of one that cannot be read, why. */
export function plainYaml(
  text: string,
): { readonly where: string; readonly value: unknown; readonly error: string | null }[] {
  const excess = excessOf(text);
  if (excess !== null) return [{ where: "the file", value: null, error: excess }];
  // The parser looks for keys that come twice by comparing each with all others, and shows the line of each error.
  const options = { logLevel: "silent", uniqueKeys: false, prettyErrors: false } as const;
  const documents = parseAllDocuments(text, options);
  if (!Array.isArray(documents)) return [];
  return (documents as readonly Document[]).map((document, index) => {
    const where = `document ${index + 1}`;
    const [wrong] = document.errors;
    const error = wrong === undefined ? faultOf(document) : `${wrong.message} at line ${lineAt(text, wrong.pos[0])}`;
    if (error !== null) return { where, value: null, error: `is no YAML: ${error}` };
    try {
      return { where, value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown, error: null };
    } catch (failure) {
      return {
        where,
        value: null,
        error: `is no YAML: ${failure instanceof Error ? failure.message : String(failure)}`,
      };
    }
  });
}

function lineAt(text: string, place: number): number {
  return text.slice(0, place).split("\n").length;
}

/** What of a text is too much to be parsed; null for nothing. */
function excessOf(text: string): string | null {
  if (text.length > LENGTH_MAX) {
    return `has ${text.length} characters, and YAML is read up to ${LENGTH_MAX}: split it into several files`;
  }
  let documents = 0;
  for (const _ of text.matchAll(/^---/gm)) documents++;
  if (documents > DOCUMENTS_MAX) {
    return `has ${documents} documents, and ${DOCUMENTS_MAX} are read: split it into several files`;
  }
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === "[" || bracket === "{" ? depth + 1 : Math.max(0, depth - 1);
    if (depth > DEPTH_MAX) return TOO_DEEP;
  }
  if (/^[ \t]*(?:[-?:][ \t]+){200}/m.test(text)) return TOO_DEEP;
  let [former, levels] = [-1, 0];
  for (const [{ length }] of text.matchAll(/^ *(?=[^ \n])/gm)) {
    levels = length > former ? levels + 1 : length === former ? levels : 0;
    if (levels > DEPTH_MAX) return TOO_DEEP;
    former = length;
  }
  return null;
}

const TOO_DEEP = `nests deeper than ${DEPTH_MAX} levels`;

/** Which key of a map comes twice, or is none, or that there are too many aliases; null for nothing of it. */
function faultOf(document: Document): string | null {
  let found: string | null = null;
  let aliases = 0;
  visit(document, {
    Alias: () => {
      if (++aliases <= ALIASES_IN_ALL_MAX) return undefined;
      found = `more than ${ALIASES_IN_ALL_MAX} aliases`;
      return visit.BREAK;
    },
    Map: (_, { items }) => {
      const keys = new Set<string>();
      for (const { key } of items) {
        // The text of a key that has keys in keys doubles with each.
        if (!isScalar(key)) {
          found = "a key is no text";
          break;
        }
        const text = String(key);
        if (keys.has(text)) found = `Map keys must be unique: ${text.slice(0, 100)}`;
        keys.add(text);
      }
      return found === null ? undefined : visit.BREAK;
    },
  });
  return found;
}
