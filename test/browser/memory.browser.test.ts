import { beforeAll, describe, expect, test } from "vitest";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { stagePackage } from "../package/stage.ts";
import { titleOf } from "../stores/contract-title.ts";
import { answerInChromium, bundleForBrowser } from "../support/chromium.ts";

/** Runs every case in the page, and says what each of them threw, or null. */
const PAGE = `
  import { MemoryDataStore, Scheduler } from "escapement";
  import { VirtualClock } from "escapement/testing";
  import { dataStoreContract } from "escapement/testing/contracts";

  const failures = {};
  for (const { name, run } of dataStoreContract) {
    const open = async () => new MemoryDataStore();
    failures[name] = await run({ open }).then(() => null, (error) => String(error?.stack ?? error));
  }

  const clock = new VirtualClock("2030-01-01T00:00:00Z");
  const scheduler = new Scheduler({ clock, timeZone: "Europe/Berlin" });
  const fired = [];
  await scheduler.schedule("report", "0 9 * * *", (_payload, { job }) => void fired.push(String(job.fireTime)));
  await scheduler.start();
  await clock.advance({ days: 2 });
  await scheduler.stop();

  globalThis.answer = { failures, fired };
`;

describe("in Chromium", () => {
  let answer: { failures: Record<string, string | null>; fired: string[] };
  beforeAll(async () => {
    await using stage = await stagePackage();
    answer = (await answerInChromium(await bundleForBrowser(PAGE, stage.path))) as typeof answer;
  });

  for (const { name, rules } of dataStoreContract) {
    test(`the memory store keeps its contract: ${titleOf(rules, name)}`, () => {
      expect(answer.failures[name]).toBe(null);
    });
  }

  test("a scheduler on the memory store fires as time goes by", () => {
    expect(answer.fired).toEqual(["2030-01-01T08:00:00Z", "2030-01-02T08:00:00Z"]);
  });
});
