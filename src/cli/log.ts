import type { Logger } from "../mod.ts";
import type { CliIo } from "./io.ts";
import { type Output, type Style, styled } from "./output.ts";
import { instantText } from "./times.ts";

type Level = "debug" | "info" | "warn" | "error";
type LogFields = Readonly<Record<string, unknown>>;

/** A logger that has bindings, as the scheduler gives them to the lines of a job. */
export interface ChildLogger extends Logger {
  child(bindings: LogFields): ChildLogger;
}

const STYLES: Readonly<Record<Level, Style>> = { debug: "dim", info: "dim", warn: "yellow", error: "red" };

/** A log of one line for each entry: for people on a terminal, JSON elsewhere. @param level the least that is logged */
export function createLog(io: CliIo, out: Output, level: Level, bindings: LogFields = {}): ChildLogger {
  const levels: readonly Level[] = ["debug", "info", "warn", "error"];
  const write = (at: Level, message: string, details: readonly unknown[]): void => {
    if (levels.indexOf(at) < levels.indexOf(level)) return;
    const time = instantText(io.clock.now());
    const facts = { ...bindings, ...factsOf(details) };
    if (out.isJson || !io.isTerminal) {
      out.json({ time, level: at, msg: String(message).replace(/^escapement: /, ""), ...facts }, true);
      return;
    }
    const { taskId, error } = facts as { readonly taskId?: unknown; readonly error?: unknown };
    const about = typeof taskId === "string" ? `${taskId}  ` : "";
    const cause = typeof error === "string" ? `: ${error}` : "";
    const text = ` ${about}${String(message).replace(/^escapement: /, "")}${cause}`;
    out.prose(15, styled("dim", time.slice(11, 19)), " ", styled(STYLES[at], at.padEnd(5)), text);
  };
  return {
    debug: (message, ...details) => write("debug", message, details),
    info: (message, ...details) => write("info", message, details),
    warn: (message, ...details) => write("warn", message, details),
    error: (message, ...details) => write("error", message, details),
    child: (more) => createLog(io, out, level, { ...bindings, ...more }),
  };
}

/** What stands behind a message, as fields. */
function factsOf(details: readonly unknown[]): LogFields {
  const fields: Record<string, unknown> = {};
  for (const detail of details) {
    if (detail instanceof Error) fields.error = `${detail.name}: ${detail.message}`;
    else if (typeof detail === "object" && detail !== null && !Array.isArray(detail)) Object.assign(fields, detail);
  }
  return fields;
}
