import { stripVTControlCharacters } from "node:util";

/** Most characters of an output that are remembered, most lines of them that are shown, and the length of a line and of
 *  all of them. */
const KEPT_MAX = 16_384;
const LINES_MAX = 10;
const LINE_LENGTH_MAX = 200;
const SHOWN_MAX = 800;

/** Lines that tell nobody what happened: stacks, of JavaScript and of the runtime itself, and its version. */
const NOISE = /^\s*$|^\s+at |^\s*\d+: 0x|^-----|^<---|^\[\d+:0x|^\s*\^+\s*$|^(Node\.js|Bun|Deno) v\d/;

/** What a process wrote last. */
export class LastLines {
  #text = "";

  add(text: string): void {
    this.#text = (this.#text + text).slice(-KEPT_MAX);
  }

  /** Whether the runtime said that it has no memory left. */
  get tellsOfMemory(): boolean {
    return /out of memory/i.test(this.#text);
  }

  /** The last lines that say something; empty for none. */
  toString(): string {
    // Deno colours what it says of an error, into a pipe too.
    const lines = stripVTControlCharacters(this.#text)
      .split(/\r?\n/)
      .filter((line) => !NOISE.test(line));
    const shown = lines.slice(-LINES_MAX).map((line) => line.slice(0, LINE_LENGTH_MAX));
    return shown.join("\n").slice(-SHOWN_MAX);
  }
}
