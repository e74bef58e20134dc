import { describe, expect, test } from "vitest";
import { guardedLogger, isThenable, type Logger, silentLogger } from "../../src/core/logger.ts";

describe("a guarded logger", () => {
  test("passes everything on, with the logger as this", () => {
    class Recorder {
      lines: unknown[][] = [];
      debug(...args: unknown[]): void {
        this.lines.push(["debug", ...args]);
      }
      info(...args: unknown[]): void {
        this.lines.push(["info", ...args]);
      }
      warn(...args: unknown[]): void {
        this.lines.push(["warn", ...args]);
      }
      error(...args: unknown[]): void {
        this.lines.push(["error", ...args]);
      }
    }
    const recorder = new Recorder();
    const logger = guardedLogger(recorder);
    logger.debug("a");
    logger.info("b", 1);
    logger.warn("c");
    logger.error("d", new Error("e"));
    expect(recorder.lines.map(([level]) => level)).toEqual(["debug", "info", "warn", "error"]);
    expect(recorder.lines[1]).toEqual(["info", "b", 1]);
  });

  test("keeps a line of the library one line, whatever ids it has in it, and leaves others as they are", () => {
    const lines: string[] = [];
    const logger = guardedLogger({ ...silentLogger, info: (message) => void lines.push(message) });
    logger.info('escapement: schedule "a\nescapement: FORGED\u2028\u001b[31m" fires');
    logger.info("two\nlines");
    expect(lines).toEqual(['escapement: schedule "a%0Aescapement: FORGED%E2%80%A8%1B[31m" fires', "two\nlines"]);
  });

  test("swallows what the logger throws, and what its promise rejects with", async () => {
    let handled = 0;
    const rejecting = {
      // biome-ignore lint/suspicious/noThenProperty: a promise of another make is what is tested
      then: (_: unknown, reject: (error: Error) => void) => {
        handled++;
        reject(new Error("async"));
      },
    };
    const fails = (): void => {
      throw new Error("sync");
    };
    const logger = guardedLogger({
      debug: fails,
      info: fails,
      warn: fails,
      error: () => rejecting,
    } as unknown as Logger);
    logger.debug("x");
    logger.error("x");
    expect(handled).toBe(1);
  });

  test.each([
    [Promise.resolve(), true],
    // biome-ignore lint/suspicious/noThenProperty: a promise of another make is what is tested
    [{ then: () => {} }, true],
    // biome-ignore lint/suspicious/noThenProperty: looks like one and is none
    [{ then: 1 }, false],
    [null, false],
    [undefined, false],
    ["then", false],
  ])("%o is thenable: %s", (value, expected) => {
    expect(isThenable(value)).toBe(expected);
  });
});
