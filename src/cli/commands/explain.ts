import type { SchedulerClient, Temporal } from "../../mod.ts";
import { type CommandCall, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";
import { inCliWords } from "../words.ts";

/** `escapement explain`: why a schedule did or did not run at an instant. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  const [id = ""] = args;
  const { client } = await call.target();
  const at = textOption(call, "at") ?? (await presentOf(call, client, id));
  const explanation = await client.explain(id, at);
  if (out.isJson) out.json(explanation);
  else out.proseBlock(inCliWords(explanation.text, null));
  return EXIT.fine;
}

/** The fire time that says most of a schedule now: the next one, else the last one. */
async function presentOf({ out }: CommandCall, client: SchedulerClient, id: string): Promise<Temporal.Instant> {
  const { nextFireTime } = await client.getSchedule(id);
  if (nextFireTime !== null) return nextFireTime;
  const { items } = await client.getOccurrences(id, { limit: 1 });
  const [last] = items;
  if (last === undefined) {
    const message = `${id} has no fire time to come, and none is recorded`;
    throw new CliError(message, { exitCode: EXIT.found, code: "notFound" });
  }
  if (!out.isJson) out.prose(2, `${id} has no fire time to come. Its last one:`);
  return last.fireTime.toInstant();
}
