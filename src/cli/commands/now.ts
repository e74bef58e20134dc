import { type CommandCall, hasOption } from "../command.ts";
import { EXIT } from "../failure.ts";
import { outcomePiece } from "../records.ts";

/** `escapement now`: runs a schedule now, beside its rule. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const { client } = await call.target();
  const [id = ""] = args;
  const job = await client.runScheduleNow(id);
  if (!hasOption(call, "wait")) {
    if (out.isJson) out.json(job);
    else out.line(`${id}: job ${job.id}`);
    return EXIT.fine;
  }
  const result = await client.getJobResult(job.id, { wait: true, signal: io.signals.first });
  if (out.isJson) out.json(result);
  else out.line(`${id}: job ${job.id}: `, outcomePiece(result?.outcome ?? "ended"));
  return result === null || result.outcome === "success" ? EXIT.fine : EXIT.found;
}
