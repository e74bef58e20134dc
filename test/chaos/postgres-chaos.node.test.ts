import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresPair } from "./chaos-server.ts";
import { runChaos } from "./run-chaos.ts";

let server: PostgresPair;
beforeAll(async () => {
  server = await PostgresPair.start();
});
afterAll(() => server?.stop());

test("processes that are killed on PostgreSQL, whose processes and connections are killed and whose standby takes over, execute every occurrence, and enqueue none twice", async ({
  annotate,
}) => {
  const report = await runChaos({ store: "postgres", server, seconds: 10, processes: 2, seed: 20261126 });
  await annotate(`chaos on PostgreSQL: ${JSON.stringify(report)}`);
  expect(report.violations).toEqual([]);
  expect(report.kills + report.freezes).toBeGreaterThan(0);
  expect(server.hasFailedOver).toBe(true);
});
