import process from "node:process";
import type { CommandCall } from "../command.ts";
import { hasOption } from "../command.ts";
import { CliError, codeOf, EXIT } from "../failure.ts";

/** `escapement mcp`: the tools for agents, on the standard input and output. */
export async function run(call: CommandCall): Promise<number> {
  const { io } = call;
  const [{ StdioServerTransport }, { createRouter }, { insight }, { mcpServer }] = await peers();
  const { client, by, dataStore } = await call.target();
  const scope = hasOption(call, "write") ? "write" : "read";
  // A router knows by its token who asks.
  const name = dataStore === null ? {} : { name: `${by.by ?? "command line"}, by an agent`.slice(0, 200) };
  const router = createRouter(client, { auth: () => ({ scope, ...name }), insight: insight(), clock: io.clock });
  const server = await mcpServer({
    scope,
    ask: async (path, init) => {
      const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" };
      return router.request(`http://localhost${path}`, { ...init, headers });
    },
  });
  const transport = new StdioServerTransport();
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => resolve();
    process.stdin.once("end", () => resolve());
    io.signals.first.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.connect(transport);
  await closed;
  await server.close();
  return EXIT.fine;
}

function peers() {
  return Promise.all([
    import("@modelcontextprotocol/sdk/server/stdio.js"),
    import("../../hono/mod.ts"),
    import("../../insight/mod.ts"),
    import("../../mcp/mod.ts"),
  ]).catch((error) => {
    if (!/MODULE_NOT_FOUND/.test(codeOf(error) ?? "")) throw error;
    throw new CliError("tools for agents need two packages that are not installed", {
      lines: ["  npm install hono @modelcontextprotocol/sdk"],
    });
  });
}
