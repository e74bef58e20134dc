import type { Contestant, JobQueue } from "../store/contestant.ts";
import { connectSql } from "./contestants.ts";
import { serverCpuSeconds } from "./server-cpu.ts";

/** What one job costs. */
export interface Cost {
  /** Jobs a second. */
  readonly rate: number;
  /** CPU of the process and of the server together, in microseconds. A busy machine disturbs it less than the rate. */
  readonly cpuUs: number;
}

export interface QueueCosts {
  readonly addedOneByOne: Cost;
  readonly addedBy20: Cost;
  readonly addedInBulk: Cost;
  readonly processed: Cost | null;
  readonly processedAndKept: Cost | null;
}

const SINGLES = 400;
const CALLERS = 20;
const BULK = 1000;

/** Measures one contestant in this process, on queues of its own, after a warm-up. */
export async function measureQueue(
  contestant: Contestant,
  address: string,
  label: string,
  bulks: number,
): Promise<QueueCosts> {
  const { keeps } = contestant;
  const sql = await connectSql(address);
  const cpuUs = async (): Promise<number> => {
    const { user, system } = process.cpuUsage();
    return user + system + (await serverCpuSeconds(sql)) * 1e6;
  };
  const costOf = async (count: number, work: () => Promise<unknown>): Promise<Cost> => {
    const cpuBefore = await cpuUs();
    const start = performance.now();
    await work();
    const rate = (count / (performance.now() - start)) * 1000;
    return { rate, cpuUs: ((await cpuUs()) - cpuBefore) / count };
  };
  const open = (name: string, isKept: boolean): Promise<JobQueue> =>
    contestant.open({ address, name: `${label}${name}`, isKept });

  const warmUp = await open("warm", keeps !== "never");
  await addInBulk(warmUp, 2);
  await processAll(warmUp, 2 * BULK);
  await warmUp.close();

  const single = await open("single", false);
  await addBy(single, CALLERS, SINGLES);
  const addedOneByOne = await costOf(SINGLES, () => addBy(single, 1, SINGLES));
  const addedBy20 = await costOf(SINGLES * 5, () => addBy(single, CALLERS, SINGLES * 5));
  await single.close();

  const bulk: Cost[] = [];
  const processed: (Cost | null)[] = [];
  for (const isKept of [false, true]) {
    if (keeps === (isKept ? "never" : "always")) {
      processed.push(null);
      continue;
    }
    const queue = await open(isKept ? "kept" : "gone", isKept);
    bulk.push(await costOf(bulks * BULK, () => addInBulk(queue, bulks)));
    processed.push(await costOf(bulks * BULK, () => processAll(queue, bulks * BULK)));
    await queue.close();
  }
  await sql.end();
  const [gone = null, kept = null] = processed;
  const [addedInBulk = { rate: Number.NaN, cpuUs: Number.NaN }] = bulk;
  return { addedOneByOne, addedBy20, addedInBulk, processed: gone, processedAndKept: kept };
}

async function addBy(queue: JobQueue, callers: number, count: number): Promise<void> {
  let added = 0;
  const call = async (): Promise<void> => {
    while (added < count) await queue.add(added++);
  };
  await Promise.all(Array.from({ length: callers }, call));
}

async function addInBulk(queue: JobQueue, times: number): Promise<void> {
  for (let bulk = 0; bulk < times; bulk++) {
    await queue.addMany(Array.from({ length: BULK }, (_, index) => bulk * BULK + index));
  }
}

/** Processes what `addInBulk` added, and sees that each job ran exactly once. */
async function processAll(queue: JobQueue, count: number): Promise<void> {
  const runs = new Uint8Array(count);
  await queue.process(count, (payload) => {
    runs[payload] = (runs[payload] ?? 0) + 1;
  });
  const others = runs.filter((times) => times !== 1).length;
  if (others > 0) throw new Error(`${others} of ${count} jobs did not run exactly once`);
}
