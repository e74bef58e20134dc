import fc from "fast-check";
import type { Hono } from "hono";
import { expect } from "vitest";
import type { DataStore } from "../../../src/contracts.ts";
import type { Clock } from "../../../src/core/clock.ts";
import { hostKind } from "../../../src/core/host.ts";
import { createRouter } from "../../../src/hono/mod.ts";
import { Scheduler } from "../../../src/mod.ts";
import { VirtualClock } from "../../../src/testing/mod.ts";
import { fromEnvironment } from "../../cron/differential.ts";
import { recordingLogger, START } from "../../scheduler/support.ts";
import { GRANTS } from "../auth/support.ts";
import { faultsOf, leaksIn } from "./faults.ts";
import { type Draft, fittingRequest, rawRequest } from "./requests.ts";

/** How many requests all tests together send: a fifth of them over a database, which takes more time for each. */
const REQUESTS = fromEnvironment("FUZZ_CASES", 5000);
const SEED = fromEnvironment("FUZZ_SEED", Math.floor(Math.random() * 2 ** 31));
/** Bounds the work of one test, however many requests are asked for. */
const REQUESTS_PER_TEST = 500;
/** One scheduler gets so many, so that requests meet what others before have made. */
const REQUESTS_PER_STORE = 50;

const isNode = hostKind() === "host" && !("Bun" in globalThis);

/** One seed for each test over a kind of store. */
export function seedsOf(kind: "memory" | "libsql"): number[] {
  // Other runtimes get a part of them, because they only differ in how they read texts and JSON.
  const share = kind === "libsql" || !isNode ? 0.2 : 0.8;
  const count = Math.ceil((REQUESTS * share) / REQUESTS_PER_TEST);
  return Array.from({ length: count }, (_, index) => SEED + index);
}

/** How often each status was answered, by method and status. */
export type Tally = Map<string, number>;

/** Sends requests to routers over new stores, and expects that each is answered as a router answers. */
export async function fuzz(makeStore: () => DataStore, seed: number, tally: Tally): Promise<void> {
  const request = fc.oneof({ weight: 9, arbitrary: fittingRequest() }, { weight: 1, arbitrary: rawRequest() });
  const requests = fc.array(request, { minLength: REQUESTS_PER_STORE, maxLength: REQUESTS_PER_STORE, size: "max" });
  const property = fc.asyncProperty(requests, async (drafts) => {
    const faults = await faultsOfAll(makeStore(), drafts, tally);
    expect(faults).toEqual([]);
  });
  await fc.assert(property, { numRuns: REQUESTS_PER_TEST / REQUESTS_PER_STORE, seed });
}

async function faultsOfAll(dataStore: DataStore, drafts: readonly Draft[], tally: Tally): Promise<string[]> {
  const clock = new VirtualClock(START);
  const schedulerLog = recordingLogger();
  const routerLog = recordingLogger();
  const scheduler = new Scheduler({ dataStore, clock, logger: schedulerLog.logger, random: () => 0.5 });
  scheduler.task("t", (payload) => payload);
  scheduler.task("a", () => {
    throw new Error("boom");
  });
  await scheduler.addSchedule("t", "0 9 * * *", { id: "a" });
  await scheduler.addSchedule("t", "* * * * * *", { id: "a/b" });
  const app = createRouter(scheduler, { auth: { tokens: GRANTS }, clock: hasty(clock), logger: routerLog.logger });
  const faults: string[] = [];
  try {
    for (const draft of drafts) faults.push(...(await faultsOfOne(app as unknown as Hono, draft, tally)));
    const lines = [...routerLog.entries, ...schedulerLog.entries].map(({ level, message, details }) => ({
      level,
      text: [message, ...details.map(String)].join(" "),
    }));
    for (const { text } of lines) faults.push(...leaksIn(text).map((kind) => `the log shows a ${kind}: ${text}`));
    for (const { level, message, details } of routerLog.entries) {
      if (level === "error") faults.push(`the router logs ${message} ${(details[0] as Error | undefined)?.stack}`);
    }
  } finally {
    await scheduler.stop();
    await dataStore.close();
  }
  return faults;
}

async function faultsOfOne(app: Hono, draft: Draft, tally: Tally): Promise<string[]> {
  const request = requestOf(draft);
  if (request === null) return [];
  const answer = await app.fetch(request);
  const key = `${draft.method} ${answer.status}`;
  tally.set(key, (tally.get(key) ?? 0) + 1);
  const shown = `${draft.method} ${draft.target} ${String(draft.body).slice(0, 2000)}`;
  return (await faultsOf(draft, answer)).map((fault) => `${shown}\n  ${fault}`);
}

/** Null for what no client can send, such as a URL that is none. */
function requestOf({ method, target, headers, body }: Draft): Request | null {
  const hasBody = body !== null && method !== "GET" && method !== "HEAD";
  try {
    return new Request(`http://localhost${target}`, {
      method,
      headers,
      ...(hasBody ? { body: body as BodyInit } : {}),
    });
  } catch {
    return null;
  }
}

/** A clock on which nobody waits. */
function hasty(clock: VirtualClock): Clock {
  return { now: () => clock.now(), sleep: () => clock.yield(), yield: () => clock.yield() };
}

/** What was answered, and how often. */
export function report(tally: Tally): string {
  const total = [...tally.values()].reduce((sum, count) => sum + count, 0);
  const counts = [...tally].sort(([one], [other]) => (one < other ? -1 : 1)).map((pair) => pair.join(": "));
  return `${total} requests; ${counts.join(", ")}`;
}
