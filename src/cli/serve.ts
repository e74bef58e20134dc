import { randomBytes } from "node:crypto";
import type { SchedulerClient } from "../mod.ts";
import type { Metrics } from "../observability/metrics/mod.ts";
import { type CommandCall, textOption } from "./command.ts";
import { CliError, codeOf } from "./failure.ts";
import { countOption } from "./times.ts";

/** What a server of a router is given. */
export interface ServeOptions {
  readonly port: number;
  readonly metrics?: Metrics;
  /** What callers without a token may do, on a loopback address. */
  readonly withoutToken: "read" | "sign in";
}

/** A router that is served. */
export interface Served {
  /** Where it is, with a code that signs the page in once. */
  readonly link: string;
  close(): Promise<void>;
}

/** The largest port of TCP. */
const PORT_MAX = 65_535;

/** The port of `--port`; null where it is not given. */
export function portOption(call: CommandCall): number | null {
  const port = textOption(call, "port");
  return port === undefined ? null : port === "0" ? 0 : countOption(port, "port", 0, PORT_MAX);
}

/** Serves a scheduler with its page and its numbers.
 *  @throws {CliError} without a token on an address that others reach */
export async function serveRouter(call: CommandCall, client: SchedulerClient, options: ServeOptions): Promise<Served> {
  const { io } = call;
  const hostname = textOption(call, "host") ?? "127.0.0.1";
  const given = textOption(call, "token") ?? io.env.ESCAPEMENT_TOKEN;
  const isLoopback = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(hostname);
  if (given === undefined && !isLoopback) {
    const lines = ["  others reach this address: give --token, or the variable ESCAPEMENT_TOKEN"];
    throw new CliError(`--host ${hostname} needs a token`, { lines });
  }
  const [{ createRouter }, { serve }, { dashboard }, { insight }] = await peers();
  const token = given ?? (options.withoutToken === "sign in" ? randomBytes(24).toString("hex") : null);
  const router = createRouter(client, {
    auth: token === null ? () => "read" : { tokens: [{ token, scope: "write", name: "command line" }] },
    // Pages of other sites must not reach it by a name of their own.
    ...(isLoopback ? { allowedHosts: [] } : {}),
    ...{ dashboard: dashboard(), insight: insight() },
    ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
  });
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: router.fetch, port: options.port, hostname }, ({ port }) => {
      const code = token === null ? "" : `#code=${router.signInCode(token)}`;
      const shown = hostname.includes(":") ? `[${hostname}]` : hostname;
      resolve({
        link: `http://${shown}:${port}/${code}`,
        async close() {
          router.close();
          await new Promise<void>((closed) => {
            server.close(() => closed());
            if ("closeAllConnections" in server) server.closeAllConnections();
          });
        },
      });
    });
    server.on("error", (error: Error) => {
      reject(new CliError(`port ${options.port} of ${hostname} cannot be used: ${codeOf(error) ?? error.message}`));
    });
  });
}

function peers() {
  return Promise.all([
    import("../hono/mod.ts"),
    import("@hono/node-server"),
    import("../dashboard/mod.ts"),
    import("../insight/mod.ts"),
  ]).catch((error) => {
    if (!/MODULE_NOT_FOUND/.test(codeOf(error) ?? "")) throw error;
    throw new CliError("a page needs two packages that are not installed", {
      lines: ["  npm install hono @hono/node-server"],
    });
  });
}
