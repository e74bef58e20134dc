import type { Cancellation } from "../../mod.ts";
import type { CommandCall } from "../command.ts";
import { EXIT } from "../failure.ts";

const SAID: Readonly<Record<Cancellation, string>> = {
  delivered: "cancelled",
  asked: "it runs, and is asked to end",
  tooLate: "there is no unfinished job with this id",
};

/** `escapement cancel`: jobs that are unfinished. */
export async function run({ out, args, target }: CommandCall): Promise<number> {
  const { client } = await target();
  const items: { readonly id: string; readonly cancellation: Cancellation }[] = [];
  for (const id of args) {
    const cancellation = await client.cancelJob(id);
    items.push({ id, cancellation });
    if (!out.isJson) out.line(`${id}: ${SAID[cancellation]}`);
  }
  if (out.isJson) out.json({ items });
  return items.every(({ cancellation }) => cancellation !== "tooLate") ? EXIT.fine : EXIT.found;
}
