import { expect, test } from "vitest";
import { compareTexts, oneLine } from "../../src/core/text.ts";

test("texts are in the order of their UTF-8, whatever their UTF-16 units say", () => {
  const pieces = [
    "",
    "\u0001",
    "A",
    "a",
    "z",
    "é",
    "\ud7ff",
    "\ue000",
    "\uff5e",
    "\uffff",
    "\u{10000}",
    "😀",
    "\u{10ffff}",
  ];
  const texts = pieces.flatMap((first) => pieces.map((second) => first + second));
  const encoder = new TextEncoder();
  const compareBytes = (a: string, b: string): number => {
    const [bytesOfA, bytesOfB] = [encoder.encode(a), encoder.encode(b)];
    const place = bytesOfA.findIndex((byte, index) => byte !== bytesOfB[index]);
    return place === -1 ? bytesOfA.length - bytesOfB.length : (bytesOfA[place] ?? 0) - (bytesOfB[place] ?? -1);
  };
  const wrong = texts.flatMap((a) =>
    texts.filter((b) => Math.sign(compareTexts(a, b)) !== Math.sign(compareBytes(a, b))).map((b) => [a, b]),
  );
  expect(wrong).toEqual([]);
});

test("a text on one line breaks no line, and turns the direction of no other text", () => {
  expect(oneLine("a\nb\u202ec\u2066d é שלום")).toBe("a%0Ab%E2%80%AEc%E2%81%A6d é שלום");
});
