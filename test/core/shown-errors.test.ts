import { expect, test } from "vitest";
import { type Logger, Scheduler } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";

/** What the log is handed for a handler that throws. */
async function loggedOf(thrown: () => unknown): Promise<unknown> {
  const errors: unknown[] = [];
  const silent = (): void => {};
  const error = (_: string, ...details: unknown[]): void => void errors.push(...details);
  const logger: Logger = { debug: silent, info: silent, warn: silent, error };
  await using scheduler = new Scheduler({ logger });
  scheduler.task("fail", () => {
    throw thrown();
  });
  await scheduler.addJob("fail");
  await drain(scheduler);
  expect(errors).toHaveLength(1);
  return errors[0];
}

const OURS = /[\\/]src[\\/](?:scheduler|executors|records|core)[\\/]/;

test.each([
  ["an error", () => new TypeError("no account")],
  ["an error with a cause", () => new Error("no account", { cause: new RangeError("low") })],
  ["an error whose message was given later", () => Object.assign(new Error("old"), { message: "no account" })],
  ["an AggregateError", () => new AggregateError([new Error("first"), { message: "second" }], "no account")],
  ["a plain object", () => ({ message: "no account" })],
])("the log of %s begins with its message and has no frames of the library", async (_, thrown) => {
  const shown = await loggedOf(thrown);
  if (!(shown instanceof Error)) throw new Error("the log got no error");
  expect(shown.stack?.split("\n")[0]).toMatch(/Error: no account$/);
  expect(shown.stack).not.toMatch(OURS);
  if (shown.cause instanceof Error) expect(shown.cause.stack).not.toMatch(OURS);
});

test("the log of a plain object that was thrown shows its code and fields", async () => {
  const shown = await loggedOf(() => ({ message: "quota", code: "E_QUOTA", limit: 51 }));
  expect({ ...(shown as object) }).toEqual({ code: "E_QUOTA", limit: 51 });
});

test("a frozen error is logged as it is", async () => {
  const error = Object.freeze(new Error("frozen"));
  expect(await loggedOf(() => error)).toBe(error);
});
