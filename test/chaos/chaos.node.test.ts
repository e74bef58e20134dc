import { expect, test } from "vitest";
import { whyNoSqlite } from "../support/sqlite-store.ts";
import { killJob } from "./kill-job.ts";
import { runChaos } from "./run-chaos.ts";

for (const store of ["libsql", "sqlite"] as const) {
  test(`processes that are killed and frozen on one file execute every occurrence, and enqueue none twice (${store})`, async ({
    annotate,
    skip,
  }) => {
    if (store === "sqlite" && whyNoSqlite !== null) skip(whyNoSqlite);
    const report = await runChaos({ store, server: null, seconds: 10, processes: 3, seed: 20261120 });
    await annotate(`chaos on a file (${store}): ${JSON.stringify(report)}`);
    expect(report.violations).toEqual([]);
    expect(report.kills + report.freezes).toBeGreaterThan(0);
    expect(report.limitChecks).toBeGreaterThan(0);
  });
}

test("a job that is killed before and after each save of a step goes on from what is recorded", async () => {
  const { kills, repeatedEffects, violations } = await killJob({ steps: 2, positions: 2, points: "saves" });
  expect(violations).toEqual([]);
  // Saves of two positions, of the ends of three steps, and of the beginning of a sleep: each effect of a step is there
  // once more, because a process died between it and its record.
  expect([kills, repeatedEffects]).toEqual([12, 3]);
});
