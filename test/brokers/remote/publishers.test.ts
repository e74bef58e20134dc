import { expect, test } from "vitest";
import { Publishers } from "../../../src/brokers/remote/publishers.ts";

/** Length of a message's text, where it does not matter. */
const LENGTH = 100;

function message(from: string, number: number, isEmpty = false): Parameters<Publishers["place"]>[0] {
  return { escapement: 1, namespace: "", from, number, events: isEmpty ? [] : [{}] };
}

test("numbers of one publisher that follow each other are next, from any number on", () => {
  const publishers = new Publishers();
  expect([7, 8, 9].map((number) => publishers.place(message("a", number), LENGTH))).toEqual(["next", "next", "next"]);
});

test("the last message again is a double, and one of before is stale", () => {
  const publishers = new Publishers();
  expect([7, 7, 8, 7, 9].map((number) => publishers.place(message("a", number), LENGTH))).toEqual([
    "next",
    "double",
    "next",
    "stale",
    "next",
  ]);
});

test("a message under the number of another one is stale, because somebody else may have used its number", () => {
  const publishers = new Publishers();
  publishers.place(message("a", 7), LENGTH);
  expect([publishers.place(message("a", 7), LENGTH + 1), publishers.place(message("a", 8), LENGTH)]).toEqual([
    "stale",
    "next",
  ]);
});

test("a publisher is heard again after somebody has forged its number", () => {
  const publishers = new Publishers();
  publishers.place(message("a", 7), LENGTH);
  publishers.place(message("a", Number.MAX_SAFE_INTEGER), LENGTH);
  expect([8, 9].map((number) => publishers.place(message("a", number), LENGTH))).toEqual(["afterLoss", "next"]);
});

test("a number that is too high comes after a loss, and the next one does not", () => {
  const publishers = new Publishers();
  expect([1, 3, 4].map((number) => publishers.place(message("a", number), LENGTH))).toEqual([
    "next",
    "afterLoss",
    "next",
  ]);
});

test("a message without events has the number of the one before it", () => {
  const publishers = new Publishers();
  publishers.place(message("a", 3), LENGTH);
  expect(publishers.place(message("a", 3, true), LENGTH)).toBe("next");
  expect(publishers.place(message("a", 5, true), LENGTH)).toBe("afterLoss");
  expect(publishers.place(message("a", 6), LENGTH)).toBe("next");
});

test("a publisher of which nothing was heard before the message without events could not send", () => {
  expect(new Publishers().place(message("a", 1, true), LENGTH)).toBe("afterLoss");
});

test("publishers do not disturb each other, and messages without a sender are always next", () => {
  const publishers = new Publishers();
  const anonymous = { escapement: 1, namespace: "", events: [] } as const;
  expect(
    [message("a", 1), message("b", 1), anonymous, message("a", 2), anonymous].map((each) =>
      publishers.place(each, LENGTH),
    ),
  ).toEqual(["next", "next", "next", "next", "next"]);
});

test("the publisher that was silent for longest is forgotten first", () => {
  const publishers = new Publishers();
  publishers.place(message("silent", 1), LENGTH);
  publishers.place(message("lively", 1), LENGTH);
  for (let index = 0; index < 9_998; index++) publishers.place(message(`${index}`, 1), LENGTH);
  publishers.place(message("lively", 2), LENGTH);
  publishers.place(message("one more", 1), LENGTH);
  // Unknown again, so that a number of before is no double.
  expect([publishers.place(message("lively", 2), LENGTH), publishers.place(message("silent", 1), LENGTH)]).toEqual([
    "double",
    "next",
  ]);
});
