import type { AbortSignal } from "../core/abort-signal.ts";
import { optionError } from "../core/option-errors.ts";
import { TRANSFER_LINE_LENGTH_MAX, TRANSFER_TEXT_LENGTH_MAX } from "./limits.ts";
import type { TransferLines } from "./options.ts";
import { TransferError } from "./transfer-error.ts";

/** A line of the text. Lines without text are not among them, but they count. */
export interface Line {
  readonly number: number;
  readonly text: string;
}

/** Text that can be read more than once. */
export class TransferText {
  readonly #lines: TransferLines;
  readonly #signal: AbortSignal | undefined;
  /** What was read of text that cannot be opened anew; null where none is to be kept. */
  #kept: string[] | null;
  #isRead = false;

  /** @param isReadOnce whether the text is read once alone */
  constructor(lines: TransferLines, isReadOnce: boolean, signal: AbortSignal | undefined) {
    this.#lines = lines;
    this.#signal = signal;
    this.#kept = isReadOnce || typeof lines === "function" || typeof lines === "string" ? null : [];
  }

  /** @throws {TransferError} for a line that is longer than a record can be
   *  @throws {OptionsError} for text that is too long to be kept in memory, and for pieces that are no text */
  async *lines(): AsyncGenerator<Line> {
    let number = 0;
    let parts: string[] = [];
    let length = 0;
    for await (const chunk of this.#chunks()) {
      this.#signal?.throwIfAborted();
      let start = 0;
      for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", start)) {
        number++;
        const text = line([...parts, chunk.slice(start, end)], number);
        if (text !== "") yield { number, text };
        [parts, length, start] = [[], 0, end + 1];
      }
      const rest = chunk.slice(start);
      length += rest.length;
      if (length > TRANSFER_LINE_LENGTH_MAX) throw tooLong(number + 1);
      if (rest !== "") parts.push(rest);
    }
    const text = line(parts, number + 1);
    if (text !== "") yield { number: number + 1, text };
  }

  async *#chunks(): AsyncGenerator<string> {
    if (this.#isRead && this.#kept !== null) return yield* this.#kept;
    this.#isRead = true;
    const lines = this.#lines;
    const given: unknown = typeof lines === "function" ? lines() : lines;
    const pieces = typeof given === "string" ? [given] : given;
    if (!isIterable(pieces)) {
      throw optionError("importStore()", "lines", "must be a function that returns text, or an iterable of text");
    }
    // A byte order mark is left out.
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let length = 0;
    for await (const piece of pieces) {
      const text = textOf(piece, decoder);
      length += text.length;
      if (this.#kept !== null) {
        if (length > TRANSFER_TEXT_LENGTH_MAX) throw tooMuch();
        this.#kept.push(text);
      }
      yield text;
    }
  }
}

function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof value !== "object" || value === null) return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value;
}

function textOf(piece: unknown, decoder: TextDecoder): string {
  if (typeof piece === "string") return piece;
  try {
    if (piece instanceof Uint8Array) return decoder.decode(piece, { stream: true });
  } catch {
    throw optionError("importStore()", "lines", "must be text in UTF-8");
  }
  throw optionError("importStore()", "lines", "must give pieces of text, or Uint8Arrays of UTF-8");
}

function line(parts: readonly string[], number: number): string {
  const text = parts.length === 1 ? (parts[0] ?? "") : parts.join("");
  if (text.length > TRANSFER_LINE_LENGTH_MAX) throw tooLong(number);
  return text.trim();
}

function tooLong(line: number): TransferError {
  return new TransferError([{ line, message: `has more than ${TRANSFER_LINE_LENGTH_MAX} characters` }]);
}

function tooMuch(): Error {
  const advice = "pass a function that opens it anew, such as () => createReadStream(path)";
  const problem = `has more than ${TRANSFER_TEXT_LENGTH_MAX} characters, and can be read only once; ${advice}`;
  return optionError("importStore()", "lines", problem);
}
