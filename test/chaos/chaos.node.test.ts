import { expect, test } from "vitest";
import { runChaos } from "./run-chaos.ts";

test("processes that are killed and frozen on one file execute every occurrence, and enqueue none twice", async ({
  annotate,
}) => {
  const report = await runChaos({ server: null, seconds: 10, processes: 3, seed: 20261120 });
  await annotate(`chaos on a file: ${JSON.stringify(report)}`);
  expect(report.violations).toEqual([]);
  expect(report.kills + report.freezes).toBeGreaterThan(0);
  expect(report.limitChecks).toBeGreaterThan(0);
});
