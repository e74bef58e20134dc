import { isSpanContextValid, trace } from "@opentelemetry/api";
import { adaptedLogger } from "../../core/leveled-logger.ts";
import type { Logger } from "../../core/logger.ts";
import type { RecentRuns } from "./recent-runs.ts";

type Bindings = Readonly<Record<string, unknown>>;

/** A structured logger whose lines about a job have a `traceId`: that of the attempt, else that of the span in which
 *  they are written. A logger that makes no children is returned as it is. */
export function tracedLogger(logger: Logger, runs: RecentRuns): Logger {
  const inner = adaptedLogger(logger);
  const makeChild: unknown = "child" in inner ? inner.child : undefined;
  if (logger === console || typeof makeChild !== "function") return logger;
  const at =
    (level: keyof Logger) =>
    (message: string, ...details: unknown[]): unknown =>
      inner[level](message, ...details);
  const child = (bindings: Bindings): unknown => {
    const traceId = traceIdFor(bindings, runs);
    return Reflect.apply(makeChild, inner, [traceId === undefined ? bindings : { ...bindings, traceId }]);
  };
  return Object.assign({ debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, { child });
}

function traceIdFor({ jobId, fence }: Bindings, runs: RecentRuns): string | undefined {
  const known = typeof jobId === "string" && typeof fence === "number" ? runs.traceIdOf(jobId, fence) : undefined;
  const active = trace.getActiveSpan()?.spanContext();
  return known ?? (active !== undefined && isSpanContextValid(active) ? active.traceId : undefined);
}
