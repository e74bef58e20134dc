// The same requests as in fuzz.test.ts, over a database, so that there is SQL that an answer or the log could show.
import { afterAll, describe, test } from "vitest";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { fuzz, report, seedsOf, type Tally } from "./fuzz/run.ts";

const tally: Tally = new Map();

describe("a router over a libSQL database", () => {
  test.each(seedsOf("libsql"))("answers hostile requests as it should, with the seed %i", async (seed) => {
    await fuzz(() => new LibsqlDataStore({ url: ":memory:" }), seed, tally);
  });
});

afterAll(() => console.log(report(tally)));
