import { PARAMETER_BYTES_MAX } from "./limits.ts";

const encoder = new TextEncoder();

/** Rows as the texts of JSON parameters. No text is larger than `PARAMETER_BYTES_MAX`, unless a single row is. No rows
 *  make no text. */
export function rowParameters<R>(rows: readonly R[]): { readonly text: string; readonly count: number }[] {
  if (rows.length === 0) return [];
  const all = JSON.stringify(rows);
  if (rows.length === 1 || fits(all)) return [{ text: all, count: rows.length }];
  const parameters: { text: string; count: number }[] = [];
  let texts: string[] = [];
  let bytes = 0;
  const flush = (): void => {
    if (texts.length > 0) parameters.push({ text: `[${texts.join(",")}]`, count: texts.length });
    texts = [];
    bytes = 0;
  };
  for (const row of rows) {
    const text = JSON.stringify(row);
    const size = bytesOf(text) + 1;
    if (bytes + size >= PARAMETER_BYTES_MAX) flush();
    texts.push(text);
    bytes += size;
  }
  flush();
  return parameters;
}

/** Whether a text is small enough for one parameter. */
export function fits(text: string): boolean {
  // A UTF-16 unit takes three bytes at most.
  return text.length * 3 <= PARAMETER_BYTES_MAX || bytesOf(text) <= PARAMETER_BYTES_MAX;
}

export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}
