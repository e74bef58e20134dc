import type { Run, Schedule } from "../../mod.ts";
import { type CommandCall, hasOption } from "../command.ts";
import { codeOf, EXIT } from "../failure.ts";
import { type Piece, styled } from "../output.ts";
import { outcomePiece, ruleText, valueText } from "../records.ts";
import { utcText, zonedText } from "../times.ts";

const FIRES_SHOWN = 3;
const RUNS_SHOWN = 5;

/** `escapement show`: a schedule, or a job, with what became of it. */
export async function run(call: CommandCall): Promise<number> {
  const { client } = await call.target();
  const [id = ""] = call.args;
  if (hasOption(call, "job")) return showRun(call, await client.getRun(id));
  let schedule: Schedule;
  try {
    schedule = await client.getSchedule(id);
  } catch (error) {
    if (codeOf(error) !== "scheduleLookup") throw error;
    // Ids of jobs and of schedules look alike.
    const found = await client.getRun(id).catch(() => null);
    if (found === null) throw error;
    return showRun(call, found);
  }
  const { items } = await client.getOccurrences(id, { limit: RUNS_SHOWN });
  const fires = await client.previewSchedule(id, { limit: FIRES_SHOWN });
  if (call.out.isJson) call.out.json({ ...schedule.toJSON(), next: fires, runs: items });
  else {
    const rule = ruleText(schedule);
    print(call, [
      ["schedule", styled("bold", schedule.id)],
      ...(schedule.name === null ? [] : [["name", schedule.name] as const]),
      ["task", schedule.taskId],
      ["rule", rule.text],
      ["state", schedule.paused ? styled("yellow", pauseText(schedule, rule.timeZone)) : "active"],
      ...fires.map((fire, index) => [index === 0 ? "next" : "", zonedText(fire.fireTime)] as const),
      ...items.map(({ fireTime, verdict }, index) => [
        index === 0 ? "last" : "",
        zonedText(fireTime),
        "  ",
        outcomePiece(verdict),
      ]),
      ...(schedule.lastFailure === null
        ? []
        : [
            [
              "failure",
              styled("red", valueText(schedule.lastFailure.error?.message ?? schedule.lastFailure.outcome)),
            ] as const,
          ]),
      ["payload", valueText(payloadOf(schedule))],
      ["revision", String(schedule.revision)],
    ]);
  }
  return EXIT.fine;
}

function pauseText({ pausedUntil, pauseReason, pausedBy }: Schedule, timeZone: string): string {
  const until = pausedUntil === null ? "" : ` until ${zonedText(pausedUntil.toZonedDateTimeISO(timeZone))}`;
  const by = pausedBy === null ? "" : ` by ${pausedBy}`;
  return `paused${until}${by}${pauseReason === null ? "" : `: ${pauseReason}`}`;
}

function showRun(call: CommandCall, run: Run): number {
  if (call.out.isJson) {
    call.out.json(run);
    return EXIT.fine;
  }
  const { error } = run;
  print(call, [
    ["job", styled("bold", run.id)],
    ["task", run.taskId],
    ...(run.scheduleId === null ? [] : [["schedule", run.scheduleId] as const]),
    ["state", outcomePiece(run.outcome ?? run.state)],
    ["runs at", utcText(run.runAt)],
    ["started", utcText(run.startedAt)],
    ["finished", utcText(run.finishedAt)],
    ["attempts", String(run.attempts)],
    ...(run.progress === null
      ? []
      : [["progress", `${Math.round(run.progress * 100)}% ${run.progressNote ?? ""}`] as const]),
    ["payload", valueText(payloadOf(run))],
    ...(error === null ? [] : [["error", styled("red", `${error.name}: ${error.message}`)] as const]),
  ]);
  return EXIT.fine;
}

function payloadOf(record: { readonly payload: unknown }): unknown {
  try {
    return record.payload;
  } catch {
    return "unreadable";
  }
}

const LABEL_WIDTH = 10;

function print({ out }: CommandCall, lines: readonly (readonly Piece[])[]): void {
  for (const [label = "", ...pieces] of lines) {
    const text = typeof label === "string" ? label : label.text;
    out.prose(LABEL_WIDTH, styled("dim", text.padEnd(LABEL_WIDTH)), ...pieces);
  }
}
