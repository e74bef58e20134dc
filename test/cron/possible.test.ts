import { expect, test } from "vitest";
import { CompiledCron } from "../../src/cron/compiled-cron.ts";
import { isSurelyPossible, parseCrontab } from "../../src/cron/parse.ts";
import { range } from "./spec-maker.ts";

test("what is possible without a search is found by the search", () => {
  let sureCount = 0;
  for (const dayMatch of ["and", "or"] as const) {
    for (const day of range(1, 31)) {
      for (const month of range(1, 12)) {
        for (const weekday of ["*", "mon", "sat,sun", "fri#5", "thuL"]) {
          const spec = parseCrontab(`0 0 ${day} ${month} ${weekday}`, { timeZone: "UTC", dst: "auto", dayMatch });
          if (!isSurelyPossible(spec)) continue;
          sureCount++;
          expect(new CompiledCron(spec).canEverMatch).toBe(true);
        }
      }
    }
  }
  expect(sureCount).toBe(2 * 28 * 12 * 3);
});

test.each([
  ["0 0 29 2 *"],
  ["0 0 L * *"],
  ["0 0 15W * *"],
  ["0 0 1 1 fri#5"],
  ["0 0 1 1 * week=1"],
  ["0 0 0 1 1 ? 2030"],
])("%s is left to the search", (text) => {
  const spec = parseCrontab(text, { timeZone: "UTC", dst: "auto", dayMatch: "and" });
  expect(isSurelyPossible(spec)).toBe(false);
});
