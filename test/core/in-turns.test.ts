import { expect, test } from "vitest";
import { yieldToEventLoop } from "../../src/core/clock.ts";
import { DearAnswers, inTurns, TooManyQuestions } from "../../src/core/in-turns.ts";
import { VirtualClock } from "../../src/testing/mod.ts";

test("steps leave the event loop a turn after as many as were asked for", async () => {
  let done = 0;
  function* steps(): Generator<void, string> {
    for (; done < 1000; done++) yield;
    return "end";
  }
  const seen: number[] = [];
  let isRunning = true;
  const watching = (async () => {
    while (isRunning) {
      seen.push(done);
      await yieldToEventLoop();
    }
  })();
  expect(await inTurns(steps(), 10)).toBe("end");
  isRunning = false;
  await watching;
  const longest = seen.slice(1).reduce((most, count, place) => Math.max(most, count - (seen[place] ?? 0)), 0);
  expect(longest).toBeLessThanOrEqual(10);
  expect(seen.length).toBeGreaterThan(90);
});

test("dear answers are made one at a time, once for all who ask within five seconds, and anew after a failure", async () => {
  const clock = new VirtualClock("2027-01-01T00:00:00Z");
  const answers = new DearAnswers<number>(clock);
  let [made, running, most] = [0, 0, 0];
  const make = async (): Promise<number> => {
    most = Math.max(most, ++running);
    await yieldToEventLoop();
    running--;
    return ++made;
  };
  const ask = (question: string): Promise<number> => answers.of(question, make);
  expect(await Promise.all(["a", "b", "a", "c", "a"].map(ask))).toEqual([1, 2, 1, 3, 1]);
  expect(most).toBe(1);
  await clock.advance({ milliseconds: 4999 });
  expect(await ask("a")).toBe(1);
  await clock.advance({ milliseconds: 1 });
  expect(await ask("a")).toBe(4);
  const failing = (): Promise<number> => answers.of("failed", async () => Promise.reject(new Error("no")));
  await expect(Promise.all([failing(), failing()])).rejects.toThrow("no");
  expect(await ask("failed")).toBe(5);
});

test("an answer of a clock that went back is made anew", async () => {
  let now = 10_000;
  const answers = new DearAnswers<number>({ now: () => now });
  let made = 0;
  const ask = (): Promise<number> => answers.of("a", async () => ++made);
  expect(await ask()).toBe(1);
  now = 0;
  expect(await ask()).toBe(2);
});

test("questions beyond sixteen that wait are refused, those that are known are not, and later ones are answered", async () => {
  const answers = new DearAnswers<string>(new VirtualClock("2027-01-01T00:00:00Z"));
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  const ask = (question: string): Promise<string> => answers.of(question, () => promise.then(() => question));
  const waiting = Array.from({ length: 16 }, (_, place) => ask(`${place}`));
  await expect(ask("one more")).rejects.toThrow(TooManyQuestions);
  const again = ask("3");
  resolve();
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 16 }, (_, place) => `${place}`));
  expect(await again).toBe("3");
  expect(await ask("one more")).toBe("one more");
});
