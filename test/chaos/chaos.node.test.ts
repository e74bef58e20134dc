import { expect, test } from "vitest";
import { whyNoSqlite } from "../support/sqlite-store.ts";
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
