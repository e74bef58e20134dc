import { onTestFinished } from "vitest";
import type { DataStore } from "../../src/contracts.ts";
import { MemoryDataStore, Scheduler, type SchedulerOptions } from "../../src/mod.ts";
import { Metrics } from "../../src/observability/metrics/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { type LogEntry, recordingLogger, START } from "../scheduler/support.ts";

export interface WatchedSetup {
  readonly clock: VirtualClock;
  readonly metrics: Metrics;
  readonly scheduler: Scheduler;
  readonly log: LogEntry[];
}

/** A scheduler on a virtual clock, watched by metrics and stopped when the test ends. */
export function setUpWatched(
  options: Omit<SchedulerOptions, "dataStore"> & {
    dataStore?: DataStore;
    clock?: VirtualClock;
    metrics?: Metrics;
  } = {},
): WatchedSetup {
  const { metrics = new Metrics(), ...rest } = options;
  const clock = options.clock ?? new VirtualClock(START);
  const { logger, entries } = recordingLogger();
  const defaults = { dataStore: new MemoryDataStore(), logger, logLevel: "warn", random: () => 0.5 } as const;
  const scheduler = new Scheduler(metrics.watch({ ...defaults, ...rest, clock }));
  onTestFinished(async () => {
    const stopping = scheduler.stop({ drainTimeout: "PT0S" });
    await clock.advance("PT1M");
    await stopping;
  });
  return { clock, metrics, scheduler, log: entries };
}

/** The samples of a text of metrics whose names begin so, by `name{labels}`; of histograms, the counts and the sums. */
export function samples(text: string, ...names: readonly string[]): Record<string, number> {
  const lines = text.split("\n").filter((line) => names.some((name) => line.startsWith(`escapement_${name}`)));
  const pairs = lines.map((line) => {
    const end = line.lastIndexOf(" ");
    return [line.slice("escapement_".length, end), Number(line.slice(end + 1))] as const;
  });
  return Object.fromEntries(pairs.filter(([series]) => !series.includes("_bucket{")));
}
