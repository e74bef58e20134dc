import type { Hono } from "hono";
import { createRouter, type Router, type RouterOptions } from "../../src/hono/mod.ts";
import { type Setup, setUp } from "../scheduler/support.ts";

/** What an answer says, as one value. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

/** A request with a method, a path under the router, and a body. */
export type Ask = (route: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

export interface RouterSetup extends Setup {
  readonly router: Pick<Router, "request" | "fetch" | "close">;
  readonly ask: Ask;
}

/** A router that lets everybody write, over a scheduler on a virtual clock and a memory store. */
export function setUpRouter(
  options: Partial<RouterOptions> = {},
  setupOptions: Parameters<typeof setUp>[0] = {},
): RouterSetup {
  const setup = setUp(setupOptions);
  const { clock, scheduler } = setup;
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const router = createRouter(scheduler, {
    auth: "none",
    allowedHosts: ["scheduler.test"],
    clock,
    logger: quiet,
    ...options,
  });
  return { ...setup, router, ask: asker(router) };
}

export function asker(router: Pick<Hono, "request">): Ask {
  return async (route, body, headers = {}) => {
    const [method = "GET", path = "/"] = route.split(" ");
    const content =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const answer = await router.request(`https://localhost${path}`, {
      method,
      ...content,
      headers: { "sec-fetch-site": "same-origin", ...content.headers, ...headers },
    });
    const { headers: answerHeaders, status } = answer;
    // A stream has no end.
    const isStream = answerHeaders.get("content-type")?.startsWith("text/event-stream") === true;
    if (isStream) await answer.body?.cancel();
    const text = isStream ? "" : await answer.text();
    const isMetrics = path === "/metrics" && status === 200;
    return { status, body: isMetrics ? text : text === "" ? null : JSON.parse(text), headers: answerHeaders };
  };
}

/** A problem document, without its detail. */
export function problem(status: number, title: string, code: string): object {
  return { type: "about:blank", title, status, code };
}
