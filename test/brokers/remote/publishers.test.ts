import { expect, test } from "vitest";
import { Publishers } from "../../../src/brokers/remote/publishers.ts";

function message(from: string, number: number, isEmpty = false): Parameters<Publishers["place"]>[0] {
  return { escapement: 1, namespace: "", from, number, events: isEmpty ? [] : [{}] };
}

test("numbers of one publisher that follow each other are next, from any number on", () => {
  const publishers = new Publishers();
  expect([7, 8, 9].map((number) => publishers.place(message("a", number)))).toEqual(["next", "next", "next"]);
});

test("a number that was there is a double, and so is a lower one", () => {
  const publishers = new Publishers();
  expect([7, 7, 8, 7, 9].map((number) => publishers.place(message("a", number)))).toEqual([
    "next",
    "double",
    "next",
    "double",
    "next",
  ]);
});

test("a number that is too high comes after a loss, and the next one does not", () => {
  const publishers = new Publishers();
  expect([1, 3, 4].map((number) => publishers.place(message("a", number)))).toEqual(["next", "afterLoss", "next"]);
});

test("a message without events has the number of the one before it", () => {
  const publishers = new Publishers();
  publishers.place(message("a", 3));
  expect(publishers.place(message("a", 3, true))).toBe("next");
  expect(publishers.place(message("a", 5, true))).toBe("afterLoss");
  expect(publishers.place(message("a", 6))).toBe("next");
});

test("publishers do not disturb each other, and messages without a sender are always next", () => {
  const publishers = new Publishers();
  const anonymous = { escapement: 1, namespace: "", events: [] } as const;
  expect(
    [message("a", 1), message("b", 1), anonymous, message("a", 2), anonymous].map((each) => publishers.place(each)),
  ).toEqual(["next", "next", "next", "next", "next"]);
});

test("the publisher that was silent for longest is forgotten first", () => {
  const publishers = new Publishers();
  publishers.place(message("silent", 1));
  publishers.place(message("lively", 1));
  for (let index = 0; index < 9_998; index++) publishers.place(message(`${index}`, 1));
  publishers.place(message("lively", 2));
  publishers.place(message("one more", 1));
  // Unknown again, so that a number of before is no double.
  expect([publishers.place(message("lively", 2)), publishers.place(message("silent", 1))]).toEqual(["double", "next"]);
});
