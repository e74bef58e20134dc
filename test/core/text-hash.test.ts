import { expect, test } from "vitest";
import { textHash } from "../../src/core/text-hash.ts";

test("the hash of a text never changes, because stores keep it", () => {
  expect([textHash(""), textHash("a"), textHash('{"id":"t"}')]).toEqual([
    "811c9dc5c9dc5811",
    "e40c292cd6dea2a2",
    "3380d692a4abd880",
  ]);
});

test("texts that differ in a character, or in an order, have other hashes", () => {
  const texts = Array.from({ length: 20_000 }, (_, index) => `{"maxRunningJobs":${index}}`);
  const orders = ["ab", "ba", "abc", "acb", "bac", "\0", "\0\0", "a\0", "\0a", "é", "e\u0301", "\ud800", "\udc00"];
  const hashes = [...texts, ...orders].map(textHash);
  expect(new Set(hashes).size).toBe(hashes.length);
  expect(hashes.every((hash) => /^[0-9a-f]{16}$/.test(hash))).toBe(true);
});
