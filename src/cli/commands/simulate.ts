import { type SimulationFault, simulate } from "../../insight/mod.ts";
import { type CommandCall, textOption, textsOption } from "../command.ts";
import { durationOption } from "../durations.ts";
import { CliError, EXIT } from "../failure.ts";
import { instantOption, instantText } from "../times.ts";

const DAY_MS = 86_400_000;

/** `escapement simulate`: what the schedules would do, with faults. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out } = call;
  const fromMs = instantOption(textOption(call, "from"), "from", io);
  const untilMs = fromMs + durationOption(textOption(call, "for"), "for", DAY_MS);
  const faults = (["down", "slow", "blackout"] as const).flatMap((kind) => {
    return textsOption(call, kind).map((text) => faultOf(call, kind, text));
  });
  const runTimes = Object.fromEntries(textsOption(call, "runTime").map((text) => pairOf(text)));
  const { client } = await call.target();
  const range = { from: instantText(fromMs), until: instantText(untilMs) };
  const simulating = simulate({ scheduler: client, ...range, faults, runTimes, signal: io.signals.first });
  const report = await out.progress("simulation").during(simulating);
  if (out.isJson) out.json(report);
  else out.proseBlock(report.text);
  return EXIT.fine;
}

/** `FROM/UNTIL`, as ISO 8601 writes intervals. */
function faultOf({ io }: CommandCall, kind: SimulationFault["kind"], text: string): SimulationFault {
  const [from = "", until = "", ...more] = text.split("/");
  if (until !== "" && more.length === 0) {
    const [fromMs, untilMs] = [instantOption(from, kind, io), instantOption(until, kind, io)];
    if (fromMs < untilMs) return { kind, from: instantText(fromMs), until: instantText(untilMs) };
  }
  throw new CliError(
    `--${kind} must be FROM/UNTIL, the earlier one first, such as 2030-01-01T02:00Z/2030-01-01T05:00Z; ` +
      `got ${JSON.stringify(text)}`,
  );
}

function pairOf(text: string): [task: string, duration: string] {
  const sign = text.lastIndexOf("=");
  if (sign > 0) return [text.slice(0, sign), text.slice(sign + 1)];
  throw new CliError(`--run-time must be TASK=DURATION, such as report=5m; got ${JSON.stringify(text)}`);
}
