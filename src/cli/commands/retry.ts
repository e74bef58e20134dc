import { type CommandCall, hasOption, refuseOptions, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";
import { styled } from "../output.ts";
import { zoneOfSchedule } from "../records.ts";
import { isWallTime, sinceOption } from "../times.ts";

/** `escapement retry`: jobs by their ids, or all that failed. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const isFailed = hasOption(call, "failed");
  if (isFailed === args.length > 0) throw new CliError("retry takes ids of jobs, or --failed");
  if (!isFailed) refuseOptions(call, ["task", "schedule", "since"], "ids of jobs", "escapement retry --failed has it");
  else refuseOptions(call, ["restart"], "--failed", "escapement retry JOB has it");
  const { client } = await call.target();
  if (!isFailed) {
    const jobs = [];
    for (const id of args) {
      const job = await client.retryJob(id, { restart: hasOption(call, "restart") });
      jobs.push(job);
      if (!out.isJson) out.line(`${id}: job ${job.id}`);
    }
    if (out.isJson) out.json({ items: jobs });
    return EXIT.fine;
  }
  const taskId = textOption(call, "task");
  const scheduleId = textOption(call, "schedule");
  const since = textOption(call, "since");
  const isOfRule = isWallTime(since) && scheduleId !== undefined;
  const from = sinceOption(since, "since", io, isOfRule ? await zoneOfSchedule(client, scheduleId) : undefined);
  const filter = {
    ...(taskId === undefined ? {} : { taskId }),
    ...(scheduleId === undefined ? {} : { scheduleId }),
    ...(from === undefined ? {} : { from }),
  };
  const all = Object.keys(filter).length === 0 ? { all: true } : filter;
  const retrying = client.retryJobs({ ...all, signal: io.signals.first });
  const { retried, skipped, refusals } = await out.progress("retrying").during(retrying);
  if (out.isJson) out.json({ retried, skipped, refusals });
  else {
    out.line(`${retried} retried, ${skipped} skipped`);
    for (const { id, detail } of refusals) out.error(styled("dim", `${id}: ${detail}`));
  }
  return EXIT.fine;
}
