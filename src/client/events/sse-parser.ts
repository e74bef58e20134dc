/** A block of a stream of Server-Sent Events. */
export interface SseBlock {
  /** The position after this block, which `Last-Event-ID` brings back; null when the block says nothing of it. */
  readonly id: string | null;
  readonly event: string;
  /** Null for a block without data, which is no event. */
  readonly data: string | null;
  /** The pause before the stream is opened anew, in milliseconds; null when the block says nothing of it. */
  readonly retryMs: number | null;
}

/** Longest block, in UTF-16 units. A longer one is no event of a scheduler. */
const BLOCK_LENGTH_MAX = 5_000_000;

/**
 * Reads the text of Server-Sent Events in whatever pieces it comes:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export class SseParser {
  #rest = "";
  #length = 0;
  #endsWithReturn = false;
  #isFirst = true;
  #block: Block = emptyBlock();

  /** The blocks that are complete with this piece. @throws {RangeError} for a block that is too long */
  push(piece: string): SseBlock[] {
    const blocks: SseBlock[] = [];
    let text = this.#rest + this.#begun(piece);
    // A carriage return at the end may be half of a line break.
    if (piece !== "") this.#endsWithReturn = piece.endsWith("\r");
    for (;;) {
      const end = text.search(/[\r\n]/);
      if (end === -1) break;
      this.#line(text.slice(0, end), blocks);
      text = text.slice(end + (text.startsWith("\r\n", end) ? 2 : 1));
    }
    this.#rest = text;
    if (this.#length + text.length > BLOCK_LENGTH_MAX) throw new RangeError("a block of the stream is too long");
    return blocks;
  }

  #begun(piece: string): string {
    const text = this.#endsWithReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    if (!this.#isFirst || text === "") return text;
    this.#isFirst = false;
    return text.replace(/^\uFEFF/, "");
  }

  #line(line: string, blocks: SseBlock[]): void {
    if (line === "") {
      if (this.#block.isUsed) blocks.push(finished(this.#block));
      this.#block = emptyBlock();
      this.#length = 0;
      return;
    }
    this.#length += line.length;
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    const block = this.#block;
    if (name === "data") block.data.push(value);
    else if (name === "event") block.event = value;
    else if (name === "id" && !value.includes("\0")) block.id = value;
    else if (name === "retry" && /^\d+$/.test(value)) block.retryMs = Number(value);
    else return;
    block.isUsed = true;
  }
}

interface Block {
  id: string | null;
  event: string;
  readonly data: string[];
  retryMs: number | null;
  isUsed: boolean;
}

function emptyBlock(): Block {
  return { id: null, event: "", data: [], retryMs: null, isUsed: false };
}

function finished({ id, event, data, retryMs }: Block): SseBlock {
  return { id, event: event === "" ? "message" : event, data: data.length === 0 ? null : data.join("\n"), retryMs };
}
