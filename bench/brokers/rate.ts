import type { EventRecord } from "../../src/records/events.ts";
import type { BenchBroker } from "./brokers.ts";

const EVENTS = 60_000;
/** Events of a call, as a commit that runs a hundred jobs publishes them. */
const EVENTS_PER_CALL = 100;
const CALLS_IN_FLIGHT = 10;

/** Events a second from one broker to another, both in this process. */
export async function brokerRate({ make }: BenchBroker, url: string): Promise<number> {
  const [from, to] = [make(url), make(url)];
  await Promise.all([from.open(), to.open()]);
  let heard = 0;
  const all = new Promise<void>((resolve) => {
    to.subscribe(() => {
      if (++heard === EVENTS) resolve();
    });
  });
  const rate = await rateOf(EVENTS_PER_CALL, (events) => from.publish(events), all);
  await Promise.all([from.close(), to.close()]);
  return rate;
}

/** The same with the client alone: JSON of as many events a message as the broker's has. */
export async function rawRate({ raw, eventsPerMessage }: BenchBroker, url: string): Promise<number> {
  const [from, to] = [await raw(url), await raw(url)];
  let heard = 0;
  let resolveAll = (): void => {};
  const all = new Promise<void>((resolve) => {
    resolveAll = resolve;
  });
  await to.subscribe((text) => {
    heard += (JSON.parse(text) as EventRecord[]).length;
    if (heard >= EVENTS) resolveAll();
  });
  return rateOf(eventsPerMessage, (events) => from.publish(JSON.stringify(events)), all);
}

async function rateOf(
  eventsPerCall: number,
  publish: (events: readonly EventRecord[]) => Promise<unknown>,
  all: Promise<void>,
): Promise<number> {
  const calls = Math.ceil(EVENTS / eventsPerCall);
  const begun = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < calls) {
      const first = next++ * eventsPerCall;
      await publish(
        Array.from({ length: Math.min(eventsPerCall, EVENTS - first) }, (_, index) => event(first + index)),
      );
    }
  };
  await Promise.all(Array.from({ length: CALLS_IN_FLIGHT }, lane));
  await all;
  return (EVENTS / (performance.now() - begun)) * 1000;
}

function event(index: number): EventRecord {
  return {
    type: "jobAdded",
    timestampMs: 1_800_000_000_000 + index,
    jobId: `01990000-0000-7000-8000-${String(index).padStart(12, "0")}`,
    taskId: "sendReceipt",
    scheduleId: null,
    executor: "inline",
    runAtMs: 1_800_000_000_000,
    isLeased: false,
  };
}
