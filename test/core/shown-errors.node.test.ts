import { runInNewContext } from "node:vm";
import { pino } from "pino";
import { expect, test } from "vitest";
import { fromPino } from "../../src/loggers.ts";
import { type Logger, Scheduler } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";

const OURS = /[\\/]src[\\/](?:scheduler|executors|records|core)[\\/]/;
const silent = (): void => {};

/** What the log is handed for a handler that throws what a script of another realm makes. */
async function loggedOf(script: string): Promise<unknown> {
  const errors: unknown[] = [];
  const error = (_: string, ...details: unknown[]): void => void errors.push(...details);
  await using scheduler = new Scheduler({ logger: { debug: silent, info: silent, warn: silent, error } });
  scheduler.task("fail", () => {
    throw runInNewContext(script);
  });
  await scheduler.addJob("fail");
  await drain(scheduler);
  expect(errors).toHaveLength(1);
  return errors[0];
}

test.each([
  ["an error", "Object.assign(new TypeError('no account'), { code: 'E_X', limit: 51 })", { code: "E_X", limit: 51 }],
  ["an error of its own class", "new (class extends Error { name = 'Own' })('no account')", {}],
  ["an AggregateError", "new AggregateError([new Error('first')], 'no account')", {}],
  ["an error with a cause", "new Error('no account', { cause: new RangeError('low') })", {}],
  ["a plain object", "({ message: 'no account', code: 'E_X', limit: 51 })", { code: "E_X", limit: 51 }],
])(
  "the log of %s of another realm has its message, its own fields and no frames of the library",
  async (_, script, own) => {
    const shown = await loggedOf(script);
    if (!(shown instanceof Error)) throw new Error("the log got no error of this realm");
    expect(shown.message).toBe("no account");
    expect(shown.stack).toMatch(/: no account$/m);
    expect(shown.stack).not.toMatch(OURS);
    expect(shown).toMatchObject(own);
  },
);

test("pino writes an error of another realm as err, with its code, own fields and causes", async () => {
  const written: Record<string, unknown>[] = [];
  const options = { level: "error", base: null, timestamp: false };
  const logger: Logger = fromPino(pino(options, { write: (line) => written.push(JSON.parse(line)) }));
  await using scheduler = new Scheduler({ logger });
  scheduler.task("fail", () => {
    const cause = "new RangeError('low')";
    throw runInNewContext(
      `Object.assign(new TypeError('no account', { cause: ${cause} }), { code: 'E_X', limit: 51 })`,
    );
  });
  await scheduler.addJob("fail");
  await drain(scheduler);
  const err = { type: "TypeError", message: "no account: low", code: "E_X", limit: 51 };
  expect(written).toMatchObject([{ errorCode: "E_X", err }]);
  expect(JSON.stringify(written)).not.toMatch(OURS);
});
