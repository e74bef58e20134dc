import { onTestFinished } from "vitest";
import { connect } from "../../src/client/connect.ts";
import type { ConnectOptions } from "../../src/client/options.ts";
import type { RemoteScheduler } from "../../src/client/remote-scheduler.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { type RouterSetup, setUpRouter } from "../hono/support.ts";
import { type LogEntry, recordingLogger, START } from "../scheduler/support.ts";

export const URL_OF_ROUTER = "http://scheduler.test/mounted";

/** A request as a server of a test saw it. */
interface SeenRequest {
  readonly route: string;
  readonly body: unknown;
  readonly headers: Headers;
}

/** What a server of a test answers: to a request, which is its number from 0 on. */
export type Answering = (request: SeenRequest, count: number) => Response | Promise<Response>;

export interface ClientSetup {
  readonly client: RemoteScheduler;
  readonly clock: VirtualClock;
  readonly seen: SeenRequest[];
  readonly log: LogEntry[];
}

/** A client of a server that answers as a function says, closed when the test ends. */
export function setUpClient(answer: Answering, options: Partial<ConnectOptions> = {}): ClientSetup {
  const clock = new VirtualClock(START);
  const seen: SeenRequest[] = [];
  const { logger, entries } = recordingLogger();
  const fetch = async (request: Request): Promise<Response> => {
    const text = await request.text();
    const { pathname, search } = new URL(request.url);
    const route = `${request.method} ${pathname.replace("/mounted", "")}${search}`;
    const one = { route, body: text === "" ? null : JSON.parse(text), headers: request.headers };
    seen.push(one);
    return answer(one, seen.length - 1);
  };
  const client = connect({ url: URL_OF_ROUTER, fetch, clock, logger, random: () => 0.5, ...options });
  onTestFinished(() => client.close());
  return { client, clock, seen, log: entries };
}

/** An answer with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
}

export interface BehindRouter extends RouterSetup {
  readonly client: RemoteScheduler;
  readonly clientLog: LogEntry[];
}

/** A client of a real router, in the same program, over a scheduler on a virtual clock and a memory store. */
export function setUpBehindRouter(
  options: Partial<ConnectOptions> = {},
  ...setup: Parameters<typeof setUpRouter>
): BehindRouter {
  const all = setUpRouter(...setup);
  const { logger, entries } = recordingLogger();
  const client = connect({
    url: "http://scheduler.test",
    fetch: all.router.fetch,
    clock: all.clock,
    logger,
    ...options,
  });
  onTestFinished(() => client.close());
  return { ...all, client, clientLog: entries };
}
