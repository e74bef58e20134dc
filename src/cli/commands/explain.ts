import { type CommandCall, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";

/** `escapement explain`: why a schedule did or did not run at an instant. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  const [id = ""] = args;
  const at = textOption(call, "at");
  if (at === undefined) throw new CliError("explain needs --at, such as --at '2030-01-31 09:00'");
  const { client } = await call.target();
  const explanation = await client.explain(id, at);
  if (out.isJson) out.json(explanation);
  else out.block(explanation.text);
  return EXIT.fine;
}
