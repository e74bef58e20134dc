import type { BackfillReport, Temporal } from "../../mod.ts";
import { type CommandCall, hasOption, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";
import { zoneOfSchedule } from "../records.ts";
import { countOption, sinceOption, zonedText } from "../times.ts";

/** `escapement backfill`: jobs for fire times that did not run. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const [id = ""] = args;
  const given = textOption(call, "from");
  if (given === undefined) throw new CliError("backfill needs --from, an instant or a duration back: --from 24h");
  const { client } = await call.target();
  const timeZone = await zoneOfSchedule(client, id);
  const from = sinceOption(given, "from", io, timeZone) ?? "";
  const until = sinceOption(textOption(call, "until") ?? "now", "until", io, timeZone) ?? "";
  const pace = textOption(call, "pace");
  const limit = textOption(call, "limit");
  const dryRun = hasOption(call, "dryRun");
  const filling = client.backfill(id, {
    ...{ from, until, dryRun, signal: io.signals.first },
    ...(hasOption(call, "newest") ? { order: "newest" as const } : {}),
    ...(pace === undefined ? {} : { pace }),
    ...(limit === undefined ? {} : { limit: countOption(limit, "limit", 1, 1_000_000) }),
    ...{ includeRan: hasOption(call, "includeRan"), includeCoalesced: hasOption(call, "includeCoalesced") },
    includeUnrecorded: hasOption(call, "includeUnrecorded"),
  });
  const report = await out.progress("backfill").during(filling);
  if (out.isJson) out.json(report);
  else {
    const { count, first, last, backfillId } = report;
    const shown = (instant: Temporal.Instant | null): string =>
      zonedText(instant === null ? null : instant.toZonedDateTimeISO(timeZone));
    const range = first === null ? "" : `, for fire times from ${shown(first)} to ${shown(last)}`;
    out.prose(2, `${id}: ${counted(count, "job")} ${dryRun ? "would be added" : "added"}${range}`);
    for (const line of leftOut(report, shown)) out.prose(2, line);
    if (backfillId !== null && !dryRun) out.line(`backfill ${backfillId}`);
  }
  return EXIT.fine;
}

/** What was left out, and which option takes it in. */
function leftOut(
  { count, ran, coalesced, coalescedInto }: BackfillReport,
  shown: (instant: Temporal.Instant) => string,
): string[] {
  const was = (number: number): string => `${number} ${number === 1 ? "was" : "were"}`;
  const into = coalescedInto === null ? "other runs" : `the run of ${shown(coalescedInto)}`;
  if (count + ran + coalesced === 0) return ["no fire time of the rule that has passed lies in this time"];
  return [
    ...(coalesced === 0
      ? []
      : [`${was(coalesced)} coalesced into ${into}; --include-coalesced adds jobs for them too`]),
    ...(ran === 0 ? [] : [`${ran} ran, or ${ran === 1 ? "has" : "have"} a job; --include-ran runs them once more`]),
  ];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
