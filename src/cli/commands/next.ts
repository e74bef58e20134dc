import { type CommandCall, textOption } from "../command.ts";
import { clockMarks, isoIn } from "../engine.ts";
import { EXIT } from "../failure.ts";
import { type Piece, styled } from "../output.ts";
import { dialectOption, triggerOfText } from "../rules.ts";
import { countOption, instantOption, instantText, readableTime } from "../times.ts";

const COUNT_DEFAULT = 5;
/** Most fire times of one call: a screen has some fifty lines. */
const COUNT_MAX = 1000;

const CHANGES = {
  moved: (wall: string) => `moved from ${wall}: clocks go forward`,
  first: () => "first of two: clocks go back",
  second: () => "second of two: clocks go back",
};

/** `escapement next`: what a rule means, and when it fires. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const count = countOption(textOption(call, "count"), "count", COUNT_DEFAULT, COUNT_MAX);
  const trigger = triggerOfText(args.join(" "), textOption(call, "tz") ?? "UTC", dialectOption(call));
  const fromMs = instantOption(textOption(call, "from"), "from", io, trigger.timeZone);
  const times: number[] = [];
  for (let at = trigger.nextMs(fromMs - 1); at !== null && times.length < count; at = trigger.nextMs(at))
    times.push(at);
  const { marks, skipped } = clockMarks(trigger, times, fromMs, times.length < count);
  const clockText = (wallMs: number, start: number): string => instantText(wallMs).slice(start, -1);
  if (out.isJson) {
    const items = times.map((at) => {
      const mark = marks.get(at);
      const movedFrom = mark?.kind === "moved" ? clockText(mark.wallMs, 0) : null;
      return { at: instantText(at), local: isoIn(at, trigger.timeZone), clockChange: mark?.kind ?? null, movedFrom };
    });
    const { timeZone } = trigger;
    out.json({
      description: trigger.describe(),
      timeZone,
      items,
      skipped: skipped.map((wallMs) => clockText(wallMs, 0)),
    });
    return times.length === 0 ? EXIT.found : EXIT.fine;
  }
  out.prose(2, styled("bold", trigger.describe()));
  const withSeconds = times.some((at) => at % 60_000 !== 0);
  for (const at of times) {
    const mark = marks.get(at);
    const change = mark === undefined ? "" : CHANGES[mark.kind](mark.kind === "moved" ? wallText(mark.wallMs) : "");
    const tail: Piece[] = change === "" ? [] : ["   ", styled("yellow", change)];
    const local = readableTime(isoIn(at, trigger.timeZone), withSeconds);
    out.prose(local.length + 5, `  ${local}   `, styled("dim", instantText(at)), ...tail);
  }
  for (const wallMs of skipped) {
    out.line(
      `  ${readableTime(instantText(wallMs), withSeconds).replace(" +00:00", "")}   `,
      styled("yellow", "skipped: clocks go forward"),
    );
  }
  if (times.length === 0) out.line("  no fire time from then on");
  return times.length === 0 ? EXIT.found : EXIT.fine;
}

/** `02:30`, or with the seconds that it has. */
function wallText(wallMs: number): string {
  return instantText(wallMs).slice(11, -1).replace(/:00$/, "");
}
