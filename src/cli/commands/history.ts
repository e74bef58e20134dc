import { type CommandCall, hasOption, textOption } from "../command.ts";
import { EXIT } from "../failure.ts";
import { styled } from "../output.ts";
import { outcomePiece } from "../records.ts";
import { countOption, spanText, utcText, zonedText } from "../times.ts";

const LIMIT_DEFAULT = 20;
/** Most entries of one call, which is what a page of the store has. */
const LIMIT_MAX = 1000;

/** `escapement history`: what became of the fire times of a schedule, or who changed it. */
export async function run(call: CommandCall): Promise<number> {
  const { out, args } = call;
  const [id = ""] = args;
  const limit = countOption(textOption(call, "limit"), "limit", LIMIT_DEFAULT, LIMIT_MAX);
  const { client } = await call.target();
  const page = hasOption(call, "changes")
    ? await client.getScheduleChanges(id, { limit })
    : await client.getOccurrences(id, { limit });
  if (out.isJson) out.json(page);
  else if (page.items.length === 0) out.error(styled("dim", `nothing is known of ${id} yet`));
  else {
    const rows = page.items.map((item) => {
      if ("kind" in item) {
        const { kind, at, by, changed, after } = item;
        return [utcText(at), kind, by ?? "-", changed.length > 0 ? changed.join(", ") : (after?.rule ?? "-")];
      }
      const { fireTime, verdict, run } = item;
      const late = run?.lateness ?? null;
      const took = run?.runTime ?? null;
      return [
        zonedText(fireTime),
        outcomePiece(verdict),
        late === null ? "-" : spanText(late.total("milliseconds")),
        took === null ? "-" : spanText(took.total("milliseconds")),
        run?.jobId ?? "-",
      ];
    });
    const isChanges = hasOption(call, "changes");
    const [first] = page.items;
    const zone = first !== undefined && "fireTime" in first ? first.fireTime.timeZoneId : "UTC";
    if (isChanges) out.table(["AT", "CHANGE", "BY", "WHAT"], rows, { whole: [0, 1] });
    else {
      const head = [`FIRE TIME, ${zone}`, "VERDICT", "LATE", "TOOK", "JOB"];
      out.table(head, rows, { whole: [0, 1, 4], spare: [2, 3] });
    }
  }
  return EXIT.fine;
}
