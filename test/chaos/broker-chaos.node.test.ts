import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BrokerServer } from "./broker-server.ts";
import { runChaos } from "./run-chaos.ts";

describe.each(["redis", "mqtt", "postgres"] as const)("with events over %s", (kind) => {
  let broker: BrokerServer;
  beforeAll(async () => {
    broker = await BrokerServer.start(kind);
  });
  afterAll(() => broker?.stop());

  test("events that are lost, doubled and cut off, and a server that is killed, lose no occurrence and enqueue none twice", async ({
    annotate,
  }) => {
    const report = await runChaos({ store: "libsql", server: null, broker, seconds: 4, processes: 2, seed: 20261122 });
    await annotate(`chaos with events over ${kind}: ${JSON.stringify(report)}`);
    expect(report.violations).toEqual([]);
    expect(report.kills + report.freezes).toBeGreaterThan(0);
    expect(report.cuts + report.restartsOfBroker).toBeGreaterThan(0);
  });
});
