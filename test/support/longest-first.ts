import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, longest first. One of them that started last would leave a processor idle. */
const LONGEST = [
  "simulation/simulation",
  "simulation/mutations",
  "stores/libsql-http.server",
  "stores/libsql.server",
  "stores/local-stores.local",
  "stores/histories.local",
  "executors/worker-executor.local",
  "executors/processes.local",
  "properties/cron-oracle",
  "package.node",
  "readme.node",
  "model/model",
  "examples/hello.node",
  "examples/one-program.node",
  "brokers/redis/outages.local",
  "scheduler/explain/explain.local",
  "simulation/sql-simulation.local",
  "cloudflare/durable-object.node",
  "package-bundlers.node",
  "chaos/broker-chaos.node",
];

/** Starts the longest files first, whatever their size: on a clean checkout nothing tells how long a file took. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return rank === -1 ? LONGEST.length : rank;
}
