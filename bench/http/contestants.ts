import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Hono } from "hono";
import { EventLog } from "../../src/hono/events/event-log.ts";
import { createRouter } from "../../src/hono/mod.ts";
import { CronTrigger, LocalEventBroker, MemoryDataStore, Scheduler } from "../../src/mod.ts";
import type { EventRecord } from "../../src/records/events.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { LENGTH, payloadOf, TASK } from "./rows.ts";

/** Callers of Escapement bring a token, as those of a program on the Internet do. */
export const TOKEN = "a token of the bench, with enough letters".replaceAll(" ", "-");

/** An answer that is served again as it is. */
export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** What a process serves, and how events happen in it. */
export interface Served {
  fetch(request: Request): Response | Promise<Response>;
  publish(count: number): Promise<void>;
}

/** The router over a scheduler that has not been started. @param folder of the file; null: in memory */
export async function escapement(folder: string | null): Promise<Served> {
  const eventBroker = new LocalEventBroker();
  const dataStore =
    folder === null
      ? new MemoryDataStore()
      : new LibsqlDataStore({ url: `file:${join(folder, `${randomBytes(6).toString("hex")}.db`)}` }, NORMAL);
  const scheduler = new Scheduler({ dataStore, eventBroker, logLevel: "silent" });
  await addSchedules(scheduler);
  await scheduler.addJobs(Array.from({ length: LENGTH }, (_, index) => ({ task: TASK, payload: payloadOf(index) })));
  const router = createRouter(scheduler, { auth: { tokens: [{ token: TOKEN, scope: "write" }] } });
  const happened = eventCounter();
  return {
    fetch: (request) => router.fetch(request),
    publish: (count) => eventBroker.publish(happened(count)),
  };
}

const NORMAL = { durability: "normal" } as const;

/** As many schedules as a page has. */
export async function addSchedules(scheduler: Scheduler): Promise<void> {
  scheduler.task(TASK, () => {});
  for (let index = 0; index < LENGTH; index++) {
    const trigger = new CronTrigger({ hour: index % 24, minute: index % 60 }, { timeZone: "Europe/Berlin" });
    await scheduler.addSchedule(TASK, trigger, { id: `s${index}`, payload: payloadOf(index) });
  }
}

/** Routes that answer the recorded bytes, and a stream of the same events. */
export function raw(answers: readonly Recorded[]): Served {
  const app = new Hono();
  for (const { method, path, status, type, text } of answers) {
    const headers = { "content-type": type, "cache-control": "no-store" };
    app.on(method, [path.replace(/\?.*/, "")], async (c) => {
      if (method === "POST") await c.req.json();
      return new Response(text, { status, headers });
    });
  }
  const log = new EventLog();
  const encoder = new TextEncoder();
  const clients = new Set<ReadableStreamDefaultController<Uint8Array>>();
  app.get("/events", () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode(`retry: 2000\nid: ${log.position}\n\n`));
        clients.add(controller);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const happened = eventCounter();
  return {
    fetch: (request) => app.fetch(request),
    async publish(count) {
      for (const event of happened(count)) {
        const bytes = encoder.encode(log.add(event).text);
        for (const client of clients) client.enqueue(bytes);
      }
    },
  };
}

/** The next events, always the same ones. */
function eventCounter(): (count: number) => EventRecord[] {
  let number = 0;
  const next = (): EventRecord => {
    const facts = { taskId: TASK, scheduleId: null, executor: "inline", isLeased: false };
    return {
      type: "jobAdded",
      timestampMs: 1_900_000_000_000,
      jobId: `j${number++}`,
      runAtMs: 1_900_000_000_000,
      ...facts,
    };
  };
  return (count) => Array.from({ length: count }, next);
}
