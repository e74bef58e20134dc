import fc from "fast-check";
import { expect, test } from "vitest";
import { compareTexts } from "../../src/core/text.ts";
import { inOrderOfIds, orderKey } from "../../src/stores/memory/id-order.ts";

test("a memory store has ids in the order of their code points", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "z", "é", "\ud7ff", "\ue000", "\uff5e", "\uffff", "😀", "\u{10ffff}"),
  });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const order = inOrderOfIds({ orderKey: orderKey(a) }, { orderKey: orderKey(b) });
      expect(Math.sign(order)).toBe(Math.sign(compareTexts(a, b)));
    }),
  );
});
