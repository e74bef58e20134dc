// A process that adds a job within a trace, as a web server does, and prints where: node adding-process.mjs URL
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { Scheduler } from "../../src/mod.ts";
import { Telemetry } from "../../src/observability/otel/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";

const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: process.argv[2] ?? "" }), role: "scheduler" });
scheduler.task("mail", () => {});
await new Telemetry({ tracerProvider }).client(scheduler).addJob("mail");
await scheduler.stop();
const [added] = exporter.getFinishedSpans().map((span) => span.spanContext());
console.log(JSON.stringify({ traceId: added?.traceId, spanId: added?.spanId }));
