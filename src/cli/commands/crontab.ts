import { resolve } from "node:path";
import { textHash } from "../../core/text-hash.ts";
import { MemoryDataStore, type RunOverlapPolicy, type Scheduler } from "../../mod.ts";
import { Metrics } from "../../observability/metrics/mod.ts";
import { LABEL_VALUE_LENGTH_MAX } from "../../scheduler/options/limits.ts";
import { type CommandCall, hasOption, refuseOptions, textOption } from "../command.ts";
import { CrontabRunner } from "../crontab-runner.ts";
import { durationOption } from "../durations.ts";
import { CliError, EXIT } from "../failure.ts";
import { createLog } from "../log.ts";
import { crontabZone, systemOption } from "../rules.ts";
import { portOption, serveRouter } from "../serve.ts";
import { openStore } from "../target.ts";

const OVERLAPS = ["queue", "skip", "replaceQueued", "cancelRunning"] as const;
const STOP_MS = 600_000;
/** Most commands that may run at once: more would only wait for the machine. */
const RUNNING_MAX = 1000;

/** `escapement crontab`: runs the commands of a crontab, until it is told to stop. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const [path = ""] = args;
  const overlap = overlapOption(call);
  const name = nameOption(call);
  const stopMs = durationOption(textOption(call, "stopTimeout"), "stop-timeout", STOP_MS);
  const port = portOption(call);
  if (port === null) refuseOptions(call, ["host", "token"], "a crontab without a page", "--port serves one");
  const log = createLog(io, out, hasOption(call, "verbose") ? "debug" : "info");
  const runner = new CrontabRunner({
    ...{ path, io, log, overlap, name },
    label: name ?? (path === "-" ? path : labelOf(resolve(io.cwd, path))),
    timeZone: crontabZone(textOption(call, "tz")),
    system: systemOption(call, path),
  });
  // Before anything is opened: a crontab with a mistake starts nothing.
  const lines = await runner.read();
  // The file may change while the store is opened.
  let isChanged = false;
  let onHangUp = (): void => {
    isChanged = true;
  };
  const ignoreHangUp = io.signals.onHangUp(() => onHangUp());
  try {
    const store = textOption(call, "store");
    const dataStore = store === undefined ? new MemoryDataStore() : (await openStore(store, call, true)).dataStore;
    const { Scheduler } = await import("../../mod.ts");
    const metrics = new Metrics();
    const options = { dataStore, logger: log, maxConcurrentJobs: RUNNING_MAX, clock: io.clock };
    const scheduler: Scheduler = new Scheduler(metrics.watch(options));
    await runner.install(scheduler, lines);
    onHangUp = () => void runner.reload(scheduler);
    if (isChanged) await runner.reload(scheduler);
    const served = port === null ? null : await serveRouter(call, scheduler, { port, metrics, withoutToken: "read" });
    // Without its code, because others read the log of a container.
    const page = served?.link.replace(/#.*$/, "");
    if (served !== null) log.info(`the page is at ${page}, and numbers for Prometheus at its /metrics`);
    try {
      await scheduler.start();
      await runner.reboot(scheduler);
      await ended(io.signals.first);
      log.info("stopping: running commands may end; a second signal ends them");
      const stopping = scheduler.stop({ drainTimeout: { milliseconds: stopMs } });
      await Promise.race([stopping, ended(io.signals.second)]);
      if (io.signals.second.aborted) runner.killAll();
      await stopping;
    } finally {
      await scheduler.stop({ drainTimeout: { milliseconds: 0 } });
      await served?.close();
    }
  } finally {
    ignoreHangUp();
  }
  return EXIT.fine;
}

function overlapOption(call: CommandCall): RunOverlapPolicy {
  const given = textOption(call, "overlap") ?? "skip";
  const known = OVERLAPS.find((policy) => policy === given);
  if (known !== undefined) return known;
  throw new CliError(`--overlap is one of ${OVERLAPS.join(", ")}; got ${JSON.stringify(given)}`);
}

/** The name of `--name`. @throws {CliError} for text that is no part of an id */
function nameOption(call: CommandCall): string | null {
  const name = textOption(call, "name");
  if (name === undefined) return null;
  if (/^[\w.-]{1,64}$/.test(name)) return name;
  throw new CliError(`--name has letters, digits, ".", "_" and "-", and at most 64; got ${JSON.stringify(name)}`);
}

/** A path as a label: the end of a very long one, with its hash. */
function labelOf(path: string): string {
  return path.length <= LABEL_VALUE_LENGTH_MAX ? path : `${textHash(path)}…${path.slice(32 - LABEL_VALUE_LENGTH_MAX)}`;
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
