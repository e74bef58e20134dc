// Requests as an enemy writes them: nearly fitting ones to every route, and raw bytes. Whatever is sent, the answer is a
// JSON document with a status below 500, and neither the answers nor the log show a stack, SQL or a token.
// FUZZ_CASES and FUZZ_SEED repeat a run: npm run fuzz:http -- 100000 SEED
import { afterAll, describe, expect, test } from "vitest";
import { MemoryDataStore } from "../../src/mod.ts";
import { fuzz, report, seedsOf, type Tally } from "./fuzz/run.ts";

const tally: Tally = new Map();

describe("a router over a store in memory", () => {
  test.each(seedsOf("memory"))("answers hostile requests as it should, with the seed %i", async (seed) => {
    await fuzz(() => new MemoryDataStore(), seed, tally);
  });

  test("has let requests of most kinds pass, so that they reached what is behind the checks", () => {
    const missing = ["GET 200", "POST 200", "POST 201", "POST 202", "PATCH 200", "DELETE 204"].filter(
      (key) => !tally.has(key),
    );
    expect(missing).toEqual([]);
  });
});

afterAll(() => console.log(report(tally)));
