/** Answers requests. */
export type Answer = (request: Request) => Response | Promise<Response>;

/** A server of the runtime that runs the test. */
export interface HttpServer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

interface Hosts {
  readonly Deno?: {
    serve(options: object, answer: Answer): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
  };
  readonly Bun?: {
    serve(options: object): { readonly port: number; stop(closesConnections: boolean): Promise<void> };
  };
}

/** Serves on a free port of loopback: by `Deno.serve` on Deno, by `Bun.serve` on Bun, and by `@hono/node-server` on
 *  Node. */
export async function startServer(answer: Answer): Promise<HttpServer> {
  const { Deno, Bun } = globalThis as unknown as Hosts;
  if (Deno !== undefined) {
    const gone = new AbortController();
    const options = { port: 0, hostname: "127.0.0.1", signal: gone.signal, onListen: () => {} };
    const { port } = Deno.serve(options, answer).addr;
    return at(port, async () => gone.abort());
  }
  if (Bun !== undefined) {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 255, fetch: answer });
    return at(server.port, () => server.stop(true));
  }
  const { serve } = await import("@hono/node-server");
  return new Promise((resolve) => {
    const server = serve({ fetch: answer, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
      const stop = (): Promise<void> =>
        new Promise((ended) => {
          server.close(() => ended());
          if ("closeAllConnections" in server) server.closeAllConnections();
        });
      resolve(at(port, stop));
    });
  });
}

function at(port: number, stop: () => Promise<void>): HttpServer {
  return { port, url: `http://127.0.0.1:${port}`, stop };
}
