import { afterAll, beforeAll, expect, test } from "vitest";
import { Sqld } from "../support/sqld.ts";
import { sqldOf } from "./chaos-server.ts";
import { runChaos } from "./run-chaos.ts";

let server: Sqld;
beforeAll(async () => {
  server = await Sqld.start();
});
afterAll(() => server?.stop());

test("processes that are killed and frozen on one server, which is killed too, execute every occurrence, and enqueue none twice", async ({
  annotate,
}) => {
  const report = await runChaos({ store: "libsql", server: sqldOf(server), seconds: 12, processes: 3, seed: 20261120 });
  await annotate(`chaos on sqld: ${JSON.stringify(report)}`);
  expect(report.violations).toEqual([]);
  expect(report.kills + report.freezes).toBeGreaterThan(0);
});
