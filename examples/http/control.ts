// A scheduler behind a page of this machine, for programs that a person starts: a random token, and a link that signs in
// with it. Nobody else of the network can reach it, because it listens on loopback.
import { serve } from "@hono/node-server";
import type { Scheduler } from "escapement";
import { createRouter } from "escapement/hono";
import { Hono } from "hono";

/** What is served. */
export interface Control {
  /** Signs in, and leads to the router. */
  readonly link: string;
  stop(): void;
}

/** @param port 0 for any that is free */
export async function control(scheduler: Scheduler, port: number): Promise<Control> {
  const token = Array.from(crypto.getRandomValues(new Uint8Array(24)), (byte) => byte.toString(36)).join("");
  const app = new Hono();
  app.route("/scheduler", createRouter(scheduler, { auth: { tokens: [{ token, scope: "write" }] } }));
  app.get("/", async ({ req, redirect, text }) => {
    // The browser keeps a cookie of the router in the place of the token, and neither the token nor the link.
    const signedIn = await app.request(new URL("/scheduler/session", req.url), {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ token: req.query("token") ?? "" }),
    });
    const cookie = signedIn.headers.get("set-cookie");
    if (cookie === null) return text("use the link that the program has printed", 401);
    const answer = redirect("/scheduler/overview");
    answer.headers.set("set-cookie", cookie);
    answer.headers.set("referrer-policy", "no-referrer");
    return answer;
  });
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, (address) => {
      const link = `http://127.0.0.1:${address.port}/?token=${token}`;
      resolve({ link, stop: () => server.close() });
    });
    server.once("error", reject);
  });
}
