import { type CommandCall, hasOption, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";
import { countOption, sinceOption, utcText } from "../times.ts";

/** `escapement backfill`: jobs for fire times that did not run. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const [id = ""] = args;
  const from = sinceOption(textOption(call, "from"), "from", io);
  if (from === undefined) throw new CliError("backfill needs --from, an instant or a duration back: --from 24h");
  const until = sinceOption(textOption(call, "until") ?? "now", "until", io) ?? from;
  const pace = textOption(call, "pace");
  const limit = textOption(call, "limit");
  const dryRun = hasOption(call, "dryRun");
  const { client } = await call.target();
  const filling = client.backfill(id, {
    ...{ from, until, dryRun, signal: io.signals.first },
    ...(hasOption(call, "newest") ? { order: "newest" as const } : {}),
    ...(pace === undefined ? {} : { pace }),
    ...(limit === undefined ? {} : { limit: countOption(limit, "limit", 1, 1_000_000) }),
    ...{ includeRan: hasOption(call, "includeRan"), includeUnrecorded: hasOption(call, "includeUnrecorded") },
  });
  const report = await out.progress("backfill").during(filling);
  if (out.isJson) out.json(report);
  else {
    const { count, first, last, backfillId } = report;
    const jobs = `${count} ${count === 1 ? "job" : "jobs"}`;
    const range = first === null ? "" : `, for fire times from ${utcText(first)} to ${utcText(last)}`;
    out.prose(2, `${id}: ${jobs} ${dryRun ? "would be added" : "added"}${range}`);
    if (backfillId !== null && !dryRun) out.line(`backfill ${backfillId}`);
  }
  return EXIT.fine;
}
