import { describe, expect, test } from "vitest";
import { HEARTBEAT_MS, PING_WAIT_MS } from "../../../src/brokers/remote/limits.ts";
import { LinkHeartbeat } from "../../../src/brokers/remote/session.ts";
import { timerHost } from "../../../src/core/timer-host.ts";
import { VirtualTimers } from "../virtual-timers.ts";

/** A heartbeat whose server answers as `ping` says, and what became of it. */
function heartbeatOf(ping: (count: number) => Promise<unknown>): {
  readonly timers: VirtualTimers;
  readonly heartbeat: LinkHeartbeat;
  readonly log: string[];
} {
  const [timers, log]: [VirtualTimers, string[]] = [new VirtualTimers(), []];
  let count = 0;
  const outlets = {
    ping: () => {
      log.push(`ping at ${timers.now()}`);
      return ping(++count);
    },
    silent: (reason: unknown) => void log.push(`${String(reason)} at ${timers.now()}`),
  };
  return { timers, heartbeat: new LinkHeartbeat(outlets, timers), log };
}

/** Lets promises and turns of the event loop pass. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => timerHost.nextTurn(resolve));
}

const never = new Promise<never>(() => {});

describe("a heartbeat", () => {
  test("notices a silent connection within 30 seconds", () => {
    expect(HEARTBEAT_MS).toBeGreaterThanOrEqual(10_000);
    expect(HEARTBEAT_MS).toBeLessThanOrEqual(20_000);
    expect(HEARTBEAT_MS + PING_WAIT_MS).toBeLessThanOrEqual(30_000);
  });

  test("pings again and again while it is answered", async () => {
    const { timers, heartbeat, log } = heartbeatOf(() => Promise.resolve());
    heartbeat.start();
    for (let beat = 0; beat < 3; beat++) {
      timers.advance(HEARTBEAT_MS);
      await settle();
    }
    expect(log).toEqual([1, 2, 3].map((beat) => `ping at ${beat * HEARTBEAT_MS}`));
  });

  test("tells of a ping without an answer once, and counts anew", async () => {
    const { timers, heartbeat, log } = heartbeatOf((count) => (count === 1 ? never : Promise.resolve()));
    heartbeat.start();
    timers.advance(HEARTBEAT_MS + PING_WAIT_MS - 1);
    await settle();
    expect(log).toEqual([`ping at ${HEARTBEAT_MS}`]);
    timers.advance(1);
    await settle();
    timers.advance(HEARTBEAT_MS);
    await settle();
    const failure = `Error: the server did not answer within ${PING_WAIT_MS} ms at ${HEARTBEAT_MS + PING_WAIT_MS}`;
    expect(log.slice(1)).toEqual([failure, `ping at ${2 * HEARTBEAT_MS + PING_WAIT_MS}`]);
  });

  test("tells of a ping that fails at once", async () => {
    const { timers, heartbeat, log } = heartbeatOf(() => Promise.reject(new Error("refused")));
    heartbeat.start();
    timers.advance(HEARTBEAT_MS);
    await settle();
    expect(log).toEqual([`ping at ${HEARTBEAT_MS}`, `Error: refused at ${HEARTBEAT_MS}`]);
  });

  test("takes the answer that was there and not read yet, because the event loop was blocked", async () => {
    let answer = (): void => {};
    const { timers, heartbeat, log } = heartbeatOf(() => new Promise<void>((resolve) => (answer = resolve)));
    heartbeat.start();
    timers.advance(HEARTBEAT_MS + PING_WAIT_MS);
    answer();
    await settle();
    expect(log).toEqual([`ping at ${HEARTBEAT_MS}`]);
  });

  test("says nothing once it is stopped", async () => {
    const { timers, heartbeat, log } = heartbeatOf(() => never);
    heartbeat.start();
    timers.advance(HEARTBEAT_MS);
    heartbeat.stop();
    timers.advance(10 * HEARTBEAT_MS);
    await settle();
    expect(log).toEqual([`ping at ${HEARTBEAT_MS}`]);
  });
});
