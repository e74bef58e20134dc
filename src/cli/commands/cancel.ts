import type { CommandCall } from "../command.ts";
import { EXIT } from "../failure.ts";

/** `escapement cancel`: jobs that are unfinished. */
export async function run({ out, args, target }: CommandCall): Promise<number> {
  const { client } = await target();
  const items: { readonly id: string; readonly cancelled: boolean }[] = [];
  for (const id of args) {
    const cancelled = await client.cancelJob(id);
    items.push({ id, cancelled });
    if (!out.isJson) out.line(`${id}: ${cancelled ? "cancelled" : "there is no unfinished job with this id"}`);
  }
  if (out.isJson) out.json({ items });
  return items.every(({ cancelled }) => cancelled) ? EXIT.fine : EXIT.found;
}
