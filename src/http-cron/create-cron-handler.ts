import { hasBearer } from "../core/bearer.ts";
import { hasMethods } from "../core/check.ts";
import { EscapementError, SchedulerStateError } from "../core/errors.ts";
import { endsWorkWithRequests } from "../core/host.ts";
import { leveledLogger } from "../core/leveled-logger.ts";
import { takes } from "../core/option-errors.ts";
import { problemResponse } from "../core/problem.ts";
import type { TickReport } from "../scheduler/views/tick-report.ts";
import { assertTicks, type CronHandlerOptions, checkCronOptions, type TickingScheduler } from "./options.ts";

/** Does one tick for each request. It never rejects: what fails is a status, and a line of the log. */
export type CronHandler = (request: Request) => Promise<Response>;

/**
 * Makes the handler of a route that a platform calls on a schedule: each request does one `tick()`. Call it every
 * minute, or as often as the platform can.
 *
 * | Status | When | Body |
 * |---|---|---|
 * | 200 | the tick is done | the counts of its `TickReport`, and `nextWakeAt` as ISO 8601 text |
 * | 401 | the secret is missing or wrong | a problem (RFC 9457) with a `code`, here and below |
 * | 405 | the method is none of GET and POST | |
 * | 409 | the scheduler was started, or somebody else's tick of it is under way | |
 * | 500 | the tick failed, because the store cannot be reached for example | |
 *
 * Requests may overlap and may be repeated: a fire time makes one job, and a job is leased to one tick. A request that
 * comes during a tick of this process waits for it, and shares the next tick with all others that wait. After a failure
 * nothing is lost, and the next request goes on. A job that fails is no failure of the tick; it counts in `outcomes`.
 * @throws {OptionsError} for unknown or invalid options: a secret that is missing or empty among them, unless a
 * function gives it; then requests are answered with 500
 * @example
 * const secret = () => process.env.CRON_SECRET;
 * const handler = createCronHandler({ scheduler, secret, tick: { maxDuration: "20s" } });
 * export { handler as GET };
 */
export function createCronHandler(options: CronHandlerOptions): CronHandler {
  const secretsNow = checkCronOptions(options);
  const { scheduler, tick } = options;
  const logger = leveledLogger(options.logger);
  const turns = new WeakMap<TickingScheduler, TickTurns>();
  const turnsOf = (one: TickingScheduler): TickTurns => {
    const known = turns.get(one) ?? new TickTurns(() => one.tick(tick));
    turns.set(one, known);
    return known;
  };
  return async (request) => {
    if (!isRequest(request)) {
      logger.error(`escapement: the handler of createCronHandler() ${takes("a Request", request, FOR_OTHER_HANDLERS)}`);
      return problemResponse(500, "options");
    }
    if (request.method !== "GET" && request.method !== "POST") {
      return problemResponse(405, "methodNotAllowed", { headers: { allow: "GET, POST" } });
    }
    try {
      const secrets = secretsNow();
      if (secrets !== null && !(await hasBearer(request, secrets))) {
        return problemResponse(401, "unauthorized", {
          headers: { "www-authenticate": 'Bearer realm="escapement"' },
        });
      }
      const made = typeof scheduler === "function" ? assertTicks(await scheduler()) : scheduler;
      return reportAnswer(await turnsOf(made).run());
    } catch (error) {
      logger.error("escapement: the tick that an HTTP request asked for failed", error);
      const code = error instanceof EscapementError ? error.code : "internal";
      return problemResponse(error instanceof SchedulerStateError ? 409 : 500, code);
    }
  };
}

const FOR_OTHER_HANDLERS =
  "pass c.req.raw of Hono, or event.request of SvelteKit; node:http and Express need an adapter that makes Requests, " +
  "such as serve({ fetch: handler }) of @hono/node-server";

/** By shape, because a Request may be one of another realm, or of a package. */
function isRequest(value: unknown): value is Request {
  return typeof value === "object" && value !== null && "headers" in value && hasMethods(value.headers, ["get"]);
}

/** What a tick did, as JSON. Its instant is ISO 8601 text. */
function reportAnswer(report: TickReport): Response {
  const { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAtMs, exhausted, roundTrips } = report;
  const nextWakeAt = nextWakeAtMs === null ? null : new Date(nextWakeAtMs).toISOString();
  const body = { schedulesProcessed, jobsAdded, jobsRun, outcomes, nextWakeAt, exhausted, roundTrips };
  return new Response(JSON.stringify(body), {
    headers: { "cache-control": "no-store", "content-type": "application/json" },
  });
}

/**
 * The ticks of one scheduler, one at a time. Who asks during a tick gets the next one, together with all others who ask
 * during it: the tick under way leaves out what became due after it began. Where a runtime ends work together with the
 * request that began it, requests must not wait for each other, and ticks of one scheduler may overlap.
 */
class TickTurns {
  readonly #tick: () => Promise<TickReport>;
  #present: Promise<TickReport> | null = null;
  #next: Promise<TickReport> | null = null;

  constructor(tick: () => Promise<TickReport>) {
    this.#tick = tick;
  }

  run(): Promise<TickReport> {
    if (endsWorkWithRequests()) return this.#tick();
    if (this.#present === null) return this.#begin();
    this.#next ??= this.#afterPresent(this.#present);
    return this.#next;
  }

  async #afterPresent(present: Promise<TickReport>): Promise<TickReport> {
    // Whoever asked for that tick hears of its failure.
    await present.catch(() => {});
    this.#next = null;
    return this.#begin();
  }

  #begin(): Promise<TickReport> {
    const ticking = this.#tick().finally(() => {
      if (this.#present === ticking) this.#present = null;
    });
    this.#present = ticking;
    return ticking;
  }
}
