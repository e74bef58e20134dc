import type { FlowContestant, FlowJob, FlowLimit } from "./contestant.ts";

/** One run of a contestant under a limit. */
export interface FlowMeasurement {
  readonly perSecond: number;
  readonly cpuUsPerJob: number;
  /** The most jobs of one key that ran at once. */
  readonly mostRunningOfKey: number;
  /** The most jobs that started in any second. */
  readonly mostStartsInASecond: number;
}

const BULK = 1000;
const WARM_UP_JOBS = 2000;

/** Measures one contestant in this process, on queues of its own, after a warm-up without limits. */
export async function measureFlow(
  contestant: FlowContestant,
  { address, label, limit, count }: { address: string; label: string; limit: FlowLimit; count: number },
): Promise<FlowMeasurement> {
  await run(contestant, address, `${label}warm`, { kind: "none" }, WARM_UP_JOBS);
  return run(contestant, address, `${label}run`, limit, count);
}

async function run(
  contestant: FlowContestant,
  address: string,
  name: string,
  limit: FlowLimit,
  count: number,
): Promise<FlowMeasurement> {
  const queue = await contestant.open(address, name, limit);
  const keys = limit.kind === "keys" ? limit.keys : 0;
  const jobs: FlowJob[] = Array.from({ length: count }, (_, payload) => ({
    payload,
    key: keys === 0 ? "" : `key${payload % keys}`,
  }));
  for (let first = 0; first < count; first += BULK) await queue.addMany(jobs.slice(first, first + BULK));
  const runs = new Uint8Array(count);
  const running = new Map<string, number>();
  const starts: number[] = [];
  let mostRunningOfKey = 0;
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await queue.process(count, async (payload) => {
    runs[payload] = (runs[payload] ?? 0) + 1;
    starts.push(performance.now());
    const key = jobs[payload]?.key ?? "";
    const now = (running.get(key) ?? 0) + 1;
    running.set(key, now);
    mostRunningOfKey = Math.max(mostRunningOfKey, now);
    // Work that lasts beyond one turn, so that jobs can run at once.
    await new Promise((resolve) => setImmediate(resolve));
    running.set(key, (running.get(key) ?? 0) - 1);
  });
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await queue.close();
  const others = runs.filter((times) => times !== 1).length;
  if (others > 0) throw new Error(`${others} of ${count} jobs did not run exactly once`);
  return {
    perSecond: count / seconds,
    cpuUsPerJob: (user + system) / count,
    mostRunningOfKey,
    mostStartsInASecond: mostWithin(starts, 1000),
  };
}

/** The most of the ascending instants that lie within `length`. */
function mostWithin(instants: readonly number[], length: number): number {
  let most = 0;
  let first = 0;
  for (const [index, instant] of instants.entries()) {
    while ((instants[first] ?? instant) <= instant - length) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
