import { cpus, loadavg } from "node:os";

/** The machine and the runtime, as the first line of a report states them. */
export function machine(): string {
  return `Node ${process.version}, ${cpus().length} cores of ${cpus()[0]?.model}, load ${load()} at the start`;
}

/** The load of the last minute. */
export function load(): string {
  return loadavg()[0]?.toFixed(1) ?? "unknown";
}
