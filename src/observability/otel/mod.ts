/**
 * Traces of OpenTelemetry. Needs the package `@opentelemetry/api`.
 *
 * @module
 */
export { Telemetry, type TelemetryOptions, type TracedOptions } from "./telemetry.ts";
