import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { MemoryDataStore, type NewSchedule, type Scheduler, type Task } from "../../mod.ts";
import { type CommandCall, hasOption, refuseOptions, textOption } from "../command.ts";
import { durationOption } from "../durations.ts";
import { CliError, EXIT } from "../failure.ts";
import { loadModule } from "../load-module.ts";
import { createLog } from "../log.ts";
import { portOption, serveRouter } from "../serve.ts";
import { openStore } from "../target.ts";

const STOP_MS = 30_000;
/** Most ticks of `--once`, because a handler may add a job for every job. */
const TICKS_MAX = 10_000;

/** `escapement run`: a scheduler, or the tasks and schedules of a file, until it is told to stop. */
export async function run(call: CommandCall): Promise<number> {
  const { io, args } = call;
  const hasPage = hasOption(call, "ui") || portOption(call) !== null;
  if (hasOption(call, "once")) refuseOptions(call, ["ui", "port", "host", "token", "stopTimeout"], "--once");
  else if (!hasPage) refuseOptions(call, ["host", "token"], "a run without a page", "--ui and --port serve one");
  if (hasOption(call, "watch")) return (await import("../watch.ts")).runWatched(call);
  const path = resolve(io.cwd, args[0] ?? "");
  const scheduler = await schedulerOf(call, await loadModule(path), path);
  if (hasOption(call, "once")) return drain(call, scheduler);
  const stopMs = durationOption(textOption(call, "stopTimeout"), "stop-timeout", STOP_MS);
  const served = hasPage
    ? await serveRouter(call, scheduler, { port: portOption(call) ?? 0, withoutToken: "sign in" })
    : null;
  if (served !== null) call.out.line(`the page is at ${served.link} (the link signs in once)`);
  try {
    await scheduler.start();
    await new Promise<void>((ended) => {
      if (io.signals.first.aborted) ended();
      io.signals.first.addEventListener("abort", () => ended(), { once: true });
    });
    const stopping = scheduler.stop({ drainTimeout: { milliseconds: stopMs } });
    const hurry = (): void => void scheduler.stop({ drainTimeout: { milliseconds: 0 } });
    io.signals.second.addEventListener("abort", hurry, { once: true });
    await stopping;
  } finally {
    await served?.close();
  }
  return EXIT.fine;
}

/** Ticks until nothing is due any more. @returns 1 where a job failed */
async function drain(call: CommandCall, scheduler: Scheduler): Promise<number> {
  const { io, out } = call;
  let jobsRun = 0;
  const outcomes: Record<string, number> = {};
  for (let ticks = 0; ticks < TICKS_MAX && !io.signals.first.aborted; ticks++) {
    const report = await scheduler.tick({ maxDuration: "1d", signal: io.signals.first });
    jobsRun += report.jobsRun;
    for (const [outcome, count] of Object.entries(report.outcomes))
      outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    if (report.jobsRun === 0 && report.schedulesProcessed === 0 && !report.exhausted) break;
  }
  await scheduler.stop();
  if (out.isJson) out.json({ jobsRun, outcomes });
  else {
    const ends = Object.entries(outcomes).flatMap(([outcome, count]) => (count === 0 ? [] : `, ${count} ${outcome}`));
    out.line(`${jobsRun} ${jobsRun === 1 ? "run" : "runs"}${ends.join("")}`);
  }
  const fine = (outcomes.success ?? 0) + (outcomes.skipped ?? 0) + (outcomes.cancelled ?? 0);
  return Object.values(outcomes).reduce((sum, count) => sum + count, 0) > fine ? EXIT.found : EXIT.fine;
}

/** The scheduler that a module exports, or one that has its tasks and schedules. */
async function schedulerOf(call: CommandCall, loaded: unknown, path: string): Promise<Scheduler> {
  const module = Object(loaded) as {
    readonly default?: unknown;
    readonly tasks?: unknown;
    readonly schedules?: unknown;
  };
  const exported = await module.default;
  const given: unknown = typeof exported === "function" ? await exported() : exported;
  const store = textOption(call, "store");
  if (isScheduler(given)) {
    if (store !== undefined) throw new CliError(`${path} exports a scheduler, which has a store; leave --store out`);
    return given;
  }
  const { tasks = module.tasks, schedules = module.schedules ?? [] } = Object(given) as typeof module;
  if (typeof tasks !== "object" || tasks === null || !Array.isArray(schedules)) {
    const lines = [
      "  export default scheduler, or export { tasks, schedules }: what defineTasks() and addSchedules() have",
    ];
    throw new CliError(`${path} exports neither a scheduler nor tasks`, { code: "module", lines });
  }
  const { Scheduler } = await packageOf(path);
  const dataStore = store === undefined ? new MemoryDataStore() : (await openStore(store, call, true)).dataStore;
  const logger = createLog(call.io, call.out, "info");
  const scheduler: Scheduler = new Scheduler({ dataStore, logger });
  scheduler.use(tasks as Readonly<Record<string, Task>>);
  await scheduler.addSchedules(schedules as readonly NewSchedule[]);
  return scheduler;
}

/** The package as the file imports it: where that is another copy than the command's, its tasks fit no other. */
async function packageOf(path: string): Promise<typeof import("../../mod.ts")> {
  try {
    return await import(pathToFileURL(createRequire(path).resolve("escapement")).href);
  } catch {
    return import("../../mod.ts");
  }
}

function isScheduler(value: unknown): value is Scheduler {
  const { start, stop, tick } = Object(value) as Readonly<Record<string, unknown>>;
  return [start, stop, tick].every((method) => typeof method === "function");
}
