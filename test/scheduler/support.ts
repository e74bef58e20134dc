import { expect, onTestFinished } from "vitest";
import type { CommitRequest, DataStore } from "../../src/contracts.ts";
import {
  IntervalTrigger,
  type JobContext,
  type Logger,
  MemoryDataStore,
  Scheduler,
  type SchedulerEvent,
  type SchedulerOptions,
  Temporal,
  Trigger,
  type TriggerJSON,
} from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";

/** The present at the beginning of every test. */
export const START = "2030-01-01T00:00:00Z";
export const START_MS: number = Temporal.Instant.from(START).epochMilliseconds;

/** The instant so many seconds after {@link START}. */
export function at(seconds: number): Temporal.Instant {
  return Temporal.Instant.fromEpochMilliseconds(START_MS + seconds * 1000);
}

/** Seconds after {@link START}; null for null. */
export function secondsOf(instant: Temporal.Instant | null): number | null {
  return instant === null ? null : (instant.epochMilliseconds - START_MS) / 1000;
}

export interface LogEntry {
  readonly level: keyof Logger;
  readonly message: string;
  readonly details: readonly unknown[];
}

/** A logger that remembers. */
export function recordingLogger(): { logger: Logger; entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const at =
    (level: keyof Logger) =>
    (message: string, ...details: unknown[]): void => {
      entries.push({ level, message, details });
    };
  return { logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, entries };
}

export interface Setup {
  readonly clock: VirtualClock;
  readonly store: MemoryDataStore;
  readonly scheduler: Scheduler;
  readonly log: LogEntry[];
}

/** A scheduler on a virtual clock and a memory store, stopped when the test ends. */
export function setUp(options: SchedulerOptions & { clock?: VirtualClock; dataStore?: MemoryDataStore } = {}): Setup {
  const clock = options.clock ?? new VirtualClock(START);
  const store = options.dataStore ?? new MemoryDataStore();
  const { logger, entries } = recordingLogger();
  const scheduler = new Scheduler({ logger, logLevel: "warn", random: () => 0.5, ...options, clock, dataStore: store });
  onTestFinished(() => stopNow(scheduler, clock));
  return { clock, store, scheduler, log: entries };
}

/** Stops without draining, handlers that ignore their signals included. */
async function stopNow(scheduler: Scheduler, clock: VirtualClock): Promise<void> {
  const stopping = scheduler.stop({ drainTimeout: "PT0S" });
  await clock.advance("PT1M");
  await stopping;
}

/** Events as text, `type:id`, in the order in which they came. */
export function recordEvents(scheduler: Scheduler): string[] {
  const seen: string[] = [];
  scheduler.subscribe(null, (event) => {
    seen.push(describeEvent(event));
  });
  return seen;
}

function describeEvent(event: SchedulerEvent): string {
  if (event.type === "jobReleased") return `jobReleased ${event.outcome}`;
  if (event.type === "jobAcquired" || event.type === "jobRetried") return `${event.type} ${event.attempt}`;
  return event.type;
}

/** A handler that runs until `finish` is called, whatever its signal says. */
export function heldHandler(): { handler: (payload: unknown, context: JobContext) => Promise<string>; held: Held[] } {
  const held: Held[] = [];
  const handler = (_: unknown, context: JobContext): Promise<string> =>
    new Promise((resolve, reject) => held.push({ context, finish: resolve, fail: reject }));
  return { handler, held };
}

export interface Held {
  readonly context: JobContext;
  readonly finish: (value: string) => void;
  readonly fail: (error: unknown) => void;
}

/** Awaits the rejection of a promise and returns what it was rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return expect.unreachable("the promise resolved");
}

/** Every second from {@link START} on. */
export function everySecond(): IntervalTrigger {
  return new IntervalTrigger({ seconds: 1, startTime: START });
}

/** Fires every second, and counts how often it is asked. */
export class CountingTrigger extends Trigger {
  calls = 0;

  nextMs(afterMs: number): number {
    this.calls++;
    return Math.max(START_MS, (Math.floor(afterMs / 1000) + 1) * 1000);
  }

  previousMs(beforeMs: number): number | null {
    this.calls++;
    const previous = (Math.ceil(beforeMs / 1000) - 1) * 1000;
    return previous < START_MS ? null : previous;
  }

  toJSON(): TriggerJSON {
    return { type: "test:counting", version: 1 };
  }

  describe(): string {
    return "Every second";
  }
}

/** Something to wait at until somebody lets pass. */
export function gate(): { passed: Promise<void>; pass: () => void } {
  let pass = (): void => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { passed, pass: () => pass() };
}

/** A commit that does nothing, for tests that take one as somebody else: name what it does do. */
export function commitRequest(
  request: Pick<CommitRequest, "now" | "schedulerId"> & Partial<CommitRequest>,
): CommitRequest {
  return {
    commitId: `${request.schedulerId}/1`,
    isRepetition: false,
    until: request.now + 60_000,
    releases: [],
    additions: [],
    recover: false,
    plans: [],
    jobs: null,
    schedules: null,
    ...request,
  };
}

/** Leases a task's jobs, and starts them, as a process does that dies then. Returns how many. */
export async function leaseAndDie(
  store: DataStore,
  now: number,
  { taskId = "t", schedulerId = "dead", limit = 1 } = {},
): Promise<number> {
  const jobs = { queues: [{ executor: "inline", taskId }], limit };
  const commitId = `${schedulerId}/${now}`;
  const { acquired } = await store.commit(commitRequest({ now, schedulerId, commitId, recover: true, jobs }));
  const releases = acquired.map(({ id, fence }) => ({ jobId: id, fence, kind: "start" }) as const);
  if (releases.length > 0)
    await store.commit(commitRequest({ now, schedulerId, commitId: `${commitId} start`, releases }));
  return acquired.length;
}
