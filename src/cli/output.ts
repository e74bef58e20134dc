import picocolors from "picocolors";
import { oneLine } from "../core/text.ts";
import type { CliIo } from "./io.ts";

/** How a piece of text looks on a terminal. */
export type Style = "bold" | "dim" | "red" | "yellow" | "green" | "cyan";

/** Text, plain or with a style. Whatever it is, no control character of it reaches the terminal. */
export type Piece = string | { readonly text: string; readonly style: Style };

/** A piece with a style. */
export function styled(style: Style, text: string): Piece {
  return { text, style };
}

const GAP = "  ";
/** A column is not made narrower than this. */
const COLUMN_MIN = 12;

/**
 * Everything that commands print goes through here. Text comes from stores, files and servers, so each piece is put on
 * one line without control characters, and styles are added afterwards.
 */
export class Output {
  readonly isJson: boolean;
  readonly #io: CliIo;
  readonly #colors: ReturnType<typeof picocolors.createColors>;

  constructor(io: CliIo, isJson: boolean) {
    const { NO_COLOR = "", FORCE_COLOR = "", TERM } = io.env;
    const isColored =
      NO_COLOR === "" && TERM !== "dumb" && (io.isTerminal || !["", "0", "false"].includes(FORCE_COLOR));
    this.#colors = picocolors.createColors(isColored);
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

  /** Prints one line to the standard error. */
  error(...pieces: readonly Piece[]): void {
    this.#io.writeError(`${this.#shown(pieces)}\n`);
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
   * @param indent what each line begins with
   */
  table(head: readonly string[] | null, rows: readonly (readonly Piece[])[], indent = ""): void {
    const lines = [...(head === null ? [] : [head.map((name) => styled("dim", name))]), ...rows];
    const widths: number[] = [];
    for (const line of lines) {
      for (const [index, cell] of line.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
    }
    if (this.#io.isTerminal) shrink(widths, this.#io.columns - indent.length);
    for (const line of lines) {
      const cells = line.map((cell, index) => {
        const text = cut(oneLine(textOf(cell)), widths[index] ?? 0);
        const padding = index === line.length - 1 ? "" : " ".repeat((widths[index] ?? 0) - [...text].length);
        return `${this.#dress(cell, text)}${padding}`;
      });
      this.#io.write(`${indent}${cells.join(GAP)}`.trimEnd().concat("\n"));
    }
  }

  /** A bar on the standard error while long work goes on; nothing where that is no terminal. */
  progress(done: number, total: number, what: string): void {
    if (!this.#io.isTerminal || this.isJson) return;
    const width = 24;
    const filled = total === 0 ? width : Math.round((Math.min(done, total) / total) * width);
    const bar = `[${"#".repeat(filled)}${" ".repeat(width - filled)}]`;
    const isOver = done >= total;
    this.#io.writeError(isOver ? `\r${" ".repeat(width + what.length + 24)}\r` : `\r${bar} ${done}/${total} ${what}`);
  }

  #shown(pieces: readonly Piece[]): string {
    return pieces.map((piece) => this.#dress(piece, oneLine(textOf(piece)))).join("");
  }

  #dress(piece: Piece, text: string): string {
    return typeof piece === "string" ? text : this.#colors[piece.style](text);
  }
}

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

/** Takes from the widest columns until a line fits. */
function shrink(widths: number[], columns: number): void {
  const total = (): number => widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
  while (total() > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= COLUMN_MIN) return;
    widths[widest] = Math.max(COLUMN_MIN, width - (total() - columns));
    const second = Math.max(...widths.filter((_, index) => index !== widest), COLUMN_MIN);
    if ((widths[widest] ?? 0) < second) widths[widest] = Math.min(width - 1, second);
  }
}
