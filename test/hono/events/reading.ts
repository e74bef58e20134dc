import { expect } from "vitest";

/** A block of a stream of Server-Sent Events. */
export interface Block {
  readonly id?: string;
  readonly event?: string;
  readonly data?: unknown;
  readonly retry?: string;
  readonly comment?: string;
}

/** Reads the blocks of a stream, one after the other. */
export class BlockReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    if (response.body === null) throw new Error("the answer has no body");
    this.#reader = response.body.getReader();
  }

  /** The next block; null at the end. */
  async next(): Promise<Block | null> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return parse(block);
      }
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** The next blocks. */
  async take(count: number): Promise<(Block | null)[]> {
    const blocks: (Block | null)[] = [];
    while (blocks.length < count) blocks.push(await this.next());
    return blocks;
  }

  /** All blocks up to the first of a kind, that one included. */
  async until(event: string): Promise<Block[]> {
    const blocks: Block[] = [];
    for (;;) {
      const block = await this.next();
      if (block === null) throw new Error(`the stream ended without ${event}`);
      blocks.push(block);
      if (block.event === event) return blocks;
    }
  }

  /** Leaves, as a client does that is gone. */
  async leave(): Promise<void> {
    await this.#reader.cancel();
  }
}

function parse(text: string): Block {
  const block: Record<string, unknown> = {};
  for (const line of text.split("\n")) {
    const colon = line.indexOf(": ");
    const name = colon === 0 ? "comment" : line.slice(0, colon);
    const value = line.slice(colon + 2);
    block[name] = name === "data" ? JSON.parse(value) : value;
  }
  return block;
}
