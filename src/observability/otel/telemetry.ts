import { isSpanContextValid, type Tracer, type TracerProvider, trace } from "@opentelemetry/api";
import { type Clock, systemClock } from "../../core/clock.ts";
import { adaptedLogger } from "../../core/leveled-logger.ts";
import type { Logger } from "../../core/logger.ts";
import { VERSION } from "../../core/version.ts";
import { InlineExecutor } from "../../executors/inline.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import { RecentRuns } from "./recent-runs.ts";
import { tracedClient } from "./traced-client.ts";
import { TracedExecutor } from "./traced-executor.ts";

/** Options of a `Telemetry`. */
export interface TelemetryOptions {
  /** Makes the tracer, whose name is `escapement` and whose version is that of this package. Default: the provider that
   *  is registered globally when a span begins. */
  tracerProvider?: TracerProvider | undefined;
}

/** The options of a `Scheduler` that `Telemetry.watch` reads. */
export interface TracedOptions {
  executors?: Record<string, JobExecutor> | undefined;
  logger?: Logger | undefined;
  clock?: Clock | undefined;
}

/**
 * Traces of OpenTelemetry: additions of jobs are spans of the kind PRODUCER, attempts are spans of the kind CONSUMER.
 * Each attempt begins a trace of its own, with a link to the span that added the job, in whatever process that was.
 * Within a handler the attempt's span is the active one. Without an SDK of OpenTelemetry nothing is recorded.
 *
 * @example
 * const telemetry = new Telemetry();
 * const scheduler = new Scheduler(telemetry.watch({ dataStore }));
 * const client = telemetry.client(scheduler);
 * await client.addJob("mail", { payload: { to: "ada@example.org" } });
 */
export class Telemetry {
  readonly #tracer: () => Tracer;
  readonly #runs = new RecentRuns();
  readonly #executors = new WeakMap<JobExecutor, JobExecutor>();

  constructor(options: TelemetryOptions = {}) {
    const { tracerProvider = trace } = options;
    this.#tracer = () => tracerProvider.getTracer("escapement", VERSION);
  }

  /**
   * Options for a `Scheduler` whose attempts are traced: the given ones, with executors that make a span of each
   * attempt. A structured `logger` gets the attempt's `traceId` as a field of each line about the job.
   * @example
   * const scheduler = new Scheduler(telemetry.watch({ dataStore, logger: pino() }));
   */
  watch<const Options extends object>(options: Options & TracedOptions): Options {
    const { clock = systemClock, executors = {}, logger } = options;
    const all = { inline: new InlineExecutor(), ...executors };
    const traced = Object.entries(all).map(([name, executor]) => [name, this.#executor(executor, clock)]);
    return {
      ...options,
      executors: Object.fromEntries(traced),
      ...(logger === undefined ? {} : { logger: tracedLogger(logger, this.#runs) }),
    };
  }

  /**
   * A client that makes a span of each addition: `addJob`, `addJobs`, `addBatch`, `runJob` and `prepareJob`. Where the
   * addition was is stored with the job, as `traceparent` (and `tracestate`) of its metadata. `addJobs` and `addBatch`
   * are one span; that of `runJob` ends when the job is added, and knows nothing of what the handler throws. (A client
   * that is none of this package does not tell of the addition; there the span ends with the job.) Everything else is
   * that of the given client, be it a `Scheduler` or an object that reaches one over a network.
   *
   * The scheduler itself stays as it is, and so does `context.scheduler` of handlers: a handler adds jobs by the client
   * if they are to be linked to its attempt.
   * @example
   * const client = telemetry.client(scheduler);
   */
  client<Client extends SchedulerClient>(client: Client): Client {
    return tracedClient(client, this.#tracer);
  }

  #executor(executor: JobExecutor, clock: Clock): JobExecutor {
    if (executor instanceof TracedExecutor) return executor;
    const tracing = { tracer: this.#tracer, runs: this.#runs, clock };
    const known = this.#executors.get(executor) ?? new TracedExecutor(executor, tracing);
    this.#executors.set(executor, known);
    return known;
  }
}

type Bindings = Readonly<Record<string, unknown>>;

/** A structured logger whose lines about a job have a `traceId`: that of the attempt, else that of the span in which
 *  they are written. A logger that makes no children is returned as it is. */
function tracedLogger(logger: Logger, runs: RecentRuns): Logger {
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
