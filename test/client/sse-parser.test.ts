import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type SseBlock, SseParser } from "../../src/client/events/sse-parser.ts";

function parse(...pieces: string[]): SseBlock[] {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

function block(facts: Partial<SseBlock>): SseBlock {
  return { id: null, event: "message", data: null, retryMs: null, ...facts };
}

describe("a stream of Server-Sent Events", () => {
  test.each([
    ["an event", "id: e.1\nevent: jobAdded\ndata: {}\n\n", [block({ id: "e.1", event: "jobAdded", data: "{}" })]],
    ["data of several lines", "data: a\ndata:b\ndata\n\n", [block({ data: "a\nb\n" })]],
    ["one space after the colon alone", "data:  a\n\n", [block({ data: " a" })]],
    ["an id without data", "id: e.7\n\n", [block({ id: "e.7" })]],
    ["an id that is taken back", "id\n\n", [block({ id: "" })]],
    ["a pause", "retry: 2000\n\n", [block({ retryMs: 2000 })]],
    ["comments and unknown fields", ": beat\nfoo: bar\nretry: soon\n\n", []],
    ["an id with a NUL", "id: a\0b\ndata: x\n\n", [block({ data: "x" })]],
    ["a byte order mark", "\uFEFFdata: x\n\n", [block({ data: "x" })]],
    ["empty lines", "\n\n\ndata: x\n\n\n\n", [block({ data: "x" })]],
    ["a block that is not complete", "data: x\n\ndata: y\n", [block({ data: "x" })]],
    [
      "line breaks of all kinds",
      "data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\r",
      [block({ data: "a\nb\nc" }), block({ data: "d" })],
    ],
  ])("is read with %s", (_, text, blocks) => {
    expect(parse(text)).toEqual(blocks);
  });

  test("is read the same in whatever pieces it comes", () => {
    const piece = fc.constantFrom(
      "\r",
      "\n",
      "\r\n",
      "data: a",
      "data:",
      "id: e.1",
      "event: x",
      ": c",
      "retry: 5",
      "\uFEFF",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (parts) => {
        const text = parts.join("");
        expect(parse(...text)).toEqual(parse(text));
      }),
      { numRuns: 300 },
    );
  });

  test("is refused when a block has no end", () => {
    const parser = new SseParser();
    const line = `data: ${"x".repeat(1_000_000)}\n`;
    expect(() => {
      for (let count = 0; count < 6; count++) parser.push(line);
    }).toThrow(RangeError);
    expect(() => new SseParser().push("x".repeat(5_000_001))).toThrow(RangeError);
  });
});
