import { guardedLogger } from "../../core/logger.ts";
import type { OpenOptions } from "../../core/open-options.ts";
import { type TimerHost, timerHost } from "../../core/timer-host.ts";
import type { EventRecord } from "../../records/events.ts";
import type { EventBroker, Unsubscribe } from "../event-broker.ts";
import { LocalEventBroker } from "../local.ts";
import { BrokerUnavailableError } from "./errors.ts";
import type { LinkMaker } from "./link.ts";
import { BrokerSession } from "./session.ts";

/**
 * What all brokers over a server do alike. The listeners of the broker itself get its events at once, without the way
 * over the server, so that a lost connection never hides a process's own events from it. What comes back from the
 * server is dropped.
 */
export class RemoteEventBroker implements EventBroker {
  readonly #maker: LinkMaker;
  readonly #timers: TimerHost;
  readonly #local = new LocalEventBroker();
  readonly #gapListeners = new Set<() => void>();
  /** From `open` to `close`, also when opening failed. */
  #isOpen = false;
  #session: BrokerSession | null = null;
  #opening: Promise<void> | null = null;

  /** @param timers the heartbeat's */
  constructor(maker: LinkMaker, timers: TimerHost = timerHost) {
    this.#maker = maker;
    this.#timers = timers;
  }

  /**
   * Connects. Resolves when the connection is there, and otherwise after the first failure or a few seconds: then the
   * broker goes on trying, and tells the log once for each outage. Idempotent.
   *
   * @throws {BrokerUnavailableError} when the package of the client is missing
   */
  open(options: OpenOptions = {}): Promise<void> {
    this.#opening ??= this.#open(options);
    return this.#opening;
  }

  /**
   * Sends events. Listeners of this object have got them when the call returns; the promise tells whether the server
   * has taken them.
   *
   * @throws {BrokerUnavailableError} at once when there is no connection, or when sending fails. Events are not kept to
   *   be sent later: when the connection is back, every scheduler looks into the store (`onGap`)
   */
  async publish(events: readonly EventRecord[]): Promise<void> {
    if (!this.#isOpen) throw new BrokerUnavailableError("the event broker is not open: call open() first");
    if (events.length === 0) return;
    // The numbers are given before the listeners run, because a listener may publish, too.
    const sent =
      this.#session?.send(events) ?? Promise.reject(new BrokerUnavailableError("the event broker failed to open"));
    sent.catch(() => {});
    await this.#local.publish(events);
    await sent;
  }

  /** Calls a listener for every event, of this broker and of the others, until the returned function is called. */
  subscribe(listener: (event: EventRecord) => void): Unsubscribe {
    return this.#local.subscribe(listener);
  }

  /** Calls a listener each time that events may have been missed: the connection was lost and is there again, or
   *  another broker could not send. A listener that throws disturbs nobody. */
  onGap(listener: () => void): Unsubscribe {
    const own = (): void => listener();
    this.#gapListeners.add(own);
    return () => {
      this.#gapListeners.delete(own);
    };
  }

  /** Disconnects: no listener is called any more. A client that was given is left open. Idempotent; `open` opens the
   *  broker again. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#endSession();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #open({ logger }: OpenOptions): Promise<void> {
    const session = new BrokerSession(
      this.#maker,
      { deliver: (events) => void this.#local.publish(events), tellGap: () => this.#tellGap() },
      this.#timers,
      logger === undefined ? undefined : guardedLogger(logger),
    );
    this.#isOpen = true;
    this.#session = session;
    try {
      await session.open();
    } catch (error) {
      // The listeners of this object go on, and `open` may be called again.
      if (this.#session === session) await this.#endSession();
      throw error;
    }
  }

  async #endSession(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    this.#opening = null;
    await session?.close();
  }

  #tellGap(): void {
    for (const listener of [...this.#gapListeners]) {
      try {
        listener();
      } catch {
        // Reporting the failure is the listener's own task.
      }
    }
  }
}
