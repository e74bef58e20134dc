import { type CommandCall, hasOption } from "../command.ts";
import { EXIT } from "../failure.ts";
import { styled } from "../output.ts";
import { outcomePiece } from "../records.ts";
import { spanText } from "../times.ts";

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
  out.error(styled("dim", `${id}: waits for the end of job ${job.id}; Ctrl-C ends the waiting alone`));
  const { schedulers } = await client.health();
  // One that ticks is alive for some minutes after a tick, but may never come again.
  if (!schedulers.some(({ role, isResident }) => role !== "scheduler" && isResident)) {
    out.error(
      styled("yellow", "no scheduler that stays and runs jobs is alive: the job waits until one starts or ticks"),
    );
  }
  const waiting = client.getJobResult(job.id, { wait: true, signal: io.signals.first });
  const result = await out.progress("waiting").during(waiting);
  if (out.isJson) out.json(result);
  else {
    const tookMs = result?.startedAt == null ? null : result.startedAt.until(result.finishedAt).total("milliseconds");
    const took = tookMs === null ? "" : `, took ${spanText(tookMs)}`;
    out.prose(2, `${id}: job ${job.id}: `, outcomePiece(result?.outcome ?? "ended; its result is not kept"), took);
    const error = result?.error;
    if (error != null) out.prose(2, styled("red", `${error.name}: ${error.message}`));
  }
  return result === null || result.outcome === "success" ? EXIT.fine : EXIT.found;
}
