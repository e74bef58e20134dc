import { resolve } from "node:path";
import { type DeclaredSchedule, type Plan, plan } from "../../insight/mod.ts";
import { type CommandCall, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";
import { readText } from "../files.ts";
import { loadModule } from "../load-module.ts";

/** `escapement plan`: what a file of schedules would change. */
export async function run(call: CommandCall): Promise<number> {
  const found = await planOf(call);
  if (call.out.isJson) call.out.json(found);
  else call.out.proseBlock(found.text);
  return found.hasChanges ? EXIT.found : EXIT.fine;
}

/** The plan of the file and the owner that a call names. */
export async function planOf(call: CommandCall): Promise<Plan> {
  const { io, args } = call;
  const [path = ""] = args;
  const owner = textOption(call, "owner");
  if (owner === undefined) throw new CliError("a plan needs --owner: whose schedules the file has");
  const isModule = /\.[cm]?[jt]s$/.test(path);
  const loaded = isModule
    ? await loadModule(resolve(io.cwd, path))
    : { default: jsonOf(await readText(io, path), path) };
  const declared = (loaded as { readonly default?: unknown }).default;
  const { client } = await call.target({ creates: true });
  // It checks what the file has.
  return plan(client, declared as readonly DeclaredSchedule[], { owner, signal: io.signals.first });
}

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${path} is no JSON; a plan takes JSON, or a module with the schedules as its default export`);
  }
}
