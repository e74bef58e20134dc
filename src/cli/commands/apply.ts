import { apply } from "../../insight/mod.ts";
import { type CommandCall, textOption } from "../command.ts";
import { EXIT } from "../failure.ts";
import { planOf } from "./plan.ts";

/** `escapement apply`: does what `plan` says, in one commit. */
export async function run(call: CommandCall): Promise<number> {
  const { out } = call;
  const found = await planOf(call);
  const { by } = await call.target({ creates: true });
  const ifRevision = textOption(call, "ifRevision");
  await apply(found, { ...by, ...(ifRevision === undefined ? {} : { ifRevision }) });
  if (out.isJson) out.json(found);
  else out.proseBlock(found.text);
  return EXIT.fine;
}
