import { createTraceState, isSpanContextValid, type SpanContext } from "@opentelemetry/api";
import type { Metadata } from "../../records/policies.ts";

// Jobs carry the place of their addition in a trace as metadata, in the two fields of W3C Trace Context:
// https://www.w3.org/TR/trace-context/#traceparent-header

const VERSION_0 = /^00-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;

/** The metadata of what is added within a span; empty for a span that nobody records or passes on. */
export function traceMetadata(spanContext: SpanContext): Metadata {
  if (!isSpanContextValid(spanContext)) return {};
  const { traceId, spanId, traceFlags, traceState } = spanContext;
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  const tracestate = traceState?.serialize() ?? "";
  return tracestate === "" ? { traceparent } : { traceparent, tracestate };
}

/** Where a job was added, from its metadata; null for a job that was not added within a trace. */
export function addedWithin({ traceparent, tracestate }: Metadata): SpanContext | null {
  const found = typeof traceparent === "string" ? VERSION_0.exec(traceparent)?.groups : undefined;
  if (found === undefined) return null;
  const { traceId = "", spanId = "", flags = "" } = found;
  const place = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  if (!isSpanContextValid(place)) return null;
  return typeof tracestate === "string" ? { ...place, traceState: createTraceState(tracestate) } : place;
}
