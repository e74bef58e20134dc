import { readFileSync } from "node:fs";
import { join } from "node:path";
import { context, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/client/mod.ts";
import { createRouter } from "../../src/hono/mod.ts";
import { Scheduler, type SchedulerClient, type SchedulerOptions, SkipRun } from "../../src/mod.ts";
import { Telemetry } from "../../src/observability/otel/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { run } from "../package/run.ts";
import { ROOT, temporaryFolder } from "../package/stage.ts";
import { everySecond, heldHandler, recordingLogger, rejectionOf, START } from "../scheduler/support.ts";
import { bundleProcess } from "../support/bundle-process.ts";

/** After every instant of the host's clock. */
const LATER = "2200-01-01T00:00:00Z";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

interface Traced {
  readonly clock: VirtualClock;
  readonly scheduler: Scheduler;
  readonly client: Scheduler;
  readonly telemetry: Telemetry;
  readonly provider: BasicTracerProvider;
  readonly spans: () => ReadableSpan[];
}

/** A scheduler that is traced by the SDK of OpenTelemetry, in the role of one process. */
function setUpTraced(options: SchedulerOptions & { clock?: VirtualClock } = {}): Traced {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const telemetry = new Telemetry({ tracerProvider: provider });
  const clock = options.clock ?? new VirtualClock(START);
  const { logger } = recordingLogger();
  const scheduler = new Scheduler(telemetry.watch({ logger, random: () => 0.5, ...options, clock }));
  onTestFinished(async () => {
    const stopping = scheduler.stop({ drainTimeout: "PT0S" });
    await clock.advance("PT1M");
    await stopping;
  });
  const spans = (): ReadableSpan[] => exporter.getFinishedSpans();
  return { clock, scheduler, client: telemetry.client(scheduler), telemetry, provider, spans };
}

function behindRouter(scheduler: Scheduler, clock: VirtualClock): SchedulerClient {
  const client = connect({
    ...{ url: "http://localhost", clock },
    fetch: createRouter(scheduler, { auth: "none" }).fetch,
  });
  onTestFinished(() => client.close());
  return client;
}

/** Runs `adding-process.ts` in a folder. Returns where it added the job. */
async function addInAnotherProcess(folder: string, url: string): Promise<object> {
  const program = join(folder, "adding-process.mjs");
  await bundleProcess(join(ROOT, "test/observability/adding-process.ts"), program);
  const { stdout, output } = await run(["node", program, url], { cwd: folder });
  return stdout.startsWith("{") ? JSON.parse(stdout) : expect.unreachable(output);
}

/** What a span says, as one value. */
function factsOf({ name, kind, attributes, status, links }: ReadableSpan): object {
  return { name, kind, attributes, status: status.code, links: links.map(({ context: { spanId } }) => spanId) };
}

function spanNamed(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const span = spans.find((one) => one.name === name);
  return span ?? expect.unreachable(`there is no span "${name}"`);
}

describe("a job that is added by a traced client", () => {
  test("is a span of its addition, and one of its run in a trace of its own with a link to the first", async () => {
    const { scheduler, client, provider, spans } = setUpTraced();
    scheduler.task("mail", () => {});
    const request = provider.getTracer("web").startSpan("POST /orders");
    const job = await context.with(trace.setSpan(context.active(), request), () => client.addJob("mail"));
    await drain(scheduler);
    const [added, ran] = [spanNamed(spans(), "add mail"), spanNamed(spans(), "run mail")];
    const messaging = { "messaging.system": "escapement", "messaging.destination.name": "mail" };
    expect([added, ran].map(factsOf)).toEqual([
      {
        name: "add mail",
        kind: SpanKind.PRODUCER,
        attributes: {
          ...messaging,
          "messaging.operation.name": "add",
          "messaging.operation.type": "send",
          "messaging.message.id": job.id,
        },
        status: SpanStatusCode.UNSET,
        links: [],
      },
      {
        name: "run mail",
        kind: SpanKind.CONSUMER,
        attributes: {
          ...messaging,
          "messaging.operation.name": "run",
          "messaging.operation.type": "process",
          "messaging.message.id": job.id,
          "escapement.attempt": 1,
          "escapement.fence": 1,
          "escapement.outcome": "success",
        },
        status: SpanStatusCode.UNSET,
        links: [added.spanContext().spanId],
      },
    ]);
    expect(added.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    expect(ran.parentSpanContext).toBe(undefined);
    expect(ran.spanContext().traceId).not.toBe(added.spanContext().traceId);
    expect(ran.links[0]?.context.traceId).toBe(request.spanContext().traceId);
  });

  test("has its place in the trace as metadata, beside what the caller gave", async () => {
    const { scheduler, client, spans } = setUpTraced();
    scheduler.task("mail", { metadata: { team: "a" } }, () => {});
    const { metadata } = await client.addJob("mail", { metadata: { customer: 7 } });
    const { traceId, spanId } = spanNamed(spans(), "add mail").spanContext();
    expect(metadata).toEqual({ team: "a", customer: 7, traceparent: `00-${traceId}-${spanId}-01` });
  });

  test("is linked when it was added by another process", async () => {
    await using folder = await temporaryFolder("otel");
    const url = `file:${join(folder.path, "jobs.db")}`;
    const added = await addInAnotherProcess(folder.path, url);
    const { scheduler, spans } = setUpTraced({
      dataStore: new LibsqlDataStore({ url }),
      clock: new VirtualClock(LATER),
    });
    scheduler.task("mail", () => {});
    await drain(scheduler);
    const { links } = spanNamed(spans(), "run mail");
    expect(links.map(({ context: { traceId, spanId, isRemote } }) => ({ traceId, spanId, isRemote }))).toEqual([
      { ...added, isRemote: true },
    ]);
  });

  test("shares the span of its addition with the jobs that are added with it", async () => {
    const { scheduler, client, spans } = setUpTraced();
    for (const id of ["count", "report"]) scheduler.task(id, () => {});
    await client.addJobs([{ task: "count" }, { task: "count" }]);
    // biome-ignore lint/suspicious/noThenProperty: that is how the option is called
    await client.addBatch([{ task: "count" }, { task: "report" }], { then: { task: "report" } });
    await drain(scheduler);
    const added = spans().filter(({ kind }) => kind === SpanKind.PRODUCER);
    expect(added.map(({ name, attributes }) => [name, attributes["messaging.batch.message_count"]])).toEqual([
      ["add count", 2],
      ["add jobs", 2],
    ]);
    const links = spans().flatMap((span) => span.links.map(({ context: { spanId } }) => spanId));
    const [first, second] = added.map((span) => span.spanContext().spanId);
    expect(links.sort()).toEqual([first, first, second, second, second].sort());
  });

  test("returns what its handler returned, and rejects as without a trace", async () => {
    const { scheduler, client, clock, spans } = setUpTraced();
    scheduler.task("sum", (numbers: number[]) => numbers.reduce((a, b) => a + b, 0));
    await scheduler.start();
    const sum = client.runJob("sum", { payload: [1, 2] });
    await clock.advance("PT1S");
    expect(await sum).toBe(3);
    expect(await rejectionOf(client.addJob("unknown"))).toMatchObject({ code: "taskLookup" });
    expect(await rejectionOf(client.addJob("sum", 5 as never))).toMatchObject({ code: "options" });
    const failed = spanNamed(spans(), "add unknown");
    expect([failed.status.code, failed.attributes["error.type"]]).toEqual([SpanStatusCode.ERROR, "taskLookup"]);
  });

  test.each([
    ["of a scheduler", (scheduler: Scheduler) => scheduler],
    ["over HTTP", behindRouter],
  ])("and awaited by runJob %s is added by a span that ends before the job, without its error", async (_, reach) => {
    const { scheduler, clock, telemetry, spans } = setUpTraced();
    const { handler, held } = heldHandler();
    scheduler.task("fail", handler);
    await scheduler.start();
    const failure = rejectionOf(telemetry.client<SchedulerClient>(reach(scheduler, clock)).runJob("fail"));
    await clock.advance("PT1S");
    expect(spans().map(({ name }) => name)).toEqual(["add fail"]);
    held[0]?.fail(new RangeError("no"));
    await clock.advance("PT1M");
    expect(await failure).toMatchObject({ name: "RangeError", message: "no" });
    const { status, events, attributes } = spanNamed(spans(), "add fail");
    const jobId = held[0]?.context.job.id;
    expect([status.code, events, attributes["messaging.message.id"]]).toEqual([SpanStatusCode.UNSET, [], jobId]);
  });

  test("comes from a tracer that tells the version of the package", async () => {
    const { scheduler, client, spans } = setUpTraced();
    scheduler.task("mail", () => {});
    await client.addJob("mail");
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(spans()[0]?.instrumentationScope).toMatchObject({ name: "escapement", version });
  });

  test("has no link, and no metadata, where nobody traces", async () => {
    const { logger } = recordingLogger();
    const telemetry = new Telemetry();
    await using scheduler = new Scheduler(telemetry.watch({ logger }));
    scheduler.task("mail", () => {});
    const { metadata } = await telemetry.client(scheduler).addJob("mail");
    expect(metadata).toEqual({});
    expect((await drain(scheduler)).map(({ jobsRun }) => jobsRun)).toEqual([1]);
  });
});

describe("the span of an attempt", () => {
  test("is the active one in the handler, so that its own spans are parts of it", async () => {
    const { scheduler, client, provider, spans } = setUpTraced();
    scheduler.task("mail", async () => {
      await Promise.resolve();
      provider.getTracer("app").startSpan("smtp").end();
      await client.addJob("log");
    });
    scheduler.task("log", () => {});
    await scheduler.addJob("mail");
    await drain(scheduler);
    const parent = spanNamed(spans(), "run mail").spanContext().spanId;
    const parts = ["smtp", "add log"].map((name) => spanNamed(spans(), name).parentSpanContext?.spanId);
    expect(parts).toEqual([parent, parent]);
  });

  test("tells of the schedule, its fire time, how late it was and what it stands for", async () => {
    const { scheduler, clock, spans } = setUpTraced();
    scheduler.task("report", () => {});
    await scheduler.addSchedule("report", everySecond(), { id: "s", coalesce: "latest" });
    await clock.advance("PT3.25S");
    await drain(scheduler);
    expect(spanNamed(spans(), "run report").attributes).toMatchObject({
      "escapement.schedule.id": "s",
      "escapement.scheduled_time": "2030-01-01T00:00:03Z",
      "escapement.lateness_s": 0.25,
      "escapement.missed_count": 3,
    });
  });

  test("is one per attempt, with the error of those that fail", async () => {
    const { scheduler, clock, spans } = setUpTraced();
    const retry = { maxAttempts: 2, backoff: { jitter: "none" } } as const;
    scheduler.task("pay", { retry }, (_, { attempt }) => {
      if (attempt === 1) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      throw new TypeError("no such account");
    });
    await scheduler.addJob("pay");
    await scheduler.start();
    await clock.advance("PT10S");
    const told = spans().map(({ attributes, status, events }) => [
      attributes["escapement.attempt"],
      attributes["escapement.outcome"],
      attributes["error.type"],
      status,
      events.map(({ name, attributes: facts }) => [name, facts?.["exception.message"]]),
    ]);
    const failed = (message: string): object => ({ code: SpanStatusCode.ERROR, message });
    expect(told).toEqual([
      [1, "error", "ECONNREFUSED", failed("refused"), [["exception", "refused"]]],
      [2, "error", "TypeError", failed("no such account"), [["exception", "no such account"]]],
    ]);
  });

  test("of a run that its handler skipped is no failure", async () => {
    const { scheduler, spans } = setUpTraced();
    scheduler.task("idle", () => {
      throw new SkipRun("nothing to do");
    });
    await scheduler.addJob("idle");
    await drain(scheduler);
    const { attributes, status, events } = spanNamed(spans(), "run idle");
    expect([attributes["escapement.outcome"], attributes["error.type"], status.code, events]).toEqual([
      ...["skipped", undefined, SpanStatusCode.UNSET, []],
    ]);
  });

  test("of a handler that is to end early tells why, even if the handler ignores that", async () => {
    const { scheduler, clock, spans } = setUpTraced();
    const { handler } = heldHandler();
    scheduler.task(
      "polite",
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    );
    scheduler.task("deaf", { timeout: "1s" }, handler);
    const polite = await scheduler.addJob("polite");
    await scheduler.addJob("deaf");
    await scheduler.start();
    await clock.advance("PT0.5S");
    await scheduler.cancelJob(polite.id);
    await clock.advance("PT10S");
    expect(
      spans().map(({ name, attributes }) => [name, attributes["escapement.outcome"], attributes["error.type"]]),
    ).toEqual([
      ["run polite", "cancelled", "jobCancelled"],
      ["run deaf", "error", "jobTimeout"],
    ]);
  });

  test("of a job whose metadata holds no place in a trace has no link", async () => {
    const { scheduler, spans } = setUpTraced();
    scheduler.task("t", () => {});
    const zeros = `00-${"0".repeat(32)}-${"0".repeat(16)}-01`;
    for (const traceparent of ["", "00-xyz", 7, null, zeros])
      await scheduler.addJob("t", { metadata: { traceparent } });
    const valid = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;
    await scheduler.addJob("t", { metadata: { traceparent: valid, tracestate: "vendor=1" } });
    await drain(scheduler);
    const links = spans().flatMap((span) => span.links.map(({ context: place }) => place));
    expect(links.map(({ traceState, ...place }) => ({ ...place, state: traceState?.serialize() }))).toEqual([
      {
        traceId: "a".repeat(32),
        spanId: "b".repeat(16),
        traceFlags: TraceFlags.NONE,
        isRemote: true,
        state: "vendor=1",
      },
    ]);
  });
});

describe("the log of a traced scheduler", () => {
  test("has the trace of the attempt as a field, in lines of the handler and in those about its end", async () => {
    const written: Record<string, unknown>[] = [];
    const sink = { write: (line: string) => void written.push(JSON.parse(line)) };
    const logger = pino({ level: "info", base: null, timestamp: false }, sink);
    const { scheduler, spans } = setUpTraced({ logger });
    scheduler.task("pay", (_, context) => {
      context.logger.info("looks");
      throw new Error("no such account");
    });
    await scheduler.addJob("pay");
    await drain(scheduler);
    const { traceId } = spanNamed(spans(), "run pay").spanContext();
    expect(written.map(({ msg, traceId: own }) => [String(msg).slice(0, 10), own])).toEqual([
      ["looks", traceId],
      ["escapement", traceId],
    ]);
  });

  test("is as it was where the logger makes no children", () => {
    const { logger } = recordingLogger();
    const telemetry = new Telemetry();
    expect(telemetry.watch({ logger }).logger).toBe(logger);
    expect(telemetry.watch({ logger: console }).logger).toBe(console);
    expect(telemetry.watch({})).not.toHaveProperty("logger");
  });
});

describe("a traced client", () => {
  test("is the given one in everything else", async () => {
    const { scheduler, client } = setUpTraced({ identity: "me" });
    client.task("t", () => {});
    await client.addSchedule("t", everySecond(), { id: "s" });
    const { items } = await client.getSchedules();
    expect([client.identity, client.state, items.map(({ id }) => id)]).toEqual(["me", "stopped", ["s"]]);
    expect(client).toBeInstanceOf(Scheduler);
    expect(client.getJobs).toBe(client.getJobs);
    expect((await scheduler.getTasks()).map(({ id }) => id)).toEqual(["t"]);
  });
});

test("the steps of a job have spans below that of the attempt in which they ended, and a sleep is no error", async () => {
  const { scheduler, clock, spans } = setUpTraced();
  const task = scheduler.task("close", async (_: undefined, { step }) => {
    await step.run("post:17", async () => clock.sleep(clock.now() + 2000));
    await step.sleep("settle", "PT1H");
  });
  await scheduler.addJob(task);
  const ticking = scheduler.tick();
  await clock.advance("PT2S");
  await ticking;
  const [step, attempt] = [spanNamed(spans(), "step post"), spanNamed(spans(), "run close")];
  expect(step.parentSpanContext?.spanId).toBe(attempt.spanContext().spanId);
  expect(step.attributes).toEqual({ "escapement.step": "post:17", "escapement.step.attempts": 1 });
  expect([step.duration, attempt.status.code]).toEqual([[2, 0], SpanStatusCode.UNSET]);
  expect(attempt.attributes["escapement.outcome"]).toBe("sleeps");
});
