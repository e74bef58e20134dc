import type { CommandCall } from "../command.ts";
import { EXIT } from "../failure.ts";
import { portOption, serveRouter } from "../serve.ts";

/** `escapement dashboard`: the page of a store, until it is told to stop. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out } = call;
  const { client } = await call.target({ hasToken: true });
  const served = await serveRouter(call, client, { port: portOption(call) ?? 0, withoutToken: "sign in" });
  if (out.isJson) out.json({ url: served.link }, true);
  else out.line(`the page is at ${served.link} (the link signs in once)`);
  await new Promise<void>((resolve) => {
    if (io.signals.first.aborted) resolve();
    io.signals.first.addEventListener("abort", () => resolve(), { once: true });
  });
  await served.close();
  return EXIT.fine;
}
