import type { Contestant, JobQueue } from "./contestant.ts";

/** Jobs a second, by row; and what one job, added alone or processed, costs the process in CPU time, which a busy
 *  machine disturbs less. */
export interface Measurement {
  readonly addedOneByOne: number;
  readonly addedBy20: number;
  readonly addedInBulk: number;
  readonly processed: number | null;
  readonly processedAndKept: number | null;
  readonly cpuUsPerAddition: number | null;
  /** What one job, added alone, adds to the write-ahead log of an SQLite file. */
  readonly walBytesPerAddition: number | null;
  readonly cpuUsPerJob: number | null;
}

const ADDING_MS = 700;
const CALLERS = 20;
const BULK = 1000;
const BULKS = 20;
const WARM_UP_BULKS = 3;
/** Few enough that nobody moves the log into the file meanwhile. */
const LOGGED_JOBS = 200;

/** Measures one contestant in this process, on queues of its own, after a warm-up. */
export async function measureContestant(
  contestant: Pick<Contestant, "keeps" | "open">,
  address: string,
  label: string,
): Promise<Measurement> {
  const { keeps } = contestant;
  const open = (name: string, isKept: boolean): Promise<JobQueue> =>
    contestant.open({ address, name: `${label}${name}`, isKept });

  const warmUp = await open("warm", keeps !== "never");
  await addInBulk(warmUp, WARM_UP_BULKS);
  await processAll(warmUp, WARM_UP_BULKS * BULK);

  const single = await open("single", false);
  await addFor(single, CALLERS, ADDING_MS / 5);
  const { perSecond: addedOneByOne, cpuUs: cpuUsPerAddition } = await addFor(single, 1, ADDING_MS);
  const { perSecond: addedBy20 } = await addFor(single, CALLERS, ADDING_MS);
  await single.close();
  const walBytesPerAddition = await walBytes(await open("logged", false), `${address}/${label}logged.db-wal`);

  const bulks: number[] = [];
  const processed: (number | null)[] = [];
  let cpuUsPerJob: number | null = null;
  for (const isKept of [false, true]) {
    if (keeps === (isKept ? "never" : "always")) {
      processed.push(null);
      continue;
    }
    const queue = await open(isKept ? "kept" : "gone", isKept);
    bulks.push(await addInBulk(queue, BULKS));
    const { perSecond, cpuUs } = await processAll(queue, BULKS * BULK);
    processed.push(perSecond);
    cpuUsPerJob ??= cpuUs;
  }
  const addedInBulk = bulks.reduce((sum, rate) => sum + rate, 0) / bulks.length;
  const [gone = null, kept = null] = processed;
  return {
    addedOneByOne,
    addedBy20,
    addedInBulk,
    processed: gone,
    processedAndKept: kept,
    cpuUsPerAddition,
    walBytesPerAddition,
    cpuUsPerJob,
  };
}

/** Null where there is no such log. */
async function walBytes(queue: JobQueue, path: string): Promise<number | null> {
  await queue.add(0);
  const before = sizeOf(path);
  for (let added = 1; added <= LOGGED_JOBS; added++) await queue.add(added);
  const after = sizeOf(path);
  await queue.close();
  return before === null || after === null ? null : (after - before) / LOGGED_JOBS;
}

function sizeOf(path: string): number | null {
  if (typeof process === "undefined") return null;
  return process.getBuiltinModule?.("node:fs").statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

interface Rate {
  readonly perSecond: number;
  /** A job's, or null where a program cannot tell. */
  readonly cpuUs: number | null;
}

async function addFor(queue: JobQueue, callers: number, ms: number): Promise<Rate> {
  const cpuBefore = cpuUsed();
  const start = performance.now();
  let added = 0;
  const call = async (): Promise<void> => {
    while (performance.now() - start < ms) await queue.add(added++);
  };
  await Promise.all(Array.from({ length: callers }, call));
  const perSecond = (added / (performance.now() - start)) * 1000;
  return { perSecond, cpuUs: cpuUsSince(cpuBefore, added) };
}

async function addInBulk(queue: JobQueue, times: number): Promise<number> {
  const start = performance.now();
  for (let bulk = 0; bulk < times; bulk++) {
    await queue.addMany(Array.from({ length: BULK }, (_, index) => bulk * BULK + index));
  }
  return ((times * BULK) / (performance.now() - start)) * 1000;
}

/** Processes what `addInBulk` added, and sees that each job ran exactly once. */
async function processAll(queue: JobQueue, count: number): Promise<Rate> {
  const runs = new Uint8Array(count);
  const cpuBefore = cpuUsed();
  const start = performance.now();
  await queue.process(count, (payload) => {
    runs[payload] = (runs[payload] ?? 0) + 1;
  });
  const perSecond = (count / (performance.now() - start)) * 1000;
  const cpuUs = cpuUsSince(cpuBefore, count);
  await queue.close();
  const others = runs.filter((times) => times !== 1).length;
  if (others > 0) throw new Error(`${others} of ${count} jobs did not run exactly once`);
  return { perSecond, cpuUs };
}

function cpuUsSince(before: number | null, count: number): number | null {
  const after = cpuUsed();
  return before === null || after === null ? null : (after - before) / count;
}

/** Microseconds, or null in workerd. */
function cpuUsed(): number | null {
  if (typeof process === "undefined") return null;
  const { user, system } = process.cpuUsage();
  return user + system;
}
