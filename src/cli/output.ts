import picocolors from "picocolors";
import { oneLine } from "../core/text.ts";
import type { CliIo } from "./io.ts";
import { Progress } from "./progress.ts";

/** How a piece of text looks on a terminal. */
export type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

/** Text, plain or with a style. Whatever it is, no control character of it reaches the terminal. */
export type Piece = string | { readonly text: string; readonly style: Style };

/** A piece with a style. */
export function styled(style: Style, text: string): Piece {
  return { text, style };
}

const GAP = "  ";
/** A column is not made narrower than this, unless all else does not help; then not narrower than the second. */
const COLUMN_MIN = 16;
const COLUMN_LEAST = 8;
/** Text that is wrapped has at least so many columns. */
const WRAPPED_MIN = 24;

/** What a table has besides its rows. */
export interface TableOptions {
  /** What each line begins with. */
  readonly indent?: string;
  /** Columns that are never cut, because a part of an id or of a time is of no use. */
  readonly whole?: readonly number[];
  /** Columns that a terminal does not show where it is too narrow for all: the first of them goes first. */
  readonly spare?: readonly number[];
}

/**
 * Everything that commands print goes through here. Text comes from stores, files and servers, so each piece is put on
 * one line without control characters, and styles are added afterwards.
 */
export class Output {
  readonly isJson: boolean;
  readonly #io: CliIo;
  readonly #colors: Colors;
  readonly #errorColors: Colors;

  constructor(io: CliIo, isJson: boolean) {
    const { NO_COLOR = "", FORCE_COLOR = "", TERM } = io.env;
    const isForced = !["", "0", "false"].includes(FORCE_COLOR);
    const colorsOf = (isTerminal: boolean): Colors =>
      picocolors.createColors(NO_COLOR === "" && TERM !== "dumb" && (isTerminal || isForced));
    this.#colors = colorsOf(io.isTerminal);
    this.#errorColors = colorsOf(io.isErrorTerminal);
    this.isJson = isJson;
    this.#io = io;
  }

  /** Prints one line. */
  line(...pieces: readonly Piece[]): void {
    this.#io.write(`${this.#shown(pieces)}\n`);
  }

  /** Prints text of several lines. */
  block(text: string): void {
    for (const line of text.split("\n")) this.line(line);
  }

  /** Prints prose: a terminal gets as many lines as it takes, broken at spaces. @param indent of its further lines */
  prose(indent: number, ...pieces: readonly Piece[]): void {
    this.#io.write(this.#wrapped(pieces, indent, this.#io.isTerminal, this.#colors));
  }

  /** Prints prose of several lines. */
  proseBlock(text: string): void {
    for (const line of text.split("\n")) this.prose(line.length - line.trimStart().length + 2, line);
  }

  /** Prints prose to the standard error. */
  error(...pieces: readonly Piece[]): void {
    this.#io.writeError(this.#wrapped(pieces, 2, this.#io.isErrorTerminal, this.#errorColors));
  }

  /** Prints one line to the standard error, which stays one: code, or a caret below it. */
  errorLine(text: string): void {
    this.#io.writeError(`${oneLine(text)}\n`);
  }

  /** Prints a value as JSON: indented, and one line for each value with `isLine`. */
  json(value: unknown, isLine = false): void {
    this.jsonText(`${JSON.stringify(value, null, isLine ? 0 : 2) ?? "null"}\n`);
  }

  /** Prints text that is JSON. JSON escapes some of the characters that terminals obey, or that hide text; here the
   *  others are escaped too, which changes no value. */
  jsonText(text: string): void {
    this.#io.write(
      text.replace(/[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
        return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
      }),
    );
  }

  /**
   * Prints rows whose columns are aligned. On a terminal that is too narrow, long cells are cut.
   * @param head the names of the columns; null for none
   */
  table(
    head: readonly string[] | null,
    rows: readonly (readonly Piece[])[],
    { indent = "", whole = [], spare = [] }: TableOptions = {},
  ): void {
    const lines = [...(head === null ? [] : [head.map((name) => styled("dim", name))]), ...rows];
    const natural: number[] = [];
    for (const line of lines) {
      for (const [index, cell] of line.entries()) natural[index] = Math.max(natural[index] ?? 0, widthOf(cell));
    }
    const columns = this.#io.isTerminal ? this.#io.columns - indent.length : Number.POSITIVE_INFINITY;
    const widths = fitted(natural, columns, whole, spare);
    const last = widths.findLastIndex((width) => width > 0);
    for (const line of lines) {
      const cells = line.flatMap((cell, index) => {
        const width = widths[index] ?? 0;
        if (width === 0 && natural[index] !== 0) return [];
        const text = cut(oneLine(textOf(cell)), width);
        const padding = index >= last ? "" : " ".repeat(width - [...text].length);
        return [`${this.#dress(cell, text)}${padding}`];
      });
      this.#io.write(`${indent}${cells.join(GAP)}`.trimEnd().concat("\n"));
    }
  }

  /** What tells how far long work has come; see {@link Progress}. */
  progress(what: string): Progress {
    return new Progress(this.#io, what);
  }

  #shown(pieces: readonly Piece[]): string {
    return pieces.map((piece) => this.#dress(piece, oneLine(textOf(piece)))).join("");
  }

  #dress(piece: Piece, text: string, colors = this.#colors): string {
    return typeof piece === "string" ? text : colors[piece.style](text);
  }

  /** Pieces as lines. A style ends with each line. */
  #wrapped(pieces: readonly Piece[], indent: number, isTerminal: boolean, colors: Colors): string {
    const columns = isTerminal ? Math.max(this.#io.columns, indent + WRAPPED_MIN) : Number.POSITIVE_INFINITY;
    let text = "";
    let width = 0;
    for (const piece of pieces) {
      let run = "";
      for (const word of oneLine(textOf(piece)).match(/^ +|\S+ */g) ?? []) {
        const length = [...word.trimEnd()].length;
        if (width + length > columns && width > indent && length > 0) {
          text = `${text}${run === "" ? "" : this.#dress(piece, run.trimEnd(), colors)}`.trimEnd();
          text += `\n${" ".repeat(indent)}`;
          [run, width] = ["", indent];
        }
        run += word;
        width += [...word].length;
      }
      if (run !== "") text += this.#dress(piece, run, colors);
    }
    return `${text}\n`;
  }
}

type Colors = ReturnType<typeof picocolors.createColors>;

function textOf(piece: Piece): string {
  return typeof piece === "string" ? piece : piece.text;
}

function widthOf(piece: Piece): number {
  return [...oneLine(textOf(piece))].length;
}

function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

function lineWidth(widths: readonly number[]): number {
  const shown = widths.filter((width) => width > 0);
  return shown.reduce((sum, width) => sum + width, 0) + GAP.length * (shown.length - 1);
}

/** The widths that columns get: 0 for those that are left out. */
function fitted(
  natural: readonly number[],
  columns: number,
  whole: readonly number[],
  spare: readonly number[],
): readonly number[] {
  const widths = [...natural];
  shrink(widths, columns, whole, COLUMN_MIN);
  for (const index of spare) {
    if (lineWidth(widths) <= columns) break;
    for (const [other, width] of natural.entries()) if (widths[other] !== 0) widths[other] = width;
    widths[index] = 0;
    shrink(widths, columns, whole, COLUMN_MIN);
  }
  shrink(widths, columns, whole, COLUMN_LEAST);
  return widths;
}

/** Takes from the widest columns until a line fits, or no column may be narrower. */
function shrink(widths: number[], columns: number, whole: readonly number[], least: number): void {
  for (let over = lineWidth(widths) - columns; over > 0; over--) {
    const free = [...widths.keys()].filter((index) => !whole.includes(index));
    const widest = free.reduce(
      (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      free[0] ?? 0,
    );
    if (free.length === 0 || (widths[widest] ?? 0) <= least) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}
