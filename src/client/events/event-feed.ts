import type { EventBroker, Unsubscribe } from "../../brokers/event-broker.ts";
import { type Clock, sleepFor } from "../../core/clock.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { Logger } from "../../core/logger.ts";
import type { EventRecord, EventType } from "../../records/events.ts";
import type { Transport } from "../http/transport.ts";
import { EventConnection, type StreamFailure } from "./event-connection.ts";

/** What an {@link EventFeed} needs. */
export interface EventFeedOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** The types of events that somebody listens to at present. */
  readonly wanted: () => readonly EventType[];
  /** Called when the router refuses the stream, so that waiting for an event would have no end. */
  readonly onRefused: (error: Error) => void;
}

/** First and longest pause before a stream that failed is opened anew, in milliseconds. */
const PAUSE_MS_MIN = 1000;
const PAUSE_MS_MAX = 30_000;

/** Longest wait of a write for a stream, in milliseconds. A proxy may hold the stream back. */
const READY_MS_MAX = 5000;

/**
 * The events of a router, as a broker that only receives. One connection serves all listeners. It is there while
 * somebody listens, and is opened anew when it breaks, after the last event that came.
 *
 * When further types are wanted, a second connection takes the place of the first one. The first one is left once it
 * has delivered what happened before the second one was there, so that nothing is lost and nothing comes twice.
 */
export class EventFeed implements Pick<EventBroker, "publish" | "subscribe" | "onGap"> {
  readonly #options: EventFeedOptions;
  #listener: ((record: EventRecord) => void) | null = null;
  #gapListener: (() => void) | null = null;
  /** The newest is the last; the others are on their way out. */
  #connections: EventConnection[] = [];
  #isClosed = false;

  constructor(options: EventFeedOptions) {
    this.#options = options;
  }

  subscribe(listener: (record: EventRecord) => void): Unsubscribe {
    this.#listener = listener;
    return () => {
      this.#listener = null;
    };
  }

  onGap(listener: () => void): Unsubscribe {
    this.#gapListener = listener;
    return () => {
      this.#gapListener = null;
    };
  }

  /** A client publishes nothing. */
  async publish(): Promise<void> {}

  /** Opens what is wanted, and leaves what nobody wants any more. */
  update(): void {
    const wanted = this.#isClosed ? [] : this.#options.wanted();
    if (wanted.length === 0) {
      for (const connection of this.#connections.splice(0)) connection.leave();
      return;
    }
    const current = this.#connections.at(-1);
    if (current?.covers(wanted) === true) return;
    const types = [...new Set([...(current?.types ?? []), ...wanted])];
    const connection = new EventConnection(this.#options.transport, this.#options.clock, types);
    this.#connections.push(connection);
    void this.#keepOpen(connection);
  }

  /** Resolves when the events of everybody who listens are on their way, or cannot be had at present. */
  async ready(): Promise<void> {
    const connection = this.#connections.at(-1);
    if (connection === undefined || connection.isTried) return;
    const rest = new AbortController();
    await Promise.race([connection.tried, sleepFor(this.#options.clock, READY_MS_MAX, rest.signal)]);
    rest.abort();
  }

  close(): void {
    this.#isClosed = true;
    this.update();
  }

  async #keepOpen(connection: EventConnection): Promise<void> {
    const { clock, random, logger, onRefused } = this.#options;
    for (let failures = 0; !connection.isLeft; ) {
      const end = await connection.run((record) => this.#receive(connection, record), {
        onOpen: () => this.#retireOthers(connection),
        onReset: () => {
          logger.warn("escapement: events were lost while their stream was interrupted");
          if (!connection.isLeft) this.#gapListener?.();
        },
        onRefused: (reason) => logger.debug(`escapement: ${reason}`),
      });
      if (connection.isLeft) break;
      // Whoever is on the way out is not opened anew: the connection that takes its place has the events from now on.
      if (this.#connections.at(-1) !== connection) break;
      failures = end.wasOpen ? 0 : failures + 1;
      if (end.failure !== null) this.#tell(end.failure, failures, logger);
      if (end.failure?.isRefusal === true) onRefused(end.failure.error);
      const grownMs = PAUSE_MS_MIN * 2 ** Math.max(0, failures - 1);
      const pauseMs = end.failure?.isRefusal === true ? PAUSE_MS_MAX : Math.min(PAUSE_MS_MAX, grownMs);
      // The stream of a router that asks for a longer pause would be as good as lost.
      const askedMs = Math.min(PAUSE_MS_MAX, end.retryMs ?? 0);
      // Clients whose streams broke together come back one after the other.
      await sleepFor(clock, Math.max(pauseMs, askedMs) * (1 + random() / 2), connection.signal);
    }
    this.#connections = this.#connections.filter((other) => other !== connection);
  }

  #receive(connection: EventConnection, record: EventRecord): void {
    if (!connection.isLeft) this.#listener?.(record);
  }

  #retireOthers(connection: EventConnection): void {
    for (const other of this.#connections) {
      if (other === connection) break;
      other.retireAt(connection.openedAt);
    }
  }

  #tell({ error, isRefusal }: StreamFailure, failures: number, logger: Logger): void {
    if (failures > 1) return;
    const then = isRefusal ? "" : "; it is opened anew";
    logger.warn(`escapement: the stream of events was interrupted${then}`, error);
  }
}
