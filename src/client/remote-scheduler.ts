import * as v from "valibot";
import { systemClock } from "../core/clock.ts";
import { SchedulerStateError } from "../core/errors.ts";
import { guardedRandom, IdGenerator, systemRandom } from "../core/ids.ts";
import { leveledLogger } from "../core/leveled-logger.ts";
import { once } from "../core/once.ts";
import { instantOrNull, type Temporal } from "../core/temporal.ts";
import { serializedError } from "../records/serialized-error.ts";
import { EventHub } from "../scheduler/events/event-hub.ts";
import { giveCommands, SchedulerClient } from "../scheduler/scheduler-client.ts";
import { SchedulerHealth } from "../scheduler/views/health.ts";
import { BlackoutCalls } from "./calls/blackout-calls.ts";
import { type CallContext, giveCallContext } from "./calls/context.ts";
import { JobCalls } from "./calls/job-calls.ts";
import { RunCalls } from "./calls/run-calls.ts";
import { ScheduleCalls } from "./calls/schedule-calls.ts";
import { TaskCalls } from "./calls/task-calls.ts";
import { EventFeed } from "./events/event-feed.ts";
import { Requester } from "./http/requester.ts";
import { Transport } from "./http/transport.ts";
import type { CheckedConnection, ConnectOptions } from "./options.ts";
import { healthSchema } from "./wire/health.ts";
import { instant, oneOf, orNull, text } from "./wire/values.ts";

/** Who asks a router. */
export interface Session {
  /** `"read"` sees everything but the stacks of errors, `"write"` may also change everything. */
  readonly scope: "read" | "write";
  /** The name of the token, which `getScheduleChanges` shows as `by`; null for none. */
  readonly name: string | null;
  /** When the session of a cookie ends; null for a token. */
  readonly expiresAt: Temporal.Instant | null;
}

const sessionSchema = once(() =>
  v.object({ scope: oneOf(["read", "write"]), name: orNull(text()), expiresAt: orNull(instant()) }),
);

/**
 * A scheduler behind a router. What it has is documented at `SchedulerClient`; these things are different over HTTP:
 *
 * - Every method may reject with `StoreUnavailableError` when the router cannot be reached, and with
 *  {@link RemoteError} when the router refuses the client.
 * - Waits for the end of a job (`runJob`, `Job.wait`, `getJobResult` with `wait`) go on while the router cannot be
 *  reached, until their signal or {@link close} ends them. When the wait of `runJob` ends otherwise, its error has the
 *  id of the job as `jobId`.
 * - Payloads and returned values travel as JSON, whatever the serializer of the store.
 * - The events of {@link subscribe}, {@link nextEvent} and {@link events} come from the first of them on, over one
 *  connection, which is opened anew when it breaks. Calls that write wait for it, so that a client that listens hears
 *  of what it does itself.
 * - When the router cannot be reached, or refuses the client, `isStoreReached` of {@link health} is false, and
 *  `storeError` says why.
 *
 * @example
 * await using client = connect({ url: "https://jobs.example.org", token });
 * await client.addJob("mail", { payload: "ada@example.org" });
 */
export class RemoteScheduler extends SchedulerClient implements AsyncDisposable {
  /** The address of the router. */
  readonly identity: string;
  readonly #requester: Requester;
  readonly #hub: EventHub;
  readonly #feed: EventFeed;
  #isClosed = false;

  /** `connect` makes them. @param connection what {@link options} were checked to be
   *  @throws {SchedulerStateError} from its methods, once it is closed */
  constructor(connection: CheckedConnection, options: Pick<ConnectOptions, "logger" | "clock" | "random">) {
    super();
    const { clock = systemClock } = options;
    const logger = leveledLogger(options.logger);
    const random = guardedRandom(options.random ?? systemRandom, (fault) =>
      logger.error("escapement: the given random() failed; Math.random takes its place", fault),
    );
    const transport = new Transport(connection);
    this.identity = connection.url;
    const mayWrite = (): Promise<void> => this.#feed.ready();
    this.#requester = new Requester(transport, { ...connection, clock, random, logger, mayWrite });
    const feed = new EventFeed({
      ...{ transport, clock, random, logger },
      wanted: () => hub.types,
      onRefused: (error) => {
        hub.close(error);
        hub.open();
      },
    });
    const hub: EventHub = new EventHub(feed, logger, () => feed.update());
    this.#feed = feed;
    this.#hub = hub;
    const context: CallContext = { requester: this.#requester, ids: new IdGenerator(random), clock, client: this };
    giveCallContext(context);
    const tasks = new TaskCalls(context);
    const schedules = new ScheduleCalls(context);
    const jobs = new JobCalls(context, tasks);
    giveCommands(this, {
      ...{ tasks, schedules, ledger: schedules, jobs, bulk: jobs, runs: new RunCalls(context) },
      blackouts: new BlackoutCalls(context),
      listen: () => {
        if (this.#isClosed) throw new SchedulerStateError(`the client of ${this.identity} is closed`);
        hub.open();
        return hub;
      },
      // Never rejects.
      health: async () => {
        try {
          return await this.#requester.read({ method: "GET", path: "/health", patience: "short" }, healthSchema());
        } catch (error) {
          return new SchedulerHealth(this.identity, clock.now(), null, serializedError(error), null);
        }
      },
      cleanup: async () => {
        await this.#requester.call({ method: "POST", path: "/cleanup" });
      },
    });
  }

  /** What the token may do, and whose it is. @throws {RemoteError} where the router does not know the token */
  async session(): Promise<Session> {
    const { expiresAt, ...known } = await this.#requester.read({ method: "GET", path: "/session" }, sessionSchema());
    return { ...known, expiresAt: instantOrNull(expiresAt) };
  }

  /** Ends the client: requests that are under way reject with a `SchedulerStateError`, and waits for events with an
   *  `AbortError`; loops over events end. Jobs and schedules go on. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#feed.close();
    this.#hub.close();
    this.#requester.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
