import type { Document } from "yaml";

/** An object of YAML, whose values nobody has looked at. */
export type Plain = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Aliases that a document may make of its anchors, so that a small file cannot become a huge one. */
const ALIASES_MAX = 100;

/** The values of documents; of one that cannot be read, why. */
export function plainYaml(
  documents: readonly Document[] | { readonly empty: true },
): { readonly where: string; readonly value: unknown; readonly error: string | null }[] {
  if (!Array.isArray(documents)) return [];
  return (documents as readonly Document[]).map((document, index) => {
    const where = `document ${index + 1}`;
    const [error] = document.errors;
    if (error !== undefined) {
      const message = (error.message.split("\n")[0] ?? "").replace(/:$/, "");
      return { where, value: null, error: `is no YAML: ${message}` };
    }
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
