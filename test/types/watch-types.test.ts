import { describe, expectTypeOf, test } from "vitest";
import type { DataStore } from "../../src/contracts.ts";
import { MemoryDataStore, type SchedulerOptions } from "../../src/mod.ts";
import { Metrics } from "../../src/observability/metrics/mod.ts";
import { Telemetry } from "../../src/observability/otel/mod.ts";

const dataStore: DataStore = new MemoryDataStore();

describe("the options that watch gives back", () => {
  test("are those of a scheduler, whoever watches first", () => {
    const options = { dataStore, role: "worker", identity: "me" } as const;
    expectTypeOf(new Metrics().watch({ dataStore, role: "worker" })).toExtend<SchedulerOptions>();
    expectTypeOf(new Telemetry().watch({ role: "worker", identity: "me" })).toExtend<SchedulerOptions>();
    expectTypeOf(new Telemetry().watch(new Metrics().watch(options))).toExtend<SchedulerOptions>();
    expectTypeOf(new Metrics().watch(new Telemetry().watch(options))).toExtend<SchedulerOptions>();
  });

  test("are refused by metrics without a store, whatever else there is", () => {
    expectTypeOf(new Metrics().watch<{ identity: string }>)
      .parameter(0)
      .toHaveProperty("dataStore");
  });
});
