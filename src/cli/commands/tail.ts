import { sleepFor } from "../../core/clock.ts";
import type { Run, SchedulerClient, SchedulerEvent } from "../../mod.ts";
import { type CommandCall, textOption } from "../command.ts";
import { EXIT } from "../failure.ts";
import { styled } from "../output.ts";
import { outcomePiece } from "../records.ts";
import { utcText } from "../times.ts";

/** How often a store without a broker is asked, in milliseconds. */
const POLL_MS = 1000;
/** Most entries that are read each second, so that a busy store is not held up. */
const POLLED_MAX = 200;

/** `escapement tail`: what happens, line by line. A router streams events; a store is asked each second. */
export async function run(call: CommandCall): Promise<number> {
  const { client, dataStore } = await call.target();
  await (dataStore === null ? follow(call, client) : poll(call, client));
  return EXIT.fine;
}

async function follow(call: CommandCall, client: SchedulerClient): Promise<void> {
  const { io, out } = call;
  const taskId = textOption(call, "task");
  // The stream is opened anew for as long as it takes: an address that is no router's would be silent for ever.
  await client.getRuns({ limit: 1 });
  for await (const event of client.events(null, { signal: io.signals.first })) {
    const facts = event as SchedulerEvent & Readonly<Record<string, unknown>>;
    if (taskId !== undefined && facts.taskId !== taskId) continue;
    if (out.isJson) out.json(eventAsJson(facts), true);
    else {
      const words = ["taskId", "scheduleId", "jobId", "outcome", "schedulerId"].flatMap((name) => {
        const value = facts[name];
        return typeof value === "string" ? [name === "outcome" ? outcomePiece(value) : value, " "] : [];
      });
      out.prose(4, styled("dim", utcText(event.timestamp)), `  ${event.type.padEnd(20)} `, ...words);
    }
  }
}

function eventAsJson(event: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(event).map(([name, value]) => {
      return name.endsWith("Ms") && typeof value === "number"
        ? [name.slice(0, -2), new Date(value).toISOString()]
        : [name, value];
    }),
  );
}

async function poll(call: CommandCall, client: SchedulerClient): Promise<void> {
  const { io } = call;
  const { first: signal } = io.signals;
  const taskId = textOption(call, "task");
  const filter = {
    limit: POLLED_MAX,
    state: ["running", "ended"] as const,
    ...(taskId === undefined ? {} : { taskId }),
  };
  const states = new Map<string, string>();
  let isFirst = true;
  while (!signal.aborted) {
    const { items } = await client.getRuns(filter);
    const seen = new Map(items.map((run) => [run.id, run.outcome ?? run.state]));
    for (const run of [...items].reverse()) {
      if (!isFirst && states.get(run.id) !== seen.get(run.id)) tell(call, run);
    }
    states.clear();
    for (const [id, state] of seen) states.set(id, state);
    isFirst = false;
    await sleepFor(io.clock, POLL_MS, signal);
  }
}

function tell({ out }: CommandCall, run: Run): void {
  const { id, taskId, scheduleId, outcome, state, startedAt, finishedAt } = run;
  const at = finishedAt ?? startedAt;
  if (out.isJson) {
    const type = outcome === null ? "jobStarted" : "jobReleased";
    out.json({ type, timestamp: at, taskId, scheduleId, jobId: id, outcome }, true);
  } else {
    const word = outcome === null ? "jobStarted" : "jobReleased";
    out.prose(
      4,
      styled("dim", utcText(at)),
      `  ${word.padEnd(20)} ${taskId} ${scheduleId ?? ""} ${id} `,
      outcomePiece(outcome ?? state),
    );
  }
}
