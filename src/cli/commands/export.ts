import { exportStore, type TransferPart } from "../../transfer/mod.ts";
import { type CommandCall, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";

/** `escapement export`: what is in a store, as JSON lines on the standard output. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out } = call;
  const parts = (textOption(call, "include") ?? "").split(",").filter((part) => part !== "");
  const { dataStore } = await call.target();
  if (dataStore === null) throw new CliError("an export is made of a store: give --store");
  // It refuses parts that it does not know.
  const include = parts as readonly string[] as readonly TransferPart[];
  const progress = out.progress("lines");
  let count = 0;
  for await (const line of exportStore(dataStore, { include, signal: io.signals.first })) {
    out.jsonText(line);
    await io.drained();
    // On a terminal, the lines themselves are what there is to see.
    if (!io.isTerminal) progress.at(++count, null);
  }
  progress.end();
  return EXIT.fine;
}
