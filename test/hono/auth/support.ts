import { Hono } from "hono";
import * as v from "valibot";
import { checker } from "../../../src/core/check.ts";
import { authSchema, type RouterAuth } from "../../../src/hono/auth/auth-options.ts";
import { createGate, type GateOptions } from "../../../src/hono/auth/gate.ts";
import type { GateEnv } from "../../../src/hono/auth/gate-env.ts";
import { VirtualClock } from "../../../src/testing/mod.ts";
import { type LogEntry, recordingLogger, START } from "../../scheduler/support.ts";

export const READ = "read-token-0123456789abcdef";
export const WRITE = "write-token-0123456789abcdef";
export const GRANTS = [
  { token: READ, scope: "read" },
  { token: WRITE, scope: "write" },
] as const;

/** Checks the option `auth` as a router does. */
export function checkAuth(auth: unknown): RouterAuth {
  return checker(v.strictObject({ auth: authSchema() }))({ auth }, "createRouter()").auth;
}

export interface GateSetup {
  readonly app: Hono;
  readonly clock: VirtualClock;
  readonly log: LogEntry[];
  /** Asks the app; a body is sent as JSON. */
  ask(method: string, path: string, headers?: Record<string, string>, body?: unknown): Promise<Response>;
}

/** An app with one resource behind a gate, mounted below `/admin`, on a virtual clock. */
export function setUpGate(auth: RouterAuth = { tokens: GRANTS }, options: Partial<GateOptions> = {}): GateSetup {
  const clock = new VirtualClock(START);
  const { logger, entries: log } = recordingLogger();
  const gate = createGate({
    auth,
    clock,
    logger,
    ...(auth === "none" ? { allowedHosts: ["example.org"] } : {}),
    ...options,
  });
  const inner = new Hono<GateEnv>();
  inner.use("*", gate.headers);
  gate.session(inner);
  const guarded = new Hono<GateEnv>();
  guarded.all("/thing", gate.admit(), (c) => c.json({ scope: c.var.scope }));
  guarded.all("/preview", gate.admit("read"), (c) => c.json({ scope: c.var.scope }));
  guarded.all("/secret", gate.admit("write"), (c) => c.json({ scope: c.var.scope }));
  inner.route("/", guarded);
  const app = new Hono();
  app.route("/admin", inner);
  return {
    app,
    clock,
    log,
    ask: async (method, path, headers = {}, body) =>
      app.request(`https://example.org/admin${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
  };
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Signs in, and returns the header that a browser would send from then on. */
export async function signIn(setup: GateSetup, token: string): Promise<{ cookie: string }> {
  const answer = await setup.ask("POST", "/session", {}, { token });
  return { cookie: (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
}

/** The status of an answer, and its code or body. */
export async function read(answer: Response): Promise<[status: number, body: unknown]> {
  const text = await answer.text();
  const body = text === "" ? null : JSON.parse(text);
  return [answer.status, body?.code ?? body];
}
