import { type Span, SpanStatusCode } from "@opentelemetry/api";
import { serializedError } from "../../records/serialized-error.ts";

/** Writes what was thrown into a span. @returns the type of the error: its `code`, or its name where it has none */
export function recordError(span: Span, thrown: unknown): string {
  const { name, message, stack, code } = serializedError(thrown);
  const type = code ?? name;
  span.setAttribute("error.type", type);
  span.recordException({ name, message, ...(stack === undefined ? {} : { stack }) });
  span.setStatus({ code: SpanStatusCode.ERROR, message });
  return type;
}
