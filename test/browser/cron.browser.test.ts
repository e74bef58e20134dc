import { expect, test } from "vitest";
import { CronTrigger } from "../../src/mod.ts";
import { stagePackage } from "../package/stage.ts";
import { answerInChromium, bundleForBrowser } from "../support/chromium.ts";

/** Expressions with the zone and the instant from which to look: both transitions, and a zone of half an hour. */
const CASES = [
  ["0 9 * * mon-fri", "Europe/Berlin", "2026-03-27T12:00:00Z"],
  ["30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z"],
  ["30 1 * * *", "America/New_York", "2026-10-31T00:00:00Z"],
  ["*/15 * * * *", "Australia/Lord_Howe", "2026-04-04T14:00:00Z"],
  ["0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z"],
] as const;

test("a bundled page computes the fire times that Node computes", async () => {
  await using stage = await stagePackage();
  const page = `
    import { CronTrigger } from "escapement";
    globalThis.answer = ${JSON.stringify(CASES)}.map(([text, timeZone, from]) =>
      Array.from(CronTrigger.fromCrontab(text, { timeZone }).fireTimes({ from, limit: 5 }), String));
  `;
  expect(await answerInChromium(await bundleForBrowser(page, stage.path))).toEqual(
    CASES.map(([text, timeZone, from]) =>
      Array.from(CronTrigger.fromCrontab(text, { timeZone }).fireTimes({ from, limit: 5 }), String),
    ),
  );
});
